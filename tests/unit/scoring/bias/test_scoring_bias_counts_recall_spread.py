import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import position_tables
from strata_examples import as_trials, stratum_of

from evalui.scoring.bias.counts import (
    RecallSpread,
    kl_divergence,
    recall_spread,
    recall_spread_range,
)
from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, OptionCountStratum


def of(one: OptionCountStratum) -> RecallSpread:
    (table,) = position_tables(as_trials(one), "circular")
    return recall_spread(table)


def test_a_model_that_never_says_c_and_d_diverges_without_end_and_they_are_named():
    found = of(stratum_of(np.array([[0, 1, 0, 1]] * 5), np.zeros(5, dtype=int)))
    assert found.ckld == math.inf
    assert found.never_chosen == (2, 3)
    # ln K is the distance of each share: p is 1/4, q is 10.5/22 twice and 0.5/22 twice.
    expected = -math.log(4) - (2 * math.log(10.5 / 22) + 2 * math.log(0.5 / 22)) / 4
    assert found.ckld_smoothed == pytest.approx(expected)
    assert found.max_share_deviation == 0.25


def test_even_choices_do_not_diverge():
    found = of(stratum_of(np.array([[0, 1, 2, 3]] * 3), np.zeros(3, dtype=int)))
    assert (found.ckld, found.rstd, found.rsd, found.never_chosen) == (0, 0, 0, ())


def test_the_relative_spread_is_over_the_mean_recall():
    found = of(stratum_of(np.array([[0, 0, 0, 0]] * 3), np.zeros(3, dtype=int)))
    assert found.rstd == pytest.approx(100 * np.std([1, 0, 0, 0]))
    assert found.rsd == pytest.approx(np.std([1, 0, 0, 0]) / 0.25)


def test_nothing_readable_leaves_only_what_is_known():
    found = of(stratum_of(np.full((2, 4), UNREADABLE), np.zeros(2, dtype=int)))
    assert (found.ckld, found.max_share_deviation, found.rsd) == (None, None, None)
    assert (found.rstd, found.ckld_smoothed) == (0, 0)
    found = of(stratum_of(np.full((2, 4), TIED), np.zeros(2, dtype=int)))
    assert (found.rstd, found.ckld_smoothed) == (None, None)


COUNTS = st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any)


@given(COUNTS, COUNTS)
def test_a_divergence_is_never_negative(gold: list[int], chosen: list[int]):
    assert kl_divergence(np.array(gold, dtype=float), np.array(chosen, dtype=float)) >= -1e-12


def test_a_slot_without_answers_and_choices_takes_no_part():
    assert kl_divergence(np.array([1.0, 1, 0]), np.array([2.0, 2, 0])) == 0


def test_the_range_holds_the_figure_and_narrows_with_more_questions():
    rng = np.random.default_rng(0)
    widths = []
    for n in (100, 1600):
        target = np.tile(np.arange(4), (n, 1))
        right = rng.random((n, 4)) < np.array([0.8, 0.5, 0.6, 0.5])
        choice = np.where(right, target, (target + 1) % 4)
        found = recall_spread_range(choice, target, 4, resamples=400, seed=0)
        assert found is not None
        rstd = 100 * right.mean(axis=0).std()
        assert found.rstd[0] < rstd < found.rstd[1]
        assert 0 < found.ckld_smoothed[0] < found.ckld_smoothed[1]
        widths.append(found.rstd[1] - found.rstd[0])
    assert widths[1] == pytest.approx(widths[0] / 4, rel=0.3)


def test_one_question_has_no_range():
    target = np.arange(4)[None]
    assert recall_spread_range(target, target, 4, resamples=50, seed=0) is None
