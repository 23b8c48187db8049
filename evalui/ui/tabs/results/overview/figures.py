"""What other views of a run take from its overview."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.analyses.overview.narrative import names
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.overview.warnings import ReportNote
from evalui.report.html import Html, el
from evalui.types import Cell
from evalui.ui.components.widgets import NOTE_KINDS, note


def note_line(cell: str, report_note: ReportNote) -> Html:
    """One note on the screen."""
    return note(NOTE_KINDS[report_note.level], el("b", cell), " ", report_note.text)


def cell_names(t: Messages, summaries: Sequence[Summary]) -> dict[Cell, str]:
    """Each cell by what distinguishes it from the others, on one line."""
    return {
        cell: " · ".join(part for part in parts if part)
        for cell, parts in names(summaries, t.language).items()
    }
