import math
from typing import Any

import pytest

from evalui.proportions import wilson_interval
from evalui.replies import read_strict, read_tolerant
from evalui.scoring.choice.answer_format import (
    DecisionCounts,
    decision_counts,
    format_metrics,
)
from evalui.scoring.choice.decisions import read_decision
from evalui.scoring.choice.options import reading_of_scores
from evalui.types import Decision, Reading, Trial, Variant

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


# ---------------------------------------------------------------- decisions


def decided(name: str, decision: Decision, *, target: int = 0) -> Trial:
    """A decision between two options as the mode grades it."""
    read = read_decision(decision, ("A", "B"), target)
    return Trial(
        name,
        Variant((0, 1)),
        target,
        "forced",
        read.readings,
        probabilities=read.probabilities,
        mass=read.mass,
        truncated=decision.truncated,
    )


def test_what_decisions_hold_is_counted():
    """Two refuse, one of them with numbers; one lacks some, one has no sum, two tie."""
    given = [
        Decision((0.75, 0.25), 0),
        Decision((), None, refused=True),
        Decision((0.5, 0.5), None, refused=True),
        Decision((), 1),
        Decision((0.75, 0.75), 0),
        Decision((0.5, 0.5), 1, truncated=True),
        Decision((0.25, 0.75), 0),
        Decision((0.25, 0.5), 0),
    ]
    found = decision_counts([decided(f"q{n}", each) for n, each in enumerate(given)])
    assert found == DecisionCounts(
        n=8, refused=2, missing=1, no_sum=2, tied=3, rounded=2, truncated=1, disagreeing=2
    )


def test_a_tie_agrees_with_either_option_and_with_no_third():
    read = read_decision(Decision((0.4, 0.4, 0.2), 2), ("A", "B", "C"), 0)
    one = Trial("q", Variant((0, 1, 2)), 0, "forced", read.readings, read.probabilities, read.mass)
    assert decision_counts([one]).disagreeing == 1
    assert decision_counts([decided("q", Decision((0.5, 0.5), 1))]).disagreeing == 0


@pytest.mark.parametrize(
    ("given", "decimals"),
    [((1.0, 0.0), 0), ((0.9, 0.1), 1), ((0.67, 0.34), 2), ((0.33333, 0.66667), None), ((), None)],
)
def test_probabilities_are_rounded_as_they_were_given(
    given: tuple[float, ...], decimals: int | None
):
    """Those that sum to 1.01 are scored as shares of it, and were given with two decimals."""
    whole, found = Decision((1.0, 0.0), 0), Decision(given, 0)
    assert decision_counts([decided("q", found), decided("r", found)]).rounded == decimals
    mixed = decision_counts([decided("q", found), decided("r", whole)]).rounded
    assert mixed == (decimals if given else 0)
