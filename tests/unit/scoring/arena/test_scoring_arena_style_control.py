import itertools
import random

import pytest
from battle_examples import BATTLES, CASES, FINITE, battles_of
from hypothesis import given, settings

from evalui.scoring.arena.battles import Battle
from evalui.scoring.arena.bradley_terry import fit_ratings
from evalui.scoring.arena.elo import expected_score
from evalui.scoring.arena.style_control import fit_style_controlled_ratings
from evalui.types import Contestant

TYPICAL = {"x": 200, "y": 300, "z": 450}


def _judged(liking: float, skill: dict[str, float], *, questions: int, seed: int):
    """Battles of a judge that sees skill (in points) and, as far as it likes that, length."""
    rng = random.Random(seed)
    lengths = {
        name: {str(n): int(rng.lognormvariate(0, 0.5) * typical) + 1 for n in range(questions)}
        for name, typical in TYPICAL.items()
    }
    contestants = [
        Contestant(name, {question: ("x" * length,) for question, length in by_question.items()})
        for name, by_question in lengths.items()
    ]
    battles = [
        Battle(first, second, _outcome(rng, advantage), question)
        for question in map(str, range(questions))
        for first, second in itertools.combinations(TYPICAL, 2)
        for a, b in [(lengths[first][question], lengths[second][question])]
        for advantage in [skill[first] - skill[second] + liking * (a - b) / (a + b)]
    ]
    return battles, contestants


def _outcome(rng: random.Random, advantage: float):
    if rng.random() < 0.2:
        return "tie"
    return "a" if rng.random() < expected_score(advantage) else "b"


def test_a_judge_that_only_likes_length_has_a_gap_that_vanishes_at_equal_style():
    battles, contestants = _judged(1100, dict.fromkeys("xyz", 0.0), questions=300, seed=1)
    plain = fit_ratings(battles).ratings
    styled = fit_style_controlled_ratings(battles, contestants)
    assert plain["z"].value - plain["x"].value > 150
    assert abs(styled.ratings["z"].value - styled.ratings["x"].value) < 40
    assert list(styled.coefficients) == ["length"]
    assert (styled.coefficients["length"].low or 0) > 0
    for rating in styled.ratings.values():
        assert rating.low is not None
        assert rating.high is not None
        assert rating.low < 1000 < rating.high


def test_a_judge_that_sees_skill_alone_keeps_its_gap():
    battles, contestants = _judged(0, {"x": 200, "y": 100, "z": 0}, questions=300, seed=2)
    plain = fit_ratings(battles).ratings
    styled = fit_style_controlled_ratings(battles, contestants)
    length = styled.coefficients["length"]
    assert length.low is not None
    assert length.high is not None
    assert length.low < 0 < length.high
    for name, rating in styled.ratings.items():
        assert rating.value == pytest.approx(plain[name].value, abs=25)
    assert sum(one.value for one in styled.ratings.values()) == pytest.approx(3000)


@pytest.mark.parametrize("name", [name for name in FINITE if len(CASES[name]["battles"]) <= 300])
def test_without_known_answers_the_ratings_are_the_plain_ones(name: str):
    battles = battles_of(CASES[name])
    styled = fit_style_controlled_ratings(battles, [], resamples=2)
    assert styled.coefficients == {}
    plain = {model: one.value for model, one in fit_ratings(battles, resamples=2).ratings.items()}
    assert {model: one.value for model, one in styled.ratings.items()} == pytest.approx(plain)


def test_the_intervals_without_style_are_the_plain_ones():
    battles = battles_of(CASES["three_models_60"])
    plain, styled = (
        fit_ratings(battles).ratings,
        fit_style_controlled_ratings(battles, [], resamples=1000).ratings,
    )
    for name, wanted in plain.items():
        assert wanted.low is not None
        assert wanted.high is not None
        width = wanted.high - wanted.low
        assert styled[name].low == pytest.approx(wanted.low, abs=0.1 * width)
        assert styled[name].high == pytest.approx(wanted.high, abs=0.1 * width)


def test_the_fit_is_the_maximum_of_the_penalised_likelihood():
    # Two models, one feature that differs by its unit in every battle: by hand,
    # sum(points - p) = 0 for the rating and sum(d (points - p)) = coefficient for the feature.
    wins = {1: 12, -1: 6}  # of 20 battles each, with the longer and with the shorter answer
    battles: list[Battle] = []
    answers: dict[str, dict[str, tuple[str, ...]]] = {"x": {}, "y": {}}
    for sign, won in wins.items():
        for n in range(20):
            question = f"{sign}-{n}"
            battles.append(Battle("x", "y", "a" if n < won else "b", question))
            answers["x"][question] = ("l" * (3 if sign > 0 else 1),)
            answers["y"][question] = ("l" * (1 if sign > 0 else 3),)
    contestants = [Contestant(name, found) for name, found in answers.items()]
    styled = fit_style_controlled_ratings(battles, contestants, resamples=2)
    gap = styled.ratings["x"].value - styled.ratings["y"].value
    weight = styled.coefficients["length"].value
    points = 173.71779276130073
    missed = {
        sign: won - 20 * expected_score(gap + sign * weight * points) for sign, won in wins.items()
    }
    assert missed[1] + missed[-1] == pytest.approx(0, abs=1e-6)
    assert missed[1] - missed[-1] == pytest.approx(styled.ridge * weight, abs=1e-6)


@settings(deadline=None, max_examples=30)
@given(BATTLES)
def test_exchanged_sides_give_the_same_ratings(battles: list[Battle]):
    numbered = [Battle(b.model_a, b.model_b, b.outcome, str(n)) for n, b in enumerate(battles)]
    contestants = [
        Contestant(name, {str(n): ("t" * (1 + n * place % 7),) for n in range(len(battles))})
        for place, name in enumerate("wxyz", 2)
    ]
    here = fit_style_controlled_ratings(numbered, contestants, resamples=2)
    there = fit_style_controlled_ratings(
        [one.mirrored for one in numbered], contestants, resamples=2
    )
    assert here.ratings.keys() == there.ratings.keys()
    for name, rating in here.ratings.items():
        assert there.ratings[name].value == pytest.approx(rating.value, abs=1e-4)


def test_without_a_finite_maximum_no_rating_is_given():
    found = fit_style_controlled_ratings(
        [Battle("x", "y", "a", "q")], [Contestant("x", {"q": ("a",)})]
    )
    assert (found.ratings, found.coefficients, found.connection.unbeaten) == ({}, {}, ("x",))
    assert fit_style_controlled_ratings([], []).ratings == {}


def test_one_question_gives_ratings_without_a_range():
    found = fit_style_controlled_ratings([Battle("x", "y", "tie", "q")], [])
    assert (found.ratings["x"].value, found.ratings["x"].low) == (1000, None)


def test_a_range_is_unknown_where_too_many_resamples_have_no_rating():
    found = fit_style_controlled_ratings([Battle("x", "y", "a")] * 3 + [Battle("x", "y", "b")], [])
    assert found.resamples_finite < 0.975 * found.resamples
    assert found.ratings["x"].high is None
