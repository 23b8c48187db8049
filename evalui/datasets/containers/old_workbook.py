"""Old Excel workbooks (.xls): xlrd reads the cells, and pictures are found in the records.

[MS-CFB] and [MS-XLS] say what a file holds.
"""

import io
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalui.datasets.containers.number_formats import FormatNumber, plain_number
from evalui.datasets.containers.sheets import (
    CellBudget,
    MergedRegion,
    NumberFormats,
    Sheet,
    SheetPicture,
    as_damage,
    select_sheets,
    to_tables,
)
from evalui.datasets.model import Layout, Limits, Tables, cell_text
from evalui.errors import DataError
from evalui.messages import sentence

_ENCRYPTION_MARKER = "EncryptedPackage".encode("utf-16-le")
_STREAMS = ("Workbook", "Book")
_BOF, _EOF, _FILEPASS, _SHEET, _DRAWING, _OBJECT = 0x809, 0x0A, 0x2F, 0x85, 0xEC, 0x5D
_OLD_PICTURE = 8  # the type of an object of Excel 5, which other programs still write
# A shape that is a picture, and the cell at which a shape begins: flags, column, offset, row.
_PICTURE = b"\xb2\x04\x0a\xf0\x08\x00\x00\x00"
_ANCHOR = b"\x00\x00\x10\xf0\x12\x00\x00\x00"
_EMPTY, _TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR, _BLANK = range(7)  # xlrd's types of cells


class _Record(NamedTuple):
    kind: int
    start: int
    size: int


def read_old_workbook(data: bytes, file: str, layout: Layout, limits: Limits) -> Tables:
    """The tables on the visible sheets of an old workbook, or on the one that is wanted.

    Raises:
        DataError: it cannot be read, is too large or locked, or has no such sheet.
    """
    if _ENCRYPTION_MARKER in data:
        raise DataError("workbook-locked", file=file)
    with as_damage(file):
        from xlrd.biffh import XLRDError
        from xlrd.compdoc import CompDocError

        try:
            return _read(data, file, layout, CellBudget(file, limits))
        except (XLRDError, CompDocError) as error:
            raise ValueError(error) from error


def _read(data: bytes, file: str, layout: Layout, budget: CellBudget) -> Tables:
    import xlrd

    pictures = _find_pictures(_workbook_stream(data), file)
    book: Any = xlrd.open_workbook(
        file_contents=data,
        logfile=io.StringIO(),
        formatting_info=True,
        on_demand=True,
        ragged_rows=True,
    )
    formats = NumberFormats(starts_1904=bool(book.datemode))
    seen = [
        (str(name), bool(hidden))
        for name, hidden in zip(book.sheet_names(), book._sheet_visibility, strict=True)
    ]
    visible = [title for title, is_hidden in seen if not is_hidden]
    chosen = select_sheets(visible, file, layout.sheet)
    sheets: list[Sheet] = []
    for place, (title, _) in enumerate(seen):
        if title in chosen:
            reader = _SheetReader(book, book.sheet_by_index(place), formats, budget)
            sheets.append(reader.read())
            sheets[-1].pictures = pictures[place] if place < len(pictures) else []
            book.unload_sheet(place)
    hidden = [title for title, is_hidden in seen if is_hidden]
    return to_tables(sheets, visible, hidden, file, layout)


def _workbook_stream(data: bytes) -> bytes:
    from xlrd.compdoc import CompDoc

    document: Any = CompDoc(data, logfile=io.StringIO())
    for name in _STREAMS:
        memory, start, size = document.locate_named_stream(name)
        if memory:
            return bytes(memory[start : start + size])
    raise ValueError("it has no workbook in it")


def _find_pictures(stream: bytes, file: str) -> list[list[SheetPicture]]:
    """The places of the pictures of each sheet; the pictures themselves are not read."""
    starts: list[int] = []
    for record in _records(stream, 0):
        if record.kind == _FILEPASS:
            raise DataError("workbook-locked", file=file)
        # The place, the visibility and the type, of which 0 is a sheet of cells.
        if record.kind == _SHEET and not stream[record.start + 5]:
            starts += struct.unpack_from("<I", stream, record.start)
    reason = sentence("error.picture-in-xls")
    return [
        [SheetPicture(line, column, reason) for line, column in _pictures_on(stream, start)]
        for start in starts
    ]


def _pictures_on(stream: bytes, start: int) -> Iterator[tuple[int, int]]:
    for record in _records(stream, start):
        if record.kind == _DRAWING:
            piece = stream[record.start : record.start + record.size]
            at = piece.find(_ANCHOR, piece.find(_PICTURE)) if _PICTURE in piece else -1
            if at >= 0:
                column, row = struct.unpack_from("<HxxH", piece, at + len(_ANCHOR) + 2)
                yield row + 1, column
        elif record.kind == _OBJECT and record.size > 16:
            # A count, a type, a number, flags, a column and an offset stand before the row.
            kind, column, row = struct.unpack_from("<4xH4xHxxH", stream, record.start)
            if kind == _OLD_PICTURE:
                yield row + 1, column


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
    """One sheet of xlrd's."""

    def __init__(self, book: Any, source: Any, formats: NumberFormats, budget: CellBudget) -> None:
        self._book = book
        self._source = source
        self._formats = formats
        self._budget = budget
        self._sheet = Sheet(str(source.name))

    def read(self) -> Sheet:
        source, sheet = self._source, self._sheet
        for row in range(source.nrows):
            kinds, values = source.row_types(row), source.row_values(row)
            cells = [
                self._shown(row, column, kind, value)
                for column, (kind, value) in enumerate(zip(kinds, values, strict=True))
            ]
            self._budget.add(sheet, row + 1, cells)
        sheet.merged = [
            MergedRegion(top + 1, bottom, left, right - 1)
            for top, bottom, left, right in source.merged_cells
        ]
        sheet.hidden = {row + 1 for row, shown in source.rowinfo_map.items() if shown.hidden}
        return sheet

    def _shown(self, row: int, column: int, kind: int, value: Any) -> str:
        if kind == _TEXT:
            return cell_text(str(value))
        if kind in (_NUMBER, _DATE):
            writer = self._writer(self._source.cell_xf_index(row, column))
            return writer(float(value)) if writer else plain_number(float(value))
        if kind == _BOOLEAN:
            return "TRUE" if value else "FALSE"
        if kind == _ERROR:
            from xlrd.biffh import error_text_from_code

            shown = error_text_from_code.get(value, "#N/A")
            return self._sheet.mark_broken(row + 1, column, f"the error {shown}")
        return ""

    def _writer(self, style: int) -> FormatNumber | None:
        number = self._book.xf_list[style].format_key
        code = str(self._book.format_map[number].format_str)
        return self._formats.writer(number, code, self._sheet)
