"""Calibration and its floors: values by hand, and models whose calibration is known."""

from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from evalui.scoring.calibration import calibration, pooled_calibration

Drawn = tuple[NDArray[np.float64], NDArray[np.intp]]


def drawn(n: int, rng: np.random.Generator, *, n_options: int = 4, over_sure: float = 1.0) -> Drawn:
    """Probabilities and right options that follow them; sharpened once the options are drawn."""
    chances = rng.dirichlet(np.full(n_options, 0.6), size=n)
    ends = chances.cumsum(axis=1)[:, :-1]
    right = (rng.random(n)[:, None] >= ends).sum(axis=1)
    sure = chances**over_sure
    return sure / sure.sum(axis=1, keepdims=True), right


def test_confidence_and_accuracy_of_four_answers():
    """Two at .8 of which one is right, two at .6 that are right: (2 * .3 + 2 * .4) / 4."""
    chances = np.array([[0.8, 0.2], [0.8, 0.2], [0.4, 0.6], [0.4, 0.6]])
    found = calibration(chances, np.array([0, 1, 1, 1]))
    assert found
    assert (found.n, found.left_out) == (4, 0)
    assert found.ece.value == pytest.approx(0.35)
    assert found.brier.value == pytest.approx((0.08 + 1.28 + 0.32 + 0.32) / 4)
    assert found.nll.value == pytest.approx(-(log(0.8) + log(0.2) + 2 * log(0.6)) / 4)
    # Half of the questions at a risk of 1/2, then all four at 1/4.
    assert found.aurc.value == pytest.approx(0.5 * 0.5 + 0.5 * 0.25)
    full = {each.low: each for each in found.bins if each.accuracy}
    assert sorted(full) == [0.6, 0.8]
    accuracy = full[0.8].accuracy
    assert accuracy
    assert (accuracy.value, accuracy.n) == (0.5, 2)
    assert full[0.6].confidence == pytest.approx(0.6)
    assert [each.accuracy for each in found.bins if each.high <= 0.6] == [None] * 6


@pytest.mark.parametrize(
    ("confidence", "place"), [(0.3, 3), (0.29999, 2), (0.30001, 3), (1.0, 9), (0.25, 2)]
)
def test_a_bin_is_closed_below_and_open_above(confidence: float, place: int):
    rest = (1 - confidence) / 9
    chances = np.array([[confidence, *[rest] * 9]])
    found = calibration(chances, np.array([0]))
    assert found
    assert [i for i, each in enumerate(found.bins) if each.accuracy] == [place]


def test_the_area_falls_with_the_confidence_of_the_wrong_answers():
    """Risks at a third, two thirds and all: 0, 0, 1/3; and 1, 1/2, 1/3 the other way round."""
    chances = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    last, first = (calibration(chances, np.array(right)) for right in ([0, 0, 1], [1, 0, 0]))
    assert last
    assert first
    assert last.aurc.value == pytest.approx((0 + 0 + 1 / 3) / 3)
    assert first.aurc.value == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_a_tie_counts_by_its_share_and_is_calibrated():
    found = calibration(np.full((8, 4), 0.25), np.arange(8) % 4)
    assert found
    assert found.ece.value == 0
    assert found.aurc.value == pytest.approx(0.75)
    # Every outcome is as probable as any other: the floor is the value itself.
    assert (found.ece.floor, found.ece.floor_high, found.ece.shows_something) == (0, 0, False)


@pytest.mark.parametrize(("row", "score"), [([1.0, 0, 0], 0.0), ([0, 1.0, 0], 2.0)])
def test_brier_runs_from_0_to_2_and_a_logarithm_has_an_end(row: list[float], score: float):
    found = calibration(np.array([row]), np.array([0]))
    assert found
    assert found.brier.value == score
    assert found.nll.value == pytest.approx(0 if score == 0 else -log(1e-12))


def test_questions_without_probabilities_are_left_out_and_counted():
    chances = np.array([[0.8, 0.2], [np.nan, np.nan], [0.4, 0.6]])
    found = calibration(chances, np.array([0, 1, 1]))
    assert found
    assert (found.n, found.left_out) == (2, 1)
    assert found.brier.value == pytest.approx((0.08 + 0.32) / 2)
    assert calibration(np.full((2, 2), np.nan), np.array([0, 1])) is None
    assert calibration(np.zeros((0, 4)), np.zeros(0, dtype=np.intp)) is None


def test_all_orders_are_taken_together():
    chances = np.array([[[0.9, 0.1], [0.3, 0.7]], [[np.nan, np.nan], [np.nan, np.nan]]])
    target = np.array([[0, 0], [1, 1]])
    found = pooled_calibration(chances, target)
    assert found
    assert found.ece == pytest.approx((0.1 + 0.7) / 2)
    assert found.brier == pytest.approx((0.02 + 0.98) / 2)
    assert pooled_calibration(chances[1:], target[1:]) is None


# ---------------------------------------------------------------- ranges


def test_one_question_has_no_range_and_no_draws_no_floor():
    one = calibration(np.array([[0.9, 0.1]]), np.array([0]))
    assert one
    assert (one.ece.low, one.ece.high) == (None, None)
    assert one.ece.floor is not None
    plain = calibration(*drawn(50, np.random.default_rng(0)), draws=0)
    assert plain
    assert (plain.nll.low, plain.nll.floor, plain.nll.floor_high) == (None, None, None)
    assert not plain.nll.shows_something


def test_the_same_seed_gives_the_same_figures_in_whatever_order_the_questions_come():
    chances, right = drawn(80, np.random.default_rng(1))
    mixed = np.random.default_rng(2).permutation(80)
    first = calibration(chances, right, seed=5)
    assert first == calibration(chances[mixed], right[mixed], seed=5)
    assert first != calibration(chances, right, seed=6)


def test_copies_of_questions_make_no_range_narrower():
    chances, right = drawn(60, np.random.default_rng(3))
    alone = calibration(chances, right)
    four = (np.tile(chances, (4, 1)), np.tile(right, 4))
    copies, apart = calibration(*four, np.tile(np.arange(60), 4)), calibration(*four)
    assert alone
    assert copies
    assert apart
    for name in ("ece", "brier", "nll", "aurc"):
        wide, same, narrow = (
            each.high - each.low for each in (getattr(one, name) for one in (alone, copies, apart))
        )
        assert same == pytest.approx(wide, rel=0.15)
        assert narrow < 0.7 * wide
    means = np.array([(chances**2).sum(axis=1) - 2 * chances[np.arange(60), right] + 1])
    assert alone.brier.low == pytest.approx(
        means.mean() - 1.96 * means.std(ddof=1) / np.sqrt(60), abs=0.03
    )


# ---------------------------------------------------------------- floors


def test_the_floor_of_sixty_questions_is_what_a_calibrated_model_has():
    """Confidences of .5 to .99: ten bins of six questions err by 8 points on average."""
    top = np.linspace(0.5, 0.99, 60)
    chances = np.column_stack([top, 1 - top])
    found = calibration(chances, np.zeros(60, dtype=np.intp))
    assert found
    assert found.ece.floor == pytest.approx(0.085, abs=0.01)
    assert found.ece.floor_high == pytest.approx(0.14, abs=0.015)
    # By hand: the mean of p(1-p) twice over both options, and of the entropy.
    spread = (2 * top * (1 - top)).mean()
    entropy = -(top * np.log(top) + (1 - top) * np.log(1 - top)).mean()
    assert found.brier.floor == pytest.approx(spread, abs=0.01)
    assert found.nll.floor == pytest.approx(entropy, abs=0.01)


def test_a_calibrated_model_is_outside_of_its_floor_in_at_most_one_of_twenty():
    rng = np.random.default_rng(7)
    found = [calibration(*drawn(60, rng), draws=199) for _ in range(400)]
    for name in ("ece", "brier", "nll", "aurc"):
        alarms = sum(getattr(one, name).shows_something for one in found)
        # 20 are expected, and 32 or more come by chance in one of 200.
        assert 4 <= alarms <= 31, name


def test_copies_of_questions_make_no_floor_lower():
    chances, right = drawn(60, np.random.default_rng(3))
    alone = calibration(chances, right)
    copies = calibration(np.tile(chances, (4, 1)), np.tile(right, 4), np.tile(np.arange(60), 4))
    assert alone
    assert copies
    for name in ("ece", "brier", "nll", "aurc"):
        one, other = getattr(alone, name), getattr(copies, name)
        assert other.value == pytest.approx(one.value)
        assert other.floor == pytest.approx(one.floor, rel=0.05)
        assert other.floor_high == pytest.approx(one.floor_high, rel=0.05)
        assert other.floor_low <= 1.05 * one.floor_low


def test_questions_of_a_cluster_that_are_independent_are_within_the_floor_too():
    """The ECE of 200 draws is below what four draws of 50 questions each have."""
    rng = np.random.default_rng(4)
    found = [calibration(*drawn(200, rng), np.arange(200) // 50, draws=199) for _ in range(60)]
    # 3 are expected of a single draw, and 9 or more come by chance in one of 200.
    assert sum(each is not None and each.ece.shows_something for each in found) <= 8


def test_a_model_that_is_too_sure_is_found():
    found = calibration(*drawn(300, np.random.default_rng(8), over_sure=3.0))
    assert found
    assert found.ece.floor_high is not None
    assert found.ece.value > found.ece.floor_high
    assert found.ece.shows_something
    assert found.nll.shows_something
    assert found.brier.shows_something


def test_rounded_probabilities_of_many_options_have_floors():
    chances, right = drawn(40, np.random.default_rng(9), n_options=30)
    rounded = np.round(chances, 2)
    found = calibration(rounded / rounded.sum(axis=1, keepdims=True), right)
    assert found
    assert found.nll.floor is not None
    assert found.nll.floor_low is not None
    assert found.nll.floor_high is not None
    assert found.nll.floor_low < found.nll.floor < found.nll.floor_high
