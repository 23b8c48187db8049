"""Delimited text becomes a table: which character separates its cells, where its head is, its rows.

The csv module decides where cells end. A row that it cannot cut is a fault, and reading goes on
with the line below the one where that row began, since its quote may have swallowed good rows.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from evalui.datasets.containers.heads import cut_table, find_head
from evalui.datasets.containers.pictures import with_pictures
from evalui.datasets.model import FaultList, FileTable, Layout, Row
from evalui.datasets.names import is_known_name
from evalui.types import Fault

_COMMA_IN_TEXT = re.compile(r',(?=[ \t]+[^ \t\n"])')
_PRIVATE_USE = range(0xE000, 0xF900)  # characters that no text needs
DELIMITERS = ",;\t|"
_MAX_BROKEN_ROWS = 20  # rows with broken quotes before the rest of a file is given up
MAX_CELL_CHARS = 131_072  # characters; the csv module's own, which is one for all threads
_LINES_INSPECTED = 200  # lines by which the delimiter is chosen
_CHARS_INSPECTED = 100_000  # of all of them together


class _LongCell(NamedTuple):
    """A cell over the limit: its place in the row, counted from 0, and its text."""

    column_index: int
    text: str


def read_delimited(text: str, file: str, layout: Layout) -> FileTable:
    """The table in a text; a row that a comma in a text makes longer stays as it is.

    Raises `DataError` for more columns than any table of questions has, and for a row of heads that
    is not there.
    """
    if layout.commas_in_text:
        unused = next(char for char in map(chr, _PRIVATE_USE) if char not in text)
        plain = replace(layout, commas_in_text=False)
        table = read_delimited(_COMMA_IN_TEXT.sub(unused, text), file, plain)
        rows = [
            Row(row.line, tuple(cell.replace(unused, ",") for cell in row.cells))
            for row in table.rows
        ]
        return replace(table, rows=rows)
    lines = io.StringIO(text.removeprefix("\ufeff")).readlines()
    delimiter = _detect_delimiter(lines)
    rows, wrong = _plain_rows(lines, delimiter), FaultList()
    first: Row | Fault | None = rows[0] if rows else None
    if rows is None:
        parsed = list(_parse_rows(lines, delimiter, file))
        rows = [row for row in parsed if isinstance(row, Row)]
        wrong = FaultList(fault for fault in parsed if isinstance(fault, Fault))
        first = parsed[0] if parsed else None
    if isinstance(first, Row):
        table = cut_table(rows, file, layout.head_row)
    else:
        start = next((at for at, line in enumerate(lines, 1) if line.strip()), 1)
        table = FileTable(file, (), (), head_line=start)
    table = replace(table, delimiter=delimiter, faults=wrong.kept, unlisted=wrong.unlisted)
    return with_pictures(table, text)


def _detect_delimiter(lines: Sequence[str]) -> str:
    """The character under which names of columns are known, or the rows are equally wide."""
    sample: list[str] = []
    left = _CHARS_INSPECTED
    for line in lines[:_LINES_INSPECTED]:
        if left > 0 and line.strip():
            sample.append(line[:left])
            left -= len(line)
    return max(DELIMITERS, key=lambda delimiter: _fit(sample, delimiter))


def _fit(lines: Sequence[str], delimiter: str) -> tuple[float, ...]:
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        rows = [row for row in reader if any(map(str.strip, row))]
    except csv.Error:  # a cell over the limit, which is a fault of its row when all is read
        rows = [line.split(delimiter) for line in lines]
    head = find_head(rows)
    known = sum(1 for name in head.names if name and is_known_name(name))
    width = len(head.names)
    below = rows[head.end :]
    even = sum(1 for row in below if len(row) == width) / len(below) if below else 0
    # A text without any delimiter is a table of one column.
    return (known if known > 1 else 0, even if width > 1 else 0, width > 1, even, width)


def _plain_rows(lines: Sequence[str], delimiter: str) -> list[Row] | None:
    """The rows that are not blank, at once, if each is on a line of its own and none is broken."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    rows: list[Row] = []
    n = 0
    try:
        for n, cells in enumerate(reader, start=1):
            if cells and (cells[0].strip() or any(map(str.strip, cells))):
                rows.append(Row(n, tuple(cells)))
    except csv.Error:
        return None
    return rows if n == len(lines) else None


def _parse_rows(lines: Sequence[str], delimiter: str, name: str) -> Iterator[Row | Fault]:
    """The rows that are not blank; one with broken quotes is a fault."""
    start, broken = 0, 0
    names: Sequence[str] = ()
    while start < len(lines):
        # Hand-written files have blanks after their commas, before quotes too.
        reader = csv.reader(
            lines[start:] if start else lines,
            delimiter=delimiter,
            strict=True,
            skipinitialspace=True,
        )
        begins = start
        try:
            for cells in reader:
                if cells and (cells[0].strip() or any(map(str.strip, cells))):
                    names = names or cells
                    yield Row(begins + 1, tuple(cells))
                begins = start + reader.line_num
        except csv.Error as error:
            broken += 1
            long = "field limit" in str(error) and _find_long_cell(lines[begins:], delimiter)
            line = begins + 1
            fault = (
                _long_cell_fault(name, line, names, long)
                if long
                else _broken_quotes_fault(name, line, str(error))
            )
            rest = "; too many such rows, the rest of the file was not read"
            yield (
                replace(fault, actual=fault.actual + rest) if broken == _MAX_BROKEN_ROWS else fault
            )
        else:
            return
        start = begins + 1 if broken < _MAX_BROKEN_ROWS else len(lines)


def _long_cell_fault(name: str, line: int, header: Sequence[str], cell: _LongCell) -> Fault:
    column = header[cell.column_index].strip() if cell.column_index < len(header) else ""
    expected = f"at most {MAX_CELL_CHARS:,}"
    expected += "; is a closing quote missing?" if "\n" in cell.text else ""
    return Fault(
        name, line, column, "cell-too-long", f"a cell of {len(cell.text):,} characters", expected
    )


def _broken_quotes_fault(name: str, line: int, error: str) -> Fault:
    actual = (
        "text after the closing quote of a cell"
        if "expected after" in error
        else "a quoted cell that never ends"
    )
    expected = 'a quote at both ends of the cell, and each quote inside it doubled ("")'
    return Fault(name, line, "", "broken-quotes", actual, expected)


def _find_long_cell(lines: Sequence[str], delimiter: str) -> _LongCell | None:
    """The first cell over the limit in the row that begins with the first of the lines.

    The csv module reports neither which cell it finds too long, nor how long it is. None if that
    cell is quoted and its quote is never closed.
    """
    text = "".join(lines)
    cell = re.compile(rf' *(?:"((?:[^"]+|"")*+)("?)|([^{re.escape(delimiter)}\n]*+)) *')
    start, column = 0, 0
    while match := cell.match(text, start):
        quoted, closing, bare = match.groups()
        if quoted is not None and not closing:
            return None
        content = bare if quoted is None else quoted.replace('""', '"')
        if len(content) > MAX_CELL_CHARS:
            return _LongCell(column, content)
        if text[match.end() : match.end() + 1] != delimiter:
            return None
        start, column = match.end() + 1, column + 1
    return None
