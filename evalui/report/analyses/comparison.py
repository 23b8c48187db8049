"""Cells of one or several runs side by side: what they can be measured by, and how sure one is."""

from collections.abc import Sequence
from dataclasses import replace

from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.statistics.pairs import Measure, Pair, Refusal
from evalui.scoring.statistics.paired_tests import holm

MEASURES: tuple[Measure, ...] = ("robust", "accuracy", "mean_over_orders")


def corrected(made: Sequence[Pair | Refusal]) -> tuple[Pair | Refusal, ...]:
    """The same with p-values adjusted for the number of pairs."""
    adjusted = iter(holm([each.adjusted for each in made if isinstance(each, Pair)]))
    return tuple(
        replace(each, adjusted=next(adjusted)) if isinstance(each, Pair) else each for each in made
    )


def shared_measures(summaries: Sequence[Summary]) -> tuple[Measure, ...]:
    """The measures that all cells have, the one to rank by first."""
    return tuple(measure for measure in MEASURES if all(s.outcomes.get(measure) for s in summaries))
