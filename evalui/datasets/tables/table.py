"""Delimited text and JSON Lines become a table; a sheet of a workbook is one already."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from evalui.datasets.base import Source
from evalui.datasets.faults import FaultList
from evalui.datasets.questions import pictures
from evalui.datasets.tables.long_cells import LIMIT, LongCell, long_cell
from evalui.datasets.tables.rows import Row, Table
from evalui.errors import DataError
from evalui.types import Fault

DELIMITERS = ",;\t|"
_COLUMNS = 1000  # JSON Lines with keys of their own would fill the memory with empty cells
_TOO_DEEP = "JSON nested too deeply"
_BROKEN = 20  # rows with broken quotes before the rest of a file is given up


class Number(str):
    """A number of a JSON line, as it is written there."""

    __slots__ = ()


def header(source: Source, known: Sequence[str]) -> tuple[str, ...]:
    """The column names of a file, without reading its rows."""
    if source.table:
        return source.table.header
    if is_json_lines(source):
        _, record = next(json_objects(source))
        return tuple(record) if isinstance(record, dict) else ()
    lines = io.StringIO(source.text.removeprefix("\ufeff"))
    first = next(line for line in lines if line.strip())
    row = next(_cut([first], _delimiter(first, known), 0, source.name), None)
    return _names(row) if isinstance(row, Row) else ()


def is_json_lines(source: Source) -> bool:
    """Whether the file begins with a JSON object, whatever its name ends in."""
    return source.text.lstrip("\ufeff \t\n").startswith("{")


def read_table(source: Source, known: Sequence[str]) -> Table:
    """The whole file as a table; `known` column names decide which delimiter it has.

    Raises `DataError` for a file with more columns than any table of questions has.
    """
    if not source.table and is_json_lines(source):
        return _json_lines(source)
    return _without_pictures(source.table or _delimited(source, known), source.name)


def _without_pictures(table: Table, file: str) -> Table:
    """The table with each row that has a picture made a fault."""
    rows: list[Row] = []
    faults = FaultList()
    for row in table.rows:
        # Cells beyond the header stand under no name.
        column = pictures.picture_column(dict(zip(table.header, row.cells, strict=False)))
        if column is None:
            rows.append(row)
        else:
            faults.add(pictures.fault(file, row.line, column))
    if not faults.total:
        return table
    faults.add(*table.faults, unlisted=table.unlisted)
    return replace(table, rows=tuple(rows), faults=faults.kept, unlisted=faults.unlisted)


def read_bare(source: Source, *, most: int | None = None) -> Table:
    """A file separated by commas that has no header: all its rows, or the first `most`."""
    lines = io.StringIO(source.text.removeprefix("\ufeff")).readlines()
    found = list(islice(_cut(lines, ",", 0, source.name), most))
    rows = tuple(row for row in found if isinstance(row, Row))
    faults = FaultList(fault for fault in found if isinstance(fault, Fault))
    return Table((), rows, ",", faults.kept, header_line=0, unlisted=faults.unlisted)


def _delimited(source: Source, known: Sequence[str]) -> Table:
    lines = io.StringIO(source.text.removeprefix("\ufeff")).readlines()
    start = next(number for number, line in enumerate(lines) if line.strip())
    delimiter = _delimiter(lines[start], known)
    found = list(_cut(lines, delimiter, start, source.name))
    rows = [row for row in found if isinstance(row, Row)]
    wrong = FaultList(fault for fault in found if isinstance(fault, Fault))
    faults, more = wrong.kept, wrong.unlisted
    if not found or isinstance(found[0], Fault):
        return Table((), (), delimiter, faults, start + 1, unlisted=more)
    check_width(len(rows[0].cells), source.name)
    return Table(_names(rows[0]), tuple(rows[1:]), delimiter, faults, rows[0].line, unlisted=more)


def check_width(width: int, name: str, *, most: int = _COLUMNS) -> None:
    """Raise `DataError` for a file with more columns than any table of questions has.

    `most` are those from which on it is raised, if only a part of them may be filled.
    """
    if width > most:
        raise DataError(
            "too-many-columns",
            file=name,
            n=width,
            limit=_COLUMNS,
        )


def _names(row: Row) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in row.cells)


def _delimiter(first: str, known: Sequence[str]) -> str:
    wanted = {name.casefold() for name in known}

    def recognised(delimiter: str) -> int:
        names = (name.strip(' "\n').casefold() for name in first.split(delimiter))
        return len(wanted.intersection(names))

    return max(DELIMITERS, key=recognised)


def _cut(lines: Sequence[str], delimiter: str, start: int, name: str) -> Iterator[Row | Fault]:
    """The rows from line index `start` on; a row with broken quotes is a fault.

    Reading goes on with the line below the one where a broken row began, since its quote may
    have swallowed good rows. Blank rows are passed over.
    """
    broken = 0
    names: Sequence[str] = ()
    while start < len(lines):
        # Hand-written files have blanks after their commas, before quotes too.
        reader = csv.reader(lines[start:], delimiter=delimiter, strict=True, skipinitialspace=True)
        begins = start
        try:
            for cells in reader:
                if any(map(str.strip, cells)):
                    names = names or cells
                    yield Row(begins + 1, tuple(cells))
                begins = start + reader.line_num
        except csv.Error as error:
            broken += 1
            long = "field limit" in str(error) and long_cell(lines[begins:], delimiter)
            line = begins + 1
            fault = _too_long(name, line, names, long) if long else _broken(name, line, str(error))
            rest = "; too many such rows, the rest of the file was not read"
            yield replace(fault, found=fault.found + rest) if broken == _BROKEN else fault
        else:
            return
        start = begins + 1 if broken < _BROKEN else len(lines)


def _too_long(name: str, line: int, header: Sequence[str], cell: LongCell) -> Fault:
    column = header[cell.at].strip() if cell.at < len(header) else ""
    if pictures.has_picture(cell.text):
        return pictures.fault(name, line, column)
    expected = f"at most {LIMIT:,}"
    expected += "; is a closing quote missing?" if "\n" in cell.text else ""
    return Fault(
        name, line, column, "cell-too-long", f"a cell of {len(cell.text):,} characters", expected
    )


def _broken(name: str, line: int, error: str) -> Fault:
    found = (
        "text after the closing quote of a cell"
        if "expected after" in error
        else "a quoted cell that never ends"
    )
    expected = 'a quote at both ends of the cell, and each quote inside it doubled ("")'
    return Fault(name, line, "", "broken-quotes", found, expected)


def _json_lines(source: Source) -> Table:
    records: list[tuple[int, dict[str, str]]] = []
    faults = FaultList()
    for line, record in json_objects(source):
        cells = _cells(record) if isinstance(record, dict) else record
        column = pictures.picture_column(record) if isinstance(record, dict) else None
        if column is not None:
            faults.add(pictures.fault(source.name, line, column))
        elif isinstance(cells, dict):
            records.append((line, cells))
        else:
            faults.add(Fault(source.name, line, "", "invalid-json", cells, "a JSON object"))
    names = dict.fromkeys(key for _, record in records for key in record)
    check_width(len(names), source.name)
    rows = (Row(line, tuple(record.get(name, "") for name in names)) for line, record in records)
    return Table(tuple(names), tuple(rows), "", faults.kept, unlisted=faults.unlisted)


def json_objects(source: Source) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Each line that is not blank with its number: its object, or what is wrong with it."""
    for number, line in enumerate(source.text.removeprefix("\ufeff").split("\n"), start=1):
        if line.strip():
            yield number, _record(line)


def has_half_pair(value: Any) -> bool:
    """Whether a JSON value has half a surrogate pair, which no file and no database can keep."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def cell_text(value: Any) -> str:
    """A JSON value as the cell of a table: a list has its items joined, null is empty."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n")
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(cell_text(item) for item in cast(Iterable[Any], value))
    return json.dumps(value, ensure_ascii=False)


def _record(line: str) -> dict[str, Any] | str:
    # Numbers stay as they are written: 1.0 and 1e3 are texts to us.
    try:
        value: Any = json.loads(line, parse_int=Number, parse_float=Number, parse_constant=str)
        half = "\\u" in line and has_half_pair(value)
    except json.JSONDecodeError as error:
        return f"no JSON ({error.msg} at character {error.pos + 1})"
    except RecursionError:
        return _TOO_DEEP
    if half:
        return "half of a \\u pair"
    return cast(dict[str, Any], value) if isinstance(value, dict) else "JSON that is no object"


def _cells(record: dict[str, Any]) -> dict[str, str] | str:
    try:
        return {key: cell_text(value) for key, value in record.items()}
    except RecursionError:
        return _TOO_DEEP
