import numpy as np
import pytest
from scipy import stats
from strata_examples import simulated, stratum_of

from evalui.scoring.bias.significance import (
    bias_tests,
    cochran_q_test,
    gold_balance,
    noise_floor,
    permutation_test,
    wald_test,
)
from evalui.scoring.choice.trial_grid import TIED, UNREADABLE


def test_a_model_that_always_says_a_is_found_out():
    always = stratum_of(np.zeros((20, 4), dtype=int), np.arange(20) % 4)
    found = permutation_test(always)
    assert found
    assert 0 < found.p < 1e-9
    assert found.rstd_95
    assert 100 * np.std([1, 0, 0, 0]) > 2 * found.rstd_95
    assert wald_test(always) is None, "its counts have no variance"


def test_a_perfect_model_cannot_be_told_from_an_unbiased_one():
    gold = np.arange(20) % 4
    right = stratum_of(np.zeros((20, 4), dtype=int), gold).target
    found = bias_tests(stratum_of(right, gold))
    assert found.permutation
    assert (found.permutation.p, found.permutation.mean_rstd, found.permutation.rstd_95) == (
        1,
        0,
        0,
    )
    assert found.cochran_q
    assert (found.cochran_q.statistic, found.cochran_q.p) == (0, 1)
    assert found.wald is None


@pytest.mark.parametrize(
    ("n", "bias", "seed"), [(60, 0.35, 8), (100, 0.2, 0), (100, 0.2, 5), (100, 0.2, 9)]
)
def test_what_hardly_a_draw_reaches_has_the_p_value_that_many_more_draws_would_give(
    n: int, bias: float, seed: int
):
    model = simulated(n, np.random.default_rng(seed), bias=bias)
    found, many = permutation_test(model), permutation_test(model, draws=50_000, seed=1)
    assert found
    assert many
    assert 1e-4 < many.p < 0.01
    assert many.p / 3 < found.p < many.p * 3


def test_ties_are_left_out_and_counted():
    """Guesses without any taste, and a third of the questions tied in every order."""
    rng = np.random.default_rng(0)
    choice = rng.integers(4, size=(60, 4))
    choice[:20] = TIED
    found = bias_tests(stratum_of(choice, rng.integers(4, size=60)))
    assert found.tied == 80
    assert found.permutation
    assert found.permutation.p > 0.05
    first = np.where(choice == TIED, 0, choice)
    given_to_the_first = permutation_test(stratum_of(first, rng.integers(4, size=60)))
    assert given_to_the_first
    assert given_to_the_first.p < 0.001, "what an argmax would have made of them"


def test_cochran_leaves_out_questions_with_a_tie():
    rng = np.random.default_rng(1)
    choice, gold = rng.integers(4, size=(30, 4)), rng.integers(4, size=30)
    clean = cochran_q_test(stratum_of(choice[1:], gold[1:]))
    choice[0, 2] = TIED
    assert cochran_q_test(stratum_of(choice, gold)) == clean
    assert cochran_q_test(stratum_of(np.full((2, 4), TIED), gold[:2])) is None


def test_cochran_by_hand():
    """Right wherever the answer stands in A, two of four in B, never in C: Q = 6 over 4 rows."""
    always = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0]])
    one = stratum_of(always, np.zeros(4, dtype=int), n_options=3)
    found = cochran_q_test(one)
    assert one.correct.sum(axis=0).tolist() == [4, 2, 0]
    assert found
    # k = 3, columns 4 2 0, rows 1 1 2 2: (k-1)(k(16+4) - 36) / (3*6 - 10).
    assert found.statistic == pytest.approx(2 * (60 - 36) / 8)
    assert found.p == pytest.approx(stats.chi2.sf(found.statistic, 2))


def test_one_order_has_no_test_of_position_but_a_floor():
    one = simulated(60, np.random.default_rng(2), pattern="origin")
    found = bias_tests(one)
    assert (found.permutation, found.cochran_q, found.wald) == (None, None, None)
    floor = noise_floor(one)
    assert floor
    assert 0 < floor.mean < floor.percentile_95
    assert 0 < floor.p <= 1


def test_all_orders_ask_each_slot_several_times_so_cochran_has_no_table():
    one = simulated(10, np.random.default_rng(3), n_options=3, pattern="all_possible")
    found = bias_tests(one)
    assert found.cochran_q is None
    assert found.permutation
    assert found.wald


def test_the_wald_test_is_hotellings_of_the_slot_counts():
    one = simulated(40, np.random.default_rng(4), n_options=2, bias=0.5)
    found = wald_test(one)
    assert found
    first = (one.choice == 0).sum(axis=1)
    t = stats.ttest_1samp(first, 1.0)
    assert found.statistic == pytest.approx(t.statistic**2)
    assert found.p == pytest.approx(t.pvalue)
    assert wald_test(simulated(3, np.random.default_rng(5))) is None


def test_nothing_readable_has_no_test():
    silent = stratum_of(np.full((5, 4), UNREADABLE), np.zeros(5, dtype=int))
    found = bias_tests(silent)
    assert found.permutation is None
    assert found.wald is None


def test_no_draws_leave_the_permutation_test_out():
    assert bias_tests(simulated(5, np.random.default_rng(6)), draws=0).permutation is None


def test_the_same_seed_gives_the_same_test_and_another_gives_another():
    one = simulated(20, np.random.default_rng(7))
    assert permutation_test(one) == permutation_test(one)
    assert permutation_test(one, seed=1) != permutation_test(one)


@pytest.mark.parametrize(
    ("n", "mean", "upper"), [(50, 11.8, 21.1), (100, 8.4, 14.2), (1000, 2.6, 4.3)]
)
def test_the_floor_of_the_original_order_is_high_with_few_questions(
    n: int, mean: float, upper: float
):
    """Figures measured for a model that is right in six of ten, with answers drawn at random."""
    rng = np.random.default_rng(8)
    found = []
    for _ in range(40):
        gold = rng.integers(4, size=n)
        choice = np.where(rng.random(n) < 0.6, gold, (gold + 1) % 4)[:, None]
        one = noise_floor(stratum_of(choice, gold, pattern="origin"), draws=199)
        if one:
            found.append((one.mean, one.percentile_95))
    assert np.mean(found, axis=0) == pytest.approx([mean, upper], rel=0.2)


def test_a_slot_that_never_holds_the_answer_has_no_floor():
    assert (
        noise_floor(stratum_of(np.zeros((3, 1), int), np.zeros(3, int), pattern="origin")) is None
    )


def test_the_balance_of_the_answers():
    counts, p = gold_balance(np.array([0] * 40 + [1] * 20 + [2] * 20 + [3] * 20), 4)
    assert counts == (40, 20, 20, 20)
    assert p == pytest.approx(stats.chisquare(counts).pvalue)
    assert gold_balance(np.zeros(0, dtype=int), 4) == ((0, 0, 0, 0), 1.0)
