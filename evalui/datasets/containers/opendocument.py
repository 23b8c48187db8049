"""OpenDocument sheets (.ods) and binary workbooks (.xlsb): calamine reads their values.

A note says what it does not tell: number formats, hidden rows, merged cells, pictures, formulas.
"""

from datetime import date, datetime, time, timedelta
from typing import BinaryIO
from xml.parsers.expat import ExpatError, ParserCreate

from evalui.datasets.containers.number_formats import plain_number
from evalui.datasets.containers.sheets import (
    ERROR_VALUES,
    CellBudget,
    Sheet,
    open_package,
    select_sheets,
    to_tables,
)
from evalui.datasets.containers.workbook import shown_day
from evalui.datasets.model import Layout, Limits, Tables, UploadNote
from evalui.errors import DataError

_MANIFEST, _CONTENT = "META-INF/manifest.xml", "content.xml"
_Value = str | float | bool | date | time | datetime | timedelta


def read_values(source: BinaryIO, file: str, layout: Layout, limits: Limits) -> Tables:
    """The tables on the visible sheets of a workbook, or on the one that is wanted.

    Raises:
        DataError: it cannot be read, is too large or locked, or has no such sheet.
    """
    with open_package(source, file, limits) as archive:
        if _MANIFEST in archive.namelist() and b"encryption-data" in archive.read(_MANIFEST):
            raise DataError("workbook-locked", file=file)
        if _CONTENT in archive.namelist():
            # Of some damage calamine never comes to an end.
            with archive.open(_CONTENT) as content:
                try:
                    ParserCreate().ParseFile(content)
                except ExpatError as error:
                    raise ValueError(f"{_CONTENT}: {error}") from error
        from python_calamine import (
            CalamineError,
            CalamineWorkbook,
            PasswordError,
            SheetVisibleEnum,
        )

        try:
            source.seek(0)
            book = CalamineWorkbook.from_filelike(source)
            seen = [
                (each.name, each.visible is SheetVisibleEnum.Visible)
                for each in book.sheets_metadata
            ]
            visible = [title for title, is_visible in seen if is_visible]
            hidden = [title for title, is_visible in seen if not is_visible]
            budget = CellBudget(file, limits)
            sheets = list(map(Sheet, select_sheets(visible, file, layout.sheet)))
            for sheet in sheets:
                found = book.get_sheet_by_name(sheet.title)
                rows = found.to_python(skip_empty_area=False, nrows=limits.lines + 1)
                for line, values in enumerate(rows, start=1):
                    cells = [
                        sheet.mark_broken(line, column, f"the error {text}")
                        if text in ERROR_VALUES or text.startswith("Err:")
                        else text
                        for column, text in enumerate(map(_shown, values))
                    ]
                    budget.add(sheet, line, cells)
        except PasswordError as error:
            raise DataError("workbook-locked", file=file) from error
        except CalamineError as error:
            raise ValueError(error) from error
        tables = to_tables(sheets, visible, hidden, file, layout)
        note = UploadNote("plain-values", {"file": file})
        return Tables(tables.tables, (*tables.notes, note), tables.titles)


def _shown(value: _Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return plain_number(value)
    return shown_day(value)
