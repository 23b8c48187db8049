"""Where the figures of the cells of a run come from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalui.scoring.answer_pairs import AnswerPair, compare_answers
from evalui.scoring.answer_summary import AnswerSummary, summarise_answers
from evalui.scoring.arena.figures import ArenaReader, arena_of_judges
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import CellResult

# Every pair of the answers to one dataset in one figure.
PairReader = Callable[[Sequence[CellResult], str], tuple[AnswerPair, ...]]


@dataclass(frozen=True, slots=True)
class SummarySource:
    """The figures of a cell of choices or of written answers, of judges, and of pairs of answers.

    They are computed here; others may know what is kept.
    """

    choices: Callable[[CellResult], Summary] = summarise
    answers: Callable[[CellResult], AnswerSummary] = summarise_answers
    arenas: ArenaReader = arena_of_judges
    pairs: PairReader = compare_answers
