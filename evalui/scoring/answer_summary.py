"""The written answers of a cell in figures: text metrics with ranges, counts, and judges' marks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from evalui.proportions import wilson_interval
from evalui.scoring.arena.verdicts import UNWORDED_RULES, rating_cells, retried_trials
from evalui.scoring.cell_trials import CellTrials, score_values
from evalui.scoring.metrics import Figure, compute_figures
from evalui.scoring.scorers import named_metric
from evalui.scoring.statistics.intervals import cluster_codes, mean_intervals
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.scoring.texts.tally import Corpus, TextTally, corpus, median_of, tally_texts
from evalui.scoring.trial_columns import NO_CHOICE, TrialColumns, columns_of
from evalui.types import (
    CRITERION,
    NO_REFERENCE,
    Cell,
    CellResult,
    CellState,
    Interval,
    JudgeOutput,
    is_unfinished,
)

# Times as long as the reference: beyond, F mostly measures how short an answer is.
_MAX_LENGTH_RATIO = 5
_SCALES: Mapping[str, tuple[float, float]] = {"rating": (1.0, 10.0), "correct": (0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class JudgeRating:
    """What one judge gave single answers: the mean on its own scale, and what it left unscored.

    `scale` is "rating" (1..10) or "correct" (0..1). `n` answers were rated; `unscored` more have
    a judgement without a readable mark, and `unreferenced` were not judged for lack of a
    reference. `retried` were prompted once more because the first reply could not be read, and
    `recovered` of them could be read then. `as_text` of the `n` were read off a text, and `output`
    is what the judge gave its marks in. `criteria` has the mean mark of each, where there are some.
    `state` and `error` are those of the judge's cell.
    """

    judge: str
    scale: str
    mean: Interval | None
    n: int
    unscored: int
    state: CellState = "done"
    error: str = ""
    unreferenced: int = 0
    retried: int = 0
    recovered: int = 0
    as_text: int = 0
    output: JudgeOutput = "text"
    criteria: Mapping[str, Interval] = field(default_factory=dict[str, Interval])


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """The figures of one cell of answers.

    `n` of the `questions`, each of which was asked `n_repeats` times, have any of the `replies`;
    `compared` of them have a reference and make the figures; `question_ids` are their ids. `empty`
    and `truncated` count blank replies and those that ran into the length limit. `means` has the
    mean of each text figure in 0..1 with its range over questions, `length` the median length in
    characters (of all turns together; 0 without answers). `compared_length` and `reference_length`
    are the median lengths, in characters, of the texts that were compared and of their references
    (turn by turn where each has its own; 0 without any). `figures` has every registered metric of
    written texts by name, and `leading` is that which all rows name. `containment` is the share of
    the compared answers that hold a reference word for word. `ratings` are given by the cells of
    judges. `clusters` are those of the questions that are no independent evidence.
    """

    cell: Cell
    state: CellState
    error: str
    questions: int
    n: int
    replies: int
    compared: int
    empty: int
    truncated: int
    length: float
    means: Mapping[str, Interval] = field(default_factory=dict[str, Interval])
    corpus: Corpus | None = None
    ratings: tuple[JudgeRating, ...] = ()
    question_ids: frozenset[str] = frozenset()
    compared_length: float = 0.0
    reference_length: float = 0.0
    figures: Mapping[str, Figure] = field(default_factory=dict[str, Figure])
    containment: Interval | None = None
    n_repeats: int = 1
    clusters: Mapping[str, int] = field(default_factory=dict[str, int])
    leading: str = ""


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


def summarise_answers(result: CellResult, tally: TextTally | None = None) -> AnswerSummary:
    """All figures of one cell but its ratings, from the answers that are in.

    `tally` is that of all their texts, where it is known: else every text is read.
    """
    columns = columns_of(result.trials)
    made = (
        CellTrials(columns, result.cell.pattern, result.samples, unfinished=is_unfinished(result))
        if columns
        else None
    )
    tally = tally or tally_texts(columns, result.samples)
    compared = made.compared.question_ids if made else frozenset[str]()
    named = {named_metric(sample) for sample in result.samples.values()}
    return AnswerSummary(
        cell=result.cell,
        state=result.state,
        error=result.error,
        questions=len(result.samples),
        n=len(columns.question_ids),
        replies=len(columns),
        n_repeats=columns.n_repeats,
        compared=len(compared),
        empty=int((columns.reading.choice == NO_CHOICE).sum()),
        truncated=count_rule(columns, "cut"),
        length=median_of(tally.lengths),
        clusters=made.clusters if made else {},
        means=made.text_means if made else {},
        figures=compute_figures(made or (), result.cell.pattern, answers="texts"),
        corpus=corpus(tally.corpus),
        question_ids=compared,
        compared_length=median_of(tally.compared_lengths),
        reference_length=median_of(tally.reference_lengths),
        containment=_containment(tally, compared, made.clusters) if made else None,
        leading=named.pop() if len(named) == 1 else "",
    )


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


def ranking_metric(summaries: Sequence[AnswerSummary]) -> RankingMetric:
    """The figure for one dataset, decided by all its models together.

    The one that the dataset names leads. Else the models' median lengths are taken, and their
    median: each model counts once. Recall leads if the median reference is shorter than a fifth of
    the median answer. Where a mode gives scores of its own and no ROUGE, its first one leads.
    """
    compared = [summary for summary in summaries if summary.means]
    if not compared:
        return RankingMetric(MAIN, 0.0, 0.0)
    if all(summary.leading in summary.means for summary in compared):
        return RankingMetric(compared[0].leading, 0.0, 0.0)
    if not any(MAIN in summary.means for summary in compared):
        return RankingMetric(next(iter(compared[0].means)), 0.0, 0.0)
    reference = float(median(summary.reference_length for summary in compared))
    answer = float(median(summary.compared_length for summary in compared))
    return RankingMetric(
        RECALL if answer > _MAX_LENGTH_RATIO * reference else MAIN, reference, answer
    )


def _ratings_of(result: CellResult, ratings: Sequence[CellResult]) -> tuple[JudgeRating, ...]:
    judged = (one for one in ratings if one.cell.dataset == result.cell.dataset)
    marks = (judge_rating(result.cell.model, one) for one in judged)
    return tuple(one for one in marks if one)


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


def _containment(
    tally: TextTally, questions: frozenset[str], clusters: Mapping[str, int]
) -> Interval | None:
    """The share of the replies that hold a reference.

    Its range is Wilson's over the questions, or their clusters, as if all replies to one agreed:
    the tally does not say which reply holds one.
    """
    if not tally.referenced or not questions:
        return None
    codes = cluster_codes([*questions], clusters)
    units = len(questions) if codes is None else int(codes.max()) + 1
    share = tally.held / tally.referenced
    return replace(wilson_interval(share * units, units), value=share, n=len(questions))


def count_rule(trials: TrialColumns, name: str) -> int:
    """How many trials were read by a rule."""
    codes = [code for code, rule in enumerate(trials.rules) if rule == name]
    return int(np.isin(trials.reading.rule, codes).sum())
