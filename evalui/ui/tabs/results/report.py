"""Results, Report: the run as files to keep, and the report as it will read."""

from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.compile import preview
from evalui.report.export.files import FORMATS
from evalui.runs.database.records import RunRow
from evalui.ui.components.fragment import html_fragment
from evalui.ui.components.html import Html, div, el
from evalui.ui.components.widgets import card, note, titled
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.run_view import RunView


class ReportView:
    """The view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the links and the preview. Gradio's Markdown is sanitised."""
        del run_id
        links = html_fragment("report-pane")
        with gr.Column(elem_classes="chart-card"):
            preview = gr.Markdown(elem_id="report-preview")
        self.outputs = [links, preview]

    def show(self, run_id: str) -> tuple[Any, ...]:
        """Links and preview of a run."""
        shown = RunView(self.service, self.t, run_id)
        return downloads(self.t, shown.run), preview(
            self.service.report(run_id, self.t.language), self.t.language
        )


def downloads(t: Messages, run: RunRow) -> Html:
    """A plain link per format: it works without scripts, and on the first click."""
    cards = [
        card(
            el("h3", t(f"report.{extension}")),
            el("p", t(f"report.{extension}_about"), cls="dim"),
            el(
                "a",
                t("report.download", name=extension.upper()),
                href=f"../export/{run.id}.{extension}?lang={t.language}",
                cls="btn pri" if extension == "zip" else "btn",
                download=True,
            ),
        )
        for extension in FORMATS
    ]
    live = run.state in ("queued", "running")
    return div(
        note("warn", t("report.unfinished")) if live else None,
        titled(t("report.files"), div(*cards, cls="downloads"), aside=t("report.files_about")),
        el("h2", t("report.preview")),
        cls="stack",
    )
