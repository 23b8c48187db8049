"""An analysis: the questions that no model answered correctly."""

from collections.abc import Iterator, Mapping

from evalui.report.analyses.base import Analysis, Report
from evalui.report.blocks import Block, Details, text_table
from evalui.types import Language

_NAME: Mapping[Language, str] = {"en": "Never answered correctly", "zh": "无人答对"}
_FINDING: Mapping[Language, str] = {"en": "{k} of {n} questions.", "zh": "{n} 题中的 {k} 题。"}
_HEADS: Mapping[Language, tuple[str, str]] = {"en": ("id", "Question"), "zh": ("id", "题目")}


def hardest_questions(report: Report, language: Language) -> Iterator[Block]:
    """One section: how many questions these are, and the questions."""
    asked = {
        trial.sample_id: result.samples[trial.sample_id].question
        for result in report.results
        for trial in result.trials
    }
    solved = {
        trial.sample_id for result in report.results for trial in result.trials if trial.correct
    }
    rows = [(name, question) for name, question in asked.items() if name not in solved]
    finding = _FINDING[language].format(k=len(rows), n=len(asked))
    table = text_table(_HEADS[language], rows)
    yield Details("hardest", _NAME[language], finding, (table,))


HARDEST = Analysis(lambda report: report.has_choices, hardest_questions)
