"""Excel workbooks (.xlsx, .xlsm): openpyxl reads the cells of a sheet as a stream.

With its own parser of rows each cell is seen as the file has it, so that what openpyxl does not
tell of a workbook that it streams is noted on the way: hidden rows, merged cells, formulas without
a value. Formulas are never evaluated: the value counts that was saved beside them. ECMA-376 part 1
says what the parts hold.
"""

import re
import warnings
import zipfile
from datetime import date, datetime, time, timedelta
from importlib import import_module
from typing import Any, BinaryIO, cast

from evalui.datasets.containers.number_formats import FormatNumber, plain_number
from evalui.datasets.containers.package_pictures import PackagePictures
from evalui.datasets.containers.sheets import (
    ERROR_VALUES,
    FORMULA_WITHOUT_VALUE,
    CellBudget,
    MergedRegion,
    NumberFormats,
    Sheet,
    open_package,
    select_sheets,
    to_tables,
)
from evalui.datasets.model import Layout, Limits, Tables, cell_text
from evalui.errors import DataError
from evalui.messages import Sentence
from evalui.pictures import Mark

# Characters that XML does not have; a person who writes such a name means it.
_ESCAPE = re.compile(r"_x00([01][0-9A-Fa-f]|7F)_")
_STRICT = b"http://purl.oclc.org/ooxml/spreadsheetml/main"


def read_workbook(source: BinaryIO, file: str, layout: Layout, limits: Limits) -> Tables:
    """The tables on the visible sheets of a workbook, or on the one that is wanted.

    Raises:
        DataError: this is no workbook that can be read, it is too large, or has no such sheet.
    """
    with open_package(source, file, limits) as archive, warnings.catch_warnings():
        # About styles and extensions that it leaves out.
        warnings.simplefilter("ignore")
        from openpyxl import load_workbook

        parts = {name.lower() for name in archive.namelist()}
        if "xl/workbook.xml" in parts and _STRICT in archive.read("xl/workbook.xml"):
            raise DataError("workbook-strict", file=file)
        book: Any = load_workbook(source, read_only=True, data_only=True)
        reader = _BookReader(book, archive, CellBudget(file, limits))
        visible = [each.title for each in book.worksheets if each.sheet_state == "visible"]
        hidden = [each.title for each in book.worksheets if each.sheet_state != "visible"]
        chosen = select_sheets(visible, file, layout.sheet)
        sheets = [reader.read(book[title]) for title in chosen]
        return to_tables(sheets, visible, hidden, file, layout)


class _BookReader:
    """The sheets of one workbook."""

    def __init__(self, book: Any, archive: zipfile.ZipFile, budget: CellBudget) -> None:
        self._book = book
        self._archive = archive
        self._budget = budget
        self._pictures = PackagePictures(archive)
        self._parsing: Any = import_module("openpyxl.worksheet._reader")
        self._dates: Any = import_module("openpyxl.utils.datetime")
        self._formats = NumberFormats(starts_1904=book.epoch == self._dates.MAC_EPOCH)
        self._codes: dict[int, tuple[int, str]] = {}

    def read(self, worksheet: Any) -> Sheet:
        """The cells of a sheet, and what stands on it."""
        sheet = Sheet(worksheet.title)
        path = worksheet._worksheet_path
        parsing = self._parsing
        with self._archive.open(path) as source:
            # Without formats of dates, days stay numbers, which are written as all others are.
            parser = parsing.WorkSheetParser(
                source, worksheet._shared_strings, data_only=True, epoch=self._book.epoch
            )
            # Whatever follows the cells may be damaged.
            for _, element in parsing.iterparse(source):
                if element.tag == parsing.ROW_TAG:
                    self._read_row(parser, element, sheet)
                elif element.tag == parsing.MERGE_TAG:
                    sheet.merged += map(_region, element)
        sheet.pictures += self._pictures.pasted_on(path)
        return sheet

    def _read_row(self, parser: Any, element: Any, sheet: Sheet) -> None:
        line, cells = parser.parse_row(element)
        shown = list(sheet.lines.get(line, ()))  # a program may have written a row in parts
        for source, cell in zip(element, cells, strict=True):
            column = cell["column"] - 1
            if text := self._shown(source, cell, sheet, line, column):
                self._budget.check_width(column + 1)
                shown += [""] * (column + 1 - len(shown))
                shown[column] = text
        if element.get("hidden") in ("1", "true"):
            sheet.hidden.add(line)
        self._budget.add(sheet, line, shown)
        element.clear()
        parser.row_dimensions.clear()

    def _shown(self, source: Any, cell: Any, sheet: Sheet, line: int, column: int) -> str:
        """What a cell shows."""
        value, kind = cell["value"], source.get("t")
        if not value and value != 0:
            # A formula may well give an empty text, which programs save as such.
            has_formula = source.find(self._parsing.FORMULA_TAG) is not None
            broken = has_formula and kind != "str"
            return sheet.mark_broken(line, column, FORMULA_WITHOUT_VALUE) if broken else ""
        if isinstance(value, str):
            # A text like "#N/A" among the shared ones is what a person wrote.
            if picture := self._picture(value, source):
                return sheet.mark_picture(line, column, picture)
            if kind == "e" or (kind != "s" and value in ERROR_VALUES):
                return sheet.mark_broken(line, column, f"the error {value}")
            return _shown_text(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        writer = self._writer(cell["style_id"], sheet)
        if not isinstance(value, int | float):
            if writer is None:
                return shown_day(value)
            value = cast(float, self._dates.to_excel(value, self._book.epoch))
        return writer(float(value)) if writer else plain_number(float(value))

    def _writer(self, style: int, sheet: Sheet) -> FormatNumber | None:
        if style not in self._codes:
            from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE

            number = int(self._book._cell_styles[style].numFmtId)
            own = number - BUILTIN_FORMATS_MAX_SIZE
            code = self._book._number_formats[own] if own >= 0 else BUILTIN_FORMATS.get(number, "")
            self._codes[style] = number, code or "General"
        return self._formats.writer(*self._codes[style], sheet)

    def _picture(self, value: str, cell: Any) -> Mark | Sentence | None:
        """The picture that a cell is, which older programs show as an error or a formula."""
        if cell.get("t") == "e":
            return self._pictures.placed(cell.get("vm", "0"))
        return self._pictures.named(value)


def _region(merged: Any) -> MergedRegion:
    from openpyxl.utils import range_boundaries

    left, top, right, bottom = range_boundaries(merged.get("ref"))
    return MergedRegion(top or 1, bottom or 1, (left or 1) - 1, (right or 1) - 1)


def shown_day(value: date | time | timedelta) -> str:
    """A day or a time without a format, as ISO 8601 has it."""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    return str(value) if isinstance(value, timedelta) else value.isoformat()


def _shown_text(text: str) -> str:
    """A text as it is shown: without the escapes for characters that XML does not have."""
    if "_x00" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return cell_text(text)
