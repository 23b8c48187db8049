"""Results, Overview: figures of each cell, the chart before and after reordering, all numbers.

Written answers have figures of their own below; of a run that has nothing else, they are the page.
"""

from typing import Any

import gradio as gr

from evalui.messages import Messages, localized
from evalui.report.analyses.overview.document import left_out_sentences
from evalui.report.charts.answers import before_after, text_figures_chart
from evalui.ui.components.fragment import html_fragment, on_action, read_action
from evalui.ui.components.html import Html, div, el, join
from evalui.ui.components.widgets import note
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.overview.breakdown import overview_tables
from evalui.ui.tabs.results.overview.figures import chart_title, overview_top, pairs
from evalui.ui.tabs.results.overview.judged import judging_summary, rating_summary
from evalui.ui.tabs.results.overview.open import by_dataset, open_below, open_chart_title, open_top
from evalui.ui.tabs.results.run_view import RunView


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
        with gr.Column(elem_classes="chart-card", visible=False) as second:
            second_title = html_fragment("overview-text")
            second_plot = gr.Plot(show_label=False, container=False)
        answers_last = html_fragment("overview-all")
        written = [answers, second, second_title, second_plot, answers_last]
        self.outputs = [first, frame, title, plot, *written, beside, last]
        on_action(last, self.sorted, inputs=[run_id], outputs=[last])

    def show(self, run_id: str) -> tuple[Any, ...]:
        """Everything the view shows of a run."""
        shown, t = RunView(self.service, self.t, run_id), self.t
        written = self._written(shown)
        if not shown.has_choices:
            empty = (left_out_note(t, shown) or Html(""), gr.Row(visible=False), Html(""), None)
            return *empty, *written, Html(""), Html("")
        summaries = list(shown.with_question.values())
        answered = any(summary.accuracy for summary in summaries)
        chart = before_after(summaries, t.language, baselines=shown.baselines) if answered else None
        return (
            div(overview_top(t, shown), left_out_note(t, shown), cls="stack"),
            gr.Row(visible=answered),
            chart_title(t, summaries, shown.baselines),
            chart,
            *written,
            pairs(t, shown),
            overview_tables(t, list(shown.summaries.values()), shown.baselines, sort=""),
        )

    def _written(self, view: RunView) -> tuple[Any, ...]:
        """The panes of written answers; a chart where one dataset has references."""
        t, answers, baselines = self.t, view.answers, view.baselines
        if not answers:
            return Html(""), gr.Column(visible=False), Html(""), None, Html("")
        rules, arenas = self.service.scripted(), view.report.arenas
        drawn = len(by_dataset(answers)) == 1 and any(summary.means for summary in answers)
        return (
            join(
                judging_summary(t, view.run.id, arenas, rule_based=rules),
                rating_summary(t, view.report.results, rule_based=rules),
                open_top(
                    t,
                    answers,
                    view.report.results,
                    baselines=baselines,
                    alone=not view.has_choices,
                ),
            ),
            gr.Column(visible=drawn),
            open_chart_title(t, answers),
            text_figures_chart(answers, t.language, baselines=baselines) if drawn else None,
            open_below(t, answers, baselines=baselines, rule_based=rules),
        )

    def sorted(self, run_id: str, event: gr.EventData) -> Any:
        """The table of all figures in another order."""
        shown = RunView(self.service, self.t, run_id)
        wish = read_action(event).value("sort")
        return overview_tables(self.t, list(shown.summaries.values()), shown.baselines, sort=wish)


def left_out_note(t: Messages, view: RunView) -> Html | None:
    """What the run was given and does not evaluate, if there is anything."""
    found = view.report.left_out
    if not found:
        return None
    told = left_out_sentences(found, t.language)
    listed = el("ul", *(el("li", sentence) for sentence in told))
    # That a mode does not fit a dataset costs no data.
    expected = all(each.rule in ("choice-modes", "open-modes") for each in found)
    return note("na" if expected else "warn", el("b", localized("left-title", t.language)), listed)
