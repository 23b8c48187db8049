"""Trials as arrays: a row per question, a column per order of its options.

A grid holds all questions with one number of options. A stratum, which the bias figures read, holds
those of them that were presented in every order of the pattern and of which no option names another
or has its text. Questions with different numbers of options are never pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.permutations import variants
from evalui.types import FixedOrderReason, Pattern, Trial

UNREADABLE, TIED, ABSENT = -1, -2, -3
_ProbabilitiesByTrial = dict[tuple[str, tuple[int, ...]], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class TrialGrid:
    """The outcomes of all questions that have `n_options` options, under one pattern.

    Arrays of shape (questions, orders); column 0 is the original order. `choice` and `target`
    are slots; `choice` may be UNREADABLE or TIED, and both are ABSENT, with credit 0, where no
    trial exists. `fixed_reason` is why the options of each question keep their order, "" if they
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


@dataclass(frozen=True, slots=True)
class OptionCountStratum:
    """`n` questions with K options in V orders; row 0 of `orders` is the original one.

    `orders` has the shape (V, K) and says which option stands in a slot. `choice` and `target`
    are slots of shape (n, V); `choice` may be UNREADABLE or TIED. `probabilities`
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


def trial_grids(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> tuple[TrialGrid, ...]:
    """One grid per number of options, fewest first; `reading` None takes each trial's headline.

    Trials in orders outside the pattern are passed over; of a trial that comes twice the later
    counts.
    """
    grids: list[TrialGrid] = []
    rest: Sequence[Trial] = trials
    while rest:
        grid, rest = _build_grid(rest, pattern, reading)
        grids.append(grid)
    return tuple(sorted(grids, key=lambda grid: grid.n_options))


def excluded_ids(tables: Sequence[TrialGrid], why: FixedOrderReason) -> tuple[str, ...]:
    """The questions that the order figures leave out because their options are fixed for `why`.

    "" gives those whose options may move but that lack an order.
    """
    ids: list[str] = []
    for table in tables:
        rows = table.fixed_reason == why
        ids += table.ids[rows if why else rows & ~table.complete].tolist()
    return tuple(ids)


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
        answer = trial.readings[reading or trial.headline]
        choice = answer.choice
        if choice is None:
            choice = TIED if answer.tied else UNREADABLE
        cell = start + column
        credits[cell] = answer.credit
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
    cells = [chances.get((name, order)) for name in grid.ids for order in orders] if chances else []
    rows = [row for row in cells if row is not None]
    shape = (len(grid.ids), len(orders), grid.n_options)
    known = bool(rows) and len(rows) == len(cells)
    return OptionCountStratum(
        ids=grid.ids,
        orders=np.array(orders, dtype=np.intp),
        choice=grid.choice.astype(np.intp),
        target=grid.target.astype(np.intp),
        probabilities=np.array(rows, dtype=np.float64).reshape(shape) if known else None,
    )
