"""The written answers of a run in figures: those of each cell with its ratings, and its pairs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median

import numpy as np
from numpy.typing import NDArray

from evalui.messages import localized
from evalui.report.numbers import count
from evalui.scoring.answer_summary import (
    AnswerSummary,
    JudgeRating,
    count_rule,
    summarise_answers,
)
from evalui.scoring.arena.verdicts import rating_cells
from evalui.scoring.cell_trials import score_values, scores_by_question
from evalui.scoring.statistics.intervals import mean_intervals
from evalui.scoring.statistics.paired_tests import holm
from evalui.scoring.statistics.paired_tests import paired_bootstrap as compare
from evalui.scoring.trial_columns import TrialColumns, columns_of
from evalui.types import NO_REFERENCE, CellResult, Interval, Language

ANSWERS = "question_answer"  # the mode whose cells hold written answers
_SCALES: Mapping[str, tuple[float, float]] = {"rating": (1.0, 10.0), "correct": (0.0, 1.0)}
MAIN = "rouge-l-f"
RECALL = "rouge-l-r"  # EvalScope's main score; ROUGE-1's recall ignores the order of words
# Times as long as the reference: beyond, F mostly measures how short an answer is.
_MAX_LENGTH_RATIO = 5


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """How far the mean of `figure` of one model lies above that of another, in 0..1.

    `low` to `high` is the 95 % range over the `n` questions both have, `p` is adjusted for the
    number of pairs of the dataset (Holm).
    """

    first: str
    second: str
    figure: str
    value: float
    low: float
    high: float
    p: float
    n: int
    dataset: str = ""
    signature: str = ""


def answers(
    results: Sequence[CellResult],
    summary_of: Callable[[CellResult], AnswerSummary] = summarise_answers,
) -> tuple[AnswerSummary, ...]:
    """The figures of every cell of answers in a run, with what its judges of single answers say.

    `summary_of` may know what is kept of a cell.
    """
    ratings = rating_cells(results)
    return tuple(
        replace(summary_of(result), ratings=_ratings_of(result, ratings))
        for result in results
        if result.cell.mode == ANSWERS
    )


def _ratings_of(result: CellResult, ratings: Sequence[CellResult]) -> tuple[JudgeRating, ...]:
    judged = (one for one in ratings if one.cell.dataset == result.cell.dataset)
    marks = (judge_rating(result.cell.model, one) for one in judged)
    return tuple(one for one in marks if one)


def judge_rating(model: str, judged: CellResult) -> JudgeRating | None:
    """What a judge of single answers gave one model, None if it saw none of its answers."""
    own = {place for place, one in enumerate(judged.contestants) if one.name == model}
    if judged.trials and not own:
        return None
    columns = columns_of(judged.trials)
    seen = [not own.isdisjoint(order.permutation[:1]) for order in columns.orders]
    trials = columns.take(np.array(seen, dtype=np.bool_)[columns.order])
    # A judge that has given no mark yet is taken to use the usual scale.
    scale = _first_scale(trials)
    _, marks = score_values(trials, scale)
    unreferenced = count_rule(trials, NO_REFERENCE)
    return JudgeRating(
        judge=judged.cell.model,
        scale=scale,
        mean=_mean_rating(marks, scale),
        n=len(marks),
        unscored=len(trials) - len(marks) - unreferenced,
        state=judged.state,
        error=judged.error,
        unreferenced=unreferenced,
    )


def _first_scale(trials: TrialColumns) -> str:
    """The scale of the first judgement that has a mark; "rating" without any."""
    first = {name: rows[0] for name in _SCALES if len(rows := score_values(trials, name)[0])}
    return min(first, key=first.__getitem__, default="rating")


def compare_answers(results: Sequence[CellResult], figure: str) -> tuple[AnswerPair, ...]:
    """Every two models of each dataset compared in one text figure, on the questions both have.

    The range resamples questions, the p-value is that of a sign-flip test, see
    `paired_tests.paired_bootstrap`.
    """
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for result in results:
        if result.cell.mode == ANSWERS:
            groups.setdefault((result.cell.dataset, result.cell.label), []).append(result)
    return tuple(pair for group in groups.values() for pair in _pairs(group, figure))


def _pairs(group: Sequence[CellResult], figure: str) -> Iterator[AnswerPair]:
    values = {result.cell: scores_by_question(result.trials, figure) for result in group}
    compared = [
        (first, second, difference)
        for first, second in combinations(values, 2)
        if (difference := compare(values[first], values[second]))
    ]
    adjusted = holm([difference.p for *_, difference in compared])
    for (first, second, made), p in zip(compared, adjusted, strict=True):
        yield AnswerPair(
            first=first.model,
            second=second.model,
            figure=figure,
            value=made.value,
            low=made.low,
            high=made.high,
            p=p,
            n=made.n,
            dataset=first.dataset,
            signature=f"{first.signature} + {second.signature}",
        )


def _mean_rating(marks: NDArray[np.float64], scale: str) -> Interval | None:
    if not len(marks):
        return None
    low, high = _SCALES[scale]
    (share,) = mean_intervals((marks[:, None] - low) / (high - low))
    bounds = (low + (high - low) * each for each in (share.value, share.low, share.high))
    return Interval(*bounds, n=share.n)


# ---------------------------------------------------------------- the figure that ranks the answers


@dataclass(frozen=True, slots=True)
class RankingMetric:
    """The figure that leads, and the median lengths in characters that decided it.

    F is the harmonic mean of precision and recall. An answer of m words that holds all n words of
    its reference has the precision n / m, so that beyond five times the length F stays under 1/3
    for every right answer and ranks the models by their brevity.
    """

    figure: str
    reference_length: float
    answer_length: float


def ranking_metric(summaries: Sequence[AnswerSummary]) -> RankingMetric:
    """The figure for one dataset, decided by all its models together.

    The models' median lengths are taken, and their median: each model counts once. Recall leads
    if the median reference is shorter than a fifth of the median answer.
    """
    compared = [summary for summary in summaries if summary.means]
    if not compared:
        return RankingMetric(MAIN, 0.0, 0.0)
    reference = float(median(summary.reference_length for summary in compared))
    answer = float(median(summary.compared_length for summary in compared))
    return RankingMetric(
        RECALL if answer > _MAX_LENGTH_RATIO * reference else MAIN, reference, answer
    )


def recall_reason(metric: RankingMetric, language: Language) -> str:
    """Why recall leads; "" where it does not."""
    if metric.figure != RECALL:
        return ""
    reference, answer = (round(each) for each in (metric.reference_length, metric.answer_length))
    return localized("brief", language, reference=count(reference), answer=count(answer))
