import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from strata_examples import simulated, stratum_of

from evalui.proportions import wilson_interval
from evalui.scoring.bias.counts import OrderFlip, consistency, order_flips, plurality_by_chance
from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, OptionCountStratum


def one_question(choices: list[int], gold: int = 0) -> OptionCountStratum:
    return stratum_of(np.array([choices]), np.array([gold]))


@pytest.mark.parametrize(
    ("n_options", "n_orders", "share"),
    [(2, 2, 0.75), (3, 3, 0.630), (4, 4, 0.531), (5, 5, 0.457), (4, 24, 0.358)],
)
def test_blind_guessing_agrees_with_itself_more_than_one_time_in_k(
    n_options: int, n_orders: int, share: float
):
    assert plurality_by_chance(n_options, n_orders) == pytest.approx(share, abs=5e-4)


@pytest.mark.parametrize(("n_options", "n_orders"), [(2, 2), (3, 3), (3, 6), (4, 4), (2, 9)])
def test_the_chance_is_that_of_all_answers_listed(n_options: int, n_orders: int):
    answers = itertools.product(range(n_options), repeat=n_orders)
    most = [max(Counter(answer).values()) for answer in answers]
    expected = sum(most) / len(most) / n_orders
    assert plurality_by_chance(n_options, n_orders) == pytest.approx(expected, abs=1e-12)


def test_the_chance_of_many_orders_nears_one_in_k():
    assert 1 / 6 < plurality_by_chance(6, 720) < 0.2


def test_sticking_to_an_option():
    """Orders ABCD, DABC, CDAB, BCDA show option 0 in slots A, B, C, D."""
    found = consistency(one_question([0, 1, 2, 3]))
    assert found
    assert (found.content.plurality, found.content.pairs, found.content.kappa) == (1, 1, 1)
    assert (found.position.plurality, found.position.pairs) == (0.25, 0)
    assert found.grid[0][3] == 1
    assert found.majority_accuracy == 1


def test_sticking_to_a_slot():
    found = consistency(one_question([0, 0, 0, 0]))
    assert found
    assert (found.position.kappa, found.content.kappa) == (1, pytest.approx(-1 / 3))
    assert found.grid[3][0] == 1
    assert found.majority_accuracy == 0.25, "four options share the vote"


def test_right_only_in_the_order_that_happened_to_be_used():
    found = consistency(one_question([0, 0, 0, 0]))
    assert found
    assert found.circular_gap
    assert found.sensitivity_gap
    assert found.circular_gap.value == found.sensitivity_gap.value == 1
    found = consistency(one_question([1, 1, 1, 1]))
    assert found
    assert found.circular_gap
    assert found.sensitivity_gap
    assert (found.circular_gap.value, found.sensitivity_gap.value) == (0, 1)


def test_unreadable_and_tied_answers_agree_with_nothing():
    """Two orders give option 0 and two none: 1 of 6 pairs agrees."""
    found = consistency(one_question([0, 1, UNREADABLE, TIED]))
    assert found
    assert found.content.pairs == pytest.approx(1 / 6)
    assert found.content.plurality == 0.5
    assert found.all_orders
    assert found.all_orders.value == 0
    assert (found.never_answered, found.majority_accuracy) == (0, 1)
    found = consistency(one_question([UNREADABLE] * 4))
    assert found
    assert (found.never_answered, found.majority_accuracy, sum(map(sum, found.grid))) == (1, 0, 0)


def test_one_order_says_nothing_of_consistency():
    assert consistency(simulated(5, np.random.default_rng(0), pattern="origin")) is None


def test_blind_guessing_has_no_kappa_and_the_plurality_of_chance():
    rng = np.random.default_rng(0)
    guesses = stratum_of(rng.integers(4, size=(4000, 4)), rng.integers(4, size=4000))
    found = consistency(guesses)
    assert found
    assert found.content.kappa == pytest.approx(0, abs=0.02)
    assert found.position.kappa == pytest.approx(0, abs=0.02)
    assert found.content.plurality == pytest.approx(found.chance, abs=0.01)


# ---------------------------------------------------------------- changes between two orders


def changes(one: OptionCountStratum) -> dict[tuple[int, int], float | None]:
    return {(each.first, each.second): each.share and each.share.value for each in pairs_of(one)}


def pairs_of(one: OptionCountStratum) -> tuple[OrderFlip, ...]:
    return order_flips(one).pairs


def test_each_pair_of_orders_has_its_changes():
    """Orders ABC, CAB, BCA: one sticks to its option, one to its slot, one changes once."""
    choices = np.array([[0, 1, 2], [0, 0, 0], [0, 1, 0]])
    one = stratum_of(choices, np.zeros(3, dtype=np.intp), n_options=3)
    third = 1 / 3
    assert changes(one) == {(0, 1): third, (0, 2): 2 * third, (1, 2): 2 * third}
    found = order_flips(one)
    assert found.share
    assert found.share.value == pytest.approx((0 + 3 + 2) / 9)
    assert (found.share.n, found.pairs[0].share) == (3, wilson_interval(1, 3))


def test_what_is_no_choice_is_no_change():
    choices = np.array([[0, UNREADABLE], [0, TIED], [0, 0], [UNREADABLE, TIED]])
    one = stratum_of(choices, np.zeros(4, dtype=np.intp), n_options=2)
    (pair,) = pairs_of(one)
    assert pair.share == wilson_interval(1, 1)
    silent = order_flips(one_question([UNREADABLE] * 4))
    assert silent.share is None
    assert [pair.share for pair in silent.pairs] == [None] * 6


def test_the_changes_complete_the_agreement_of_orders():
    one = simulated(50, np.random.default_rng(0), pattern="all_possible")
    found = consistency(one)
    assert found
    assert found.flips.share
    assert found.flips.share.value == pytest.approx(1 - found.content.pairs)
    assert len(found.flips.pairs) == 23, "of many orders those with the one as written"
    assert {pair.first for pair in found.flips.pairs} == {0}


def test_repeats_and_clusters_make_ranges_wider_than_as_many_questions():
    one = simulated(40, np.random.default_rng(1))
    four = replace(
        one,
        ids=np.tile(one.ids, 4),
        choice=np.tile(one.choice, (4, 1)),
        target=np.tile(one.target, (4, 1)),
        chances=None,
    )
    copies = replace(four, cluster=np.tile(np.arange(40), 4))
    twice = replace(
        one,
        orders=np.tile(one.orders, (2, 1)),
        choice=np.tile(one.choice, (1, 2)),
        target=np.tile(one.target, (1, 2)),
        chances=None,
        n_repeats=2,
    )
    alone, apart, clustered, repeated = (
        pairs_of(each)[0].share for each in (one, four, copies, twice)
    )
    assert alone
    assert apart
    assert clustered
    assert repeated
    assert alone.value == apart.value == clustered.value == repeated.value
    wide, narrow, same, again = (
        each.high - each.low for each in (alone, apart, clustered, repeated)
    )
    assert narrow < 0.6 * wide
    assert same == pytest.approx(wide, rel=0.05)
    assert again == pytest.approx(wide, rel=0.05)
