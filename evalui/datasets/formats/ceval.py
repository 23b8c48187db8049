"""C-Eval's table: id, question, A, B, C, D, answer, explanation, in any order and letter case.

Two to ten options A to J, fewer where cells are empty; id and explanation may be missing. The
same columns as JSON Lines, one object per line, are the same format. A `subject` column, where
there is one, names the subject of each row; every further column goes into the metadata.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from evalui.datasets.base import READERS, Layout, Part, Reader, Source, by_letter, letters_named
from evalui.datasets.faults import by_line
from evalui.datasets.questions.choice import Question, judge
from evalui.datasets.tables.columns import Columns, find_columns, wanted
from evalui.datasets.tables.rows import Row, Table
from evalui.datasets.tables.table import header, read_table
from evalui.types import LETTERS, Fault

_ENOUGH = 3  # known column names that tell the format from other tables


class _Shift(NamedTuple):
    column: str
    found: str
    expected: str


def recognises(source: Source, layout: Layout) -> bool:
    """Whether the header looks like this format, even if a column is missing or misspelt.

    Without one column of options it is a table of questions with reference texts.
    """
    known = {name.casefold() for name in wanted(layout)}.intersection(_header(source, layout))
    has_options = layout.options or not known.isdisjoint(LETTERS.casefold())
    return bool(has_options) and len(known) >= _ENOUGH


def read(source: Source, layout: Layout) -> Part:
    """The samples and faults of one file.

    A file of the test split without any answer is `unanswered`, which is no fault: benchmarks
    publish their test files so.
    """
    if source.split == "test" and _lacks_answers(source, layout):
        return Part((), unanswered=True)
    table = read_table(source, wanted(layout))
    columns = find_columns(table.header, layout, file=source.name, line=table.header_line)
    if not isinstance(columns, Columns):
        return Part((), table.faults or columns, len(table.rows), unlisted=table.unlisted)
    if not table.rows and not table.faults:
        found, expected = "a header and nothing below it", "a question per row"
        fault = Fault(source.name, table.header_line, "", "no-rows", found, expected)
        return Part((), (fault,))
    questions = _questions(table, columns, source, layout)
    # The rows that could not be cut stand where they were in the file.
    whole = heapq.merge(questions, by_line(table.faults), key=lambda question: question.line)
    part = judge(whole, source, layout)
    more = table.unlisted
    return replace(part, n_rows=part.n_rows + more, unlisted=part.unlisted + more)


def _lacks_answers(source: Source, layout: Layout) -> bool:
    return (layout.answer or "answer").casefold() not in _header(source, layout)


def _header(source: Source, layout: Layout) -> set[str]:
    return {name.casefold() for name in header(source, wanted(layout))}


def _questions(
    table: Table, columns: Columns, source: Source, layout: Layout
) -> Iterator[Question | Fault]:
    for number, row in enumerate(table.rows, start=1):
        cells = _fitted(row, len(table.header), columns)
        shifted = _wrong_count(cells, row, table, columns)
        if not shifted and table.delimiter and layout.answer_key == "letter":
            shifted = _letter_elsewhere(cells, table, columns)
        if shifted:
            yield Fault(source.name, row.line, shifted.column, "shifted-row", *shifted[1:])
        else:
            yield _question(cells, row.line, number, columns)


def _question(cells: Sequence[str], line: int, number: int, columns: Columns) -> Question:
    def cell(at: int) -> str:
        return cells[at].strip() if at >= 0 else ""

    # A row without an id must not take that of a numbered one.
    own_number = str(number) if columns.id < 0 else f"row-{number}"
    metadata = {name: text for name, at in columns.others if (text := cell(at))}
    if explanation := cell(columns.explanation):
        metadata["explanation"] = explanation
    return Question(
        line=line,
        id=cell(columns.id) or own_number,
        text=cell(columns.question),
        options=tuple((name, cell(at)) for name, at in columns.options),
        answer=cell(columns.answer),
        subject=cell(columns.subject),
        columns=(columns.question_name, columns.answer_name),
        metadata=metadata,
    )


def _fitted(row: Row, width: int, columns: Columns) -> tuple[str, ...]:
    """The row at the header's width, where that loses nothing and moves nothing.

    Empty cells at the end are a spreadsheet's padding, and a row may stop after the last
    column that is needed.
    """
    cells = row.cells
    if len(cells) > width and not any(map(str.strip, cells[width:])):
        return cells[:width]
    if columns.last_needed < len(cells) < width:
        return cells + ("",) * (width - len(cells))
    return cells


def _wrong_count(cells: Sequence[str], row: Row, table: Table, columns: Columns) -> _Shift | None:
    """What is wrong if the row has more or fewer cells than the header."""
    width = len(table.header)
    if len(cells) == width:
        return None
    found = f"{len(row.cells)} cells"
    if len(cells) > columns.answer:
        found += f", and “{cells[columns.answer].strip()[:20]}” under {columns.answer_name}"
    model = "header" if table.header_line else "first row"
    return _Shift("", found, f"{width} cells, as in the {model}; {_cause(table)}")


def _letter_elsewhere(cells: Sequence[str], table: Table, columns: Columns) -> _Shift | None:
    """What is wrong if the answer's letter stands in a later column.

    That is what an unquoted comma does to a row whose last column was left out: the count of
    cells is right by accident. Nothing is put back, since it would be a guess.
    """
    answer = cells[columns.answer].strip()
    if by_letter(answer, LETTERS) is not None or letters_named(answer):
        return None
    later = range(columns.answer + 1, len(table.header))
    at = next((at for at in later if by_letter(cells[at], LETTERS) is not None), None)
    if at is None:
        return None
    under = table.header[at] or "a column without a name"
    found = f"“{answer[:20]}”, but “{cells[at].strip()}” under {under}"
    expected = f"the answer under {columns.answer_name}; {_cause(table)}"
    return _Shift(columns.answer_name, found, expected)


def _cause(table: Table) -> str:
    visible = "tab" if table.delimiter == "\t" else table.delimiter
    return f"a text that contains “{visible}” needs quotes around it"


READERS.register("ceval")(Reader("multiple_choice", recognises, read))
