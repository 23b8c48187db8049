"""Frames as files for spreadsheets: nothing in them is ever run as a formula.

Cells come from uploaded files and from models. A spreadsheet takes a text that begins with one of
a few signs for a formula, so such a text gets an apostrophe in front (OWASP, "CSV injection").
"""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

# The full-width signs count too: spreadsheets in Chinese and Japanese read them as the others.
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
# What XML 1.0 cannot hold; openpyxl refuses it.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CELL_LIMIT = 32_767
_ROW_LIMIT = 1_048_576


def escape_formula(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet might run it."""
    return "'" + text if text.startswith(_FORMULA) else text


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """The frame as UTF-8 CSV with a byte order mark, without which Excel garbles Chinese."""
    text = _escape_frame(frame).to_csv(index=False, lineterminator="\r\n")
    return text.encode("utf-8-sig", errors="backslashreplace")


def xlsx_bytes(tables: Mapping[str, pd.DataFrame], signatures: Sequence[str]) -> bytes:
    """A workbook with one sheet per table: the signatures, then the header, both kept in view."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for name, frame in tables.items():
        sheet = book.create_sheet(name)
        sheet.freeze_panes = "A3"
        room = _ROW_LIMIT - 3
        sheet.append([_cell(sheet, "\n".join(signatures))])
        sheet.append([_head(sheet, str(column)) for column in frame.columns])
        for row in frame.head(room).itertuples(index=False, name=None):
            sheet.append([_cell(sheet, value) for value in row])
        if len(frame) > room:
            sheet.append([f"{len(frame) - room} more rows are in the CSV file."])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _escape_frame(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.map(_escape_value).rename(columns=escape_formula)


def _escape_value(value: Any) -> Any:  # a cell of any type
    return escape_formula(value) if isinstance(value, str) else value


def _cell(sheet: Any, value: Any) -> Any:  # openpyxl has no types
    if not isinstance(value, str):
        return None if pd.isna(value) else value
    text = _truncated(escape_formula(_UNPRINTABLE.sub("\ufffd", value)))
    return _as_text(sheet, text) if text.startswith("#") else text


def _as_text(sheet: Any, text: str) -> Any:
    """A cell that stays text: openpyxl takes "#N/A" for an error."""
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, text)
    cell.data_type = "s"
    return cell


def _head(sheet: Any, name: str) -> Any:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    cell = WriteOnlyCell(sheet, _truncated(escape_formula(_UNPRINTABLE.sub("\ufffd", name))))
    cell.font = Font(bold=True)
    return cell


def _truncated(text: str) -> str:
    if len(text) <= _CELL_LIMIT:
        return text
    note = f" […{len(text)} characters, all of them in the CSV file]"
    return text[: _CELL_LIMIT - len(note)] + note
