"""The trials of a run a page at a time, each once, also while the run goes on.

Cells follow each other in the order of the run, trials in the order in which they were written. A
page ends before the first cell that may still grow, so nothing is passed over.
"""

from dataclasses import dataclass

import numpy as np

from evalui.runs.database.column_blocks import decode_columns
from evalui.runs.database.connection import Database
from evalui.runs.database.records import CellRow
from evalui.runs.database.runs import read_cells
from evalui.runs.database.trials import text_reader
from evalui.scoring.trial_columns import TrialColumns, join_columns

_GROWING = ("waiting", "running")
_MAX_LENGTH = 24  # characters of a cursor; longer texts are not ours


@dataclass(frozen=True, slots=True)
class TrialCursor:
    """Up to where the trials of a run were read: the place of a cell, and a number of a trial."""

    cell: int = 0
    trial: int = 0

    @classmethod
    def read(cls, text: str) -> "TrialCursor | None":
        """The cursor that was written as `text`, None if none was."""
        cell, _, trial = text.partition(".")
        is_cursor = len(text) <= _MAX_LENGTH and text.isascii() and cell.isdigit()
        return cls(int(cell), int(trial)) if is_cursor and trial.isdigit() else None

    def __str__(self) -> str:
        return f"{self.cell}.{self.trial}"


@dataclass(frozen=True, slots=True)
class TrialPage:
    """Trials of a run by cell, and where the next page begins; None after the last one."""

    parts: tuple[tuple[CellRow, TrialColumns], ...]
    next: TrialCursor | None


def read_trial_page(database: Database, run_id: str, cursor: TrialCursor, n: int) -> TrialPage:
    """At most `n` trials after the cursor, but for those of judges; raises `UnknownRun`."""
    parts: list[tuple[CellRow, TrialColumns]] = []
    cells = read_cells(database, run_id)
    for place, row in enumerate(cells[cursor.cell :], start=cursor.cell):
        after = cursor.trial if place == cursor.cell else 0
        if row.cell.gives != "verdicts":
            trials = _trials_after(database, row, after, n)
            if trials is not None:
                parts.append((row, trials))
                after, n = int(trials.number[-1]), n - len(trials)
        if not n or row.state in _GROWING:
            return TrialPage(tuple(parts), TrialCursor(place, after))
    return TrialPage(tuple(parts), None)


def _trials_after(database: Database, row: CellRow, after: int, n: int) -> TrialColumns | None:
    """The next trials of a cell, at most `n`, from as few of its blocks as hold them."""
    bodies = database.rows(
        "SELECT body FROM (SELECT first, body, sum(n) OVER blocks - n AS before,"
        " first_value(n) OVER blocks AS begun FROM trial_block"
        " WHERE cell = :cell AND first >= coalesce((SELECT max(first) FROM trial_block"
        " WHERE cell = :cell AND first <= :after), 0) WINDOW blocks AS (ORDER BY first))"
        " WHERE before < begun + :n ORDER BY first",
        {"cell": row.id, "after": after, "n": n},
    )
    if not bodies:
        return None
    texts = text_reader(database, row.id)
    read = join_columns([decode_columns(each["body"], texts) for each in bodies])
    start = int(np.searchsorted(read.number, after, side="right"))
    return read[start : start + n] if start < len(read) else None
