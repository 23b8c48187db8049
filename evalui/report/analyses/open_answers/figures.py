"""The written answers of a run in figures: those of each cell with its ratings, and its pairs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evalui.messages import localized
from evalui.modes.judge_outputs import CRITERION
from evalui.report.numbers import count
from evalui.scoring.answer_summary import (
    AnswerSummary,
    JudgeRating,
    RankingMetric,
    count_rule,
    summarise_answers,
)
from evalui.scoring.arena.verdicts import UNWORDED_RULES, rating_cells, retried_trials
from evalui.scoring.cell_trials import score_values
from evalui.scoring.statistics.intervals import mean_intervals
from evalui.scoring.texts.metrics import RECALL
from evalui.scoring.trial_columns import TrialColumns, columns_of
from evalui.types import NO_REFERENCE, CellResult, Interval, Language

_SCALES: Mapping[str, tuple[float, float]] = {"rating": (1.0, 10.0), "correct": (0.0, 1.0)}


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
        if result.cell.gives == "answers"
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
    rated, marks = score_values(trials, scale)
    unreferenced = count_rule(trials, NO_REFERENCE)
    again = retried_trials(trials)
    return JudgeRating(
        judge=judged.cell.model,
        scale=scale,
        mean=_mean_rating(marks, scale),
        n=len(marks),
        unscored=len(trials) - len(marks) - unreferenced,
        state=judged.state,
        error=judged.error,
        unreferenced=unreferenced,
        retried=int(again.sum()),
        recovered=int(again[rated].sum()),
        as_text=len(marks) - sum(count_rule(trials, rule) for rule in UNWORDED_RULES),
        output=judged.output,
        criteria=_criteria(trials),
    )


def _criteria(trials: TrialColumns) -> dict[str, Interval]:
    """The mean mark of each criterion, in the order of the rubric."""
    means: dict[str, Interval] = {}
    for name in trials.scores:
        if name.startswith(CRITERION):
            _, marks = score_values(trials, name)
            if mean := _mean_rating(marks, "rating"):
                means[name.removeprefix(CRITERION)] = mean
    return means


def _first_scale(trials: TrialColumns) -> str:
    """The scale of the first judgement that has a mark; "rating" without any."""
    first = {name: rows[0] for name in _SCALES if len(rows := score_values(trials, name)[0])}
    return min(first, key=first.__getitem__, default="rating")


def _mean_rating(marks: NDArray[np.float64], scale: str) -> Interval | None:
    if not len(marks):
        return None
    low, high = _SCALES[scale]
    (share,) = mean_intervals((marks[:, None] - low) / (high - low))
    bounds = (low + (high - low) * each for each in (share.value, share.low, share.high))
    return Interval(*bounds, n=share.n)


def recall_reason(metric: RankingMetric, language: Language) -> str:
    """Why recall leads; "" where it does not."""
    if metric.figure != RECALL:
        return ""
    reference, answer = (round(each) for each in (metric.reference_length, metric.answer_length))
    return localized("brief", language, reference=count(reference), answer=count(answer))
