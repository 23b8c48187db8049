import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from scoring_examples import golden

from evalui.proportions import wilson_interval
from evalui.scoring.statistics.intervals import (
    clustered_mean,
    clustered_mean_by_code,
    clustered_ratio,
    clustered_share,
    share_interval,
)

WILSON = golden("bias/bias.json")["wilson"]


@pytest.mark.parametrize("case", WILSON, ids=lambda case: f"{case['k']}-of-{case['n']}")
def test_wilson_agrees_with_statsmodels(case: dict):
    interval = wilson_interval(case["k"], case["n"])
    assert [interval.low, interval.high] == pytest.approx(case["lo_hi"], abs=1e-6)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(case: tuple[int, int]):
    k, n = case
    expected = binomtest(k, n).proportion_ci(method="wilson")
    interval = wilson_interval(k, n)
    assert (interval.low, interval.high) == pytest.approx(tuple(expected), abs=1e-9)


@given(st.floats(0, 1), st.integers(1, 1000))
def test_wilson_holds_its_share_also_when_ties_make_it_fractional(value: float, n: int):
    interval = wilson_interval(value * n, n)
    assert 0 <= interval.low <= interval.value + 1e-12
    assert interval.value - 1e-12 <= interval.high <= 1


def test_a_share_of_nothing_is_none():
    assert share_interval(0, 0) is None


def test_a_share_keeps_its_n():
    interval = share_interval(3, 4)
    assert interval is not None
    assert (interval.value, interval.n) == (0.75, 4)


def test_consistent_questions_are_worth_no_more_than_their_number():
    """Ten questions asked four times, each always right or always wrong, know ten things."""
    means = np.array([1.0] * 6 + [0.0] * 4)
    found = clustered_mean(means, np.full(10, 4))
    assert found.design_effect == pytest.approx(4 * 10 / 9)
    assert found.n_effective == pytest.approx(9)
    assert found.interval.high - found.interval.low > 0.5


def test_independent_trials_keep_their_number():
    """A design effect below 1 is chance: the effective number never exceeds the trials."""
    means = np.array([0.5, 0.5, 0.25, 0.75])
    found = clustered_mean(means, np.full(4, 4))
    assert found.design_effect is not None
    assert found.design_effect < 1
    assert found.n_effective == 16


def test_one_trial_per_question_is_a_plain_share():
    means = np.array([1.0, 0.0, 1.0, 1.0])
    assert clustered_mean(means, np.ones(4, dtype=int)).interval == wilson_interval(3, 4)


def test_equal_questions_have_no_design_effect_and_count_once():
    found = clustered_mean(np.full(16, 0.25), np.full(16, 4))
    assert (found.se, found.design_effect, found.n_effective) == (0.0, None, 16)
    assert found.interval == wilson_interval(4, 16)


def test_a_single_question_has_no_standard_error():
    found = clustered_mean(np.array([0.75]), np.array([4]))
    assert (found.se, found.n_effective) == (None, 1)
    assert (found.t_interval.low, found.t_interval.high) == (0.0, 1.0)


def test_values_are_gathered_by_question_in_any_order():
    mixed = clustered_mean_by_code(np.array([0, 1, 0, 1]), np.array([1.0, 0.0, 0.0, 0.0]))
    assert mixed == clustered_mean(np.array([0.5, 0.0]), np.array([2, 2]))


def test_the_clustered_error_is_millers_with_the_finite_cluster_factor():
    rng = np.random.default_rng(7)
    correct = rng.random((30, 4)) < rng.random((30, 1))
    sums = (correct - correct.mean()).sum(axis=1)
    miller = math.sqrt((sums**2).sum() * 30 / 29) / correct.size
    found = clustered_mean(correct.mean(axis=1), np.full(30, 4))
    assert found.se == pytest.approx(miller, abs=1e-12)


def test_a_ratio_over_equal_wholes_is_a_mean():
    parts, wholes = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 2.0]), np.full(6, 4.0)
    expected = clustered_mean(parts / wholes, np.full(6, 4)).t_interval
    assert 0 < expected.low < expected.high < 1
    found = clustered_ratio(parts, wholes)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )


def test_a_ratio_weighs_questions_by_their_wholes():
    assert clustered_ratio(np.array([1.0, 3.0]), np.array([1.0, 4.0])).value == 0.8


def test_clustered_intervals_cover_the_truth_as_often_as_they_claim():
    """The naive interval over all rows covers 80 % here, which is why questions are clusters."""
    rng = np.random.default_rng(0)
    covered = naive = 0
    for _ in range(400):
        correct = rng.random((50, 4)) < rng.choice([0.05, 0.95], p=[0.4, 0.6], size=(50, 1))
        truth = 0.4 * 0.05 + 0.6 * 0.95
        found = clustered_mean(correct.mean(axis=1), np.full(50, 4)).interval
        rows = wilson_interval(int(correct.sum()), correct.size)
        covered += found.low <= truth <= found.high
        naive += rows.low <= truth <= rows.high
    assert covered / 400 > 0.92
    assert naive / 400 < 0.85


def test_a_share_of_nothing_keeps_a_range():
    """All questions alike make the clustered error 0; that is not certainty."""
    never = clustered_ratio(np.zeros(20), np.full(20, 4.0))
    assert (never.low, never.high) == pytest.approx((0.0, wilson_interval(0, 20).high))
    always = clustered_ratio(np.full(20, 4.0), np.full(20, 4.0))
    assert (always.low, always.high) == pytest.approx((wilson_interval(20, 20).low, 1.0))


def test_a_clustered_share_is_wilsons_where_each_question_has_one_value():
    assert clustered_share(["a", "b", "c"], [True, False, True]) == wilson_interval(2, 3)


def test_a_clustered_share_knows_as_much_as_its_questions():
    hits = [True] * 6 + [False] * 4
    ids = [str(n) for n in range(10)]
    found = clustered_share(ids * 4, hits * 4)
    assert found is not None
    assert (found.value, found.n) == (0.6, 40)
    # Ten independent values, and the factor n / (n - 1) of their error.
    plain = wilson_interval(0.6 * 9, 9)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_a_clustered_share_at_an_end_rests_on_the_number_of_questions():
    found = clustered_share(["a", "a", "b", "b"], [True] * 4)
    assert found is not None
    assert (found.value, found.n) == (1.0, 4)
    assert found.low == pytest.approx(wilson_interval(2, 2).low)


def test_a_clustered_share_of_one_question_is_worth_one_value():
    found = clustered_share(["a", "a"], [True, False])
    assert found is not None
    assert (found.low, found.high) == pytest.approx(
        (wilson_interval(0.5, 1).low, wilson_interval(0.5, 1).high)
    )


def test_a_clustered_share_of_nothing_is_none():
    assert clustered_share([], []) is None


@given(st.integers(1, 10_000))
def test_none_and_all_are_at_the_very_ends(n: int):
    assert wilson_interval(0, n).low == 0
    assert wilson_interval(n, n).high == 1
