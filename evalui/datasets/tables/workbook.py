"""Excel workbooks (.xlsx, .xlsm): openpyxl reads the cells, once the size of them is known.

Before it opens anything, the parts that cells are made of are read as streams: what they would make
is counted, and noted is what openpyxl does not tell of a workbook that it streams (hidden rows,
merged cells, formulas, pictures). It is then given those parts alone, at the places where it looks.

Formulas are never evaluated: the value counts that was saved beside them. Numbers and dates are
written as the number format of their cell shows them. ECMA-376 part 1 says what the parts hold.
"""

import io
import posixpath
import re
import warnings
import zipfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any, NamedTuple

from evalui.datasets.files.archive import ARCHIVE_ERRORS, check_archive, read_chunks
from evalui.datasets.model import Limits
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
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STRICT_MAIN = "http://purl.oclc.org/ooxml/spreadsheetml/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_RELATIONS_MEDIA = "application/vnd.openxmlformats-package.relationships+xml"
_MAX_STYLE_ELEMENTS = 1_000_000  # openpyxl makes an object of each
_FIRST_CUSTOM_FORMAT = 164  # of the numbers of number formats
_DIRECT_KINDS = frozenset(("str", "inlineStr", "e"))  # cells that hold their text themselves
_LAST_DAY = "a day beyond the year 9999"
# What openpyxl raises on a workbook that is not as it expects, beside the errors of damage.
_OPENPYXL_ERRORS = (TypeError, AttributeError, SyntaxError, AssertionError)


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
        hidden = tuple(entry.title for entry in sheets if not entry.visible)
        with _Package(starts_1904=book.starts_1904) as package:
            self._copy_shared(package, relations)
            scans = [
                self._scan_sheet(entry.title, relations[entry.relation].target, package)
                for entry in sheets
                if entry.visible and entry.title in chosen
            ]
            package.finish()
            grids = tuple(_read_cells(package.content, scans, starts_1904=book.starts_1904))
        return Workbook(grids, visible, hidden)

    def _is_sheet(self, relations: dict[str, _Relation], entry: _SheetEntry) -> bool:
        """Whether an entry is a sheet of cells; others are charts alone."""
        relation = relations.get(entry.relation)
        return relation is not None and relation.kind == "worksheet"

    def _copy_shared(self, package: "_Package", relations: dict[str, _Relation]) -> None:
        """The parts that all sheets share."""
        targets = {
            relation.kind: relation.target
            for relation in relations.values()
            if relation.target.lower() in self._parts
        }
        if path := targets.get("sharedStrings"):
            strings = _StringsHandler(self._file, self._limits)
            # openpyxl takes the escape of a "_" away, after which others cannot be told from texts.
            self._parse(
                path, strings, package, "xl/sharedStrings.xml", (b"x005F_", b"x00x005F_5F_")
            )
        if path := targets.get("styles"):
            self._parse(path, _StylesHandler(), package, "xl/styles.xml")

    def _scan_sheet(self, title: str, path: str, package: "_Package") -> "_SheetScan":
        scan = _SheetScan(
            title,
            self._budget,
            # Pictures that are the value of a cell, which older programs show as an error.
            has_cell_pictures="xl/richdata/richvaluerel.xml" in self._parts,
        )
        self._parse(path, scan, package, package.add_sheet())
        scan.finish()
        for relation in self._relations(path).values():
            if relation.kind == "drawing" and relation.target.lower() in self._parts:
                drawing = _DrawingHandler()
                self._parse(relation.target, drawing)
                scan.grid.pictures |= drawing.columns
        return scan

    def _relations(self, path: str) -> dict[str, _Relation]:
        folder, name = posixpath.split(path)
        part = posixpath.join(folder, "_rels", f"{name}.rels")
        if part.lower() not in self._parts:
            return {}
        handler = _RelationsHandler(folder)
        self._parse(part, handler)
        return handler.relations

    def _parse(
        self,
        path: str,
        handler: XmlHandler,
        package: "_Package | None" = None,
        copy: str = "",
        change: tuple[bytes, bytes] = (b"", b""),
    ) -> None:
        """Give a part to a handler, and a copy of it to a package."""
        info = self._parts.get(path.lower())
        if info is None:
            raise XmlDamage(f"there is no {path} in the archive")
        pieces = read_chunks(self._archive, info)
        if package is None:
            parse_xml(pieces, handler, self._file)
            return
        with closing(package.copying(pieces, copy, change)) as copied:
            parse_xml(copied, handler, self._file)


class _Package:
    """What openpyxl is given: the parts that cells are made of, in the spelling that it knows.

    It passes over sheets of the strict variant of the format, and over parts whose names are in
    other letters than those by which they are called.
    """

    def __init__(self, *, starts_1904: bool) -> None:
        self.content = io.BytesIO()
        self._archive = zipfile.ZipFile(self.content, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._starts_1904 = starts_1904
        self._sheets: list[str] = []
        self._shared: list[str] = []

    def __enter__(self) -> "_Package":
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def add_sheet(self) -> str:
        """The name of the part of one more sheet."""
        self._sheets.append(f"xl/worksheets/sheet{len(self._sheets) + 1}.xml")
        return self._sheets[-1]

    def copying(
        self, pieces: Iterator[bytes], name: str, change: tuple[bytes, bytes]
    ) -> Generator[bytes]:
        """The pieces of a part, which are kept under a name, with one text changed into another."""
        if name not in self._sheets:
            self._shared.append(name)
        old, new = change
        with self._archive.open(name, "w", force_zip64=True) as part:
            rest, is_first = b"", True
            for piece in pieces:
                yield piece
                kept = piece
                if is_first:
                    # The names of the format stand in the first element.
                    kept = kept.replace(_STRICT_MAIN.encode(), _MAIN.encode())
                if old:
                    kept = (rest + kept).replace(old, new)
                    # A text that is cut is changed with the next piece.
                    size = next(n for n in range(len(old) - 1, -1, -1) if kept.endswith(old[:n]))
                    kept, rest = kept[: len(kept) - size], kept[len(kept) - size :]
                part.write(kept)
                is_first = False
            part.write(rest)

    def finish(self) -> None:
        """Write the parts that name the others."""
        kinds = {"xl/sharedStrings.xml": "sharedStrings", "xl/styles.xml": "styles"}
        parts = [(name, "worksheet") for name in self._sheets]
        parts += [(name, kinds[name]) for name in self._shared]
        types = "".join(
            f'<Override PartName="/{name}" ContentType="{_MEDIA}.{kind}+xml"/>'
            for name, kind in (*parts, ("xl/workbook.xml", "sheet.main"))
        )
        relations = "".join(
            f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="/{name}"/>'
            for number, (name, kind) in enumerate(parts, start=1)
        )
        sheets = "".join(
            f'<sheet name="{number}" sheetId="{number}" r:id="r{number}"/>'
            for number in range(1, len(self._sheets) + 1)
        )
        properties = '<workbookPr date1904="1"/>' if self._starts_1904 else "<workbookPr/>"
        made = {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
            f'<Default Extension="rels" ContentType="{_RELATIONS_MEDIA}"/>{types}</Types>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
            f"{relations}</Relationships>",
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">{properties}'
            f"<sheets>{sheets}</sheets></workbook>",
        }
        for name, content in made.items():
            self._archive.writestr(name, content)
        self._archive.close()


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
    """Counts the texts that cells name by their number."""

    def __init__(self, file: str, limits: Limits) -> None:
        self._strings = 0
        self._file = file
        self._limits = limits

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "si":
            self._strings += 1
            if self._strings > self._limits.cells:
                raise DataError("workbook-too-large", file=self._file, cells=self._limits.cells)
        elif name == "sst":
            _check_namespace(attributes)


class _StylesHandler(_Ignoring):
    """Counts the styles, and looks for the number formats that they name."""

    def __init__(self) -> None:
        self._elements = 0
        self._formats: set[int] = set()
        self._inside = False

    def start(self, name: str, attributes: Attributes) -> None:
        self._elements += 1
        if self._elements > _MAX_STYLE_ELEMENTS:
            raise XmlDamage("it has too many styles")
        if name == "numFmt":
            self._formats.add(_integer(attributes.get("numFmtId")))
        elif name == "cellXfs":
            self._inside = True
        elif name == "xf" and self._inside:
            number = _integer(attributes.get("numFmtId"))
            # openpyxl would take another one for it.
            if number >= _FIRST_CUSTOM_FORMAT and number not in self._formats:
                raise XmlDamage(f"there is no number format {number}")

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._inside = False


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


class _SheetScan(_Ignoring):
    """What one sheet will make, and what openpyxl does not tell of its cells."""

    def __init__(self, title: str, budget: CellBudget, *, has_cell_pictures: bool) -> None:
        self.grid = SheetGrid(title)
        self.last = 0
        self.formulas: set[tuple[int, int]] = set()
        self.errors: set[tuple[int, int]] = set()
        self.max_column: int | None = None  # of a sheet with cells that are not in order
        self._has_cell_pictures = has_cell_pictures
        self._budget = budget
        self._columns: dict[str, int] = {}
        self._line = 0
        self._column = self._width = -1
        self._is_filled = self._is_direct = self._is_ordered = True

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "c":
            self._start_cell(attributes)
        elif name in ("v", "is"):
            self._is_filled = True
        elif name == "f":
            self._is_filled = True
            self.formulas.add((self._line, self._column))
        elif name == "row":
            self._start_row(attributes)
        elif name == "mergeCell":
            self._merge(attributes.get("ref", ""))
        elif name == "worksheet":
            _check_namespace(attributes)

    def text(self, content: str) -> None:
        # A text like "#N/A" among the shared ones is what a person wrote.
        if self._is_direct and content in ERROR_VALUES:
            self.errors.add((self._line, self._column))

    def finish(self) -> None:
        """Count the last row too."""
        self._end_row()
        if self._is_ordered:
            self.max_column = None
        else:
            # Each row is made as wide as the widest one.
            self._budget.spend(self.grid.title, 0, self.last * (self.max_column or 0))

    def _end_row(self) -> None:
        # Blank rows to the very end of a sheet only have a style.
        if self._is_filled:
            self.last = self._line
        self._budget.spend(self.grid.title, self._line if self._is_filled else 0, self._width + 1)
        self.max_column = max(self.max_column or 0, self._width + 1)

    def _start_row(self, attributes: Attributes) -> None:
        self._end_row()
        given = attributes.get("r")
        line = _integer(given) if given else self._line + 1
        if line <= self._line:
            # openpyxl would pass over it.
            raise XmlDamage(f"row {line} comes after row {self._line}")
        self._line = line
        self._column = self._width = -1
        self._is_filled = False
        if attributes.get("hidden") in ("1", "true"):
            self.grid.hidden.add(line)

    def _start_cell(self, attributes: Attributes) -> None:
        reference = attributes.get("r")
        if reference:
            letters = reference.rstrip(_DIGITS)
            known = self._columns.get(letters)
            if known is None:
                known = self._columns[letters] = column_number(letters)
            self._column = known
        else:
            self._column += 1
        column = self._column
        if column > self._width:
            self._width = column
            if column >= MAX_SHEET_COLUMNS:
                self._budget.check_row(column + 1)
        else:
            self._is_ordered = False
        kind = attributes.get("t")
        self._is_direct = kind in _DIRECT_KINDS
        if kind == "e" and self._has_cell_pictures and "vm" in attributes:
            self.grid.pictures[self._line] = column

    def _merge(self, reference: str) -> None:
        if region := _REGION.fullmatch(reference):
            left, top, right, bottom = region.groups()
            self._budget.spend(self.grid.title, 0, 1)
            self.grid.merged.append(
                MergedRegion(int(top), int(bottom), column_number(left), column_number(right))
            )


def _read_cells(
    content: io.BytesIO, scans: Sequence[_SheetScan], *, starts_1904: bool
) -> Iterator[SheetGrid]:
    """The sheets with their cells, as openpyxl gives them."""
    with _openpyxl_damage():
        from openpyxl import load_workbook

        book: Any = load_workbook(content, read_only=True, data_only=True)
    with closing(book):
        formats = _CellFormats(starts_1904=starts_1904)
        for sheet, scan in zip(book.worksheets, scans, strict=True):
            _SheetReader(scan, formats).read(sheet)
            yield scan.grid


@contextmanager
def _openpyxl_damage() -> Generator[None]:
    try:
        with warnings.catch_warnings():
            # About styles that it replaces and days that it cannot tell, which are faults of ours.
            warnings.simplefilter("ignore")
            yield
    except _OPENPYXL_ERRORS as error:
        raise XmlDamage(str(error) or "its parts contradict one another") from error


class _CellFormats:
    """What writes the numbers of cells, by their number format."""

    def __init__(self, *, starts_1904: bool) -> None:
        self._starts_1904 = starts_1904
        self._compiled: dict[str, FormatNumber | None] = {}
        self._unknown: set[str] = set()

    def write(self, cell: Any, value: float, grid: SheetGrid) -> str:
        """A number as its cell shows it."""
        code = self.code(cell)
        writer = self.writer(code)
        if code in self._unknown:
            grid.formats.add(code)
        return writer(value) if writer else plain_number(value)

    def code(self, cell: Any) -> str:
        """The number format of a cell; openpyxl has those of one country under their number."""
        return BUILTIN_FORMATS.get(cell.style_array.numFmtId) or str(cell.number_format)

    def writer(self, code: str) -> FormatNumber | None:
        """What writes numbers in a format, None for plain ones."""
        if code not in self._compiled:
            try:
                self._compiled[code] = compile_format(code, starts_1904=self._starts_1904)
            except UnknownNumberFormat:
                self._unknown.add(code)
                self._compiled[code] = None
        return self._compiled[code]

    def is_plain(self, cell: Any) -> bool:
        """Whether a cell has no format of its own."""
        code = self.code(cell)
        return self.writer(code) is None and code not in self._unknown


class _SheetReader:
    """The cells of one sheet as texts."""

    def __init__(self, scan: _SheetScan, formats: _CellFormats) -> None:
        self._scan = scan
        self._grid = scan.grid
        self._formats = formats

    def read(self, sheet: Any) -> None:
        """Add the rows of a sheet to its grid."""
        for line, cells in enumerate(self._rows(sheet), start=1):
            if cells:
                shown = [
                    ""
                    if (value := cell.value) is None and not self._scan.formulas
                    else self._shown(cell, value, line, column)
                    for column, cell in enumerate(cells)
                ]
                self._grid.add_row(line, shown)

    def _rows(self, sheet: Any) -> Iterator[Sequence[Any]]:
        """The rows up to the last one that is filled: what follows the cells is not looked at."""
        with _openpyxl_damage():
            sheet.reset_dimensions()  # the file states them itself, and they may be wrong
            yield from islice(sheet.iter_rows(max_col=self._scan.max_column), self._scan.last)

    def _shown(self, cell: Any, value: Any, line: int, column: int) -> str:
        """What a cell shows."""
        if isinstance(value, str):
            return self._text(cell, value, line, column)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int | float):
            return self._formats.write(cell, float(value), self._grid)
        if value is not None:
            return self._date(cell, value)
        # A formula may well give an empty text, which programs save as such.
        if (line, column) in self._scan.formulas and cell.data_type != "str":
            return self._broken(line, column, FORMULA_WITHOUT_VALUE)
        return ""

    def _text(self, cell: Any, value: str, line: int, column: int) -> str:
        if cell.data_type == "e":
            if self._grid.pictures.get(line) == column:
                return ""
            is_error = (line, column) in self._scan.errors
            return self._broken(line, column, f"the error {value}" if is_error else _LAST_DAY)
        if value in ERROR_VALUES and (line, column) in self._scan.errors:
            return self._broken(line, column, f"the error {value}")
        if not value and (line, column) in self._scan.formulas:
            return self._broken(line, column, FORMULA_WITHOUT_VALUE)
        return shown_text(value)

    def _broken(self, line: int, column: int, actual: str) -> str:
        self._grid.mark_broken(line, column, actual)
        return ""

    def _date(self, cell: Any, value: date | time | timedelta) -> str:
        """A day or a time; those that were saved as texts may have no format."""
        if not self._formats.is_plain(cell):
            import openpyxl.utils.datetime as conversion

            convert: Any = vars(conversion)["to_excel"]  # which has no types
            return self._formats.write(
                cell, float(convert(value, cell.parent.parent.epoch)), self._grid
            )
        if isinstance(value, datetime):
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
        return value.isoformat() if isinstance(value, date | time) else str(value)


def _check_namespace(attributes: Mapping[str, str]) -> None:
    """Raise `XmlDamage` for a part of which openpyxl would not know one element."""
    if not any(value in (_MAIN, _STRICT_MAIN) for value in attributes.values()):
        raise XmlDamage("its parts are not in the namespace of workbooks")


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
