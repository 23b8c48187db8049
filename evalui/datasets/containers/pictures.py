"""Pictures in the cells of a table become marks; a row whose picture cannot be used is a fault.

A picture is a data URI or base64 in any text, and the objects in which data sets and conversations
keep images. In a column of pictures it is also a path to a file of the upload, the number of the
row that has it, or a list of these. Addresses are not followed.
"""

import ast
import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, cast

from evalui.datasets.model import (
    Cell,
    FaultList,
    FileTable,
    Row,
    as_object,
    cell_text,
    collapse_whitespace,
    fold_name,
    shorten,
)
from evalui.datasets.names import find_series, read_head
from evalui.datasets.picture_files import UnreadablePicture, current_folder
from evalui.datasets.picture_texts import take_from_text
from evalui.messages import Sentence, sentence
from evalui.pictures import Mark, has_marks, parts, without
from evalui.types import Fault

PLACEHOLDER = "<image>"  # the place of a picture in a text, as data sets write it
_PICTURE_COLUMN = re.compile(
    r"(?:decoded_|base64_|(?P<before>input_|question_|has_))?"
    r"(?P<name>images?|imgs?|pictures?|pics?|photos?)"
    r"(?:[ _-]?(?:path|url|file|name|base64|b64|bytes|data)s?)?[ _-]?(?P<number>\d*)"
    r"|图片|图像|图"
)
_CLAIM = "has_"  # before the name of a column that only says whether there is a picture
_EMPTY_VALUES = ("", "none", "null", "nan", "n/a", "-", "no", "false", "0")
_IMAGE_PART_TYPES = ("image_url", "image", "input_image")  # content parts of a conversation
_PART_TYPES = (*_IMAGE_PART_TYPES, "text", "input_text")
_IMAGE_KEYS = {"bytes", "path", "url", "id"}  # the keys of an image object
# Where image objects and parts of conversations have the picture itself.
_SOURCE_KEYS = ("bytes", "base64", "data", "image", "image_url", "url", "path", "file", "source")
_IMAGE_PART = re.compile(
    rf'"type"\s*:\s*"(?:{"|".join(_IMAGE_PART_TYPES)})"'
)  # the same in the cell of a table
_IMAGE_FILE = re.compile(r"<picture:|\S+\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg)(?:[?#]\S*)?$", re.I)
_ADDRESS = re.compile(r"(?:https?|s3|gs|ftp)://", re.I)
# What shows a picture on a page, with its mark in the place of the file.
_SHOWN = re.compile(
    r"<img\b[^<>]*(?P<html><picture:\w+>)[^<>]*>|!\[[^\[\]\n]*\]\((?P<markdown><picture:\w+>)\)",
    re.I,
)
_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.=-]+)*;base64,[A-Za-z0-9+/]{16}")
_BASE64_RUN = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,}(?:\n[A-Za-z0-9+/]{60,})*")
_SIGNS = ("<picture:", '"type"', "DISPIMG(", "base64,")  # one is in every picture but blobs
_JSON_SIGNS = (
    *_SIGNS,
    '"type\\"',
    '"bytes"',
    '"url"',
    "\\/",
    "\\u00",
)  # the last two may hide the others
# The beginnings of PNG, JPEG, GIF, WebP and BMP: even the smallest picture is one in its column.
_BASE64_PICTURE = re.compile(r"(?:iVBOR|/9j/|R0lGOD|UklGR|Qk)[A-Za-z0-9+/]{20,}={0,2}")
_INDEX_NAMES = ("index", "id")  # of the column by which a row names the picture of another
_BETWEEN = (re.compile(r"[;|\n]"), re.compile(","))  # several paths in a cell
_LIST_MARKS = "[]()'\",;| \t\n"  # around marks in a list
_MIN_BLOB_CHARS = 512  # characters of base64 that are no word, number or key
# Sequences of bases, amino acids or hexadecimal digits have at most 22 characters of their own.
_MIN_DISTINCT_CHARS = 40
_MAX_NESTING = 100  # lists and objects within one another
_MAX_NAME_CHARS = 300  # of a path
_NAME_SHOWN = 60


def with_pictures(table: FileTable, text: str = "") -> FileTable:
    """The table with marks for its pictures, and a fault for each row with one that is unusable.

    `text` is the file if it is a text, in which all cells stand: its pictures have marks already,
    and one look at it spares most looks at cells. Cells beyond the heads stand under no name and
    are not looked at. Where pictures are passed over, the table stays as it is.
    """
    if current_folder().passes_over:
        return table
    named = [at for at, head in enumerate(table.heads) if is_picture_column(head)]
    signed = not text or any(sign in text for sign in (_JSON_SIGNS if table.typed else _SIGNS))
    if not (signed or named or current_folder().files):
        cells = chain.from_iterable(row.cells for row in table.rows)
        texts = (cell for cell in cells if type(cell) is str) if table.typed else cells
        if max(map(len, texts), default=0) < _MIN_BLOB_CHARS:
            return table
    reader = _RowReader(table, named, signed=signed, taken=bool(text))
    rows: list[Row] = []
    faults = FaultList()
    for row in table.rows:
        read = reader.read(row)
        if isinstance(read, Row):
            rows.append(read)
        else:
            faults.add(read)
    if not faults.total:
        return replace(table, rows=rows)
    faults.add(*table.faults)
    more = faults.unlisted + table.unlisted
    return replace(table, rows=rows, faults=faults.kept, unlisted=more)


def is_picture_column(name: str) -> bool:
    """Whether a column of this name holds pictures."""
    return bool(_PICTURE_COLUMN.fullmatch(name.strip().casefold()))


def picture_columns(table: FileTable) -> list[int]:
    """The columns that hold nothing but pictures; those whose heads name a role or options do not
    count.
    """
    options = {at for each in find_series(table.heads) if each.names_options for at in each.columns}
    return [
        at
        for at, head in enumerate(table.heads)
        if at not in options and not read_head(head).role and _holds_pictures(table, at)
    ]


def marks_alone(cell: Cell) -> str:
    """The marks of a cell that holds nothing else, "" of any other."""
    if isinstance(cell, list):
        marks = list(map(marks_alone, cast(list[Any], cell)))
        return "".join(marks) if all(marks) else ""
    if not isinstance(cell, str) or not has_marks(cell) or without(cell).strip(_LIST_MARKS):
        return ""
    return "".join(str(part) for part in parts(cell) if isinstance(part, Mark))


def picture_fault(file: str, line: int, column: str, reason: Sentence | None = None) -> Fault:
    """The fault of a row with a picture that cannot be used."""
    expected = sentence("fault.picture.expected")
    actual = reason or sentence("error.picture-unread")
    return Fault(file, line, column, "picture", actual, expected)


class _RowReader:
    """The rows of one table."""

    def __init__(
        self, table: FileTable, named: Sequence[int], *, signed: bool, taken: bool
    ) -> None:
        self._table = table
        self._signed = signed  # whether a picture may stand in any cell
        self._taken = taken  # whether those in base64 have their marks already
        self._width = len(table.heads)
        self._folder = current_folder()
        self._named = frozenset(named)
        roles = [read_head(head).role for head in table.heads]
        self._questions = {at for at, role in enumerate(roles) if role == "question"}
        self._ids = {at for at, role in enumerate(roles) if role == "id"}
        # Columns that may have the same picture in several forms: the first counts that has one.
        self._slots: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._claims: list[int] = []
        for at in named:
            match = _PICTURE_COLUMN.fullmatch(table.heads[at].strip().casefold())
            before, name, number = match.group("before", "name", "number") if match else ("",) * 3
            if before == _CLAIM:
                self._claims.append(at)
            else:
                self._slots[before or "", name or "", number or ""].append(at)

    def read(self, row: Row) -> Row | Fault:
        """The row with marks, or what is wrong with one of its pictures."""
        cells = list(row.cells)
        gap = next((at for at in self._claims if _is_true(row.cell(at))), -1)
        for at, cell in enumerate(cells[: self._width]):
            if at in self._named or (at in self._ids and self._folder.find(cell_text(cell))):
                continue  # an id may be the name of a file
            try:
                cells[at] = self._from_cell(cell)
                if at in self._questions:
                    cells[at] = _one_text(cells[at])
            except UnreadablePicture as unusable:
                return self._fault(row, at, unusable.reason)
            if cells[at] is not cell and _has_gap(cells[at]):
                gap = at
        for places in self._slots.values():
            if wrong := self._read_slot(cells, places):
                return self._fault(row, *wrong)
        if gap >= 0 and not any(map(_has_mark_within, cells)):
            return self._fault(row, gap, _missing(row.text(gap)))
        return Row(row.line, tuple(cells))

    def _fault(self, row: Row, at: int, reason: Sentence) -> Fault:
        return picture_fault(self._table.name, row.line, self._table.heads[at], reason)

    # Columns of pictures

    def _read_slot(self, cells: list[Cell], places: Sequence[int]) -> tuple[int, Sentence] | None:
        """Put marks into the first of the columns that has a picture; else what is wrong."""
        wrong: tuple[int, Sentence] | None = None
        chosen = -1
        for at in places:
            if at >= len(cells):
                continue
            try:
                marks = self._marks(cells[at])
            except UnreadablePicture as unusable:
                wrong = wrong or (at, unusable.reason)
                continue
            if marks or chosen < 0:
                cells[at] = marks if chosen < 0 else ""
            if marks and chosen < 0:
                chosen = at
        return wrong if chosen < 0 else None

    def _marks(self, value: Any) -> str:
        """The marks of what stands in a column of pictures; raises `UnreadablePicture`."""
        if isinstance(value, bytes):
            return str(self._folder.add(value))
        if isinstance(value, list):
            return "".join(map(self._marks, cast(list[Any], value)))
        if isinstance(value, dict):
            return self._marks(_source(cast(dict[str, Any], value)))
        text = take_from_text(cell_text(value)).strip()
        if text.casefold() in _EMPTY_VALUES and not (text == "0" and text in self._by_index):
            return ""
        if has_marks(text):
            self._folder.check(text)
            if marks := marks_alone(text):
                return marks
        if (inner := _parsed(text)) is not None:
            return self._marks(inner)
        if has_marks(text):
            return text
        if _ADDRESS.match(text):
            raise UnreadablePicture(
                sentence("error.picture-address", name=shorten(text, _NAME_SHOWN))
            )
        if mark := self._folder.find(text):
            self._folder.check(str(mark))
            return str(mark)
        for between in _BETWEEN:
            if len(names := between.split(text)) > 1:
                return "".join(map(self._marks, names))
        if text in self._by_index:
            self._folder.check(self._by_index[text])
            return self._by_index[text]
        if _BASE64_PICTURE.fullmatch(text):
            return str(self._folder.add(base64.b64decode(text + "=" * (-len(text) % 4))))
        raise UnreadablePicture(_missing(text))

    @cached_property
    def _by_index(self) -> dict[str, str]:
        """The pictures of the rows by the number in their first column of numbers."""
        heads = [fold_name(head) for head in self._table.heads]
        at = next((heads.index(name) for name in _INDEX_NAMES if name in heads), -1)
        found: dict[str, str] = {}
        if at < 0:
            return found
        first = next((places[0] for places in self._slots.values()), -1)
        for row in self._table.rows:
            cell = row.cell(first)
            if isinstance(cell, str) and has_marks(cell):
                found[row.text(at)] = cell
        return found

    # Other columns

    def _from_cell(self, cell: Cell) -> Cell:
        """A cell with marks; raises `UnreadablePicture`."""
        if isinstance(cell, bytes):
            return str(self._folder.add(cell))
        if isinstance(cell, str):
            return self._from_text(cell)
        if not (self._signed or self._folder.files):
            return cell
        if isinstance(cell, list):
            return [self._from_cell(item) for item in cast(list[Any], cell)]
        return self._from_object(cast(dict[str, Any], cell)) if isinstance(cell, dict) else cell

    def _from_object(self, item: dict[str, Any]) -> Cell:
        if item.get("type") in _IMAGE_PART_TYPES:
            source = _source(item)
            return {"type": "text", "text": self._marks(source) if source else PLACEHOLDER}
        if item.get("bytes") and item.keys() <= _IMAGE_KEYS:
            return self._marks(item)
        url = item.get("url")
        if isinstance(url, str) and _IMAGE_FILE.match(url):
            return self._marks(url)
        return {key: self._from_cell(value) for key, value in item.items()}

    def _from_text(self, text: str) -> str:
        if self._signed:
            if '"type"' in text and _IMAGE_PART.search(text) and _is_message_with_picture(text):
                value = _one_text(self._from_cell(json.loads(text)))
                return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            text = text if self._taken else take_from_text(text)
            if has_marks(text):
                self._folder.check(text)
                return _SHOWN.sub(lambda shown: shown["html"] or shown["markdown"], text)
            if "DISPIMG(" in text:  # how WPS keeps a picture in a cell of a sheet
                raise UnreadablePicture(_missing(text))
            if "base64," in text and _DATA_URI.search(text):
                raise UnreadablePicture(sentence("error.picture-kind"))
        if len(text) >= _MIN_BLOB_CHARS and _has_long_base64(text):
            raise UnreadablePicture(sentence("error.picture-kind"))
        is_file = self._folder.files and len(text) <= _MAX_NAME_CHARS and "." in text
        mark = self._folder.find(text.strip()) if is_file else None
        if mark is None:
            return text
        self._folder.check(str(mark))
        return str(mark)


def _one_text(value: Cell) -> Cell:
    """A question in parts, as those of conversations, as one text; others stay as they are."""
    if not isinstance(value, list):
        return value
    items = cast(list[Any], value)
    parts = filter(lambda part: part.get("type") in _PART_TYPES, map(as_object, items))
    texts = [part.get("text") for part in parts]
    if not texts or len(texts) < len(items) or not all(isinstance(text, str) for text in texts):
        return items
    return "\n".join(map(cell_text, texts))


def _holds_pictures(table: FileTable, at: int) -> bool:
    """Whether a column has pictures: some if its name says so, else in all filled cells."""
    is_named = is_picture_column(table.heads[at])
    holds = False
    for row in table.rows:
        cell = row.cell(at)
        if marks_alone(cell):
            holds = True
        elif not is_named and cell not in (None, "", []):
            return False
    return holds


def _source(item: dict[str, Any]) -> Any:
    """The picture of an image object, or what says where it is."""
    value = next((item[key] for key in _SOURCE_KEYS if item.get(key)), None)
    return _source(cast(dict[str, Any], value)) if isinstance(value, dict) else value


def _parsed(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or object that a cell holds as JSON or Python writes it."""
    if text[:1] not in ("[", "{"):
        return None
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return cast(Any, value) if isinstance(value, list | dict) and _is_shallow(value) else None
    return None


def _is_shallow(value: Any) -> bool:
    """Whether a value has no more within one another than can be followed."""
    level: list[Any] = [value] if isinstance(value, list | dict) else []
    for _ in range(_MAX_NESTING):
        if not level:
            return True
        inner = [each for item in level for each in _children(item)]
        level = [each for each in inner if isinstance(each, list | dict)]
    return False


def _missing(name: str) -> Sentence:
    return sentence("error.picture-missing", name=shorten(collapse_whitespace(name), _NAME_SHOWN))


def _is_true(value: Cell) -> bool:
    return cell_text(value).strip().casefold() not in _EMPTY_VALUES


def _has_gap(cell: Cell) -> bool:
    """Whether a part of a message shows a picture that stands elsewhere."""
    texts = filter(lambda each: isinstance(each, str), _walk_json(cell))
    return any(PLACEHOLDER in text for text in texts)


def _has_mark_within(cell: Cell) -> bool:
    return any(isinstance(each, str) and has_marks(each) for each in _walk_json(cell))


def _has_long_base64(text: str) -> bool:
    return any(
        len(run[0]) >= _MIN_BLOB_CHARS and len(set(run[0])) >= _MIN_DISTINCT_CHARS
        for run in _BASE64_RUN.finditer(text)
    )


def _is_message_with_picture(text: str) -> bool:
    """Whether the text is JSON of messages, or of the parts of one, with an image among the parts.

    Other JSON is the text of a question about JSON.
    """
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not _is_shallow(parsed):
        return False
    items: list[Any] = cast(list[Any], parsed) if isinstance(parsed, list) else [parsed]
    objects = [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
    contents = [item["content"] for item in objects if "role" in item and "content" in item]
    if contents:
        return any(_is_image_part(part) for content in contents for part in _walk_json(content))
    return (
        isinstance(parsed, list)
        and len(objects) == len(items)
        and all(item.get("type") in _PART_TYPES for item in objects)
        and any(len(item) > 1 for item in objects)
    )


def _is_image_part(value: Any) -> bool:
    return isinstance(value, dict) and (
        cast(dict[str, Any], value).get("type") in _IMAGE_PART_TYPES
    )


def _walk_json(value: Any) -> Iterator[Any]:
    """The value and everything in it; not by recursion, since JSON may be deep."""
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        yield item
        if isinstance(item, list | dict):
            waiting += _children(cast(Any, item))


def _children(value: list[Any] | dict[str, Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value
