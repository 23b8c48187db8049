"""OpenDocument sheets (.ods): each cell has the text that it shows, which is what is read.

OpenDocument 1.3 part 3 says what the elements hold. Cells and rows may be repeated by a number
only: they are counted before they are made.
"""

import io
import zipfile

from evalui.datasets.files.archive import check_archive, read_all, read_chunks
from evalui.datasets.model import Limits
from evalui.datasets.tables.sheets import (
    ERROR_VALUES,
    FORMULA_WITHOUT_VALUE,
    CellBudget,
    MergedRegion,
    SheetGrid,
    Workbook,
    select_sheets,
)
from evalui.datasets.tables.workbook import as_damage
from evalui.datasets.tables.xml_stream import Attributes, XmlDamage, parse_xml
from evalui.errors import DataError

_CONTENT = "content.xml"
_MANIFEST = "META-INF/manifest.xml"
_MAX_BLANKS = 1000  # that one element may stand for
_HIDDEN_ROWS = ("collapse", "filter")
_VALUES = (
    "office:string-value",
    "office:date-value",
    "office:time-value",
    "office:boolean-value",
    "office:value",
)
# What stands in a cell and is not its text.
_SKIPPED = ("office:annotation", "draw:frame", "draw:custom-shape", "text:ruby-text", "text:note")


def read_opendocument(data: bytes, file: str, *, sheet: str, limits: Limits) -> Workbook:
    """The visible sheets of an OpenDocument file, or only the one called `sheet`.

    Raises:
        DataError: it cannot be read, is too large, or has no such sheet.
    """
    with as_damage(file), zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [part for part in archive.infolist() if not part.is_dir()]
        check_archive(file, parts, limits)
        names = {part.filename: part for part in parts}
        if _MANIFEST in names and b"encryption-data" in read_all(archive, names[_MANIFEST]):
            raise DataError("workbook-locked", file=file)
        if _CONTENT not in names:
            raise XmlDamage(f"there is no {_CONTENT} in the archive")
        handler = _ContentHandler(CellBudget(file, limits), sheet)
        parse_xml(read_chunks(archive, names[_CONTENT]), handler, file, prefixed=True)
    visible = tuple(grid.title for grid in handler.grids if grid.visible)
    hidden = tuple(grid.title for grid in handler.grids if not grid.visible)
    chosen = select_sheets(visible, file, sheet)
    grids = tuple(grid for grid in handler.grids if grid.visible and grid.title in chosen)
    return Workbook(grids, visible, hidden)


class _ContentHandler:
    """The tables of a document, as their elements come."""

    def __init__(self, budget: CellBudget, wanted: str) -> None:
        self.grids: list[SheetGrid] = []
        self._budget = budget
        self._wanted = wanted
        self._hidden_styles: set[str] = set()
        self._style = ""
        self._tables = 0  # within one another; only the outermost are sheets
        self._line = 0  # the last row that was read
        self._repeated_row = 1
        self._hidden_row = False
        self._column = 0
        self._row: list[str] = []
        self._row_broken: dict[int, str] = {}
        self._picture, self._picture_column = False, 0
        self._cell: Attributes = {}
        self._in_cell = False
        self._paragraphs: list[list[str]] = []
        self._in_paragraph = 0
        self._skipped = 0

    @property
    def _reads(self) -> bool:
        """Whether the sheet in which the parser stands is one to read."""
        if self._tables != 1:
            return False
        grid = self.grids[-1]
        return grid.visible and (not self._wanted or grid.title == self._wanted)

    def start(self, name: str, attributes: Attributes) -> None:
        if name in _SKIPPED:
            self._skipped += 1
        if name == "draw:image" and self._in_cell:
            self._picture, self._picture_column = True, self._column
        elif name == "style:style":
            self._style = attributes.get("style:name", "")
        elif name == "style:table-properties":
            if attributes.get("table:display") == "false":
                self._hidden_styles.add(self._style)
        elif name == "table:table":
            self._start_table(attributes)
        elif not self._reads:
            return
        elif name == "table:table-row":
            self._start_row(attributes)
        elif name in ("table:table-cell", "table:covered-table-cell"):
            self._cell = attributes
            self._in_cell = True
            self._paragraphs = []
        elif self._in_cell and not self._skipped:
            self._start_text(name, attributes)

    def end(self, name: str) -> None:
        if name in _SKIPPED:
            self._skipped -= 1
        elif name == "table:table":
            self._tables -= 1
        elif not self._reads:
            return
        elif name == "table:table-row":
            self._end_row()
        elif name in ("table:table-cell", "table:covered-table-cell"):
            self._end_cell(covered=name == "table:covered-table-cell")
        elif name in ("text:p", "text:h") and not self._skipped:
            self._in_paragraph = max(0, self._in_paragraph - 1)

    def text(self, content: str) -> None:
        if self._in_paragraph and not self._skipped:
            self._paragraphs[-1].append(content)

    def _start_table(self, attributes: Attributes) -> None:
        self._tables += 1
        if self._tables > 1:
            return
        hidden = attributes.get("table:style-name", "") in self._hidden_styles
        self.grids.append(SheetGrid(attributes.get("table:name", ""), visible=not hidden))
        self._line = 0

    def _start_row(self, attributes: Attributes) -> None:
        self._repeated_row = _count(attributes, "table:number-rows-repeated")
        self._hidden_row = attributes.get("table:visibility") in _HIDDEN_ROWS
        self._row, self._row_broken, self._picture = [], {}, False
        self._column = 0

    def _start_text(self, name: str, attributes: Attributes) -> None:
        if name in ("text:p", "text:h"):
            self._paragraphs.append([])
            self._in_paragraph += 1
        elif not self._in_paragraph:
            return
        elif name == "text:s":
            self._paragraphs[-1].append(" " * min(_count(attributes, "text:c"), _MAX_BLANKS))
        elif name == "text:tab":
            self._paragraphs[-1].append("\t")
        elif name == "text:line-break":
            self._paragraphs[-1].append("\n")

    def _end_cell(self, *, covered: bool) -> None:
        self._in_cell = False
        self._in_paragraph = 0
        column = self._column
        repeated = _count(self._cell, "table:number-columns-repeated")
        self._column += repeated
        if covered:
            return
        self._merge(column)
        text = self._shown_text()
        if not text and self._has_no_value():
            self._row_broken[column] = FORMULA_WITHOUT_VALUE
        elif text in ERROR_VALUES or (text.startswith("Err:") and self._is_formula()):
            self._row_broken[column] = f"the error {text}"
        elif text:
            self._budget.check_row(self._column)
            self._row += [""] * (column - len(self._row)) + [text] * repeated

    def _shown_text(self) -> str:
        """The paragraphs of a cell; programs that write none leave its value."""
        if self._paragraphs:
            return "\n".join("".join(pieces) for pieces in self._paragraphs)
        return next((self._cell[name] for name in _VALUES if name in self._cell), "")

    def _is_formula(self) -> bool:
        return "table:formula" in self._cell

    def _has_no_value(self) -> bool:
        return (
            self._is_formula()
            and not self._paragraphs
            and not any(v in self._cell for v in _VALUES)
        )

    def _merge(self, column: int) -> None:
        rows = _count(self._cell, "table:number-rows-spanned")
        columns = _count(self._cell, "table:number-columns-spanned")
        if rows > 1 or columns > 1:
            line = self._line + 1
            self.grids[-1].merged.append(
                MergedRegion(line, line + rows - 1, column, column + columns - 1)
            )

    def _end_row(self) -> None:
        grid, first = self.grids[-1], self._line + 1
        self._line += self._repeated_row
        if not self._row and not self._row_broken:
            return
        for line in range(first, first + self._repeated_row):
            self._budget.spend(grid.title, line, len(self._row))
            for column, actual in self._row_broken.items():
                grid.mark_broken(line, column, actual)
            grid.add_row(line, list(self._row))
            if self._hidden_row:
                grid.hidden.add(line)
            if self._picture:
                grid.pictures[line] = self._picture_column


def _count(attributes: Attributes, name: str) -> int:
    return max(1, int(attributes.get(name, "1")))
