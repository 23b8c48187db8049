from dataclasses import replace

import numpy as np
import pytest
from strata_examples import answered, as_trials, simulated

from evalui.scoring.bias import measure_bias
from evalui.scoring.cell_trials import CellTrials
from evalui.types import Trial


def with_mass(trials: list[Trial], mass: float) -> list[Trial]:
    return [replace(trial, mass=mass) for trial in trials]


def test_a_biased_model_has_a_red_light_and_every_figure():
    trials = as_trials(simulated(200, np.random.default_rng(0), bias=1.5))
    (found,) = measure_bias(with_mass(trials, 0.95), "circular").strata
    assert found.level == "red"
    assert found.consistency
    assert found.prior
    assert found.calibration
    assert found.calibration.aurc.floor_high
    assert found.risk
    assert len(found.risk.gates) == 2
    assert found.original_floor
    assert found.tests.permutation
    assert found.spread.max_share_deviation
    assert found.spread.max_share_deviation > 0.1
    assert found.ece is not None
    assert found.brier is not None
    assert sum(found.gold_counts) == found.n == 200


def test_an_unbiased_model_has_a_green_light_only_with_enough_questions():
    rng = np.random.default_rng(1)
    (found,) = measure_bias(as_trials(simulated(400, rng)), "circular").strata
    assert found.level == "green"
    (found,) = measure_bias(as_trials(simulated(60, rng)), "circular").strata
    assert found.level == "few"


def test_one_order_has_a_floor_and_no_light():
    (found,) = measure_bias(
        as_trials(simulated(50, np.random.default_rng(2), pattern="origin")), "origin"
    ).strata
    assert found.level == "na"
    assert (found.consistency, found.prior, found.tests.permutation) == (None, None, None)
    assert found.original_floor
    assert found.calibration


def test_replies_have_no_probabilities_and_no_prior():
    one = replace(simulated(40, np.random.default_rng(3)), chances=None)
    (found,) = measure_bias(as_trials(one), "circular").strata
    assert (found.prior, found.calibration, found.ece, found.brier) == (None,) * 4
    assert found.tests.permutation


def test_no_draws_leave_out_the_tests_and_the_light():
    (found,) = measure_bias(
        as_trials(simulated(40, np.random.default_rng(4))), "circular", draws=0
    ).strata
    assert (found.tests.permutation, found.original_floor, found.level) == (None, None, "na")
    assert found.calibration
    assert (found.calibration.ece.low, found.calibration.ece.floor, found.risk) == (None,) * 3
    assert found.tests.cochran_q


def test_questions_that_cannot_be_used_are_named():
    trials = as_trials(simulated(3, np.random.default_rng(5)))
    naming = [answered("n", order, 0, 0, fixed="naming") for order in ((0, 1), (1, 0))]
    same = answered("m", (0, 1), 0, 0, fixed="duplicates")
    cell = CellTrials([*trials[:-1], *naming, same], "circular")
    found = cell.circular
    assert (found.incomplete, found.naming, found.duplicates) == (("q2",), ("n",), ("m",))
    assert found.n_origin == 5
    assert measure_bias(cell, "circular").strata[0].n == 2
    assert cell.chance == pytest.approx((3 / 4 + 2 / 2) / 5)


def test_nothing_at_all_is_no_bias_and_no_crash():
    found = measure_bias([], "circular")
    assert (found.strata, found.largest_stratum, found.mass) == ((), None, None)


def test_the_label_mass_is_that_of_all_trials():
    trials = as_trials(simulated(2, np.random.default_rng(6)))
    found = measure_bias(
        with_mass(trials[:4], 0.2) + with_mass(trials[4:], 0.4), "circular", draws=9
    )
    assert found.mass
    assert (found.mass.n, found.mass.mean) == (8, pytest.approx(0.3))


@pytest.mark.parametrize("n_options", [2, 3, 5, 7, 10])
def test_every_number_of_options_is_measured(n_options: int):
    one = simulated(120, np.random.default_rng(n_options), n_options=n_options, bias=2.0)
    (found,) = measure_bias(as_trials(one), "circular", draws=199).strata
    assert (found.n_options, found.level) == (n_options, "red")
    assert found.consistency
    assert len(found.consistency.grid) == n_options
    assert found.prior
    assert sum(found.prior.prior) == pytest.approx(1)
    assert found.prior.prior[0] > 1 / n_options > found.prior.prior[-1]
    assert found.tests.cochran_q
    assert found.tests.cochran_q.p < 0.01
