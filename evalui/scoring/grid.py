"""Trials as arrays: a row per question, a column per order of its options."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.orders import variants
from evalui.types import Pattern, Reading, Trial

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
    by_options: dict[int, list[Trial]] = {}
    for trial in trials:
        by_options.setdefault(len(trial.variant.permutation), []).append(trial)
    return tuple(_grid(by_options[n], n, pattern, reading) for n in sorted(by_options))


def _grid(trials: list[Trial], n_options: int, pattern: Pattern, reading: str | None) -> Grid:
    columns = {order.permutation: i for i, order in enumerate(variants(n_options, pattern))}
    names = list(dict.fromkeys(trial.sample_id for trial in trials))
    rows = {name: row for row, name in enumerate(names)}
    shown = [trial for trial in trials if trial.variant.permutation in columns]
    readings = [trial.readings[reading or trial.headline] for trial in shown]
    at = (
        np.array([rows[trial.sample_id] for trial in shown], dtype=np.intp),
        np.array([columns[trial.variant.permutation] for trial in shown], dtype=np.intp),
    )
    shape = len(names), len(columns)
    credit = np.zeros(shape)
    choice = np.full(shape, ABSENT, dtype=np.int16)
    target = np.full(shape, ABSENT, dtype=np.int16)
    credit[at] = [found.credit for found in readings]
    choice[at] = [_code(found) for found in readings]
    target[at] = [trial.target for trial in shown]
    naming = {trial.sample_id for trial in trials if trial.names_options}
    return Grid(
        n_options=n_options,
        ids=np.array(names, dtype=np.object_),
        credit=credit,
        choice=choice,
        target=target,
        naming=np.array([name in naming for name in names], dtype=np.bool_),
    )


def _code(found: Reading) -> int:
    if found.tied:
        return TIED
    return UNREADABLE if found.choice is None else found.choice
