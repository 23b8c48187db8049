"""Do the tests and ranges keep their promises on models whose bias is known? Seeds are fixed.

A rate over R runs may lie 3 standard errors, 3 sqrt(p (1 - p) / R), from the promised one.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from strata_examples import simulated

from evalui.proportions import wilson_interval
from evalui.scoring.bias.probabilities import estimate_pride
from evalui.scoring.bias.significance import (
    cochran_q_test,
    noise_floor,
    permutation_test,
    wald_test,
)
from evalui.scoring.choice.trial_grid import OptionCountStratum
from evalui.scoring.statistics.intervals import clustered_mean

RUNS = 300
DRAWS = 199  # the test has its size with any number of draws


def room(rate: float, runs: int = RUNS) -> float:
    return 3 * math.sqrt(rate * (1 - rate) / runs)


def permuted_p(one: OptionCountStratum) -> float:
    found = permutation_test(one, draws=DRAWS)
    assert found
    return found.p


def rejected(seed: int, *, bias: float = 0.0, n: int = 100, sharp: float = 1.0) -> float:
    rng = np.random.default_rng(seed)
    models = (simulated(n, rng, bias=bias, sharp=sharp) for _ in range(RUNS))
    return float(np.mean([permuted_p(model) < 0.05 for model in models]))


@pytest.mark.slow
def test_the_permutation_test_rejects_an_unbiased_model_one_time_in_twenty():
    assert rejected(1) == pytest.approx(0.05, abs=room(0.05))


@pytest.mark.slow
def test_it_stays_at_or_below_its_size_with_a_model_that_hardly_changes_its_mind():
    assert rejected(2, sharp=6.0) <= 0.05 + room(0.05)


@pytest.mark.slow
def test_it_finds_a_small_bias_most_times_and_a_medium_one_always():
    assert rejected(3, bias=0.15) > 0.5
    assert rejected(4, bias=0.4) > 0.98


@pytest.mark.slow
def test_unbalanced_answers_do_not_deceive_it():
    rng = np.random.default_rng(5)
    models = [simulated(100, rng, gold_shares=(0.4, 0.2, 0.2, 0.2)) for _ in range(RUNS)]
    rate = np.mean([permuted_p(model) < 0.05 for model in models])
    assert rate == pytest.approx(0.05, abs=room(0.05))


@pytest.mark.slow
def test_the_other_tests_keep_their_size_and_find_a_bias():
    rng = np.random.default_rng(6)
    for find in (cochran_q_test, wald_test):
        fair = [find(simulated(100, rng)) for _ in range(RUNS)]
        biased = [find(simulated(100, rng, bias=0.4)) for _ in range(RUNS)]
        assert np.mean([t.p < 0.05 for t in fair if t]) <= 0.05 + room(0.05)
        assert np.mean([t.p < 0.05 for t in biased if t]) > 0.8


@pytest.mark.slow
def test_the_floor_of_the_original_order_is_where_unbiased_models_lie():
    rng = np.random.default_rng(7)
    found = [noise_floor(simulated(100, rng)) for _ in range(RUNS)]
    known = [each for each in found if each]
    assert np.mean([each.rstd for each in known]) == pytest.approx(
        np.mean([each.mean for each in known]), abs=0.8
    )
    over = np.mean([each.rstd > each.percentile_95 for each in known])
    assert over == pytest.approx(0.05, abs=room(0.05))
    # Measured for the documentation: 8.4 and 14.2 points at n = 100.
    assert np.mean([each.mean for each in known]) == pytest.approx(8.4, abs=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 100])
def test_wilsons_range_with_the_effective_n_covers_a_consistent_model(n: int):
    """Where a question is right in all orders or in none, the naive range covers 80 %."""
    rng, truth, orders, runs = np.random.default_rng(n), 0.6, 4, 1000
    honest = naive = 0
    for _ in range(runs):
        taste = rng.beta(0.6, 0.4, size=n)
        right = rng.random((n, orders)) < taste[:, None]
        found = clustered_mean(right.mean(axis=1), np.full(n, orders)).interval
        plain = wilson_interval(float(right.sum()), right.size)
        honest += found.low <= truth <= found.high
        naive += plain.low <= truth <= plain.high
    assert honest / runs >= 0.95 - room(0.95, runs)
    assert naive / runs < 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p"), [(20, 0.9), (20, 0.98), (50, 0.98), (100, 0.98)])
def test_wilsons_range_covers_a_plain_share(n: int, p: float):
    rng, runs = np.random.default_rng(n), 2000
    found = [wilson_interval(int(hits), n) for hits in rng.binomial(n, p, size=runs)]
    # 0.92 is the exact coverage of Wilson's range at n = 50, p = 0.98: shares move in steps.
    assert np.mean([each.low <= p <= each.high for each in found]) >= 0.91


@pytest.mark.slow
def test_averaging_over_orders_wins_back_what_an_additive_bias_cost():
    rng = np.random.default_rng(8)
    biased = estimate_pride(simulated(2000, rng, bias=2.0))
    fair = estimate_pride(simulated(2000, np.random.default_rng(8)))
    assert biased
    assert fair
    assert biased.plain_accuracy.value < fair.plain_accuracy.value - 0.05
    assert biased.averaged_accuracy.value > biased.plain_accuracy.value + 0.05
    assert biased.debiased_accuracy.value > biased.plain_accuracy.value + 0.03
    assert biased.rstd_plain
    assert biased.rstd_debiased is not None
    assert biased.rstd_debiased < biased.rstd_plain / 2
    assert biased.prior == tuple(sorted(biased.prior, reverse=True))


@pytest.mark.parametrize("n_options", [4, 6])  # arranged by a table, and by sorting
def test_copied_questions_find_no_bias_that_is_not_there(n_options: int):
    rng = np.random.default_rng(21)
    found: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(40):
        one = simulated(25, rng, n_options=n_options)
        for told, rejections in found.items():
            copies = replace(
                one,
                ids=np.repeat(one.ids, 4),
                choice=np.repeat(one.choice, 4, axis=0),
                target=np.repeat(one.target, 4, axis=0),
                chances=None,
                cluster=np.repeat(np.arange(25), 4) if told else None,
            )
            test = permutation_test(copies, draws=99)
            assert test
            rejections.append(test.p <= 0.05)
    assert np.mean(found[True]) <= 0.05 + room(0.05, 40)
    assert np.mean(found[False]) > 0.3
