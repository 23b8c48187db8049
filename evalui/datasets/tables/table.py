"""The rows of a source: cells under a header, or JSON objects whose values have types.

What a file has is found out where it is opened; a source that is only a text is JSON Lines if it
begins with an object, else delimited.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from evalui.datasets.containers.delimited import read_delimited
from evalui.datasets.containers.heads import check_width
from evalui.datasets.containers.json import parse_json, read_json_lines
from evalui.datasets.model import JsonNumber, Layout, RawRow, RawTable, Source, cell_text
from evalui.datasets.tables.containers import JsonRows, to_part

__all__ = [
    "JsonNumber",
    "cell_text",
    "is_json_lines",
    "json_objects",
    "json_rows",
    "parse_json",
    "read_header",
    "read_headerless",
    "read_table",
]


def read_header(source: Source, *_: object) -> tuple[str, ...]:
    """The column names of a file."""
    if source.table is None and is_json_lines(source):
        return next((tuple(record) for _, record in json_objects(source)), ())
    return read_table(source).header


def is_json_lines(source: Source) -> bool:
    """Whether the rows are objects, whatever the file is: JSON Lines, JSON, Parquet, a quiz."""
    return source.records is not None or (
        source.table is None and source.text.lstrip("\ufeff \t\n").startswith("{")
    )


def read_table(source: Source, *_: object) -> RawTable:
    """The whole file as a table; raises `DataError` as the reader of delimited text."""
    if source.table:
        return source.table
    if is_json_lines(source):
        read = json_rows(source)
        names = dict.fromkeys(chain.from_iterable(row.texts for row in read.rows))
        check_width(len(names), source.name)
        rows = (
            RawRow(row.line, tuple(row.texts.get(name, "") for name in names)) for row in read.rows
        )
        return RawTable(tuple(names), tuple(rows), "", read.faults, unlisted=read.unlisted)
    table = to_part(read_delimited(source.text, source.name, Layout())).table
    return table or RawTable((), (), "")


def read_headerless(source: Source, *, max_rows: int | None = None) -> RawTable:
    """A file separated by commas that has no header: all its rows, or the first `max_rows`."""
    table = to_part(read_delimited(source.text, source.name, Layout(head_row=-1))).table
    return replace(table, rows=table.rows[:max_rows]) if table else RawTable((), (), "")


def json_rows(source: Source) -> JsonRows:
    """The objects of a source, and the faults of what cannot be read as one."""
    if source.records is not None:
        return JsonRows(source.records, source.faults, source.unlisted)
    return to_part(read_json_lines(source.text, source.name)).records or JsonRows(())


def json_objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each object of a source with its line."""
    return ((row.line, row.values) for row in json_rows(source).rows)
