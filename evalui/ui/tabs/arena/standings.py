"""The standings of an arena as tables: overall, and on each kind of question."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.arena.categories import Grouping, question_groups
from evalui.report.analyses.arena.figures import Arena, Standing
from evalui.report.analyses.arena.narrative import groups_subtitle, groups_title, order_note
from evalui.report.charts.arena import capability_chart
from evalui.report.html import Child, Html, div, el, span
from evalui.report.numbers import fixed, format_value
from evalui.report.numbers import format_range as spread
from evalui.scoring.arena.battles import BattleTally
from evalui.scoring.arena.bradley_terry import Rating
from evalui.scoring.arena.categories import CategoryTable
from evalui.ui.components.component_tabs import SKIP, html_fragment
from evalui.ui.components.form import Form
from evalui.ui.components.format import rank_range
from evalui.ui.components.widgets import card, table, titled
from evalui.ui.tabs.arena.arena_view import ArenaView, chart_head, signature_footer, waiting_key

_MINUS = "−"
_COLUMNS = ("wins", "ties", "losses", "not_bad", "score", "elo", "bradley_terry", "rank")
_MAX_EXPANDED = 24  # kinds of question before the others are folded
_FIGURES = ("win", "tie", "lose", "not_bad", "score")


def standings(view: ArenaView) -> Html:
    """The card of standings, best first."""
    t, arena = view.t, view.arena
    heads = [t(f"arena.standings.{name}") for name in ("model", *_COLUMNS)]
    rows = [_row(view, standing) for standing in arena.standings]
    return titled(
        t("arena.standings.title"),
        table(heads, rows, right=range(1, len(heads)), cls="standings"),
        el("p", order_note(arena, t.language), cls="gap-s"),
        el("p", _formula(t, arena), cls="meta gap-s"),
        style_controlled(view),
        aside=_battles_per_model(t, arena.standings),
    )


def ratings(view: ArenaView) -> Html:
    """The numbers of the chart of ratings."""
    t = view.t
    heads = [t(f"arena.elo.{name}") for name in ("model", "elo", "range", "bradley_terry", "range")]
    rows: list[list[Child]] = [
        [
            view.model(standing.model),
            points(standing.elo),
            _range(t, standing.elo_low, standing.elo_high),
            points(standing.rating.value) if standing.rating else _no_rating(t),
            _range(t, standing.rating.low, standing.rating.high) if standing.rating else "–",
        ]
        for standing in view.arena.standings
    ]
    return collapsible_card(t("arena.numbers"), table(heads, rows, right=range(1, len(heads))))


def pairs(view: ArenaView) -> Html:
    """The numbers of the win matrix: each pair that met, from the better one's side."""
    t, arena = view.t, view.arena
    names = ("row", "column", "share", "range", "n", "wins", "ties", "losses")
    heads = [t(f"arena.matrix.{name}") for name in names]
    models = [standing.model for standing in arena.standings]
    rows = [
        _pair(view, row, column)
        for place, row in enumerate(models)
        for column in models[place + 1 :]
        if (row, column) in arena.shares
    ]
    return collapsible_card(t("arena.numbers"), table(heads, rows, right=range(2, len(heads))))


def style_controlled(view: ArenaView) -> Html | None:
    """Ratings with style held equal beside the plain ones, None if there are none."""
    t = view.t
    rated = [
        (standing.model, standing.rating, standing.styled)
        for standing in view.arena.standings
        if standing.rating and standing.styled
    ]
    if not rated:
        return None
    heads = [t(f"arena.style.{name}") for name in ("model", "plain", "styled", "change")]
    rows: list[list[Child]] = [
        [
            view.model(model),
            rating_with_range(t, plain),
            rating_with_range(t, held),
            signed(round(held.value) - round(plain.value)),
        ]
        for model, plain, held in rated
    ]
    return collapsible_card(
        t("arena.style.title"),
        el("p", t("arena.style.about"), cls="meta"),
        table(heads, rows, right=range(1, len(heads))),
    )


def collapsible_card(title: str, *children: Child) -> Html:
    """Something to unfold."""
    return el("details", el("summary", title), *children, cls="gap-s")


def points(rating: float) -> str:
    """A rating as people read it: "1,148"."""
    return f"{rating:,.0f}".replace("-", _MINUS)


def signed(number: int) -> str:
    """A number that is a gain or a loss: "+692", "−1,134", "0"."""
    return f"{number:+,}".replace("-", _MINUS) if number else "0"


def rating_with_range(t: Messages, rating: Rating | None) -> Html:
    """A rating with its range beside it, or the word that there is none."""
    if rating is None:
        return _no_rating(t)
    ends = _range(t, rating.low, rating.high)
    return span(el("b", points(rating.value)), " ", span(ends, cls="meta ends"), cls="nw")


def _row(view: ArenaView, standing: Standing) -> list[Child]:
    t, tally = view.t, standing.tally
    split = t("arena.standings.ties_split", both=tally.both_good, neither=tally.both_bad)
    return [
        view.model(standing.model),
        f"{tally.win:,}",
        span(f"{tally.tie:,}", title=split),
        f"{tally.lose:,}",
        f"{percent_of(tally.not_bad, tally.n)} %" if tally.n else "–",
        signed(tally.score),
        _elo(standing),
        rating_with_range(t, standing.rating),
        _rank(standing),
    ]


def _elo(standing: Standing) -> Child:
    """Bold where it is what the standings go by: without a rating."""
    return points(standing.elo) if standing.rating else el("b", points(standing.elo))


def percent_of(part: int, whole: int) -> str:
    """A share of counts in whole per cent; how many they are stands beside it."""
    return fixed(100 * part / whole, 0) if whole else "–"


def _rank(standing: Standing) -> str:
    low, high = standing.rank_low, standing.rank_high
    if low is None or high is None:
        return "–"
    return rank_range(low, high)


def _battles_per_model(t: Messages, ranked: Sequence[Standing]) -> str:
    counts = [standing.tally.n for standing in ranked]
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    if low == high:
        return t("arena.standings.each", n=f"{low:,}")
    return t("arena.standings.between", low=f"{low:,}", high=f"{high:,}")


def _formula(t: Messages, arena: Arena) -> str:
    parts = [t("arena.standings.formula")]
    if arena.orders == "double":
        parts.append(t(f"arena.standings.{arena.conflict}"))
    if any(standing.rank_low is not None for standing in arena.standings):
        parts.append(t("arena.standings.rank_about"))
    return ("" if t.language == "zh" else " ").join(parts)


def _range(t: Messages, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return t("arena.standings.no_range")
    return f"{points(low)}–{points(high)}"


def _no_rating(t: Messages) -> Html:
    return span(t("arena.standings.no_rating"), cls="meta")


def _pair(view: ArenaView, row: str, column: str) -> list[Child]:
    share = view.arena.shares[row, column]
    return [
        view.model(row),
        view.model(column),
        el("b", f"{format_value(share)} %"),
        spread(share),
        f"{share.n:,}",
        *_counts(view.arena, row, column),
    ]


def _counts(arena: Arena, row: str, column: str) -> tuple[Child, Child, Child]:
    matrix = arena.matrix
    if matrix is None or row not in matrix.models or column not in matrix.models:
        return "–", "–", "–"
    i, j = matrix.models.index(row), matrix.models.index(column)
    return matrix.wins[i][j], matrix.ties[i][j], matrix.wins[j][i]


class ArenaDimensionsView:
    """One of the two views in one language; `kind` says how questions are grouped."""

    def __init__(self, t: Messages, kind: Grouping) -> None:
        self.t = t
        self.kind: Grouping = kind
        self.outputs: list[Any] = []

    def build(self, state: gr.Textbox) -> None:
        """Lay out the chart and the table below it."""
        del state  # nothing here is an act
        with gr.Column(elem_classes=["chart-card", "panels"], visible=False) as frame:
            title = html_fragment(f"arena-{self.kind}-title")
            plot = gr.Plot(show_label=False, container=False)
        below = html_fragment(f"arena-{self.kind}-table")
        self.outputs = [frame, title, plot, below]

    def show(self, view: ArenaView, form: Form) -> tuple[Any, ...]:
        """Everything the view shows of an arena."""
        del form  # there is nothing to choose
        t, arena = self.t, view.arena
        groups = question_groups(arena, self.kind)
        if not groups:
            return gr.Column(visible=False), SKIP, None, self._nothing(view)
        about = groups_subtitle(arena, t.language, rule_based=view.rule_based)
        return (
            gr.Column(visible=True),
            chart_head(groups_title(groups, self.kind, t.language), about),
            capability_chart(arena, t.language, grouping=self.kind, baselines=view.baselines),
            div(tallied(view, self.kind), signature_footer(view, self.kind), cls="stack"),
        )

    def _nothing(self, view: ArenaView) -> Html:
        t, key = self.t, waiting_key(view)
        title, about = t(key), t(f"{key}_about")
        if view.arena.standings:
            title = t(f"arena.dimension.none_{self.kind}")
            about = t(f"arena.dimension.none_about_{self.kind}")
        words = div(el("h2", title), el("p", about, cls="dim"), cls="empty")
        return div(card(words), signature_footer(view, self.kind), cls="stack")


def tallied(view: ArenaView, kind: Grouping) -> Html:
    """Wins, ties and losses of each model on each kind of question that has any, all first."""
    t = view.t
    rows = [
        one
        for one in view.arena.dimensions
        if one.kind in ("overall", kind)
        and any(tally and tally.n for tally in one.tallies.values())
    ]
    rest = rows[_MAX_EXPANDED:]
    more = collapsible_card(t.count("arena.dimension.more", len(rest)), _table(view, kind, rest))
    return titled(
        t(f"arena.dimension.{kind}"),
        _table(view, kind, rows[:_MAX_EXPANDED]),
        more if rest else None,
        el("p", t("arena.dimension.about"), cls="meta gap-s"),
    )


def _table(view: ArenaView, kind: Grouping, rows: Sequence[CategoryTable]) -> Html:
    t = view.t
    models = [standing.model for standing in view.arena.standings]
    top = el(
        "tr",
        el("th", t(f"arena.dimension.{kind}_name"), scope="col", rowspan=2),
        *(
            el("th", view.model(model), scope="colgroup", colspan=len(_FIGURES), cls="group")
            for model in models
        ),
    )
    heads = el("tr", *(_head(t, name) for _ in models for name in _FIGURES))
    body = [_line(t, one, models) for one in rows]
    element = el("table", el("thead", top, heads), el("tbody", *body), cls="tallied")
    return div(element, cls="scroll")


def _head(t: Messages, name: str) -> Html:
    return el("th", t(f"arena.dimension.{name}"), scope="col", cls=_cell_class(name))


def _line(t: Messages, one: CategoryTable, models: Sequence[str]) -> Html:
    cells = [cell for model in models for cell in _cells(t, one.tallies.get(model))]
    return el("tr", el("th", _dimension_label(t, one), scope="row"), *cells)


def _dimension_label(t: Messages, one: CategoryTable) -> str:
    if one.kind == "overall":
        return t("arena.dimension.overall")
    return t(f"arena.dimension.{one.name}") if one.kind == "language" else one.name


def _cells(t: Messages, tally: BattleTally | None) -> list[Html]:
    if tally is None or not tally.n:
        missing = t("arena.dimension.missing")
        return [el("td", missing, cls=f"{_cell_class(name)} meta") for name in _FIGURES]
    counts = {"win": tally.win, "tie": tally.tie, "lose": tally.lose, "not_bad": tally.not_bad}
    shares = [
        el(
            "td",
            f"{percent_of(k, tally.n)} %",
            cls=_cell_class(name),
            title=t("arena.trust.of", k=f"{k:,}", n=f"{tally.n:,}"),
        )
        for name, k in counts.items()
    ]
    return [*shares, el("td", signed(tally.score), cls=_cell_class("score"))]


def _cell_class(name: str) -> str:
    return "r first" if name == _FIGURES[0] else "r"
