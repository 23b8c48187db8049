"""What a file holds, whatever it is: its tables as parts, each with cells or with typed rows.

The name of a file decides only what its content leaves open. Every part becomes a source.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalui.datasets.files.archive import SourceFile, is_workbook
from evalui.datasets.files.encoding import decode
from evalui.datasets.model import Layout, Limits, RawTable, UploadNote
from evalui.datasets.tables import json_documents, markdown_tables, quizzes
from evalui.datasets.tables.delimited import read_delimited
from evalui.datasets.tables.head import IsKnownName
from evalui.datasets.tables.old_workbook import read_old_workbook
from evalui.datasets.tables.opendocument import read_opendocument
from evalui.datasets.tables.parquet import MAGIC as PARQUET_MAGIC
from evalui.datasets.tables.parquet import read_parquet
from evalui.datasets.tables.rows import RowTable
from evalui.datasets.tables.sheets import CellBudget, Workbook, is_table, sheet_table
from evalui.datasets.tables.table import JsonRows, read_json_lines
from evalui.datasets.tables.workbook import read_workbook
from evalui.errors import DataError
from evalui.messages import sentence

_ZIP_MAGIC = b"PK\x03\x04"
_OLE_MAGIC = b"\xd0\xcf\x11\xe0"
_OPENDOCUMENT = b"application/vnd.oasis.opendocument.spreadsheet"
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
_DELIMITED_SUFFIXES = (".csv", ".tsv")
_QUIZ_SUFFIXES = (".gift",)


@dataclass(frozen=True, slots=True)
class Part:
    """One table of a file. `title` is that of a sheet, or the key of a list; "" for a whole file.

    Delimited text has its text beside its table, since some formats have no head.
    """

    title: str = ""
    text: str = ""
    encoding: str = "utf-8"
    table: RawTable | None = None
    records: JsonRows | None = None
    notes: tuple[UploadNote, ...] = ()


@dataclass(frozen=True, slots=True)
class Container:
    """The parts of a file, notes on it as a whole, and the titles that can be chosen."""

    parts: tuple[Part, ...]
    notes: tuple[UploadNote, ...] = ()
    titles: tuple[str, ...] = ()


def open_container(
    member: SourceFile, layout: Layout, limits: Limits, is_known_name: IsKnownName
) -> Container:
    """The tables of a file, or the one that the layout chooses.

    Raises `DataError` for what cannot be read, and for a sheet that is not there.
    """
    opener = _Opener(member, layout, limits, is_known_name)
    if is_workbook(member):
        return opener.open_workbook()
    if member.data.startswith(PARQUET_MAGIC):
        return Container((Part(records=read_parquet(member.data, member.name, limits)),))
    return opener.open_text()


@dataclass(frozen=True, slots=True)
class _Opener:
    member: SourceFile
    layout: Layout
    limits: Limits
    is_known_name: IsKnownName

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def suffix(self) -> str:
        return self.member.path.suffix.lower()

    # Workbooks

    def open_workbook(self) -> Container:
        """The visible sheets that are tables."""
        book = self._read_workbook()
        if book is None:
            return self.open_text()
        budget = CellBudget(self.name, self.limits)
        parts: list[Part] = []
        for grid in book.grids:
            read = sheet_table(
                grid,
                self.name,
                is_known_name=self.is_known_name,
                budget=budget,
                head_row=self.layout.head_row,
            )
            if read.table.header or read.table.rows or read.table.faults:
                parts.append(Part(grid.title, table=read.table, notes=read.notes))
        if not parts:
            raise DataError("empty-file", file=self.name)
        tables = [part for part in parts if part.table and is_table(part.table, self.is_known_name)]
        chosen = tables or parts[:1]
        notes: list[UploadNote] = []
        if book.hidden:
            hidden = {"file": self.name, "sheets": ", ".join(book.hidden)}
            notes.append(UploadNote("hidden-sheets", hidden))
        return Container(tuple(chosen), tuple(notes), book.visible)

    def _read_workbook(self) -> Workbook | None:
        """The sheets by what the file is; None for a text under the name of a workbook."""
        data, sheet = self.member.data, self.layout.sheet
        if not data:
            raise DataError("empty-file", file=self.name)
        if data.startswith(_OLE_MAGIC):
            return read_old_workbook(data, self.name, sheet=sheet, limits=self.limits)
        if data.startswith(_ZIP_MAGIC) and _OPENDOCUMENT in data[:100]:
            return read_opendocument(data, self.name, sheet=sheet, limits=self.limits)
        if self.suffix == ".xls" and not data.startswith(b"PK"):
            if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
                raise DataError("workbook-markup", file=self.name)
            return None
        return read_workbook(data, self.name, sheet=sheet, limits=self.limits)

    # Texts

    def open_text(self) -> Container:
        """What a text holds."""
        decoded = decode(self.member.data, self.name)
        begins = decoded.text.lstrip("\ufeff \t\n")[:1]
        container = None
        if begins in ("[", "{"):
            container = self._open_json(decoded.text, begins)
        if container is None and self.suffix not in (*_DELIMITED_SUFFIXES, *_JSON_SUFFIXES):
            container = self._open_xml(decoded.text) or self._open_prose(decoded.text)
        if container is None:
            if self.suffix in _JSON_SUFFIXES:
                reason = f"it begins with “{begins}”"
                raise DataError("json-broken", file=self.name, line=1, reason=reason)
            container = self._open_delimited(decoded.text)
        parts = tuple(
            replace(part, encoding=decoded.encoding) for part in self._chosen(container.parts)
        )
        return replace(container, parts=parts)

    def _chosen(self, parts: Sequence[Part]) -> Sequence[Part]:
        """The part that the layout names, if there are several."""
        titles = [part.title for part in parts]
        if not self.layout.sheet or len(parts) < 2:
            return parts
        if self.layout.sheet not in titles:
            raise DataError(
                "no-such-sheet", file=self.name, sheet=self.layout.sheet, known=", ".join(titles)
            )
        return [part for part in parts if part.title == self.layout.sheet]

    def _open_json(self, text: str, begins: str) -> Container | None:
        document = json_documents.read_json(
            text,
            self.name,
            is_known_name=self.is_known_name,
            limits=self.limits,
            head_row=self.layout.head_row,
            must_be_json=self.suffix == ".json",
        )
        if document is None and begins == "{" and self.suffix not in _QUIZ_SUFFIXES:
            # Lines of which the first one is broken.
            return Container((Part(records=read_json_lines(text, self.name)),))
        if document is None:
            return None
        parts = tuple(
            Part(
                part.title,
                table=part.table.table if part.table else None,
                records=part.rows,
                notes=part.table.notes if part.table else (),
            )
            for part in document.parts
        )
        titles = tuple(part.title for part in parts) if len(parts) > 1 else ()
        return Container(parts, document.notes, titles)

    def _open_xml(self, text: str) -> Container | None:
        if quizzes.is_moodle_xml(text):
            return self._quiz(quizzes.read_moodle_xml(text, self.name, self.limits))
        if self.suffix == ".xml":
            raise DataError("xml-no-quiz", file=self.name, kinds=sentence("error.kinds"))
        return None

    def _open_prose(self, text: str) -> Container | None:
        if markdown_tables.is_markdown_table(text):
            return self._open_markdown(text)
        if quizzes.is_aiken(text):
            return self._quiz(quizzes.read_aiken(text, self.name, self.limits))
        if quizzes.is_gift(text):
            return self._quiz(quizzes.read_gift(text, self.name, self.limits))
        return None

    def _open_markdown(self, text: str) -> Container:
        tables = markdown_tables.read_markdown(
            text, self.name, is_known_name=self.is_known_name, head_row=self.layout.head_row
        )
        several = len(tables) > 1
        parts = tuple(_table_part(table.title if several else "", table.table) for table in tables)
        return Container(parts, titles=tuple(part.title for part in parts) if several else ())

    def _quiz(self, quiz: quizzes.Quiz) -> Container:
        several = len(quiz.parts) > 1
        parts = tuple(Part(part.title if several else "", records=part.rows) for part in quiz.parts)
        titles = tuple(part.title for part in parts) if several else ()
        return Container(parts, quiz.notes, titles)

    def _open_delimited(self, text: str) -> Container:
        read = read_delimited(
            text,
            self.name,
            is_known_name=self.is_known_name,
            head_row=self.layout.head_row,
            commas_in_text=self.layout.commas_in_text,
        )
        return Container((replace(_table_part("", read), text=text),))


def _table_part(title: str, read: RowTable) -> Part:
    return Part(title, table=read.table, notes=read.notes)
