"""Delimited text and JSON Lines become a table; a sheet of a workbook is one already."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple, cast

from evalui.datasets.base import FaultList, RawRow, RawTable, Source
from evalui.datasets.tables import pictures
from evalui.errors import DataError
from evalui.types import Fault

DELIMITERS = ",;\t|"
_MAX_COLUMNS = 1000  # JSON Lines with keys of their own would fill the memory with empty cells
_NESTED_TOO_DEEPLY = "JSON nested too deeply"
_MAX_BROKEN_ROWS = 20  # rows with broken quotes before the rest of a file is given up
MAX_CELL_CHARS = 131_072  # characters; the csv module's own, which is one for all threads


class JsonNumber(str):
    """A number of a JSON line, as it is written there."""

    __slots__ = ()


class JsonRow(NamedTuple):
    """A line of JSON Lines: its object, and the same as cells of a table."""

    line: int
    values: dict[str, Any]
    texts: dict[str, str]


class _LongCell(NamedTuple):
    """A cell over the limit: its place in the row, counted from 0, and its text."""

    column_index: int
    text: str


def read_header(source: Source, known: Sequence[str]) -> tuple[str, ...]:
    """The column names of a file, without reading its rows."""
    if source.table:
        return source.table.header
    if is_json_lines(source):
        _, record = next(json_objects(source))
        return tuple(record) if isinstance(record, dict) else ()
    lines = io.StringIO(source.text.removeprefix("\ufeff"))
    first = next(line for line in lines if line.strip())
    row = next(_parse_rows([first], _detect_delimiter(first, known), 0, source.name), None)
    return _column_names(row) if isinstance(row, RawRow) else ()


def is_json_lines(source: Source) -> bool:
    """Whether the file begins with a JSON object, whatever its name ends in."""
    return source.text.lstrip("\ufeff \t\n").startswith("{")


def read_table(source: Source, known: Sequence[str]) -> RawTable:
    """The whole file as a table; `known` column names decide which delimiter it has.

    Raises `DataError` for a file with more columns than any table of questions has.
    """
    if not source.table and is_json_lines(source):
        return _read_json_lines(source)
    return _without_pictures(source.table or _read_delimited(source, known), source.name)


def _without_pictures(table: RawTable, file: str) -> RawTable:
    """The table with each row that has a picture made a fault."""
    rows: list[RawRow] = []
    faults = FaultList()
    for row in table.rows:
        # Cells beyond the header stand under no name.
        column = pictures.picture_column(dict(zip(table.header, row.cells, strict=False)))
        if column is None:
            rows.append(row)
        else:
            faults.add(pictures.picture_fault(file, row.line, column))
    if not faults.total:
        return table
    faults.add(*table.faults)
    more = faults.unlisted + table.unlisted
    return replace(table, rows=tuple(rows), faults=faults.kept, unlisted=more)


def read_headerless(source: Source, *, max_rows: int | None = None) -> RawTable:
    """A file separated by commas that has no header: all its rows, or the first `max_rows`."""
    lines = io.StringIO(source.text.removeprefix("\ufeff")).readlines()
    parsed = list(islice(_parse_rows(lines, ",", 0, source.name), max_rows))
    rows = tuple(row for row in parsed if isinstance(row, RawRow))
    faults = FaultList(fault for fault in parsed if isinstance(fault, Fault))
    return RawTable((), rows, ",", faults.kept, header_line=0, unlisted=faults.unlisted)


def _read_delimited(source: Source, known: Sequence[str]) -> RawTable:
    lines = io.StringIO(source.text.removeprefix("\ufeff")).readlines()
    start = next(number for number, line in enumerate(lines) if line.strip())
    delimiter = _detect_delimiter(lines[start], known)
    parsed = list(_parse_rows(lines, delimiter, start, source.name))
    rows = [row for row in parsed if isinstance(row, RawRow)]
    wrong = FaultList(fault for fault in parsed if isinstance(fault, Fault))
    faults, more = wrong.kept, wrong.unlisted
    if not parsed or isinstance(parsed[0], Fault):
        return RawTable((), (), delimiter, faults, start + 1, unlisted=more)
    check_width(len(rows[0].cells), source.name)
    return RawTable(
        _column_names(rows[0]), tuple(rows[1:]), delimiter, faults, rows[0].line, unlisted=more
    )


def check_width(width: int, name: str, *, max_columns: int = _MAX_COLUMNS) -> None:
    """Raise `DataError` for a file with more columns than any table of questions has.

    `max_columns` are those from which on it is raised, if only a part of them may be filled.
    """
    if width > max_columns:
        raise DataError("too-many-columns", file=name, n=width, limit=_MAX_COLUMNS)


def _column_names(row: RawRow) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in row.cells)


def _detect_delimiter(first: str, known: Sequence[str]) -> str:
    wanted = {name.casefold() for name in known}

    def recognised(delimiter: str) -> tuple[int, int]:
        names = [name.strip(' "\n').casefold() for name in first.split(delimiter)]
        return len(wanted.intersection(names)), len(names)

    return max(DELIMITERS, key=recognised)


def _parse_rows(
    lines: Sequence[str], delimiter: str, start: int, name: str
) -> Iterator[RawRow | Fault]:
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
                    yield RawRow(begins + 1, tuple(cells))
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
    if pictures.has_picture(cell.text):
        return pictures.picture_fault(name, line, column)
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


def _read_json_lines(source: Source) -> RawTable:
    records: list[tuple[int, dict[str, str]]] = []
    faults = FaultList()
    for row in json_rows(source):
        if isinstance(row, Fault):
            faults.add(row)
        else:
            records.append((row.line, row.texts))
    names = dict.fromkeys(key for _, record in records for key in record)
    check_width(len(names), source.name)
    rows = (RawRow(line, tuple(record.get(name, "") for name in names)) for line, record in records)
    return RawTable(tuple(names), tuple(rows), "", faults.kept, unlisted=faults.unlisted)


def json_rows(source: Source) -> Iterator[JsonRow | Fault]:
    """Each line that is not blank: its object, or the fault of one that cannot be read."""
    for line, parsed in json_objects(source):
        texts = _cell_texts(parsed) if isinstance(parsed, dict) else parsed
        if isinstance(texts, str) or isinstance(parsed, str):
            yield Fault(source.name, line, "", "invalid-json", str(texts), "a JSON object")
        elif (column := pictures.picture_column(parsed)) is not None:
            yield pictures.picture_fault(source.name, line, column)
        else:
            yield JsonRow(line, parsed, texts)


def json_objects(source: Source) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Each line that is not blank with its number: its object, or what is wrong with it."""
    for number, line in enumerate(source.text.removeprefix("\ufeff").split("\n"), start=1):
        if line.strip():
            yield number, _parse_json_line(line)


def parse_json(text: str) -> Any:
    """A JSON value whose numbers stay as they are written.

    Raises:
        ValueError: the text is no JSON, or has half a surrogate pair.
        RecursionError: it is nested too deeply.
    """
    value: Any = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    if has_lone_surrogate(value):
        raise ValueError("half of a \\u pair")
    return value


def has_lone_surrogate(value: Any) -> bool:
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


def _parse_json_line(line: str) -> dict[str, Any] | str:
    # Numbers stay as they are written: 1.0 and 1e3 are texts to us.
    try:
        value: Any = json.loads(
            line, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=str
        )
        half = "\\u" in line and has_lone_surrogate(value)
    except json.JSONDecodeError as error:
        return f"no JSON ({error.msg} at character {error.pos + 1})"
    except RecursionError:
        return _NESTED_TOO_DEEPLY
    if half:
        return "half of a \\u pair"
    return cast(dict[str, Any], value) if isinstance(value, dict) else "JSON that is no object"


def _cell_texts(record: dict[str, Any]) -> dict[str, str] | str:
    try:
        return {key: cell_text(value) for key, value in record.items()}
    except RecursionError:
        return _NESTED_TOO_DEEPLY


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
