import numpy as np
import pytest
from numpy.typing import NDArray
from strata_examples import simulated, stratum_of

from evalui.scoring.bias.probabilities import (
    estimate_pride,
    mean_over_orders,
    slot_prior,
    summarise_label_mass,
)
from evalui.scoring.choice.trial_grid import OptionCountStratum


def with_rows(rows: list[list[float]], gold: int = 0) -> OptionCountStratum:
    chances = np.array([rows])
    return stratum_of(chances.argmax(axis=2), np.array([gold]), n_options=2, probabilities=chances)


def test_the_prior_is_the_softmax_of_the_mean_log_probability():
    """sqrt(.8 * .4) to sqrt(.2 * .6), as both orders weigh the same."""
    found = estimate_pride(with_rows([[0.8, 0.2], [0.4, 0.6]]))
    assert found
    a, b = np.sqrt(0.32), np.sqrt(0.12)
    assert found.prior == pytest.approx((a / (a + b), b / (a + b)), abs=1e-8)
    assert found.mean_probabilities == pytest.approx((0.6, 0.4))


def test_the_average_follows_the_options_not_the_slots():
    one = with_rows([[0.8, 0.2], [0.4, 0.6]])
    assert mean_over_orders(one) == pytest.approx(np.array([[0.7, 0.3]]))
    found = estimate_pride(one)
    assert found
    assert found.soft_recalls == pytest.approx((0.8, 0.6))
    assert found.averaged_accuracy.value == 1


def test_a_pure_taste_for_slots_is_taken_away_and_leaves_a_tie():
    found = estimate_pride(with_rows([[0.9, 0.1], [0.9, 0.1]], gold=1))
    assert found
    assert (
        found.plain_accuracy.value,
        found.debiased_accuracy.value,
        found.averaged_accuracy.value,
    ) == (0, 0.5, 0.5)
    assert found.rstd_plain is None, "slot A never holds the answer in the original order"


def test_a_tie_in_the_original_order_is_not_the_first_slots():
    found = estimate_pride(with_rows([[0.5, 0.5], [0.5, 0.5]], gold=0))
    assert found
    assert (found.plain_accuracy.value, found.averaged_accuracy.value) == (0.5, 0.5)


def test_the_spread_of_recalls_before_and_after():
    rng = np.random.default_rng(0)
    found = estimate_pride(simulated(500, rng, bias=2.0))
    assert found
    assert found.rstd_plain
    assert found.rstd_debiased
    assert found.rstd_plain > 20 > 8 > found.rstd_debiased
    assert found.plain_accuracy.value < found.debiased_accuracy.value


def test_there_is_no_prior_without_probabilities_or_with_one_order():
    one = simulated(5, np.random.default_rng(0))
    as_written = OptionCountStratum(
        one.ids, one.orders[:1], one.choice[:, :1], one.target[:, :1], one.probabilities[:, :1]
    )
    assert estimate_pride(as_written) is None
    bare = OptionCountStratum(one.ids, one.orders, one.choice, one.target)
    assert estimate_pride(bare) is None


def test_a_fair_model_has_an_even_prior():
    chances: NDArray[np.float64] = np.full((3, 4, 4), 0.25)
    assert slot_prior(chances) == pytest.approx(np.full(4, 0.25))


def test_the_mass_and_its_quantiles():
    found = summarise_label_mass([i / 100 for i in range(101)])
    assert found
    assert (found.n, found.mean) == (101, pytest.approx(0.5))
    assert found.quantiles == pytest.approx((0.05, 0.25, 0.5, 0.75, 0.95))
    assert summarise_label_mass([]) is None
