"""JSON documents: arrays of objects, what pandas writes, and objects with lists of rows inside.

Each list of rows becomes a part of its own, under the key that it has. Rows of SQuAD, and of other
sets with several questions about one passage, become one row for each question. Numbers stay as
they are written.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, cast

from evalui.datasets.model import JsonNumber, Limits, RawRow, UploadNote
from evalui.datasets.tables import pictures
from evalui.datasets.tables.head import IsKnownName
from evalui.datasets.tables.rows import RowTable, cut_table
from evalui.datasets.tables.table import (
    JsonRows,
    cell_text,
    collect_json_rows,
    constant_text,
    has_lone_surrogate,
    parse_lines,
)
from evalui.errors import DataError

_DECODER = json.JSONDecoder(
    parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=constant_text
)
_BLANK = re.compile(r"[ \t\n\r]*")
_AFTER_ELEMENT = re.compile(r"[ \t\n\r]*([,\]])[ \t\n\r]*")
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_STRUCTURE = "[{,"  # characters of which each begins a value, where they are no part of a text
_LIST_NESTING = 2  # objects around a list of rows, beside the outermost
_MAX_PARTS = 200  # lists of rows of one document
_MAX_NAMES_SHOWN = 5  # keys in a note
# Lists of objects that are values of one row: options, turns, the runs of a text.
_ROW_LISTS = frozenset(
    (
        *("choices", "options", "candidates", "endings", "answers", "messages", "conversations"),
        *("conversation", "turns", "history", "dialog", "dialogue", "images", "选项", "content"),
        *("mc1_targets", "mc2_targets", "target_scores", "tools", "tags"),
    )
)
_QUESTION_KEYS = frozenset(("question", "query", "prompt", "input", "stem", "题目", "问题", "题干"))
_QUESTION_LISTS = ("qas", "questions", "items", "examples", "qa_pairs", "qa", "题目", "问题")
_PASSAGE_KEYS = ("context", "context_text", "passage", "article", "text", "story", "paragraph")
_EXPANDED_NESTING = 3  # lists of questions within rows


class JsonPart(NamedTuple):
    """One list of rows and the key that it has, "" for that of the document as a whole."""

    title: str
    rows: JsonRows | None
    table: RowTable | None = None


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """What a document holds, and notes on what of it was not read."""

    parts: tuple[JsonPart, ...]
    notes: tuple[UploadNote, ...] = ()


class _Located(NamedTuple):
    """A value and the line on which it begins."""

    line: int
    value: Any


def check_json_size(text: str, file: str, limits: Limits) -> None:
    """Raise `DataError` for a text that may have more values than are read.

    Each begins after a bracket or a comma; those within texts are counted with them.
    """
    if sum(map(text.count, _STRUCTURE)) > limits.values:
        raise DataError("json-too-large", file=file, values=limits.values)


def read_json(
    text: str,
    file: str,
    *,
    is_known_name: IsKnownName,
    limits: Limits,
    head_row: int = 0,
    must_be_json: bool,
) -> JsonDocument | None:
    """The lists of rows in a text that begins with a bracket, None if it is no JSON at all.

    A file that `must_be_json` by its name is refused instead.

    Raises:
        DataError: there is no list of rows in it, it is nested too deeply or too large.
    """
    check_json_size(text, file, limits)
    reader = _Reader(text, file, limits, is_known_name, head_row)
    try:
        return reader.read()
    except json.JSONDecodeError as error:
        if not must_be_json:
            return None
        raise DataError("json-broken", file=file, line=error.lineno, reason=error.msg) from error
    except RecursionError as error:
        if not must_be_json:
            return None
        raise DataError("json-too-deep", file=file) from error


class _Reader:
    """One text."""

    def __init__(
        self, text: str, file: str, limits: Limits, is_known_name: IsKnownName, head_row: int
    ) -> None:
        self._text = text.removeprefix("\ufeff")
        self._file = file
        self._limits = limits
        self._is_known_name = is_known_name
        self._head_row = head_row
        self._search = pictures.json_needs_search(text)

    def read(self) -> JsonDocument:
        start = self._skip_blank(0)
        if self._text[start] == "[":
            return self._read_array(start)
        value, end = _DECODER.raw_decode(self._text, start)
        if self._skip_blank(end) < len(self._text):
            return self._read_several(start, end)
        return self._read_object(cast(dict[str, Any], value))

    def _skip_blank(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        return match.end() if match else at

    def _read_several(self, start: int, end: int) -> JsonDocument:
        """Objects one after the other: each on a line of its own, or over several lines."""
        after = self._text.find("\n", start)
        if after < 0 or end <= after:
            lines = _Expansion(self._file, self._limits).rows(
                _Located(line, value) for line, value in parse_lines(self._text)
            )
            rows = collect_json_rows(lines, self._file, search=self._search)
            return JsonDocument((JsonPart("", rows),))
        located = self._located(self._values(start))
        return self._rows_document(located)

    def _values(self, at: int) -> Iterator[tuple[int, Any]]:
        while at < len(self._text):
            value, end = _DECODER.raw_decode(self._text, at)
            yield at, value
            at = self._skip_blank(end)

    def _read_array(self, start: int) -> JsonDocument:
        located = self._located(self._elements(start))
        if not located:
            raise DataError("empty-file", file=self._file)
        located = [_Located(each.line, _named_elements(each.value)) for each in located]
        if all(isinstance(each.value, list) for each in located):
            table = self._matrix([cast(list[Any], each.value) for each in located])
            return JsonDocument((JsonPart("", None, table),))
        if not any(isinstance(each.value, dict) for each in located):
            raise DataError("json-no-rows", file=self._file)
        return self._rows_document(located)

    def _elements(self, start: int) -> Iterator[tuple[int, Any]]:
        """The elements of the outermost array with their places, one after the other."""
        text = self._text
        at = self._skip_blank(start + 1)
        if text[at : at + 1] == "]":
            return
        while True:
            value, end = _DECODER.raw_decode(text, at)
            yield at, value
            after = _AFTER_ELEMENT.match(text, end)
            if after is None:
                raise json.JSONDecodeError("Expecting ',' delimiter", text, end)
            at = after.end()
            if after[1] == "]":
                break
        if at < len(text):
            raise json.JSONDecodeError("Extra data", text, at)

    def _located(self, values: Iterable[tuple[int, Any]]) -> list[_Located]:
        """The values with their lines, or with their places where several share a line."""
        located: list[_Located] = []
        line, counted = 1, 0
        for at, value in values:
            if len(located) >= self._limits.lines:
                raise DataError(
                    "too-many-lines",
                    files=self._file,
                    n=len(located) + 1,
                    limit=self._limits.lines,
                )
            line += self._text.count("\n", counted, at)
            counted = at
            located.append(_Located(line, value))
        lines = [each.line for each in located]
        if any(before >= after for before, after in pairwise(lines)):
            return [_Located(n, each.value) for n, each in enumerate(located, start=1)]
        return located

    def _rows_document(self, located: Sequence[_Located]) -> JsonDocument:
        return JsonDocument((JsonPart("", self._rows(located)),))

    def _rows(self, located: Iterable[_Located]) -> JsonRows:
        rows = _Expansion(self._file, self._limits).rows(located)
        if _HALF_PAIR.search(self._text):
            rows = ((line, _without_half_pair(row)) for line, row in rows)
        return collect_json_rows(rows, self._file, search=self._search)

    def _matrix(self, rows: Sequence[Sequence[Any]]) -> RowTable:
        """A list of lists of cells, the names of the columns among them or not."""
        cells = [
            RawRow(line, tuple(map(cell_text, row)))
            for line, row in enumerate(rows, start=1)
            if any(cell_text(cell).strip() for cell in row)
        ]
        if not cells:
            raise DataError("empty-file", file=self._file)
        return cut_table(
            cells, self._file, is_known_name=self._is_known_name, head_row=self._head_row
        )

    def _read_object(self, document: dict[str, Any]) -> JsonDocument:
        for read in (_split_rows, _column_rows, self._keyed_rows):
            if (rows := read(document)) is not None:
                numbered = [_Located(n, row) for n, row in enumerate(rows, start=1)]
                return self._rows_document(numbered)
        if not _is_row(document) and (lists := _lists_of_rows(document)):
            return self._read_lists(document, lists)
        if _is_row(document) or any(self._is_known_name(key) for key in document):
            return self._rows_document([_Located(1, document)])
        raise DataError(
            "json-no-list",
            file=self._file,
            keys=", ".join(list(document)[:_MAX_NAMES_SHOWN]) or "–",
        )

    def _read_lists(
        self, document: dict[str, Any], lists: Sequence[tuple[str, list[Any]]]
    ) -> JsonDocument:
        if len(lists) > _MAX_PARTS:
            raise DataError("json-too-many-lists", file=self._file, n=len(lists), limit=_MAX_PARTS)
        several = len(lists) > 1
        parts = tuple(
            JsonPart(
                title if several else "",
                self._rows(_Located(n, value) for n, value in enumerate(values, start=1)),
            )
            for title, values in lists
        )
        unread = [
            key
            for key, value in document.items()
            if isinstance(value, list) and value and key not in {title for title, _ in lists}
        ]
        notes = ()
        if unread:
            shown = {
                "file": self._file,
                "lists": ", ".join(title for title, _ in lists[:_MAX_NAMES_SHOWN]),
                "others": ", ".join(unread[:_MAX_NAMES_SHOWN]),
            }
            notes = (UploadNote("json-lists-unread", shown),)
        return JsonDocument(parts, notes)

    def _keyed_rows(self, document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """Rows under a key each, as pandas' orient index has them, or columns under one each."""
        if not document or not all(isinstance(value, dict) for value in document.values()):
            return None
        inner = [cast(dict[str, Any], value) for value in document.values()]
        keys = dict.fromkeys(key for each in inner for key in each)
        outer_names, inner_names = self._share_of_names(document), self._share_of_names(keys)
        if outer_names > inner_names:
            return [
                {name: cast(dict[str, Any], column).get(key) for name, column in document.items()}
                for key in keys
            ]
        if not inner_names or any(map(_lists_within, inner)):
            return None
        if "id" in keys or all(map(str.isdecimal, document)):
            return inner
        return [{"id": key} | row for key, row in zip(document, inner, strict=True)]

    def _share_of_names(self, names: Collection[str]) -> float:
        """The share of keys that name columns; numbers are what pandas labels rows with."""
        if not names or all(map(str.isdecimal, names)):
            return 0
        return sum(map(self._is_known_name, names)) / len(names)


def _without_half_pair(value: Any) -> Any:
    return "half of a \\u pair" if has_lone_surrogate(value) else value


class _Expansion:
    """Rows with a list of questions about one passage become a row for each question."""

    def __init__(self, file: str, limits: Limits) -> None:
        self._file = file
        self._limits = limits
        self._n = 0

    def rows(self, located: Iterable[_Located]) -> Iterator[tuple[int, Any]]:
        """The rows; where any has become several, their lines are their places."""
        expanded = [(each.line, self._questions(each.value)) for each in located]
        if all(len(rows) == 1 for _, rows in expanded):
            return ((line, rows[0]) for line, rows in expanded)
        return enumerate((row for _, rows in expanded for row in rows), start=1)

    def _questions(self, value: Any, depth: int = 0) -> list[Any]:
        self._n += 1
        if self._n > self._limits.lines:
            raise DataError("too-many-lines", files=self._file, n=self._n, limit=self._limits.lines)
        if not isinstance(value, dict) or depth >= _EXPANDED_NESTING:
            return [value]
        row = cast(dict[str, Any], value)
        if "paragraphs" in row and isinstance(row["paragraphs"], list):
            return self._inner(row, "paragraphs", depth)
        if not _QUESTION_KEYS.isdisjoint(row):
            return [_with_answer_texts(row) if depth else row]
        for key in _QUESTION_LISTS:
            if _are_objects(row.get(key)):
                return self._inner(row, key, depth)
        return _parallel_questions(row) or [row]

    def _inner(self, row: dict[str, Any], key: str, depth: int) -> list[Any]:
        """The rows of a list, with what stands beside the list."""
        beside = {
            ("passage" if name in _PASSAGE_KEYS else name): value
            for name, value in row.items()
            if name != key and not isinstance(value, list | dict)
        }
        return [
            question
            for item in cast(list[Any], row[key])
            for question in (
                self._questions(beside | cast(dict[str, Any], item), depth + 1)
                if isinstance(item, dict)
                else [item]
            )
        ]


def _named_elements(value: Any) -> Any:
    """The row of C3 and DREAM, a list of a passage, its questions and an id, as an object."""
    items: list[Any] = cast(list[Any], value) if isinstance(value, list) else []
    questions: list[Any] = [item for item in items if _are_objects(item)]
    if len(questions) != 1:
        return cast(Any, value)
    others = [cast(list[Any], each) for each in items if isinstance(each, list)]
    passage = [cell_text(text) for each in others if each is not questions[0] for text in each]
    return {"passage": "\n".join(passage), "questions": questions[0]}


def _parallel_questions(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The questions of RACE: lists of questions, options and answers beside one another."""
    questions = row.get("questions")
    if not isinstance(questions, list) or not questions:
        return []
    texts = cast(list[Any], questions)
    lists = {
        name: cast(list[Any], value)
        for name, value in row.items()
        if isinstance(value, list) and len(cast(list[Any], value)) == len(texts)
    }
    if len(lists) == 1 or not all(isinstance(text, str) for text in texts):
        return []
    single = {"questions": "question", "answers": "answer"}
    beside = {
        ("passage" if name in _PASSAGE_KEYS else name): value
        for name, value in row.items()
        if name not in lists and name != "id"
    }
    return [
        beside | {single.get(name, name): values[at] for name, values in lists.items()}
        for at in range(len(texts))
    ]


def _with_answer_texts(row: dict[str, Any]) -> dict[str, Any]:
    """A question of SQuAD with the texts of its answers, each once, instead of their places."""
    answers = row.get("answers")
    if not isinstance(answers, list) or not all(
        isinstance(each, dict) for each in cast(list[Any], answers)
    ):
        return row
    texts = [each.get("text") for each in cast(list[dict[str, Any]], answers)]
    if not all(isinstance(text, str) for text in texts):
        return row
    rest = {name: value for name, value in row.items() if not isinstance(value, list)}
    return rest | {"answer": list(dict.fromkeys(texts))}


def _split_rows(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows that pandas writes as columns and data."""
    columns, data = document.get("columns"), document.get("data")
    if not isinstance(columns, list) or not isinstance(data, list):
        return None
    names = [cell_text(name) for name in cast(list[Any], columns)]
    rows = cast(list[Any], data)
    if not names or not all(
        isinstance(row, list) and len(cast(list[Any], row)) == len(names) for row in rows
    ):
        return None
    return [dict(zip(names, cast(list[Any], row), strict=True)) for row in rows]


def _column_rows(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of columns that are lists of one length, at least one of texts or numbers."""
    columns = {
        name: cast(list[Any], value) for name, value in document.items() if isinstance(value, list)
    }
    lengths = {len(values) for values in columns.values()}
    if len(columns) < len(document) or len(columns) < 2 or len(lengths) != 1 or not lengths.pop():
        return None
    if all(map(_are_objects, columns.values())):
        return None
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _lists_of_rows(document: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    """The lists of objects in an object, and in the objects within it, with their keys."""
    located_lists = list(_walk_lists(document, ()))
    counts = Counter(path[-1] for path, _ in located_lists)
    return [
        (path[-1] if counts[path[-1]] == 1 else "/".join(path), rows)
        for path, rows in located_lists
    ]


def _walk_lists(
    document: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    for key, value in document.items():
        if _are_objects(value):
            yield (*path, key), cast(list[Any], value)
        elif isinstance(value, dict) and len(path) < _LIST_NESTING:
            yield from _walk_lists(cast(dict[str, Any], value), (*path, key))


def _lists_within(document: Mapping[str, Any]) -> bool:
    return any(_are_objects(value) and key not in _ROW_LISTS for key, value in document.items())


def _are_objects(value: Any) -> bool:
    """Whether a value is a list of objects, most of them at least."""
    if not isinstance(value, list) or not value:
        return False
    items = cast(list[Any], value)
    return 2 * sum(isinstance(item, dict) for item in items) > len(items)


def _is_row(document: Mapping[str, Any]) -> bool:
    """Whether an object is one question: its lists are options or turns, or it has a question."""
    if not _QUESTION_KEYS.isdisjoint(key.casefold() for key in document):
        return True
    lists = [key for key, value in document.items() if _are_objects(value)]
    return bool(lists) and all(key.casefold() in _ROW_LISTS for key in lists)
