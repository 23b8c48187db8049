"""Rows by the names of their columns, the same from JSON Lines, a table or a sheet.

Names are trimmed and case-folded. JSON keeps its lists and objects; a table has texts only. A
missing column is reported with the nearest name that is there.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalui.datasets.containers.heads import check_width
from evalui.datasets.model import FaultList, Layout, RawRow, Source, shorten, sort_by_line
from evalui.datasets.tables.table import is_json_lines, json_rows, read_table
from evalui.types import LETTERS, Fault

COLUMN_NAMES = ("id", "question", *LETTERS, "answer", "explanation", "subject")
_MIN_OPTIONS = 2
# What samples know of themselves, and the names that mean something under every layout.
_ALWAYS_USED = ("file", "line", "ceval_subject", "id", "subject", "explanation")


class Record(NamedTuple):
    """One row. `number` counts the rows from 1; `texts` are the `values` as cells of a table."""

    line: int
    number: int
    values: Mapping[str, Any]
    texts: Mapping[str, str]

    def first_text(self, names: Sequence[str]) -> str:
        """The text of the first of the columns that has any."""
        return next((text for name in names if (text := self.texts.get(name, "")).strip()), "")


@dataclass(frozen=True, slots=True)
class Records:
    """A whole file. `names` are the columns as the file writes them, by their folded name.

    `unlisted` counts more faults by their rule; `rows_unread` is in how many rows there are any.
    """

    names: Mapping[str, str]
    rows: tuple[Record, ...]
    faults: tuple[Fault, ...]
    header_line: int = 1
    unlisted: Counter[str] = field(default_factory=Counter[str])
    rows_unread: int = 0

    @property
    def n_rows(self) -> int:
        """All rows, those too that could not be read."""
        return len(self.rows) + self.rows_unread


def fold_name(name: str) -> str:
    """A column's name as it is looked for."""
    return name.strip().casefold()


def read_records(source: Source, known: Sequence[str]) -> Records:
    """The rows of a file and what is wrong with the others; `known` names decide its delimiter.

    Raises `DataError` for a file with more columns than any table of questions has.
    """
    return _from_json(source) if is_json_lines(source) else _from_table(source, known)


def _from_json(source: Source) -> Records:
    names: dict[str, str] = {}
    rows: list[Record] = []
    read = json_rows(source)
    faults = FaultList(read.faults)
    folded: dict[tuple[str, ...], _FoldedKeys] = {}
    for row in read.rows:
        keys = tuple(row.values)
        shape = folded.get(keys)
        if shape is None:
            shape = folded[keys] = _FoldedKeys(
                tuple(map(fold_name, keys)), bool(duplicate_column_faults(keys, source.name, 0))
            )
            for name in keys:
                names.setdefault(fold_name(name), name.strip())
            check_width(len(names), source.name)
        if shape.repeated:
            faults.add(*duplicate_column_faults(keys, source.name, row.line))
        elif shape.names == keys:
            rows.append(Record(row.line, row.number, row.values, row.texts))
        else:
            values = dict(zip(shape.names, row.values.values(), strict=True))
            texts = dict(zip(shape.names, row.texts.values(), strict=True))
            rows.append(Record(row.line, row.number, values, texts))
    names.pop("", None)
    return Records(
        names,
        tuple(rows),
        tuple(sort_by_line(faults.kept)),
        unlisted=faults.unlisted + read.unlisted,
        rows_unread=faults.rows + read.unlisted.total(),
    )


class _FoldedKeys(NamedTuple):
    """The names of an object as they are looked for, and whether two of them are the same."""

    names: tuple[str, ...]
    repeated: bool


def _from_table(source: Source, known: Sequence[str]) -> Records:
    table = read_table(source, known)
    repeated = duplicate_column_faults(table.header, source.name, table.header_line)
    names = {fold_name(name): name.strip() for name in table.header if name.strip()}
    rows: list[Record] = []
    wrong = FaultList()
    readable = () if repeated else table.rows
    for row in _to_records(readable, table.header, table.delimiter, source.name):
        if isinstance(row, Fault):
            wrong.add(row)
        else:
            rows.append(row)
    before = FaultList(sort_by_line(table.faults, repeated))
    unlisted = table.unlisted + wrong.unlisted
    faults = FaultList(sort_by_line(before.kept, wrong.kept), unlisted=unlisted)
    unread = before.rows + table.unlisted.total() + wrong.rows
    return Records(names, tuple(rows), faults.kept, table.header_line, faults.unlisted, unread)


def _to_records(
    rows: Sequence[RawRow], header: Sequence[str], delimiter: str, file: str
) -> Iterator[Record | Fault]:
    width = len(header)
    names = tuple(map(fold_name, header))
    visible = "tab" if delimiter == "\t" else delimiter
    for number, row in enumerate(rows, start=1):
        if len(row.cells) > width and any(map(str.strip, row.cells[width:])):
            expected = f"{width} cell{'s' if width > 1 else ''}, as in the header; "
            expected += f"a text that contains “{visible}” needs quotes around it"
            actual = f"{len(row.cells)} cells"
            yield Fault(file, row.line, "", "shifted-row", actual, expected)
            continue
        texts = dict(zip(names, row.cells, strict=False))
        yield Record(row.line, number, texts, texts)


@dataclass(frozen=True, slots=True)
class HeaderColumns:
    """Positions in a row. `options` and `others` have their names; -1 means there is none."""

    question: int
    question_name: str
    options: tuple[tuple[str, int], ...]
    answer: int
    answer_name: str
    id: int
    subject: int
    explanation: int
    passage: int
    others: tuple[tuple[str, int], ...]

    @property
    def last_needed(self) -> int:
        """The last position without which a row cannot be read."""
        return max(self.question, self.answer, *(at for _, at in self.options))


def known_column_names(layout: Layout) -> tuple[str, ...]:
    """Every column name that means something under this layout."""
    own = (layout.question, layout.answer, layout.subject, layout.id, layout.passage)
    own += (layout.explanation, *layout.options)
    return (*COLUMN_NAMES, *(name for name in own if name))


def find_columns(
    header: Sequence[str], layout: Layout, *, file: str, line: int, answered: bool = True
) -> HeaderColumns | tuple[Fault, ...]:
    """The columns of a header, or the faults that make the file unreadable.

    A column of answers may be missing if rows need not be `answered`, and none is named.
    """
    places = _positions_by_name(header)
    faults = [*duplicate_column_faults(header, file, line)]
    options = layout.options or _option_letters(places)
    question, answer = layout.question or "question", layout.answer or "answer"
    needed = (question, *options, *([answer] if answered or layout.answer else []))
    subject, id_ = layout.subject or "subject", layout.id or "id"
    explanation = layout.explanation or "explanation"
    further = (layout.subject, layout.id, layout.passage, layout.explanation)
    for name in (*needed, *filter(None, further)):
        if fold_name(name) not in places:
            faults.append(missing_column_fault(name, header, needed, file=file, line=line))
    if faults:
        return tuple(faults)
    used = {
        fold_name(name)
        for name in (*needed, answer, subject, id_, layout.passage, explanation, *_ALWAYS_USED)
    }
    return HeaderColumns(
        question=places[fold_name(question)],
        question_name=question,
        options=tuple((name, places[fold_name(name)]) for name in options),
        answer=places.get(fold_name(answer), -1),
        answer_name=answer,
        id=places.get(fold_name(id_), -1),
        subject=places.get(fold_name(subject), -1),
        explanation=places.get(fold_name(explanation), -1),
        passage=places.get(fold_name(layout.passage), -1) if layout.passage else -1,
        others=tuple(
            (name.strip(), places[fold_name(name)])
            for name in header
            if name.strip() and fold_name(name) not in used
        ),
    )


def _positions_by_name(header: Sequence[str]) -> Mapping[str, int]:
    # Unnamed columns (a spreadsheet's padding, a data frame's index) mean nothing.
    return {fold_name(name): at for at, name in enumerate(header) if name.strip()}


def no_rows_fault(file: str, header_line: int) -> Fault:
    """The fault of a file that ends with its header."""
    actual, expected = "a header and nothing below it", "a question per row"
    return Fault(file, header_line, "", "no-rows", actual, expected)


def duplicate_column_faults(header: Sequence[str], file: str, line: int) -> list[Fault]:
    """A fault for each name that several columns have."""
    counts = Counter(fold_name(name) for name in header if name.strip())
    return [
        Fault(file, line, name, "duplicate-column", f"{count} columns “{name}”", "one")
        for name, count in counts.items()
        if count > 1
    ]


def _option_letters(places: Mapping[str, int]) -> tuple[str, ...]:
    """A and the letters after it that have a column; of one missing between two the file lacks it.

    A letter further on (n, x) is the name of something else.
    """
    end = _MIN_OPTIONS
    while any(letter.casefold() in places for letter in LETTERS[end : end + 2]):
        end += 1
    return tuple(LETTERS[:end])


def missing_column_fault(
    name: str, header: Sequence[str], needed: Sequence[str], *, file: str, line: int
) -> Fault:
    """The fault of a column that the header lacks, with the nearest name that is there."""
    from difflib import get_close_matches  # only faulty files need it

    taken = {fold_name(other) for other in needed}
    free = {fold_name(other): other for other in header if fold_name(other) not in taken}
    # One letter is near to every other letter: options get no suggestion.
    near = get_close_matches(fold_name(name), free, n=1) if len(name) > 1 else []
    shown = ", ".join(other for other in header if other)
    actual = f"the columns {shorten(shown, 120)}" if shown else "no header"
    expected = f"a column “{name}”" + (f"; is “{free[near[0]]}” meant?" if near else "")
    return Fault(file, line, name, "missing-column", actual, expected)
