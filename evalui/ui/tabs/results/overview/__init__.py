"""Results, Overview: figures of each cell, the chart before and after reordering, all numbers.

Written answers have figures of their own below; of a run that has nothing else, they are the page.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages, localized
from evalui.report.analyses.overview.document import left_out_sentences
from evalui.report.analyses.overview.summary import SubjectGroup, Summary
from evalui.report.charts.answers import before_after
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import model_name
from evalui.report.numbers import fixed, format_figure, format_value, percent
from evalui.report.numbers import format_range as spread
from evalui.scoring.choice.answer_format import ReadingMetrics
from evalui.scoring.metrics import Metric, is_added, metrics_in
from evalui.types import Cell, Interval
from evalui.ui.components.format import share
from evalui.ui.components.fragment import Action, html_fragment, on_action
from evalui.ui.components.widgets import note, signature_line, table, titled
from evalui.ui.services.service import AppService
from evalui.ui.tabs.arena.arena_view import OpenRunView, open_overview
from evalui.ui.tabs.results.overview.figures import (
    all_notes,
    cell_names,
    chart_title,
    note_line,
    overview_top,
    pairs,
)
from evalui.ui.tabs.results.run_view import RunView, model_places


class OverviewView:
    """The view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out figures, chart and tables."""
        first = html_fragment("overview-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as frame:
            with gr.Column(elem_classes="chart-card", scale=2, min_width=320):
                title = html_fragment("overview-title")
                plot = gr.Plot(show_label=False, container=False)
            with gr.Column(elem_classes="chart-card", scale=1, min_width=320):
                beside = html_fragment("overview-pairs")
        last = html_fragment("overview-below")
        answers = html_fragment("overview-answers")
        self.outputs = [first, frame, title, plot, answers, beside, last]
        on_action(last, self.sorted, inputs=[run_id], outputs=[last])

    def show(self, run_id: str) -> tuple[Any, ...]:
        """Everything the view shows of a run."""
        view, t = RunView(self.service, self.t, run_id), self.t
        written = self._written(view)
        if not view.has_choices:
            empty = (left_out_note(t, view) or Html(""), gr.Row(visible=False), Html(""), None)
            return *empty, written, Html(""), Html("")
        summaries = list(view.with_question.values())
        answered = any(summary.accuracy for summary in summaries)
        chart = before_after(summaries, t.language, baselines=view.baselines) if answered else None
        return (
            div(overview_top(t, view), left_out_note(t, view), cls="stack"),
            gr.Row(visible=answered),
            chart_title(t, summaries, view.baselines),
            chart,
            written,
            pairs(t, view),
            overview_tables(t, list(view.summaries.values()), view.baselines, sort=""),
        )

    def _written(self, view: RunView) -> Html:
        """The part of the run's written answers that comes first."""
        if not view.answers:
            return Html("")
        return open_overview(OpenRunView(self.service, self.t, view.run.id, {}))

    def sorted(self, run_id: str, act: Action) -> Any:
        """The table of all figures in another order."""
        view = RunView(self.service, self.t, run_id)
        sort = act.value("sort")
        return overview_tables(self.t, list(view.summaries.values()), view.baselines, sort=sort)


def left_out_note(t: Messages, view: RunView) -> Html | None:
    """What the run was given and does not evaluate, if there is anything."""
    left_out = view.report.left_out
    if not left_out:
        return None
    sentences = left_out_sentences(left_out, t.language)
    listed = el("ul", *(el("li", sentence) for sentence in sentences))
    # That a mode does not fit a dataset costs no data.
    expected = all(each.rule in ("choice-modes", "open-modes") for each in left_out)
    return note("na" if expected else "warn", el("b", localized("left-title", t.language)), listed)


_NAMES: Mapping[str, Callable[[Summary], str]] = {
    "model": lambda s: s.cell.model,
    "dataset": lambda s: s.cell.dataset,
    "mode": lambda s: s.cell.label,
}


def overview_tables(
    t: Messages, summaries: Sequence[Summary], baselines: Collection[str], *, sort: str
) -> Html:
    """The same numbers as a table, the other rules, groups of subjects, notes and signatures."""
    cells = cell_names(t, summaries)
    notes = all_notes(t, summaries)
    return div(
        _figures_card(t, summaries, baselines, sort),
        _readings_card(t, summaries, cells),
        _groups_card(t, summaries, cells),
        titled(
            t("overview.notes"),
            *(div(note_line(cell, report_note), cls="gap-s") for cell, report_note in notes),
        )
        if notes
        else None,
        div(*(signature_line(summary.cell.signature) for summary in summaries)),
        cls="stack",
    )


def _figures_card(
    t: Messages, summaries: Sequence[Summary], baselines: Collection[str], sort: str
) -> Html:
    wish, falling = sort.removeprefix("-"), sort.startswith("-")
    metrics = {metric.key or metric.name: metric for metric in metrics_in("screen")}
    rows = list(summaries)
    if wish in _NAMES:
        rows.sort(key=_NAMES[wish], reverse=falling)
    elif wish in metrics:
        rows.sort(key=lambda s: _value(s, metrics[wish]), reverse=falling)
    order = model_places(summaries, baselines)
    heads = [_head(name, t(f"column.{name}"), sort) for name in _NAMES]
    heads += [
        _head(name, _metric_name(t, one), sort, one.own_docs(t.language))
        for name, one in metrics.items()
    ]
    body = [
        [
            model_name(s.cell.model, order[s.cell.model], s.cell.model in baselines),
            s.cell.dataset,
            t(f"mode.{s.cell.mode}_short") + s.cell.label.removeprefix(s.cell.mode),
            *(_metric_cell(one, s) for one in metrics.values()),
        ]
        for s in rows
    ]
    inputs = el("input", type="hidden", name="sort", value=sort)
    return titled(
        t("overview.figures"), inputs, table(heads, body), aside=t("overview.figures_about")
    )


def _head(name: str, label: str, sort: str, docs: str = "") -> Html:
    order = None
    if sort.removeprefix("-") == name:
        order = "descending" if sort.startswith("-") else "ascending"
    arrow = {"descending": " ↓", "ascending": " ↑", None: ""}[order]
    flipped = name if sort == f"-{name}" else f"-{name}"
    press = el("button", label, arrow, type="button", data_do="sort", data_sort=flipped)
    return el("th", press, scope="col", aria_sort=order, title=docs or None)


def _metric_name(t: Messages, metric: Metric) -> str:
    return metric.own_label(t.language) if is_added(metric) else t(f"column.{metric.key}")


def _metric_cell(metric: Metric, s: Summary) -> Child:
    figure = s.figures.get(metric.name)
    if isinstance(figure, Interval) and metric.unit == "share":
        return share(figure)
    return format_figure(metric, figure) or "–"


def _readings_card(
    t: Messages, summaries: Sequence[Summary], cells: Mapping[Cell, str]
) -> Html | None:
    # A table per set of rules: letters and replies are read, cloze scores are normalised.
    families = list(dict.fromkeys(tuple(s.readings) for s in summaries if s.readings))
    if not families:
        return None
    tables = [
        _rules_table(t, [s for s in summaries if tuple(s.readings) == family], cells)
        for family in families
    ]
    return titled(
        t("overview.rules"),
        *(div(rules, cls="gap-s") for rules in tables),
        aside=t("overview.rules_about"),
    )


def _rules_table(t: Messages, summaries: Sequence[Summary], cells: Mapping[Cell, str]) -> Html:
    rules = [t(f"reading.{name}") for name in summaries[0].readings]
    heads = [t("column.cell"), *rules, t("column.form")]
    rows: list[list[Child]] = [
        [cells[s.cell], *(_rule(t, reading) for reading in s.readings.values()), _form(t, s)]
        for s in summaries
    ]
    return table(heads, rows)


def _rule(t: Messages, reading: ReadingMetrics) -> Html:
    lost = [
        t("overview.unreadable", share=format_value(reading.unreadable))
        if reading.unreadable.value
        else "",
        t.count("overview.ties", reading.tied) if reading.tied else "",
    ]
    words = t("list.comma").join(word for word in lost if word)
    return join(share(reading.accuracy), div(words, cls="meta") if words else None)


def _form(t: Messages, s: Summary) -> Html:
    if s.format is None:
        return join("–")
    gap, mass, merged = s.format.format_gap, s.format.mass, s.format.merged_boundaries
    lines = [
        t("overview.gap", points=format_value(gap), span=spread(gap)) if gap else "",
        t("overview.mass", value=percent(mass)) if mass is not None else "",
        t.count("overview.merged", merged) if merged else "",
    ]
    return join(*(div(line, cls="meta") for line in lines if line))


def _groups_card(
    t: Messages, summaries: Sequence[Summary], cells: Mapping[Cell, str]
) -> Html | None:
    able = [s for s in summaries if s.groups]
    if not able:
        return None
    keys = list(dict.fromkeys((g.kind, g.name) for s in able for g in s.groups))
    groups = {(s.cell, g.kind, g.name): g for s in able for g in s.groups}
    heads = [t("column.group"), t("column.n"), *(cells[s.cell] for s in able)]

    def rows(kinds: Collection[str]) -> list[list[Child]]:
        return [
            _group_row(t, [groups.get((s.cell, *key)) for s in able])
            for key in keys
            if key[0] in kinds
        ]

    subjects = el(
        "details",
        el("summary", t("overview.subjects")),
        table(heads, rows(("subject",))),
        cls="gap-s",
    )
    together = rows(("category", "hard", "all"))
    return titled(
        t("overview.groups"), table(heads, together), subjects, aside=t("overview.groups_about")
    )


def _group_row(t: Messages, groups: Sequence[SubjectGroup | None]) -> list[Child]:
    first = next(group for group in groups if group)
    name = first.name_zh if t.language == "zh" and first.name_zh else first.name
    if first.kind != "subject":
        name = t(f"group.{first.name}") if f"group.{first.name}" in t else name
    return [name, f"{first.n:,}", *(_group_cell(t, group) for group in groups)]


def _group_cell(t: Messages, group: SubjectGroup | None) -> Child:
    if group is None or group.accuracy is None:
        return "–"
    if group.kind == "subject":
        return share(group.accuracy)
    macro = group.macro.get("acc_origin")
    means = t("overview.macro", value=fixed(macro, 1)) if macro is not None else ""
    return join(share(group.accuracy), " ", span(means, cls="meta"))


def _value(s: Summary, metric: Metric) -> float:
    figure = s.figures.get(metric.name)
    value = figure.value if isinstance(figure, Interval) else figure
    return -math.inf if value is None else value
