"""Trials as columns: whatever a trial holds comes back, alone, in part and joined."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evalui.scoring.trial_columns import (
    FIXED_REASONS,
    Ragged,
    TrialText,
    columns_of,
    join_columns,
)
from evalui.types import Reading, Trial, Variant

numbers = st.floats(allow_nan=False)
words = st.text(max_size=4)
rows = st.lists(numbers, max_size=3).map(tuple)
readings = st.builds(Reading, st.none() | st.integers(0, 9), numbers, words, st.booleans())


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    """Any trial: readings, scores and probabilities may differ from one to the next."""
    own = draw(st.dictionaries(words, readings, min_size=1, max_size=3))
    return Trial(
        sample_id=draw(st.sampled_from(["a", "b", "法/1"])),
        variant=Variant(draw(st.sampled_from([(), (0, 1), (1, 0), (2, 0, 1)]))),
        target=draw(st.integers(0, 3)),
        headline=draw(st.sampled_from(sorted(own))),
        readings=own,
        probabilities=draw(rows),
        mass=draw(st.none() | numbers),
        reply=draw(st.none() | words),
        scores=draw(st.dictionaries(words, rows, max_size=2)),
        merged_boundaries=draw(st.integers(0, 5)),
        truncated=draw(st.booleans()),
        fixed_reason=draw(st.sampled_from(FIXED_REASONS)),
        turns=draw(st.lists(words, max_size=2).map(tuple)),
    )


@settings(max_examples=50)
@given(st.lists(trials(), max_size=6))
def test_every_trial_comes_back(written: list[Trial]) -> None:
    columns = columns_of(written)
    assert len(columns) == len(written)
    assert list(columns) == written
    assert [columns[place] for place in range(-len(written), 0)] == written


@settings(max_examples=50)
@given(st.lists(st.lists(trials(), min_size=1, max_size=3), min_size=1, max_size=4), st.randoms())
def test_joined_parts_are_the_columns_of_all(parts: list[list[Trial]], rng: random.Random) -> None:
    every = [trial for part in parts for trial in part]
    joined = join_columns([columns_of(part) for part in parts])
    order = np.array(rng.sample(range(len(every)), len(every)))
    joined = replace(joined, texts=_no_texts)
    bare = [replace(trial, reply=None, turns=()) for trial in every]
    assert list(joined.take(order)) == [bare[place] for place in order]


def _no_texts(wanted: NDArray[np.int64]) -> list[TrialText]:
    return [(None, ())] * len(wanted)


def test_the_texts_of_a_part_alone_are_read() -> None:
    one = Trial("a", Variant((0, 1)), 0, "r", {"r": Reading(0, 1.0, "x")}, reply="A")
    columns = columns_of([one] * 5)
    read: list[list[int]] = []

    def texts(wanted: NDArray[np.int64]) -> list[TrialText]:
        read.append(wanted.tolist())
        return [("B", ())] * len(wanted)

    columns = replace(columns, texts=texts)
    assert columns[3].reply == "B"
    assert [trial.reply for trial in columns[1:3]] == ["B", "B"]
    assert read == [[3], [1, 2]]
    assert columns.reading.credit.tolist() == [1.0] * 5
    assert len(read) == 2


def test_the_reading_that_counts_is_that_of_each_trials_headline() -> None:
    both = {"a": Reading(0, 1.0, "x"), "b": Reading(None, 0.25, "tie", tied=True)}
    columns = columns_of([Trial("1", Variant(()), 0, name, both) for name in ("a", "b")])
    assert columns.reading.credit.tolist() == [1.0, 0.25]
    assert columns.reading.tied.tolist() == [False, True]
    assert columns.reading_named("a").choice.tolist() == [0, 0]


def test_a_reading_that_some_trial_lacks_is_no_reading_of_all() -> None:
    known = [{"a": Reading(0, 1.0, "x")}, {"a": Reading(0, 1.0, "x"), "b": Reading(1, 0.0, "x")}]
    columns = columns_of([Trial("1", Variant(()), 0, "a", each) for each in known])
    with pytest.raises(KeyError, match="b"):
        columns.reading_named("b")


def test_rows_are_matrices_by_their_lengths() -> None:
    ragged = Ragged.of([(1.0,), None, (2.0, 3.0), (), (4.0,)])
    assert ragged.present.tolist() == [True, False, True, False, True]
    matrices = [(rows.tolist(), values.tolist()) for rows, values in ragged.by_length()]
    assert matrices == [([0, 4], [[1.0], [4.0]]), ([2], [[2.0, 3.0]])]
