"""What other views of a run take from its overview."""

from evalui.report.analyses.overview.warnings import ReportNote
from evalui.report.html import Html, el
from evalui.ui.components.widgets import NOTE_KINDS, note


def note_line(cell: str, report_note: ReportNote) -> Html:
    """One note on the screen."""
    return note(NOTE_KINDS[report_note.level], el("b", cell), " ", report_note.text)
