"""Excel workbooks: one visible sheet becomes a table whose lines are the sheet's row numbers.

Formulas are never evaluated: the value counts that Excel saved beside them. Sizes are checked
before openpyxl opens anything, since a workbook is an archive that may fill the memory.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from evalui.datasets.base import FaultList, Limits, RawRow, RawTable
from evalui.datasets.files.archive import (
    ARCHIVE_ERRORS,
    check_archive,
    read_chunks,
    split_between_tags,
)
from evalui.datasets.tables.table import check_width
from evalui.errors import DataError
from evalui.types import Fault

_OLE_MAGIC = b"\xd0\xcf\x11\xe0"  # an OLE file: .xls, or a workbook under a password
_ENCRYPTION_MARKER = "EncryptedPackage".encode("utf-16-le")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_ROW = re.compile(rb"<(?:\w{1,99}:)?row[\s/>]")
_CELL = re.compile(rb"<(?:\w{1,99}:)?c[\s/>]")
_UTF16_PREFIXES = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")
_MAX_SHEET_COLUMNS = (
    16_384  # columns of any sheet; a row of more would fill the memory when it is read
)
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z]{1,3})(\d{1,7}):[A-Z]+(\d{1,7})")
_ENTITY_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_ERROR_VALUES = (
    "#NULL!",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
    "#N/A",
    "#SPILL!",
    "#CALC!",
)
_HEADER_SEARCH_ROWS = 50  # rows in which a header is looked for
# What openpyxl raises on a workbook that is not as it expects, beside the archive's own.
_WORKBOOK_ERRORS = (
    *ARCHIVE_ERRORS,
    TypeError,
    AttributeError,
    SyntaxError,
    ArithmeticError,
    AssertionError,
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The sheet that was read, and what else the workbook has."""

    title: str
    table: RawTable
    visible: tuple[str, ...]
    hidden: tuple[str, ...]


def read_sheet(
    data: bytes,
    name: str,
    *,
    sheet_name: str,
    accepts_header: Callable[[RawTable], bool],
    limits: Limits,
) -> Sheet:
    """The sheet called `sheet_name`; "" the first visible one that `accepts_header`.

    Raises:
        DataError: this is no workbook that can be read, it is empty, or has no such sheet.
    """
    _check_workbook(data, name, limits)
    with _as_data_error(name):
        book = _load_book(data)
    # Our own code stands outside of the guards: its errors are no damage of the file.
    with closing(book):
        with _as_data_error(name):
            sheets = {str(sheet.title): sheet for sheet in book.worksheets}
            visible = {t: sheet for t, sheet in sheets.items() if sheet.sheet_state == "visible"}
            heads = {title: _read_header(sheet) for title, sheet in visible.items()}
        title = _choose_sheet(heads, name, sheet_name=sheet_name, accepts_header=accepts_header)
        check_width(len(heads[title].header), name)
        reading = _SheetReader(data, name, title, limits)
        with _as_data_error(name):
            raw = reading.read_raw(book)
    hidden = tuple(title for title in sheets if title not in visible)
    return Sheet(title, reading.to_table(raw), tuple(visible), hidden)


def format_cell(value: Any) -> str:
    """What a cell shows, as far as its number format does not matter."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # Excel has no integers
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    text = value if isinstance(value, str) else str(value)
    # Excel's way to write a carriage return.
    return text.replace("_x000D_\n", "\n").replace("_x000D_", "\n").replace("\r\n", "\n")


def _check_workbook(data: bytes, name: str, limits: Limits) -> None:
    if not data:
        raise DataError("empty-file", file=name)
    if data.startswith(_OLE_MAGIC):
        if _ENCRYPTION_MARKER in data:
            raise DataError("workbook-locked", file=name)
        raise DataError("workbook-old", file=name)
    with _as_data_error(name), zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [info for info in archive.infolist() if not info.is_dir()]
        check_archive(name, parts, limits)
        looks = [_scan_part(archive, part) for part in parts]
    check_width(
        max((look.width for look in looks), default=0), name, max_columns=_MAX_SHEET_COLUMNS
    )
    if any(look.declares_entities for look in looks):
        # No spreadsheet program writes them; they are how a small text is made to fill a memory.
        raise DataError("workbook-entities", file=name)


@dataclass(frozen=True, slots=True)
class _PartScan:
    """What one part of a workbook shows before anything is made of it."""

    declares_entities: bool
    width: int


def _scan_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> _PartScan:
    """One pass over a part, whatever its name: a workbook may name any as its sheet.

    Raises as `read_chunks`, so that openpyxl is given only parts that have the size they declare.
    """
    is_xml = part.filename.lower().endswith((".xml", ".rels"))  # a picture may be SVG
    declares, width, cells, start = False, 0, 0, True
    for piece in split_between_tags(read_chunks(archive, part)):
        if start and piece.startswith(_UTF16_PREFIXES):
            raise ValueError(f"{part.filename} is in UTF-16")  # as no spreadsheet program writes
        start = start and not piece
        declares = declares or (is_xml and bool(_ENTITY_DECLARATION.search(piece)))
        before, *rows = _ROW.split(piece)
        cells += len(_CELL.findall(before))
        for row in rows:
            width = max(width, cells)
            cells = len(_CELL.findall(row))
    return _PartScan(declares, max(width, cells))


@contextmanager
def _as_data_error(name: str) -> Generator[None]:
    """Turn what the zip module and openpyxl raise into a sentence about the file."""
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with warnings.catch_warnings():
            # About styles and extensions that it ignores; only values are read.
            warnings.simplefilter("ignore")
            yield
    except (*_WORKBOOK_ERRORS, InvalidFileException) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise DataError("workbook-damaged", file=name, reason=reason.rstrip(".")) from error


def _load_book(data: bytes, *, data_only: bool = True) -> Any:
    from openpyxl import load_workbook

    return load_workbook(
        io.BytesIO(data), read_only=True, data_only=data_only, keep_links=False, keep_vba=False
    )


def _read_header(sheet: Any) -> RawTable:
    """The header of a sheet: its first row that is not blank."""
    sheet.reset_dimensions()  # the file states them itself, and they may be wrong
    for line, values in enumerate(
        sheet.iter_rows(max_row=_HEADER_SEARCH_ROWS, values_only=True), start=1
    ):
        if names := _header_names(values):
            return RawTable(names, (), "", header_line=line)
    return RawTable((), (), "")


def _header_names(values: Sequence[Any]) -> tuple[str, ...]:
    names = [format_cell(value).strip() for value in values]
    while names and not names[-1]:
        names.pop()
    return tuple(names)


def _choose_sheet(
    heads: Mapping[str, RawTable],
    name: str,
    *,
    sheet_name: str,
    accepts_header: Callable[[RawTable], bool],
) -> str:
    filled = [title for title, head in heads.items() if head.header]
    if sheet_name and sheet_name not in heads:
        raise DataError("no-such-sheet", file=name, sheet=sheet_name, known=", ".join(heads) or "–")
    if not filled or (sheet_name and sheet_name not in filled):
        raise DataError("empty-file", file=name)
    return sheet_name or next(
        (title for title in filled if accepts_header(heads[title])), filled[0]
    )


@dataclass(frozen=True, slots=True)
class _RawSheet:
    lines: Mapping[int, list[str]]
    has_formulas: bool


@dataclass(frozen=True, slots=True)
class _SheetReader:
    """One pass over one sheet."""

    data: bytes
    name: str
    title: str
    limits: Limits

    def read_raw(self, book: Any) -> _RawSheet:
        """The sheet as texts, by row number."""
        sheet = book[self.title]
        merged, formulas = self._scan_xml(sheet._worksheet_path)
        sheet.reset_dimensions()
        return _RawSheet(self._filled_rows(sheet, merged), formulas)

    def _scan_xml(self, path: str) -> tuple[dict[tuple[int, int], int], bool]:
        """The merged cells, and whether there are formulas.

        openpyxl does not report them for a workbook that it only streams.
        """
        merged: dict[tuple[int, int], int] = {}
        formulas = False
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            for piece in split_between_tags(read_chunks(archive, archive.getinfo(path))):
                merged |= _merged_regions(piece)
                formulas = formulas or bool(_FORMULA.search(piece))
        return merged, formulas

    def to_table(self, raw: _RawSheet) -> RawTable:
        """The texts under their header, with the faults of formulas."""
        missing = self._formulas_without_value(raw.lines) if raw.has_formulas else {}
        (header_line, first), *rows = raw.lines.items()
        header = _header_names(first)
        return self._build_table(header, header_line, rows, missing)

    def _filled_rows(
        self, sheet: Any, merged: Mapping[tuple[int, int], int]
    ) -> dict[int, list[str]]:
        """The rows that are not blank, by their number; merged cells repeat their value."""
        lines: dict[int, list[str]] = {}
        repeated: dict[int, tuple[int, str]] = {}  # column -> last row, value
        cells, width = 0, 0
        for line, values in enumerate(sheet.iter_rows(values_only=True), start=1):
            cells += len(values) + 1
            if line > self.limits.lines or cells > self.limits.cells:
                self._raise_too_large()
            texts = [format_cell(value) for value in values]
            filled = any(map(str.strip, texts))
            for column, (last, text) in repeated.items():
                if line <= last:
                    texts += [""] * (column + 1 - len(texts))
                    texts[column] = text
            if filled:
                width = width or len(_header_names(values))
                # Cells beyond the header are notes beside the table.
                lines[line] = texts[:width]
            if merged:
                for column, text in enumerate(texts):
                    if last := merged.get((line, column)):
                        repeated[column] = (last, text)
        return lines

    def _raise_too_large(self) -> None:
        raise DataError(
            "sheet-too-large",
            file=self.name,
            sheet=self.title,
            lines=self.limits.lines,
            cells=self.limits.cells,
        )

    def _formulas_without_value(self, lines: Mapping[int, list[str]]) -> dict[int, list[int]]:
        """The columns, by row, that have a formula and no value, from a second pass."""
        columns: dict[int, list[int]] = {}
        with _as_data_error(self.name), closing(_load_book(self.data, data_only=False)) as book:
            sheet = book[self.title]
            sheet.reset_dimensions()
            last = max(lines)
            for line, cells in enumerate(sheet.iter_rows(max_row=last), start=1):
                texts = lines.get(line, [])
                for column, shown in enumerate(cells):
                    empty = column >= len(texts) or not texts[column].strip()
                    if empty and shown.data_type == "f":
                        columns.setdefault(line, []).append(column)
        return columns

    def _build_table(
        self,
        header: tuple[str, ...],
        header_line: int,
        lines: Sequence[tuple[int, list[str]]],
        missing: Mapping[int, Sequence[int]],
    ) -> RawTable:
        width = len(header)
        rows: list[RawRow] = []
        faults = FaultList()
        for line, texts in lines:
            broken = [*self._cell_faults(header, line, texts, missing.get(line, ()))]
            faults.add(*broken)
            fitted = (*texts, *[""] * (width - len(texts)))
            if not broken and any(map(str.strip, fitted)):
                rows.append(RawRow(line, fitted))
        return RawTable(header, tuple(rows), "", faults.kept, header_line, faults.unlisted)

    def _cell_faults(
        self, header: Sequence[str], line: int, texts: Sequence[str], missing: Sequence[int]
    ) -> Iterator[Fault]:
        expected = "a value; open the file in a spreadsheet program and save it again"
        for column, name in enumerate(header):
            text = texts[column].strip() if column < len(texts) else ""
            if not name or not (column in missing or text in _ERROR_VALUES):
                continue
            actual = f"the error {text}" if text else "a formula whose value is not in the file"
            yield Fault(self.name, line, name, "formula-without-value", actual, expected)


def _merged_regions(xml: bytes) -> dict[tuple[int, int], int]:
    """The last row of each merged region of several rows, by its first row and column."""
    regions: dict[tuple[int, int], int] = {}
    for letters, first, last in _MERGED.findall(xml):
        column = 0
        for letter in letters:
            column = 26 * column + letter - ord("A") + 1
        if int(last) > int(first):
            regions[int(first), column - 1] = int(last)
    return regions
