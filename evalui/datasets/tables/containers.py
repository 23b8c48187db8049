"""The tables of a file as the readers of rows take them, until they take tables themselves."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from evalui.datasets.containers import open_tables
from evalui.datasets.files.archive import SourceFile
from evalui.datasets.files.encoding import decode
from evalui.datasets.model import (
    JsonRow,
    Layout,
    Limits,
    RawRow,
    RawTable,
    Table,
    UploadNote,
    cell_text,
    row_numbers,
)
from evalui.types import Fault


@dataclass(frozen=True, slots=True)
class JsonRows:
    """The rows whose values have types, the others' faults, and how many more faults there are."""

    rows: tuple[JsonRow, ...]
    faults: tuple[Fault, ...] = ()
    unlisted: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True, slots=True)
class Part:
    """One table of a file. `title` is that of a sheet, or the key of a list; "" for a whole file.

    Delimited text has its text beside its table, since some formats have no head.
    """

    title: str = ""
    text: str = ""
    encoding: str = "utf-8"
    table: RawTable | None = None
    records: JsonRows | None = None
    notes: tuple[UploadNote, ...] = ()


@dataclass(frozen=True, slots=True)
class Container:
    """The parts of a file, notes on it as a whole, and the titles that can be chosen."""

    parts: tuple[Part, ...]
    notes: tuple[UploadNote, ...] = ()
    titles: tuple[str, ...] = ()


def open_container(member: SourceFile, layout: Layout, limits: Limits) -> Container:
    """The tables of a file, or the one that the layout chooses; raises as `open_tables`."""
    read = open_tables(member, layout, limits)
    parts = [to_part(table) for table in read.tables]
    if any(table.delimiter for table in read.tables):
        parts = [replace(parts[0], text=decode(member.data, member.name).text)]
    return Container(tuple(parts), read.notes, read.titles)


def to_part(table: Table) -> Part:
    """A table as cells of texts, or as objects whose rows count those too that cannot be read."""
    rows: Sequence[object] = table.rows
    raw = RawTable(
        table.heads,
        cast(tuple[RawRow, ...], tuple(rows)),
        table.delimiter,
        table.faults,
        table.head_line,
        table.unlisted,
    )
    if not table.typed:
        return Part(table.title, "", table.encoding, raw, None, table.notes)
    records: list[JsonRow] = []
    for number, (line, cells) in zip(row_numbers(table), table.rows, strict=True):
        values = dict(zip(table.heads, cells, strict=False))
        texts = {head: cell_text(value) for head, value in values.items()}
        records.append(JsonRow(line, number, values, texts))
    read = JsonRows(tuple(records), table.faults, table.unlisted)
    return Part(table.title, "", table.encoding, None, read, table.notes)
