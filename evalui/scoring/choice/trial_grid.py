"""Trials as arrays: a row per question, a column per order of its options."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.permutations import variants
from evalui.types import FixedOrderReason, Pattern, Trial

UNREADABLE, TIED, ABSENT = -1, -2, -3


@dataclass(frozen=True, slots=True)
class TrialGrid:
    """The outcomes of all questions that have `n_options` options, under one pattern.

    Arrays of shape (questions, orders); column 0 is the original order. `choice` and `target`
    are slots; `choice` may be UNREADABLE or TIED, and both are ABSENT, with credit 0, where no
    trial exists. `fixed_reason` says of each question why its options keep their order, "" if they
    move.
    """

    n_options: int
    ids: NDArray[np.object_]
    credit: NDArray[np.float64]
    choice: NDArray[np.int16]
    target: NDArray[np.int16]
    fixed_reason: NDArray[np.str_]

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
        """Which questions the order figures rest on: complete, and the options may move."""
        return self.complete & (self.fixed_reason == "")

    def subset(self, rows: NDArray[np.bool_]) -> "TrialGrid":
        """The same for some of the questions."""
        return TrialGrid(
            self.n_options,
            self.ids[rows],
            self.credit[rows],
            self.choice[rows],
            self.target[rows],
            self.fixed_reason[rows],
        )


def trial_grids(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> tuple[TrialGrid, ...]:
    """One grid per number of options, fewest first; `reading` None takes each trial's headline.

    Trials in orders outside the pattern are passed over; of a trial that comes twice the later
    counts.
    """
    found: list[TrialGrid] = []
    rest: Sequence[Trial] = trials
    while rest:
        grid, rest = _build_grid(rest, pattern, reading)
        found.append(grid)
    return tuple(sorted(found, key=lambda grid: grid.n_options))


def excluded_ids(tables: Sequence[TrialGrid], why: FixedOrderReason) -> tuple[str, ...]:
    """The questions that the order figures leave out because their options are fixed for `why`.

    "" gives those whose options may move but that lack an order.
    """
    ids: list[str] = []
    for table in tables:
        rows = table.fixed_reason == why
        ids += table.ids[rows if why else rows & ~table.complete].tolist()
    return tuple(ids)


def _build_grid(
    trials: Sequence[Trial], pattern: Pattern, reading: str | None
) -> tuple[TrialGrid, list[Trial]]:
    """The grid of the trials with as many options as the first one, and all other trials.

    One loop, and hardly a function called in it: a run has millions of trials, and every look at
    one is a look somewhere else in the memory. Each question gets its row of empty cells at once,
    so that no places need to be kept beside the values.
    """
    n_options = len(trials[0].variant.permutation)
    orders = variants(n_options, pattern)
    column_of = {order.permutation: column for column, order in enumerate(orders)}.get
    nothing, absent = [0.0] * len(orders), [ABSENT] * len(orders)
    credits, choices, targets = list[float](), list[int](), list[int]()
    start_of: dict[str, int] = {}
    fixed, others = dict[str, FixedOrderReason](), list[Trial]()
    name, start = None, 0
    for trial in trials:
        permutation = trial.variant.permutation
        column = column_of(permutation)
        if column is None and len(permutation) != n_options:
            others.append(trial)
            continue
        if trial.sample_id != name:  # the trials of a question mostly stand together
            name = trial.sample_id
            start = start_of.setdefault(name, len(credits))
            if start == len(credits):
                credits += nothing
                choices += absent
                targets += absent
        if trial.fixed_reason:
            fixed[trial.sample_id] = trial.fixed_reason
        if column is None:
            continue
        told = trial.readings[reading or trial.headline]
        choice = told.choice
        if choice is None:
            choice = TIED if told.tied else UNREADABLE
        cell = start + column
        credits[cell] = told.credit
        choices[cell] = choice
        targets[cell] = trial.target
    shape = len(start_of), len(orders)
    grid = TrialGrid(
        n_options,
        np.array(list(start_of), dtype=np.object_),
        np.array(credits, dtype=np.float64).reshape(shape),
        np.array(choices, dtype=np.int16).reshape(shape),
        np.array(targets, dtype=np.int16).reshape(shape),
        np.array([fixed.get(name, "") for name in start_of], dtype=np.str_),
    )
    return grid, others
