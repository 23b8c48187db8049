"""The JSON objects that a judge wrote itself, also as Python writes them.

An object that the judge reports of an answer is a quotation, as one inside another string is.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from evalui.replies.judgements import (
    is_attribution,
    is_instruction,
    is_own,
    lead_of,
    without_quotations,
)


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A JSON value of a reply and where it stands; its objects are `RepeatedKeys`."""

    content: Any
    start: int
    end: int


class RepeatedKeys(dict[str, Any]):
    """An object that remembers all values of a key: JSON would keep the last."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = tuple(pairs)


def json_values(text: str) -> Iterator[JsonValue]:
    """The outermost JSON values that are the judge's own, also as Python writes them."""
    decoder = json.JSONDecoder(object_pairs_hook=RepeatedKeys, strict=False)
    position, effort = 0, 0
    while (match := _JSON_OPENING.search(text, position)) and effort < _MOST_EFFORT + 4 * len(text):
        start = match.start()
        effort += _LONGEST_LEAD
        try:
            content, position = decoder.raw_decode(text, start)
        except ValueError as problem:
            line = text[start : start + _LONGEST_PYTHON].partition("\n")[0]
            effort += getattr(problem, "pos", start) - start + len(line)
            position = match.end()
            content = _python_value(line)
            if content is not None and is_own_value(text, start):
                position = start + len(line)
                yield JsonValue(content, start, position)
        except RecursionError:
            effort += _MOST_EFFORT
            position = match.end()
        else:
            if is_own_value(text, start):
                yield JsonValue(content, start, position)


def _python_value(line: str) -> Any:
    """The value that a line holds as Python prints it, {'winner': 'A'}; None if it holds none."""
    if line[1:2] not in "'{" or line.rstrip()[-1:] not in "}]":
        return None
    try:
        return ast.literal_eval(line)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def is_own_value(text: str, start: int) -> bool:
    """Whether the judge wrote the value at `start` itself, and neither quotes nor explains it."""
    begin = text.rfind("\n", 0, start) + 1
    lead = text[max(begin, start - _LONGEST_LEAD) : start]
    if lead.strip(" *_`>-"):
        if lead[-1] in "'\"“‘「『" and lead.strip("'\"“‘「『 "):
            return False
        others = is_instruction(lead) or is_attribution(lead)
        return not others and is_own(lead_of(lead, len(lead)))
    above = text[:begin].rstrip("` \n").rpartition("\n")[2]
    return not is_attribution(above.strip())


def strings_of(text: str) -> Iterator[str]:
    """The strings of the JSON values in a text, without quotations: a judge's reasons."""
    for value in json_values(text):
        if isinstance(value.content, dict):
            pairs = key_value_pairs(cast("dict[Any, Any]", value.content))
            yield from (
                without_quotations(content) for _, content in pairs if isinstance(content, str)
            )


def plain_key(key: object) -> str:
    """A key without case, blanks, underscores and hyphens between its words."""
    return re.sub(r"[\s_-]+", "_", str(key).strip().casefold())


def key_value_pairs(value: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """The pairs of an object in order, keys plain; a repeated key has one pair for each value."""
    pairs = value.pairs if isinstance(value, RepeatedKeys) else tuple(value.items())
    return [(plain_key(key), content) for key, content in pairs]


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a JSON value is a finite number; true and NaN are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


_MOST_EFFORT = 100_000  # characters that are read again behind braces that open no object
_LONGEST_PYTHON = 4_000
_LONGEST_LEAD = 300
_JSON_OPENING = re.compile(r"[\[{]")
