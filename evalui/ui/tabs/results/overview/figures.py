"""What other views of a run take from its overview."""

from collections.abc import Mapping, Sequence

from evalui.messages import Messages
from evalui.report.analyses.overview.narrative import names
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.overview.warnings import ReportNote
from evalui.report.analyses.position_bias.findings import picks_text
from evalui.report.html import Html, el
from evalui.report.numbers import count
from evalui.scoring.cautions import HIDDEN_BELOW, BiasLevel
from evalui.scoring.position_bias.summary import StratumBias
from evalui.types import LETTERS, Cell
from evalui.ui.components.format import unbroken_numbers
from evalui.ui.components.widgets import NOTE_KINDS, note

BIAS_LEVEL_KINDS: Mapping[BiasLevel, str] = {
    "green": "ok",
    "amber": "warn",
    "red": "bad",
    "mass": "na",
    "few": "na",
    "na": "na",
}


def most_picked(t: Messages, bias: StratumBias) -> str:
    """What stands beside the light: the favoured position; of few questions, its count."""
    picks = bias.position.slot_counts
    best = max(picks)
    if (
        bias.level == "mass"
        or bias.n >= HIDDEN_BELOW
        or picks.count(best) > 1
        or best == sum(picks)
    ):
        return unbroken_numbers(picks_text(bias, t.language))
    letter = LETTERS[picks.index(best)]
    return t("front.picks_count", letter=letter, k=count(best), n=count(sum(picks)))


def note_line(cell: str, report_note: ReportNote) -> Html:
    """One note on the screen."""
    return note(NOTE_KINDS[report_note.level], el("b", cell), " ", report_note.text)


def cell_names(t: Messages, summaries: Sequence[Summary]) -> dict[Cell, str]:
    """Each cell by what distinguishes it from the others, on one line."""
    return {
        cell: " · ".join(part for part in parts if part)
        for cell, parts in names(summaries, t.language).items()
    }
