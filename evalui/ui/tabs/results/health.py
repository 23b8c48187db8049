"""Results, Dataset health: what the questions give away, with and without a model."""

from collections.abc import Mapping

from evalui.report.analyses.health import choices_only_blocks, health_blocks
from evalui.report.html import Html, div, el
from evalui.report.render.page import render_blocks
from evalui.types import Sample
from evalui.ui.components.form import Form
from evalui.ui.components.widgets import card
from evalui.ui.tabs.results.run_view import RunView


def render(view: RunView, form: Form) -> Html:
    """The health of each dataset of a run, as this run used it."""
    del form
    by_name = datasets(view)
    if not by_name:
        return card(div(el("h1", view.t("dataset.none")), cls="empty"))
    summaries = list(view.summaries.values())
    parts: list[Html] = []
    for name, samples in by_name.items():
        blind = choices_only_blocks(summaries, name, view.language, markers=view.markers)
        heading = el("p", name, cls="meta gap") if len(by_name) > 1 else None
        blocks = health_blocks(samples, view.language, blind=blind)
        parts.append(div(heading, render_blocks(blocks)))
    return div(*parts)


def datasets(view: RunView) -> Mapping[str, tuple[Sample, ...]]:
    """The multiple-choice questions of the run, by dataset."""
    cells = {summary.cell for summary in view.summaries.values()}
    by_name: dict[str, tuple[Sample, ...]] = {}
    for result in view.report.results:
        if result.cell in cells:
            by_name.setdefault(result.cell.dataset, tuple(result.samples.values()))
    return by_name
