"""Workbooks and archives that are sent while they are made, in the memory of a few thousand rows.

A workbook is a zip of XML. Its rows are written without a library: those that write row by row take
six times as long and give nothing away before their end, see docs/adr/0015-workbooks.md.
"""

import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from evalui.errors import StoreError
from evalui.messages import localized
from evalui.report.export.spreadsheets import ForwardPipe, escape_formula, is_missing
from evalui.report.export.trial_cells import ExportColumn, ExportTable
from evalui.types import Language

# A fixed date: the same report gives the same archive, byte for byte.
_DATE = (1980, 1, 1, 0, 0, 0)
# What XML 1.0 cannot hold.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CELL_LIMIT = 32_767
_ROW_LIMIT = 1_048_576
_SHEET_BYTES = 2**31 - 2**20  # beyond it a zip needs extensions that Excel offers to repair
_FEW = 64  # distinct values of a chunk that are kept once for the whole workbook
_MAX_SHARED = 100_000
_BOOLEANS = (bool, np.bool_)
_NO_ROWS: list[str] = []

Archived = Iterable[tuple[str, Iterable[bytes]]]
Named = Iterable[tuple[str, ExportTable]]


def zip_parts(files: Archived, *, large: bool = True) -> Iterator[bytes]:
    """An archive piece by piece, each as soon as it is made.

    `large` allows files of 2 GiB and more.
    """
    pipe = ForwardPipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in files:
            info = zipfile.ZipInfo(name, _DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=large) as entry:
                for piece in pieces:
                    entry.write(piece)
                    yield from pipe.drain()
    yield from pipe.drain()


def write_private(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file that its owner alone can read, in place of one that is there.

    It has another name until it is whole.

    Raises:
        StoreError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    # Answers may be confidential, and the machine may have other users.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        part.unlink(missing_ok=True)  # the mode is given to new files only
        try:
            with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
                file.writelines(pieces)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError("not-written", path=str(path), reason=str(error.strerror)) from error


def xlsx_parts(
    tables: Named, signatures: Sequence[str], language: Language = "en"
) -> Iterator[bytes]:
    """A workbook with a sheet per named table: the signatures, then the header, both kept in view.

    A table with more rows than a sheet takes goes on in further sheets, which each sheet states.
    """
    return zip_parts(_parts(tables, "\n".join(signatures), language), large=False)


class _Shared(dict[str, int]):
    """The texts that many cells hold, by their places among those of the workbook."""

    def cell(self, text: str) -> str:
        """A cell with this text."""
        if text not in self and len(self) >= _MAX_SHARED:
            return _inline(text)
        return f'<c t="s"><v>{self.setdefault(text, len(self))}</v></c>'


def _parts(tables: Named, signed: str, language: Language) -> Archived:
    names: list[str] = []
    shared = _Shared()
    for name, table in tables:
        rows = _Rows(table, shared)
        while rows.left:
            names.append(f"{name}-{rows.sheets + 1}" if rows.sheets else name)
            more = localized("report.more_rows", language, sheet=f"{name}-{rows.sheets + 2}")
            yield f"xl/worksheets/sheet{len(names)}.xml", rows.sheet(signed, more)
    yield "xl/sharedStrings.xml", _shared_strings(shared)
    yield from ((name, (text.encode(),)) for name, text in _frame(names))


class _Rows:
    """The rows of a table, of which each `sheet` takes as many as it can hold."""

    def __init__(self, table: ExportTable, shared: _Shared) -> None:
        self.sheets = 0
        self._names = tuple(table.kinds)
        self._chunks = (_rows(chunk, shared) for chunk in table.chunks())
        self._waiting: list[str] = next(self._chunks, _NO_ROWS)

    @property
    def left(self) -> bool:
        """Whether there are rows that stand in no sheet."""
        return bool(self._waiting)

    def sheet(self, signed: str, more: str) -> Iterator[bytes]:
        """The XML of the next sheet, whose last row is `more` if the table goes on in another."""
        self.sheets += 1
        head = "".join(_inline(_clean(name), style=1) for name in self._names)
        yield f"{_SHEET}<row>{_inline(_clean(signed))}</row><row>{head}</row>".encode()
        room, size = _ROW_LIMIT - 3, 0
        while self._waiting and room:
            rows = self._waiting[:room]
            text = "".join(rows).encode()
            if size and size + len(text) > _SHEET_BYTES:
                break
            yield text
            self._waiting = self._waiting[room:] or next(self._chunks, _NO_ROWS)
            room, size = room - len(rows), size + len(text)
        if self.left:
            yield f"<row>{_inline(more)}</row>".encode()
        yield _SHEET_END


def _rows(chunk: Sequence[ExportColumn], shared: _Shared) -> list[str]:
    cells = [_cells(column, shared) for column in chunk]
    return [f"<row>{''.join(row)}</row>" for row in zip(*cells, strict=True)]


def _cells(column: ExportColumn, shared: _Shared) -> Sequence[str]:
    few = column.codes is not None and len(column.values) <= _FEW
    text = shared.cell if few else _inline
    return column.map(lambda value: _cell(value, text)).listed()


def _cell(value: Any, text: Callable[[str], str]) -> str:
    if is_missing(value) or value == "":
        return "<c/>"
    if isinstance(value, str):
        return text(_clean(value))
    if type(value) in _BOOLEANS:
        return f'<c t="b"><v>{1 if value else 0}</v></c>'
    return f"<c><v>{value:.16g}</v></c>"


def _inline(text: str, style: int = 0) -> str:
    styled = f' s="{style}"' if style else ""
    return f'<c t="inlineStr"{styled}><is>{_text(text)}</is></c>'


def _text(text: str) -> str:
    """A text as XML; one that begins or ends with space keeps it."""
    kept = "" if text == text.strip() and "\n" not in text else ' xml:space="preserve"'
    return f"<t{kept}>{escape(text, _RETURN)}</t>"


def _clean(text: str) -> str:
    """The text without what XML or Excel cannot hold, and never a formula."""
    text = escape_formula(_UNPRINTABLE.sub("\ufffd", text))
    if len(text) <= _CELL_LIMIT:
        return text
    note = f" […{len(text)} characters, all of them in the CSV file]"
    return text[: _CELL_LIMIT - len(note)] + note


def _shared_strings(shared: _Shared) -> Iterator[bytes]:
    yield f"{_XML}<sst {_MAIN}>".encode()
    yield "".join(f"<si>{_text(text)}</si>" for text in shared).encode()
    yield b"</sst>"


def _frame(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The parts that hold the sheets of these names together."""
    sheets = [(place, f"worksheets/sheet{place}.xml") for place in range(1, len(names) + 1)]
    kinds = [("/xl/workbook.xml", "sheet.main"), ("/xl/styles.xml", "styles")]
    kinds += [("/xl/sharedStrings.xml", "sharedStrings")]
    kinds += [(f"/xl/{path}", "worksheet") for _, path in sheets]
    overrides = "".join(
        f'<Override PartName="{path}" ContentType="{_CONTENT}.{kind}+xml"/>' for path, kind in kinds
    )
    yield (
        "[Content_Types].xml",
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>',
    )
    yield "_rels/.rels", _relationships([("officeDocument", "xl/workbook.xml")])
    more = [("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")]
    linked = [("worksheet", path) for _, path in sheets]
    yield "xl/_rels/workbook.xml.rels", _relationships([*linked, *more])
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{place}" r:id="rId{place}"/>'
        for place, name in enumerate(names, start=1)
    )
    yield (
        "xl/workbook.xml",
        f'{_XML}<workbook {_MAIN} xmlns:r="{_RELATED}"><sheets>{listed}</sheets></workbook>',
    )
    yield "xl/styles.xml", _STYLES


def _relationships(targets: Sequence[tuple[str, str]]) -> str:
    links = "".join(
        f'<Relationship Id="rId{place}" Type="{_RELATED}/{kind}" Target="{target}"/>'
        for place, (kind, target) in enumerate(targets, start=1)
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'


_RETURN = {"\r": "&#13;"}  # parsers of XML take a bare one for the end of a line
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_SCHEMAS = "http://schemas.openxmlformats.org"
_MAIN = f'xmlns="{_SCHEMAS}/spreadsheetml/2006/main"'
_RELATED = f"{_SCHEMAS}/officeDocument/2006/relationships"
_PACKAGE = f"{_SCHEMAS}/package/2006"
_CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_SHEET = (
    f'{_XML}<worksheet {_MAIN}><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="2" topLeftCell="A3" activePane="bottomLeft" state="frozen"/>'
    "</sheetView></sheetViews><sheetData>"
)
_SHEET_END = b"</sheetData></worksheet>"
_STYLES = (
    f"{_XML}<styleSheet {_MAIN}>"
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>"
)
