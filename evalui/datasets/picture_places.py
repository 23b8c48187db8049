"""Pictures in columns of their own get their places in the texts of the questions.

`<image 1>`, `{image_1}` and `[image 1]` are the places of numbered pictures, `<image>` that of the
next one. What has no place in a text stands before the question.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, cast

from evalui.datasets.containers.pictures import marks_alone, picture_columns
from evalui.datasets.model import Cell, FileTable, Layout, Roles, Row, fold_name
from evalui.datasets.names import INSTRUCTION_NAMES, fold_head
from evalui.pictures import Mark, parts
from evalui.types import LETTERS

_PLACE = re.compile(
    r"<image[ _-]?(?P<angled>\d{0,9})>|\{image[ _-]?(?P<braced>\d{1,9})\}"
    r"|\[image[ _-]?(?P<squared>\d{1,9})\]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,9}$")
# Columns that models are shown, in the order in which they read them; the latter by their names.
_ROLES_SHOWN = ("passage", "question", *LETTERS, "options", "row_option")
_NAMES_SHOWN = ("history", "messages", "turns")


def place_pictures(table: FileTable, roles: Roles, layout: Layout) -> FileTable:
    """The table with its pictures in the texts that models are shown, and nowhere else.

    The column by which the layout clusters questions stays as it is.
    """
    columns = {
        at: int(number[0]) if (number := _NUMBER.search(table.heads[at].strip())) else None
        for at in picture_columns(table)
        if not roles.roles[at]
    }
    if not columns:
        return table
    names = [fold_name(head) for head in table.heads]
    shown = [names.index(name) for name in _NAMES_SHOWN if name in names]
    shown += [roles.place(role) for role in _ROLES_SHOWN if role in roles.roles]
    question = next((at for at in (roles.place("question"), *shown) if at >= 0), -1)
    instructs = question >= 0 and fold_head(table.heads[question]) in INSTRUCTION_NAMES
    first = [question] if instructs else [roles.place("passage"), question]
    emptied = [at for at in columns if names[at] != fold_name(layout.cluster)]
    rows = [
        _placed(row, columns, shown, first, emptied) if len(row.cells) else row
        for row in table.rows
    ]
    return replace(table, rows=rows)


def without_places(text: str) -> str:
    """The text without the places of pictures that have no mark yet."""
    return _PLACE.sub("", text) if "image" in text.casefold() else text


def _placed(
    row: Row,
    columns: Mapping[int, int | None],
    shown: Sequence[int],
    first: Sequence[int],
    emptied: Sequence[int],
) -> Row:
    pictures = _numbered(row, columns)
    if not pictures:
        return row
    cells = list(row.cells)
    left = dict(pictures)
    for at in shown:
        if at < len(cells):
            cells[at] = _filled(cells[at], pictures, left)
    before = "".join(f"{mark}\n" for mark in dict.fromkeys(left.values()))
    if before:
        at = next((at for at in first if 0 <= at < len(cells) and cells[at]), first[-1])
        if 0 <= at < len(cells):
            cells[at] = _below(before, cells[at])
    for at in emptied:
        if at < len(cells) and marks_alone(cells[at]):
            cells[at] = ""
    return Row(row.line, tuple(cells))


def _numbered(row: Row, columns: Mapping[int, int | None]) -> dict[int, Mark]:
    """The pictures of a row in order: by the numbers of their columns, others have the next ones.

    Of several pictures in a numbered column the first has the number.
    """
    pictures: dict[int, Mark] = {}
    others: list[Mark] = []
    for at, number in columns.items():
        marks = [part for part in parts(marks_alone(row.cell(at))) if isinstance(part, Mark)]
        if marks and number is not None and number not in pictures:
            pictures[number] = marks.pop(0)
        others += marks
    free = (number for number in count(1) if number not in pictures)
    pictures |= dict(zip(free, others, strict=False))
    return dict(sorted(pictures.items()))


def _filled(cell: Cell, pictures: dict[int, Mark], left: dict[int, Mark]) -> Cell:
    """A cell with marks in its places; these pictures are not left any more."""
    if isinstance(cell, list):
        return [_filled(item, pictures, left) for item in cast(list[Any], cell)]
    if isinstance(cell, dict):
        items = cast(dict[str, Any], cell).items()
        return {key: _filled(value, pictures, left) for key, value in items}
    if not isinstance(cell, str) or "image" not in cell.casefold():
        return cell

    def mark(place: re.Match[str]) -> str:
        number = next(filter(None, place.groups()), "")
        at = int(number) if number else next(iter(left), 0)
        if at not in pictures:
            return place[0]
        left.pop(at, None)
        return str(pictures[at])

    return _PLACE.sub(mark, cell)


def _below(before: str, cell: Cell) -> Cell:
    """The marks above a question, or above the last turn of the user in a conversation."""
    if isinstance(cell, str):
        turns = _conversation(cell)
        return json.dumps(_below(before, turns), ensure_ascii=False) if turns else before + cell
    if isinstance(cell, dict):
        item = cast(dict[str, Any], cell)
        name = next((name for name in ("stem", "content", "value") if item.get(name)), "")
        return {**item, name: _below(before, item[name])} if name else item
    if not isinstance(cell, list) or not cell:
        return before.rstrip("\n")
    items = list(cast(list[Any], cell))
    at = next(_turns_of_user(items), 0)
    if isinstance(items[at], dict) and items[at].keys() >= {"type", "text"}:
        return [{"type": "text", "text": before.rstrip("\n")}, *items]
    items[at] = _below(before, items[at])
    return items


def _conversation(text: str) -> list[Any]:
    """The turns of a conversation that is a text of JSON, [] for another text."""
    if not text.lstrip().startswith("[{"):
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return cast(list[Any], value) if next(_turns_of_user(value), None) is not None else []


def _turns_of_user(items: Sequence[Any]) -> Iterator[int]:
    """The places of what the user says, the last one first."""
    for at in range(len(items) - 1, -1, -1):
        if isinstance(items[at], dict):
            turn = cast(dict[str, Any], items[at])
            if str(turn.get("role", turn.get("from"))).casefold() in ("user", "human"):
                yield at
