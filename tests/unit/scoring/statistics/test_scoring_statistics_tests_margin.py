"""Worse by more than is allowed: yes, no, or too few questions to tell."""

import numpy as np
import pytest
from scipy import stats

from evalui.scoring.statistics.tests import compare_with_margin


def values(*right: int, n: int = 0) -> dict[str, float]:
    return {f"q{place}": float(each) for place, each in enumerate(right or (1,) * n)}


def drawn(n: int, gain: int, loss: int) -> tuple[dict[str, float], dict[str, float]]:
    """n questions, of which the candidate alone has `gain` right and the baseline alone `loss`."""
    baseline = [1] * loss + [0] * gain + [1] * (n - gain - loss)
    candidate = [0] * loss + [1] * gain + [1] * (n - gain - loss)
    return values(*baseline), values(*candidate)


def test_the_range_is_that_of_scipys_paired_t_test():
    baseline, candidate = drawn(200, gain=10, loss=25)
    found = compare_with_margin(baseline, candidate, 0.02)
    assert found
    expected = stats.ttest_rel(list(candidate.values()), list(baseline.values()))
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.difference == pytest.approx(-0.075)


@pytest.mark.parametrize(
    ("gain", "loss", "margin", "decision"),
    [
        (20, 20, 0.05, "pass"),  # -1.2 to 1.2 points
        (0, 300, 0.05, "worse"),
        (40, 90, 0.05, "undecided"),
        (90, 40, 0.0, "pass"),  # better, with nothing allowed
        (20, 20, 0.0, "undecided"),
    ],
)
def test_a_decision_needs_the_whole_range_on_one_side(
    gain: int, loss: int, margin: float, decision: str
):
    found = compare_with_margin(*drawn(1000, gain, loss), margin)
    assert found
    assert found.decision == decision


def test_ten_equal_answers_do_not_say_that_all_are_equal():
    few = compare_with_margin(values(n=10), values(n=10), 0.02)
    assert few
    assert (few.decision, few.needed) == ("undecided", 189)
    for n, decision in ((188, "undecided"), (189, "pass")):
        found = compare_with_margin(values(n=n), values(n=n), 0.02)
        assert found
        assert found.decision == decision


def test_as_many_questions_as_are_named_mostly_decide():
    baseline, candidate = drawn(100, gain=5, loss=12)
    found = compare_with_margin(baseline, candidate, 0.01)
    assert found
    assert found.decision == "undecided"
    assert found.needed
    rng = np.random.default_rng(1)
    differences = np.array([candidate[name] - baseline[name] for name in baseline])
    decided = 0
    for _ in range(200):
        sample = rng.choice(differences, found.needed)
        numbered = {f"q{place}": value for place, value in enumerate(sample.tolist())}
        again = compare_with_margin(dict.fromkeys(numbered, 0.0), numbered, 0.01)
        assert again
        decided += again.decision == "worse"
    assert 0.7 < decided / 200 < 0.9  # power 80 %


def test_a_difference_that_is_the_margin_is_never_decided():
    found = compare_with_margin(*drawn(100, gain=5, loss=10), 0.05)
    assert found
    assert (found.decision, found.needed) == ("undecided", None)


def test_without_a_shared_question_there_is_no_test():
    assert compare_with_margin({"a": 1.0}, {"b": 1.0}, 0.0) is None
