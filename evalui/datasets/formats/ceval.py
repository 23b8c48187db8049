"""C-Eval's table: id, question, A, B, C, D, answer, explanation, in any order and letter case.

Two to 26 options A to Z, fewer where cells are empty; id and explanation may be missing. The
same columns as JSON Lines, one object per line, are the same format. A `subject` column, where
there is one, names the subject of each row; every further column goes into the metadata.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from evalui.datasets.model import (
    DATASET_FORMATS,
    DatasetFormat,
    Layout,
    ParsedRows,
    RawRow,
    RawTable,
    Source,
    sort_by_line,
)
from evalui.datasets.questions.answers import (
    answer_function,
    answer_letters,
    by_letter,
    truth_of,
)
from evalui.datasets.questions.choice import ParsedQuestion, validate
from evalui.datasets.questions.passages import with_passage
from evalui.datasets.tables.records import (
    HeaderColumns,
    find_columns,
    known_column_names,
    no_rows_fault,
)
from evalui.datasets.tables.table import read_header, read_table
from evalui.types import LETTERS, Fault

_NO_CELLS: Mapping[str, str] = MappingProxyType({})
_LETTER_CELLS = frozenset(LETTERS)
_FIRST_OPTIONS = ("a", "b")  # of which a table of options has one at least
_MIN_KNOWN_COLUMNS = 3  # known column names that set the format apart from other tables


class _RowShift(NamedTuple):
    column: str
    actual: str
    expected: str


def recognises(source: Source, layout: Layout) -> bool:
    """Whether the header looks like this format, even if a column is missing or misspelt.

    Without one column of options it is a table of questions with reference texts.
    """
    if layout.option_list:
        return False
    names = _header_names(source, layout)
    known = {name.casefold() for name in known_column_names(layout)} & names
    has_options = layout.options or not names.isdisjoint(_FIRST_OPTIONS)
    return bool(has_options) and len(known) >= _MIN_KNOWN_COLUMNS


def read(source: Source, layout: Layout) -> ParsedRows:
    """The samples and faults of one file.

    A file of the test split without any answer is `unanswered`, which is no fault: benchmarks
    publish their test files so.
    """
    function = answer_function(layout.answer_key)
    if source.split == "test" and not function and _lacks_answers(source, layout):
        return ParsedRows((), unanswered=True)
    table = read_table(source, known_column_names(layout))
    columns = find_columns(
        table.header,
        layout,
        file=source.name,
        line=table.header_line,
        answered=not function,
    )
    if not isinstance(columns, HeaderColumns):
        return ParsedRows((), table.faults or columns, len(table.rows), unlisted=table.unlisted)
    wanted = layout.cluster.strip().casefold()
    # It may be that of the subject or of the passage, which are not among the others.
    shared = [each for each in enumerate(table.header) if wanted == each[1].strip().casefold()]
    if wanted and shared:
        columns = replace(columns, others=(*columns.others, shared[0][::-1]))
    if not table.rows and not table.faults:
        return ParsedRows((), (no_rows_fault(source.name, table.header_line),))
    rows = _parse_questions(table, columns, source, layout)
    if table.faults:
        # The rows that could not be cut stand where they were in the file.
        rows = heapq.merge(rows, sort_by_line(table.faults), key=lambda question: question.line)
    part = validate(rows, source, layout)
    more = table.unlisted
    return replace(part, n_rows=part.n_rows + more.total(), unlisted=part.unlisted + more)


def _lacks_answers(source: Source, layout: Layout) -> bool:
    return (layout.answer or "answer").casefold() not in _header_names(source, layout)


def _header_names(source: Source, layout: Layout) -> set[str]:
    return {name.casefold() for name in read_header(source, known_column_names(layout))}


def _parse_questions(
    table: RawTable, columns: HeaderColumns, source: Source, layout: Layout
) -> Iterator[ParsedQuestion | Fault]:
    width = len(table.header)
    by_letters = (
        bool(table.delimiter) and layout.answer_key == "letter" and _expects_letters(table, columns)
    )
    parse = _RowParser(columns, table.header if answer_function(layout.answer_key) else ())
    for number, row in enumerate(table.rows, start=1):
        cells = row.cells if len(row.cells) == width else _fit_to_width(row, width, columns)
        shifted = None
        if len(cells) != width:
            shifted = _cell_count_fault(cells, row, table, columns)
        elif by_letters and cells[columns.answer] not in _LETTER_CELLS:
            shifted = _shifted_answer_fault(cells, table, columns)
        if shifted:
            yield Fault(source.name, row.line, shifted.column, "shifted-row", *shifted[1:])
        else:
            yield parse.to_question(cells, row.line, number)


def _expects_letters(table: RawTable, columns: HeaderColumns) -> bool:
    """Whether a letter in a later column shows a shift: not where answers are texts or numbers."""
    at = columns.answer
    cells_of_rows = [row.cells for row in table.rows if at < len(row.cells)]
    others = [
        cells for cells in cells_of_rows if cells[at] not in _LETTER_CELLS and cells[at].strip()
    ]
    named = sum(_names_otherwise(cells, columns) for cells in others)
    return 2 * named <= len(others)


def _names_otherwise(cells: Sequence[str], columns: HeaderColumns) -> bool:
    """Whether an answer names an option by its text or by its place."""
    answer = cells[columns.answer].strip()
    texts = [cells[at].strip() for _, at in columns.options if at < len(cells)]
    by_place = answer.isdecimal() and len(answer) < 3 and int(answer) <= len(texts)
    return by_place or answer in texts or truth_of(answer) is not None


class _RowParser:
    """The columns of a table, in the form in which a row is taken apart fastest."""

    def __init__(self, columns: HeaderColumns, header: Sequence[str] = ()) -> None:
        self._columns = columns
        self._header = header  # of the cells that a function reads the answer from
        self._question, self._answer = columns.question, columns.answer
        self._cells_of_options = itemgetter(*(at for _, at in columns.options))
        self._names = tuple(name for name, _ in columns.options)
        self._headers = (columns.question_name, columns.answer_name)

    def to_question(self, cells: Sequence[str], line: int, number: int) -> ParsedQuestion:
        columns = self._columns
        text = cells[self._question].strip()
        if columns.passage >= 0:
            text = with_passage(cells[columns.passage], text)
        metadata: dict[str, str] = {}
        if columns.others:
            metadata = {name: cell for name, at in columns.others if (cell := cells[at].strip())}
        if columns.explanation >= 0 and (explanation := cells[columns.explanation].strip()):
            metadata["explanation"] = explanation
        # A row without an id must not take that of a numbered one.
        own_number = str(number) if columns.id < 0 else f"row-{number}"
        return ParsedQuestion(
            line,
            (cells[columns.id].strip() if columns.id >= 0 else "") or own_number,
            text,
            tuple(map(str.strip, self._cells_of_options(cells))),
            cells[self._answer].strip() if self._answer >= 0 else "",
            cells[columns.subject].strip() if columns.subject >= 0 else "",
            self._names,
            self._headers,
            metadata=metadata,
            cells=self._cells(cells) if self._header else _NO_CELLS,
        )

    def _cells(self, cells: Sequence[str]) -> dict[str, str]:
        names = map(str.strip, self._header)
        return {name: cell for name, cell in zip(names, cells, strict=False) if name}


def _fit_to_width(row: RawRow, width: int, columns: HeaderColumns) -> tuple[str, ...]:
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


def _cell_count_fault(
    cells: Sequence[str], row: RawRow, table: RawTable, columns: HeaderColumns
) -> _RowShift:
    """What is wrong with a row that has more or fewer cells than the header."""
    width = len(table.header)
    actual = f"{len(row.cells)} cells"
    if 0 <= columns.answer < len(cells):
        actual += f", and “{cells[columns.answer].strip()[:20]}” under {columns.answer_name}"
    model = "header" if table.header_line else "first row"
    return _RowShift("", actual, f"{width} cells, as in the {model}; {_shift_cause(table)}")


def _shifted_answer_fault(
    cells: Sequence[str], table: RawTable, columns: HeaderColumns
) -> _RowShift | None:
    """What is wrong if the answer's letter stands in a later column.

    That is what an unquoted comma does to a row whose last column was left out: the count of
    cells is right by accident. Nothing is put back, since it would be a guess.
    """
    answer = cells[columns.answer].strip()
    if by_letter(answer, LETTERS) is not None or truth_of(answer) is not None:
        return None
    if answer_letters(answer, len(columns.options)):
        return None
    later = range(columns.answer + 1, len(table.header))
    at = next((at for at in later if by_letter(cells[at], LETTERS) is not None), None)
    if at is None:
        return None
    under = table.header[at] or "a column without a name"
    actual = f"“{answer[:20]}”, but “{cells[at].strip()}” under {under}"
    expected = f"the answer under {columns.answer_name}; {_shift_cause(table)}"
    return _RowShift(columns.answer_name, actual, expected)


def _shift_cause(table: RawTable) -> str:
    visible = "tab" if table.delimiter == "\t" else table.delimiter
    return f"a text that contains “{visible}” needs quotes around it"


DATASET_FORMATS.register("ceval")(DatasetFormat("multiple_choice", recognises, read))
