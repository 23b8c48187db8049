"""Cells of one or several runs side by side: what they can be measured by, and how sure one is."""

from collections.abc import Sequence
from dataclasses import replace

from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.statistics.pairs import CellComparison, IncomparablePair, Measure
from evalui.scoring.statistics.paired_tests import holm

MEASURES: tuple[Measure, ...] = ("robust", "accuracy", "mean_over_orders")


def holm_corrected(
    results: Sequence[CellComparison | IncomparablePair],
) -> tuple[CellComparison | IncomparablePair, ...]:
    """The same with p-values adjusted for the number of pairs."""
    adjusted = iter(holm([each.adjusted for each in results if isinstance(each, CellComparison)]))
    return tuple(
        replace(each, adjusted=next(adjusted)) if isinstance(each, CellComparison) else each
        for each in results
    )


def shared_measures(summaries: Sequence[Summary]) -> tuple[Measure, ...]:
    """The measures that all cells have, the one to rank by first."""
    return tuple(measure for measure in MEASURES if all(s.outcomes.get(measure) for s in summaries))
