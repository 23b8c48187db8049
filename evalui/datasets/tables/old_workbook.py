"""Old Excel workbooks (.xls): xlrd reads the cells, once the size of what they make is known.

A small file may state cells far apart, for which a reader makes rows of blank ones, so the records
of each sheet are counted first. [MS-CFB] and [MS-XLS] say what a file holds.
"""

import io
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalui.datasets.model import Limits
from evalui.datasets.tables.number_formats import (
    BUILTIN_FORMATS,
    FormatNumber,
    UnknownNumberFormat,
    compile_format,
    plain_number,
)
from evalui.datasets.tables.sheets import (
    CellBudget,
    MergedRegion,
    SheetGrid,
    Workbook,
    select_sheets,
)
from evalui.datasets.tables.workbook import as_damage
from evalui.datasets.tables.xml_stream import XmlDamage
from evalui.errors import DataError

_ENCRYPTION_MARKER = "EncryptedPackage".encode("utf-16-le")
_SECTOR_SHIFTS = ((9, 6), (12, 6))  # of the sizes of sectors and short ones that there are
_STREAMS = ("Workbook", "Book")
_BOF, _EOF, _FILEPASS, _SHEET, _DRAWING, _OBJECT = 0x809, 0x0A, 0x2F, 0x85, 0xEC, 0x5D
_OLD_PICTURE = 8  # the type of an object of Excel 5, which other programs still write
_VERSIONS = (0x0500, 0x0600)  # Excel 5 and 95, Excel 97 to 2003
_ONE_CELL = frozenset((0x06, 0x201, 0x203, 0x204, 0x205, 0x27E, 0xD6, 0xFD, 0x206, 0x406))
_MANY_CELLS = frozenset((0xBD, 0xBE))  # MULRK and MULBLANK, which end with their last column
# A shape that is a picture, and the cell at which a shape begins: flags, column, offset, row.
_PICTURE = b"\xb2\x04\x0a\xf0\x08\x00\x00\x00"
_ANCHOR = b"\x00\x00\x10\xf0\x12\x00\x00\x00"
_EMPTY, _TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR, _BLANK = range(7)  # xlrd's types of cells
# Formats that a file names by their number; what it states of the others is in the file.
_COUNTRY_FORMATS = frozenset((14, 22, *range(27, 37), *range(50, 59)))


class _Record(NamedTuple):
    kind: int
    start: int
    size: int


def read_old_workbook(data: bytes, file: str, *, sheet: str, limits: Limits) -> Workbook:
    """The visible sheets of an old workbook, or only the one called `sheet`.

    Raises:
        DataError: it cannot be read, is too large or locked, or has no such sheet.
    """
    if _ENCRYPTION_MARKER in data:
        raise DataError("workbook-locked", file=file)
    with as_damage(file):
        from xlrd.biffh import XLRDError
        from xlrd.compdoc import CompDocError

        try:
            return _read(data, file, sheet, CellBudget(file, limits))
        # What xlrd raises on a file that is not as it expects, beside the errors of damage.
        except (XLRDError, CompDocError, AssertionError, AttributeError, TypeError) as error:
            raise XmlDamage(str(error) or "its parts contradict one another") from error


def _read(data: bytes, file: str, wanted: str, budget: CellBudget) -> Workbook:
    import xlrd

    pictures = _count_records(_workbook_stream(data), file, budget)
    book: Any = xlrd.open_workbook(
        file_contents=data,
        logfile=io.StringIO(),
        formatting_info=True,
        on_demand=True,
        ragged_rows=True,
    )
    grids: list[SheetGrid] = []
    for place in range(book.nsheets):
        grid = _SheetReader(book, book.sheet_by_index(place)).read()
        book.unload_sheet(place)
        if place < len(pictures):
            grid.pictures = pictures[place]
        grids.append(grid)
    visible = tuple(grid.title for grid in grids if grid.visible)
    chosen = select_sheets(visible, file, wanted)
    return Workbook(
        tuple(grid for grid in grids if grid.visible and grid.title in chosen),
        visible,
        tuple(grid.title for grid in grids if not grid.visible),
    )


def _workbook_stream(data: bytes) -> bytes:
    from xlrd.compdoc import CompDoc

    if struct.unpack_from("<HH", data, 30) not in _SECTOR_SHIFTS:
        raise XmlDamage("the sizes of its sectors are not those of any program")
    document: Any = CompDoc(data, logfile=io.StringIO())
    for name in _STREAMS:
        memory, start, size = document.locate_named_stream(name)
        if memory:
            return bytes(memory[start : start + size])
    raise XmlDamage("it has no workbook in it")


def _count_records(stream: bytes, file: str, budget: CellBudget) -> list[dict[int, int]]:
    """The columns of the pictures of each sheet by row, once all cells are counted."""
    sheets: list[int] = []
    for record in _records(stream, 0):
        if record.kind == _FILEPASS:
            raise DataError("workbook-locked", file=file)
        if record.kind == _BOF and not record.start - 4:
            (version,) = struct.unpack_from("<H", stream, record.start)
            if version not in _VERSIONS:
                raise XmlDamage("it is older than Excel 5")
        budget.spend("", 0, 0)
        # The place, the visibility and the type, of which 0 is a sheet of cells.
        if record.kind == _SHEET and not stream[record.start + 5]:
            sheets += struct.unpack_from("<I", stream, record.start)
    return [_count_sheet(stream, start, budget) for start in sheets]


def _count_sheet(stream: bytes, start: int, budget: CellBudget) -> dict[int, int]:
    widths: dict[int, int] = {}
    pictures: dict[int, int] = {}
    for record in _records(stream, start):
        budget.spend("", 0, 0)
        if record.kind in _ONE_CELL or record.kind in _MANY_CELLS:
            row, column = struct.unpack_from("<HH", stream, record.start)
            if record.kind in _MANY_CELLS:
                (column,) = struct.unpack_from("<H", stream, record.start + record.size - 2)
            if column >= widths.get(row, 0):
                widths[row] = column + 1
        elif record.kind == _DRAWING:
            piece = stream[record.start : record.start + record.size]
            at = piece.find(_ANCHOR, piece.find(_PICTURE)) if _PICTURE in piece else -1
            if at >= 0:
                column, row = struct.unpack_from("<HxxH", piece, at + len(_ANCHOR) + 2)
                pictures[row + 1] = column
        elif record.kind == _OBJECT and record.size > 16:
            # A count, a type, a number, flags, a column and an offset stand before the row.
            kind, column, row = struct.unpack_from("<4xH4xHxxH", stream, record.start)
            if kind == _OLD_PICTURE:
                pictures[row + 1] = column
    budget.spend("", 0, sum(widths.values()) + max(widths, default=0))
    return pictures


def _records(stream: bytes, start: int) -> Iterator[_Record]:
    """The records of one part of a workbook, those of charts in it too."""
    depth = 0
    while start + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, start)
        yield _Record(kind, start + 4, size)
        depth += (kind == _BOF) - (kind == _EOF)
        if kind == _EOF and depth <= 0:
            return
        start += 4 + size


class _SheetReader:
    """One sheet of xlrd's as a grid."""

    def __init__(self, book: Any, sheet: Any) -> None:
        self._book = book
        self._sheet = sheet
        self._grid = SheetGrid(str(sheet.name), visible=sheet.visibility == 0)
        self._writers: dict[int, FormatNumber | None] = {}

    def read(self) -> SheetGrid:
        sheet, grid = self._sheet, self._grid
        for row in range(sheet.nrows):
            kinds, values = sheet.row_types(row), sheet.row_values(row)
            cells = [
                self._shown(row, column, kind, value)
                for column, (kind, value) in enumerate(zip(kinds, values, strict=True))
            ]
            grid.add_row(row + 1, cells)
        grid.merged = [
            MergedRegion(top + 1, bottom, left, right - 1)
            for top, bottom, left, right in sheet.merged_cells
        ]
        grid.hidden = {row + 1 for row, shown in sheet.rowinfo_map.items() if shown.hidden}
        return grid

    def _shown(self, row: int, column: int, kind: int, value: Any) -> str:
        if kind == _TEXT:
            text = str(value)
            return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        if kind in (_NUMBER, _DATE):
            writer = self._writer(self._sheet.cell_xf_index(row, column))
            return writer(float(value)) if writer else plain_number(float(value))
        if kind == _BOOLEAN:
            return "TRUE" if value else "FALSE"
        if kind == _ERROR:
            from xlrd.biffh import error_text_from_code

            shown = error_text_from_code.get(value, "#N/A")
            self._grid.mark_broken(row + 1, column, f"the error {shown}")
        return ""

    def _writer(self, style: int) -> FormatNumber | None:
        if style not in self._writers:
            number = self._book.xf_list[style].format_key
            code = str(self._book.format_map[number].format_str)
            if number in _COUNTRY_FORMATS:
                code = BUILTIN_FORMATS[number]
            try:
                self._writers[style] = compile_format(code, starts_1904=bool(self._book.datemode))
            except UnknownNumberFormat:
                self._grid.formats.add(code)
                self._writers[style] = None
        return self._writers[style]
