"""Trials as arrays: a row per question, a column per order of its options.

A grid holds all questions with one number of options. A stratum, which the bias figures read, holds
those of them that were presented in every order of the pattern and of which no option names another
or has its text. Questions with different numbers of options are never pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.options import variants
from evalui.scoring.trial_columns import (
    ABSENT,
    FIXED_REASONS,
    NO_CHOICE,
    Ragged,
    ReadingColumns,
    Rows,
    TrialColumns,
    columns_of,
)
from evalui.types import FixedOrderReason, Pattern, Trial

UNREADABLE, TIED = NO_CHOICE, -2


@dataclass(frozen=True, slots=True)
class TrialGrid:
    """The outcomes of all questions that have `n_options` options, under one pattern.

    Arrays of shape (questions, repeats x orders): all orders of the first repeat, then those of the
    next; column 0 of each repeat is the original order. `choice` and `target`
    are slots; `choice` may be UNREADABLE or TIED, and both are ABSENT, with credit 0, where no
    trial exists. `fixed_reason` is why the options of each question keep their order, "" if they
    move. `trial` is the place of each trial in the sequence, -1 where none exists. `cluster` is the
    number of the cluster of each question, None where none is known to share one.
    """

    n_options: int
    ids: NDArray[np.object_]
    credit: NDArray[np.float64]
    choice: NDArray[np.int16]
    target: NDArray[np.int16]
    fixed_reason: NDArray[np.str_]
    trial: NDArray[np.intp]
    n_repeats: int = 1
    cluster: NDArray[np.intp] | None = None

    @property
    def n(self) -> int:
        """The number of questions."""
        return len(self.ids)

    @property
    def n_orders(self) -> int:
        """The number of orders of each repeat."""
        return self.target.shape[1] // self.n_repeats

    @property
    def credit_by_repeat(self) -> NDArray[np.float64]:
        """The credits of shape (questions, repeats, orders)."""
        return self.credit.reshape(self.n, self.n_repeats, self.n_orders)

    @property
    def written(self) -> NDArray[np.bool_]:
        """Where a trial in the original order exists; (questions, repeats)."""
        return self.present[:, :: self.n_orders]

    @property
    def written_credit(self) -> NDArray[np.float64]:
        """The credits in the original order; (questions, repeats)."""
        return self.credit[:, :: self.n_orders]

    @property
    def written_choice(self) -> NDArray[np.int16]:
        """The choices in the original order; (questions, repeats)."""
        return self.choice[:, :: self.n_orders]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where a trial exists."""
        return self.target != ABSENT

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which questions have a trial in every order of every repeat."""
        return (self.target == ABSENT).sum(axis=1) == 0

    @property
    def reorderable(self) -> NDArray[np.bool_]:
        """Which questions the order figures rest on: complete, and the options may move."""
        return self.complete & (self.fixed_reason == "")

    def subset(self, rows: Rows) -> "TrialGrid":
        """The same for some of the questions."""
        return TrialGrid(
            self.n_options,
            self.ids[rows],
            self.credit[rows],
            self.choice[rows],
            self.target[rows],
            self.fixed_reason[rows],
            self.trial[rows],
            self.n_repeats,
            None if self.cluster is None else self.cluster[rows],
        )


@dataclass(frozen=True, slots=True)
class OptionCountStratum:
    """`n` questions with K options in V orders; row 0 of `orders` is the original one.

    `orders` has the shape (V, K) and says which option stands in a slot; or (n, V, K) where each
    question has orders of its own, as `bias.keys.by_key` makes them. `choice` and `target`
    are slots of shape (n, V); `choice` may be UNREADABLE or TIED. `chances` are the probabilities
    of the slots, of shape (n, V, K): no numbers for a trial that lacks them, None where all do.

    Where questions are asked several times, V is `n_repeats` times the number of orders: all
    orders of the first repeat, then those of the next. All answers to a question stay in its row.
    `cluster` is that of the grid.
    """

    ids: NDArray[np.object_]
    orders: NDArray[np.intp]
    choice: NDArray[np.intp]
    target: NDArray[np.intp]
    chances: NDArray[np.float64] | None = None
    n_repeats: int = 1
    cluster: NDArray[np.intp] | None = None

    @property
    def n(self) -> int:
        """The number of questions."""
        return len(self.choice)

    @property
    def probabilities(self) -> NDArray[np.float64] | None:
        """`chances` where every trial has them, None else."""
        chances = self.chances
        return None if chances is None or np.isnan(chances).any() else chances

    @property
    def n_shown(self) -> int:
        """V: how often each question is shown."""
        return self.orders.shape[-2]

    @property
    def n_orders(self) -> int:
        """The number of different orders."""
        return self.n_shown // self.n_repeats

    @property
    def own_orders(self) -> bool:
        """Whether each question has orders of its own."""
        return self.orders.ndim > 2

    @property
    def each_repeat(self) -> "OptionCountStratum":
        """The same with a row for each repeat of each question, as if it were another question."""
        shape = self.n * self.n_repeats, self.n_orders
        chances = self.chances
        return OptionCountStratum(
            np.repeat(self.ids, self.n_repeats),
            self.orders.reshape(*shape, self.n_options)
            if self.own_orders
            else self.orders[: self.n_orders],
            self.choice.reshape(shape),
            self.target.reshape(shape),
            None if chances is None else chances.reshape(*shape, self.n_options),
        )

    @property
    def first_repeat(self) -> "OptionCountStratum":
        """The same with the first repeat alone."""
        orders, chances = self.n_orders, self.chances
        return OptionCountStratum(
            self.ids,
            self.orders[..., :orders, :],
            self.choice[:, :orders],
            self.target[:, :orders],
            None if chances is None else chances[:, :orders],
        )

    @property
    def n_options(self) -> int:
        """K, the number of options."""
        return self.orders.shape[-1]

    @property
    def gold(self) -> NDArray[np.intp]:
        """The right option of each question."""
        return self._at(self.orders, self.target)[:, 0]

    @property
    def slot_of(self) -> NDArray[np.intp]:
        """The inverse of `orders`, of its shape: the slot in which each order shows an option."""
        return np.argsort(self.orders, axis=-1)

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Which trials chose the right slot; (n, V)."""
        return self.choice == self.target

    @property
    def content(self) -> NDArray[np.intp]:
        """The chosen options; where nothing was chosen the code of `choice` stays."""
        shown = self._at(self.orders, np.maximum(self.choice, 0))
        return np.where(self.choice >= 0, shown, self.choice)

    def slots_of(self, content: NDArray[np.intp]) -> NDArray[np.intp]:
        """The slot in which each order shows an option, of options of shape (rows, V).

        Rows are those of the questions where they have orders of their own.
        """
        return self._at(self.slot_of, content)

    def _at(self, table: NDArray[np.intp], places: NDArray[np.intp]) -> NDArray[np.intp]:
        if not self.own_orders:
            return table[np.arange(self.n_shown), places]
        return np.take_along_axis(table, places[:, :, None], axis=2)[:, :, 0]

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

    Raises:
        KeyError: a trial lacks that reading.
    """
    columns = columns_of(trials)
    answers, sizes = columns.reading_named(reading), columns.n_options
    return tuple(
        _build_grid(columns, answers, np.flatnonzero(sizes == size), size, pattern)
        for size in np.flatnonzero(np.bincount(sizes)).tolist()
    )


def joined_clusters(tables: Sequence[TrialGrid]) -> NDArray[np.intp] | None:
    """The clusters of the questions of all grids, one after the other; None where none is known."""
    known = [table.cluster for table in tables if table.cluster is not None]
    return np.concatenate(known) if known else None


def first_come(codes: NDArray[np.int32], n_codes: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The codes (0 to `n_codes` - 1) that come at all, as they first come; the place of each there.

    The second has the shape (n_codes,); what it says of a code that does not come means nothing.
    """
    first = np.full(n_codes, len(codes), dtype=np.intp)
    np.minimum.at(first, codes, np.arange(len(codes)))
    used = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    place = np.zeros(n_codes, dtype=np.intp)
    place[used] = np.arange(len(used))
    return used, place


def excluded_ids(tables: Sequence[TrialGrid], why: FixedOrderReason) -> tuple[str, ...]:
    """The questions that the order figures leave out because their options are fixed for `why`.

    "" gives those whose options may move but that lack an order.
    """
    ids: list[str] = []
    for table in tables:
        rows = table.fixed_reason == why
        ids += table.ids[rows if why else rows & ~table.complete].tolist()
    return tuple(ids)


def strata(trials: Sequence[Trial], pattern: Pattern) -> tuple[OptionCountStratum, ...]:
    """A stratum per number of options, fewest first, under each trial's headline.

    A number of options without any question that can be used has no stratum.
    """
    columns = columns_of(trials)
    return strata_of_grids(trial_grids(columns, pattern), columns, pattern)


def strata_of_grids(
    tables: Sequence[TrialGrid], columns: TrialColumns, pattern: Pattern
) -> tuple[OptionCountStratum, ...]:
    """The strata of grids made from the same trials and pattern."""
    whole = [table.subset(table.reorderable) for table in tables]
    return tuple(_build_stratum(one, pattern, columns.probabilities) for one in whole if one.n)


def _build_grid(
    columns: TrialColumns,
    answers: ReadingColumns,
    rows: NDArray[np.intp],
    n_options: int,
    pattern: Pattern,
) -> TrialGrid:
    """The grid of the trials in `rows`, at least one, all with so many options."""
    place_of = {order: place for place, order in enumerate(variants(n_options, pattern))}
    n_orders, n_repeats = len(place_of), columns.n_repeats
    places = [
        place_of[order.order] + order.repeat * n_orders if order.order in place_of else -1
        for order in columns.orders
    ]
    column = np.array(places)[columns.order[rows]]
    used, row_of = first_come(columns.sample[rows], len(columns.ids))
    row = row_of[columns.sample[rows]]
    inside, marked = column >= 0, columns.fixed[rows] > 0
    shape = len(used), n_orders * n_repeats
    cells = row[inside] * shape[1] + column[inside]
    trial = _last(cells, rows[inside], shape[0] * shape[1]).reshape(shape)
    reason = _last(row[marked], columns.fixed[rows[marked]].astype(np.intp), shape[0])
    choice = np.where(answers.tied & (answers.choice == NO_CHOICE), TIED, answers.choice)
    there = trial >= 0
    return TrialGrid(
        n_options,
        np.array(columns.ids, dtype=np.object_)[used],
        np.where(there, answers.credit[trial], 0.0),
        np.where(there, choice[trial], ABSENT).astype(np.int16),
        np.where(there, columns.target[trial], ABSENT).astype(np.int16),
        np.array(FIXED_REASONS)[np.maximum(reason, 0)],
        trial,
        n_repeats,
    )


def _last(cells: NDArray[np.intp], values: NDArray[np.intp], n_cells: int) -> NDArray[np.intp]:
    """The last of the `values` that stands in each cell, -1 where none does."""
    place = np.full(n_cells, -1, dtype=np.intp)
    np.maximum.at(place, cells, np.arange(len(cells)))
    return np.append(values, -1)[place]


def _build_stratum(grid: TrialGrid, pattern: Pattern, chances: Ragged) -> OptionCountStratum:
    n_options = grid.n_options
    orders = [order.permutation for order in variants(n_options, pattern)] * grid.n_repeats
    known = chances.lengths[grid.trial] == n_options
    given: NDArray[np.float64] | None = None
    if known.any():
        given = np.full((*known.shape, n_options), np.nan)
        given[known] = chances.values[
            chances.starts[grid.trial][known][:, None] + np.arange(n_options)
        ]
    return OptionCountStratum(
        ids=grid.ids,
        orders=np.array(orders, dtype=np.intp),
        choice=grid.choice.astype(np.intp),
        target=grid.target.astype(np.intp),
        chances=given,
        n_repeats=grid.n_repeats,
        cluster=grid.cluster,
    )
