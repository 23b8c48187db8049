"""What tests of containers give and look at: bytes in, tables out."""

from pathlib import PurePosixPath
from typing import Any

from evalui.datasets.containers import open_tables
from evalui.datasets.files import SourceFile
from evalui.datasets.model import FileTable, Layout, Limits, Tables


def opened(
    name: str,
    content: str | bytes,
    *,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    **layout: Any,
) -> Tables:
    data = content.encode() if isinstance(content, str) else content
    return open_tables(SourceFile(PurePosixPath(name), data), Layout(**layout), limits)


def only_table(name: str, content: str | bytes, **options: Any) -> FileTable:
    (table,) = opened(name, content, **options).tables
    return table


def named_rows(table: FileTable) -> list[dict[str, Any]]:
    """The rows by the heads, without what a row lacks."""
    return [
        {name: cell for name, cell in zip(table.heads, row.cells, strict=False) if cell is not None}
        for row in table.rows
    ]


def note_texts(table: FileTable) -> list[str]:
    return [str(note) for note in table.notes]


def faults_of(table: FileTable) -> list[tuple[int, str, str]]:
    return [(fault.line, fault.column, fault.rule) for fault in table.faults]
