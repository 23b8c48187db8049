"""Workbooks, which XlsxWriter makes a row at a time in a temporary file.

Why it does, and what it costs, is in docs/adr/0011-exports.md.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import xlsxwriter

from evalui.messages import localized
from evalui.report.frames.base import FrameParts
from evalui.report.write.csv import cells, escape_formula, is_missing
from evalui.types import Language

# A fixed date: the same report gives the same workbook, byte for byte.
_DATE = datetime(1980, 1, 1, tzinfo=UTC)
# What XML 1.0 cannot hold.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_RETURN = re.compile("\r\n?")  # a line of a cell ends with a line feed
_CELL_LIMIT = 32_767
_ROW_LIMIT = 1_048_576
# Of XML in a sheet: beyond it a zip needs extensions that Excel offers to repair.
_SHEET_BYTES = 2**31 - 2**24
_CELL_BYTES = 96  # of marks around a text or a number, at most, the number itself included
_ESCAPES = re.compile('[&<>"]|_x')  # each becomes up to six bytes more
_PIECE = 2**18  # bytes
_BOOLEANS = (bool, np.bool_)

_Cell = tuple[str | float | bool, int]  # with the most bytes of XML that it takes
Named = Iterable[tuple[str, FrameParts]]


def xlsx_parts(
    tables: Named, signatures: Sequence[str], language: Language = "en"
) -> Iterator[bytes]:
    """A workbook with a sheet per named table: the signatures, then the header, both kept in view.

    A table with more rows than a sheet takes goes on in further sheets, which each sheet states.
    The first piece comes when all rows are written.

    Raises:
        OSError: the folder of temporary files cannot take it.
    """
    with TemporaryDirectory(prefix="evalui-") as folder:  # nobody else can read it
        path = Path(folder) / "workbook.xlsx"
        options = {"constant_memory": True, "tmpdir": folder, "use_zip64": True}
        with xlsxwriter.Workbook(path, options) as book:
            book.set_properties({"created": _DATE})
            bold = book.add_format({"bold": True})
            for name, table in tables:
                _write_table(book, name, table, _clean("\n".join(signatures)), language, bold)
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def _write_table(
    book: xlsxwriter.Workbook,
    name: str,
    table: FrameParts,
    signed: str,
    language: Language,
    bold: Any,
) -> None:
    rows = _rows(table)
    waiting = next(rows, None)
    number = 0
    while waiting is not None:
        number += 1
        sheet = book.add_worksheet(f"{name}-{number}" if number > 1 else name)
        sheet.freeze_panes(2, 0)
        sheet.write_string(0, 0, signed)
        for column, head in enumerate(table.columns):
            sheet.write_string(1, column, _clean(head), bold)
        writers: dict[type, Callable[[int, int, Any], Any]] = {
            str: sheet.write_string,
            bool: sheet.write_boolean,
            float: sheet.write_number,
        }
        place, size = 2, 0
        while waiting is not None and place < _ROW_LIMIT - 1 and size < _SHEET_BYTES:
            for column, cell in enumerate(waiting):
                if cell:
                    value, held = cell
                    writers[type(value)](place, column, value)
                    size += held
            waiting = next(rows, None)
            place += 1
        if waiting is not None:
            more = localized("report.more_rows", language, sheet=f"{name}-{number + 1}")
            sheet.write_string(place, 0, more)


def _rows(table: FrameParts) -> Iterator[Sequence[_Cell | None]]:
    for part in table.parts():
        yield from zip(*(cells(part[name], _cell) for name in part), strict=True)


def _cell(value: Any) -> _Cell | None:
    """What a cell holds with its size, made once for each distinct value; None if it is empty."""
    if is_missing(value) or value == "":
        return None
    if isinstance(value, str):
        text = _clean(value)
        return text, _CELL_BYTES + len(text.encode()) + 6 * len(_ESCAPES.findall(text))
    return bool(value) if type(value) in _BOOLEANS else float(value), _CELL_BYTES


def _clean(text: str) -> str:
    """The text without what XML or Excel cannot hold, and never a formula or markup."""
    text = escape_formula(_UNPRINTABLE.sub("\ufffd", _RETURN.sub("\n", text)))
    if text.startswith("<r>"):  # XlsxWriter takes it for its own markup
        text = "'" + text
    if len(text) <= _CELL_LIMIT:
        return text
    note = f" […{len(text)} characters, all of them in the CSV file]"
    return text[: _CELL_LIMIT - len(note)] + note
