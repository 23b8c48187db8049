"""Which rows have a picture: a model that reads text would answer them without seeing it.

A picture is whatever stands in a column of pictures, a data URI or a long run of base64 in any
text, and the objects in which data sets and conversations keep images.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

from evalui.datasets.model import Cell, FaultList, FileTable, Row
from evalui.types import Fault

PICTURE_RULE = "picture"

_PICTURE_COLUMN = re.compile(
    r"(?:(?:decoded|base64|input|question|has)_)?(?:images?|imgs?|pictures?|pics?|photos?)"
    r"(?:[ _-]?(?:path|url|file|name|base64|b64|bytes|data)s?)?[ _-]?\d*"
    r"|图片|图像|图"
)
_EMPTY_VALUES = ("", "none", "null", "nan", "n/a", "-", "no", "false", "0")
_IMAGE_PART_TYPES = ("image_url", "image", "input_image")  # content parts of a conversation
_PART_TYPES = (*_IMAGE_PART_TYPES, "text", "input_text")
_IMAGE_KEYS = {"bytes", "path", "url", "id"}  # the keys of an image object
_IMAGE_PART = re.compile(
    rf'"type"\s*:\s*"(?:{"|".join(_IMAGE_PART_TYPES)})"'
)  # the same in the cell of a table
_IMAGE_FILE = re.compile(
    r"data:image/|\S+\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg)(?:[?#]\S*)?$", re.I
)
_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.=-]+)*;base64,[A-Za-z0-9+/]{16}")
# How files of PNG, JPEG, GIF, WebP and SVG begin in base64; looked for before any pattern is.
_BASE64_SIGNATURES = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "PHN2Zy")
_BASE64_IMAGE = re.compile(
    rf"(?<![A-Za-z0-9+/])(?:{'|'.join(_BASE64_SIGNATURES)})[A-Za-z0-9+/\n]{{80}}"
)
_BASE64_RUN = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,}(?:\n[A-Za-z0-9+/]{60,})*")
_SIGNS = ('"type"', "DISPIMG(", "base64,", *_BASE64_SIGNATURES)  # one is in every picture but blobs
_JSON_SIGNS = (
    *_SIGNS,
    '"type\\"',
    '"bytes"',
    '"url"',
    "\\/",
    "\\u00",
)  # the last two may hide the others
_MIN_BLOB_CHARS = 512  # characters of base64 that are no word, number or key
# Sequences of bases, amino acids or hexadecimal digits have at most 22 characters of their own.
_MIN_DISTINCT_CHARS = 40


def without_pictures(table: FileTable, text: str = "") -> FileTable:
    """The table with each row that has a picture made a fault.

    `text` is the file if it is a text, in which all cells stand: one look at it spares most looks
    at them. Cells beyond the heads stand under no name and are not looked at.
    """
    named = {at for at, head in enumerate(table.heads) if is_picture_column(head)}
    signed = not text or any(sign in text for sign in (_JSON_SIGNS if table.typed else _SIGNS))
    if not (signed or named or table.typed):
        cells = chain.from_iterable(row.cells for row in table.rows)
        if max(map(len, cells), default=0) < _MIN_BLOB_CHARS:
            return table
    rows: list[Row] = []
    faults = FaultList()
    for row in table.rows:
        place = _picture_place(row.cells[: len(table.heads)], named, signed=signed)
        if place is None:
            rows.append(row)
        else:
            faults.add(picture_fault(table.name, row.line, table.heads[place]))
    if not faults.total:
        return table
    faults.add(*table.faults)
    more = faults.unlisted + table.unlisted
    return replace(table, rows=rows, faults=faults.kept, unlisted=more)


def _picture_place(cells: Sequence[Cell], named: Collection[int], *, signed: bool) -> int | None:
    """The place of the first cell that has a picture."""
    for place, cell in enumerate(cells):
        if place in named and _has_value(cell):
            return place
        if isinstance(cell, str):
            if (signed and has_picture(cell)) or (
                len(cell) >= _MIN_BLOB_CHARS and _has_long_base64(cell)
            ):
                return place
        elif signed and isinstance(cell, list | dict) and _has_picture_within(cast(Any, cell)):
            return place
    return None


def is_picture_column(name: str) -> bool:
    """Whether a column of this name holds pictures."""
    return bool(_PICTURE_COLUMN.fullmatch(name.strip().casefold()))


def picture_fault(file: str, line: int, column: str) -> Fault:
    """The fault of a row with a picture."""
    return Fault(
        file, line, column, PICTURE_RULE, "a picture", "text; images are not supported yet"
    )


def has_picture(text: str) -> bool:
    """Whether a text has a picture in it, as a data URI, in base64 or as part of a message."""
    if '"type"' in text and _IMAGE_PART.search(text) and _is_message_with_picture(text):
        return True
    if "DISPIMG(" in text or ("base64," in text and _DATA_URI.search(text)):
        return True  # the former is how WPS keeps a picture in a cell of a sheet
    if any(begin in text for begin in _BASE64_SIGNATURES) and _BASE64_IMAGE.search(text):
        return True
    return _has_long_base64(text)


def _has_long_base64(text: str) -> bool:
    return len(text) >= _MIN_BLOB_CHARS and any(
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


def _has_value(value: Any) -> bool:
    """Whether a column of pictures has anything in this row."""
    leaves = (item for item in _walk_json(value) if not isinstance(item, list | dict))
    return any(
        leaf is not None and str(leaf).strip().casefold() not in _EMPTY_VALUES for leaf in leaves
    )


def _has_picture_within(value: Any) -> bool:
    return any(map(_is_picture, _walk_json(value)))


def _is_picture(value: Any) -> bool:
    if isinstance(value, str):
        return has_picture(value)
    if not isinstance(value, dict):
        return False
    item = cast(dict[str, Any], value)
    if _is_image_part(item) or (item.get("bytes") and item.keys() <= _IMAGE_KEYS):
        return True
    url = item.get("url")
    return isinstance(url, str) and bool(_IMAGE_FILE.match(url))


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
