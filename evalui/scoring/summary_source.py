"""Where the figures of the cells of a run come from."""

from collections.abc import Callable
from dataclasses import dataclass

from evalui.scoring.answer_summary import AnswerSummary, summarise_answers
from evalui.scoring.arena.figures import ArenaReader, arena_of_judges
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import CellResult


@dataclass(frozen=True, slots=True)
class SummarySource:
    """The figures of a cell of choices, of written answers, and of one or several judges.

    They are computed, unless they are kept.
    """

    choices: Callable[[CellResult], Summary] = summarise
    answers: Callable[[CellResult], AnswerSummary] = summarise_answers
    arenas: ArenaReader = arena_of_judges
