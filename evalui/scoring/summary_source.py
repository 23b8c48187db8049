"""Where the figures of the cells of a run come from."""

from collections.abc import Callable
from dataclasses import dataclass

from evalui.scoring.answer_summary import AnswerSummary, summarise_answers
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import CellResult


@dataclass(frozen=True, slots=True)
class SummarySource:
    """The summary of a cell of choices or of written answers: computed, unless one is kept."""

    choices: Callable[[CellResult], Summary] = summarise
    answers: Callable[[CellResult], AnswerSummary] = summarise_answers
