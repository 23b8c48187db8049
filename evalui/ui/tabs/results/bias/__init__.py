"""Results, Bias: which positions were picked and recalled, content or position, and the tests."""

from typing import Any

import gradio as gr

from evalui.messages import Messages, localized
from evalui.report.analyses.overview.narrative import picks_subtitle, recall_subtitle
from evalui.report.analyses.position_bias import (
    bias_level_details,
    bias_level_text,
    findings,
    picks_text,
    recall_subtitle_tested,
    recall_text,
)
from evalui.report.charts.answers import confusion, recall
from evalui.report.charts.bias import agreement_map, soft_recall
from evalui.report.charts.theme import series_styles
from evalui.report.html import Html, div, el, join, span
from evalui.runs.database.runs import read_cells
from evalui.ui.components.form import Form
from evalui.ui.components.format import unbroken_numbers
from evalui.ui.components.fragment import SKIP, Action, html_fragment, on_action
from evalui.ui.components.widgets import card, field, note, select, signature_line, table
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.bias.heat_maps import BiasHeatMaps
from evalui.ui.tabs.results.bias.tables import (
    BiasSelection,
    GridCell,
    agreement_table,
    counts_table,
    figures_table,
    positions_table,
    read_grid_cell,
    select_bias,
)
from evalui.ui.tabs.results.overview.figures import BIAS_LEVEL_KINDS, most_picked
from evalui.ui.tabs.results.run_view import RunView


class BiasView:
    """The view in one language. The fields of the tab are its state."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.maps = BiasHeatMaps(service, t)
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the pickers, the charts with their tables, the tests, and the maps of the run."""
        top = html_fragment("bias-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as charts:
            heat = _chart("bias-heat")
            bars = _chart("bias-recall")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as steady:
            with gr.Column(elem_classes="stacked", scale=2, min_width=320):
                grid = _chart("bias-grid")
                with gr.Column(elem_classes="chart-card", min_width=320) as frame:
                    soft = [html_fragment("bias-soft"), gr.Plot(show_label=False, container=False)]
            with gr.Column(elem_classes="chart-card", scale=3, min_width=320):
                tests = html_fragment("bias-tests")
        self.maps.build(run_id)
        last = html_fragment("bias-below")
        own = [top, charts, *heat, *bars, steady, *grid, frame, *soft, tests, last]
        self.outputs = [*own, *self.maps.outputs]
        on_action(top, self.changed, inputs=[run_id], outputs=self.outputs)
        on_action(grid[2], self.listed, inputs=[run_id], outputs=[grid[2]])

    def show(self, run_id: str, form: Form | None = None) -> tuple[Any, ...]:
        """Everything the view shows of a run; `form` names the cell and the number of options."""
        view, t, form = RunView(self.service, self.t, run_id), self.t, form or {}
        chosen = select_bias(view.with_question, form)
        if chosen is None:
            hidden = gr.Row(visible=False)
            chart = (SKIP, None, SKIP)
            soft = (gr.Column(visible=False), SKIP, None)
            own = (_none(t, view), hidden, *chart, *chart, hidden, *chart, *soft, SKIP)
            return *own, div(), *self.maps.empty_outputs()
        model = chosen.summary.cell.model
        drawn = series_styles([s.cell.model for s in view.with_question.values()], view.baselines)
        colour, bias, language = drawn[model].colour, chosen.bias, t.language
        return (
            head(t, view, chosen),
            gr.Row(visible=True),
            heatmap_title(t, chosen),
            confusion(bias.position, language, colour=colour),
            counts_table(t, bias, run_id, chosen.cell_id),
            recall_head(t, chosen),
            recall(bias.position, language, colour=colour),
            positions_table(t, bias),
            gr.Row(visible=True),
            *self._order_consistency(run_id, chosen, form),
            *_soft_recall(t, chosen, colour),
            tests(t, chosen),
            signature_line(chosen.summary.cell.signature),
            *self.maps.show(view, chosen, form),
        )

    def changed(self, run_id: str, act: Action) -> tuple[Any, ...]:
        """Another cell of the run, or another number of options."""
        return self.show(run_id, act.form)

    def listed(self, run_id: str, act: Action) -> Any:
        """The questions of one cell of the grid of content and position."""
        chosen = select_bias(RunView(self.service, self.t, run_id).with_question, act.form)
        if chosen is None:
            return SKIP
        grid_cell = read_grid_cell(
            act.form | {name: act.value(name) for name in ("slots", "options")}
        )
        return self._grid_table(run_id, chosen, grid_cell if act.do == "cell" else None)

    def _order_consistency(self, run_id: str, chosen: BiasSelection, form: Form) -> tuple[Any, ...]:
        """Title, chart and table of the grid, or what it would need."""
        t, steady = self.t, chosen.bias.consistency
        if steady is None:
            nothing = div(note("na", t("maps.nothing_moved")), cls="gap-s")
            about = join(el("h2", localized("agree-title", t.language)), nothing)
            return about, None, Html("")
        explanation = localized(
            "agree-about", t.language, n=f"{steady.n:,}", orders=steady.n_orders
        )
        return (
            join(el("h2", localized("agree-title", t.language)), el("p", explanation, cls="meta")),
            agreement_map(steady, t.language),
            self._grid_table(run_id, chosen, read_grid_cell(form)),
        )

    def _grid_table(self, run_id: str, chosen: BiasSelection, grid_cell: GridCell | None) -> Html:
        if chosen.bias.consistency is None:
            return Html("")
        row = next(c for c in read_cells(self.service.database, run_id) if c.id == chosen.cell_id)
        result = self.service.result(row) if grid_cell else None
        return agreement_table(self.t, chosen.bias, result, grid_cell, run_id=run_id, cell=row.id)


def head(t: Messages, view: RunView, chosen: BiasSelection) -> Html:
    """The pickers and the verdict beside them."""
    able = [id_ for id_, s in view.with_question.items() if s.bias and s.bias.strata]
    strata = chosen.summary.bias.strata if chosen.summary.bias else ()
    sizes = {str(each.n_options): t("file.options", n=each.n_options) for each in strata}
    cells = select("bias_cell", view.choices(able), str(chosen.cell_id))
    small = bias_level_details(chosen.bias, t.language)
    verdict = note(
        BIAS_LEVEL_KINDS[chosen.bias.level],
        el("b", bias_level_text(chosen.bias, t.language)[1]),
        t("front.stop"),
        most_picked(t, chosen.bias),
        t("front.stop"),
        span(small, cls="dim") if small else None,
        span(t("bias.once"), cls="dim") if chosen.bias.consistency is None else None,
    )
    return div(
        div(field(t("bias.cell"), cells), cls="bias-pick"),
        div(field(t("maps.options"), select("bias_k", sizes, str(chosen.bias.n_options))))
        if len(sizes) > 1
        else None,
        div(verdict, cls="f2"),
        cls="row end",
    )


def heatmap_title(t: Messages, chosen: BiasSelection) -> Html:
    """What the heat map shows."""
    table_ = chosen.bias.position
    return join(
        el("h2", unbroken_numbers(picks_text(chosen.bias, t.language))),
        el("p", picks_subtitle(table_, t.language), " ", t("maps.select"), cls="meta"),
    )


def recall_head(t: Messages, chosen: BiasSelection) -> Html:
    """What the bars show."""
    bias = chosen.bias
    about = (
        recall_subtitle_tested(bias, t.language)
        if bias.consistency
        else recall_subtitle(bias.position, t.language, reordered=False)
    )
    title = unbroken_numbers(recall_text(bias, t.language))
    return join(el("h2", title), el("p", unbroken_numbers(about), cls="meta"))


def tests(t: Messages, chosen: BiasSelection) -> Html:
    """Every test in words, with how it was made and its p-value."""
    rows = [
        [
            each.question,
            join(div(each.finding), div(each.how, cls="meta")),
            span(each.p or "–", cls="mono nw"),
        ]
        for each in findings(chosen.summary, chosen.bias, t.language)
    ]
    heads = [t("maps.test"), t("maps.finding"), "p"]
    more = el("details", el("summary", t("maps.figures")), figures_table(t, chosen.bias))
    words = table(heads, rows, right=(2,), cls="tests")
    return join(el("h2", t("maps.tests")), words, div(more, cls="gap-s"))


def _chart(name: str, *, scale: int = 1) -> list[Any]:
    """A card with title, chart and table; a click on a cell presses its figure in the table."""
    with gr.Column(elem_classes="chart-card", scale=scale, min_width=320):
        return [
            html_fragment(name),
            gr.Plot(show_label=False, container=False),
            html_fragment(f"{name}-table"),
        ]


def _soft_recall(t: Messages, chosen: BiasSelection, colour: str) -> tuple[Any, ...]:
    """Card, title and chart of soft recall; it needs probabilities and several orders."""
    prior, language = chosen.bias.prior, t.language
    if prior is None:
        return gr.Column(visible=False), Html(""), None
    about = localized("soft-about", language, n=f"{prior.plain_accuracy.n:,}")
    title = join(el("h2", localized("soft-title", language)), el("p", about, cls="meta"))
    return gr.Column(visible=True), title, soft_recall(prior, language, colour=colour)


def _none(t: Messages, view: RunView) -> Html:
    waits = any(s.state in ("waiting", "running") for s in view.with_question.values())
    about = t("front.no_order_done") if waits else t("bias.none_about")
    return card(div(el("h2", t("bias.none")), el("p", about, cls="dim"), cls="empty"))
