"""What must hold for every table of answers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from strata_examples import as_trials, simulated, stratum_of

from evalui.scoring.bias import measure_bias
from evalui.scoring.bias.counts import consistency
from evalui.scoring.bias.significance import (
    cochran_q_test,
    observed_counts,
    permutation_test,
)
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.choice.circular import circular_metrics
from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, OptionCountStratum


@st.composite
def answered_strata(draw: st.DrawFn, lowest: int = TIED) -> OptionCountStratum:
    """Two to six options in circular order, any answers, one to eight questions."""
    n_options = draw(st.integers(2, 6))
    n = draw(st.integers(1, 8))
    row = st.lists(st.integers(lowest, n_options - 1), min_size=n_options, max_size=n_options)
    choice = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=np.intp)
    gold = draw(st.lists(st.integers(0, n_options - 1), min_size=n, max_size=n))
    return stratum_of(choice, np.array(gold, dtype=np.intp), n_options=n_options)


def relabelled(one: OptionCountStratum, names: NDArray[np.intp]) -> OptionCountStratum:
    """The same showings and answers with the options named otherwise: orders change, slots stay."""
    return replace(one, orders=names[one.orders])


@given(answered_strata(), st.integers(0, 2**32 - 1))
def test_naming_the_options_otherwise_changes_no_figure(one: OptionCountStratum, seed: int):
    names = np.random.default_rng(seed).permutation(one.n_options)
    other = relabelled(one, names)
    assert consistency(other) == consistency(one)
    assert cochran_q_test(other) == cochran_q_test(one)
    assert observed_counts(other).choices.tolist() == observed_counts(one).choices.tolist()


@pytest.mark.parametrize("n_options", [3, 4, 6])
def test_the_permutation_test_does_not_depend_on_the_names_of_options(n_options: int):
    """The draws differ, what they are drawn from does not."""
    one = simulated(40, np.random.default_rng(n_options), n_options=n_options, bias=0.1)
    first = permutation_test(one)
    second = permutation_test(relabelled(one, np.roll(np.arange(n_options), 1)))
    assert first
    assert second
    assert 0.02 < first.p < 0.98
    assert first.p == pytest.approx(second.p, abs=0.06)
    assert first.mean_rstd == pytest.approx(second.mean_rstd, abs=0.3)


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(1, 12), st.integers(0, 5))
def test_a_model_that_always_says_one_letter(n_options: int, n: int, letter: int):
    slot = letter % n_options
    choice = np.full((n, n_options), slot)
    one = stratum_of(choice, np.arange(n) % n_options, n_options=n_options)
    figures = circular_metrics(as_trials(one), "circular").values
    assert figures["acc_circular"] == pytest.approx(100 / n_options)
    assert figures["perf_circular"] == 0
    found = consistency(one)
    assert found
    assert found.content.plurality == pytest.approx(1 / n_options)
    assert found.content.kappa == pytest.approx(-1 / (n_options - 1))
    assert found.position.kappa == pytest.approx(1)
    assert found.grid[n_options - 1][0] == n


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(1, 12))
def test_a_perfect_model_has_no_bias(n_options: int, n: int):
    gold = np.arange(n) % n_options
    one = stratum_of(
        stratum_of(np.zeros((n, n_options), int), gold, n_options=n_options).target,
        gold,
        n_options=n_options,
    )
    (found,) = measure_bias(as_trials(one), "circular", draws=49).strata
    assert found.consistency
    assert found.consistency.all_orders
    assert found.consistency.all_orders.value == found.consistency.majority_accuracy == 1
    assert (found.spread.rstd, found.spread.ckld, found.spread.max_share_deviation) == (0, 0, 0)
    assert found.tests.permutation
    assert (found.tests.permutation.p, found.tests.permutation.rstd_95) == (1, 0)
    assert found.level in ("few", "green")


@given(answered_strata())
def test_the_figures_of_one_question_are_in_order(one: OptionCountStratum):
    figures = circular_metrics(as_trials(one), "circular").values
    more = [figures[f"more_{k}_circular"] for k in range(1, one.n_options)]
    profile = [*more, figures["perf_circular"]]
    assert profile == sorted(profile, reverse=True)
    found = consistency(one)
    assert found
    assert found.any_order
    assert found.all_orders
    assert found.sensitivity_gap
    assert found.sensitivity_gap.value == pytest.approx(
        found.any_order.value - found.all_orders.value
    )
    assert sum(map(sum, found.grid)) + found.never_answered == one.n


@settings(max_examples=15)
@given(answered_strata(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_rows_is_nothing(one: OptionCountStratum, seed: int):
    trials = as_trials(one)
    rows = np.random.default_rng(seed).permutation(len(trials))
    shuffled = [trials[row] for row in rows]
    one_way, other_way = (
        measure_bias(each, "circular", draws=9).strata[0] for each in (trials, shuffled)
    )
    assert one_way.position.counts == other_way.position.counts
    assert one_way.spread == other_way.spread
    assert one_way.consistency == other_way.consistency
    assert one_way.tests.cochran_q == other_way.tests.cochran_q
    assert one_way.tests.permutation == other_way.tests.permutation
    assert one_way.original_floor == other_way.original_floor


def test_numbers_of_options_keep_their_own_figures():
    rng = np.random.default_rng(0)
    four, three = simulated(30, rng, bias=1.0), simulated(20, rng, n_options=3)
    renamed = replace(three, ids=np.array([f"r{i}" for i in range(20)], dtype=np.object_))
    cell = CellTrials(as_trials(four) + as_trials(renamed), "circular")
    together = measure_bias(cell, "circular", draws=99)
    alone = [
        measure_bias(as_trials(one), "circular", draws=99).strata[0] for one in (renamed, four)
    ]
    assert together.strata == tuple(alone)
    assert cell.chance == pytest.approx((20 / 3 + 30 / 4) / 50)
    assert together.largest_stratum == alone[1]


@given(answered_strata(lowest=UNREADABLE))
def test_an_unreadable_answer_is_never_right_and_never_agrees(one: OptionCountStratum):
    silent = replace(one, choice=np.full_like(one.choice, UNREADABLE))
    found = consistency(silent)
    assert found
    assert found.never_answered == one.n
    assert found.majority_accuracy == found.content.plurality == found.content.pairs == 0
    assert permutation_test(silent, draws=9) is None
