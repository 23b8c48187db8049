"""Which rows have a picture: a model that reads text would answer them without seeing it.

A picture is whatever stands in a column of pictures, a data URI or a long run of base64 in any
text, and the objects in which data sets and conversations keep images.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

from evalui.types import Fault

RULE = "picture"

_COLUMN = re.compile(
    r"(?:(?:decoded|base64|input|question|has)_)?(?:images?|imgs?|pictures?|pics?|photos?)"
    r"(?:[ _-]?(?:path|url|file|name|base64|b64|bytes|data)s?)?[ _-]?\d*"
    r"|图片|图像|图"
)
_ABSENT = ("", "none", "null", "nan", "n/a", "-", "no", "false", "0")
_PARTS = ("image_url", "image", "input_image")  # content parts of a conversation
_IMAGE = {"bytes", "path", "url", "id"}  # the keys of an image object
_PART = re.compile(rf'"type"\s*:\s*"(?:{"|".join(_PARTS)})"')  # the same in the cell of a table
_FILE = re.compile(r"data:image/|\S+\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg)(?:[?#]\S*)?$", re.I)
_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.=-]+)*;base64,[A-Za-z0-9+/]{16}")
# How files of PNG, JPEG, GIF, WebP and SVG begin in base64; looked for before any pattern is.
_BEGINS = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "PHN2Zy")
_MAGIC = re.compile(rf"(?<![A-Za-z0-9+/])(?:{'|'.join(_BEGINS)})[A-Za-z0-9+/\n]{{80}}")
_RUN = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,}(?:\n[A-Za-z0-9+/]{60,})*")
_BLOB = 512  # characters of base64 that are no word, number or key
# Sequences of bases, amino acids or hexadecimal digits have at most 22 characters of their own.
_VARIED = 40


def picture_column(row: Mapping[str, Any]) -> str | None:
    """The name of the first column that has a picture, None without one.

    Values are texts, or what JSON has.
    """
    return next((name for name, value in row.items() if _is_pictured(name, value)), None)


def fault(file: str, line: int, column: str) -> Fault:
    """The fault of a row with a picture."""
    return Fault(file, line, column, RULE, "a picture", "text; images are not supported yet")


def has_picture(text: str) -> bool:
    """Whether a text has a picture in it, as a data URI, in base64 or as part of a message."""
    if '"type"' in text and text.lstrip()[:1] in ("{", "[") and _PART.search(text):
        return True
    if "DISPIMG(" in text or ("base64," in text and _URI.search(text)):
        return True  # the former is how WPS keeps a picture in a cell of a sheet
    if any(begin in text for begin in _BEGINS) and _MAGIC.search(text):
        return True
    if len(text) < _BLOB:
        return False
    return any(len(run[0]) >= _BLOB and len(set(run[0])) >= _VARIED for run in _RUN.finditer(text))


def _is_pictured(name: str, value: Any) -> bool:
    if _is_column(name) and _is_there(value):
        return True
    if isinstance(value, str):
        return has_picture(value)
    return isinstance(value, list | dict) and any(map(_shows, _within(cast(Any, value))))


@lru_cache(256)
def _is_column(name: str) -> bool:
    return bool(_COLUMN.fullmatch(name.strip().casefold()))


def _is_there(value: Any) -> bool:
    """Whether a column of pictures has anything in this row."""
    leaves = (found for found in _within(value) if not isinstance(found, list | dict))
    return any(leaf is not None and str(leaf).strip().casefold() not in _ABSENT for leaf in leaves)


def _shows(value: Any) -> bool:
    if isinstance(value, str):
        return has_picture(value)
    if not isinstance(value, dict):
        return False
    found = cast(dict[str, Any], value)
    if (found.get("bytes") and found.keys() <= _IMAGE) or found.get("type") in _PARTS:
        return True
    url = found.get("url")
    return isinstance(url, str) and bool(_FILE.match(url))


def _within(value: Any) -> Iterator[Any]:
    """The value and everything in it; not by recursion, since JSON may be deep."""
    waiting: list[Any] = [value]
    while waiting:
        found = waiting.pop()
        yield found
        if isinstance(found, list | dict):
            waiting += _items(cast(Any, found))


def _items(value: list[Any] | dict[str, Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value
