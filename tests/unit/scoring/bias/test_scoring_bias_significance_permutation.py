import itertools
from dataclasses import replace

import numpy as np
import pytest
from strata_examples import simulated, stratum_of

from evalui.scoring.bias.significance import observed_counts, permuted_counts
from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, OptionCountStratum


def shuffled_by_hand(one: OptionCountStratum, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Slot counts of shuffles done one by one: the slow way, for comparison."""
    found = np.zeros((n_draws, one.n_options), dtype=int)
    for row in found:
        for answers in one.content:
            for place, option in enumerate(rng.permutation(answers)):
                if option >= 0:
                    row[one.slot_of[place, option]] += 1
    return found


def test_the_counts_as_they_are():
    choice = np.array([[0, 0, TIED, UNREADABLE], [0, 1, 2, 3]])
    seen = observed_counts(stratum_of(choice, np.array([0, 0])))
    assert seen.choices.tolist() == [[3, 1, 1, 1]]
    assert seen.hits.tolist() == [[2, 1, 1, 1]]
    assert seen.targets.tolist() == [[2, 2, 1, 2]], "the tie was asked with the answer in slot C"


@pytest.mark.parametrize("pattern", ["circular", "all_possible"])
def test_a_shuffle_keeps_what_was_answered(pattern: str):
    """Four rotations go by a table and 24 orders by sorting."""
    one = simulated(30, np.random.default_rng(0), bias=1.0, pattern=pattern)  # pyright: ignore
    one.choice[0, :2] = UNREADABLE
    one.choice[1, 0] = TIED
    drawn = permuted_counts(one, 50, np.random.default_rng(1))
    assert drawn.choices.shape == (50, 4)
    assert (drawn.choices.sum(axis=1) == (one.choice >= 0).sum()).all()
    assert (drawn.hits.sum(axis=1) == one.correct.sum()).all()
    assert (drawn.targets.sum(axis=1) == one.choice.size - 1).all()
    assert len(np.unique(drawn.choices, axis=0)) > 10


@pytest.mark.parametrize("n_options", [3, 4, 6])
def test_both_ways_of_shuffling_are_distributed_as_shuffles_by_hand(n_options: int):
    rng = np.random.default_rng(2)
    one = simulated(12, rng, n_options=n_options, bias=1.0)
    one.choice[0, 0] = UNREADABLE
    fast = permuted_counts(one, 4000, rng).choices
    slow = shuffled_by_hand(one, 1500, rng)
    assert fast.mean(axis=0) == pytest.approx(slow.mean(axis=0), abs=0.25)
    assert np.cov(fast.T) == pytest.approx(np.cov(slow.T), abs=0.5)


def test_two_orders_have_every_arrangement_equally_often():
    """One question that said both options stays, or both its answers move to the other slot."""
    one = stratum_of(np.array([[0, 0]]), np.array([0]), n_options=2)
    drawn = permuted_counts(one, 2000, np.random.default_rng(3)).choices
    kinds, counts = np.unique(drawn, axis=0, return_counts=True)
    assert kinds.tolist() == [[0, 2], [2, 0]]
    assert counts / 2000 == pytest.approx([0.5, 0.5], abs=0.04)


def test_a_model_that_never_changes_its_mind_cannot_be_shuffled():
    steady = stratum_of(np.array([[0, 1, 2, 3], [0, 1, 2, 3]]), np.array([0, 1]))
    assert (permuted_counts(steady, 20, np.random.default_rng(0)).choices == 2).all()
    six = stratum_of(np.array([list(range(6))]), np.array([0]), n_options=6)
    assert (permuted_counts(six, 20, np.random.default_rng(0)).choices == 1).all()


@pytest.mark.parametrize("n_options", [4, 7])
def test_the_same_seed_gives_the_same_draws_in_any_order_of_the_questions(n_options: int):
    one = simulated(20, np.random.default_rng(4), n_options=n_options)
    rows = np.random.default_rng(5).permutation(20)
    other = replace(one, choice=one.choice[rows], target=one.target[rows], ids=one.ids[rows])
    first, second = (
        permuted_counts(each, 30, np.random.default_rng(6)).choices for each in (one, other)
    )
    assert first.tolist() == second.tolist()


def test_the_table_lists_every_arrangement_once():
    """Three different answers in three orders: six arrangements with known slot counts."""
    one = stratum_of(np.array([[0, 0, 0]]), np.array([0]), n_options=3)
    answers = one.content[0]
    expected = {
        tuple(np.bincount(one.slot_of[np.arange(3), list(answer)], minlength=3).tolist())
        for answer in itertools.permutations(answers)
    }
    drawn = permuted_counts(one, 500, np.random.default_rng(7)).choices
    assert {tuple(row) for row in drawn.tolist()} == expected


@pytest.mark.parametrize("n_options", [40, 120, 255])
def test_many_options_are_shuffled_as_few(n_options: int):
    """Of 120 options an answer has more than 256 kinds: wrong, right or tied, and the option."""
    one = simulated(3, np.random.default_rng(0), n_options=n_options)
    one.choice[0, :9], one.choice[1, :9] = TIED, UNREADABLE
    seen, drawn = observed_counts(one), permuted_counts(one, 20, np.random.default_rng(1))
    assert (drawn.choices.sum(axis=1) == seen.choices.sum()).all()
    assert (drawn.hits.sum(axis=1) == seen.hits.sum()).all()
    assert (drawn.targets.sum(axis=1) == seen.targets.sum()).all()
    assert len(np.unique(drawn.choices, axis=0)) == 20
    own = replace(one, orders=np.tile(one.orders[None], (3, 1, 1)))
    again = permuted_counts(own, 20, np.random.default_rng(1))
    assert (again.choices.sum(axis=1) == seen.choices.sum()).all()
    assert (again.hits.sum(axis=1) == seen.hits.sum()).all()
