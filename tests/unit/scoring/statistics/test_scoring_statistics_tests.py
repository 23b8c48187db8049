from collections.abc import Mapping
from itertools import combinations, product
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from evalui.proportions import wilson_interval
from evalui.scoring.statistics.tests import (
    RankBand,
    benjamini_hochberg,
    holm,
    mcnemar,
    minimum_detectable_difference,
    paired_t_test,
    paired_t_tests,
    questions_needed,
    rank_bands,
    sign_flip_p_values,
)


def values(*numbers: float) -> dict[str, float]:
    return {f"q{i}": number for i, number in enumerate(numbers)}


@pytest.mark.parametrize("n", [5, 30])
def test_the_paired_difference_is_scipys(n: int):
    drawn = np.random.default_rng(n).integers(0, 5, (2, n)) / 4
    one, other = (values(*row) for row in drawn.tolist())
    found = paired_t_test(one, other)
    assert found
    expected = stats.ttest_rel(list(one.values()), list(other.values()))
    interval = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.n, found.all_equal) == (n, False)
    assert n < 30 or found.p == pytest.approx(expected.pvalue)


def test_only_questions_that_both_answered_count():
    found = paired_t_test(values(1, 0, 1) | {"own": 0.0}, values(0, 0, 0) | {"other": 1.0})
    assert found
    assert found.n == 3
    assert paired_t_test({"own": 1}, {"other": 0}) is None


@pytest.mark.parametrize("n", [2, 7, 8, 9, 200, 12_342])
def test_many_pairs_at_once_have_the_figures_of_each_to_the_last_digit(n: int):
    drawn = np.random.default_rng(n)
    measured = np.concatenate([drawn.integers(0, 25, (6, n)) / 24, np.full((2, n), 1 / 3)])
    at_once = paired_t_tests(measured[0] - measured[1:])
    named = [{f"q{place}": share for place, share in enumerate(row)} for row in measured.tolist()]
    assert at_once == [paired_t_test(named[0], other) for other in named[1:]]
    differences = measured[0] - measured[1]
    assert at_once[0].omega == float(differences.std(ddof=1))
    assert at_once[0].difference == float(differences.mean())


@pytest.mark.parametrize("n", [2, 7, 12])
@pytest.mark.parametrize("levels", [1, 4, 1000])
def test_few_questions_have_the_p_value_of_all_signs_counted_where_it_is_larger(
    n: int, levels: int
):
    drawn = np.random.default_rng(n * levels).integers(-levels, levels + 1, (6, n)) / levels
    signs = np.array([*product((1, -1), repeat=n)])
    reached = [float(np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-9)) for d in drawn]
    assert sign_flip_p_values(drawn) == pytest.approx(reached)
    for found, exact in zip(paired_t_tests(drawn), reached, strict=True):
        assert found.p >= exact - 1e-12
        assert found.p == pytest.approx(exact) or found.p > exact


@pytest.mark.parametrize(
    ("one", "other", "difference", "p"),
    [
        ((1, 1, 1), (0, 0, 0), 1, 0.25),
        ((1 / 3, 0, 1), (2 / 3, 1 / 3, 4 / 3), -1 / 3, 0.25),
        ((1, 0), (1, 0), 0, 1),
        ((1,), (0,), 1, 1),
        ((1,) * 40, (0,) * 40, 1, 2**-39),
    ],
)
def test_the_same_difference_everywhere_is_called_identical_and_leaves_room_for_others(
    one: tuple[float, ...], other: tuple[float, ...], difference: float, p: float
):
    found = paired_t_test(values(*one), values(*other))
    assert found
    assert found.all_equal
    assert (found.difference, found.p) == (pytest.approx(difference), pytest.approx(p))
    alike = wilson_interval(len(one), len(one)).low
    ends = alike * difference - (1 - alike), alike * difference + (1 - alike)
    assert (found.low, found.high) == pytest.approx(ends)


@pytest.mark.parametrize("n", [1, 2, 12, 29, 30])
@pytest.mark.parametrize("levels", [1, 2, 5])  # 1: the same difference on every question
def test_three_copies_of_each_question_say_what_the_questions_say(n: int, levels: int):
    drawn = np.random.default_rng(n).integers(0, levels, n) / 4
    once = paired_t_test(values(*drawn.tolist()), values(*np.zeros(n).tolist()))
    copies = values(*drawn.repeat(3).tolist())
    clusters = {name: place // 3 for place, name in enumerate(copies)}
    copied = paired_t_test(copies, dict.fromkeys(copies, 0.0), clusters)
    assert once
    assert copied
    assert (once.n, copied.n) == (n, 3 * n)
    assert copied.all_equal == once.all_equal
    for name in ("difference", "se", "low", "high", "p"):
        assert getattr(copied, name) == pytest.approx(getattr(once, name)), name


def test_clusters_with_one_mean_are_as_uncertain_as_equal_questions_and_not_called_identical():
    found = paired_t_test(
        values(1, 0, 1, 0), values(0, 1, 0, 1), {"q0": 0, "q1": 0, "q2": 1, "q3": 1}
    )
    assert found
    assert (found.all_equal, found.p, found.n) == (False, 1, 4)
    assert found.high == pytest.approx(1 - wilson_interval(2, 2).low)


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("able", [0.5, 0.9])
def test_of_many_models_that_are_equal_one_run_in_twenty_tells_any_two_apart(n: int, able: float):
    """Holm over 45 pairs; questions differ in how hard they are, so that the models go together."""
    rng, runs = np.random.default_rng(n), 200
    pairs = np.array([*combinations(range(10), 2)])
    wrong = 0
    for _ in range(runs):
        right = rng.random((10, n)) < rng.beta(able, 1 - able, n)
        tests = paired_t_tests(right[pairs[:, 0]] * 1.0 - right[pairs[:, 1]])
        wrong += min(holm([test.p for test in tests])) < 0.05
    assert wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def marks(*texts: str) -> NDArray[np.bool_]:
    return np.array([[mark == "1" for mark in text] for text in texts])


def test_mcnemar_counts_the_questions_that_separate():
    (found,) = mcnemar(marks("11110"), marks("00010"))
    assert (found.first_only, found.second_only) == (3, 0)
    assert found.exact == pytest.approx(2 * 0.5**3)
    assert found.mid == pytest.approx(0.5**3)


def test_mcnemar_has_no_p_where_no_question_separates_the_two():
    (alone,) = mcnemar(marks("1100"), marks("1100"))
    assert (alone.exact, alone.mid) == (None, None)
    found = mcnemar(marks("1100", "1100", "1110"), marks("1100", "0011", "1101"))
    assert [each.first_only for each in found] == [0, 2, 1]
    assert found == [
        alone,
        *mcnemar(marks("1100"), marks("0011")),
        *mcnemar(marks("10"), marks("01")),
    ]


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_the_binomial_test_and_the_mid_p_is_never_above_it(b: int, c: int):
    if not b + c:
        return
    (found,) = mcnemar(marks("1" * b + "0" * c), marks("0" * b + "1" * c))
    assert found.exact == pytest.approx(stats.binomtest(b, b + c).pvalue)
    assert found.exact is not None
    assert found.mid is not None
    assert 0 < found.mid <= found.exact <= 1


@given(st.lists(st.floats(0, 1), max_size=12))
def test_corrected_p_values_keep_their_order_and_are_never_smaller(ps: list[float]):
    for adjusted in (holm(ps), benjamini_hochberg(ps)):
        assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
        pairs = sorted(zip(ps, adjusted, strict=True))
        assert [q for _, q in pairs] == sorted(q for _, q in pairs)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_hochberg_is_scipys(ps: list[float]):
    expected = stats.false_discovery_control(ps)
    assert benjamini_hochberg(ps) == pytest.approx(expected.tolist())


@pytest.mark.parametrize(
    ("n", "points"), [(30, 16), (50, 12.5), (100, 9), (346, 4.8), (1346, 2.4), (5000, 1.3)]
)
def test_what_can_be_seen_where_two_models_differ_on_a_tenth_of_the_questions(
    n: int, points: float
):
    """omega = sqrt(.1); 2.80 omega / sqrt(n)."""
    assert 100 * minimum_detectable_difference(np.sqrt(0.1), n) == pytest.approx(points, rel=0.04)


def test_the_questions_needed_are_those_that_make_it_detectable():
    for wanted in (0.2, 0.05, 0.013):
        n = questions_needed(0.4, wanted)
        assert (
            minimum_detectable_difference(0.4, n)
            <= wanted
            < minimum_detectable_difference(0.4, n - 1)
        )
    assert questions_needed(0.4, minimum_detectable_difference(0.4, 500)) == 500
    assert questions_needed(0.0, 0.5) == 2


def test_more_power_needs_more_questions():
    assert questions_needed(0.4, 0.05, power=0.9) > questions_needed(0.4, 0.05)
    assert questions_needed(0.4, 0.05, alpha=0.01) > questions_needed(0.4, 0.05)


def banded(models: Mapping[str, Mapping[str, float]]) -> tuple[RankBand, ...]:
    """Ranks by the tests of all pairs after Holm's correction."""
    means = {name: fmean(own.values()) for name, own in models.items()}
    pairs = list(combinations(sorted(means, key=lambda name: -means[name]), 2))
    tests = [paired_t_test(models[one], models[other]) for one, other in pairs]
    p = [test.p if test else 1.0 for test in tests]
    return rank_bands(
        models, [pair for pair, own in zip(pairs, holm(p), strict=True) if own < 0.05]
    )


def test_models_that_cannot_be_told_apart_share_a_band():
    rng = np.random.default_rng(0)
    strong, weak = rng.binomial(1, 0.9, size=200), rng.binomial(1, 0.3, size=200)
    twin = strong.copy()
    twin[:2] = 1 - twin[:2]
    places = banded({"weak": values(*weak), "strong": values(*strong), "twin": values(*twin)})
    assert [place.band for place in places] == [1, 1, 2]
    assert places[2].name == "weak"
    assert [(place.low, place.high) for place in places] == [(1, 2), (1, 2), (3, 3)]


def test_a_model_between_two_shares_the_band_of_the_best_and_the_ranks_of_both():
    """a beats c; b can be told from neither."""
    right = {"a": range(14), "b": range(7, 17), "c": (5, 6, 9, 10, 11)}
    models = {
        name: values(*(float(i in found) for i in range(20))) for name, found in right.items()
    }
    places = banded(models)
    assert [(place.name, place.band) for place in places] == [("a", 1), ("b", 1), ("c", 2)]
    assert [(place.low, place.high) for place in places] == [(1, 2), (1, 3), (2, 3)]


def test_the_same_difference_on_every_question_is_tested_by_its_signs():
    places = banded({"all": values(*[1] * 12), "none": values(*[0] * 12)})
    assert [place.band for place in places] == [1, 2]
    places = banded({"all": values(*[1] * 3), "none": values(*[0] * 3)})
    assert [place.band for place in places] == [1, 1], "three questions cannot tell"
    places = banded({"b": values(1, 0), "a": values(1, 0)})
    assert [(place.name, place.band) for place in places] == [("a", 1), ("b", 1)]


def test_no_models_or_no_common_question_give_no_bands():
    assert banded({}) == ()
    assert banded({"a": {"q": 1.0}, "b": {"r": 1.0}}) == ()
    assert [place.band for place in banded({"a": {"q": 1.0}})] == [1]


def test_correction_grows_with_the_number_of_models():
    """Nine of sixteen questions apart: enough for two models, too few among ten."""
    one, other = values(*[1.0] * 16), values(*([0.0] * 6 + [1.0] * 10))
    assert [place.band for place in banded({"a": one, "b": other})] == [1, 2]
    many = {"a": one, "b": other} | {f"z{i}": other for i in range(9)}
    assert {place.band for place in banded(many)} == {1}
