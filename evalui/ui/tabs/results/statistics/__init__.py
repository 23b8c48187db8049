"""Results, Statistics: how sure each figure is, every two models, and what could be seen at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, get_args

import gradio as gr
import plotly.graph_objects as go

from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Measure, Summary
from evalui.report.analyses.statistics import (
    CellComparison,
    ComparisonSet,
    PairFinding,
    comparison_method,
    comparisons,
    format_least_difference,
    format_points,
    format_points_range,
    pair_sentence,
    rank_text,
    refusal_sentence,
)
from evalui.report.charts.calibration import (
    difference_chart,
    difference_subtitle,
    sample_size_chart,
)
from evalui.report.charts.theme import series_styles
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.numbers import count, fixed, p_column, p_value, percent
from evalui.report.numbers import format_range as spread
from evalui.scoring.statistics.paired_tests import (
    minimum_detectable_difference,
    questions_needed,
)
from evalui.types import Cell, Language
from evalui.ui.components.component_tabs import SKIP, html_fragment, on_action
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.format import rank_range, value_with_range
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import (
    card,
    field,
    note,
    select,
    signature_line,
    table,
    titled,
)
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.overview.figures import cell_names
from evalui.ui.tabs.results.run_view import RunView

# What the slider offers: even steps would spend most of its way on sizes that add no information.
SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000)
# What the tables call a finding by the name of another.
_FINDINGS: Mapping[PairFinding, str] = {"steady": "apart"}
_TARGET_DIFFERENCES = (
    0.05,
    0.02,
)  # differences for which the number of questions is stated, as shares


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
        view, t, form = RunView(self.service, self.t, run_id), self.t, form or {}
        summaries = [summary for summary in view.with_question.values() if summary.accuracy]
        signatures = div(*(signature_line(summary.cell.signature) for summary in summaries))
        hidden, frame = gr.Row(visible=False), gr.Column(visible=False)
        if not summaries:
            words = el("p", t("statistics.none_about"), cls="dim")
            none = card(div(el("h2", t("statistics.none")), words, cls="empty"))
            return none, hidden, SKIP, None, SKIP, Html(""), frame, SKIP, None, Html("")
        selection = select_comparison(view, form)
        comparison = selection.comparison
        if comparison is None or not comparison.pairs:
            notice = div(errors_card(t, view), no_comparison_card(t, selection), cls="stack")
            return notice, hidden, SKIP, None, SKIP, Html(""), frame, SKIP, None, signatures
        size = field_value(form, "size")
        return (
            div(errors_card(t, view), pickers(t, selection), cls="stack"),
            gr.Row(visible=True),
            pairs_title(t, view, comparison),
            pairs_chart(view, comparison),
            rank_bands_card(t, view, comparison),
            pairs_table(t, comparison),
            gr.Column(visible=True),
            power_table(t, comparison, size),
            power_chart(comparison, size, t.language),
            signatures,
        )

    def changed(self, run_id: str, act: Action) -> tuple[Any, ...]:
        """Another comparison or another measure."""
        return self.show(run_id, act.form)

    def resized(self, run_id: str, act: Action) -> tuple[Any, ...]:
        """Another number of questions."""
        form = act.form
        comparison = select_comparison(RunView(self.service, self.t, run_id), form).comparison
        if comparison is None:
            return SKIP, SKIP
        size = field_value(form, "size")
        return power_table(self.t, comparison, size), power_chart(comparison, size, self.t.language)


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
    """The comparison that the form selects, else the first."""
    offered = {_key(each): view.heading(each) for each in view.pairs()}
    requested = field_value(form, "compared")
    key = requested if requested in offered else next(iter(offered), "")
    cells = [s for s in view.with_question.values() if s.accuracy and _key(s.cell) == key]
    measures = tuple(m for m in get_args(Measure) if all(m in s.outcomes for s in cells))
    measure = next((name for name in measures if name == field_value(form, "measure")), None)
    comparison = next(iter(comparisons(cells, measure, baselines=view.baselines)), None)
    return ComparisonSelection(offered, key, measures, comparison)


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
    names = cell_names(t, summaries)
    keys = ("cell", "kind", "figure", "se", "t", "deff", "n", "trials", "effective")
    rows: list[list[Child]] = [
        # A model without answers keeps its place, and with it the colours of those that follow.
        [view.model(s.cell.model, names[s.cell]), *_error(t, s)]
        for s in summaries
    ]
    most = max(summaries, key=_inflation)
    inflated = t("statistics.inflated", model=names[most.cell], times=fixed(_inflation(most), 1))
    return titled(
        t("statistics.errors"),
        table([t(f"statistics.{key}") for key in keys], rows, right=range(2, len(keys))),
        el("p", inflated, cls="meta gap-s") if _inflation(most) >= 1.05 else None,
        aside=t("statistics.errors_about"),
    )


def _error(t: Messages, s: Summary) -> list[Child]:
    assert s.accuracy is not None, "only cells with answers are listed"
    clustered, n = s.clustered, count(s.n)
    if clustered is None:
        return [t("measure.accuracy"), value_with_range(s.accuracy), "–", "–", "–", n, n, n]
    return [
        t("measure.mean_over_orders"),
        value_with_range(clustered.interval),
        "–" if clustered.se is None else t("statistics.points", value=fixed(100 * clustered.se, 2)),
        "–" if clustered.se is None else spread(clustered.t_interval),
        "–" if clustered.design_effect is None else fixed(clustered.design_effect, 2),
        count(clustered.interval.n),
        count(clustered.n_trials),
        count(round(clustered.n_effective)),
    ]


def _inflation(s: Summary) -> float:
    """How many times too narrow the range is if every answer counts as a question."""
    clustered = s.clustered
    return sqrt(max(1.0, clustered.design_effect)) if clustered and clustered.design_effect else 1.0


def pairs_title(t: Messages, view: RunView, comparison: ComparisonSet) -> Html:
    """The widest difference between real models, a win before others, and what the grey is."""
    scripted = view.baselines
    real = [p for p in comparison.pairs if not {p.first.model, p.second.model} & scripted]
    widest = max(
        real or comparison.pairs, key=lambda pair: (pair.has_winner, pair.paired.difference)
    )
    first = pair_sentence(widest, t.language)
    about = difference_subtitle(comparison.pairs, t.language)
    return join(el("h2", first), el("p", about, cls="meta") if about else None)


def pairs_chart(view: RunView, comparison: ComparisonSet) -> go.Figure:
    """The differences of all pairs in the colour of the better model."""
    drawn = series_styles([s.cell.model for s in view.with_question.values()], view.baselines)
    names = [f"{pair.first.model} − {pair.second.model}" for pair in comparison.pairs]
    colours = [drawn[pair.first.model].colour for pair in comparison.pairs]
    return difference_chart(comparison.pairs, names, view.language, colours=colours)


def pairs_table(t: Messages, comparison: ComparisonSet) -> Html:
    """The paired table: differences with their ranges, McNemar's test, Holm's p-values."""
    keys = ("pair", "difference", "n", "only", "mcnemar", "holm", "finding")
    rows = [_pair(t, pair) for pair in comparison.pairs]
    return titled(
        t("statistics.pairs"),
        table([t(f"statistics.{key}") for key in keys], rows, right=range(1, 6), cls="middling"),
        *(
            div(note("na", refusal_sentence(refused, t.language)), cls="gap-s")
            for refused in comparison.incomparable
        ),
        el("p", comparison_method(comparison, t.language), cls="meta gap-s"),
        aside=t.count("statistics.pairs_about", len(comparison.pairs)),
    )


def power_table(t: Messages, comparison: ComparisonSet, requested_size: str) -> Html:
    """What difference may have been missed, now and with another number of questions.

    A pair with a shown difference missed nothing.
    """
    size = SIZES[_place(requested_size, comparison)]
    slider = el(
        "input",
        type="range",
        name="size",
        min=0,
        max=len(SIZES) - 1,
        step=1,
        value=_place(requested_size, comparison),
        aria_valuetext=t("statistics.chosen", n=count(size)),
    )
    heads = [
        t("statistics.pair"),
        t("statistics.now", n=count(comparison.n)),
        t("statistics.then", n=count(size)),
        *(t("statistics.needed", points=percent(wanted)) for wanted in _TARGET_DIFFERENCES),
    ]
    rows: list[list[Child]] = [
        [
            _names(t, pair),
            _format_least_difference(t, pair.undetected_difference),
            el(
                "b",
                _format_least_difference(
                    t,
                    pair.undetected_difference
                    and minimum_detectable_difference(pair.paired.omega, size),
                ),
            ),
            *(count(questions_needed(pair.paired.omega, wanted)) for wanted in _TARGET_DIFFERENCES),
        ]
        for pair in comparison.pairs
        if pair.detectable is not None and pair.finding != "guessing"
    ]
    words = join(t("statistics.size"), " ", el("b", t("statistics.chosen", n=count(size))))
    return join(
        el("h2", t("statistics.power")),
        el("p", t("statistics.power_about"), cls="meta"),
        div(field(words, slider), cls="gap-s slider"),
        table(heads, rows, right=range(1, len(heads)), cls="middling")
        if rows
        else el("p", t("statistics.no_power"), cls="dim"),
    )


def power_chart(comparison: ComparisonSet, requested_size: str, language: Language) -> go.Figure:
    """The smallest difference by number of questions, marked where the slider stands."""
    able = [pair for pair in comparison.pairs if pair.undetected_difference is not None]
    closest = min(able, key=lambda pair: pair.paired.omega, default=None)
    omega = closest.paired.omega if closest else None
    return sample_size_chart(SIZES[_place(requested_size, comparison)], language, omega=omega)


def rank_bands_card(t: Messages, view: RunView, comparison: ComparisonSet | None) -> Html:
    """Models in bands, with the ranks that each may have, and those that have none."""
    head = el("h2", t("statistics.bands"))
    if comparison is None or not (
        comparison.ranks or set(comparison.unranked.values()) - {"baseline"}
    ):
        return join(head, el("p", t("statistics.no_rank"), cls="dim gap-s"))
    rows: list[list[Child]] = [
        [
            str(each.band),
            view.model(each.name),
            f"{percent(each.value)} %",
            rank_range(each.low, each.high),
        ]
        for each in comparison.ranks
    ]
    for cell in comparison.unranked:
        rows.append(["–", view.model(cell.model), "–", rank_text(comparison, cell, t.language)[1]])
    keys = ("statistics.band", "column.model", "statistics.figure", "statistics.ranks")
    return join(
        head,
        el("p", t("statistics.bands_about"), cls="meta"),
        table([t(key) for key in keys], rows, right=(2,), cls="slim"),
    )


def _pair(t: Messages, pair: CellComparison) -> list[Child]:
    paired = pair.paired
    difference = join(
        el("b", format_points(paired)),
        " ",
        span("" if paired.all_equal else format_points_range(paired), cls="meta nw"),
    )
    return [
        _names(t, pair),
        difference,
        count(pair.n),
        _discordant_counts(t, pair),
        "–" if pair.too_few_questions else _mcnemar(t, pair),
        p_column(pair.adjusted) if pair.finding in ("apart", "level") else "–",
        t(f"statistics.{_FINDINGS.get(pair.finding, pair.finding)}"),
    ]


def _discordant_counts(t: Messages, pair: CellComparison) -> Child:
    if pair.mcnemar is None:
        return "–"
    first, second = count(pair.mcnemar.first_only), count(pair.mcnemar.second_only)
    return t("statistics.only_of", first=first, second=second)


def _mcnemar(t: Messages, pair: CellComparison) -> Child:
    if pair.mcnemar is None or pair.mcnemar.mid is None or pair.mcnemar.exact is None:
        return "–"
    exact = t("statistics.exact", p=p_value(pair.mcnemar.exact))
    return span(p_value(pair.mcnemar.mid).removeprefix("= "), title=exact)


def _names(t: Messages, pair: CellComparison) -> Html:
    words = t("statistics.minus", first=pair.first.model, second=pair.second.model)
    return el("b", words)


def _format_least_difference(t: Messages, difference: float | None) -> str:
    if difference is None:
        return "–"
    return t("statistics.points", value=format_least_difference(difference))


def _place(requested_size: str, comparison: ComparisonSet) -> int:
    """Where the slider stands; at first, at about twice the questions there are."""
    place = parse_whole_number(requested_size)
    if place is not None and place < len(SIZES):
        return place
    return min(range(len(SIZES)), key=lambda place: abs(SIZES[place] - 2 * comparison.n))
