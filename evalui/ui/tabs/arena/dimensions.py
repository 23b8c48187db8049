"""Arena, Language and Capability: standings on each kind of question, as a chart and a table."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.arena.categories import Grouping, panels
from evalui.report.analyses.arena.narrative import panels_subtitle, panels_title
from evalui.report.charts.arena import capability_chart
from evalui.scoring.arena.battles import Tally
from evalui.scoring.arena.categories import Dimension
from evalui.ui.components.fragment import SKIP, Form, pane
from evalui.ui.components.html import Html, div, el
from evalui.ui.components.widgets import card, titled
from evalui.ui.tabs.arena.arena_view import ShownArena, chart_head, signed_off, waiting
from evalui.ui.tabs.arena.standings import folded, percent_of, signed

_SHOWN = 24  # kinds of question before the others are folded
_FIGURES = ("win", "tie", "lose", "not_bad", "score")


class Dimensions:
    """One of the two views in one language; `kind` says how questions are grouped."""

    def __init__(self, t: Messages, kind: Grouping) -> None:
        self.t = t
        self.kind: Grouping = kind
        self.outputs: list[Any] = []

    def build(self, seen: gr.Textbox) -> None:
        """Lay out the chart and the table below it."""
        del seen  # nothing here is an act
        with gr.Column(elem_classes=["chart-card", "panels"], visible=False) as frame:
            title = pane(f"arena-{self.kind}-title")
            plot = gr.Plot(show_label=False, container=False)
        below = pane(f"arena-{self.kind}-table")
        self.outputs = [frame, title, plot, below]

    def show(self, shown: ShownArena, form: Form) -> tuple[Any, ...]:
        """Everything the view shows of an arena."""
        del form  # there is nothing to choose
        t, arena = self.t, shown.arena
        found = panels(arena, self.kind)
        if not found:
            return gr.Column(visible=False), SKIP, None, self._nothing(shown)
        about = panels_subtitle(arena, t.language, rule_based=shown.rule_based)
        return (
            gr.Column(visible=True),
            chart_head(panels_title(found, self.kind, t.language), about),
            capability_chart(arena, t.language, grouping=self.kind, baselines=shown.baselines),
            div(tallied(shown, self.kind), signed_off(shown, self.kind), cls="stack"),
        )

    def _nothing(self, shown: ShownArena) -> Html:
        t, key = self.t, waiting(shown)
        title, about = t(key), t(f"{key}_about")
        if shown.arena.standings:
            title = t(f"arena.dimension.none_{self.kind}")
            about = t(f"arena.dimension.none_about_{self.kind}")
        words = div(el("h2", title), el("p", about, cls="dim"), cls="empty")
        return div(card(words), signed_off(shown, self.kind), cls="stack")


def tallied(shown: ShownArena, kind: Grouping) -> Html:
    """Wins, ties and losses of each model on each kind of question that has any, all first."""
    t = shown.t
    rows = [
        one
        for one in shown.arena.dimensions
        if one.kind in ("overall", kind)
        and any(tally and tally.n for tally in one.tallies.values())
    ]
    rest = rows[_SHOWN:]
    more = folded(t.count("arena.dimension.more", len(rest)), _table(shown, kind, rest))
    return titled(
        t(f"arena.dimension.{kind}"),
        _table(shown, kind, rows[:_SHOWN]),
        more if rest else None,
        el("p", t("arena.dimension.about"), cls="meta gap-s"),
    )


def _table(shown: ShownArena, kind: Grouping, rows: Sequence[Dimension]) -> Html:
    t = shown.t
    models = [standing.model for standing in shown.arena.standings]
    top = el(
        "tr",
        el("th", t(f"arena.dimension.{kind}_name"), scope="col", rowspan=2),
        *(
            el("th", shown.model(model), scope="colgroup", colspan=len(_FIGURES), cls="group")
            for model in models
        ),
    )
    heads = el("tr", *(_head(t, name) for _ in models for name in _FIGURES))
    body = [_line(t, one, models) for one in rows]
    made = el("table", el("thead", top, heads), el("tbody", *body), cls="tallied")
    return div(made, cls="scroll")


def _head(t: Messages, name: str) -> Html:
    return el("th", t(f"arena.dimension.{name}"), scope="col", cls=_cell_class(name))


def _line(t: Messages, one: Dimension, models: Sequence[str]) -> Html:
    cells = [cell for model in models for cell in _cells(t, one.tallies.get(model))]
    return el("tr", el("th", _named(t, one), scope="row"), *cells)


def _named(t: Messages, one: Dimension) -> str:
    if one.kind == "overall":
        return t("arena.dimension.overall")
    return t(f"arena.dimension.{one.name}") if one.kind == "language" else one.name


def _cells(t: Messages, tally: Tally | None) -> list[Html]:
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
