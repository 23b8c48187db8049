"""Two models that each act on their surest answers: by hand, and by simulation."""

from dataclasses import replace

import numpy as np
import pytest
from bias_examples import cell_result, right
from numpy.typing import NDArray

from evalui.scoring.comparisons import COVERAGES, EqualCoverage, at_equal_coverage
from evalui.types import CellResult


def answering(
    confidence: NDArray[np.float64], is_right: NDArray[np.bool_], *, model: str = "m"
) -> CellResult:
    """Questions with two options in one order, each chosen with its confidence."""
    asked = cell_result(right, n=len(confidence), options=2, model=model, pattern="origin")
    trials = [
        replace(
            trial,
            probabilities=(sure, 1 - sure) if (trial.target == 0) == hit else (1 - sure, sure),
        )
        for trial, sure, hit in zip(
            asked.trials, confidence.tolist(), is_right.tolist(), strict=True
        )
    ]
    return replace(asked, trials=tuple(trials))


def rows(a: CellResult, b: CellResult, *coverages: float, seed: int = 0) -> list[EqualCoverage]:
    return [*at_equal_coverage(a, b, coverages or COVERAGES, seed=seed)]


def test_each_model_acts_on_its_own_surest_answers():
    """The first is right where it is sure, the second where it is not; both on half."""
    a = answering(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, False]))
    b = answering(np.array([0.99, 0.98, 0.97, 0.96]), np.array([False, False, True, True]))
    half, most, whole = rows(a, b, 0.5, 0.75, 1.0)
    assert (half.threshold_a, half.threshold_b, half.n) == (0.8, 0.98, 4)
    assert (half.right_a, half.right_b, half.difference) == (1, 0, 1)
    assert (most.threshold_a, most.right_a, most.right_b) == (
        0.7,
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
    )
    assert (whole.right_a, whole.right_b, whole.difference, whole.p) == (0.5, 0.5, 0, 1)


def test_of_equal_confidences_at_the_cut_each_counts_a_part():
    """Of three that tie for two places one is right: two thirds of an answer are."""
    a = answering(np.array([0.9, 0.8, 0.8, 0.8]), np.array([True, True, False, False]))
    b = answering(np.full(4, 0.6), np.array([True, False, False, False]))
    (found,) = rows(a, b, 0.75)
    assert found.right_a == pytest.approx((1 + 2 / 3) / 3)
    assert found.right_b == pytest.approx(1 / 4)
    assert (found.threshold_a, found.threshold_b) == (0.8, 0.6)


def test_a_question_that_one_did_not_answer_is_left_out():
    a = answering(np.array([0.9, 0.8, 0.7]), np.array([True, True, False]))
    b = answering(np.array([0.9, 0.8, 0.7]), np.array([True, True, False]))
    first, *rest = b.trials
    partly = replace(b, trials=(replace(first, probabilities=()), *rest))
    (found,) = rows(a, partly, 1.0)
    assert (found.n, found.right_a, found.difference) == (2, 0.5, 0)
    alone = replace(b, trials=tuple(rest[:1]))
    assert rows(a, alone) == []
    assert rows(a, replace(b, trials=())) == []


def test_the_seed_decides_and_two_runs_agree():
    rng = np.random.default_rng(0)
    a, b = (answering(rng.uniform(0.5, 1, 80), rng.random(80) < 0.7) for _ in range(2))
    assert rows(a, b, seed=1) == rows(a, b, seed=1)
    assert rows(a, b, seed=1) != rows(a, b, seed=2)
    assert [each.coverage for each in rows(a, b)] == [*COVERAGES]
    turned = rows(b, a, seed=1)
    for one, other in zip(rows(a, b, seed=1), turned, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert (one.low, one.high) == (pytest.approx(-other.high), pytest.approx(-other.low))


def test_a_model_that_knows_when_it_is_right_wins_where_not_all_is_acted_upon():
    """Both are right on 70 %; the confidence of one says on which."""
    rng = np.random.default_rng(1)
    hits = rng.random(300) < 0.7
    knowing = answering(np.where(hits, 0.9, 0.6) + rng.uniform(0, 0.05, 300), hits)
    blind = answering(rng.uniform(0.5, 1, 300), rng.permutation(hits))
    half, *_, whole = rows(knowing, blind)
    assert half.right_a == 1
    assert half.low > 0.2
    assert half.adjusted < 0.01
    assert whole.difference == 0
    assert whole.low < 0 < whole.high
    assert whole.adjusted > 0.5


def test_equal_models_differ_in_at_most_one_of_twenty():
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(200):
        sure = rng.uniform(0.5, 1, (2, 60))
        a, b = (answering(each, rng.random(60) < each) for each in sure)
        found = at_equal_coverage(a, b, (0.5, 1.0), resamples=199)
        alarms += any(each.adjusted < 0.05 for each in found)
    # 10 are expected at most, and 19 or more come by chance in one of 200.
    assert alarms <= 18


def test_copies_of_a_question_are_resampled_together():
    rng = np.random.default_rng(3)
    sure, hits = rng.uniform(0.5, 1, (2, 50)), rng.random((2, 50)) < 0.7
    alone = [answering(*each) for each in zip(sure, hits, strict=True)]
    copies = [
        answering(np.tile(each, 4), np.tile(own, 4)) for each, own in zip(sure, hits, strict=True)
    ]
    passages = [
        replace(
            one,
            samples={
                name: replace(sample, cluster=f"c{place % 50}")
                for place, (name, sample) in enumerate(one.samples.items())
            },
        )
        for one in copies
    ]
    (wide,), (narrow,), (same,) = (rows(*each, 0.5) for each in (alone, copies, passages))
    assert wide.difference == pytest.approx(same.difference)
    assert same.high - same.low == pytest.approx(wide.high - wide.low, rel=0.15)
    assert narrow.high - narrow.low < 0.7 * (wide.high - wide.low)
