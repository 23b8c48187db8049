"""Results, Statistics: how sure each figure is, every two models, and what could be seen at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, get_args

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Measure, Summary
from evalui.report.analyses.statistics import ComparisonSet, comparisons, refusal_sentence
from evalui.report.numbers import count, fixed
from evalui.report.numbers import format_range as spread
from evalui.types import Cell
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import value_with_range
from evalui.ui.components.fragment import SKIP, html_fragment, on_action, read_action
from evalui.ui.components.html import Child, Html, div, el
from evalui.ui.components.widgets import (
    card,
    field,
    model_name,
    note,
    select,
    signature_line,
    table,
    titled,
)
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.overview.figures import cell_names, model_places
from evalui.ui.tabs.results.run_view import RunView
from evalui.ui.tabs.results.statistics.pairs import (
    pairs_chart,
    pairs_table,
    pairs_title,
    power_chart,
    power_table,
    rank_bands_card,
)


class StatisticsView:
    """The view in one language. The fields of the tab are its state."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out errors, differences with the ranks beside them, and what could be seen."""
        top = html_fragment("statistics-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as charts:
            with gr.Column(elem_classes=["chart-card", "wide-plot"], scale=2, min_width=320):
                title = html_fragment("statistics-pairs-title")
                differences = gr.Plot(show_label=False, container=False)
            with gr.Column(elem_classes="chart-card", scale=1, min_width=320):
                bands = html_fragment("statistics-bands")
        tests = html_fragment("statistics-tests")
        with gr.Column(elem_classes=["chart-card", "wide-plot"], visible=False) as frame:
            power = html_fragment("statistics-power")
            needed = gr.Plot(show_label=False, container=False)
        last = html_fragment("statistics-below")
        self.outputs = [top, charts, title, differences, bands, tests, frame, power, needed, last]
        on_action(top, self.changed, inputs=[run_id], outputs=self.outputs)
        on_action(power, self.resized, inputs=[run_id], outputs=[power, needed])

    def show(self, run_id: str, form: Form | None = None) -> tuple[Any, ...]:
        """Everything the view shows of a run."""
        shown, t, form = RunView(self.service, self.t, run_id), self.t, form or {}
        summaries = [summary for summary in shown.with_question.values() if summary.accuracy]
        signatures = div(*(signature_line(summary.cell.signature) for summary in summaries))
        hidden, frame = gr.Row(visible=False), gr.Column(visible=False)
        if not summaries:
            words = el("p", t("statistics.none_about"), cls="dim")
            none = card(div(el("h2", t("statistics.none")), words, cls="empty"))
            return none, hidden, SKIP, None, SKIP, Html(""), frame, SKIP, None, Html("")
        wish = select_comparison(shown, form)
        found = wish.comparison
        if found is None or not found.pairs:
            told = div(errors_card(t, shown), no_comparison_card(t, wish), cls="stack")
            return told, hidden, SKIP, None, SKIP, Html(""), frame, SKIP, None, signatures
        size = field_value(form, "size")
        return (
            div(errors_card(t, shown), pickers(t, wish), cls="stack"),
            gr.Row(visible=True),
            pairs_title(t, shown, found),
            pairs_chart(shown, found),
            rank_bands_card(t, shown, found),
            pairs_table(t, found),
            gr.Column(visible=True),
            power_table(t, found, size),
            power_chart(found, size, t.language),
            signatures,
        )

    def changed(self, run_id: str, event: gr.EventData) -> tuple[Any, ...]:
        """Another comparison or another measure."""
        return self.show(run_id, read_action(event).form)

    def resized(self, run_id: str, event: gr.EventData) -> tuple[Any, ...]:
        """Another number of questions."""
        form = read_action(event).form
        found = select_comparison(RunView(self.service, self.t, run_id), form).comparison
        if found is None:
            return SKIP, SKIP
        size = field_value(form, "size")
        return power_table(self.t, found, size), power_chart(found, size, self.t.language)


@dataclass(frozen=True, slots=True)
class ComparisonSelection:
    """What the pickers are set to: one comparison.

    `options` are the keys of all comparisons with their words, `measures` those that every cell
    of the chosen one has.
    """

    options: Mapping[str, str]
    key: str
    measures: tuple[Measure, ...]
    comparison: ComparisonSet | None


def select_comparison(view: RunView, form: Form) -> ComparisonSelection:
    """The comparison that the form asks for, else the first."""
    offered = {_key(each): view.heading(each) for each in view.pairs()}
    wish = field_value(form, "compared")
    key = wish if wish in offered else next(iter(offered), "")
    cells = [s for s in view.with_question.values() if s.accuracy and _key(s.cell) == key]
    measures = tuple(m for m in get_args(Measure) if all(m in s.outcomes for s in cells))
    measure = next((name for name in measures if name == field_value(form, "measure")), None)
    found = next(iter(comparisons(cells, measure, baselines=view.baselines)), None)
    return ComparisonSelection(offered, key, measures, found)


def _key(kind: ComparisonSet | Cell) -> str:
    return f"{kind.dataset}|{kind.label}"


def pickers(t: Messages, selection: ComparisonSelection) -> Html:
    """Which cells are compared, and by which figure."""
    assert selection.comparison is not None, "there is something to pick"
    measures: dict[str, str] = {name: t(f"measure.{name}") for name in selection.measures}
    compared = select("compared", selection.options, selection.key)
    measure = select("measure", measures, selection.comparison.measure)
    return div(
        div(field(t("statistics.compared"), compared), cls="bias-pick")
        if len(selection.options) > 1
        else None,
        div(field(t("statistics.measure"), measure), cls="bias-pick") if measures else None,
        cls="row end",
    )


def no_comparison_card(t: Messages, selection: ComparisonSelection) -> Html:
    """Why nothing is compared."""
    refused = selection.comparison.incomparable if selection.comparison else ()
    lines = [note("na", refusal_sentence(each, t.language)) for each in refused]
    return card(*(lines or [el("p", t("statistics.no_pair"), cls="dim")]))


def errors_card(t: Messages, view: RunView) -> Html:
    """The figure of each cell over its orders with its clustered error and design effect."""
    summaries = [summary for summary in view.with_question.values() if summary.accuracy]
    # A model without answers keeps its place, and with it the colours of those that follow.
    places = model_places(list(view.with_question.values()), view.baselines)
    names = cell_names(t, summaries)
    keys = ("cell", "kind", "figure", "se", "t", "deff", "n", "trials", "effective")
    rows: list[list[Child]] = [
        [
            model_name(names[s.cell], places[s.cell.model], s.cell.model in view.baselines),
            *_error(t, s),
        ]
        for s in summaries
    ]
    most = max(summaries, key=_inflation)
    told = t("statistics.inflated", model=names[most.cell], times=fixed(_inflation(most), 1))
    return titled(
        t("statistics.errors"),
        table([t(f"statistics.{key}") for key in keys], rows, right=range(2, len(keys))),
        el("p", told, cls="meta gap-s") if _inflation(most) >= 1.05 else None,
        aside=t("statistics.errors_about"),
    )


def _error(t: Messages, s: Summary) -> list[Child]:
    assert s.accuracy is not None, "only cells with answers are listed"
    found, n = s.clustered, count(s.n)
    if found is None:
        return [t("measure.accuracy"), value_with_range(s.accuracy), "–", "–", "–", n, n, n]
    return [
        t("measure.mean_over_orders"),
        value_with_range(found.interval),
        "–" if found.se is None else t("statistics.points", value=fixed(100 * found.se, 2)),
        "–" if found.se is None else spread(found.t_interval),
        "–" if found.design_effect is None else fixed(found.design_effect, 2),
        count(found.interval.n),
        count(found.n_trials),
        count(round(found.n_effective)),
    ]


def _inflation(s: Summary) -> float:
    """How many times too narrow the range is if every answer counts as a question."""
    found = s.clustered
    return sqrt(max(1.0, found.design_effect)) if found and found.design_effect else 1.0
