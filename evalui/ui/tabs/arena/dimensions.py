"""Arena, Language and Capability: standings on each kind of question, as a chart and a table."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.arena.categories import Grouping, question_groups
from evalui.report.analyses.arena.narrative import groups_subtitle, groups_title
from evalui.report.charts.arena import capability_chart
from evalui.scoring.arena.battles import BattleTally
from evalui.scoring.arena.categories import CategoryTable
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import SKIP, html_fragment
from evalui.ui.components.html import Html, div, el
from evalui.ui.components.widgets import card, titled
from evalui.ui.tabs.arena.arena_view import ArenaView, chart_head, signature_footer, waiting_key
from evalui.ui.tabs.arena.standings import collapsible_card, percent_of, signed

_MAX_EXPANDED = 24  # kinds of question before the others are folded
_FIGURES = ("win", "tie", "lose", "not_bad", "score")


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
        found = question_groups(arena, self.kind)
        if not found:
            return gr.Column(visible=False), SKIP, None, self._nothing(view)
        about = groups_subtitle(arena, t.language, rule_based=view.rule_based)
        return (
            gr.Column(visible=True),
            chart_head(groups_title(found, self.kind, t.language), about),
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
    made = el("table", el("thead", top, heads), el("tbody", *body), cls="tallied")
    return div(made, cls="scroll")


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
