"""The part of a written report on pairs of models: each comparison of the run."""

from collections.abc import Iterator

from evalui.messages import localized
from evalui.report.analyses.base import Analysis, Report
from evalui.report.analyses.overview.standing import with_question
from evalui.report.analyses.statistics.blocks import statistics_blocks
from evalui.report.blocks import Block, Heading
from evalui.report.words import names
from evalui.scoring.comparisons import comparisons
from evalui.types import Language


def statistics_document(report: Report, language: Language) -> Iterator[Block]:
    """A heading and the pairs of each comparison; nothing where no two models answered."""
    shown = [summary for summary in with_question(report.summaries) if summary.accuracy]
    made = comparisons(shown, baselines=report.baselines)
    called = names(report.summaries, language)
    for number, comparison in enumerate(made, start=1):
        kind = (comparison.dataset, comparison.label)
        own = [s for s in shown if (s.cell.dataset, s.cell.label) == kind]
        parts = [localized("pairs-title", language)]
        if len(made) > 1:
            parts.append(called[own[0].cell][1])
        yield Heading(2, " · ".join(parts))
        suffix = f"-{number}" if len(made) > 1 else ""
        yield from statistics_blocks(
            own, comparison, language, baselines=report.baselines, suffix=suffix
        )


STATISTICS = Analysis(lambda report: bool(report.summaries), statistics_document)
