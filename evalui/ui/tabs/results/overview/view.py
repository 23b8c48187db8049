"""Results, Overview: figures of each cell, the chart before and after reordering, all numbers.

Written answers have figures of their own below; of a run that has nothing else, they are the page.
"""

from typing import Any

import gradio as gr

from evalui.messages import Messages, localized
from evalui.report.analyses.overview.left_out import left_out_sentences
from evalui.report.charts.common import before_after
from evalui.report.charts.small_multiples import text_figures_chart
from evalui.ui.components.fragment import on, pane, read_act
from evalui.ui.components.html import Html, div, el, join
from evalui.ui.components.widgets import note
from evalui.ui.services.service import Desk
from evalui.ui.tabs.results.overview.breakdown import below
from evalui.ui.tabs.results.overview.figures import chart_title, pairs, top
from evalui.ui.tabs.results.overview.judged import judged_top, marked_top
from evalui.ui.tabs.results.overview.open import by_dataset, open_below, open_chart_title, open_top
from evalui.ui.tabs.results.run_view import Shown


class Overview:
    """The view in one language."""

    def __init__(self, desk: Desk, t: Messages) -> None:
        self.desk = desk
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out figures, chart and tables."""
        first = pane("overview-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as frame:
            with gr.Column(elem_classes="chart-card", scale=2, min_width=320):
                title = pane("overview-title")
                plot = gr.Plot(show_label=False, container=False)
            with gr.Column(elem_classes="chart-card", scale=1, min_width=320):
                beside = pane("overview-pairs")
        last = pane("overview-below")
        answers = pane("overview-answers")
        with gr.Column(elem_classes="chart-card", visible=False) as second:
            second_title = pane("overview-text")
            second_plot = gr.Plot(show_label=False, container=False)
        answers_last = pane("overview-all")
        written = [answers, second, second_title, second_plot, answers_last]
        self.outputs = [first, frame, title, plot, *written, beside, last]
        on(last, self.sorted, inputs=[run_id], outputs=[last])

    def show(self, run_id: str) -> tuple[Any, ...]:
        """Everything the view shows of a run."""
        shown, t = Shown(self.desk, self.t, run_id), self.t
        written = self._written(shown)
        if not shown.has_choices:
            empty = (left_out_note(t, shown) or Html(""), gr.Row(visible=False), Html(""), None)
            return *empty, *written, Html(""), Html("")
        summaries = list(shown.asked.values())
        answered = any(summary.accuracy for summary in summaries)
        chart = before_after(summaries, t.language, baselines=shown.baselines) if answered else None
        return (
            div(top(t, shown), left_out_note(t, shown), cls="stack"),
            gr.Row(visible=answered),
            chart_title(t, summaries, shown.baselines),
            chart,
            *written,
            pairs(t, shown),
            below(t, list(shown.summaries.values()), shown.baselines, sort=""),
        )

    def _written(self, shown: Shown) -> tuple[Any, ...]:
        """The panes of written answers; a chart where one dataset has references."""
        t, answers, baselines = self.t, shown.answers, shown.baselines
        if not answers:
            return Html(""), gr.Column(visible=False), Html(""), None, Html("")
        rules, arenas = self.desk.scripted(), shown.report.arenas
        drawn = len(by_dataset(answers)) == 1 and any(summary.means for summary in answers)
        return (
            join(
                judged_top(t, shown.run.id, arenas, rule_based=rules),
                marked_top(t, shown.report.results, rule_based=rules),
                open_top(
                    t,
                    answers,
                    shown.report.results,
                    baselines=baselines,
                    alone=not shown.has_choices,
                ),
            ),
            gr.Column(visible=drawn),
            open_chart_title(t, answers),
            text_figures_chart(answers, t.language, baselines=baselines) if drawn else None,
            open_below(t, answers, baselines=baselines, rule_based=rules),
        )

    def sorted(self, run_id: str, event: gr.EventData) -> Any:
        """The table of all figures in another order."""
        shown = Shown(self.desk, self.t, run_id)
        wish = read_act(event).one("sort")
        return below(self.t, list(shown.summaries.values()), shown.baselines, sort=wish)


def left_out_note(t: Messages, shown: Shown) -> Html | None:
    """What the run was given and does not evaluate, if there is anything."""
    found = shown.report.left_out
    if not found:
        return None
    told = left_out_sentences(found, t.language)
    listed = el("ul", *(el("li", sentence) for sentence in told))
    # That a mode does not fit a dataset costs no data.
    expected = all(each.rule in ("choice-modes", "open-modes") for each in found)
    return note("na" if expected else "warn", el("b", localized("left-title", t.language)), listed)
