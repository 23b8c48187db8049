"""Results, Calibration: is a model right as often as it is sure, and was it naming letters?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Summary
from evalui.report.charts.calibration import reliability, reliability_subtitle, reliability_title
from evalui.report.charts.theme import series_styles
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.numbers import count, fixed, percent
from evalui.scoring.calibration import Calibration, LabelMass
from evalui.scoring.position_bias.summary import StratumBias
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import value_with_range
from evalui.ui.components.fragment import SKIP, Action, html_fragment, on_action
from evalui.ui.components.widgets import (
    card,
    definitions,
    field,
    note,
    select,
    signature_line,
    status,
    table,
    titled,
)
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.overview.figures import cell_names
from evalui.ui.tabs.results.run_view import RunView

_BAD_BELOW, _WARN_BELOW = 0.5, 0.9  # label mass under which the figures are about a part only


@dataclass(frozen=True, slots=True)
class CalibratedCell:
    """One cell and its questions with one number of options, as far as they have probabilities."""

    cell_id: int
    summary: Summary
    bias: StratumBias
    calibration: Calibration

    @property
    def key(self) -> str:
        """Its value in the picker."""
        return f"{self.cell_id}.{self.bias.n_options}"


class CalibrationView:
    """The view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the picker, the diagram with its table, and the figures of every cell."""
        top = html_fragment("calibration-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as charts:
            with gr.Column(elem_classes="chart-card", scale=3, min_width=320):
                title = html_fragment("calibration-title")
                diagram = gr.Plot(show_label=False, container=False)
                bins = html_fragment("calibration-bins")
            with gr.Column(elem_classes="chart-card", scale=2, min_width=320):
                figures = html_fragment("calibration-figures")
        last = html_fragment("calibration-below")
        self.outputs = [top, charts, title, diagram, bins, figures, last]
        on_action(top, self.changed, inputs=[run_id], outputs=self.outputs)

    def show(self, run_id: str, form: Form | None = None) -> tuple[Any, ...]:
        """Everything the view shows of a run."""
        view, t = RunView(self.service, self.t, run_id), self.t
        offered = calibrated_cells(view.with_question)
        if not offered:
            return (
                _none(t),
                gr.Row(visible=False),
                SKIP,
                None,
                SKIP,
                SKIP,
                _cells_without_probabilities(t, view),
            )
        requested = field_value(form or {}, "calibration_cell")
        chosen = next((each for each in offered if each.key == requested), offered[0])
        model = chosen.summary.cell.model
        drawn = series_styles([s.cell.model for s in view.with_question.values()], view.baselines)
        words = {cell.id: view.label(cell) for cell in view.cells}
        several = len({each.bias.n_options for each in offered}) > 1
        names = {
            each.key: words[each.cell_id]
            + (f" · {t('file.options', n=each.bias.n_options)}" if several else "")
            for each in offered
        }
        picker = field(t("calibration.cell"), select("calibration_cell", names, chosen.key))
        return (
            div(div(picker, cls="bias-pick"), cls="row end"),
            gr.Row(visible=True),
            chart_title(t, chosen),
            reliability(chosen.calibration, t.language, colour=drawn[model].colour),
            bins_table(t, chosen.calibration),
            model_explanation(t, chosen),
            div(_figures(t, view, offered), _cells_without_probabilities(t, view), cls="stack"),
        )

    def changed(self, run_id: str, act: Action) -> tuple[Any, ...]:
        """Another cell of the run."""
        return self.show(run_id, act.form)


def calibrated_cells(summaries: Mapping[int, Summary]) -> list[CalibratedCell]:
    """Every cell with probabilities, once for each number of options."""
    return [
        CalibratedCell(cell_id, summary, stratum, stratum.calibration)
        for cell_id, summary in summaries.items()
        for stratum in (summary.bias.strata if summary.bias else ())
        if stratum.calibration
    ]


def chart_title(t: Messages, chosen: CalibratedCell) -> Html:
    """Whether the model is surer than it is right, and the figures behind it."""
    mass = chosen.summary.bias.mass if chosen.summary.bias else None
    about = reliability_subtitle(chosen.calibration, mass.mean if mass else None, t.language)
    title = reliability_title(chosen.calibration, chosen.summary.cell.model, t.language)
    return join(el("h2", title), el("p", about, cls="meta"))


def model_explanation(t: Messages, chosen: CalibratedCell) -> Html:
    """What the figures mean, and the letter mass that they rest on."""
    mass = chosen.summary.bias.mass if chosen.summary.bias else None
    rows: list[tuple[Child, Child]] = [
        (t("calibration.ece"), fixed(100 * chosen.calibration.ece, 1)),
        (t("calibration.brier"), fixed(chosen.calibration.brier, 3)),
        (t("calibration.mass"), _mass(t, mass)),
        (t("calibration.n"), count(chosen.calibration.n)),
    ]
    low = mass is not None and mass.mean < _WARN_BELOW
    return join(
        el("h2", t("calibration.meaning")),
        definitions(rows),
        *(
            el("p", t(f"calibration.{key}"), cls="meta gap-s")
            for key in ("ece_about", "brier_about", "mass_about")
        ),
        div(note("warn", t("calibration.mass_low", value=percent(mass.mean))), cls="gap-s")
        if low and mass
        else None,
    )


def bins_table(t: Messages, calibration: Calibration) -> Html:
    """The diagram as a table; bins without questions are left out."""
    rows: list[list[Child]] = [
        [
            f"{percent(each.low)}–{percent(each.high)} %",
            f"{percent(each.confidence)} %",
            value_with_range(each.accuracy),
            count(each.accuracy.n),
        ]
        for each in calibration.bins
        if each.accuracy and each.confidence is not None
    ]
    heads = [t(f"calibration.{key}") for key in ("bin", "mean", "accuracy", "n")]
    return el(
        "details",
        el("summary", t("calibration.as_table")),
        table(heads, rows, right=(1, 2, 3), cls="slim"),
        cls="gap-s",
    )


def _figures(t: Messages, view: RunView, offered: list[CalibratedCell]) -> Html:
    summaries = list(view.with_question.values())
    names = cell_names(t, summaries)
    several = len({each.bias.n_options for each in offered}) > 1
    rows: list[list[Child]] = []
    for each in offered:
        cell = each.summary.cell
        name = view.model(cell.model, names[cell])
        size = span(t("file.options", n=each.bias.n_options), cls="meta") if several else None
        mass = each.summary.bias.mass if each.summary.bias else None
        rows.append(
            [
                join(name, " ", size),
                count(each.calibration.n),
                _value_with_all_orders(
                    t, fixed(100 * each.calibration.ece, 1), each.bias.ece, 100, 1
                ),
                _value_with_all_orders(t, fixed(each.calibration.brier, 3), each.bias.brier, 1, 3),
                _mass(t, mass),
            ]
        )
    heads = [t(f"calibration.{key}") for key in ("cell", "n", "ece", "brier", "mass")]
    return div(
        titled(
            t("calibration.figures"),
            table(heads, rows, right=(1, 2, 3)),
            el("p", t("calibration.averages"), cls="meta gap-s") if several else None,
            aside=t("calibration.figures_about"),
        ),
        div(*(signature_line(each.summary.cell.signature) for each in offered), cls="gap"),
    )


def _value_with_all_orders(
    t: Messages, value: str, over: float | None, scale: int, places: int
) -> Html:
    """A figure of the order as written, and small beside it that of all orders."""
    words = t("calibration.over", value=fixed(scale * over, places)) if over is not None else ""
    return join(el("b", value), " ", span(words, cls="meta nw"))


def _mass(t: Messages, mass: LabelMass | None) -> Child:
    if mass is None:
        return "–"
    least, low, _, high, _ = mass.quantiles
    words = t("calibration.quantiles", low=percent(low), high=percent(high), least=percent(least))
    value = f"{percent(mass.mean)} %"
    kind = "bad" if mass.mean < _BAD_BELOW else "warn" if mass.mean < _WARN_BELOW else "ok"
    return join(status(kind, value), div(words, cls="meta"))


def _cells_without_probabilities(t: Messages, view: RunView) -> Html:
    """The cells without probabilities, each with its reason."""
    names = cell_names(t, list(view.with_question.values()))
    able = {each.summary.cell for each in calibrated_cells(view.with_question)}
    cells = [
        names[summary.cell]
        for summary in view.with_question.values()
        if summary.accuracy and summary.cell not in able
    ]
    if not cells:
        return div()
    reason = t("calibration.reason", cells=t("list.comma").join(cells))
    return div(note("na", reason), cls="unavailable")


def _none(t: Messages) -> Html:
    words = el("p", t("calibration.none_about"), cls="dim")
    return card(div(el("h2", t("calibration.none")), words, cls="empty unavailable"))
