"""Rows of cells become a table: names from their head, without what stands above and below it."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.datasets.model import RawRow, RawTable, UploadNote, collapse_whitespace, shorten
from evalui.datasets.tables.head import (
    HEAD_SEARCH_ROWS,
    HeadRows,
    IsKnownName,
    find_head,
    find_tail,
    head_at,
    without_head,
)
from evalui.errors import DataError

_MAX_COLUMNS = 1000  # JSON Lines with keys of their own would fill the memory with empty cells
_MAX_ROWS_SHOWN = 5  # rows in a note


@dataclass(frozen=True, slots=True)
class RowTable:
    """A table, and `notes` on the rows that are not part of it."""

    table: RawTable
    notes: tuple[UploadNote, ...] = ()


def cut_table(
    rows: Sequence[RawRow], file: str, *, is_known_name: IsKnownName, head_row: int = 0
) -> RowTable:
    """The table in rows of which none is blank.

    `head_row` is the line of the names, 0 to look for it, -1 for none. Raises `DataError` if that
    line has no row.
    """
    head = locate_head(rows, file, is_known_name=is_known_name, head_row=head_row)
    if len(head.names) > _MAX_COLUMNS:
        check_width(max(len(row.cells) for row in rows[: head.end + 1]), file)
    data = rows[head.end :]
    tail = find_tail([row.cells for row in data], len(head.names))
    body, below = (data[:-tail], data[-tail:]) if tail else (data, ())
    above = rows[: head.start] if head.start > 0 else ()
    line = rows[head.start].line if head.start >= 0 else 0
    notes: list[UploadNote] = []
    if above:
        shown = {"file": file, "row": str(line), "text": _quote_rows(above)}
        notes.append(UploadNote("rows-above", shown))
    if below:
        notes.append(UploadNote("rows-below", {"file": file, "text": _quote_rows(below)}))
    return RowTable(RawTable(head.names, tuple(body), "", header_line=line), tuple(notes))


def locate_head(
    rows: Sequence[RawRow], file: str, *, is_known_name: IsKnownName, head_row: int = 0
) -> HeadRows:
    """The names of the columns; raises `DataError` if the row they should be in is blank."""
    # Names of more columns than are read need not be known to be refused.
    first = [row.cells[: _MAX_COLUMNS + 1] for row in rows[: max(HEAD_SEARCH_ROWS, head_row) + 1]]
    if head_row < 0:
        return without_head(first)
    if not head_row:
        return find_head(first, is_known_name)
    for at, row in enumerate(rows):
        if row.line == head_row:
            return head_at(first, at, is_known_name)
    raise DataError("no-head-row", file=file, row=head_row)


def check_width(width: int, name: str, *, max_columns: int = _MAX_COLUMNS) -> None:
    """Raise `DataError` for a file with more columns than any table of questions has.

    `max_columns` are those from which on it is raised, if only a part of them may be filled.
    """
    if width > max_columns:
        raise DataError("too-many-columns", file=name, n=width, limit=_MAX_COLUMNS)


def _quote_rows(rows: Sequence[RawRow]) -> str:
    """The rows with their numbers, the first ones only and each on one line."""
    shown = "; ".join(
        f"{row.line} “{shorten(collapse_whitespace(' '.join(filter(None, row.cells))))}”"
        for row in rows[:_MAX_ROWS_SHOWN]
    )
    more = len(rows) - _MAX_ROWS_SHOWN
    return f"{shown} (+{more})" if more > 0 else shown
