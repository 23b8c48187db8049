"""Results, Dataset health: what the questions give away, with and without a model."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from evalui.datasets.health import check
from evalui.messages import Messages
from evalui.types import Sample
from evalui.ui.components.fragment import pane
from evalui.ui.components.html import Html, div, el
from evalui.ui.components.widgets import card
from evalui.ui.services.service import Desk
from evalui.ui.tabs.evaluate.file_card import health_card
from evalui.ui.tabs.results.choices_only_card import choices_card
from evalui.ui.tabs.results.run_view import Shown


class HealthView:
    """The view in one language."""

    def __init__(self, desk: Desk, t: Messages) -> None:
        self.desk = desk
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the one pane."""
        del run_id  # nothing here is an act
        self.outputs = [pane("health-pane")]

    def show(self, run_id: str) -> Html:
        """The health of each dataset of a run, as this run asked it."""
        shown, t = Shown(self.desk, self.t, run_id), self.t
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


def datasets(shown: Shown) -> Mapping[str, tuple[Sample, ...]]:
    """The multiple-choice questions that the run asks, by dataset."""
    cells = {summary.cell for summary in shown.summaries.values()}
    found: dict[str, tuple[Sample, ...]] = {}
    for result in shown.report.results:
        if result.cell in cells:
            found.setdefault(result.cell.dataset, tuple(result.samples.values()))
    return found


def _dataset(
    t: Messages, shown: Shown, name: str, samples: tuple[Sample, ...], *, heading: str
) -> Html:
    return div(
        el("h2", heading) if heading else None,
        el("p", t.count("dataset.asked", len(samples)), cls="dim"),
        div(health_card(t, check(samples)), choices_card(t, shown, name), cls="row start"),
        cls="stack",
    )
