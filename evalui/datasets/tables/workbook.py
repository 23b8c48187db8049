"""Excel workbooks (.xlsx, .xlsm): the parts of the archive are read as streams, cell by cell.

Formulas are never evaluated: the value counts that was saved beside them. Numbers and dates are
written as the number format of their cell shows them. ECMA-376 part 1 says what the parts hold.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from evalui.datasets.base import Limits
from evalui.datasets.files.archive import ARCHIVE_ERRORS, check_archive, read_chunks
from evalui.datasets.tables.number_formats import (
    BUILTIN_FORMATS,
    FormatNumber,
    UnknownNumberFormat,
    compile_format,
    plain_number,
)
from evalui.datasets.tables.sheets import (
    ERROR_VALUES,
    FORMULA_WITHOUT_VALUE,
    MAX_SHEET_COLUMNS,
    CellBudget,
    MergedRegion,
    SheetGrid,
    Workbook,
    select_sheets,
)
from evalui.datasets.tables.xml_stream import Attributes, XmlDamage, XmlHandler, parse_xml
from evalui.errors import DataError

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_REGION = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})")
_DIGITS = "0123456789"


class _Relation(NamedTuple):
    """Where a part of the archive leads to."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True)
class _SheetEntry:
    title: str
    relation: str
    visible: bool


def read_workbook(data: bytes, file: str, *, sheet: str, limits: Limits) -> Workbook:
    """The visible sheets of a workbook, or only the one called `sheet`.

    Raises:
        DataError: this is no workbook that can be read, it is too large, or has no such sheet.
    """
    with as_damage(file), zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_archive(file, [part for part in archive.infolist() if not part.is_dir()], limits)
        return _BookReader(archive, file, limits).read(sheet)


@contextmanager
def as_damage(file: str) -> Generator[None]:
    """Turn what a damaged workbook makes the zip module and numbers raise into a sentence."""
    try:
        yield
    except (*ARCHIVE_ERRORS, ArithmeticError, XmlDamage) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise DataError("workbook-damaged", file=file, reason=reason.rstrip(".")) from error


class _BookReader:
    """One archive. What its sheets share is read once."""

    def __init__(self, archive: zipfile.ZipFile, file: str, limits: Limits) -> None:
        self._archive = archive
        self._file = file
        self._budget = CellBudget(file, limits)
        self._limits = limits
        # Programs differ in the letter case of names, and in their slashes.
        self._parts = {
            info.filename.replace("\\", "/").lower().lstrip("/"): info
            for info in archive.infolist()
        }

    def read(self, wanted: str) -> Workbook:
        main = next(
            (
                relation.target
                for relation in self._relations("").values()
                if relation.kind == "officeDocument"
            ),
            "xl/workbook.xml",
        )
        book = _BookHandler()
        self._parse(main, book)
        relations = self._relations(main)
        sheets = [entry for entry in book.sheets if self._is_sheet(relations, entry)]
        visible = tuple(entry.title for entry in sheets if entry.visible)
        chosen = select_sheets(visible, self._file, wanted)
        strings = self._shared_strings(relations)
        styles = self._styles(relations, starts_1904=book.starts_1904)
        grids = tuple(
            self._read_sheet(entry.title, relations[entry.relation].target, strings, styles)
            for entry in sheets
            if entry.visible and entry.title in chosen
        )
        hidden = tuple(entry.title for entry in sheets if not entry.visible)
        return Workbook(grids, visible, hidden)

    def _is_sheet(self, relations: dict[str, _Relation], entry: _SheetEntry) -> bool:
        """Whether an entry is a sheet of cells; others are charts alone."""
        relation = relations.get(entry.relation)
        return relation is not None and relation.kind == "worksheet"

    def _read_sheet(
        self, title: str, path: str, strings: list[str], styles: "_StylesHandler"
    ) -> SheetGrid:
        handler = _SheetHandler(
            title,
            strings,
            styles,
            self._budget,
            # Pictures that are the value of a cell, which older programs show as an error.
            has_cell_pictures="xl/richdata/richvaluerel.xml" in self._parts,
        )
        self._parse(path, handler)
        for relation in self._relations(path).values():
            if relation.kind == "drawing" and relation.target.lower() in self._parts:
                drawing = _DrawingHandler()
                self._parse(relation.target, drawing)
                handler.grid.pictures |= drawing.columns
        return handler.grid

    def _shared_strings(self, relations: dict[str, _Relation]) -> list[str]:
        handler = _StringsHandler(self._file, self._limits)
        for relation in relations.values():
            if relation.kind == "sharedStrings" and relation.target.lower() in self._parts:
                self._parse(relation.target, handler)
        return handler.strings

    def _styles(self, relations: dict[str, _Relation], *, starts_1904: bool) -> "_StylesHandler":
        handler = _StylesHandler(starts_1904=starts_1904)
        for relation in relations.values():
            if relation.kind == "styles" and relation.target.lower() in self._parts:
                self._parse(relation.target, handler)
        return handler

    def _relations(self, path: str) -> dict[str, _Relation]:
        folder, name = posixpath.split(path)
        part = posixpath.join(folder, "_rels", f"{name}.rels")
        if part.lower() not in self._parts:
            return {}
        handler = _RelationsHandler(folder)
        self._parse(part, handler)
        return handler.relations

    def _parse(self, path: str, handler: XmlHandler) -> None:
        info = self._parts.get(path.lower())
        if info is None:
            raise XmlDamage(f"there is no {path} in the archive")
        parse_xml(read_chunks(self._archive, info), handler, self._file)


class _Ignoring:
    """The parts of a document that nothing is done with."""

    def start(self, name: str, attributes: Attributes, /) -> None: ...

    def end(self, name: str, /) -> None: ...

    def text(self, content: str, /) -> None: ...


class _RelationsHandler(_Ignoring):
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.relations: dict[str, _Relation] = {}

    def start(self, name: str, attributes: Attributes) -> None:
        if name != "Relationship" or attributes.get("TargetMode") == "External":
            return
        target = attributes.get("Target", "")
        path = target if target.startswith("/") else posixpath.join(self._folder, target)
        kind = attributes.get("Type", "").rpartition("/")[2]
        place = posixpath.normpath(path).lstrip("/")
        self.relations[attributes.get("Id", "")] = _Relation(kind, place)


class _BookHandler(_Ignoring):
    def __init__(self) -> None:
        self.sheets: list[_SheetEntry] = []
        self.starts_1904 = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "workbookPr":
            self.starts_1904 = attributes.get("date1904") in ("1", "true")
        elif name == "sheet":
            relation = next((v for k, v in attributes.items() if k.endswith(":id")), "")
            visible = attributes.get("state", "visible") == "visible"
            self.sheets.append(_SheetEntry(attributes.get("name", ""), relation, visible))


class _StringsHandler(_Ignoring):
    """The texts that cells name by their number, without the readings above Japanese ones."""

    def __init__(self, file: str, limits: Limits) -> None:
        self.strings: list[str] = []
        self._pieces: list[str] = []
        self._inside = self._phonetic = False
        self._file = file
        self._limits = limits

    def start(self, name: str, _: Attributes) -> None:
        if name == "t":
            self._inside = not self._phonetic
        elif name == "rPh":
            self._phonetic = True

    def end(self, name: str) -> None:
        if name == "t":
            self._inside = False
        elif name == "rPh":
            self._phonetic = False
        elif name == "si":
            self.strings.append(shown_text("".join(self._pieces)))
            self._pieces.clear()
            if len(self.strings) > self._limits.cells:
                raise DataError("workbook-too-large", file=self._file, cells=self._limits.cells)

    def text(self, content: str) -> None:
        if self._inside:
            self._pieces.append(content)


class _StylesHandler(_Ignoring):
    """How the styles of cells write numbers."""

    def __init__(self, *, starts_1904: bool) -> None:
        self._codes: dict[int, str] = {}
        self._formats: list[int] = []
        self._inside = False
        self._starts_1904 = starts_1904
        self._compiled: dict[str, FormatNumber | None] = {}
        self.unknown: dict[str, str] = {}

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "numFmt":
            self._codes[_integer(attributes.get("numFmtId"))] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            self._inside = True
        elif name == "xf" and self._inside:
            self._formats.append(_integer(attributes.get("numFmtId")))

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._inside = False

    def writer(self, style: str) -> FormatNumber | None:
        """What writes the numbers of cells of a style, None for plain ones."""
        if style not in self._compiled:
            self._compiled[style] = self._compile(style)
        return self._compiled[style]

    def _compile(self, style: str) -> FormatNumber | None:
        number = self._formats[place] if (place := _integer(style)) < len(self._formats) else 0
        code = self._codes.get(number) or BUILTIN_FORMATS.get(number, "General")
        try:
            return compile_format(code, starts_1904=self._starts_1904)
        except UnknownNumberFormat:
            self.unknown[style] = code
            return None


class _DrawingHandler(_Ignoring):
    """The columns at which pictures are anchored, by their row counted from 1."""

    def __init__(self) -> None:
        self.columns: dict[int, int] = {}
        self._path: list[str] = []
        self._place = {"row": "", "col": ""}
        self._has_picture = False

    def start(self, name: str, _: Attributes) -> None:
        self._path.append(name)
        if name in ("twoCellAnchor", "oneCellAnchor"):
            self._place, self._has_picture = {"row": "", "col": ""}, False
        elif name == "pic":
            self._has_picture = True

    def end(self, name: str) -> None:
        self._path.pop()
        if name in ("twoCellAnchor", "oneCellAnchor") and self._has_picture and self._place["row"]:
            self.columns[_integer(self._place["row"]) + 1] = _integer(self._place["col"])

    def text(self, content: str) -> None:
        if self._path[-2:-1] == ["from"] and self._path[-1] in self._place:
            self._place[self._path[-1]] += content


class _SheetHandler:
    """The cells of one sheet, as they come."""

    def __init__(
        self,
        title: str,
        strings: list[str],
        styles: _StylesHandler,
        budget: CellBudget,
        *,
        has_cell_pictures: bool,
    ) -> None:
        self.grid = SheetGrid(title)
        self._has_cell_pictures = has_cell_pictures
        self._strings = strings
        self._styles = styles
        self._budget = budget
        self._columns: dict[str, int] = {}
        self._line = 0
        self._row: list[str] = []
        self._cell: Attributes = {}
        self._pieces: list[str] = []
        self._inside = self._phonetic = self._formula = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "c":
            self._cell = attributes
            self._formula = False
            self._pieces = []
        elif name == "v":
            self._inside = self._cell.get("t") != "inlineStr"  # whose text is within it already
        elif name == "t":
            self._inside = not self._phonetic
        elif name == "f":
            self._formula = True
        elif name == "row":
            self._start_row(attributes)
        elif name == "rPh":
            self._phonetic = True
        elif name == "mergeCell":
            self._merge(attributes.get("ref", ""))

    def end(self, name: str) -> None:
        if name == "c":
            self._end_cell()
        elif name in ("v", "t"):
            self._inside = False
        elif name == "row":
            # Blank rows to the very end of a sheet only have a style.
            filled = self.grid.add_row(self._line, self._row)
            self._budget.spend(self.grid.title, self._line if filled else 0, len(self._row))
        elif name == "rPh":
            self._phonetic = False

    def text(self, content: str) -> None:
        if self._inside:
            self._pieces.append(content)

    def _start_row(self, attributes: Attributes) -> None:
        given = attributes.get("r")
        self._line = _integer(given) if given else self._line + 1
        if self._line < 1:
            raise XmlDamage(f"there is no row {self._line}")
        # A row may come in two pieces.
        self._row = self.grid.lines.get(self._line, [])
        if attributes.get("hidden") in ("1", "true"):
            self.grid.hidden.add(self._line)

    def _end_cell(self) -> None:
        cell = self._cell
        column = self._column(cell.get("r"))
        row = self._row
        if column != len(row):
            if column > len(row):
                row += [""] * (column - len(row))
            else:
                row[column] = self._value(column)
                return
        row.append(self._value(column))

    def _column(self, reference: str | None) -> int:
        if not reference:
            column = len(self._row)
        else:
            letters = reference.rstrip(_DIGITS)
            known = self._columns.get(letters)
            if known is None:
                known = self._columns[letters] = column_number(letters)
            column = known
        if column >= MAX_SHEET_COLUMNS:
            self._budget.check_row(column + 1)
        return column

    def _value(self, column: int) -> str:
        """What a cell shows."""
        kind = self._cell.get("t", "n")
        text = self._pieces[0] if len(self._pieces) == 1 else "".join(self._pieces)
        if kind == "s":
            place = int(text) if text else -1
            return self._strings[place] if 0 <= place < len(self._strings) else ""
        if kind in ("str", "inlineStr"):
            shown = shown_text(text)
            if self._formula and not shown:
                # A formula may well give an empty text, which programs save as such.
                return shown if kind == "str" else self._broken(column, FORMULA_WITHOUT_VALUE)
            return self._broken(column, f"the error {shown}") if shown in ERROR_VALUES else shown
        if not text:
            return self._broken(column, FORMULA_WITHOUT_VALUE) if self._formula else ""
        if kind == "b":
            return "FALSE" if text in ("0", "false") else "TRUE"
        if kind == "e" and self._has_cell_pictures and "vm" in self._cell:
            self.grid.pictures[self._line] = column
            return ""
        if kind == "e":
            return self._broken(column, f"the error {text}")
        return self._date(text) if kind == "d" else self._number(text)

    def _broken(self, column: int, actual: str) -> str:
        self.grid.mark_broken(self._line, column, actual)
        return ""

    def _number(self, text: str) -> str:
        style = self._cell.get("s", "0")
        writer = self._styles.writer(style)
        if style in self._styles.unknown:
            self.grid.formats.add(self._styles.unknown[style])
        if writer is None:
            if text.isdecimal() and len(text) < 16:
                return text.lstrip("0") or "0"
            return plain_number(float(text))
        return writer(float(text))

    def _date(self, text: str) -> str:
        """A date or a time that is written as ISO 8601 has it."""
        day, _, time = text.partition("T")
        return f"{day} {time}" if time.strip("0:.Z") else day

    def _merge(self, reference: str) -> None:
        if region := _REGION.fullmatch(reference):
            left, top, right, bottom = region.groups()
            self._budget.spend(self.grid.title, 0, 1)
            self.grid.merged.append(
                MergedRegion(int(top), int(bottom), column_number(left), column_number(right))
            )


def column_number(letters: str) -> int:
    """The place of a column, counted from 0; raises `ValueError` for what names none."""
    number = 0
    for letter in letters[:4]:
        if not "A" <= letter <= "Z":
            raise ValueError(f"{letters} is no column")
        number = 26 * number + ord(letter) - ord("A") + 1
    if not number:
        raise ValueError("a cell without a column")
    return number - 1


def shown_text(text: str) -> str:
    """A text as it is shown: without the escapes for characters that XML does not have."""
    if "_x" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _integer(text: str | None) -> int:
    return int(text) if text else 0
