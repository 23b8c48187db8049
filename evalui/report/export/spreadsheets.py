"""Tables as CSV, which nothing in them makes a spreadsheet run, and as Parquet.

Cells come from uploaded files and from models. A spreadsheet takes a text that begins with one of
a few signs for a formula, so such a text gets an apostrophe in front (OWASP, "CSV injection").
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import chain, islice, repeat
from math import inf
from typing import Any

import numpy as np

from evalui.report.blocks import Block, Card, Table
from evalui.report.export.trial_cells import ExportColumn, ExportTable
from evalui.report.render.text import table_texts

# The full-width signs count too: spreadsheets in Chinese and Japanese read them as the others.
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")

_INFINITE = (inf, -inf)
_GROUP = 16  # chunks of a table in a group of rows


def escape_formula(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet might run it."""
    return "'" + text if text.startswith(_FORMULA) else text


def csv_parts(table: ExportTable) -> Iterator[bytes]:
    """The table as UTF-8 CSV with a byte order mark, without which Excel garbles Chinese."""
    yield _lines([map(_csv_cell, table.kinds)]).encode("utf-8-sig", errors="backslashreplace")
    for chunk in table.chunks():
        rows = zip(*(column.map(_csv_cell).listed() for column in chunk), strict=True)
        yield _lines(rows).encode(errors="backslashreplace")


def shown_tables_csv(blocks: Iterable[Block]) -> str:
    """The tables that blocks show, each under its title, with an empty line between them."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    for place, (name, table) in enumerate(_tables(blocks)):
        if place:
            writer.writerow([])
        writer.writerow([escape_formula(name)])
        writer.writerows([*map(escape_formula, row)] for row in table_texts(table))
    return written.getvalue()


def _tables(blocks: Iterable[Block], title: str = "") -> Iterator[tuple[str, Table]]:
    for block in blocks:
        if isinstance(block, Card):
            yield from _tables(block.blocks, block.title)
        elif isinstance(block, Table):
            yield title, block


class ForwardPipe(io.RawIOBase):
    """What is written comes out again at the other end; nobody can go back in it."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """It can be written."""
        return True

    def tell(self) -> int:
        """The bytes written so far."""
        return self._size

    def write(self, data: Any, /) -> int:
        """Keep the bytes until they are drained."""
        self._size += len(data)
        self._parts.append(bytes(data))
        return len(data)

    def drain(self) -> Iterator[bytes]:
        """What was written since the last time, in one piece; nothing if that is nothing."""
        parts, self._parts = self._parts, []
        whole = b"".join(parts)
        if whole:
            yield whole


def parquet_parts(table: ExportTable) -> Iterator[bytes]:
    """The table as Parquet, some ten thousand rows in a group.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """
    # Without types, and not everywhere installed.
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    types: dict[type, Any] = {str: pyarrow.string(), bool: pyarrow.bool_(), int: pyarrow.int64()}
    schema = pyarrow.schema(
        [(name, types.get(kind, pyarrow.float64())) for name, kind in table.kinds.items()]
    )
    pipe = ForwardPipe()
    with parquet.ParquetWriter(pipe, schema) as writer:
        chunks, sizes = table.chunks(), chain([1], repeat(_GROUP))  # something is sent at once
        while group := [
            pyarrow.record_batch([*map(_array, chunk, schema.types)], schema=schema)
            for chunk in islice(chunks, next(sizes))
        ]:
            writer.write_table(pyarrow.Table.from_batches(group))
            yield from pipe.drain()
    yield from pipe.drain()


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, or a number that is not finite."""
    return value is None or value != value or value in _INFINITE  # NaN alone differs from itself


def _lines(rows: Iterable[Iterable[str]]) -> str:
    return "".join([f"{','.join(row)}\r\n" for row in rows])


_is_special = re.compile('[",\r\n]').search


def _csv_cell(value: Any) -> str:  # a cell of any type
    """The cell as the `csv` module writes it, which looks at each of its characters alone."""
    if is_missing(value):
        return ""
    text = escape_formula(value) if isinstance(value, str) else str(value)
    return '"' + text.replace('"', '""') + '"' if _is_special(text) else text


def _array(column: ExportColumn, kind: Any) -> Any:
    """The column as Arrow has it: each distinct value is made once, as `pyarrow.array` would.

    That function imports pandas. Halves of characters, which UTF-8 does not have, are written out.
    """
    pyarrow: Any = import_module("pyarrow")

    def made(kind: Any, n: int, *buffers: Any) -> Any:
        held = [None if each is None else pyarrow.py_buffer(each) for each in buffers]
        return pyarrow.Array.from_buffers(kind, n, held)

    values, n = column.values, len(column.values)
    values = [None if is_missing(value) else value for value in values]
    there = np.packbits([value is not None for value in values], bitorder="little")
    if kind == pyarrow.string():
        texts = [(value or "").encode(errors="backslashreplace") for value in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        # The cast refuses more than the 2 GiB that a column of texts holds.
        array = made(pyarrow.large_string(), n, there, ends, b"".join(texts)).cast(kind)
    else:
        numbers = np.array([value or 0 for value in values], dtype=kind.to_pandas_dtype())
        is_bits = kind == pyarrow.bool_()
        array = made(
            kind, n, there, np.packbits(numbers, bitorder="little") if is_bits else numbers
        )
    codes = column.codes
    if codes is None:
        return array
    return array.take(made(pyarrow.int64(), len(codes), None, codes.astype(np.int64, copy=False)))
