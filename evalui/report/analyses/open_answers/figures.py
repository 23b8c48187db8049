"""The written answers of one cell in figures: text metrics with their ranges, counts, ratings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, zip_longest
from statistics import median

import numpy as np
from numpy.typing import NDArray

from evalui.messages import localized
from evalui.proportions import wilson_interval
from evalui.report.numbers import count
from evalui.scoring.cell_trials import (
    CellTrials,
    score_values,
    scores_by_question,
)
from evalui.scoring.metrics import Figure, compute_figures
from evalui.scoring.statistics.intervals import mean_intervals
from evalui.scoring.statistics.paired_tests import holm
from evalui.scoring.statistics.paired_tests import paired_bootstrap as compare
from evalui.scoring.text_metrics import contains_chinese
from evalui.scoring.trial_columns import NO_CHOICE, TrialColumns, columns_of
from evalui.types import (
    NO_REFERENCE,
    Cell,
    CellResult,
    CellState,
    Interval,
    Language,
    Sample,
    Trial,
)

ANSWERS = "question_answer"  # the mode whose cells hold written answers
JUDGE = "judge"  # the mode whose cells hold a judge's verdicts on them
_SCALES: Mapping[str, tuple[float, float]] = {"rating": (1.0, 10.0), "correct": (0.0, 1.0)}
MAIN = "rouge-l-f"
RECALL = "rouge-l-r"  # EvalScope's main score; ROUGE-1's recall ignores the order of words
# Times as long as the reference: beyond, F mostly measures how short an answer is.
_MAX_LENGTH_RATIO = 5


@dataclass(frozen=True, slots=True)
class JudgeRating:
    """What one judge gave single answers: the mean on its own scale, and what it left unscored.

    `scale` is "rating" (1..10) or "correct" (0..1). `n` answers were rated; `unscored` more have
    a judgement without a readable mark, and `unreferenced` were not judged for lack of a
    reference. `state` and `error` are those of the judge's cell.
    """

    judge: str
    scale: str
    mean: Interval | None
    n: int
    unscored: int
    state: CellState = "done"
    error: str = ""
    unreferenced: int = 0


@dataclass(frozen=True, slots=True)
class Corpus:
    """sacreBLEU's corpus figures, 0..100, with the signatures of their settings."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """The figures of one cell of answers.

    `n` answers are in of `questions`; `compared` of them have a reference and make the figures;
    `question_ids` are the ids of their questions.
    `empty` and `truncated` count blank replies and those that ran into the length limit. `means`
    has the mean of each text figure in 0..1 with its range over questions, `length` the median
    length in characters (of all turns together; 0 without answers). `compared_length` and
    `reference_length` are the median lengths, in characters, of the texts that were compared and of
    their references (turn by turn where each has its own; 0 without any). `figures` has every
    registered metric of written texts by name. `containment` is the share of the compared
    answers that hold a reference word for word.
    """

    cell: Cell
    state: CellState
    error: str
    questions: int
    n: int
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


def answers(results: Sequence[CellResult]) -> tuple[AnswerSummary, ...]:
    """The figures of every cell of answers in a run, with what its judges of single answers say."""
    ratings = rating_cells(results)
    return tuple(
        summarise_answers(
            result, judged=[one for one in ratings if one.cell.dataset == result.cell.dataset]
        )
        for result in results
        if result.cell.mode == ANSWERS
    )


def rating_cells(results: Sequence[CellResult]) -> tuple[CellResult, ...]:
    """The cells of judges who are shown one answer at a time.

    Only a judgement shows how many are shown. The judges of a run are all prompted alike, so
    one that has given none counts as the others do, and as shown two if none has any.
    """
    judged = [result for result in results if result.cell.mode == JUDGE]
    shown = [int(columns_of(one.trials).n_options[0]) if one.trials else 0 for one in judged]
    alike = 1 if 1 in shown and 2 not in shown else 2
    return tuple(one for one, n in zip(judged, shown, strict=True) if (n or alike) == 1)


def summarise_answers(result: CellResult, judged: Sequence[CellResult] = ()) -> AnswerSummary:
    """All figures of one cell, from the answers that are in; `judged` are cells of ratings."""
    columns = columns_of(result.trials)
    made = CellTrials(columns, result.cell.pattern) if columns else None
    trials = list(columns)  # their texts are read once
    segments = [pair for trial in trials for pair in _segments(trial, result.samples)]
    marks = (judge_rating(result.cell.model, one) for one in judged)
    return AnswerSummary(
        cell=result.cell,
        state=result.state,
        error=result.error,
        questions=len(result.samples),
        n=len(trials),
        compared=len(made.compared) if made else 0,
        empty=int((columns.reading.choice == NO_CHOICE).sum()),
        truncated=_count_rule(columns, "cut"),
        length=_median(list(map(_length, trials))),
        means=made.text_means if made else {},
        figures=compute_figures(made or (), result.cell.pattern, answers="texts"),
        corpus=corpus([reply for reply, _ in segments], [each for _, each in segments]),
        ratings=tuple(one for one in marks if one),
        question_ids=frozenset(_question_ids(made.compared)) if made else frozenset(),
        compared_length=_median([len(reply) for reply, own in segments if own]),
        reference_length=_median([_median(list(map(len, own))) for _, own in segments if own]),
        containment=_containment(trials, result.samples),
    )


def _question_ids(columns: TrialColumns) -> Iterator[str]:
    codes: list[int] = np.unique(columns.sample).tolist()
    return (columns.ids[code] for code in codes)


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
    unreferenced = _count_rule(trials, NO_REFERENCE)
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


def _count_rule(trials: TrialColumns, name: str) -> int:
    """How many trials were read by a rule."""
    codes = [code for code, rule in enumerate(trials.rules) if rule == name]
    return int(np.isin(trials.reading.rule, codes).sum())


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


def _segments(trial: Trial, samples: Mapping[str, Sample]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is compared with which references: turn by turn where each turn has its own."""
    references = samples[trial.sample_id].references
    if len(trial.turns) != len(references) or not trial.turns:
        yield trial.reply or "", references
        return
    for turn, reference in zip(trial.turns, references, strict=True):
        yield turn, (reference,)


def _containment(trials: Sequence[Trial], samples: Mapping[str, Sample]) -> Interval | None:
    """The share of answers with a reference that hold one in each turn, without case and blanks."""
    held = [
        all(any(_letters(text) in _letters(reply) for text in own) for reply, own in segments)
        for trial in trials
        if (segments := [pair for pair in _segments(trial, samples) if any(map(_letters, pair[1]))])
    ]
    return wilson_interval(sum(held), len(held)) if held else None


def _letters(text: str) -> str:
    return "".join(text.casefold().split())


def _median(lengths: Sequence[float]) -> float:
    return float(median(lengths)) if lengths else 0.0


def _length(trial: Trial) -> int:
    return sum(map(len, trial.answers))


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


# ---------------------------------------------------------------- figures of the whole corpus


def corpus(replies: Sequence[str], references: Sequence[Sequence[str]]) -> Corpus | None:
    """The figures of the replies whose question has a reference, None if there is no such reply.

    Chinese has no blanks between words: where most references are Chinese, BLEU counts
    characters (sacreBLEU's tokenizer "zh"), else words ("13a"). A blank reply stays in.
    """
    kept = [pair for pair in zip(replies, references, strict=True) if pair[1]]
    if not kept:
        return None
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    bleu, chrf = BLEU(tokenize=_tokenizer([several[0] for _, several in kept])), CHRF()
    written = [reply for reply, _ in kept]
    # One stream per place; a question with fewer references has None in the later ones.
    streams = list(zip_longest(*(several for _, several in kept)))
    return Corpus(
        bleu.corpus_score(written, streams).score,
        str(bleu.get_signature()),
        chrf.corpus_score(written, streams).score,
        str(chrf.get_signature()),
    )


def _tokenizer(references: Sequence[str]) -> str:
    chinese = sum(map(contains_chinese, references))
    return "zh" if 2 * chinese > len(references) else "13a"
