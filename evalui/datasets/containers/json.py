"""JSON: lines of objects, arrays of objects, what pandas writes, and objects with lists inside.

Each list of rows becomes a table of its own, under the key that it has. Rows of SQuAD, and of other
sets with several questions about one passage, become one row for each question. Numbers stay as
they are written.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, cast

from evalui.datasets.containers.heads import check_width, cut_table
from evalui.datasets.containers.pictures import with_pictures
from evalui.datasets.model import (
    Cell,
    FaultList,
    FileTable,
    JsonNumber,
    Layout,
    Limits,
    Row,
    Tables,
    UploadNote,
    as_list,
    as_object,
    cell_text,
    duplicate_column_fault,
    fold_name,
)
from evalui.datasets.names import is_known_name
from evalui.errors import DataError
from evalui.types import Fault

T = TypeVar("T")

_BLANK = re.compile(r"[ \t\n\r]*")
_AFTER_ELEMENT = re.compile(r"[ \t\n\r]*([,\]])[ \t\n\r]*")
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_TOO_DEEP = "JSON nested too deeply"
_HALF = "half of a \\u pair"
_MAX_NESTING = 100  # lists and objects within one another in a cell
_LIST_NESTING = 2  # objects around a list of rows, beside the outermost
_MAX_TABLES = 200  # lists of rows of one document
_MAX_NAMES_SHOWN = 5  # keys in a note
# Lists of objects that are values of one row: options, turns, the runs of a text.
_ROW_LISTS = frozenset(
    (
        *("choices", "options", "candidates", "endings", "answers", "messages", "conversations"),
        *("conversation", "turns", "history", "dialog", "dialogue", "images", "选项", "content"),
        *("mc1_targets", "mc2_targets", "target_scores", "tools", "tags"),
    )
)
# Keys of the question of a row. More names head columns, and lists of questions too (单选题).
_QUESTION_KEYS = frozenset(("question", "query", "prompt", "input", "stem", "题目", "问题", "题干"))


def constant_text(name: str) -> str | None:
    """A constant that JSON lacks and Python writes: Infinity as a text, NaN as what it means."""
    return None if name == "NaN" else name


_number = lru_cache(4096)(JsonNumber)  # files have few different ones, and many of each
_DECODER = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=constant_text)


class Located(NamedTuple):
    """A value and the line on which it begins."""

    line: int
    value: Any


def read_json(
    text: str, file: str, layout: Layout, limits: Limits, *, must_be_json: bool
) -> Tables | None:
    """The lists of rows in a text that begins with a bracket, None if it is no JSON at all.

    A file that `must_be_json` by its name is refused instead.

    Raises:
        DataError: there is no list of rows in it, or it is nested too deeply.
    """
    try:
        return _Reader(text.removeprefix("\ufeff"), file, layout, limits).read()
    except json.JSONDecodeError as error:
        if not must_be_json:
            return None
        raise DataError("json-broken", file=file, line=error.lineno, reason=error.msg) from error
    except RecursionError as error:
        if not must_be_json:
            return None
        raise DataError("json-too-deep", file=file) from error


def read_json_lines(text: str, file: str) -> FileTable:
    """Each line that is not blank is an object, or a fault."""
    return _to_table(parse_lines(text), text, file)


def parse_lines(text: str) -> Iterator[Located]:
    """Each line that is not blank with its number: its object, or what is wrong with it."""
    start, number = text.startswith("\ufeff"), 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line, number, start = text[start:end], number + 1, end + 1
        if line and not line.isspace():
            yield Located(number, _parse_line(line))


def _parse_line(line: str) -> dict[str, Any] | str:
    try:
        value: Any = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        return f"no JSON ({error.msg} at character {error.pos + 1})"
    except RecursionError:
        return _TOO_DEEP
    if not isinstance(value, dict):
        return "JSON that is no object"
    return _HALF if "\\u" in line and has_lone_surrogate(value) else cast(dict[str, Any], value)


def parse_json(text: str) -> Any:
    """A JSON value whose numbers stay as they are written.

    Raises:
        ValueError: the text is no JSON, or has half a surrogate pair.
        RecursionError: it is nested too deeply.
    """
    value: Any = json.loads(text, parse_int=str, parse_float=str, parse_constant=constant_text)
    if has_lone_surrogate(value):
        raise ValueError(_HALF)
    return value


def has_lone_surrogate(value: Any) -> bool:
    """Whether a JSON value has half a surrogate pair, which no file and no database can keep."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


# Objects become a table


def _to_table(located: Iterable[Located], text: str, file: str, title: str = "") -> FileTable:
    """The rows of objects with their lines, and the faults of those that are none.

    A text instead of an object says what is wrong with it. Raises `DataError` for more columns than
    any table of questions has.
    """
    heads = _Heads(file)
    rows: list[Row] = []
    faults = FaultList()
    has_halves = bool(_HALF_PAIR.search(text))
    has_returns = "\\r" in text or "\\u000" in text
    for line, value in located:
        if not isinstance(value, dict):
            actual = value if isinstance(value, str) else "JSON that is no object"
            faults.add(Fault(file, line, "", "invalid-json", actual, "a JSON object"))
            continue
        values = cast(dict[str, Any], value)
        cells = tuple(values.values())
        if _is_deep(cells):
            faults.add(Fault(file, line, "", "invalid-json", _TOO_DEEP, "a JSON object"))
            continue
        if has_halves and has_lone_surrogate(values):
            faults.add(Fault(file, line, "", "invalid-json", _HALF, "a JSON object"))
            continue
        if has_returns:
            cells = tuple(cell_text(cell) if type(cell) is str else cell for cell in cells)
        fitted = heads.fit(tuple(values), cells)
        if fitted is not None:
            rows.append(Row(line, fitted))
            continue
        for name, count in Counter(map(fold_name, values)).items():
            if count > 1:
                faults.add(duplicate_column_fault(file, line, name, count))
    table = FileTable(
        file,
        tuple(heads.names),
        rows,
        title,
        typed=True,
        faults=faults.kept,
        unlisted=faults.unlisted,
    )
    return with_pictures(table, text)


class _Heads:
    """The columns of objects, which need not have the same keys, nor in the same order."""

    def __init__(self, file: str) -> None:
        self.names: list[str] = []
        self._file = file
        self._places: dict[str, int] = {}
        # Where the values of objects with certain keys belong; None if two keys are one name.
        self._shapes: dict[tuple[str, ...], Sequence[int] | None] = {}

    def fit(self, keys: tuple[str, ...], values: tuple[Cell, ...]) -> tuple[Cell, ...] | None:
        """The cells of an object, None if several of its keys are the same name."""
        if keys in self._shapes:
            places = self._shapes[keys]
        else:
            places = self._shapes[keys] = self._place(keys)
        if places is None or isinstance(places, range):
            return None if places is None else values
        cells: list[Cell] = [None] * (max(places, default=-1) + 1)
        for place, value in zip(places, values, strict=True):
            if place >= 0:
                cells[place] = value
        return tuple(cells)

    def _place(self, keys: tuple[str, ...]) -> Sequence[int] | None:
        check_width(len(keys), self._file)
        names = [fold_name(key) for key in keys]
        if len(set(names)) < len(names):
            return None
        places: list[int] = []
        for key, name in zip(keys, names, strict=True):
            if name and name not in self._places:
                self._places[name] = len(self.names)
                self.names.append(key.strip())
            places.append(self._places.get(name, -1))
        check_width(len(self.names), self._file)
        return range(len(keys)) if places == list(range(len(keys))) else places


def _is_deep(cells: Sequence[Cell]) -> bool:
    """Whether a row has more within one another than whatever reads it could follow."""
    level: list[Any] = [cell for cell in cells if isinstance(cell, list | dict)]
    for _ in range(_MAX_NESTING):
        if not level:
            return False
        level = [each for item in level for each in _children(item)]
    return True


def _children(value: list[Any] | dict[str, Any]) -> list[Any]:
    inner = list(value.values()) if isinstance(value, dict) else value
    return [each for each in inner if isinstance(each, list | dict)]


# Documents


class _Reader:
    """One text."""

    def __init__(self, text: str, file: str, layout: Layout, limits: Limits) -> None:
        self._text = text
        self._file = file
        self._layout = layout
        self._limits = limits

    def read(self) -> Tables:
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

    def _read_several(self, start: int, end: int) -> Tables:
        """Objects one after the other: each on a line of its own, or over several lines."""
        after = self._text.find("\n", start)
        if after < 0 or end <= after:
            return self._rows(parse_lines(self._text))
        return self._rows(self._located(self._values(start)))

    def _values(self, at: int) -> Iterator[tuple[int, Any]]:
        while at < len(self._text):
            value, end = _DECODER.raw_decode(self._text, at)
            yield at, value
            at = self._skip_blank(end)

    def _read_array(self, start: int) -> Tables:
        located = self._located(self._elements(start))
        if not located:
            raise DataError("empty-file", file=self._file)
        located = [Located(each.line, _named_elements(each.value)) for each in located]
        if all(isinstance(each.value, list) for each in located):
            return Tables((self._matrix([cast(list[Any], each.value) for each in located]),))
        if not any(isinstance(each.value, dict) for each in located):
            raise DataError("json-no-rows", file=self._file)
        return self._rows(located)

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

    def _located(self, values: Iterable[tuple[int, Any]]) -> list[Located]:
        """The values with their lines, or with their places where several share a line."""
        located: list[Located] = []
        line, counted = 1, 0
        for at, value in self._limited(values):
            line += self._text.count("\n", counted, at)
            counted = at
            located.append(Located(line, value))
        if any(before.line >= after.line for before, after in pairwise(located)):
            return _numbered(each.value for each in located)
        return located

    def _rows(self, located: Iterable[Located], title: str = "") -> Tables:
        return Tables((self._table(located, title),))

    def _table(self, located: Iterable[Located], title: str = "") -> FileTable:
        rows = self._limited(located)
        return _to_table(rows, self._text, self._file, title)

    def _limited(self, values: Iterable[T]) -> Iterator[T]:
        limit = self._limits.lines
        for n, value in enumerate(values, start=1):
            if n > limit:
                raise DataError("too-many-lines", files=self._file, n=n, limit=limit)
            yield value

    def _matrix(self, rows: Sequence[Sequence[Any]]) -> FileTable:
        """A list of lists of cells, the names of the columns among them or not."""
        cells = [
            Row(line, tuple(map(cell_text, row)))
            for line, row in enumerate(rows, start=1)
            if any(cell_text(cell).strip() for cell in row)
        ]
        if not cells:
            raise DataError("empty-file", file=self._file)
        return with_pictures(cut_table(cells, self._file, self._layout.head_row))

    def _read_object(self, document: dict[str, Any]) -> Tables:
        for read in (_split_rows, _column_rows, _keyed_rows):
            if (rows := read(document)) is not None:
                return self._rows(_numbered(rows))
        is_row, lists = _is_row(document), _lists_of_rows(document)
        # Beside a prompt of all questions there may be the list of them.
        asked = [each for each in lists if is_row and _are_questions(each[1])]
        if asked or (lists and not is_row):
            return self._read_lists(document, asked or lists)
        if is_row or any(map(is_known_name, document)):
            return self._rows([Located(1, document)])
        keys = ", ".join(list(document)[:_MAX_NAMES_SHOWN]) or "–"
        raise DataError("json-no-list", file=self._file, keys=keys)

    def _read_lists(
        self, document: dict[str, Any], lists: Sequence[tuple[str, list[Any]]]
    ) -> Tables:
        if len(lists) > _MAX_TABLES:
            n, limit = len(lists), _MAX_TABLES
            raise DataError("json-too-many-lists", file=self._file, n=n, limit=limit)
        titles = [title for title, _ in lists]
        several = len(lists) > 1
        tables = tuple(
            self._table(_numbered(values), title if several else "") for title, values in lists
        )
        unread = [
            key
            for key, value in document.items()
            if isinstance(value, list) and value and key not in titles
        ]
        notes = ()
        if unread:
            shown = {
                "file": self._file,
                "lists": ", ".join(titles[:_MAX_NAMES_SHOWN]),
                "others": ", ".join(unread[:_MAX_NAMES_SHOWN]),
            }
            notes = (UploadNote("json-lists-unread", shown),)
        return Tables(tables, notes, tuple(titles) if several else ())


def _numbered(values: Iterable[Any]) -> list[Located]:
    return [Located(n, value) for n, value in enumerate(values, start=1)]


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


def _keyed_rows(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Rows under a key each, as pandas' orient index has them, or columns under one each."""
    if not document or not all(isinstance(value, dict) for value in document.values()):
        return None
    inner = [cast(dict[str, Any], value) for value in document.values()]
    if groups := _grouped_rows(document):
        return groups
    keys = dict.fromkeys(key for each in inner for key in each)
    outer_names, inner_names = _share_of_names(document), _share_of_names(keys)
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


def _grouped_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows under a key each within groups under a key each, [] for anything else."""
    rows: list[dict[str, Any]] = []
    for group, members in document.items():
        for key, row in cast(dict[str, Any], members).items():
            values = as_object(row)
            if _QUESTION_KEYS.isdisjoint(map(str.casefold, values)):
                return []
            rows.append({"subject": group, "id": key} | values)
    return rows


def _share_of_names(names: Collection[str]) -> float:
    """The share of keys that name columns; numbers are what pandas labels rows with."""
    if not names or all(map(str.isdecimal, names)):
        return 0
    return sum(map(is_known_name, names)) / len(names)


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


def _are_questions(rows: Sequence[Any]) -> bool:
    first = as_object(rows[0])
    return len(rows) > 1 and not _QUESTION_KEYS.isdisjoint(map(str.casefold, first))


def _is_row(document: Mapping[str, Any]) -> bool:
    """Whether an object is one question: its lists are options or turns, or it has a question."""
    if not _QUESTION_KEYS.isdisjoint(key.casefold() for key in document):
        return True
    lists = [key for key, value in document.items() if _are_objects(value)]
    return bool(lists) and all(
        key.casefold() in _ROW_LISTS
        or all({"role", "from"} & {*turn} for turn in document[key] if isinstance(turn, dict))
        for key in lists
    )


# Questions about passages


def _named_elements(value: Any) -> Any:
    """The row of C3 and DREAM, a list of a passage, its questions and an id, as an object."""
    items = as_list(value)
    questions: list[Any] = [item for item in items if _are_objects(item)]
    if len(questions) != 1:
        return value
    others = [cast(list[Any], each) for each in items if isinstance(each, list)]
    passage = [cell_text(text) for each in others if each is not questions[0] for text in each]
    return {"passage": "\n".join(passage), "questions": questions[0]}
