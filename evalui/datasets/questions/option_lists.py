"""Options in one place: every shape in which data sets write a list of them.

A list of texts, or of {"label", "text"} objects; an object of a list of labels and one of texts,
or of labels with their texts. The cell of a table holds the same as JSON or as Python writes it.
"""

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from evalui.datasets.base import plain
from evalui.datasets.tables.table import cell_text, has_half_pair
from evalui.types import LETTERS

_TEXT = ("text", "content", "value", "option")
_LABEL = ("label", "key", "id")
_LONGEST = 100_000  # characters of a cell that is read as a list
# What data frames of the hub's files write into a table: ['a' 'b'], which Python would take for
# one text, and {'text': array(['a', 'b'], dtype=object), ...}. No part can be matched two ways.
_QUOTED = r"(?:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
_BARE = re.compile(rf"\[\s*(?:{_QUOTED}\s*)++\]", re.DOTALL)
_ARRAY = rf"('\w+': )array\((\[(?:{_QUOTED}|[,\s])*+\]), dtype=\w+\)"
_ARRAYS = re.compile(rf"\{{{_ARRAY}, {_ARRAY}\}}", re.DOTALL)
_NAMED = re.compile(r"[A-Ja-j]|[0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one question; `labels` are the file's own, () where it has none."""

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """(name, text) of each option; without a label its letter, or its number beyond J."""
        places = range(len(self.texts))
        names = self.labels or [LETTERS[at : at + 1] or str(at + 1) for at in places]
        return tuple(zip(names, self.texts, strict=True))


def read_options(value: Any) -> Options | None:
    """The options in a JSON value or in a cell, None if it is no list of options."""
    found = _parsed(value) if isinstance(value, str) else value
    if isinstance(found, list):
        return _of_list(cast(list[Any], found))
    return _of_object(cast(dict[str, Any], found)) if isinstance(found, dict) else None


def _parsed(cell: str) -> Any:
    text = cell.strip()
    if text[:1] not in ("[", "{") or len(text) > _LONGEST:
        return None
    try:
        found = _value(text)
        return None if has_half_pair(found) else found
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _value(text: str) -> Any:
    """What a cell holds, as JSON has it; raises one of many errors if it is no value."""
    try:
        return _json(text)
    except (ValueError, RecursionError):
        pass
    if _BARE.fullmatch(text):
        return [ast.literal_eval(each) for each in re.findall(_QUOTED, text, re.DOTALL)]
    arrays = _ARRAYS.fullmatch(text)
    # By way of JSON, which has no sets, bytes or ellipses, and texts for the keys of objects.
    return _json(json.dumps(ast.literal_eval(arrays.expand(r"{\1\2, \3\4}") if arrays else text)))


def _json(text: str) -> Any:
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)


def _of_list(items: Sequence[Any]) -> Options | None:
    if all(isinstance(item, dict) for item in items):
        objects = [cast(dict[str, Any], item) for item in items]
        if not all(any(name in item for name in _TEXT) for item in objects):
            return None
        texts = tuple(_first(item, _TEXT) for item in objects)
        labels = tuple(plain(_first(item, _LABEL)) for item in objects)
        return Options(texts, labels if any(labels) else ())
    if any(isinstance(item, list | dict) for item in items):
        return None
    return Options(_without_letters([_text(item) for item in items]))


def _of_object(found: dict[str, Any]) -> Options | None:
    labels, texts = found.get("label"), found.get("text")
    if isinstance(texts, list):
        named = cast(list[Any], labels) if isinstance(labels, list) else []
        options = _of_list(cast(list[Any], texts))
        if options is None or (named and len(named) != len(options.texts)):
            return None
        return Options(options.texts, tuple(plain(_text(label)) for label in named))
    if not found or not all(_NAMED.fullmatch(plain(name)) for name in found):
        return None
    if any(isinstance(value, list | dict) for value in found.values()):
        return None
    # Empty ones at the end are a question with fewer options than others.
    return Options(tuple(map(_text, found.values())), tuple(map(plain, found)))


def _without_letters(texts: Sequence[str]) -> tuple[str, ...]:
    """Without "A. ", "B. " and so on where each text begins with its own: prompts add them."""
    if 2 <= len(texts) <= len(LETTERS):
        starts = [
            re.match(rf"\(?{letter}[.、．:：)）]\s*", text)
            for letter, text in zip(LETTERS, texts, strict=False)
        ]
        if all(starts):
            return tuple(
                text[start.end() :] for start, text in zip(starts, texts, strict=True) if start
            )
    return tuple(texts)


def _first(item: dict[str, Any], names: Sequence[str]) -> str:
    return next((_text(item[name]) for name in names if name in item), "")


def _text(value: Any) -> str:
    return cell_text(value).strip()
