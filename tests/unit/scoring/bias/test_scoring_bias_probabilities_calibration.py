import numpy as np
import pytest

from evalui.scoring.bias.probabilities import (
    brier_score,
    calibration,
    expected_calibration_error,
    pooled_calibration,
    summarise_label_mass,
)


def test_confidence_and_accuracy_of_four_answers():
    """Two at .8 of which one is right, two at .6 that are right: (2 * .3 + 2 * .4) / 4."""
    chances = np.array([[0.8, 0.2], [0.8, 0.2], [0.4, 0.6], [0.4, 0.6]])
    found = calibration(chances, np.array([0, 1, 1, 1]))
    assert found
    assert found.ece == pytest.approx(0.35)
    assert found.brier == pytest.approx((0.08 + 1.28 + 0.32 + 0.32) / 4)
    full = {round(each.high, 1): each for each in found.bins if each.accuracy}
    assert sorted(full) == [0.6, 0.8]
    accuracy = full[0.8].accuracy
    assert accuracy
    assert (accuracy.value, accuracy.n) == (0.5, 2)
    assert full[0.6].confidence == pytest.approx(0.6)
    assert [each.accuracy for each in found.bins if each.high <= 0.5] == [None] * 5


@pytest.mark.parametrize(
    ("confidence", "place"), [(0.3, 2), (0.1 + 0.2, 2), (0.30001, 3), (1.0, 9), (0.25, 2)]
)
def test_a_bin_is_open_below_and_closed_above(confidence: float, place: int):
    rest = (1 - confidence) / 9
    chances = np.array([[confidence, *[rest] * 9]])
    found = calibration(chances, np.array([0]))
    assert found
    assert [i for i, each in enumerate(found.bins) if each.accuracy] == [place]


def test_a_tie_counts_by_its_share_and_is_calibrated():
    found = calibration(np.full((8, 4), 0.25), np.arange(8) % 4)
    assert found
    assert found.ece == 0


@pytest.mark.parametrize(("row", "score"), [([1.0, 0, 0], 0.0), ([0, 1.0, 0], 2.0)])
def test_brier_runs_from_0_to_2(row: list[float], score: float):
    assert brier_score(np.array([row]), np.array([0])) == score


def test_all_orders_are_taken_together():
    chances = np.array([[[0.9, 0.1], [0.3, 0.7]]])
    target = np.array([[0, 0]])
    found = pooled_calibration(chances, target)
    assert found.ece == pytest.approx((0.1 + 0.7) / 2)
    assert found.brier == pytest.approx((0.02 + 0.98) / 2)


def test_an_overconfident_model_has_the_error_of_its_overconfidence():
    rng = np.random.default_rng(0)
    right = (rng.random(5000) < 0.6).astype(float)
    assert expected_calibration_error(np.full(5000, 0.9), right) == pytest.approx(0.3, abs=0.02)


def test_nothing_has_no_calibration_and_no_mass():
    assert calibration(np.zeros((0, 4)), np.zeros(0, dtype=int)) is None
    assert summarise_label_mass([]) is None


def test_the_mass_and_its_quantiles():
    found = summarise_label_mass([i / 100 for i in range(101)])
    assert found
    assert (found.n, found.mean) == (101, pytest.approx(0.5))
    assert found.quantiles == pytest.approx((0.05, 0.25, 0.5, 0.75, 0.95))
