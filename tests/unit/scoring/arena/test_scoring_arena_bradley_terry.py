import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from battle_examples import BATTLES, CASES, ENDLESS, FINITE, TODAY, battles_of
from hypothesis import given, settings

from evalui.scoring.arena.battles import Battle
from evalui.scoring.arena.bradley_terry import (
    connectivity,
    fit_ratings,
    leader_gap,
    rank_intervals,
    rating_difference,
)
from evalui.scoring.arena.elo import POINTS_PER_LOG_ODDS, expected_score


def _values(battles: list[Battle]) -> dict[str, float]:
    return {
        name: rating.value for name, rating in fit_ratings(battles, resamples=2).ratings.items()
    }


@pytest.mark.parametrize("name", FINITE)
def test_ratings_agree_with_an_exact_fit_and_with_the_peers(name: str):
    wanted = CASES[name]["expected"]
    values = _values(battles_of(CASES[name]))
    assert values == pytest.approx(wanted["bt_exact"], abs=2e-6)
    assert values == pytest.approx(wanted["opencompass_mle_elo_sklearn"], abs=2e-5)
    # FastChat's optimiser stops a little early.
    assert values == pytest.approx(wanted["fastchat_compute_bt"], abs=3e-3)


@pytest.mark.parametrize("name", FINITE)
def test_expected_wins_agree_with_the_reference(name: str):
    values = _values(battles_of(CASES[name]))
    for model, row in CASES[name]["expected"]["bt_expected_win_matrix"].items():
        for other, share in row.items():
            assert expected_score(values[model] - values[other]) == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("case", TODAY)
def test_ratings_agree_with_opencompass_today(case: dict[str, Any]):
    assert _values(battles_of(case)) == pytest.approx(case["compute_bt"], abs=3e-3)


@pytest.mark.parametrize("case", TODAY)
def test_intervals_over_battles_agree_with_opencompass_today(case: dict[str, Any]):
    ratings = fit_ratings(battles_of(case)).ratings
    for model, wanted in case["bootstrap_bt_200_rng0"].items():
        width = wanted["q975"] - wanted["q025"]
        # Theirs are ends of 200 resamples: their own error is about a tenth of the width.
        assert ratings[model].low == pytest.approx(wanted["q025"], abs=0.25 * width)
        assert ratings[model].high == pytest.approx(wanted["q975"], abs=0.25 * width)


@pytest.mark.parametrize("name", CASES)
def test_components_agree_with_the_reference(name: str):
    wanted = CASES[name]["expected"]
    connection = connectivity(battles_of(CASES[name]))
    assert connection.has_finite_ratings == wanted["bt_finite"]
    assert sorted(map(sorted, connection.components)) == wanted["bt_components"]


@pytest.mark.parametrize("name", ENDLESS)
def test_without_a_finite_maximum_no_rating_is_given(name: str):
    found = fit_ratings(battles_of(CASES[name]))
    assert found.ratings == {}
    assert (found.resamples, found.resamples_finite) == (0, 0)


def test_an_unbeaten_model_is_named_and_so_is_one_that_never_won():
    connection = connectivity([Battle("top", "mid", "a"), Battle("low", "mid", "b")])
    assert (connection.unbeaten, connection.winless) == (("top",), ("low",))


def test_a_tie_between_bad_answers_still_connects():
    assert connectivity([Battle("x", "y", "a"), Battle("x", "y", "neither")]).has_finite_ratings


def test_islands_are_groups_that_never_met():
    connection = connectivity([Battle("a1", "a2", "a"), Battle("b1", "b2", "tie")])
    assert connection.disconnected_groups == (("a1", "a2"), ("b1", "b2"))


def test_questions_asked_ten_times_give_a_wider_interval_than_as_many_questions():
    won = ["a"] * 12 + ["b"] * 8
    single = [Battle("x", "y", one, str(n)) for n, one in enumerate(won * 10)]
    repeated = [Battle("x", "y", one, str(n)) for n, one in enumerate(won) for _ in range(10)]
    wide, narrow = fit_ratings(repeated), fit_ratings(single)
    assert (wide.unit, wide.units, narrow.units) == ("question", 20, 200)
    assert wide.ratings["x"].value == pytest.approx(narrow.ratings["x"].value)
    width, other = (
        (found.ratings["x"].high or 0) - (found.ratings["x"].low or 0) for found in (wide, narrow)
    )
    assert width > 2 * other


def test_the_interval_is_as_wide_as_theory_has_it_for_two_models():
    rating = fit_ratings([Battle("x", "y", "a")] * 60 + [Battle("x", "y", "b")] * 40).ratings["x"]
    # The log-odds have the standard error 1 / sqrt(n p q); x holds half of the difference.
    half = 1.96 / (100 * 0.6 * 0.4) ** 0.5 * POINTS_PER_LOG_ODDS / 2
    assert rating.low == pytest.approx(rating.value - half, abs=0.15 * half)
    assert rating.high == pytest.approx(rating.value + half, abs=0.15 * half)


def test_questions_that_differ_are_resampled_whole():
    # Each question is a tie on the whole: no resample of questions can favour a side.
    battles = [Battle("x", "y", one, str(n)) for n in range(30) for one in ("a", "b")]
    rating = fit_ratings(battles).ratings["x"]
    assert (rating.low, rating.high) == pytest.approx((1000, 1000))


def test_an_interval_has_no_end_where_too_many_resamples_have_no_rating():
    # One lost battle of four is missed by a third of the resamples.
    found = fit_ratings([Battle("x", "y", "a")] * 3 + [Battle("x", "y", "b")])
    assert found.resamples_finite < 0.975 * found.resamples
    assert found.ratings["x"].value > 1000
    assert (found.ratings["x"].low, found.ratings["x"].high) == (None, None)


def test_resamples_beyond_one_portion_are_all_fitted(monkeypatch: pytest.MonkeyPatch):
    battles = battles_of(CASES["three_models_60"])
    whole = fit_ratings(battles, resamples=50)
    monkeypatch.setattr("evalui.scoring.arena.bradley_terry.MAX_CHUNK_ELEMENTS", 70)
    portions = fit_ratings(battles, resamples=50)
    assert portions.resamples_finite == whole.resamples_finite == 50
    assert portions.ratings["model-a"].low == pytest.approx(whole.ratings["model-a"].low)


def test_a_chain_of_lopsided_pairs_is_fitted():
    battles = [
        Battle(f"m{n}", f"m{n + 1}", "a" if turn else "b") for n in range(5) for turn in range(1000)
    ]
    values = _values(battles)
    assert values["m0"] - values["m1"] == pytest.approx(400 * 2.9995654882, abs=1e-4)


@settings(deadline=None)
@given(BATTLES)
def test_mirrored_battles_give_the_same_ratings(battles: list[Battle]):
    mirrored = _values([battle.mirrored for battle in battles])
    assert mirrored == pytest.approx(_values(battles), abs=1e-5)


@settings(deadline=None)
@given(BATTLES)
def test_the_order_of_the_battles_does_not_matter(battles: list[Battle]):
    assert _values(battles[::-1]) == pytest.approx(_values(battles), abs=1e-5)


@settings(deadline=None)
@given(BATTLES)
def test_renamed_models_keep_their_ratings_and_the_mean_is_1000(battles: list[Battle]):
    renamed = [Battle(one.model_a * 2, one.model_b * 2, one.outcome) for one in battles]
    values = _values(battles)
    assert {name[0]: value for name, value in _values(renamed).items()} == values
    if values:
        assert sum(values.values()) / len(values) == pytest.approx(1000)


def _league(strengths: dict[str, float], *, questions: int, seed: int) -> list[Battle]:
    """Every pair on every question, won by the models' chances."""
    rng = random.Random(seed)
    return [
        Battle(
            first,
            second,
            "a" if rng.random() < expected_score(strengths[first] - strengths[second]) else "b",
            str(n),
        )
        for n in range(questions)
        for first, second in itertools.combinations(strengths, 2)
    ]


def test_clear_ranks_are_narrow_and_near_ones_overlap():
    found = rank_intervals(
        fit_ratings(_league({"top": 1400, "mid": 1000, "twin": 1000}, questions=100, seed=1))
    )
    assert (found["top"].rank, found["top"].low, found["top"].high) == (1, 1, 1)
    for name in ("mid", "twin"):
        assert (found[name].low, found[name].high) == (2, 3)
        assert not found[name].tied_with_leader
    assert {found["mid"].rank, found["twin"].rank} == {2, 3}
    assert found["top"].tied_with_leader


def test_equal_ratings_share_their_rank_and_all_their_places():
    found = rank_intervals(fit_ratings([Battle("x", "y", "a", "1"), Battle("x", "y", "b", "2")]))
    assert (found["x"].rank, found["y"].rank) == (1, 1)
    tied = rank_intervals(fit_ratings([Battle("x", "y", "tie", str(n)) for n in range(5)]))
    assert [(one.low, one.high, one.tied_with_leader) for one in tied.values()] == [
        (1, 2, True)
    ] * 2


def test_a_difference_is_known_better_than_two_ratings_that_move_together():
    battles = _league({"x": 1100, "y": 1000, "z": 900}, questions=80, seed=2)
    rated = fit_ratings(battles)
    first = leader_gap(rated)
    assert first is not None
    assert (first.leader, first.second) == ("x", "y")
    gap = first.gap
    assert gap == rating_difference(rated, "x", "y")
    assert gap.value == rated.ratings["x"].value - rated.ratings["y"].value
    ends = np.percentile(rated.draws[:, 0] - rated.draws[:, 1], (2.5, 97.5))
    assert (gap.low, gap.high) == pytest.approx(tuple(ends))
    back = rating_difference(rated, "y", "x")
    assert (back.value, back.low, back.high) == pytest.approx((-gap.value, -ends[1], -ends[0]))


def test_with_leader_agrees_with_the_interval_of_the_difference():
    lows: list[float] = []
    for seed, strength in enumerate(range(1000, 1200, 10)):
        rated = fit_ratings(_league({"x": strength, "y": 1000, "z": 990}, questions=60, seed=seed))
        first = leader_gap(rated)
        assert first is not None
        assert first.gap.low is not None
        assert rank_intervals(rated)[first.second].tied_with_leader == (first.gap.low <= 0)
        lows.append(first.gap.low)
    # There are clear leads, narrow ones and none among them.
    assert any(low < -10 for low in lows)
    assert any(0 < low < 30 for low in lows)


@pytest.mark.slow
def test_the_lead_of_equal_models_is_rarely_called_certain():
    certain = 0
    for seed in range(100):
        found = rank_intervals(
            fit_ratings(_league({"x": 1000, "y": 1000}, questions=60, seed=seed), resamples=300)
        )
        certain += not all(one.tied_with_leader for one in found.values())
    assert certain <= 12


def test_without_enough_finite_resamples_no_range_of_ranks_is_known():
    found = rank_intervals(fit_ratings([Battle("x", "y", "a")] * 3 + [Battle("x", "y", "b")]))
    assert (found["x"].rank, found["x"].low, found["x"].tied_with_leader) == (1, None, None)


def test_one_question_gives_a_rating_without_a_range():
    rated = fit_ratings([Battle("x", "y", "tie", "q"), Battle("y", "x", "tie", "q")])
    assert (rated.units, rated.resamples) == (1, 0)
    assert (rated.ratings["x"].value, rated.ratings["x"].low) == (1000, None)
    assert rank_intervals(rated)["y"].high is None


def test_no_battles_give_no_ratings():
    rated = fit_ratings([])
    assert (rated.ratings, rated.units, rated.connection.has_finite_ratings) == ({}, 0, False)
    assert rank_intervals(rated) == {}
    assert leader_gap(rated) is None


@pytest.mark.parametrize("repeats", [1, 10])
def test_questions_drawn_by_kind_and_one_by_one_have_the_same_spread(repeats: int):
    # Ten times the same questions are merged into kinds; single ones are drawn as they are.
    base = _league({"x": 1100, "y": 1000, "z": 900}, questions=30, seed=4)
    battles = [
        replace(one, question=f"{one.question}-{copy}") for copy in range(repeats) for one in base
    ]
    rated = fit_ratings(battles)
    rng = random.Random(1)
    by_question: dict[str, list[Battle]] = {}
    for one in battles:
        by_question.setdefault(str(one.question), []).append(one)
    drawn = [
        _values(
            [
                one
                for name in rng.choices(list(by_question), k=len(by_question))
                for one in by_question[name]
            ]
        )
        for _ in range(60)
    ]
    spread = np.std([one["x"] for one in drawn if one])
    assert rated.draws[:, 0].std() == pytest.approx(spread, rel=0.35)
