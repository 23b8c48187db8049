"""Rows of other shapes become one row per question.

A row may hold a passage with several questions (RACE, C3, SQuAD's paragraphs) or chapters of them,
and a question may take several rows, one for each option.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, cast

from evalui.datasets.answers import is_mark, is_true_mark
from evalui.datasets.model import (
    Cell,
    FileTable,
    Roles,
    Row,
    cell_text,
    fold_name,
)
from evalui.datasets.names import fold_head, is_chat_name, read_head

_ROWS_INSPECTED = 20
_NESTING = 3  # lists within lists, as sections of chapters
_ROLES_OF_QUESTIONS = ("options", "answer")
_LISTS_OF_QUESTIONS = frozenset(
    ("questions", "question", "qas", "qa", "qapairs", "items", "instances", "问题", "题目")
)


def to_questions(table: FileTable) -> FileTable:
    """The table with a row for each question of a row that has several, under names of its own."""
    if not table.typed:
        return table
    records = [
        dict(zip(table.heads, row.cells, strict=False)) for row in table.rows[:_ROWS_INSPECTED]
    ]
    if not any(map(_questions_of, records)):
        return table
    rows: list[tuple[int, dict[str, Cell]]] = []
    for row in table.rows:
        record = {
            name: cell
            for name, cell in zip(table.heads, row.cells, strict=False)
            if cell is not None
        }
        parts = _questions_of(record) or [record]
        for number, part in enumerate(parts, start=1):
            ids = _numbered_ids(record, part, number) if len(parts) > 1 else {}
            rows.append((row.line, part | ids))
    heads: dict[str, str] = {}
    for _, record in rows:
        for name in record:
            heads.setdefault(fold_name(name), name.strip())
    folded = ({fold_name(name): cell for name, cell in record.items()} for _, record in rows)
    cells = (tuple(record.get(name) for name in heads) for record in folded)
    return replace(
        table,
        heads=tuple(heads.values()),
        rows=[Row(line, own) for (line, _), own in zip(rows, cells, strict=True)],
    )


def join_option_rows(table: FileTable, roles: Roles) -> tuple[FileTable, Roles]:
    """One row for each question of a table that has a row for each option, and its roles.

    The rows of a question have the same id, or the same text. Its options stand in a list; an
    answer that marks each row as right or wrong goes into that list.
    """
    option, answer = roles.place("row_option"), roles.place("answer")
    key = roles.place("id") if roles.place("id") >= 0 else roles.place("question")
    marks = {row.text(answer).casefold() for row in table.rows}
    by_mark = answer >= 0 and all(map(is_mark, marks))
    rows: list[Row] = []
    for _, group in groupby(table.rows, lambda row: row.text(key)):
        members = list(group)
        cells = list(members[0].cells) + [None] * (len(table.heads) - len(members[0].cells))
        cells[option] = [
            {"text": row.text(option)}
            | ({"correct": is_true_mark(row.text(answer))} if by_mark else {})
            for row in members
        ]
        rows.append(Row(members[0].line, tuple(cells)))
    named = ("options" if role == "row_option" else role for role in roles.roles)
    kept = tuple("mark" if by_mark and role == "answer" else role for role in named)
    return replace(table, rows=rows, typed=True), replace(roles, roles=kept)


def _questions_of(values: Mapping[str, Cell], depth: int = 0) -> list[dict[str, Any]]:
    """The values of each question of a row that has several, [] if it has not."""
    for name, value in values.items():
        rest = {other: text for other, text in values.items() if other != name}
        if fold_head(name) in _LISTS_OF_QUESTIONS and (parts := _objects_of(value)):
            return [rest | part for part in parts]
        if inner := _inner_questions(name, value, depth):
            return [rest | part for part in inner]
    lists = {name: cast(list[Any], value) for name, value in values.items() if _is_list(value)}
    questions = next((name for name in lists if _are_questions(name, lists[name])), "")
    if not questions:
        return []
    n = len(lists[questions])
    beside = [name for name in lists if len(lists[name]) == n and name != questions]
    if not any(_goes_with_questions(name, lists[name]) for name in beside):
        return []
    # RACE's id is that of the passage.
    split = {name: fold_head(name).removesuffix("s") for name in (questions, *beside)}
    names = {name: new if new in ("question", "answer") else name for name, new in split.items()}
    rest = {
        name: value
        for name, value in values.items()
        if name not in split and read_head(name).role != "id"
    }
    return [rest | {names[name]: lists[name][at] for name in split} for at in range(n)]


def _inner_questions(name: str, value: Cell, depth: int) -> list[dict[str, Any]]:
    """The questions in a list of objects that have lists of them, as sections of a chapter do."""
    if depth >= _NESTING or not _is_list(value) or is_chat_name(name):
        return []
    values = cast(list[Any], value)
    items = [cast(dict[str, Any], each) for each in values if isinstance(each, dict)]
    if len(items) < len(values):
        return []
    return [part for item in items for part in _questions_of(item, depth + 1)]


def _objects_of(value: Cell) -> list[dict[str, Any]]:
    """The questions of a list of objects, or of an object of lists as long as each other."""
    if isinstance(value, dict):
        columns = cast(dict[str, Any], value)
        lengths = {
            len(cast(list[Any], each)) if _is_list(each) else -1 for each in columns.values()
        }
        if len(lengths) != 1 or -1 in lengths or not _names_question(columns):
            return []
        n = lengths.pop()
        return [{name: columns[name][at] for name in columns} for at in range(n)]
    if not _is_list(value):
        return []
    items = cast(list[Any], value)
    objects = [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
    complete = objects and len(objects) == len(items) and all(map(_names_question, objects))
    return objects if complete else []


def _names_question(item: Mapping[str, Any]) -> bool:
    roles = {read_head(name).role for name in item}
    return "question" in roles or {"options", "answer"} <= roles


def _are_questions(name: str, items: Sequence[Any]) -> bool:
    return read_head(name).role == "question" and all(isinstance(item, str) for item in items)


def _goes_with_questions(name: str, items: Sequence[Any]) -> bool:
    """Whether a list has the options or the answer of each question."""
    if read_head(name).role not in _ROLES_OF_QUESTIONS:
        return False
    return all(isinstance(item, list | str | int | float) for item in items)


def _is_list(value: Cell) -> bool:
    return isinstance(value, list) and bool(cast(list[Any], value))


def _numbered_ids(
    parent: Mapping[str, Cell], values: Mapping[str, Cell], number: int
) -> dict[str, str]:
    """The ids that the questions of a row share, with a number behind each."""
    return {
        name: f"{cell_text(values[name])}-{number}"
        for name in parent
        if read_head(name).role == "id" and name in values
        if not isinstance(values[name], list | dict) and values[name] == parent[name]
    }
