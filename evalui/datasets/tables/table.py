"""The rows of a source: cells under a header, or JSON objects whose values have types.

What a file has is found out where it is opened; a source that is only a text is JSON Lines if it
begins with an object, else delimited.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, cast

from evalui.datasets.model import FaultList, JsonNumber, JsonRow, RawRow, RawTable, Source
from evalui.datasets.tables import delimited, pictures
from evalui.datasets.tables.head import known_names
from evalui.datasets.tables.rows import check_width
from evalui.types import Fault

_NESTED_TOO_DEEPLY = "JSON nested too deeply"


@dataclass(frozen=True, slots=True)
class JsonRows:
    """The rows whose values have types, the others' faults, and how many more faults there are."""

    rows: tuple[JsonRow, ...]
    faults: tuple[Fault, ...] = ()
    unlisted: Counter[str] = field(default_factory=Counter[str])


def read_header(source: Source, known: Sequence[str]) -> tuple[str, ...]:
    """The column names of a file."""
    if source.table:
        return source.table.header
    if is_json_lines(source):
        _, record = next(json_objects(source), (0, ""))
        return tuple(record) if isinstance(record, dict) else ()
    return read_table(source, known).header


def is_json_lines(source: Source) -> bool:
    """Whether the rows are objects, whatever the file is: JSON Lines, JSON, Parquet, a quiz."""
    return source.records is not None or (
        source.table is None and source.text.lstrip("\ufeff \t\n").startswith("{")
    )


def read_table(source: Source, known: Sequence[str]) -> RawTable:
    """The whole file as a table; `known` column names decide which delimiter a bare text has.

    Raises `DataError` for a file with more columns than any table of questions has.
    """
    if source.table:
        return _without_pictures(source.table, source.name, source.text)
    if is_json_lines(source):
        return _objects_table(json_rows(source), source.name)
    parsed = delimited.read_delimited(source.text, source.name, is_known_name=known_names(known))
    return _without_pictures(parsed.table, source.name, source.text)


def read_headerless(source: Source, *, max_rows: int | None = None) -> RawTable:
    """A file separated by commas that has no header: all its rows, or the first `max_rows`."""
    return delimited.read_headerless(source.text, source.name, max_rows=max_rows)


def _without_pictures(table: RawTable, file: str, text: str) -> RawTable:
    """The table with each row that has a picture made a fault."""
    cells = list(chain.from_iterable(row.cells for row in table.rows))
    if not pictures.cells_need_search(table.header, cells, text):
        return table
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


def json_rows(source: Source) -> JsonRows:
    """The objects of a source, and the faults of what cannot be read as one."""
    if source.records is not None:
        return JsonRows(source.records, source.faults, source.unlisted)
    return read_json_lines(source.text, source.name)


def read_json_lines(text: str, file: str) -> JsonRows:
    """Each line that is not blank is an object, or a fault."""
    return collect_json_rows(parse_lines(text), file, search=pictures.json_needs_search(text))


def collect_json_rows(objects: Iterable[tuple[int, Any]], file: str, *, search: bool) -> JsonRows:
    """The rows of objects with their lines, and the faults of those that are none.

    A text instead of an object says what is wrong with it. Without `search` pictures are looked for
    in long texts and in columns of pictures only. Raises `DataError` for more columns than any
    table of questions has.
    """
    rows: list[JsonRow] = []
    faults = FaultList()
    names: set[str] = set()
    shapes: set[tuple[str, ...]] = set()
    for number, (line, parsed) in enumerate(objects, start=1):
        if isinstance(parsed, dict):
            check_width(len(cast(dict[str, Any], parsed)), file)
        texts = _cell_texts(cast(dict[str, Any], parsed)) if isinstance(parsed, dict) else parsed
        if not isinstance(parsed, dict) or not isinstance(texts, dict):
            actual = texts if isinstance(texts, str) else "JSON that is no object"
            faults.add(Fault(file, line, "", "invalid-json", actual, "a JSON object"))
            continue
        values = cast(dict[str, Any], parsed)
        shown = cast(dict[str, str], texts)
        column = (
            pictures.picture_column(values)
            if search and pictures.json_needs_search("\n".join(shown.values()))
            else pictures.plain_picture_column(shown)
        )
        if column is not None:
            faults.add(pictures.picture_fault(file, line, column))
            continue
        rows.append(JsonRow(line, number, values, shown))
        if (shape := tuple(values)) not in shapes:
            shapes.add(shape)
            names.update(shape)
            check_width(len(names), file)
    return JsonRows(tuple(rows), faults.kept, faults.unlisted)


def json_objects(source: Source) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Each object of a source with its line; in JSON Lines also what is wrong with a line."""
    if source.records is not None:
        return ((row.line, row.values) for row in source.records)
    return parse_lines(source.text)


def parse_lines(text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Each line that is not blank with its number: its object, or what is wrong with it."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if line.strip():
            yield number, _parse_json_line(line)


def parse_json(text: str) -> Any:
    """A JSON value whose numbers stay as they are written.

    Raises:
        ValueError: the text is no JSON, or has half a surrogate pair.
        RecursionError: it is nested too deeply.
    """
    value: Any = json.loads(text, parse_int=str, parse_float=str, parse_constant=constant_text)
    if has_lone_surrogate(value):
        raise ValueError("half of a \\u pair")
    return value


def constant_text(name: str) -> str | None:
    """A constant that JSON lacks and Python writes: Infinity as a text, NaN as what it means."""
    return None if name == "NaN" else name


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
        return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(cell_text(item) for item in cast(Iterable[Any], value))
    return _ENCODER.encode(value)


def _parse_json_line(line: str) -> dict[str, Any] | str:
    # Numbers stay as they are written: 1.0 and 1e3 are texts to us.
    try:
        value: Any = _DECODER.decode(line)
        half = "\\u" in line and has_lone_surrogate(value)
    except json.JSONDecodeError as error:
        return f"no JSON ({error.msg} at character {error.pos + 1})"
    except RecursionError:
        return _NESTED_TOO_DEEPLY
    if half:
        return "half of a \\u pair"
    return cast(dict[str, Any], value) if isinstance(value, dict) else "JSON that is no object"


_ENCODER = json.JSONEncoder(ensure_ascii=False)
_DECODER = json.JSONDecoder(
    parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=constant_text
)


def _cell_texts(record: Mapping[str, Any]) -> dict[str, str] | str:
    try:
        return {key: cell_text(value) for key, value in record.items()}
    except RecursionError:
        return _NESTED_TOO_DEEPLY


def _objects_table(read: JsonRows, file: str) -> RawTable:
    names = dict.fromkeys(chain.from_iterable(row.texts for row in read.rows))
    check_width(len(names), file)
    rows = (RawRow(row.line, tuple(row.texts.get(name, "") for name in names)) for row in read.rows)
    return RawTable(tuple(names), tuple(rows), "", read.faults, unlisted=read.unlisted)
