"""Results, Overview: figures of each cell, the chart before and after reordering, all numbers."""

from typing import Any

import gradio as gr

from evalui.report.charts import before_after
from evalui.ui.breakdown import below
from evalui.ui.desk import Desk
from evalui.ui.pane import on, pane, read_act
from evalui.ui.standings import chart_title, top
from evalui.ui.text import Text
from evalui.ui.view import Shown


class Overview:
    """The view in one language."""

    def __init__(self, desk: Desk, t: Text) -> None:
        self.desk = desk
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out figures, chart and tables."""
        first = pane("overview-top")
        with gr.Column(elem_classes="chart-card", visible=False) as frame:
            title = pane("overview-title")
            plot = gr.Plot(show_label=False, container=False)
        last = pane("overview-below")
        self.outputs = [first, frame, title, plot, last]
        on(last, self.sorted, inputs=[run_id], outputs=[last])

    def show(self, run_id: str) -> tuple[Any, ...]:
        """Everything the view shows of a run."""
        shown, t = Shown(self.desk, self.t, run_id), self.t
        summaries = list(shown.summaries.values())
        answered = any(summary.accuracy for summary in summaries)
        chart = before_after(summaries, t.language, baselines=shown.baselines) if answered else None
        return (
            top(t, summaries, shown.baselines),
            gr.Column(visible=answered),
            chart_title(t, summaries, shown.baselines),
            chart,
            below(t, summaries, shown.baselines, sort=""),
        )

    def sorted(self, run_id: str, event: gr.EventData) -> Any:
        """The table of all figures in another order."""
        shown = Shown(self.desk, self.t, run_id)
        wish = read_act(event).one("sort")
        return below(self.t, list(shown.summaries.values()), shown.baselines, sort=wish)
