"""The models of a run against each other, question by question, and the ranks that follow.

Cells are compared within one dataset and mode, over the questions both answered. Everything is
worked out from summaries; the tests are those of `scoring.pairing`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from evalui.report.summary import Measure, Summary
from evalui.scoring.pairing import (
    McNemar,
    Paired,
    Place,
    comparable,
    detectable,
    holm,
    mcnemar,
    paired,
    rank_bands,
)
from evalui.types import Cell

__all__ = ["Comparison", "Measure", "Pair", "Refusal", "Unranked", "comparisons", "pair"]

# The thresholds are judgement: Wilson's half-width is 16 points and more below 30 questions, and
# one reply in ten that cannot be read moves an accuracy further than most models are apart.
_FEW = 30
_UNREADABLE = 0.10
_LEVEL = 0.05

Unranked = Literal["few", "unreadable", "guessing"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cells on the questions both answered; `first` has the higher mean.

    `found` is the paired difference of question means with its t interval, `adjusted` its p-value
    after Holm's correction for the pairs shown together. `table` is McNemar's test, None for the
    mean over orders, which is not right or wrong. `invisible` is the smallest difference that
    these questions show with 80 % power, None where all differences are equal.
    """

    first: Cell
    second: Cell
    measure: Measure
    found: Paired
    adjusted: float
    table: McNemar | None
    invisible: float | None

    @property
    def n(self) -> int:
        """The questions both answered."""
        return self.found.n

    @property
    def few(self) -> bool:
        """Whether the questions are too few for any test."""
        return self.n < _FEW

    @property
    def apart(self) -> bool:
        """Whether the two can be told apart."""
        return not self.few and self.found.difference != 0 and self.adjusted < _LEVEL


@dataclass(frozen=True, slots=True)
class Refusal:
    """Two cells that are not compared, and what differs: see `scoring.pairing.comparable`.

    `parts` is empty where they share fewer than two questions.
    """

    first: Cell
    second: Cell
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs of one dataset and mode under one measure, in the order of the run.

    `places` are the ranks of the cells that can be ranked, best first, named by model; `unranked`
    tells why the others have none. No cell has a rank if some cannot be compared.
    """

    dataset: str
    label: str
    measure: Measure
    pairs: tuple[Pair, ...]
    refused: tuple[Refusal, ...]
    places: tuple[Place, ...]
    unranked: Mapping[Cell, Unranked]

    @property
    def n(self) -> int:
        """The most questions that a pair has in common."""
        return max((pair.n for pair in self.pairs), default=0)

    @property
    def invisible(self) -> float | None:
        """The smallest difference that any of the pairs could have shown."""
        known = [pair.invisible for pair in self.pairs if pair.invisible is not None]
        return min(known, default=None)

    def place(self, model: str) -> Place | None:
        """The rank of a model, None if it has none."""
        return next((place for place in self.places if place.name == model), None)


def comparisons(
    summaries: Sequence[Summary], measure: Measure | None = None
) -> tuple[Comparison, ...]:
    """A comparison for each dataset and mode that two or more models of a run answered.

    `measure` None takes the robust accuracy where options were moved, else the accuracy.
    """
    together: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        if summary.accuracy:
            together.setdefault((summary.cell.dataset, summary.cell.label), []).append(summary)
    return tuple(
        _compared(found, measure or main_measure(found))
        for found in together.values()
        if len(found) > 1
    )


def main_measure(summaries: Sequence[Summary]) -> Measure:
    """What models are ranked by: the robust accuracy if all have one."""
    return "robust" if all(summary.robust for summary in summaries) else "accuracy"


def pair(one: Summary, other: Summary, measure: Measure) -> Pair | Refusal:
    """Two cells under one measure, without a correction for other pairs."""
    parts = comparable(one.cell, other.cell)
    if parts:
        return Refusal(one.cell, other.cell, tuple(parts.split(", ")))
    first, second = one.outcomes.get(measure, {}), other.outcomes.get(measure, {})
    found = paired(first, second)
    if found is None:
        return Refusal(one.cell, other.cell, ())
    if found.difference < 0:
        return pair(other, one, measure)
    return Pair(
        one.cell,
        other.cell,
        measure,
        found,
        adjusted=_p(found),
        table=None if measure == "mean_over_orders" else mcnemar(_right(first), _right(second)),
        invisible=None if found.identical else detectable(found.omega, found.n),
    )


def unranked(summary: Summary) -> Unranked | None:
    """Why a cell takes no part in a ranking; None if it does."""
    accuracy, chance = summary.accuracy, summary.chance
    if accuracy is None or summary.n < _FEW:
        return "few"
    if summary.unreadable > _UNREADABLE * summary.done:
        return "unreadable"
    return "guessing" if chance is not None and accuracy.low < chance else None


def _compared(summaries: Sequence[Summary], measure: Measure) -> Comparison:
    made = [pair(one, other, measure) for one, other in combinations(summaries, 2)]
    pairs = [each for each in made if isinstance(each, Pair)]
    adjusted = holm([each.adjusted for each in pairs])
    refused = tuple(each for each in made if isinstance(each, Refusal))
    without: dict[Cell, Unranked] = {s.cell: why for s in summaries if (why := unranked(s))}
    ranked = [] if refused else [s for s in summaries if s.cell not in without]
    return Comparison(
        dataset=summaries[0].cell.dataset,
        label=summaries[0].cell.label,
        measure=measure,
        pairs=tuple(replace(each, adjusted=p) for each, p in zip(pairs, adjusted, strict=True)),
        refused=refused,
        places=rank_bands({s.cell.model: s.outcomes.get(measure, {}) for s in ranked}),
        unranked=without,
    )


def _right(values: Mapping[str, float]) -> dict[str, bool]:
    return {name: value == 1 for name, value in values.items()}


def _p(found: Paired) -> float:
    """The t test's p, or that of all 2^n signs where every question has the same difference."""
    if found.p is not None:
        return found.p
    return 2.0 ** (1 - found.n) if found.difference else 1.0
