"""Which text figure written answers are ranked by: ROUGE-L's F, or its recall."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from evalui.messages import localized
from evalui.report.analyses.open_answers.figures import AnswerSummary
from evalui.report.numbers import count
from evalui.types import Language

MAIN = "rouge-l-f"
RECALL = "rouge-l-r"  # EvalScope's main score; ROUGE-1's recall ignores the order of words
_MAX_LENGTH_RATIO = (
    5  # times as long as the reference: beyond, F mostly measures how short an answer is
)


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
    reference = round(metric.reference_length)
    key = "brief-one" if reference == 1 else "brief"
    return localized(
        key, language, reference=count(reference), answer=count(round(metric.answer_length))
    )
