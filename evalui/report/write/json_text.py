"""Values as JSON, in which a number that is not finite is null: JSON has no such numbers."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

JsonObject = dict[str, Any]  # what `json.dumps` takes
_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_PAGE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2)


def json_text(value: Any, *, indented: bool = False) -> str:
    """The value as JSON."""
    encoder = _PAGE if indented else _LINE
    try:
        return encoder.encode(value)
    except ValueError:
        return encoder.encode(_finite(value))


def utf8(text: str) -> bytes:
    """The text as UTF-8, in which halves of characters, which models write, are written out."""
    return text.encode(errors="backslashreplace")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        entries = cast(Mapping[Any, Any], value)  # of any kind
        return {name: _finite(each) for name, each in entries.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in cast(Sequence[Any], value)]  # of any kind
    return value
