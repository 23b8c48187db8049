"""Results, Dataset health: what the questions give away, with and without a model."""

from collections.abc import Mapping

from evalui.app.run_view import RunView
from evalui.report.analyses.health import baseline_blocks, health_blocks
from evalui.report.blocks import Paragraph
from evalui.types import Sample
from evalui.ui.blocks import show
from evalui.ui.pages.results.empty import show_empty
from evalui.ui.screen import Screen


def draw(screen: Screen, view: RunView) -> None:
    """The health of each dataset of a run, as this run used it."""
    del screen  # nothing is picked
    by_name = datasets(view)
    if not by_name:
        show_empty(view.t("dataset.none"))
    summaries = list(view.summaries.values())
    for place, (name, samples) in enumerate(by_name.items()):
        blind = baseline_blocks(summaries, name, samples, view.language, markers=view.markers)
        heading = [Paragraph(name, small=True)] if len(by_name) > 1 else []
        blocks = health_blocks(samples, view.language, blind=blind)
        scope, suffix = f"health-{place}", f"-{place}" * bool(place)
        show(view.t, [*heading, *blocks], scope=scope, suffix=suffix)


def datasets(view: RunView) -> Mapping[str, tuple[Sample, ...]]:
    """The multiple-choice questions of the run, by dataset; one of other questions may be left out
    of a run, and has cells all the same.
    """
    cells = {summary.cell for summary in view.summaries.values()}
    by_name: dict[str, tuple[Sample, ...]] = {}
    for result in view.report.results:
        if result.cell in cells and all(each.choices for each in result.samples.values()):
            by_name.setdefault(result.cell.dataset, tuple(result.samples.values()))
    return by_name
