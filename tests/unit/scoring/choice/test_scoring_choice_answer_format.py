import math
from typing import Any

import pytest

from evalui.proportions import wilson_interval
from evalui.replies import read_strict, read_tolerant
from evalui.scoring.choice.answer_format import format_metrics
from evalui.scoring.choice.options import reading_of_scores
from evalui.types import Reading, Trial, Variant

CITIES = ("Paris", "London", "Rome", "Berlin")
ORIGIN = Variant((0, 1, 2, 3))


def replied(
    sample_id: str, reply: str, *, variant: Variant = ORIGIN, truncated: bool = False
) -> Trial:
    """A reply to a question whose answer is Paris."""
    options = tuple(CITIES[content] for content in variant.permutation)
    target = variant.permutation.index(0)
    return Trial(
        sample_id,
        variant,
        target,
        "tolerant",
        {
            "tolerant": read_tolerant(reply, options).grade(target),
            "strict": read_strict(reply, options).grade(target),
        },
        reply=reply,
        truncated=truncated,
    )


REPLIES = ("A", "The answer is A.", "1", "B", "no idea", "A. London")
TRIALS = [replied(f"q{i}", reply) for i, reply in enumerate(REPLIES)]


def test_the_gap_is_what_is_right_only_when_read_tolerantly():
    """Tolerant: A, marker and index are right; strict: only "A"."""
    figures = format_metrics(TRIALS)
    assert figures.format_gap == wilson_interval(2, 6)
    assert figures.readings["tolerant"].accuracy == wilson_interval(3, 6)
    assert figures.readings["strict"].accuracy == wilson_interval(1, 6)


def test_what_a_reading_cannot_read_is_counted_for_each_reading():
    figures = format_metrics(TRIALS)
    assert figures.readings["tolerant"].unreadable == wilson_interval(2, 6)
    assert figures.readings["strict"].unreadable == wilson_interval(4, 6)


def test_the_rules_that_fired_are_counted():
    figures = format_metrics(TRIALS)
    assert figures.readings["tolerant"].rules == {
        "strict": 2,
        "marker": 1,
        "index": 1,
        "unparsed": 1,
        "label-text-conflict": 1,
    }
    assert (figures.index_hits, figures.label_text_conflicts) == (1, 1)


def test_orders_of_one_question_are_one_cluster():
    turned = Variant((1, 2, 3, 0))
    trials = [replied(f"q{i}", "A") for i in range(4)]
    trials += [replied(f"q{i}", "D" if i < 2 else "A", variant=turned) for i in range(4)]
    figures = format_metrics(trials)
    assert (figures.n_questions, figures.n_trials) == (4, 8)
    accuracy = figures.readings["tolerant"].accuracy
    assert (accuracy.value, accuracy.n) == (0.75, 4)


def test_cut_prompts_are_counted():
    trials = [replied("q", "A", truncated=True), replied("r", "A"), replied("s", "A")]
    assert format_metrics(trials).truncated == 1


def test_replies_have_no_label_mass():
    assert format_metrics(TRIALS).mass is None


def probable(sample_id: str, logprobs: tuple[float, ...], mass: float) -> Trial:
    return Trial(
        sample_id,
        ORIGIN,
        0,
        "forced",
        {"forced": reading_of_scores(logprobs, 0, "forced")},
        mass=mass,
    )


def test_the_mean_label_mass_and_the_ties_are_told():
    trials = [
        probable("q", (-1.0, -2.0, -3.0, -3.0), 0.9),
        probable("r", (-1.0, -1.0, -3.0, -3.0), 0.2),
    ]
    figures = format_metrics(trials)
    assert figures.mass == pytest.approx(0.55)
    assert figures.readings["forced"].tied == 1
    assert figures.readings["forced"].unreadable.value == 0
    assert figures.readings["forced"].accuracy.value == 0.75


def test_without_both_readings_there_is_no_gap():
    assert format_metrics([probable("q", (-1.0, -2.0, -3.0, -3.0), 0.9)]).format_gap is None


def test_a_tolerant_reading_alone_has_no_gap():
    reading = {"tolerant": Reading(0, 1.0, "letter")}
    assert format_metrics([Trial("q", ORIGIN, 0, "tolerant", reading)]).format_gap is None


def test_merged_seams_are_summed():
    reading = {"raw": Reading(0, 1.0, "raw")}
    trials = [Trial("q", ORIGIN, 0, "raw", reading, merged_boundaries=n) for n in (2, 0, 3)]
    assert format_metrics(trials).merged_boundaries == 5


def test_no_trials_are_a_mistake_of_ours():
    with pytest.raises(AssertionError, match="no trials"):
        format_metrics([])


@pytest.mark.parametrize(
    ("trial", "near"),
    [
        ({"probabilities": (0.30, 0.27, 0.23, 0.20)}, 1),  # ln(0.30 / 0.27) = 0.105
        ({"probabilities": (0.30, 0.26, 0.24, 0.20)}, 0),  # 0.143
        ({"probabilities": (0.30, 0.30, 0.20, 0.20)}, 0),
        ({"probabilities": (1.0, 0.0, 0.0, 0.0)}, 0),
        ({"scores": {"raw": (-9.0, -8.3, -20.0)}}, 1),
        ({"scores": {"raw": (-9.0, -8.1, -20.0)}}, 0),
        ({"scores": {"raw": (-math.inf, -math.inf)}}, 0),
        ({"reply": "A"}, 0),
    ],
)
def test_near_ties_are_decided_by_less_than_bfloat16_may_sway(trial: dict[str, Any], near: int):
    readings = {"raw": Reading(0, 1.0, "raw")}
    assert format_metrics([Trial("q", ORIGIN, 0, "raw", readings, **trial)]).near_ties == near
