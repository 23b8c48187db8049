"""Trials as arrays: a row per question, a column per order of its options."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.orders import variants
from evalui.types import Pattern, Trial

UNREADABLE, TIED, ABSENT = -1, -2, -3


@dataclass(frozen=True, slots=True)
class Grid:
    """The outcomes of all questions that have `n_options` options, under one pattern.

    Arrays of shape (questions, orders); column 0 is the original order. `choice` and `target`
    are slots; `choice` may be UNREADABLE or TIED, and both are ABSENT, with credit 0, where no
    trial exists. `naming` marks the questions whose options name other options.
    """

    n_options: int
    ids: NDArray[np.object_]
    credit: NDArray[np.float64]
    choice: NDArray[np.int16]
    target: NDArray[np.int16]
    naming: NDArray[np.bool_]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where a trial exists."""
        return self.target != ABSENT

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which questions have a trial in every order."""
        return (self.target == ABSENT).sum(axis=1) == 0

    @property
    def reorderable(self) -> NDArray[np.bool_]:
        """Which questions the order figures rest on: complete, and no option names another."""
        return self.complete & ~self.naming

    def only(self, rows: NDArray[np.bool_]) -> "Grid":
        """The same for some of the questions."""
        return Grid(
            self.n_options,
            self.ids[rows],
            self.credit[rows],
            self.choice[rows],
            self.target[rows],
            self.naming[rows],
        )


def grids(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> tuple[Grid, ...]:
    """One grid per number of options, fewest first; `reading` None takes each trial's headline.

    Trials in orders outside the pattern are passed over; of a trial that comes twice the later
    counts.
    """
    found: list[Grid] = []
    rest: Sequence[Trial] = trials
    while rest:
        grid, rest = _grid(rest, pattern, reading)
        found.append(grid)
    return tuple(sorted(found, key=lambda grid: grid.n_options))


def _grid(
    trials: Sequence[Trial], pattern: Pattern, reading: str | None
) -> tuple[Grid, list[Trial]]:
    """The grid of the trials with as many options as the first one, and all other trials.

    One loop, and hardly a function called in it: a run has millions of trials, and every look at
    one is a look somewhere else in the memory.
    """
    n_options = len(trials[0].variant.permutation)
    orders = variants(n_options, pattern)
    column_of = {order.permutation: column for column, order in enumerate(orders)}.get
    row_of: dict[str, int] = {}
    rows, columns = list[int](), list[int]()
    credits, choices, targets = list[float](), list[int](), list[int]()
    naming, others = set[str](), list[Trial]()
    name, row = None, 0
    for trial in trials:
        column = column_of(trial.variant.permutation)
        if column is None and len(trial.variant.permutation) != n_options:
            others.append(trial)
            continue
        if trial.sample_id != name:  # the trials of a question mostly stand together
            name = trial.sample_id
            row = row_of.setdefault(name, len(row_of))
        if trial.names_options:
            naming.add(trial.sample_id)
        if column is None:
            continue
        told = trial.readings[reading or trial.headline]
        choice = UNREADABLE if told.choice is None else told.choice
        rows.append(row)
        columns.append(column)
        credits.append(told.credit)
        choices.append(TIED if told.tied else choice)
        targets.append(trial.target)
    at = np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
    shape = len(row_of), len(orders)
    credit = np.zeros(shape)
    choice_at = np.full(shape, ABSENT, dtype=np.int16)
    target = np.full(shape, ABSENT, dtype=np.int16)
    credit[at], choice_at[at], target[at] = credits, choices, targets
    names = np.array([name in naming for name in row_of], dtype=np.bool_)
    ids = np.array(list(row_of), dtype=np.object_)
    return Grid(n_options, ids, credit, choice_at, target, names), others
