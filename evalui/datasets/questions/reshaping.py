"""Rows of other shapes become one row per question.

A row may hold a passage with several questions (RACE, C3, SQuAD's paragraphs), and a question may
take several rows, one for each option.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, cast

from evalui.datasets.heads import read_head
from evalui.datasets.model import Layout
from evalui.datasets.questions.answers import truth_of
from evalui.datasets.tables.records import Record, Records, fold_name
from evalui.datasets.tables.table import cell_text

_ROWS_INSPECTED = 20
_ROLES_OF_QUESTIONS = ("options", "answer")
_LISTS_OF_QUESTIONS = frozenset(("questions", "question", "qas", "qa", "qapairs", "items", "问题"))
_TRUE_MARKS = ("1", "1.0", "true", "yes", "right", "correct")
_FALSE_MARKS = ("0", "0.0", "false", "no", "wrong", "incorrect", "")


def split_passages(records: Records) -> Records:
    """One row for each question of a row that has a list of them; others stay as they are."""
    if not any(_questions_of(row.values) for row in records.rows[:_ROWS_INSPECTED]):
        return records
    rows: list[Record] = []
    names = dict(records.names)
    for record in records.rows:
        parts = _questions_of(record.values) or [record.values]
        for at, values in enumerate(parts, start=1):
            folded = {fold_name(name): value for name, value in values.items()}
            for name in values:
                names.setdefault(fold_name(name), name.strip())
            if len(parts) > 1:
                folded |= _numbered_ids(record.values, folded, at)
            texts = {name: cell_text(value) for name, value in folded.items()}
            rows.append(Record(record.line, len(rows) + 1, folded, texts))
    used = {name for row in rows for name in row.values}
    kept = {name: shown for name, shown in names.items() if name in used}
    return replace(records, names=kept, rows=tuple(rows))


def join_option_rows(records: Records, layout: Layout) -> Records:
    """One row for each question of a file that has a row for each option.

    The rows of a question have the same id, or the same text. Its options stand under the layout's
    `row_option` as a list; an answer that marks each row as right or wrong goes into that list.
    """
    option, answer = fold_name(layout.row_option), fold_name(layout.answer)
    key = fold_name(layout.id or layout.question)

    def key_of(row: Record) -> str:
        return row.texts.get(key, "").strip()

    marks = {row.texts.get(answer, "").strip().casefold() for row in records.rows}
    by_mark = bool(answer) and all(is_mark(mark) for mark in marks)
    rows: list[Record] = []
    for _, group in groupby(records.rows, key_of):
        members = list(group)
        first = members[0]
        listed = [
            {"text": row.texts.get(option, "")}
            | ({"correct": is_true_mark(row.texts.get(answer, ""))} if by_mark else {})
            for row in members
        ]
        values = {**first.values, option: listed}
        if by_mark:
            values.pop(answer, None)
        texts = {name: cell_text(value) for name, value in values.items()}
        rows.append(Record(first.line, len(rows) + 1, values, texts))
    return replace(records, rows=tuple(rows))


def is_mark(text: str) -> bool:
    """Whether a cell marks an option as right or as wrong."""
    folded = text.strip().casefold()
    return folded in _TRUE_MARKS or folded in _FALSE_MARKS or truth_of(folded) is not None


def is_true_mark(text: str) -> bool:
    """Whether a cell marks an option as right."""
    folded = text.strip().casefold()
    return folded in _TRUE_MARKS or truth_of(folded) is True


def _questions_of(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of each question of a row that has several, [] if it has not."""
    for name, value in values.items():
        if fold_name(name).replace("_", "") in _LISTS_OF_QUESTIONS:
            rest = {other: text for other, text in values.items() if other != name}
            if parts := _objects_of(value):
                return [{**rest, **part} for part in parts]
    lists = {name: cast(list[Any], value) for name, value in values.items() if _is_list(value)}
    questions = next((name for name in lists if _are_questions(name, lists[name])), "")
    if not questions:
        return []
    n = len(lists[questions])
    beside = [name for name in lists if len(lists[name]) == n and name != questions]
    if not any(_goes_with_questions(name, lists[name]) for name in beside):
        return []
    split = (questions, *beside)
    return [{**values, **{name: lists[name][at] for name in split}} for at in range(n)]


def _objects_of(value: Any) -> list[dict[str, Any]]:
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
    return any(read_head(name).role == "question" for name in item)


def _are_questions(name: str, items: Sequence[Any]) -> bool:
    return read_head(name).role == "question" and all(isinstance(item, str) for item in items)


def _goes_with_questions(name: str, items: Sequence[Any]) -> bool:
    """Whether a list has the options or the answer of each question."""
    if read_head(name).role not in _ROLES_OF_QUESTIONS:
        return False
    return all(isinstance(item, list | str | int | float) for item in items)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(cast(list[Any], value))


def _numbered_ids(
    parent: Mapping[str, Any], values: Mapping[str, Any], number: int
) -> dict[str, str]:
    """The ids that the questions of a row share, with a number behind each."""
    shared = (name for name in map(fold_name, parent) if read_head(name).role == "id")
    return {
        name: f"{cell_text(values[name])}-{number}"
        for name in shared
        if name in values and not isinstance(values[name], list | dict)
        if values[name] == parent.get(name)
    }
