"""The trials of all questions with one number of options, as arrays: what the bias figures read.

A stratum holds only questions that were asked in every order of the pattern and of which no
option names another or has its text. Questions with different numbers of options are never pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.permutations import variants
from evalui.scoring.choice.trial_grid import TIED, Grid, grids
from evalui.types import Pattern, Trial


@dataclass(frozen=True, slots=True)
class Stratum:
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
    def right(self) -> NDArray[np.bool_]:
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

    def original(self) -> "Stratum":
        """The same questions in their original order alone."""
        chances = self.probabilities
        return Stratum(
            self.ids,
            self.orders[:1],
            self.choice[:, :1],
            self.target[:, :1],
            None if chances is None else chances[:, :1],
        )


def strata(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> tuple[Stratum, ...]:
    """A stratum per number of options, fewest first; `reading` None takes each trial's headline.

    A number of options without any question that can be used has no stratum.
    """
    return from_grids(grids(trials, pattern, reading=reading), trials, pattern)


def from_grids(
    tables: Sequence[Grid], trials: Sequence[Trial], pattern: Pattern
) -> tuple[Stratum, ...]:
    """The strata of grids made from the same trials and pattern."""
    whole = [table.only(table.reorderable) for table in tables]
    chances = _probabilities(trials)
    return tuple(_stratum(table, pattern, chances) for table in whole if len(table.ids))


_Chances = dict[tuple[str, tuple[int, ...]], tuple[float, ...]]


def _probabilities(trials: Sequence[Trial]) -> _Chances:
    return {
        (trial.sample_id, trial.variant.permutation): trial.probabilities
        for trial in trials
        if trial.probabilities
    }


def _stratum(grid: Grid, pattern: Pattern, chances: _Chances) -> Stratum:
    orders = [order.permutation for order in variants(grid.n_options, pattern)]
    found = [chances.get((name, order)) for name in grid.ids for order in orders] if chances else []
    rows = [row for row in found if row is not None]
    shape = (len(grid.ids), len(orders), grid.n_options)
    known = bool(rows) and len(rows) == len(found)
    return Stratum(
        ids=grid.ids,
        orders=np.array(orders, dtype=np.intp),
        choice=grid.choice.astype(np.intp),
        target=grid.target.astype(np.intp),
        probabilities=np.array(rows, dtype=np.float64).reshape(shape) if known else None,
    )
