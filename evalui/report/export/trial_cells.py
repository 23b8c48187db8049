"""What trials publish, read from their columns: a chunk at a time, each distinct value once.

The tables of public names lead to the values of a trial by paths. A question has up to 24 trials,
a cell one name and one signature: what is the same for many trials is converted for one of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from evalui.report.export.encoder import Encoder, Fields, Property, value_at
from evalui.scoring.arena.verdicts import retried_trials
from evalui.scoring.trial_columns import (
    ABSENT,
    FIXED_REASONS,
    Ragged,
    ReadingColumns,
    TrialColumns,
    TrialText,
    columns_of,
)
from evalui.types import CellResult, Trial

_CHUNK = 4096  # trials


@dataclass(frozen=True, slots=True, eq=False)
class ExportColumn:
    """A value for each of n rows: `values[code]` for each of the n `codes`, else `values`."""

    values: Sequence[Any]
    codes: NDArray[np.intp] | None = None

    def map(self, convert: Callable[[Any], Any]) -> "ExportColumn":
        """The converted values; `convert` is called once for each that is stored."""
        return ExportColumn([convert(value) for value in self.values], self.codes)

    def listed(self) -> Sequence[Any]:
        """The value of each row."""
        if self.codes is None:
            return self.values
        values = self.values
        return [values[code] for code in self.codes.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class ExportTable:
    """Rows that are made when they are read, a list of columns at a time in the order of `kinds`.

    `kinds` has the type of what stands in each column beside None, object where types differ.
    """

    kinds: Mapping[str, type]
    chunks: Callable[[], Iterator[Sequence[ExportColumn]]]


def same_for_all(value: Any, n: int) -> ExportColumn:
    """One value in n rows."""
    return ExportColumn([value], np.zeros(n, dtype=np.intp))


def chunks_of(result: CellResult, size: int = _CHUNK) -> Iterator["TrialChunk"]:
    """The trials of a cell in their order, at most `size` at once."""
    trials = columns_of(result.trials)
    for start in range(0, len(trials), size):
        yield TrialChunk(result, trials[start : start + size])


class TrialChunk:
    """Some trials of a cell with their questions, by the paths that tables of names have.

    `cell.…` is of their cell and `trial.…` of each; `sample.…` is of its question, `shown` are the
    options of the question and the order in which they stood, `rated_model` is whose answer a judge
    of single answers was shown.
    """

    def __init__(self, result: CellResult, trials: TrialColumns) -> None:
        self.result = result
        self.trials = trials

    def __len__(self) -> int:
        return len(self.trials)

    def column(self, path: str) -> ExportColumn:
        """The values at a path."""
        trials, samples = self.trials, self.result.samples
        head, _, rest = path.partition(".")
        if path in _READERS:
            return _READERS[path](self)
        if head == "cell":
            return same_for_all(value_at(rest, self.result.cell), len(self))
        if head == "sample":
            return _distinct(
                trials.sample, lambda place: value_at(rest, samples[trials.ids[place]])
            )
        return ExportColumn([value_at(rest, trial) for trial in self.objects])

    def alike(self, kinds: NDArray[np.intp]) -> Iterator[tuple[int, "TrialChunk"]]:
        """The trials in runs of one kind, each with it; `kinds` has that of every trial."""
        ends = [*(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
        for start, end in zip([0, *ends], ends, strict=False):
            if end > start:
                yield int(kinds[start]), TrialChunk(self.result, self.trials[start:end])

    @cached_property
    def texts(self) -> Sequence[TrialText]:
        """Of each trial the reply, and the answers of a conversation."""
        return self.trials.texts(self.trials.number)

    @cached_property
    def objects(self) -> list[Trial]:
        """The trials themselves, for what has no column."""

        def texts(_: NDArray[np.int64]) -> Sequence[TrialText]:
            return self.texts  # which are read once

        return replace(self.trials, texts=texts).build()

    def reading_columns(self, name: str) -> tuple[ExportColumn, ExportColumn]:
        """The choice and the rule of a reading; None where a trial lacks it."""
        own, rules = self.trials.readings.get(name), self.trials.rules
        if own is None:
            return same_for_all(None, len(self)), same_for_all(None, len(self))
        places = np.where(own.choice == ABSENT, -1, own.rule)
        return _choice(own), _distinct(places, lambda place: rules[place] if place >= 0 else None)

    def share_of_slot(self, slot: int) -> ExportColumn:
        """The probability of a slot; None where a trial has none."""
        return ExportColumn(_at(self.trials.probabilities, slot))

    def score(self, name: str) -> ExportColumn:
        """The first score of a name; None where a trial has none."""
        own = self.trials.scores.get(name)
        return ExportColumn(_at(own, 0)) if own is not None else same_for_all(None, len(self))


def column_reader(
    encoder: Encoder, fields: Fields
) -> Callable[[TrialChunk], dict[str, ExportColumn]]:
    """What publishes the fields, texts and properties alone, of a chunk: a column each."""
    properties = {
        name: cast("Property", Property(source) if isinstance(source, str) else source)
        for name, source in fields.items()
    }

    def publish(one: Property) -> Callable[[Any], Any]:
        convert, absent = one.convert, one.absent
        if convert is None:
            return lambda value: absent if value is None else encoder.encode(value)
        return lambda value: absent if value is None else encoder.encode(convert(value))

    published = {name: (one.path, publish(one)) for name, one in properties.items()}
    return lambda chunk: {
        name: chunk.column(path).map(convert) for name, (path, convert) in published.items()
    }


def _distinct(codes: NDArray[Any], value_of: Callable[[int], Any]) -> ExportColumn:
    """The value of each code, made once."""
    used, places = np.unique(codes, return_inverse=True)
    return ExportColumn([value_of(code) for code in used.tolist()], places)


def _choice(readings: ReadingColumns) -> ExportColumn:
    return _distinct(readings.choice, lambda choice: choice if choice >= 0 else None)


def _correct(trials: TrialColumns) -> ExportColumn:
    choice = trials.reading.choice
    return ExportColumn([False, True, None], np.where(choice < 0, 2, choice == trials.target))


def _readings(chunk: TrialChunk) -> ExportColumn:
    """The readings of each trial; there are few different sets of them."""
    trials = chunk.trials
    arrays = [
        array
        for own in trials.readings.values()
        for array in (own.choice, own.credit, own.rule, own.tied)
    ]
    _, firsts, places = np.unique(
        np.stack(arrays, axis=1).astype(np.float64), axis=0, return_index=True, return_inverse=True
    )
    without_texts = replace(trials.take(firsts), texts=_no_texts)
    return ExportColumn([trial.readings for trial in without_texts.build()], places.reshape(-1))


def _no_texts(numbers: NDArray[np.int64]) -> list[TrialText]:
    return [(None, ())] * len(numbers)


def _scores(trials: TrialColumns) -> ExportColumn:
    every = {name: own.tuples() for name, own in trials.scores.items()}
    return ExportColumn(
        [
            {name: own[place] for name, own in every.items() if own[place] is not None}
            for place in range(len(trials))
        ]
    )


def _shown(chunk: TrialChunk) -> ExportColumn:
    trials, samples = chunk.trials, chunk.result.samples
    count = len(trials.orders)
    return _distinct(
        trials.sample.astype(np.int64) * count + trials.order,
        lambda pair: (
            samples[trials.ids[pair // count]].choices,
            trials.orders[pair % count].permutation,
        ),
    )


def _at(ragged: Ragged, place: int) -> list[float | None]:
    there = ragged.lengths > place
    values = np.full(len(there), None, dtype=object)
    values[there] = ragged.values[ragged.starts[there] + place]
    return values.tolist()


def _rated_model(chunk: TrialChunk) -> ExportColumn:
    orders, contestants = chunk.trials.orders, chunk.result.contestants
    return _distinct(
        chunk.trials.order, lambda place: contestants[orders[place].permutation[0]].name
    )


def _known(table: Sequence[Any], codes: NDArray[Any]) -> ExportColumn:
    return _distinct(codes, table.__getitem__)


def _plain(values: NDArray[Any]) -> ExportColumn:
    used, places = np.unique(values, return_inverse=True)
    return ExportColumn(used.tolist(), places)


def _mass(trials: TrialColumns) -> ExportColumn:
    masses, there = trials.mass.tolist(), trials.has_mass.tolist()
    return ExportColumn([mass if has else None for mass, has in zip(masses, there, strict=True)])


_READERS: Mapping[str, Callable[[TrialChunk], ExportColumn]] = {
    "shown": _shown,
    "rated_model": _rated_model,
    "retried": lambda chunk: _plain(retried_trials(chunk.trials)),
    "trial.sample_id": lambda chunk: _known(chunk.trials.ids, chunk.trials.sample),
    "trial.variant": lambda chunk: _known(chunk.trials.orders, chunk.trials.order),
    "trial.variant.permutation": lambda chunk: _distinct(
        chunk.trials.order, lambda place: chunk.trials.orders[place].permutation
    ),
    # From 1, as of logs; nothing where questions were asked once.
    "trial.variant.repeat": lambda chunk: (
        _plain(chunk.trials.repeat + 1)
        if chunk.trials.n_repeats > 1
        else same_for_all(None, len(chunk))
    ),
    "trial.target": lambda chunk: _plain(chunk.trials.target),
    "trial.choice": lambda chunk: _choice(chunk.trials.reading),
    "trial.correct": lambda chunk: _correct(chunk.trials),
    "trial.headline": lambda chunk: _known(chunk.trials.headlines, chunk.trials.headline),
    "trial.reading.credit": lambda chunk: _plain(chunk.trials.reading.credit),
    "trial.reading.tied": lambda chunk: _plain(chunk.trials.reading.tied),
    "trial.reading.rule": lambda chunk: _known(chunk.trials.rules, chunk.trials.reading.rule),
    "trial.readings": _readings,
    "trial.probabilities": lambda chunk: ExportColumn(
        [shares or () for shares in chunk.trials.probabilities.tuples()]
    ),
    "trial.mass": lambda chunk: _mass(chunk.trials),
    "trial.scores": lambda chunk: _scores(chunk.trials),
    "trial.reply": lambda chunk: ExportColumn([reply for reply, _ in chunk.texts]),
    "trial.turns": lambda chunk: ExportColumn([turns for _, turns in chunk.texts]),
    "trial.merged_boundaries": lambda chunk: _plain(chunk.trials.merged),
    "trial.truncated": lambda chunk: _plain(chunk.trials.truncated),
    "trial.fixed_reason": lambda chunk: _known(FIXED_REASONS, chunk.trials.fixed),
}
