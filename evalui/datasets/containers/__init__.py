"""What a file holds, whatever it is: its tables. A library reads each container.

Nothing here counts beforehand what a file could cost: whoever reads files of other people does so
in a process with limits. Only what a library would hide or get wrong is looked at: the real size of
a package, rows and columns.
"""

import re
from dataclasses import replace

from evalui.datasets.containers.delimited import read_delimited
from evalui.datasets.containers.json import read_json, read_json_lines
from evalui.datasets.containers.old_workbook import read_old_workbook
from evalui.datasets.containers.opendocument import read_values
from evalui.datasets.containers.parquet import MAGIC as PARQUET_MAGIC
from evalui.datasets.containers.parquet import read_parquet
from evalui.datasets.containers.workbook import read_workbook
from evalui.datasets.encoding import decode
from evalui.datasets.files import SourceFile, is_workbook
from evalui.datasets.model import Layout, Limits, Tables
from evalui.datasets.picture_texts import take_from_text
from evalui.errors import DataError
from evalui.messages import Sentence, sentence

_OLE_MAGIC = b"\xd0\xcf\x11\xe0"
_ZIP_MAGIC = b"PK\x03\x04"
_OPENDOCUMENT = b"application/vnd.oasis.opendocument.spreadsheet"
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
_DELIMITED_SUFFIXES = (".csv", ".tsv")
_MARKDOWN = re.compile(r"(?m)^ {0,3}\|?[^\n|]*\|[^\n]*\n {0,3}\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$")
_GIFT = re.compile(r"\{\s*(?:[=~#]|T(?:RUE)?\s*[}#]|F(?:ALSE)?\s*[}#])", re.IGNORECASE)
_AIKEN = re.compile(
    r"(?m)^\s*[(（]?[A-ZＡ-Ｚ]\s*[.)、．:：）][^\n]*\n\s*[【\[(（]?(?:ANSWER|(?:正确|标准|参考)?答案)",
    re.IGNORECASE,
)
_PLUGIN_CHARS = 100_000  # of a text that are looked at for what it is


def open_tables(member: SourceFile, layout: Layout, limits: Limits) -> Tables:
    """The tables of a file, or the one that the layout chooses.

    What a file is decides how it is opened; its name only says what its content leaves open.

    Raises:
        DataError: it cannot be read, or has no such sheet.
    """
    data, name = member.data, member.name
    if is_workbook(member):
        if not data:
            raise DataError("empty-file", file=name)
        suffix = member.path.suffix.lower()
        with member.open() as source:
            if data.startswith(_OLE_MAGIC):
                return read_old_workbook(source.read(), name, layout, limits)
            if suffix == ".xlsb" or (data.startswith(_ZIP_MAGIC) and _OPENDOCUMENT in data[:100]):
                return read_values(source, name, layout, limits)
            if suffix != ".xls" or data.startswith(b"PK"):
                return read_workbook(source, name, layout, limits)
        if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            raise DataError("workbook-markup", file=name)
        # A text under the name of a workbook, as some web pages give it.
    elif data.startswith(PARQUET_MAGIC):
        with member.open() as source:
            return Tables((read_parquet(source, name, limits),))
    return _open_text(member, layout, limits)


def _open_text(member: SourceFile, layout: Layout, limits: Limits) -> Tables:
    suffix, file = member.path.suffix.lower(), member.name
    text, encoding = decode(member.data, file)
    text = take_from_text(text)  # those whose bytes are no ASCII
    begins = text.lstrip("\ufeff \t\n")[:1]
    found = None
    if begins in ("[", "{"):
        found = read_json(text, file, layout, limits, must_be_json=suffix == ".json")
    is_open = found is None and suffix not in (*_DELIMITED_SUFFIXES, *_JSON_SUFFIXES)
    if is_open and (kind := _plugin_kind(text, begins)):
        raise DataError("plugin-format", file=file, kind=kind)
    if found is None and begins == "{":
        found = Tables((read_json_lines(text, file),))  # of which the first line is broken
    if found is None and suffix in _JSON_SUFFIXES:
        raise DataError("json-broken", file=file, line=1, reason=f"it begins with “{begins}”")
    if found is None:
        found = Tables((read_delimited(text, file, layout),))
    tables = found.tables
    if layout.sheet and len(tables) > 1:
        tables = tuple(table for table in tables if table.title == layout.sheet)
        if not tables:
            known = ", ".join(found.titles)
            raise DataError("no-such-sheet", file=file, sheet=layout.sheet, known=known)
    return replace(found, tables=tuple(replace(each, encoding=encoding) for each in tables))


def _plugin_kind(text: str, begins: str) -> Sentence | str:
    """What a text is that only a package reads, "" for none of these."""
    beginning = text[:_PLUGIN_CHARS]
    if begins == "<":
        return sentence("error.plugin-markup")
    if _MARKDOWN.search(beginning):
        return sentence("error.plugin-markdown")
    if _AIKEN.search(beginning) or _GIFT.search(beginning):
        return sentence("error.plugin-quiz")
    return ""
