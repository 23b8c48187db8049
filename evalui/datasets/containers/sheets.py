"""Sheets of every kind of workbook: cells at their rows become a table whose lines are row numbers.

A value merged over rows counts for each of them, as a person sees it. Rows with a picture pasted on
them, with an error, or with a formula whose value was not saved are faults.
"""

import io
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from evalui.datasets.containers.heads import MAX_COLUMNS, check_width, cut_table
from evalui.datasets.containers.number_formats import (
    COUNTRY_FORMATS,
    FormatNumber,
    UnknownNumberFormat,
    compile_format,
)
from evalui.datasets.containers.pictures import picture_fault, without_pictures
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
)
from evalui.datasets.names import is_known_name
from evalui.errors import DataError
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


@dataclass(slots=True)
class Sheet:
    """The cells of one sheet as they are shown, by row number; rows without any are not there.

    `broken` says what stands in a cell instead of a value, by row and column. `hidden` are rows
    that a person does not see, `pictures` the column of one by its row, and `formats` are number
    formats that were not understood.
    """

    title: str
    lines: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    merged: list[MergedRegion] = field(default_factory=list[MergedRegion])
    broken: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    hidden: set[int] = field(default_factory=set[int])
    pictures: dict[int, int] = field(default_factory=dict[int, int])
    formats: set[str] = field(default_factory=set[str])

    def mark_broken(self, line: int, column: int, actual: str) -> str:
        """Remember what stands in a cell instead of a value, and give the text of the cell."""
        self.broken.setdefault(line, {})[column] = actual
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
    tables = [_to_table(sheet, file, layout.head_row) for sheet in sheets if sheet.lines]
    tables = [table for table in tables if table.heads or table.rows or table.faults]
    if not tables:
        raise DataError("empty-file", file=file)
    chosen = list(filter(_is_table, tables)) or tables[:1]
    notes: tuple[UploadNote, ...] = ()
    if hidden:
        notes = (UploadNote("hidden-sheets", {"file": file, "sheets": ", ".join(hidden)}),)
    return Tables(tuple(chosen), notes, tuple(visible))


@contextmanager
def open_package(data: bytes, file: str, limits: Limits) -> Generator[zipfile.ZipFile]:
    """The archive that a workbook is, once the size of what it holds is known to be true.

    What a damaged one makes the zip module and a library raise becomes a sentence.

    Raises:
        DataError: it is damaged, locked or too large.
    """
    with as_damage(file), zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [part for part in archive.infolist() if not part.is_dir()]
        check_archive(file, parts, limits)
        for part in parts:
            for _ in read_chunks(archive, part):
                pass
        yield archive


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


def _to_table(sheet: Sheet, file: str, head_row: int) -> FileTable:
    """The table of a sheet, with notes on what stands around it."""
    _repeat_merged(sheet)
    rows = [Row(line, tuple(sheet.lines[line])) for line in sorted(sheet.lines)]
    table = cut_table(rows, file, head_row, sheet.title)
    table = replace(table, heads=_name_merged(sheet, table))
    check_width(len(table.heads), file)
    table = without_pictures(_with_faults(sheet, table))
    return replace(table, notes=(*table.notes, *_notes(sheet, table)))


def _repeat_merged(sheet: Sheet) -> None:
    """Give the value of each merged region to all rows of it that have something of their own."""
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
    for line, cells in table.rows:
        wrong = [*_cell_faults(sheet, table, line)]
        if (column := sheet.pictures.get(line)) is not None:
            name = table.heads[column] if column < width else ""
            wrong = [picture_fault(table.name, line, name)]
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


def _notes(sheet: Sheet, table: FileTable) -> Iterator[UploadNote]:
    hidden = [row.line for row in table.rows if row.line in sheet.hidden]
    if hidden:
        rows = first_few(hidden, _MAX_ROWS_SHOWN)
        params = {"file": table.name, "n": str(len(hidden)), "rows": rows}
        yield UploadNote("hidden-rows", params)
    if sheet.formats:
        formats = ", ".join(sorted(sheet.formats)[:_MAX_FORMATS_SHOWN])
        yield UploadNote("number-formats", {"file": table.name, "formats": formats})
