"""The written answers of one cell in figures: text metrics with their ranges, and counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np

from evalui.proportions import wilson_interval
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.metrics import Figure, compute_figures
from evalui.scoring.statistics.intervals import cluster_codes
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.scoring.texts.tally import Corpus, TextTally, corpus, median_of, tally_texts
from evalui.scoring.trial_columns import NO_CHOICE, TrialColumns, columns_of
from evalui.types import Cell, CellResult, CellState, Interval, JudgeOutput, is_unfinished

# Times as long as the reference: beyond, F mostly measures how short an answer is.
_MAX_LENGTH_RATIO = 5


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
    written texts by name. `containment` is the share of the compared answers that hold a reference
    word for word. `ratings` are given by the cells of judges. `clusters` are those of the questions
    that are no independent evidence.
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
    )


def ranking_metric(summaries: Sequence[AnswerSummary]) -> RankingMetric:
    """The figure for one dataset, decided by all its models together.

    The models' median lengths are taken, and their median: each model counts once. Recall leads
    if the median reference is shorter than a fifth of the median answer. Where a mode gives scores
    of its own and no ROUGE, its first one leads.
    """
    compared = [summary for summary in summaries if summary.means]
    if not compared:
        return RankingMetric(MAIN, 0.0, 0.0)
    if not any(MAIN in summary.means for summary in compared):
        return RankingMetric(next(iter(compared[0].means)), 0.0, 0.0)
    reference = float(median(summary.reference_length for summary in compared))
    answer = float(median(summary.compared_length for summary in compared))
    return RankingMetric(
        RECALL if answer > _MAX_LENGTH_RATIO * reference else MAIN, reference, answer
    )


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
