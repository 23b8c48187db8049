"""Where a model puts its answers: does it favour a slot, whatever is shown there?

Questions with different numbers of options are never pooled: each number has its own table.
Ties are counted apart and take part in nothing else, because resolving them by position would
make the very bias these tables look for. An unreadable answer is a miss of its gold slot.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, TrialGrid, trial_grids
from evalui.scoring.statistics.intervals import clustered_mean, clustered_ratio
from evalui.types import Interval, Pattern, Trial


@dataclass(frozen=True, slots=True)
class PositionTable:
    """Gold slot against chosen slot, over all orders of the questions with `n_options` options.

    `counts[gold][chosen]` counts trials; `unreadable` and `tied` do so by gold slot. `recalls`
    say how often the right answer is found when it stands in a slot, `shares` how often a slot
    is chosen among all readable answers; both None where there is nothing to count. `rstd` is
    the standard deviation of the recalls in percentage points, None if one is unknown.
    """

    n_options: int
    n_questions: int
    n_trials: int
    counts: tuple[tuple[int, ...], ...]
    unreadable: tuple[int, ...]
    tied: tuple[int, ...]
    recalls: tuple[Interval | None, ...]
    shares: tuple[Interval | None, ...]
    rstd: float | None

    @property
    def chance(self) -> float:
        """The share and the recall of each slot under blind guessing."""
        return 1 / self.n_options

    @property
    def slot_counts(self) -> tuple[int, ...]:
        """How often each slot was chosen."""
        return tuple(sum(column) for column in zip(*self.counts, strict=True))


def position_tables(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> tuple[PositionTable, ...]:
    """A table per number of options, fewest first, over the questions asked in every order.

    Questions whose options name other options, or have the same text, are left out.
    """
    return position_tables_of_grids(trial_grids(trials, pattern, reading=reading))


def position_tables_of_grids(made: Sequence[TrialGrid]) -> tuple[PositionTable, ...]:
    """`position_tables` of grids that are there already."""
    tables = [grid.subset(grid.reorderable) for grid in made]
    return tuple(_position_table(table) for table in tables if len(table.ids))


def _position_table(grid: TrialGrid) -> PositionTable:
    slots = range(grid.n_options)
    recalls = tuple(_slot_recall(grid, slot) for slot in slots)
    values = [recall.value for recall in recalls if recall]
    return PositionTable(
        n_options=grid.n_options,
        n_questions=len(grid.ids),
        n_trials=grid.target.size,
        counts=tuple(
            tuple(_count_chosen(grid, gold, chosen) for chosen in slots) for gold in slots
        ),
        unreadable=tuple(_count_chosen(grid, gold, UNREADABLE) for gold in slots),
        tied=tuple(_count_chosen(grid, gold, TIED) for gold in slots),
        recalls=recalls,
        shares=tuple(_slot_share(grid, slot) for slot in slots),
        # Over the slots themselves, not a sample of them: n in the denominator.
        rstd=float(np.std(values) * 100) if len(values) == grid.n_options else None,
    )


def _count_chosen(grid: TrialGrid, gold: int, chosen: int) -> int:
    return int(((grid.target == gold) & (grid.choice == chosen)).sum())


def _slot_recall(grid: TrialGrid, slot: int) -> Interval | None:
    asked = _per_question((grid.target == slot) & (grid.choice != TIED))
    found = _per_question((grid.target == slot) & (grid.choice == slot))
    counted = asked > 0
    if not counted.any():
        return None
    return clustered_mean(found[counted] / asked[counted], asked[counted]).interval


def _slot_share(grid: TrialGrid, slot: int) -> Interval | None:
    readable = _per_question(grid.choice >= 0)
    chosen = _per_question(grid.choice == slot)
    counted = readable > 0
    if not counted.any():
        return None
    return clustered_ratio(chosen[counted].astype(float), readable[counted].astype(float))


def _per_question(marks: NDArray[np.bool_]) -> NDArray[np.int_]:
    return marks.sum(axis=1)
