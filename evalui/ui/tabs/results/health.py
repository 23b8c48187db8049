"""Results, Dataset health: what the questions give away, with and without a model."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from evalui.datasets.health import check_choices
from evalui.messages import Messages
from evalui.types import Sample
from evalui.ui.components.fragment import html_fragment
from evalui.ui.components.html import Html, div, el
from evalui.ui.components.widgets import card
from evalui.ui.services.service import AppService
from evalui.ui.tabs.evaluate.file_card import health_card
from evalui.ui.tabs.results.choices_only_card import choices_card
from evalui.ui.tabs.results.run_view import RunView


class HealthView:
    """The view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the one pane."""
        del run_id  # nothing here is an act
        self.outputs = [html_fragment("health-pane")]

    def show(self, run_id: str) -> Html:
        """The health of each dataset of a run, as this run asked it."""
        shown, t = RunView(self.service, self.t, run_id), self.t
        found = datasets(shown)
        if not found:
            return card(div(el("h2", t("dataset.none")), cls="empty unavailable"))
        return div(
            *(
                _dataset(t, shown, name, samples, heading=name if len(found) > 1 else "")
                for name, samples in found.items()
            ),
            cls="stack",
        )


def datasets(view: RunView) -> Mapping[str, tuple[Sample, ...]]:
    """The multiple-choice questions that the run asks, by dataset."""
    cells = {summary.cell for summary in view.summaries.values()}
    found: dict[str, tuple[Sample, ...]] = {}
    for result in view.report.results:
        if result.cell in cells:
            found.setdefault(result.cell.dataset, tuple(result.samples.values()))
    return found


def _dataset(
    t: Messages, view: RunView, name: str, samples: tuple[Sample, ...], *, heading: str
) -> Html:
    return div(
        el("h2", heading) if heading else None,
        el("p", t.count("dataset.asked", len(samples)), cls="dim"),
        div(health_card(t, check_choices(samples)), choices_card(t, view, name), cls="row start"),
        cls="stack",
    )
