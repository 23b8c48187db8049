import random
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from battle_examples import BATTLES, CASES, TODAY, battles_of, in_orders
from hypothesis import given

from evalui.scoring.arena.battles import Battle, battle_models
from evalui.scoring.arena.elo import (
    MedianElo,
    elo_intervals,
    expected_score,
    median_elos,
    permuted_elo,
    python_shuffles,
    sequential_elo,
)


@pytest.mark.parametrize(("k", "key"), [(4, "sequential_elo_K4"), (32, "sequential_elo_K32")])
@pytest.mark.parametrize("name", CASES)
def test_ratings_in_file_order_agree_with_fastchat(name: str, k: int, key: str):
    ratings = sequential_elo(battles_of(CASES[name]), k)
    assert ratings == pytest.approx(CASES[name]["expected"][key], abs=1e-6)


@pytest.mark.parametrize("seed", ["2680", "0", "1", "999"])
@pytest.mark.parametrize("name", CASES)
def test_shuffled_ratings_agree_with_opencompass(name: str, seed: str):
    battles = battles_of(CASES[name])
    random.Random(int(seed)).shuffle(battles)
    wanted = CASES[name]["expected"]["opencompass_v01_elo_K32_seed"][seed]
    assert sequential_elo(battles, 32) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("case", TODAY)
def test_ratings_agree_with_opencompass_today(case: dict[str, Any]):
    assert sequential_elo(battles_of(case), 4) == pytest.approx(case["compute_elo_k4"], abs=1e-8)


@pytest.mark.parametrize("name", [name for name in CASES if len(CASES[name]["battles"]) <= 300])
def test_many_orders_at_once_agree_with_a_plain_loop_over_orders(name: str):
    battles = battles_of(CASES[name])
    orders = np.array([_shuffled(len(battles), seed) for seed in range(1000)])
    median = np.median(in_orders(battles, orders, 32), axis=0)
    wanted = CASES[name]["expected"]["permutation_elo_1000_K32_python_seeds_0_999"]["median"]
    assert dict(zip(battle_models(battles), median, strict=True)) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("n", [1, 2, 300])
def test_medians_are_of_the_orders_that_python_gives_in_parts_and_kept_or_not(
    n: int, monkeypatch: pytest.MonkeyPatch
):
    battles = battles_of(CASES["wide_spread_1200"])[:n]
    orders = np.array([_shuffled(n, seed) for seed in range(12)])
    ratings = in_orders(battles, orders, 32).reshape(3, 4, -1)
    medians = np.median(ratings, axis=1)
    named = zip(medians.mean(axis=0).tolist(), medians.std(axis=0).tolist(), strict=True)
    wanted = {
        model: MedianElo(mean, std)
        for model, (mean, std) in zip(battle_models(battles), named, strict=True)
    }
    assert median_elos(battles, orders=4, runs=3) == wanted
    monkeypatch.setattr("evalui.scoring.arena.elo.MEDIAN_ELO_MAX_BATTLES", 0)
    monkeypatch.setattr("evalui.scoring.arena.elo._MAX_CHUNK_ELEMENTS", 3 * n)
    assert median_elos(battles, orders=4, runs=3) == wanted


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 64, 65, 500, 1000])
def test_many_shuffles_are_those_of_python(n: int, monkeypatch: pytest.MonkeyPatch):
    seeds = range(990, 1010)
    wanted = [_shuffled(n, seed) for seed in seeds]
    assert python_shuffles(n, seeds).tolist() == wanted
    monkeypatch.setattr("evalui.scoring.arena.elo._MAX_SHUFFLED", 7 * n)
    monkeypatch.setattr("evalui.scoring.arena.elo._SPARE_WORDS", -n)  # too few for most
    assert python_shuffles(n, seeds).tolist() == wanted


def test_no_battles_have_no_medians():
    assert median_elos([]) == {}


def test_the_spread_of_medians_does_not_tell_what_was_decided_from_what_was_not():
    drawn = [Battle("x", "y", "a" if n % 2 else "b") for n in range(40)]
    decided = [Battle("x", "y", "b" if n % 4 == 0 else "a") for n in range(40)]
    noise = [median_elos(battles)["x"].std for battles in (drawn, decided)]
    low, high = elo_intervals(drawn)["x"]
    assert max(noise) < (high - low) / 50  # as an error it would be far too small


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 200])  # so many steps of each order at a time
@pytest.mark.parametrize("k", [4.0, 400.0])
def test_each_of_many_orders_ends_where_it_ends_alone(n: int, k: float):
    battles = battles_of(CASES["five_models_200"])[:n]
    orders = np.array([_shuffled(n, seed) for seed in range(3)])
    for order, ratings in zip(orders, in_orders(battles, orders, k), strict=True):
        alone = sequential_elo([battles[place] for place in order], k)
        found = dict(zip(battle_models(battles), ratings, strict=True))
        assert found == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize("name", ["three_models_60", "five_models_200", "wide_spread_1200"])
def test_the_median_over_our_orders_is_that_over_any_other_orders(name: str):
    wanted = CASES[name]["expected"]["permutation_elo_1000_K32_python_seeds_0_999"]
    found = permuted_elo(battles_of(CASES[name]))
    for model, median in found.median.items():
        # The median of 1000 has a standard error of 1.25 sd / sqrt(1000); two are compared.
        error = 1.25 * wanted["std_ddof0"][model] / 1000**0.5 * 2**0.5
        assert median == pytest.approx(wanted["median"][model], abs=4 * error)
        assert found.low[model] == pytest.approx(wanted["q025"][model], abs=10 * error)
        assert found.high[model] == pytest.approx(wanted["q975"][model], abs=10 * error)


def test_the_same_seed_gives_the_same_ratings_and_another_seed_others():
    battles = battles_of(CASES["three_models_60"])
    assert permuted_elo(battles, runs=50, seed=7) == permuted_elo(battles, runs=50, seed=7)
    assert (
        permuted_elo(battles, runs=50, seed=7).median
        != permuted_elo(battles, runs=50, seed=8).median
    )


def test_orders_beyond_one_portion_are_all_replayed(monkeypatch: pytest.MonkeyPatch):
    battles = battles_of(CASES["three_models_60"])
    whole = permuted_elo(battles, runs=50, seed=7)
    monkeypatch.setattr("evalui.scoring.arena.elo._MAX_CHUNK_ELEMENTS", 7 * len(battles))
    again = permuted_elo(battles, runs=50, seed=7)
    for field in fields(whole):
        assert getattr(again, field.name) == pytest.approx(getattr(whole, field.name), rel=1e-12)


def test_the_interval_agrees_with_a_plain_loop_over_drawn_questions():
    battles = [
        replace(one, question=str(place // 3 if place < 40 else place))
        for place, one in enumerate(battles_of(CASES["three_models_60"]))
    ]
    by_question: dict[str, list[Battle]] = {}
    for one in battles:
        by_question.setdefault(str(one.question), []).append(one)
    rng = random.Random(5)
    drawn: dict[str, list[float]] = {}
    for _ in range(2000):
        again = [
            one
            for name in rng.choices(list(by_question), k=len(by_question))
            for one in by_question[name]
        ]
        rng.shuffle(again)
        for name, rating in sequential_elo(again, 32).items():
            drawn.setdefault(name, []).append(rating)
    for name, (low, high) in elo_intervals(battles, resamples=2000).items():
        wanted = np.percentile(drawn[name], (2.5, 97.5))
        width = wanted[1] - wanted[0]
        assert (low, high) == pytest.approx(tuple(wanted), abs=0.08 * width)


def test_the_interval_holds_the_luck_of_the_questions_beside_that_of_the_order():
    battles = battles_of(CASES["three_models_60"])
    orders, questions = permuted_elo(battles), elo_intervals(battles)
    for name, (low, high) in questions.items():
        assert high - low > 1.1 * (orders.high[name] - orders.low[name])


def test_battles_of_one_question_are_drawn_together():
    won = ["a"] * 12 + ["b"] * 8
    together = [Battle("x", "y", one, str(n)) for n, one in enumerate(won) for _ in range(10)]
    apart = [replace(one, question=None) for one in together]
    (low, high), (lower, higher) = elo_intervals(together, k=4)["x"], elo_intervals(apart, k=4)["x"]
    assert high - low > 1.5 * (higher - lower)


def test_the_interval_follows_its_seed():
    battles = battles_of(CASES["three_models_60"])
    assert elo_intervals(battles, seed=7, resamples=50) == elo_intervals(
        battles, seed=7, resamples=50
    )
    assert elo_intervals(battles, seed=7, resamples=50) != elo_intervals(
        battles, seed=8, resamples=50
    )


def test_resamples_beyond_one_portion_are_all_in_the_interval(monkeypatch: pytest.MonkeyPatch):
    battles = battles_of(CASES["three_models_60"])
    whole = elo_intervals(battles, resamples=50)
    monkeypatch.setattr("evalui.scoring.arena.elo._MAX_CHUNK_ELEMENTS", 7 * len(battles))
    again = elo_intervals(battles, resamples=50)
    assert list(again) == list(whole)
    for name, ends in whole.items():
        assert again[name] == pytest.approx(ends, rel=1e-12)


def test_without_battles_there_are_no_ratings_and_with_one_question_no_interval():
    assert permuted_elo([]).median == {}
    assert elo_intervals([]) == {}
    assert elo_intervals([Battle("x", "y", "a", "q"), Battle("x", "z", "b", "q")]) == {}


def test_400_points_make_ten_to_one():
    assert expected_score(400) == pytest.approx(10 / 11)
    assert expected_score(0) == 0.5


@given(BATTLES)
def test_points_are_conserved(battles: list[Battle]):
    ratings = sequential_elo(battles, 32)
    assert sum(ratings.values()) == pytest.approx(1000 * len(ratings), abs=1e-6)


@given(BATTLES)
def test_renamed_models_keep_their_ratings(battles: list[Battle]):
    renamed = [
        Battle(f"new {battle.model_a}", f"new {battle.model_b}", battle.outcome)
        for battle in battles
    ]
    ratings = sequential_elo(renamed, 32)
    assert {name.removeprefix("new "): value for name, value in ratings.items()} == sequential_elo(
        battles, 32
    )


@given(BATTLES)
def test_mirrored_battles_give_the_same_ratings(battles: list[Battle]):
    mirrored = sequential_elo([battle.mirrored for battle in battles], 32)
    assert mirrored == pytest.approx(sequential_elo(battles, 32), abs=1e-9)


def _shuffled(n: int, seed: int) -> list[int]:
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return order
