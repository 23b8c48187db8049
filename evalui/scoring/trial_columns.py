"""The trials of a cell as numpy columns; a `Trial` is built only where one is looked at.

A run has millions of trials. As objects they take a kilobyte each and every look at one is a look
somewhere else in the memory; as columns a figure is a few operations on whole arrays.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from evalui.types import FixedOrderReason, Reading, Trial, Variant

NO_CHOICE, ABSENT = -1, -3  # nothing was chosen (or options tie); the trial lacks this reading
_CHUNK = 2048  # trials whose texts are read at once
FIXED_REASONS: tuple[FixedOrderReason, ...] = ("", "naming", "duplicates")

_NO_VALUE = -1  # the length of a row of `Ragged` that is not there
T = TypeVar("T")
TrialText = tuple[str | None, tuple[str, ...]]  # the reply, and the answers of a conversation
Rows = NDArray[np.bool_] | NDArray[np.intp] | slice
TextReader = Callable[[NDArray[np.int64]], Sequence[TrialText]]  # from the numbers of trials


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of numbers of different lengths: all `values` in one array, `lengths` of shape (n,).

    A length of -1 marks a row that is not there at all.
    """

    values: NDArray[np.float64]
    lengths: NDArray[np.int32]

    @classmethod
    def of(cls, rows: Sequence[Sequence[float] | None]) -> "Ragged":
        """The same numbers; None is a row that is not there."""
        lengths = [_NO_VALUE if row is None else len(row) for row in rows]
        values = [value for row in rows if row for value in row]
        return cls(np.array(values, dtype=np.float64), np.array(lengths, dtype=np.int32))

    @classmethod
    def absent(cls, n: int) -> "Ragged":
        """`n` rows that are not there."""
        return cls(np.zeros(0), np.full(n, _NO_VALUE, dtype=np.int32))

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where each row begins in `values`."""
        ends = np.cumsum(np.maximum(self.lengths, 0), dtype=np.intp)
        return ends - np.maximum(self.lengths, 0)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows hold any number."""
        return self.lengths > 0

    def by_length(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """For each length above 0: the rows that have it, and their numbers as a matrix."""
        # Not np.unique, which imports numpy.ma: a twentieth of the start of a short command.
        for length in np.flatnonzero(np.bincount(self.lengths[self.present])).tolist():
            rows = np.flatnonzero(self.lengths == length)
            yield rows, self.values[self.starts[rows][:, None] + np.arange(length)]

    def take(self, rows: Rows) -> "Ragged":
        """Some of the rows, in this order."""
        lengths, starts = self.lengths[rows], self.starts[rows]
        sizes = np.maximum(lengths, 0)
        before = np.cumsum(sizes, dtype=np.intp) - sizes
        within = np.arange(int(sizes.sum())) - np.repeat(before, sizes)
        return Ragged(self.values[np.repeat(starts, sizes) + within], lengths)

    def tuples(self) -> list[tuple[float, ...] | None]:
        """Every row; None for one that is not there."""
        values, ends = self.values.tolist(), self.starts + self.lengths
        return [
            None if length < 0 else tuple(values[end - length : end])
            for end, length in zip(ends.tolist(), self.lengths.tolist(), strict=True)
        ]

    @classmethod
    def joined(cls, parts: Sequence["Ragged"]) -> "Ragged":
        """The rows of all parts, one after the other."""
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.lengths for part in parts]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ReadingColumns:
    """The readings of all trials under one rule of the mode; arrays of shape (n,).

    `choice` is a slot, NO_CHOICE, or ABSENT where a trial lacks this reading; `rule` is a place in
    the table of rules.
    """

    choice: NDArray[np.int16]
    credit: NDArray[np.float64]
    rule: NDArray[np.int32]
    tied: NDArray[np.bool_]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The four columns."""
        return self.choice, self.credit, self.rule, self.tied

    @property
    def unreadable(self) -> NDArray[np.bool_]:
        """Where nothing was chosen and nothing ties."""
        return (self.choice == NO_CHOICE) & ~self.tied

    def take(self, rows: Rows) -> "ReadingColumns":
        """Some of the trials, in this order."""
        return ReadingColumns(*(array[rows] for array in self.arrays))


@dataclass(frozen=True, eq=False)
class TrialColumns(Sequence[Trial]):
    """`n` trials as columns of shape (n,), in the order of the sequence.

    `sample`, `order`, `headline` and the rules of `readings` are places in the tables `ids`,
    `orders`, `headlines` and `rules`, which may hold entries that no trial uses. `fixed` is a place
    in FIXED_REASONS. `mass` counts where `has_mass`. What a trial holds of text is read by `texts`
    when it is looked at, by the `number` of the trial.
    """

    ids: tuple[str, ...]
    orders: tuple[Variant, ...]
    headlines: tuple[str, ...]
    rules: tuple[str, ...]
    sample: NDArray[np.int32]
    order: NDArray[np.int32]
    headline: NDArray[np.int32]
    target: NDArray[np.int32]
    readings: Mapping[str, ReadingColumns]
    probabilities: Ragged
    mass: NDArray[np.float64]
    has_mass: NDArray[np.bool_]
    scores: Mapping[str, Ragged]
    merged: NDArray[np.int32]
    truncated: NDArray[np.bool_]
    fixed: NDArray[np.int8]
    number: NDArray[np.int64]
    texts: TextReader

    def __len__(self) -> int:
        """The number of trials."""
        return len(self.sample)

    @overload
    def __getitem__(self, index: int) -> Trial: ...

    @overload
    def __getitem__(self, index: slice) -> "TrialColumns": ...

    def __getitem__(self, index: int | slice) -> "Trial | TrialColumns":
        """A trial, or several."""
        if isinstance(index, slice):
            return self.take(index)
        place = range(len(self))[index]
        return self.take(slice(place, place + 1)).build()[0]

    def __iter__(self) -> Iterator[Trial]:
        """The trials in their order, with their texts."""
        for part in self.parts(_CHUNK):
            yield from part.build()

    def parts(self, size: int) -> "Iterator[TrialColumns]":
        """The trials in their order, at most `size` at once."""
        for start in range(0, len(self), size):
            yield self.take(slice(start, start + size))

    @cached_property
    def reading(self) -> ReadingColumns:
        """The reading of each trial that counts."""
        if len(self.headlines) == 1:
            return self.readings[self.headlines[0]]
        made = _absent_readings(len(self))
        for place, name in enumerate(self.headlines):
            rows, own = self.headline == place, self.readings[name]
            for whole, part in zip(made.arrays, own.arrays, strict=True):
                whole[rows] = part[rows]
        return made

    def reading_named(self, name: str | None) -> ReadingColumns:
        """The readings under a rule of the mode; None takes the one of each trial that counts.

        Raises:
            KeyError: a trial lacks it.
        """
        made = self.reading if name is None else self.readings[name]
        if (made.choice == ABSENT).any():
            raise KeyError(name)
        return made

    def rule_place(self, name: str) -> int:
        """The place of a rule in the table of rules, -1 if no trial was read by it."""
        return self.rules.index(name) if name in self.rules else -1

    @property
    def question_ids(self) -> frozenset[str]:
        """The ids of the questions that have a trial."""
        come: list[int] = np.unique(self.sample).tolist()
        return frozenset(self.ids[code] for code in come)

    @property
    def n_options(self) -> NDArray[np.int32]:
        """The number of options that each trial showed."""
        return self._of_order([len(order.permutation) for order in self.orders], np.int32)

    @property
    def is_origin(self) -> NDArray[np.bool_]:
        """Which trials are in the order as written."""
        return self._of_order([order.is_origin for order in self.orders], np.bool_)

    @property
    def repeat(self) -> NDArray[np.int32]:
        """Which repeat of its question each trial is, from 0."""
        return self._of_order([order.repeat for order in self.orders], np.int32)

    @property
    def n_repeats(self) -> int:
        """How often questions were asked: 1 unless they were repeated."""
        return 1 + max((order.repeat for order in self.orders), default=0)

    def _of_order(self, values: Sequence[int], dtype: Any) -> NDArray[Any]:
        """What is known of the table of orders, for each trial."""
        return np.array(values, dtype=dtype)[self.order] if len(self) else np.zeros(0, dtype)

    def take(self, rows: Rows) -> "TrialColumns":
        """Some of the trials, in this order; the tables stay whole."""
        return replace(
            self,
            readings={name: each.take(rows) for name, each in self.readings.items()},
            probabilities=self.probabilities.take(rows),
            scores={name: each.take(rows) for name, each in self.scores.items()},
            **{name: getattr(self, name)[rows] for name in PLAIN_COLUMNS},
        )

    def build(self) -> list[Trial]:
        """Every trial as an object; `texts` is called once."""
        texts = self.texts(self.number)
        readings = {name: self._readings(columns) for name, columns in self.readings.items()}
        scores = {name: ragged.tuples() for name, ragged in self.scores.items()}
        shares = self.probabilities.tuples()
        plain: dict[str, list[int]] = {name: getattr(self, name).tolist() for name in PLAIN_COLUMNS}
        return [
            Trial(
                sample_id=self.ids[plain["sample"][place]],
                variant=self.orders[plain["order"][place]],
                target=plain["target"][place],
                headline=self.headlines[plain["headline"][place]],
                readings={name: own for name, every in readings.items() if (own := every[place])},
                probabilities=shares[place] or (),
                mass=plain["mass"][place] if plain["has_mass"][place] else None,
                reply=texts[place][0],
                scores={
                    name: own for name, every in scores.items() if (own := every[place]) is not None
                },
                merged_boundaries=plain["merged"][place],
                truncated=bool(plain["truncated"][place]),
                fixed_reason=FIXED_REASONS[plain["fixed"][place]],
                turns=texts[place][1],
            )
            for place in range(len(self))
        ]

    def _readings(self, columns: ReadingColumns) -> list[Reading | None]:
        """One reading of every trial; there are few different ones, which trials share."""
        known: dict[tuple[int, float, int, bool], Reading | None] = {}
        listed: list[list[Any]] = [array.tolist() for array in columns.arrays]
        rows: list[tuple[int, float, int, bool]] = list(zip(*listed, strict=True))
        for row in rows:
            if row not in known:
                choice, credit, rule, tied = row
                known[row] = (
                    None
                    if choice == ABSENT
                    else Reading(choice if choice >= 0 else None, credit, self.rules[rule], tied)
                )
        return [known[row] for row in rows]


# The columns of `TrialColumns` that are plain arrays of shape (n,).
PLAIN_COLUMNS = (
    "sample",
    "order",
    "headline",
    "target",
    "mass",
    "has_mass",
    "merged",
    "truncated",
    "fixed",
    "number",
)


def columns_of(trials: Sequence[Trial]) -> TrialColumns:
    """The trials as columns; columns are given as they are. Others are numbered from 0."""
    if isinstance(trials, TrialColumns):
        return trials
    columns = getattr(trials, "columns", None)  # read where they are deferred
    if isinstance(columns, TrialColumns):
        return columns
    ids, orders, headlines, rules = _Table[str](), _Table[Variant](), _Table[str](), _Table[str]()
    names = dict.fromkeys(name for trial in trials for name in trial.readings)
    scores = dict.fromkeys(name for trial in trials for name in trial.scores)
    return TrialColumns(
        sample=ids.places([trial.sample_id for trial in trials]),
        order=orders.places([trial.variant for trial in trials]),
        headline=headlines.places([trial.headline for trial in trials]),
        target=np.array([trial.target for trial in trials], dtype=np.int32),
        readings={
            name: _reading_columns([trial.readings.get(name) for trial in trials], rules)
            for name in names
        },
        probabilities=Ragged.of([trial.probabilities for trial in trials]),
        mass=np.array([trial.mass or 0.0 for trial in trials], dtype=np.float64),
        has_mass=np.array([trial.mass is not None for trial in trials], dtype=np.bool_),
        scores={name: Ragged.of([trial.scores.get(name) for trial in trials]) for name in scores},
        merged=np.array([trial.merged_boundaries for trial in trials], dtype=np.int32),
        truncated=np.array([trial.truncated for trial in trials], dtype=np.bool_),
        fixed=np.array([FIXED_REASONS.index(trial.fixed_reason) for trial in trials], np.int8),
        number=np.arange(len(trials), dtype=np.int64),
        texts=lambda numbers: [(trials[n].reply, trials[n].turns) for n in map(int, numbers)],
        ids=tuple(ids),
        orders=tuple(orders),
        headlines=tuple(headlines),
        rules=tuple(rules),
    )


def join_columns(parts: Sequence[TrialColumns]) -> TrialColumns:
    """The trials of all parts, at least one, one after the other.

    All parts are of one cell: the reader of texts of the first knows the numbers of all.
    """
    if len(parts) == 1:
        return parts[0]
    ids, orders, headlines, rules = _Table[str](), _Table[Variant](), _Table[str](), _Table[str]()
    names = dict.fromkeys(name for part in parts for name in part.readings)
    scores = dict.fromkeys(name for part in parts for name in part.scores)
    recoded = [
        replace(
            part,
            sample=ids.places(part.ids)[part.sample],
            order=orders.places(part.orders)[part.order],
            headline=headlines.places(part.headlines)[part.headline],
            readings={
                name: replace(own, rule=rules.places(part.rules)[own.rule])
                for name, own in part.readings.items()
            },
        )
        for part in parts
    ]
    plain = {
        name: np.concatenate([getattr(part, name) for part in recoded]) for name in PLAIN_COLUMNS
    }
    return replace(
        parts[0],
        **plain,
        readings={
            name: _join_readings(
                [part.readings.get(name) or _absent_readings(len(part)) for part in recoded]
            )
            for name in names
        },
        probabilities=Ragged.joined([part.probabilities for part in parts]),
        scores={
            name: Ragged.joined(
                [part.scores.get(name) or Ragged.absent(len(part)) for part in parts]
            )
            for name in scores
        },
        ids=tuple(ids),
        orders=tuple(orders),
        headlines=tuple(headlines),
        rules=tuple(rules),
    )


class _Table(dict[T, int]):
    """Values in the order in which they first came, with their places."""

    def places(self, values: Sequence[T]) -> NDArray[np.int32]:
        """The place of each value; new ones are added at the end."""
        return np.array([self.setdefault(each, len(self)) for each in values], dtype=np.int32)


def _reading_columns(readings: Sequence[Reading | None], rules: "_Table[str]") -> ReadingColumns:
    made = _absent_readings(len(readings))
    there = np.array([each is not None for each in readings], dtype=np.bool_)
    known = [each for each in readings if each is not None]
    made.choice[there] = [NO_CHOICE if each.choice is None else each.choice for each in known]
    made.credit[there] = [each.credit for each in known]
    made.rule[there] = rules.places([each.rule for each in known])
    made.tied[there] = [each.tied for each in known]
    return made


def _absent_readings(n: int) -> ReadingColumns:
    return ReadingColumns(
        np.full(n, ABSENT, dtype=np.int16),
        np.zeros(n),
        np.zeros(n, dtype=np.int32),
        np.zeros(n, dtype=np.bool_),
    )


def _join_readings(parts: Sequence[ReadingColumns]) -> ReadingColumns:
    return ReadingColumns(
        *(np.concatenate(arrays) for arrays in zip(*(part.arrays for part in parts), strict=True))
    )
