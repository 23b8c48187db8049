"""The win rate from many judgements and a few people's votes: judge's errors measured and removed.

A. N. Angelopoulos et al., "Prediction-powered inference" (Science, 2023), with the power tuning of
A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++" (arXiv 2311.01453), for a mean. The people
must have voted on a random part of the items that the judge judged.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.statistics.intervals import clustered_ratio, sums_by_code, t_interval
from evalui.types import Interval


@dataclass(frozen=True, slots=True)
class PredictionPoweredItem:
    """One pair of answers: the points of its first model (1, ½ or 0) by the judge and by people.

    `human` is the mean of their votes, None without any.
    """

    question: str
    judge: float
    human: float | None = None


@dataclass(frozen=True, slots=True)
class PredictionPoweredRate:
    """The win rate of the first model after the judge, after people, and after both.

    `lambda_weight` says how far the judge was trusted (lambda, 0 to 1). `judge` is as wide as
    chance makes it and knows nothing of the judge's errors. Each `n` counts questions; `human` and
    `combined` are None without votes.
    """

    judge: Interval
    human: Interval | None
    combined: Interval | None
    lambda_weight: float


def prediction_powered_win_rate(
    items: Sequence[PredictionPoweredItem],
) -> PredictionPoweredRate | None:
    """The rates of these items; None without any.

    theta = mean(Y) + lambda * (mean of f over all items - mean of f over those voted on), with
    votes Y and judgements f. Standard errors are linearised and clustered by question, with
    t quantiles for the number of questions voted on; lambda makes that error smallest in 0..1.
    """
    if not items:
        return None
    _, question = np.unique([item.question for item in items], return_inverse=True)
    judged = np.array([item.judge for item in items])
    by_judge = _clustered_rate(judged, question)
    voted = np.array([item.human is not None for item in items])
    if not voted.any():
        return PredictionPoweredRate(by_judge, None, None, 0.0)
    people = np.array([item.human for item in items if item.human is not None])
    by_people = _clustered_rate(people, question[voted])
    weight, powered = _prediction_powered_rate(judged, people, voted, question)
    return PredictionPoweredRate(by_judge, by_people, powered if weight else by_people, weight)


def _clustered_rate(points: NDArray[np.float64], question: NDArray[np.intp]) -> Interval:
    _, codes = np.unique(question, return_inverse=True)  # of a part, some questions are not there
    return clustered_ratio(sums_by_code(points, codes), sums_by_code(np.ones(len(points)), codes))


def _prediction_powered_rate(
    judged: NDArray[np.float64],
    people: NDArray[np.float64],
    voted: NDArray[np.bool_],
    question: NDArray[np.intp],
) -> tuple[float, Interval]:
    """Lambda, and the rate it gives."""
    n_voted = len(people)
    judge_part = (judged - judged.mean()) / len(judged)
    judge_part[voted] -= (judged[voted] - judged[voted].mean()) / n_voted
    human_part = np.zeros(len(judged))
    human_part[voted] = (people - people.mean()) / n_voted
    # What each question adds to the error of the rate is mine + lambda * theirs.
    human_error, judge_error = (
        sums_by_code(human_part, question),
        sums_by_code(judge_part, question),
    )
    spread = float((judge_error**2).sum())
    weight = (
        min(1.0, max(0.0, -float((human_error * judge_error).sum()) / spread)) if spread else 0.0
    )
    value = float(people.mean() + weight * (judged.mean() - judged[voted].mean()))
    n = len(np.unique(question[voted]))
    variance = float(((human_error + weight * judge_error) ** 2).sum())
    se = math.sqrt(variance * n / (n - 1)) if n > 1 else None
    return weight, t_interval(min(1.0, max(0.0, value)), se, n)
