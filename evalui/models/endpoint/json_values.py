"""The values of a server's JSON, read with distrust: what is of another kind is as good as none."""

import re
from typing import Any, cast

Json = dict[str, Any]

_SURROGATES = re.compile("[\ud800-\udfff]")
_MAX_TOKEN_COUNT = 2**53  # more than any model reads, or the database adds up


def as_object(value: object) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return cast(Json, value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is a text, else ""; without halves of characters."""
    return replace_surrogates(value) if isinstance(value, str) else ""


def token_count(value: object) -> int:
    """The number of tokens that a server reported, 0 if it is none."""
    return value if type(value) is int and 0 < value < _MAX_TOKEN_COUNT else 0


def replace_surrogates(text: str) -> str:
    """The text without halves of characters, which JSON may hold and no encoding can write."""
    return _SURROGATES.sub("\ufffd", text)
