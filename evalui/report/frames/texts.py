"""The frames of written answers: their text figures, and the marks that judges gave them."""

from collections.abc import Iterable, Iterator

from evalui.report.frames.base import Columns, FrameColumn, Row, interval, ranged
from evalui.report.frames.choices import (
    CELL,
    ERROR,
    SIGNATURE,
    STATE,
    cell_names,
    figure_columns,
)
from evalui.scoring.answer_summary import AnswerSummary, JudgeRating
from evalui.scoring.metrics import metrics_of_texts
from evalui.types import Interval

ANSWERS: Columns = {
    **CELL,
    "state": STATE,
    "questions": FrameColumn("Int64", "questions of the dataset"),
    "n": FrameColumn("Int64", "questions with a reply"),
    "replies": FrameColumn("Int64", "replies"),
    "compared": FrameColumn("Int64", "questions with a reply and a reference"),
    "empty": FrameColumn("Int64", "blank replies"),
    "cut": FrameColumn("Int64", "replies that ran into the limit of length"),
    "median_length": FrameColumn("float64", "median length of a reply, in characters"),
    "corpus_bleu": FrameColumn("float64", "sacreBLEU's BLEU of all replies together"),
    "corpus_bleu_signature": FrameColumn("category", "how sacreBLEU made it"),
    "corpus_chrf": FrameColumn("float64", "its chrF"),
    "corpus_chrf_signature": FrameColumn("category", "how it made that"),
    "error": ERROR,
    "signature": SIGNATURE,
}
MARKS: Columns = {
    **CELL,
    "judge": FrameColumn("category", "who gave the marks"),
    "criterion": FrameColumn("category", "what was marked; empty for the answer as a whole"),
    "scale": FrameColumn("category", "rating (1 to 10, or as the rubric has it), correct (0 to 1)"),
    **ranged("mark", "mean mark on that scale"),
    "n": FrameColumn("Int64", "answers with a mark"),
    "unscored": FrameColumn("Int64", "judged answers without a readable mark"),
    "unreferenced": FrameColumn("Int64", "answers without a reference, which are not judged"),
    "retried": FrameColumn("Int64", "prompted twice"),
    "recovered": FrameColumn("Int64", "of these, readable then"),
    "as_text": FrameColumn("Int64", "read off a text in place of the form"),
    "output": FrameColumn("category", "what the marks were given in: text, json"),
    "state": STATE,
    "error": ERROR,
    "signature": SIGNATURE,
}


def answers(summaries: Iterable[AnswerSummary]) -> Iterator[Row]:
    """A row per cell: counts, the text figures that have a value, corpus figures, marks."""
    for summary in summaries:
        there = {name: each for name, each in summary.figures.items() if each is not None}
        corpus = summary.corpus
        yield {
            **cell_names(summary.cell),
            "state": summary.state,
            "questions": summary.questions,
            "n": summary.n,
            "replies": summary.replies,
            "compared": summary.compared,
            "empty": summary.empty,
            "cut": summary.truncated,
            "median_length": summary.length,
            **figure_columns(metrics_of_texts(summary.figures), there),
            "corpus_bleu": corpus and corpus.bleu,
            "corpus_bleu_signature": corpus and corpus.bleu_signature,
            "corpus_chrf": corpus and corpus.chrf,
            "corpus_chrf_signature": corpus and corpus.chrf_signature,
            **{name: value for each in summary.ratings for name, value in _columns(each).items()},
            "error": summary.error,
            "signature": summary.cell.signature,
        }


def _columns(rated: JudgeRating) -> Row:
    """The columns of one judge beside the text figures."""
    name = rated_name(rated)
    own = interval(name, rated.mean, scale=1)
    return {
        name: own.pop(name),
        f"{name}_n": rated.n,
        **own,
        f"{name}_unscored": rated.unscored,
        f"{name}_unreferenced": rated.unreferenced,
        f"{name}_retried": rated.retried,
        f"{name}_recovered": rated.recovered,
        **{f"{name}_{each}": mean.value for each, mean in rated.criteria.items()},
    }


def rated_name(rated: JudgeRating) -> str:
    """What the mean mark of a judge is called among the metrics."""
    return f"{rated.scale}_by_{rated.judge}"


def marks(summaries: Iterable[AnswerSummary]) -> Iterator[Row]:
    """A row per cell and judge, then one for each criterion."""
    for summary in summaries:
        for rated in summary.ratings:
            given: dict[str, Interval | None] = {"": rated.mean, **rated.criteria}
            for criterion, mean in given.items():
                yield {
                    **cell_names(summary.cell),
                    "judge": rated.judge,
                    "criterion": criterion,
                    "scale": rated.scale,
                    **interval("mark", mean, scale=1),
                    "n": rated.n,
                    "unscored": rated.unscored,
                    "unreferenced": rated.unreferenced,
                    "retried": rated.retried,
                    "recovered": rated.recovered,
                    "as_text": rated.as_text,
                    "output": rated.output,
                    "state": rated.state,
                    "error": rated.error,
                    "signature": summary.cell.signature,
                }
