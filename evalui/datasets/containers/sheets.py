"""Sheets of every kind of workbook: cells at their rows become a table whose lines are row numbers.

A value merged over rows counts for each of them, as a person sees it. Rows with a picture pasted on
them, with an error, or with a formula whose value was not saved are faults.
"""

import zipfile
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain, count
from operator import attrgetter
from typing import BinaryIO, NamedTuple

from evalui.datasets.containers.heads import MAX_COLUMNS, check_width, cut_table
from evalui.datasets.containers.number_formats import (
    COUNTRY_FORMATS,
    FormatNumber,
    UnknownNumberFormat,
    compile_format,
)
from evalui.datasets.containers.pictures import (
    is_picture_column,
    picture_fault,
    with_pictures,
)
from evalui.datasets.files import ARCHIVE_ERRORS, check_archive, read_chunks
from evalui.datasets.model import (
    FaultList,
    FileTable,
    Layout,
    Limits,
    Row,
    Tables,
    UploadNote,
    collapse_whitespace,
    first_few,
    fold_name,
)
from evalui.datasets.names import find_series, is_known_name, read_head
from evalui.errors import DataError
from evalui.messages import Sentence
from evalui.pictures import Mark
from evalui.types import Fault

FORMULA_WITHOUT_VALUE = "a formula whose value is not in the file"
ERROR_VALUES = frozenset(
    (
        *("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#SPILL!"),
        *("#CALC!", "#GETTING_DATA", "#FIELD!", "#BLOCKED!", "#CONNECT!", "#UNKNOWN!"),
    )
)
_MAX_SHEET_COLUMNS = 16_384  # no spreadsheet program has more
_MIN_COLUMNS = 2  # of a table whose head is not known
_MAX_ROWS_SHOWN = 10  # row numbers in a note
_MAX_FORMATS_SHOWN = 3  # number formats in a note


class MergedRegion(NamedTuple):
    """Cells that are shown as one: rows from 1, columns from 0, both ends included."""

    top: int
    bottom: int
    left: int
    right: int


class SheetPicture(NamedTuple):
    """A picture over a cell, or why it cannot be used: rows from 1, columns from 0.

    Row 0: it has a place on the sheet, and none among the cells.
    """

    line: int
    column: int
    picture: Mark | Sentence


@dataclass(slots=True)
class Sheet:
    """The cells of one sheet as they are shown, by row number; rows without any are not there.

    `broken` says what stands in a cell instead of a value, by row and column. `hidden` are rows
    that a person does not see, `pictures` are those that lie over cells or that cells fail to show,
    and `formats` are number formats that were not understood.
    """

    title: str
    lines: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    merged: list[MergedRegion] = field(default_factory=list[MergedRegion])
    broken: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    hidden: set[int] = field(default_factory=set[int])
    pictures: list[SheetPicture] = field(default_factory=list[SheetPicture])
    formats: set[str] = field(default_factory=set[str])

    def mark_broken(self, line: int, column: int, actual: str) -> str:
        """Remember what stands in a cell instead of a value, and give the text of the cell."""
        self.broken.setdefault(line, {})[column] = actual
        return ""

    def mark_picture(self, line: int, column: int, picture: Mark | Sentence) -> str:
        """Give the text of a cell that is a picture, or remember why it shows none."""
        if isinstance(picture, Mark):
            return str(picture)
        self.pictures.append(SheetPicture(line, column, picture))
        return ""


class NumberFormats:
    """What writes numbers, by the number and the code of their format; each is compiled once."""

    def __init__(self, *, starts_1904: bool) -> None:
        self._starts_1904 = starts_1904
        self._writers: dict[tuple[int, str], FormatNumber | None] = {}
        self._unknown: set[str] = set()

    def writer(self, number: int, code: str, sheet: Sheet) -> FormatNumber | None:
        """What writes numbers in a format, None for plain ones; the sheet keeps what is unknown."""
        code = COUNTRY_FORMATS.get(number, code)
        if (number, code) not in self._writers:
            try:
                writer = compile_format(code, starts_1904=self._starts_1904)
            except UnknownNumberFormat:
                self._unknown.add(code)
                writer = None
            self._writers[number, code] = writer
        if code in self._unknown:
            sheet.formats.add(code)
        return self._writers[number, code]


class CellBudget:
    """How many more cells and rows the sheets of one workbook may have."""

    def __init__(self, file: str, limits: Limits) -> None:
        self._file = file
        self._limits = limits
        self._cells = 0

    def add(self, sheet: Sheet, line: int, cells: list[str]) -> None:
        """Add a row to a sheet if any of its cells is filled or broken.

        Raises `DataError` if the sheet is too large.
        """
        self._cells += len(cells) + 1
        if line not in sheet.broken and not any(map(str.strip, cells)):
            return
        limits = self._limits
        if line > limits.lines or self._cells > limits.cells:
            raise DataError(
                "sheet-too-large",
                file=self._file,
                sheet=sheet.title,
                lines=limits.lines,
                cells=limits.cells,
            )
        sheet.lines[line] = cells

    def check_width(self, columns: int) -> None:
        """Raise `DataError` for a cell further to the right than any sheet has one."""
        if columns > _MAX_SHEET_COLUMNS:
            raise DataError("too-many-columns", file=self._file, n=columns, limit=MAX_COLUMNS)


def select_sheets(titles: Sequence[str], file: str, wanted: str) -> Sequence[str]:
    """The visible sheets to read: all, or the one that is wanted; raises `DataError` without it."""
    if wanted and wanted not in titles:
        raise DataError("no-such-sheet", file=file, sheet=wanted, known=", ".join(titles) or "–")
    return (wanted,) if wanted else titles


def to_tables(
    sheets: Sequence[Sheet],
    visible: Sequence[str],
    hidden: Sequence[str],
    file: str,
    layout: Layout,
) -> Tables:
    """The sheets that are tables, of those that a person sees; raises `DataError` without any."""
    tables = [_to_table(sheet, file, layout) for sheet in sheets if sheet.lines]
    tables = [table for table in tables if table.heads or table.rows or table.faults]
    if not tables:
        raise DataError("empty-file", file=file)
    chosen = list(filter(_is_table, tables)) or tables[:1]
    notes: tuple[UploadNote, ...] = ()
    if hidden:
        notes = (UploadNote("hidden-sheets", {"file": file, "sheets": ", ".join(hidden)}),)
    return Tables(tuple(chosen), notes, tuple(visible))


@contextmanager
def open_package(source: BinaryIO, file: str, limits: Limits) -> Generator[zipfile.ZipFile]:
    """The archive that a workbook is, once the size of what it holds is known to be true.

    What a damaged one makes the zip module and a library raise becomes a sentence.

    Raises:
        DataError: it is damaged, locked or too large.
    """
    with as_damage(file), zipfile.ZipFile(source) as archive:
        parts = [part for part in archive.infolist() if not part.is_dir()]
        check_archive(file, [_named_within(part) for part in parts], limits)
        for part in parts:
            for _ in read_chunks(archive, part):
                pass
        yield archive


def _named_within(part: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The part without the slash that XlsxWriter writes before the name of some."""
    named = copy(part)
    named.filename = part.filename.removeprefix("/")
    return named


@contextmanager
def as_damage(file: str) -> Generator[None]:
    """Turn what a damaged workbook makes a library raise into a sentence."""
    damages = (ArithmeticError, TypeError, AttributeError, SyntaxError, AssertionError)
    try:
        yield
    except (*ARCHIVE_ERRORS, *damages) as error:
        reason = collapse_whitespace(str(error))[:120] or type(error).__name__
        raise DataError("workbook-damaged", file=file, reason=reason.rstrip(".")) from error


def _is_table(table: FileTable) -> bool:
    """Whether a sheet has more than titles and instructions."""
    return bool(table.rows or table.faults) and (
        len(table.heads) >= _MIN_COLUMNS or any(map(is_known_name, table.heads))
    )


def _to_table(sheet: Sheet, file: str, layout: Layout) -> FileTable:
    """The table of a sheet, with notes on what stands around it."""
    _repeat_merged(sheet)
    rows = [Row(line, tuple(sheet.lines[line])) for line in sorted(sheet.lines)]
    table = cut_table(rows, file, layout.head_row, sheet.title)
    table = replace(table, heads=_name_merged(sheet, table))
    check_width(len(table.heads), file)
    table = with_pictures(_with_pasted(sheet, _with_faults(sheet, table), layout))
    return replace(table, notes=(*table.notes, *_notes(sheet, table)))


def _repeat_merged(sheet: Sheet) -> None:
    """Give what a merged region shows to all rows of it that have something of their own."""
    last = max(sheet.lines)
    for region in sheet.merged:
        cells = sheet.lines.get(region.top, [])
        text = cells[region.left] if region.left < len(cells) else ""
        if not text.strip():
            continue
        for line in range(region.top + 1, min(region.bottom, last) + 1):
            if row := sheet.lines.get(line):
                row += [""] * (region.left + 1 - len(row))
                row[region.left] = text


def _name_merged(sheet: Sheet, table: FileTable) -> tuple[str, ...]:
    """The header with numbered names where one name is merged over columns without names."""
    names = list(table.heads)
    for region in sheet.merged:
        if region.top <= table.head_line <= region.bottom and region.right > region.left:
            places = range(region.left, min(region.right + 1, _MAX_SHEET_COLUMNS))
            name = names[region.left] if region.left < len(names) else ""
            if name and not any(names[at] for at in places[1:] if at < len(names)):
                names += [""] * (places[-1] + 1 - len(names))
                for number, at in enumerate(places, start=1):
                    names[at] = f"{name}{number}"
    return tuple(names)


def _with_faults(sheet: Sheet, table: FileTable) -> FileTable:
    """The rows cut to the heads, since notes stand beside tables, and faults for the others."""
    width = len(table.heads)
    padding = ("",) * width
    rows: list[Row] = []
    faults = FaultList()
    unreadable = {
        each.line: (each.column, each.picture)
        for each in sheet.pictures
        if isinstance(each.picture, Sentence)
    }
    for line, cells in table.rows:
        wrong = [*_cell_faults(sheet, table, line)]
        if line in unreadable:
            column, reason = unreadable[line]
            name = table.heads[column] if column < width else ""
            wrong.append(picture_fault(table.name, line, name, reason))
        faults.add(*wrong)
        fitted = (*cells, *padding)[:width] if len(cells) != width else cells
        if not wrong and any(map(str.strip, fitted)):
            rows.append(Row(line, fitted))
    return replace(table, rows=rows, faults=faults.kept, unlisted=faults.unlisted)


def _cell_faults(sheet: Sheet, table: FileTable, line: int) -> Iterator[Fault]:
    expected = "a value; open the file in a spreadsheet program and save it again"
    for column, actual in sorted(sheet.broken.get(line, {}).items()):
        if column < len(table.heads) and (name := table.heads[column]):
            yield Fault(table.name, line, name, "formula-without-value", actual, expected)


def _with_pasted(sheet: Sheet, table: FileTable, layout: Layout) -> FileTable:
    """The table with the marks of the pictures that lie over its rows, and a note on the others.

    A mark goes into the cell below where that is one of options, explanations or pictures. Else the
    picture belongs to the question, and its mark into a column of pictures that is added.
    """
    own = _columns_of_pictures(table.heads, layout)
    known = {row.line for row in table.rows} | {fault.line for fault in table.faults}
    marks: defaultdict[int, dict[int, str]] = defaultdict(dict)
    beside = 0
    for picture, lines in _lines_of_pictures(sheet):
        beside += known.isdisjoint(lines)
        place = picture.column if picture.column in own else len(table.heads)
        for line in known.intersection(lines):
            marks[line][place] = marks[line].get(place, "") + str(picture.picture)
    if any(len(table.heads) in places for places in marks.values()):
        taken = set(map(fold_name, table.heads))
        names = chain(("image",), map("image_{}".format, count(2)))
        added = next(name for name in names if name not in taken)
        rows = [row._replace(cells=(*row.cells, "")) for row in table.rows]
        table = replace(table, heads=(*table.heads, added), rows=rows)
    if marks:
        rows = [_marked(row, table.heads, marks.get(row.line, {})) for row in table.rows]
        table = replace(table, rows=rows)
    if not beside:
        return table
    note = UploadNote("pictures-beside", {"file": table.name, "n": str(beside)})
    return replace(table, notes=(*table.notes, note))


def _columns_of_pictures(heads: Sequence[str], layout: Layout) -> set[int]:
    """The columns to whose cells the pictures over them belong."""
    stated = (*layout.options, layout.option_list, layout.row_option, layout.explanation)
    names = set(map(fold_name, stated))
    columns = {
        at
        for at, head in enumerate(heads)
        if (head and fold_name(head) in names)
        or is_picture_column(head)
        or read_head(head).role in ("options", "distractor", "explanation")
    }
    for series in find_series(heads):
        if series.names_options or series.names_distractors:
            columns.update(series.columns)
    return columns


def _lines_of_pictures(sheet: Sheet) -> Iterator[tuple[SheetPicture, Sequence[int]]]:
    """Each picture with the lines that it counts for: all those of merged cells below it."""
    marked = (each for each in sheet.pictures if isinstance(each.picture, Mark))
    pictures = sorted(marked, key=attrgetter("line"))
    lines = [picture.line for picture in pictures]
    merged: dict[SheetPicture, Sequence[int]] = {}
    for top, bottom, left, right in sheet.merged:
        for picture in pictures[bisect_left(lines, top) : bisect_right(lines, bottom)]:
            if left <= picture.column <= right:
                merged[picture] = range(top, bottom + 1)
    for picture in pictures:
        yield picture, merged.get(picture, (picture.line,))


def _marked(row: Row, heads: Sequence[str], marks: Mapping[int, str]) -> Row:
    """The row with marks before the texts of its cells, or instead in columns of pictures."""
    cells = [*row.cells]
    for place, mark in marks.items():
        text = "" if is_picture_column(heads[place]) else cells[place]
        cells[place] = f"{mark}\n{text}" if text else mark
    return row._replace(cells=tuple(cells))


def _notes(sheet: Sheet, table: FileTable) -> Iterator[UploadNote]:
    hidden = [row.line for row in table.rows if row.line in sheet.hidden]
    if hidden:
        rows = first_few(hidden, _MAX_ROWS_SHOWN)
        params = {"file": table.name, "n": str(len(hidden)), "rows": rows}
        yield UploadNote("hidden-rows", params)
    if sheet.formats:
        formats = ", ".join(sorted(sheet.formats)[:_MAX_FORMATS_SHOWN])
        yield UploadNote("number-formats", {"file": table.name, "formats": formats})
