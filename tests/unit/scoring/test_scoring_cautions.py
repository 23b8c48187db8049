from typing import Any

import pytest

from evalui.scoring.cautions import CautionEvidence, cautions
from evalui.types import Interval


def part(value: float, n: int = 200, half: float = 0.05) -> Interval:
    return Interval(value, max(0, value - half), min(1, value + half), n)


ACCURACY = {"accuracy": part(0.6, half=0.03)}

FIRES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("too-few", {"n": 29}, {"n": 30}),
    ("exploratory", {"n": 99}, {"n": 100}),
    ("exploratory", {"n": 30}, {"n": 29}),
    ("guessing", {"origin": part(0.29), "chance": 0.25}, {"origin": part(0.31), "chance": 0.25}),
    ("guessing", {"origin": part(0.5), "chance": 0.45}, {"origin": part(0.5), "chance": 0.44}),
    ("unreadable", {"unreadable": part(0.021)}, {"unreadable": part(0.02)}),
    (
        "unreadable",
        {"unreadable": part(0.016)} | ACCURACY,
        {"unreadable": part(0.014)} | ACCURACY,
    ),
    ("unreadable-many", {"unreadable": part(0.101)}, {"unreadable": part(0.10)}),
    ("format-gap", {"format_gap": 0.051}, {"format_gap": 0.05}),
    ("index-hits", {"index_hits": 0.051}, {"index_hits": 0.05}),
    ("mass", {"mass": 0.89}, {"mass": 0.9}),
    ("mass-low", {"mass": 0.49}, {"mass": 0.5}),
    ("ties", {"tied": 0.011}, {"tied": 0.01}),
    ("ties", {"tied": 0.001, "top_k": True}, {"tied": 0.0, "top_k": True}),
    ("incomplete", {"incomplete": 1}, {"incomplete": 0}),
    ("naming", {"refers_to_other_options": 1}, {"refers_to_other_options": 0}),
    ("duplicate-options", {"duplicates": 1}, {"duplicates": 0}),
    (
        "unbalanced",
        {"gold_counts": (26, 24, 25, 25), "gold_p": 0.009},
        {"gold_counts": (26, 24, 25, 25), "gold_p": 0.01},
    ),
    ("unbalanced", {"gold_counts": (41, 20, 20, 19)}, {"gold_counts": (40, 20, 20, 20)}),
    ("unbalanced", {"gold_counts": (66, 34)}, {"gold_counts": (60, 40)}),
    ("unbalanced", {"gold_counts": (49, 26, 25)}, {"gold_counts": (45, 28, 27)}),
    (
        "choices-only",
        {"choices_only": (40, 100), "chance": 0.25},
        {"choices_only": (30, 100), "chance": 0.25},
    ),
    (
        "choices-only",
        {"choices_only": (40, 100), "chance": 0.25, "gold_counts": (30, 30, 30, 30)},
        {"choices_only": (40, 100), "chance": 0.25, "gold_counts": (40, 20, 20, 20)},
    ),
    (
        "debiasing-hurts",
        {"rstd_plain": 2.1, "rstd_debiased": 5.3},
        {"rstd_plain": 5.3, "rstd_debiased": 2.1},
    ),
    ("flips", {"flips": part(0.11)}, {"flips": part(0.10)}),
    ("flips", {"flips": part(0.21, n=29)}, {"flips": part(0.21, n=30)}),
    ("flips-many", {"flips": part(0.21, n=30)}, {"flips": part(0.20, n=30)}),
    ("single-order", {"single_order": True}, {"single_order": False}),
    ("judge-unreadable", {"judge_unreadable": 0.021}, {"judge_unreadable": 0.02}),
    ("not-comparable:rule, shots", {"incompatibilities": "rule, shots"}, {"incompatibilities": ""}),
]


@pytest.mark.parametrize(("rule", "above", "below"), FIRES)
def test_a_caution_fires_beyond_its_threshold_and_not_before(
    rule: str, above: dict[str, Any], below: dict[str, Any]
):
    assert rule in [caution.rule for caution in cautions(CautionEvidence(**{"n": 500} | above))]
    assert rule not in [caution.rule for caution in cautions(CautionEvidence(**{"n": 500} | below))]


def test_what_was_not_measured_fires_nothing():
    assert cautions(CautionEvidence(n=500)) == ()


def test_nothing_right_without_the_question_is_no_leak():
    assert cautions(CautionEvidence(n=500, chance=0.25, choices_only=(0, 100))) == ()


def test_unreadable_replies_come_with_the_bounds_of_the_accuracy():
    (found,) = cautions(CautionEvidence(n=500, unreadable=part(0.05), accuracy=part(0.6)))
    assert found.values == pytest.approx((0.05, 0.6, 0.65))


def test_every_rule_fires_once_and_in_one_order():
    everything = CautionEvidence(
        n=20,
        chance=0.25,
        origin=part(0.25),
        unreadable=part(0.2),
        format_gap=0.2,
        index_hits=0.2,
        mass=0.3,
        tied=0.2,
        incomplete=1,
        refers_to_other_options=1,
        duplicates=1,
        gold_counts=(100, 0, 0, 0),
        choices_only=(100, 100),
        flips=part(0.5),
        judge_unreadable=0.1,
        single_order=True,
        rstd_plain=1,
        rstd_debiased=2,
        incompatibilities="n",
    )
    rules = [caution.rule for caution in cautions(everything)]
    assert "choices-only" not in rules, "always A is right as often"
    assert len(rules) == len(set(rules)) == 16
    assert rules[:2] == ["not-comparable:n", "too-few"]
