"""MMLU's table: a question, its options and the letter of the answer in each row, and no header."""

import re
from collections.abc import Sequence
from dataclasses import replace

from evalui.datasets.formats import ceval
from evalui.datasets.model import DATASET_FORMATS, DatasetFormat, Layout, ParsedRows, RawRow, Source
from evalui.datasets.questions.answers import by_letter
from evalui.datasets.tables.records import COLUMN_NAMES
from evalui.datasets.tables.table import is_json_lines, read_headerless
from evalui.types import LETTERS

_MIN_CELLS = 4  # cells: a question, two options, an answer
_ROWS_INSPECTED = 20  # rows
_NAME = re.compile(r"[\w.:/#-]+", re.ASCII)  # a number, or a name of a row or a subject
# Names of columns in other sets, which no first row of questions holds as a whole cell.
_HEADER_NAMES = {name.casefold() for name in COLUMN_NAMES if name not in LETTERS} | {
    *("query", "prompt", "input", "target", "label", "gold", "response", "output", "index"),
    *("题目", "问题", "答案", "选项", "解析"),
}


def recognises(source: Source, layout: Layout) -> bool:
    """Whether all of the first rows, the very first too, end in the letter of one of their options.

    A header ends in the name of a column. One whose last name is a letter has the other letters
    too, or a common name.
    """
    if not source.text or is_json_lines(source) or layout.answer_key != "letter":
        return False
    if (
        layout.head_row > 0
        or layout.commas_in_text
        or layout.options
        or layout.option_list
        or layout.question
        or layout.answer
    ):
        return False  # names stand in a header, and its commas are read as a table's
    rows = read_headerless(source, max_rows=_ROWS_INSPECTED).rows
    if not rows or _is_header(rows[0].cells):
        return False
    width = len(rows[0].cells)
    if not _MIN_CELLS <= width <= len(LETTERS) + 2:
        return False
    return all(_is_question(row, width) for row in rows) and _are_mmlu_columns(rows)


def read(source: Source, layout: Layout) -> ParsedRows:
    """The samples and faults of one file, read as C-Eval's columns under the names they lack."""
    table = read_headerless(source)
    header = ("question", *LETTERS[: len(table.rows[0].cells) - 2], "answer")
    named = replace(source, table=replace(table, header=header), own_subjects=True)
    return ceval.read(named, layout)


def _is_header(cells: Sequence[str]) -> bool:
    names = {cell.strip().casefold() for cell in cells}
    letters = set(LETTERS[: len(cells) - 2].casefold())
    return not names.isdisjoint(_HEADER_NAMES) or letters <= names


def _are_mmlu_columns(rows: Sequence[RawRow]) -> bool:
    """Whether the first column has questions, no index or subject, and the others options alone.

    A column of letters before the answers is one of replies.
    """
    questions, *options, _ = zip(*(row.cells for row in rows), strict=True)
    if len(rows) == 1:
        return True
    # A word may be a question; what names a row stands before something longer.
    shorter = len("".join(questions)) < len("".join(options[0]))
    named = shorter and all(map(_NAME.fullmatch, map(str.strip, questions)))
    named |= len(set(questions)) == 1
    others = LETTERS[: len(options) - 1]
    replies = any(all(by_letter(cell, others) is not None for cell in each) for each in options)
    return not (named or replies)


def _is_question(row: RawRow, width: int) -> bool:
    question, *options, answer = row.cells if len(row.cells) == width else ("", "")
    return bool(question.strip()) and by_letter(answer, options) is not None


DATASET_FORMATS.register("mmlu")(DatasetFormat("multiple_choice", recognises, read))
