"""Keys that are dealt anew: which of key and place moves a choice."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from strata_examples import simulated, stratum_of

from evalui.scoring.bias.counts import position_table
from evalui.scoring.bias.keys import KeyOrPlace, by_key, key_or_place
from evalui.scoring.bias.significance import observed_counts, permutation_test, permuted_counts
from evalui.scoring.choice.decisions import key_places
from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, OptionCountStratum
from evalui.types import Labels, Pattern, Variant


def keys_of(stratum: OptionCountStratum, labels: Labels = "dealt") -> NDArray[np.intp]:
    """The place of the key of each slot among the keys, (n, V, K)."""
    rows = [
        [key_places(labels, name, Variant(tuple(order))) for order in stratum.orders.tolist()]
        for name in stratum.ids.tolist()
    ]
    return np.array(rows)


def tempted(
    n: int, seed: int, *, by: str, share: float = 0.4, pattern: Pattern = "circular"
) -> OptionCountStratum:
    """A model that knows half of the answers, and gives in to the first key or place at times."""
    rng = np.random.default_rng(seed)
    one = simulated(n, rng, pattern=pattern)
    one = replace(one, ids=np.array([f"{seed}.{i}" for i in range(n)], dtype=np.object_))
    first = keys_of(one).argmin(axis=2) if by == "key" else np.zeros_like(one.choice)
    gives_in = rng.random(one.choice.shape) < (share if by else 0)
    return replace(one, choice=np.where(gives_in, first, one.choice))


def test_keys_in_the_order_of_places_change_nothing():
    one = simulated(5, np.random.default_rng(0))
    assert by_key(one, "") is one
    assert by_key(one, "texts") is one
    assert key_or_place(one, "") is None


@pytest.mark.parametrize("labels", ["dealt", "neutral"])
def test_a_trial_by_key_is_the_same_trial(labels: Labels):
    one = simulated(6, np.random.default_rng(1))
    one.choice[0, 0], one.choice[1, 1] = TIED, UNREADABLE
    keyed, keys = by_key(one, labels), keys_of(one, labels)
    assert one.chances is not None
    assert keyed.chances is not None
    for question, order in np.ndindex(6, 4):
        for slot, key in enumerate(keys[question, order]):
            assert keyed.orders[question, order, key] == one.orders[order, slot]
            assert keyed.chances[question, order, key] == one.chances[question, order, slot]
    assert keyed.choice[0, 0] == TIED
    assert keyed.choice[1, 1] == UNREADABLE
    assert keyed.choice[2, 3] == keys[2, 3, one.choice[2, 3]]
    # What was chosen and what is right are the same options, whatever they are called.
    assert (keyed.content == one.content).all()
    assert (keyed.gold == one.gold).all()
    assert (keyed.correct == one.correct).all()


def test_repeats_are_dealt_the_same_keys():
    one = simulated(4, np.random.default_rng(2))
    twice = replace(
        one,
        orders=np.tile(one.orders, (2, 1)),
        choice=np.tile(one.choice, (1, 2)),
        target=np.tile(one.target, (1, 2)),
        chances=None,
        n_repeats=2,
    )
    keyed = by_key(twice, "dealt")
    assert (keyed.choice[:, :4] == keyed.choice[:, 4:]).all()
    assert (keyed.first_repeat.content == one.content).all()
    assert keyed.each_repeat.content.reshape(4, 8).tolist() == twice.content.tolist()


def test_shuffles_keep_what_orders_of_each_question_cannot_change():
    """In each draw the chosen options, the right ones and the ties are the same in number."""
    one = tempted(30, 3, by="key")
    one.choice[:4, 2] = TIED
    one.choice[4:7, 1] = UNREADABLE
    keyed = by_key(one, "dealt")
    seen = observed_counts(keyed)
    drawn = permuted_counts(keyed, 50, np.random.default_rng(0))
    assert seen.choices[0].tolist() == [int((keyed.choice == key).sum()) for key in range(4)]
    right = keyed.correct
    assert seen.hits[0].tolist() == [int(right[keyed.target == key].sum()) for key in range(4)]
    assert (drawn.choices.sum(axis=1) == seen.choices.sum()).all()
    assert (drawn.hits.sum(axis=1) == seen.hits.sum()).all()
    assert (drawn.targets.sum(axis=1) == seen.targets.sum()).all()
    assert np.ptp(drawn.choices, axis=0).min() > 0


def test_orders_that_all_questions_share_give_what_orders_of_their_own_give():
    """The draws differ, as more orders than a table has are shuffled otherwise: p agrees."""
    one = tempted(60, 4, by="place", share=0.1)
    own = replace(one, orders=np.tile(one.orders[None], (60, 1, 1)))
    assert (own.content == one.content).all()
    assert observed_counts(own).choices.tolist() == observed_counts(one).choices.tolist()
    shared, apart = (permutation_test(each, draws=4000) for each in (one, own))
    assert shared
    assert apart
    assert apart.p == pytest.approx(shared.p, abs=0.03)
    assert apart.mean_rstd == pytest.approx(shared.mean_rstd, rel=0.03)
    assert apart.rstd_95 == pytest.approx(shared.rstd_95, rel=0.05)


@pytest.mark.parametrize("mover", ["key", "place"])
@pytest.mark.parametrize("pattern", ["circular", "all_possible"])
def test_what_moves_choices_is_found_and_the_other_is_not_blamed(mover: str, pattern: Pattern):
    found = key_or_place(tempted(100, 10, by=mover, pattern=pattern), "dealt", draws=199)
    assert found
    assert found.mover == mover
    pulled, free = (found.key, found.place) if mover == "key" else (found.place, found.key)
    assert pulled.test.p < 0.001
    assert free.test.p > 0.05
    first = pulled.table.shares[0]
    assert first
    assert first.value > 0.45
    assert pulled.spread.rstd
    assert pulled.test.rstd_95
    assert pulled.spread.rstd > pulled.test.rstd_95


def test_a_model_that_neither_moves_is_blamed_in_at_most_one_of_twenty():
    movers = [
        found.mover
        for seed in range(200)
        if (found := key_or_place(tempted(25, seed, by=""), "dealt", draws=99))
    ]
    assert len(movers) == 200
    # 10 are expected at most, and 19 or more come by chance in one of 200.
    assert 1 <= 200 - movers.count("neither") <= 18


def test_a_key_is_judged_by_itself_where_places_move_most_choices():
    """Of 200 models that give in to the first place, 5 % seem to prefer a key."""
    found = [key_or_place(tempted(25, seed, by="place"), "dealt", draws=99) for seed in range(200)]
    blamed = sum(each is not None and each.key.test.p < 0.05 for each in found)
    assert blamed <= 18


@pytest.mark.parametrize(
    ("place", "key", "mover"),
    [(0.04, 0.04, "neither"), (0.02, 0.04, "both"), (0.02, 0.5, "place"), (0.3, 0.001, "key")],
)
def test_two_tests_are_corrected_for_each_other(place: float, key: float, mover: str):
    found = key_or_place(tempted(30, 0, by=""), "dealt", draws=9)
    assert found
    one, other = (
        replace(pull, test=replace(pull.test, p=p))
        for pull, p in ((found.place, place), (found.key, key))
    )
    assert KeyOrPlace(one, other).mover == mover


def test_one_order_tells_nothing_apart():
    one = simulated(40, np.random.default_rng(6), pattern="origin")
    assert key_or_place(one, "dealt") is None


def test_a_question_by_key_has_a_table_of_keys():
    gold = np.array([0, 1, 2, 3])
    one = stratum_of(np.zeros((4, 4), dtype=np.intp), gold)
    keys = keys_of(one)
    table = position_table(by_key(one, "dealt"))
    assert table.slot_counts == tuple(np.bincount(keys[:, :, 0].ravel(), minlength=4).tolist())
    assert position_table(one).slot_counts == (16, 0, 0, 0)


def thrice(one: OptionCountStratum) -> OptionCountStratum:
    """Each question asked three times, with the same replies."""
    return replace(
        one,
        orders=np.tile(one.orders, (3, 1)),
        choice=np.tile(one.choice, 3),
        target=np.tile(one.target, 3),
        chances=None if one.chances is None else np.tile(one.chances, (1, 3, 1)),
        n_repeats=3,
    )


@pytest.mark.slow
@pytest.mark.parametrize("by", ["key", "place"])
def test_repeats_of_one_order_are_no_evidence_of_the_other_mover(by: str):
    """Of 200 tests at 5 %, 10 reject by chance, and hardly ever 20."""
    rejected = 0
    for seed in range(200):
        found = key_or_place(thrice(tempted(25, seed, by=by)), "dealt", draws=99)
        assert found
        rejected += (found.place if by == "key" else found.key).test.p < 0.05
    assert rejected <= 20


def test_repeats_that_say_the_same_show_nothing_more():
    once = tempted(40, 3, by="place", share=0.15)
    single, repeated = (key_or_place(each, "dealt") for each in (once, thrice(once)))
    assert single
    assert repeated
    for a, b in ((single.place, repeated.place), (single.key, repeated.key)):
        assert b.test.p == pytest.approx(a.test.p, abs=0.05)
        assert b.test.mean_rstd == pytest.approx(a.test.mean_rstd, rel=0.05)
