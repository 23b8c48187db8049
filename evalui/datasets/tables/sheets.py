"""Sheets of every kind of workbook: cells at their rows become a table whose lines are row numbers.

A value merged over rows counts for each of them, as a person sees it. Rows with a picture pasted on
them, with an error, or with a formula whose value was not saved are faults.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from evalui.datasets.model import FaultList, Limits, RawRow, RawTable, UploadNote
from evalui.datasets.tables.head import IsKnownName
from evalui.datasets.tables.pictures import picture_fault
from evalui.datasets.tables.rows import RowTable, check_width, cut_table
from evalui.errors import DataError
from evalui.types import Fault

# A row of more would fill the memory when it is read; no spreadsheet program has more.
MAX_SHEET_COLUMNS = 16_384
FORMULA_WITHOUT_VALUE = "a formula whose value is not in the file"
ERROR_VALUES = frozenset(
    (
        *("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#SPILL!"),
        *("#CALC!", "#GETTING_DATA", "#FIELD!", "#BLOCKED!", "#CONNECT!", "#UNKNOWN!"),
    )
)
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
class SheetGrid:
    """The cells of one sheet as they are shown, by row number; rows without any are not there.

    `broken` says what stands in a cell instead of a value, by row and column. `hidden` are rows
    that a person does not see, `pictures` the column of one by its row, and `formats` are number
    formats that were not understood.
    """

    title: str
    visible: bool = True
    lines: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    merged: list[MergedRegion] = field(default_factory=list[MergedRegion])
    broken: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    hidden: set[int] = field(default_factory=set[int])
    pictures: dict[int, int] = field(default_factory=dict[int, int])
    formats: set[str] = field(default_factory=set[str])

    def add_row(self, line: int, cells: list[str]) -> bool:
        """Add a row if any of its cells is filled or broken; whether it is."""
        is_filled = line in self.broken or any(map(str.strip, cells))
        if is_filled:
            self.lines[line] = cells
        return is_filled

    def mark_broken(self, line: int, column: int, actual: str) -> None:
        """Remember what stands in a cell instead of a value."""
        self.broken.setdefault(line, {})[column] = actual


@dataclass(slots=True)
class CellBudget:
    """How many more cells and rows the sheets of one workbook may have."""

    file: str
    limits: Limits
    cells: int = 0

    def spend(self, title: str, line: int, cells: int) -> None:
        """Count the cells of one row; raises `DataError` if the sheet is too large."""
        self.cells += cells + 1
        if line > self.limits.lines or self.cells > self.limits.cells:
            raise DataError(
                "sheet-too-large",
                file=self.file,
                sheet=title,
                lines=self.limits.lines,
                cells=self.limits.cells,
            )

    def check_row(self, cells: int) -> None:
        """Raise `DataError` for a row with more cells than any sheet has."""
        check_width(cells, self.file, max_columns=MAX_SHEET_COLUMNS)


@dataclass(frozen=True, slots=True)
class Workbook:
    """The sheets that were read, and the titles of those that a person sees and does not see."""

    grids: tuple[SheetGrid, ...]
    visible: tuple[str, ...]
    hidden: tuple[str, ...]


def select_sheets(titles: Sequence[str], file: str, sheet: str) -> Sequence[str]:
    """The visible sheets to read: all, or the one that is wanted; raises `DataError` without it."""
    if sheet and sheet not in titles:
        raise DataError("no-such-sheet", file=file, sheet=sheet, known=", ".join(titles) or "–")
    return (sheet,) if sheet else titles


def sheet_table(
    grid: SheetGrid,
    file: str,
    *,
    is_known_name: IsKnownName,
    budget: CellBudget,
    head_row: int = 0,
) -> RowTable:
    """The table of a sheet, with notes on what stands around it; empty for an empty sheet."""
    _repeat_merged(grid, budget)
    rows = [RawRow(line, tuple(grid.lines[line])) for line in sorted(grid.lines)]
    if not rows:
        return RowTable(RawTable((), (), ""))
    cut = cut_table(rows, file, is_known_name=is_known_name, head_row=head_row)
    header = _name_merged(grid, cut.table)
    check_width(len(header), file)
    table = _with_faults(grid, replace(cut.table, header=header), file)
    return RowTable(table, (*cut.notes, *_grid_notes(grid, cut.table.rows, file)))


def is_table(table: RawTable, is_known_name: IsKnownName) -> bool:
    """Whether a sheet has more than titles and instructions."""
    return bool(table.rows or table.faults) and (
        len(table.header) >= _MIN_COLUMNS or any(map(is_known_name, table.header))
    )


def _repeat_merged(grid: SheetGrid, budget: CellBudget) -> None:
    """Give the value of each merged region to all rows of it that have something of their own."""
    for region in grid.merged:
        if region.bottom == region.top or region.top not in grid.lines:
            continue
        cells = grid.lines[region.top]
        text = cells[region.left] if region.left < len(cells) else ""
        if not text.strip():
            continue
        for line in range(region.top + 1, region.bottom + 1):
            budget.spend(grid.title, 0, 0)
            if row := grid.lines.get(line):
                row += [""] * (region.left + 1 - len(row))
                row[region.left] = text


def _name_merged(grid: SheetGrid, table: RawTable) -> tuple[str, ...]:
    """The header with numbered names where one name is merged over columns without names."""
    names = list(table.header)
    for region in grid.merged:
        if region.top <= table.header_line <= region.bottom and region.right > region.left:
            places = range(region.left, min(region.right + 1, MAX_SHEET_COLUMNS))
            name = names[region.left] if region.left < len(names) else ""
            if name and not any(names[at] for at in places[1:] if at < len(names)):
                names += [""] * (places[-1] + 1 - len(names))
                for number, at in enumerate(places, start=1):
                    names[at] = f"{name}{number}"
    return tuple(names)


def _with_faults(grid: SheetGrid, table: RawTable, file: str) -> RawTable:
    """The rows cut to the header, since notes stand beside tables, and faults for the others."""
    width = len(table.header)
    padding = [""] * width
    rows: list[RawRow] = []
    faults = FaultList()
    for line, cells in table.rows:
        wrong = [*_cell_faults(grid, table.header, line, file)]
        if (column := grid.pictures.get(line)) is not None:
            name = table.header[column] if column < width else ""
            wrong = [picture_fault(file, line, name)]
        faults.add(*wrong)
        fitted = (*cells, *padding)[:width] if len(cells) != width else cells
        if not wrong and any(map(str.strip, fitted)):
            rows.append(RawRow(line, fitted))
    return replace(table, rows=tuple(rows), faults=faults.kept, unlisted=faults.unlisted)


def _cell_faults(grid: SheetGrid, header: Sequence[str], line: int, file: str) -> Iterator[Fault]:
    expected = "a value; open the file in a spreadsheet program and save it again"
    for column, actual in sorted(grid.broken.get(line, {}).items()):
        if column < len(header) and header[column]:
            yield Fault(file, line, header[column], "formula-without-value", actual, expected)


def _grid_notes(grid: SheetGrid, rows: Sequence[RawRow], file: str) -> Iterator[UploadNote]:
    hidden = [row.line for row in rows if row.line in grid.hidden] if grid.hidden else []
    if hidden:
        more = len(hidden) - _MAX_ROWS_SHOWN
        shown = ", ".join(map(str, hidden[:_MAX_ROWS_SHOWN])) + (f" (+{more})" if more > 0 else "")
        yield UploadNote("hidden-rows", {"file": file, "n": str(len(hidden)), "rows": shown})
    if grid.formats:
        formats = sorted(grid.formats)[:_MAX_FORMATS_SHOWN]
        yield UploadNote("number-formats", {"file": file, "formats": ", ".join(formats)})
