import math
from dataclasses import astuple

import numpy as np
import pytest

from evalui.proportions import wilson_interval
from evalui.scoring.statistics.intervals import (
    mean_interval,
    mean_intervals,
    resample_count_chunk,
)
from evalui.types import Interval


def test_the_interval_of_a_mean_is_as_wide_as_theory_has_it():
    values = np.random.default_rng(1).random(400)
    (found,) = mean_intervals(values[:, None])
    half = 1.96 * float(values.std()) / math.sqrt(400)
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(found.value - half, abs=0.15 * half)
    assert found.high == pytest.approx(found.value + half, abs=0.15 * half)
    assert found.n == 400


def test_many_figures_are_drawn_together_and_alike():
    matrix = np.random.default_rng(1).random((50, 3))
    (alone,) = mean_intervals(matrix[:, 1:2])
    together = mean_intervals(matrix)[1]
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))


def test_values_of_one_question_are_drawn_together():
    values = np.random.default_rng(1).random(40).tolist()
    ids = [str(n) for n in range(40)]
    single = mean_interval(ids, values)
    repeated = mean_interval(ids * 5, values * 5)
    assert single is not None
    assert repeated is not None
    assert (repeated.low, repeated.high, repeated.n) == pytest.approx((single.low, single.high, 40))
    apart = mean_interval([str(n) for n in range(200)], values * 5)
    assert apart is not None
    assert apart.high - apart.low < 0.6 * (single.high - single.low)


def test_a_question_counts_as_often_as_it_was_asked():
    found = mean_interval(["a", "a", "a", "b"], [1, 1, 1, 0])
    assert found is not None
    assert (found.value, found.n) == (0.75, 2)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_where_all_is_equal_at_an_end_the_range_is_wilsons(value: float):
    assert mean_intervals(np.full((10, 1), value)) == [wilson_interval(10 * value, 10)]


def test_one_question_leaves_everything_plausible_and_none_has_no_mean():
    assert mean_intervals(np.array([[0.3]])) == [Interval(0.3, 0, 1, 1)]
    assert mean_interval(["q", "q"], [0.2, 0.4]) == Interval(pytest.approx(0.3), 0, 1, 1)
    assert mean_intervals(np.zeros((0, 2))) == []
    assert mean_interval([], []) is None


def test_resamples_beyond_one_portion_are_the_same(monkeypatch: pytest.MonkeyPatch):
    matrix = np.random.default_rng(1).random((20, 2))
    whole = mean_intervals(matrix, resamples=50)
    monkeypatch.setattr("evalui.scoring.statistics.intervals.MAX_CHUNK_ELEMENTS", 70)
    # A product of fewer rows may add in another order, which is the last digit's affair.
    assert [astuple(one) for one in mean_intervals(matrix, resamples=50)] == [
        pytest.approx(astuple(one), rel=1e-12) for one in whole
    ]


@pytest.mark.parametrize("n", [2, 7, 100, 9000])
def test_rows_that_are_counted_together_are_those_of_draws_one_by_one(n: int):
    together, alone = np.random.default_rng(5), np.random.default_rng(5)
    counts = resample_count_chunk(n, 150, together)
    rows = [np.bincount(alone.integers(n, size=n), minlength=n) for _ in range(150)]
    assert np.array_equal(counts, rows)
    assert together.integers(2**40) == alone.integers(2**40)


def test_a_seed_gives_its_own_range_and_always_the_same():
    matrix = np.random.default_rng(1).random((20, 1))
    assert mean_intervals(matrix, seed=1) == mean_intervals(matrix, seed=1)
    assert mean_intervals(matrix, seed=1) != mean_intervals(matrix, seed=2)


def test_questions_that_are_all_alike_leave_room_for_others():
    (interval,) = mean_intervals(np.full((5, 1), 0.75))
    assert interval.low < 0.5 < 0.75 < interval.high


@pytest.mark.parametrize("other", [1e-6, 0.02, 1.0])
def test_a_few_values_beside_equal_ones_leave_room_for_others(other: float):
    """Of 40 answers all but one or three score 0: most resamples would have hardly another."""
    for few in (1, 3):
        values = np.zeros((40, 1))
        values[:few] = other
        (interval,) = mean_intervals(values)
        assert interval == wilson_interval(float(values.sum()), 40)
        assert interval.high > wilson_interval(0, 40).high


@pytest.mark.slow
def test_the_range_of_a_figure_that_is_mostly_nought_holds_the_truth_as_promised():
    rng = np.random.default_rng(8)
    values = (rng.random((40, 600)) < 0.05) * rng.random((40, 600))
    held = [one.low <= 0.025 <= one.high for one in mean_intervals(values, resamples=400)]
    assert np.mean(held) > 0.93
