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

from evalui.datasets.base import normalise_cell
from evalui.datasets.tables.table import cell_text, parse_json
from evalui.types import LETTERS

_TEXT_KEYS = ("text", "content", "value", "option")
_LABEL_KEYS = ("label", "key", "id")
_MAX_CHARS = 100_000  # characters of a cell that is read as a list
# What data frames of the hub's files write into a table: ['a' 'b'], which Python would take for
# one text, and {'text': array(['a', 'b'], dtype=object), ...}. No part can be matched two ways.
_QUOTED = r"(?:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
_NUMPY_LIST = re.compile(rf"\[\s*(?:{_QUOTED}\s*)++\]", re.DOTALL)
_NUMPY_ARRAY = rf"('\w+': )array\((\[(?:{_QUOTED}|[,\s])*+\]), dtype=\w+\)"
_NUMPY_ARRAYS = re.compile(rf"\{{{_NUMPY_ARRAY}, {_NUMPY_ARRAY}\}}", re.DOTALL)
_OPTION_LABEL = re.compile(r"[A-Za-z]|[0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class OptionList:
    """The options of one question; `labels` are the file's own, () where it has none."""

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()

    @property
    def labelled(self) -> tuple[tuple[str, str], ...]:
        """(name, text) of each option; without a label its letter, or its number beyond Z."""
        places = range(len(self.texts))
        names = self.labels or [LETTERS[at : at + 1] or str(at + 1) for at in places]
        return tuple(zip(names, self.texts, strict=True))


def read_options(value: Any) -> OptionList | None:
    """The options in a JSON value or in a cell, None if it is no list of options."""
    parsed = _parse_cell(value) if isinstance(value, str) else value
    if isinstance(parsed, list):
        return _from_list(cast(list[Any], parsed))
    return _from_object(cast(dict[str, Any], parsed)) if isinstance(parsed, dict) else None


def _parse_cell(cell: str) -> Any:
    text = cell.strip()
    if text[:1] not in ("[", "{") or len(text) > _MAX_CHARS:
        return None
    try:
        return _parse_value(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _parse_value(text: str) -> Any:
    """What a cell holds, as JSON has it; raises one of many errors if it is no value."""
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        pass
    if _NUMPY_LIST.fullmatch(text):
        return [ast.literal_eval(each) for each in re.findall(_QUOTED, text, re.DOTALL)]
    arrays = _NUMPY_ARRAYS.fullmatch(text)
    # By way of JSON, which has no sets, bytes or ellipses, and texts for the keys of objects.
    return parse_json(
        json.dumps(ast.literal_eval(arrays.expand(r"{\1\2, \3\4}") if arrays else text))
    )


def _from_list(items: Sequence[Any]) -> OptionList | None:
    if all(isinstance(item, dict) for item in items):
        objects = [cast(dict[str, Any], item) for item in items]
        if not all(any(name in item for name in _TEXT_KEYS) for item in objects):
            return None
        texts = tuple(_first_value(item, _TEXT_KEYS) for item in objects)
        labels = tuple(normalise_cell(_first_value(item, _LABEL_KEYS)) for item in objects)
        return OptionList(texts, labels if any(labels) else ())
    if any(isinstance(item, list | dict) for item in items):
        return None
    return OptionList(_strip_letters([_as_text(item) for item in items]))


def _from_object(mapping: dict[str, Any]) -> OptionList | None:
    labels, texts = mapping.get("label"), mapping.get("text")
    if isinstance(texts, list):
        named = cast(list[Any], labels) if isinstance(labels, list) else []
        options = _from_list(cast(list[Any], texts))
        if options is None or (named and len(named) != len(options.texts)):
            return None
        return OptionList(options.texts, tuple(normalise_cell(_as_text(label)) for label in named))
    if not mapping or not all(_OPTION_LABEL.fullmatch(normalise_cell(name)) for name in mapping):
        return None
    if any(isinstance(value, list | dict) for value in mapping.values()):
        return None
    # Empty ones at the end are a question with fewer options than others.
    return OptionList(tuple(map(_as_text, mapping.values())), tuple(map(normalise_cell, mapping)))


def _strip_letters(texts: Sequence[str]) -> tuple[str, ...]:
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


def _first_value(item: dict[str, Any], names: Sequence[str]) -> str:
    return next((_as_text(item[name]) for name in names if name in item), "")


def _as_text(value: Any) -> str:
    return cell_text(value).strip()
