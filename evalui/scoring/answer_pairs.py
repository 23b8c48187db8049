"""Written answers of several models compared: the figure that ranks them, and every pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from evalui.scoring.answer_summary import AnswerSummary
from evalui.scoring.cell_trials import question_clusters, scores_by_question
from evalui.scoring.statistics.paired_tests import holm, paired_t_test
from evalui.types import CellResult

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


def compare_answers(results: Sequence[CellResult], figure: str) -> tuple[AnswerPair, ...]:
    """Every two models of each dataset compared in one text figure, on the questions both have.

    By the paired t test of question means.
    """
    return tuple(pair for group in answer_groups(results) for pair in _pairs(group, figure))


def answer_groups(results: Sequence[CellResult]) -> list[list[CellResult]]:
    """The cells of written answers that are compared with each other, in the order of the run."""
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for result in results:
        if result.cell.gives == "answers":
            groups.setdefault((result.cell.dataset, result.cell.label), []).append(result)
    return list(groups.values())


def _pairs(group: Sequence[CellResult], figure: str) -> Iterator[AnswerPair]:
    values = {result.cell: scores_by_question(result.trials, figure) for result in group}
    clusters = question_clusters(group[0].samples)
    compared = [
        (first, second, tested)
        for first, second in combinations(values, 2)
        if (tested := paired_t_test(values[first], values[second], clusters))
    ]
    adjusted = holm([tested.p for *_, tested in compared])
    for (first, second, made), p in zip(compared, adjusted, strict=True):
        yield AnswerPair(
            first=first.model,
            second=second.model,
            figure=figure,
            value=made.difference,
            low=made.low,
            high=made.high,
            p=p,
            n=made.n,
            dataset=first.dataset,
            signature=f"{first.signature} + {second.signature}",
        )
