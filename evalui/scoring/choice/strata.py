"""The trials of all questions with one number of options, as arrays: what the bias figures read.

A stratum holds only questions that were asked in every order of the pattern and of which no
option names another or has its text. Questions with different numbers of options are never pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.permutations import variants
from evalui.scoring.choice.trial_grid import TIED, TrialGrid, trial_grids
from evalui.types import Pattern, Trial


@dataclass(frozen=True, slots=True)
class OptionCountStratum:
    """`n` questions with K options in V orders; row 0 of `orders` is the original one.

    `orders` has the shape (V, K) and says which option stands in a slot. `choice` and `target`
    are slots of shape (n, V); `choice` may be `grid.UNREADABLE` or `grid.TIED`. `probabilities`
    have the shape (n, V, K), by slot; None unless every trial has them.
    """

    ids: NDArray[np.object_]
    orders: NDArray[np.intp]
    choice: NDArray[np.intp]
    target: NDArray[np.intp]
    probabilities: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """The number of questions."""
        return len(self.choice)

    @property
    def n_orders(self) -> int:
        """V, the number of orders."""
        return len(self.orders)

    @property
    def n_options(self) -> int:
        """K, the number of options."""
        return self.orders.shape[1]

    @property
    def gold(self) -> NDArray[np.intp]:
        """The right option of each question."""
        return self.orders[0][self.target[:, 0]]

    @property
    def slot_of(self) -> NDArray[np.intp]:
        """The inverse of `orders`: the slot in which each order shows an option; (V, K)."""
        return np.argsort(self.orders, axis=1)

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Which trials chose the right slot; (n, V)."""
        return self.choice == self.target

    @property
    def content(self) -> NDArray[np.intp]:
        """The chosen options; where nothing was chosen the code of `choice` stays."""
        shown = self.orders[np.arange(self.n_orders), np.maximum(self.choice, 0)]
        return np.where(self.choice >= 0, shown, self.choice)

    @property
    def n_tied(self) -> int:
        """How many trials have several best options."""
        return int((self.choice == TIED).sum())

    def in_original_order(self) -> "OptionCountStratum":
        """The same questions in their original order alone."""
        chances = self.probabilities
        return OptionCountStratum(
            self.ids,
            self.orders[:1],
            self.choice[:, :1],
            self.target[:, :1],
            None if chances is None else chances[:, :1],
        )


def strata(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> tuple[OptionCountStratum, ...]:
    """A stratum per number of options, fewest first; `reading` None takes each trial's headline.

    A number of options without any question that can be used has no stratum.
    """
    return strata_from_grids(trial_grids(trials, pattern, reading=reading), trials, pattern)


def strata_from_grids(
    tables: Sequence[TrialGrid], trials: Sequence[Trial], pattern: Pattern
) -> tuple[OptionCountStratum, ...]:
    """The strata of grids made from the same trials and pattern."""
    whole = [table.subset(table.reorderable) for table in tables]
    chances = _probabilities_by_trial(trials)
    return tuple(_build_stratum(table, pattern, chances) for table in whole if len(table.ids))


_ProbabilitiesByTrial = dict[tuple[str, tuple[int, ...]], tuple[float, ...]]


def _probabilities_by_trial(trials: Sequence[Trial]) -> _ProbabilitiesByTrial:
    return {
        (trial.sample_id, trial.variant.permutation): trial.probabilities
        for trial in trials
        if trial.probabilities
    }


def _build_stratum(
    grid: TrialGrid, pattern: Pattern, chances: _ProbabilitiesByTrial
) -> OptionCountStratum:
    orders = [order.permutation for order in variants(grid.n_options, pattern)]
    found = [chances.get((name, order)) for name in grid.ids for order in orders] if chances else []
    rows = [row for row in found if row is not None]
    shape = (len(grid.ids), len(orders), grid.n_options)
    known = bool(rows) and len(rows) == len(found)
    return OptionCountStratum(
        ids=grid.ids,
        orders=np.array(orders, dtype=np.intp),
        choice=grid.choice.astype(np.intp),
        target=grid.target.astype(np.intp),
        probabilities=np.array(rows, dtype=np.float64).reshape(shape) if known else None,
    )
