"""What each rule shows, over 300 made-up questions in the four circular orders."""

from collections import Counter
from statistics import mean

import pytest

from evalui.models.scripted.rules import RULES, SeenQuestion
from evalui.types import Sample

N = 300
ORDERS = [tuple((slot + shift) % 4 for slot in range(4)) for shift in range(4)]
SAMPLES = [Sample(f"q{n}", f"Question {n}?", ("w", "x", "y", "z"), n % 4) for n in range(N)]


def picks(rule: str, seed: int = 0) -> list[list[int]]:
    """For each question the slot picked in each order."""
    return [[_pick(rule, sample, order, seed) for order in ORDERS] for sample in SAMPLES]


def _pick(rule: str, sample: Sample, order: tuple[int, ...], seed: int) -> int:
    liking = RULES[rule].score_options(
        SeenQuestion(sample, order, f"{sample.question} {order}"), seed
    )
    scores = [liking[content] for content in order]
    return scores.index(max(scores))


def right(rule: str) -> list[list[bool]]:
    return [
        [order[slot] == sample.target for order, slot in zip(ORDERS, slots, strict=True)]
        for sample, slots in zip(SAMPLES, picks(rule), strict=True)
    ]


def accuracy(rule: str) -> float:
    return mean(mean(row) for row in right(rule))


def robust(rule: str) -> float:
    return mean(all(row) for row in right(rule))


def share_of_first_slot(rule: str) -> float:
    counts = Counter(slot for slots in picks(rule) for slot in slots)
    return counts[0] / (4 * N)


def test_perfect_is_right_in_every_order():
    assert (accuracy("perfect"), robust("perfect")) == (1.0, 1.0)


def test_always_a_is_at_chance_and_right_in_no_question_throughout():
    assert (accuracy("always-A"), robust("always-A")) == (0.25, 0.0)


def test_position_biased_picks_the_first_slot_far_too_often_and_loses_by_reordering():
    assert share_of_first_slot("position-biased") > 0.4
    assert accuracy("position-biased") - robust("position-biased") > 0.3


def test_noisy_favours_no_slot_and_is_right_more_often_than_not():
    assert share_of_first_slot("noisy") == pytest.approx(0.25, abs=0.04)
    assert 0.55 < accuracy("noisy") < 0.8
    assert robust("noisy") < accuracy("noisy") - 0.1


def test_without_options_in_view_position_biased_has_nothing_to_lean_to():
    sample = SAMPLES[0]
    seen = RULES["position-biased"].score_options(SeenQuestion(sample, ORDERS[1], "p"), 0)
    unseen = RULES["position-biased"].score_options(SeenQuestion(sample, (), "p"), 0)
    leaning = [one - other for one, other in zip(seen, unseen, strict=True)]
    assert leaning == pytest.approx([0.0, 2.5, 1.0, 0.0])


def test_another_seed_doubts_other_questions():
    assert picks("noisy") == picks("noisy")
    assert picks("noisy") != picks("noisy", seed=1)


def test_refusing_refuses_in_the_language_of_the_question():
    english = SeenQuestion(SAMPLES[0], (0, 1, 2, 3), "p")
    chinese = SeenQuestion(Sample("zh", "谁？", ("甲", "乙"), 0), (0, 1), "p")
    assert RULES["refusing"].write_choice(english, 0).startswith("I am sorry")
    assert RULES["refusing"].write_choice(chinese, 0).startswith("抱歉")


def test_malformed_uses_all_its_forms():
    wordings = {
        RULES["malformed"].write_choice(SeenQuestion(SAMPLES[0], (0, 1, 2, 3), f"prompt {n}"), 1)
        for n in range(200)
    }
    assert len(wordings) == 9
    assert "" in wordings
