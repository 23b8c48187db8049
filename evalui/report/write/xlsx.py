"""Workbooks, which XlsxWriter makes a row at a time in a temporary file.

Why it does, and what it costs, is in docs/adr/0011-exports.md.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unicodedata import east_asian_width

import numpy as np
import pandas as pd
import xlsxwriter

from evalui.messages import localized
from evalui.report.frames.base import FrameParts
from evalui.report.write.csv import cells, escape_formula, is_missing
from evalui.report.write.lead_sheets import LeadSheet, SheetCell, ShownNumber
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
SIGNATURES = "signatures"  # the name of the last sheet
_WIDEST = 44  # characters of a column
_BOOLEANS = (bool, np.bool_)

_Cell = tuple[str | float | bool, int]  # with the most bytes of XML that it takes


def xlsx_parts(
    tables: Mapping[str, FrameParts],
    signatures: Sequence[str],
    language: Language = "en",
    *,
    leads: Iterable[LeadSheet] = (),
) -> Iterator[bytes]:
    """A workbook: the sheets for people, one for each named table, and one of the signatures.

    The heads of each are in its first row, and kept in view. A table with more rows than a sheet
    takes goes on in further sheets, which each sheet states. The first piece comes when all rows
    are written.

    Raises:
        OSError: the folder of temporary files cannot take it.
    """
    with TemporaryDirectory(prefix="evalui-") as folder:  # nobody else can read it
        path = Path(folder) / "workbook.xlsx"
        options = {"constant_memory": True, "tmpdir": folder, "use_zip64": True}
        with xlsxwriter.Workbook(path, options) as book:
            book.set_properties({"created": _DATE})
            bold = book.add_format({"bold": True})
            for lead in leads:
                _write_lead(book, lead, bold)
            for name, table in tables.items():
                _write_table(book, name, table, language, bold)
            if signatures:
                signed = FrameParts.of(pd.DataFrame({"signature": signatures}))
                _write_table(book, SIGNATURES, signed, language, bold)
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def _write_lead(book: xlsxwriter.Workbook, lead: LeadSheet, bold: Any) -> None:
    sheet = _sheet(book, lead.name, lead.heads, bold)
    for column, head in enumerate(lead.heads):
        texts = [head, *(_text(row[column]) for row in lead.rows)]
        sheet.set_column(column, column, min(_WIDEST, max(map(_width, texts)) + 2))
    formats = {
        cell.format: book.add_format({"num_format": cell.format})
        for row in lead.rows
        for cell in row
        if isinstance(cell, ShownNumber)
    }
    for place, row in enumerate(lead.rows, start=1):
        for column, cell in enumerate(row):
            if isinstance(cell, ShownNumber):
                sheet.write_number(place, column, cell.value, formats[cell.format])
            elif cell:
                sheet.write_string(place, column, _clean(cell))
    for place, note in enumerate(lead.notes, start=len(lead.rows) + 2):
        sheet.write_string(place, 0, _clean(note))


def _text(cell: SheetCell) -> str:
    return f"{cell.value:,}" if isinstance(cell, ShownNumber) else cell


def _width(text: str) -> int:
    """The columns of a terminal that a text takes: two for a Chinese character."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _sheet(book: xlsxwriter.Workbook, name: str, heads: Sequence[str], bold: Any) -> Any:
    sheet = book.add_worksheet(name)
    sheet.freeze_panes(1, 0)
    for column, head in enumerate(heads):
        sheet.write_string(0, column, _clean(head), bold)
    return sheet


def _write_table(
    book: xlsxwriter.Workbook, name: str, table: FrameParts, language: Language, bold: Any
) -> None:
    rows = _rows(table)
    waiting = next(rows, None)
    number = 0
    while waiting is not None:
        number += 1
        sheet = _sheet(book, f"{name}-{number}" if number > 1 else name, table.columns, bold)
        writers = {
            str: _writer(sheet.write_string),
            bool: _writer(sheet.write_boolean),
            float: _writer(sheet.write_number),
        }
        place, size = 1, 0
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


def _writer(method: Any) -> Callable[[int, int, Any], Any]:
    """A method of a sheet, without its look at each of a million places whether it is like "A1"."""
    return partial(method.__wrapped__, method.__self__)


def _rows(table: FrameParts) -> Iterator[Sequence[_Cell | None]]:
    for part in table.parts():
        yield from zip(*(cells(part[name], _cell) for name in part), strict=True)


def _cell(value: Any) -> _Cell | None:
    """What a cell holds with its size, made once for each distinct value; None if it is empty."""
    if isinstance(value, str):
        text = _clean(value)
        size = _CELL_BYTES + len(text.encode()) + 6 * len(_ESCAPES.findall(text))
        return (text, size) if text else None
    if is_missing(value):
        return None
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
