"""Is a candidate worse than its baseline by more than is allowed, on the same questions?

The question of a gate. It has three answers: no, yes, and that the questions are too few to tell.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalui.proportions import wilson_interval
from evalui.scoring.statistics.paired_tests import paired_t_test, questions_needed

Decision = Literal["pass", "worse", "undecided"]


@dataclass(frozen=True, slots=True)
class MarginTest:
    """The mean of candidate - baseline over `n` questions with its 95 % range, against -`margin`.

    "pass" where the whole range is at or above -margin, "worse" where it is below. `needed` is the
    number of questions with which a difference such as this one is decided (power 80 %), None where
    no number is enough: the difference is that margin. Differences and margin are in the unit of
    the values.
    """

    decision: Decision
    difference: float
    low: float
    high: float
    margin: float
    n: int
    needed: int | None


def compare_with_margin(
    baseline: Mapping[str, float],
    candidate: Mapping[str, float],
    margin: float,
    clusters: Mapping[str, int] | None = None,
) -> MarginTest | None:
    """Compare the values of the questions that both have, by id; None if there is none.

    The range is that of `paired_t_test`: ten equal answers do not say that all are equal.
    `clusters` are those of `cluster_codes`.
    """
    tested = paired_t_test(candidate, baseline, clusters)
    if tested is None:
        return None
    value, low, high, n = tested.difference, tested.low, tested.high, tested.n
    distance = abs(value + margin)
    if not tested.omega:
        needed = _needed_alike(value, margin)
    else:
        needed = questions_needed(tested.omega, distance) if distance > 1e-12 else None
    decision: Decision = "pass" if low >= -margin else "worse" if high < -margin else "undecided"
    if needed is not None:
        needed = max(needed, n + 1) if decision == "undecided" else needed
    return MarginTest(decision, value, low, high, margin, n, needed)


def _needed_alike(value: float, margin: float) -> int | None:
    """With how many questions of this same difference the range is on one side of the margin."""
    # z² of Wilson's interval of n in n, n / (n + z²), from one question.
    z_squared = 1 / wilson_interval(1, 1).low - 1
    passes = value >= -margin
    share = (1 - margin) / (1 + value) if passes else (1 + margin) / (1 - value)
    if not share < 1:
        return None
    return max(2, math.ceil(z_squared * share / (1 - share)))
