"""A question with its list of options, as JSON Lines, a table or a sheet.

The options stand under `choices`, `options` or the like, in any shape of `option_lists`: those of
AI2's ARC and CommonsenseQA within the question too, or at the end of its text. The answer is the
label, the letter, the place or the text of an option; what is before the question to be read with
it is put before it. A question without options whose answer is true or false has those two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from evalui.datasets.answers import answer_function
from evalui.datasets.model import (
    DATASET_FORMATS,
    DatasetFormat,
    JsonNumber,
    Layout,
    ParsedRows,
    Source,
    collapse_whitespace,
    shorten,
)
from evalui.datasets.options import (
    OptionList,
    find_separator,
    read_options,
    split_cell,
    split_question,
)
from evalui.datasets.questions.choice import ParsedQuestion, validate
from evalui.datasets.questions.passages import passage_text, with_passage
from evalui.datasets.questions.reshaping import join_option_rows, split_passages
from evalui.datasets.tables.records import Record, Records, fold_name, no_rows_fault, read_records
from evalui.datasets.tables.table import (
    cell_text,
    is_json_lines,
    json_objects,
    read_header,
)
from evalui.types import LETTERS, Fault

_QUESTION_COLUMNS = (
    "question",
    "query",
    "prompt",
    "input",
    "ctx",
    "stem",
    "problem",
    "题目",
    "问题",
)
_OPTION_COLUMNS = ("choices", "options", "candidates", "endings", "选项")
ANSWER_COLUMNS = (
    *("answerkey", "answer", "label", "target", "gold", "correct_option", "correct_answer"),
    *("answer_idx", "answer_index", "答案"),
)
PASSAGE_COLUMNS = ("passage", "context", "article", "paragraph")
_RESERVED_COLUMNS = ("id", "subject", "file", "line", "ceval_subject")
_NO_ANSWER = "-1"  # what published test files have in place of an answer
_LIST_SHAPES = "a list of options: JSON, one to a line, or A. … B. …"
_ROWS_INSPECTED = 20  # rows
_MIN_MARKED_ROWS = 2  # rows whose first option is marked as right, for the order to tell it


def recognises(source: Source, layout: Layout) -> bool:
    """Whether one of the first rows has a question and a list of options, or the layout names one.

    A layout that names a question of multiple choice without columns of options is of this format:
    they stand in the question, or the answer is true or false.
    """
    if layout.options:
        return False
    if layout.row_option or (layout.kind == "multiple_choice" and layout.question):
        return True
    if layout.option_list:
        return fold_name(layout.option_list) in _folded_names(source, layout)
    if is_json_lines(source):
        records = (record for _, record in islice(json_objects(source), _ROWS_INSPECTED))
        folded = ({fold_name(name): value for name, value in record.items()} for record in records)
        return any(_has_options(values, layout) for values in folded)
    names = _folded_names(source, layout)
    if names.isdisjoint(_OPTION_COLUMNS) or names.isdisjoint(_question_names(layout)):
        return False
    if source.table and not source.table.rows:
        return True  # a sheet of which only the header was read
    rows = read_records(source, _known_names(layout)).rows
    return any(_has_options(record.values, layout) for record in rows[:_ROWS_INSPECTED])


def read(source: Source, layout: Layout) -> ParsedRows:
    """The samples and faults of one file."""
    records = split_passages(read_records(source, _known_names(layout)))
    if not records.rows and not records.faults:
        return ParsedRows((), (no_rows_fault(source.name, records.header_line),))
    if layout.row_option:
        records = join_option_rows(records, layout)
        layout = replace(layout, option_list=layout.row_option, row_option="")
    columns = _find_columns(records, layout)
    rows = columns.read_rows(records)
    by_label = layout.answer_key == "letter" and any(row.answers_with_label for row in rows)
    questions: list[ParsedQuestion | Fault] = [
        columns.parse_question(row, source.name, by_label=by_label) for row in rows
    ]
    if answer_function(layout.answer_key):
        questions = [
            each if isinstance(each, Fault) else each._replace(cells=columns.cells(row.record))
            for each, row in zip(questions, rows, strict=True)
        ]
    questions += records.faults
    # C-Eval is not published so, but the subjects of other sets may have the same names.
    part = validate(
        sorted(questions, key=lambda question: question.line),
        replace(source, own_subjects=True),
        layout,
        shuffled=_first_is_right(rows),
    )
    return replace(part, n_rows=records.n_rows, unlisted=part.unlisted + records.unlisted)


def answer_column(names: Mapping[str, str], rows: Sequence[Record]) -> str:
    """The folded name of the first column of answers that has any, else of the first there is."""
    present = [name for name in ANSWER_COLUMNS if name in names]
    filled = (name for name in present if any(_text_of(row, name) for row in rows))
    return next(filled, next(iter(present), ANSWER_COLUMNS[0]))


@dataclass(frozen=True, slots=True)
class _ChoiceRow:
    """One row on its way to a question. `options` is None where there is no list of them."""

    record: Record
    question: str
    options: OptionList | None
    answer: Any
    unread: str = ""  # what stands in place of the options and is no list

    @property
    def answer_text(self) -> str:
        """The answer as a text, "" where there is none."""
        text = cell_text(self.answer).strip()
        return "" if text == _NO_ANSWER else text

    @property
    def answers_with_label(self) -> bool:
        return bool(self.options) and self.answer_text in self.options.labels


@dataclass(frozen=True, slots=True)
class _ChoiceColumns:
    """The columns of a file, folded; `names` as the file writes them."""

    names: Mapping[str, str]
    question: str
    options: str
    answer: str
    passages: tuple[str, ...]
    explanation: str
    id: str
    subject: str
    cluster: str

    def read_rows(self, records: Records) -> list[_ChoiceRow]:
        """The rows with what stands in these columns, or within their questions.

        What separates the options of a cell is what separates them in all.
        """
        rows = [self._read_row(record) for record in records.rows]
        unread = [row.unread for row in rows if row.unread]
        separator = find_separator(unread) if 2 * len(unread) > len(rows) else ""
        if not separator:
            return rows
        return [
            replace(row, options=split_cell(row.unread, separator), unread="")
            if row.unread
            else row
            for row in rows
        ]

    def _read_row(self, record: Record) -> _ChoiceRow:
        value = record.values.get(self.question)
        inner = _as_mapping(value)
        text = (cell_text(inner.get("stem")) if inner else cell_text(value)).strip()
        listed = inner.get("choices", record.values.get(self.options))
        options = read_options(listed)
        unread = "" if options else cell_text(listed).strip()
        if not options and not unread and (split := split_question(text)):
            text, options = split.text, split.options
        passages = [passage_text(record.values.get(name)) for name in self.passages]
        passage = next((each for each in passages if each), "")
        return _ChoiceRow(
            record, with_passage(passage, text), options, record.values.get(self.answer), unread
        )

    def parse_question(
        self, row: _ChoiceRow, file: str, *, by_label: bool
    ) -> ParsedQuestion | Fault:
        """The question of a row, or why it has none."""
        options, line = row.options or OptionList(()), row.record.line
        name = self.original_name(self.options)
        if row.unread:
            actual = f"“{shorten(collapse_whitespace(row.unread))}”"
            return Fault(file, line, name, "no-option-list", actual, _LIST_SHAPES)
        if len(options.texts) > len(LETTERS):
            actual, expected = f"{len(options.texts)} choices", f"at most {len(LETTERS)}"
            return Fault(file, line, name, "too-many-options", actual, expected)
        if len(set(options.labels) - {""}) < len(options.labels):
            actual = f"the labels “{', '.join(options.labels)}”"
            expected = "a label of its own for each choice"
            return Fault(file, line, name, "duplicate-option", actual, expected)
        texts = row.record.texts
        return ParsedQuestion(
            line=line,
            id=texts.get(self.id, "").strip() or f"row-{row.record.number}",
            text=row.question,
            options=options.texts,
            answer=row.answer_text,
            subject=texts.get(self.subject, "").strip(),
            names=options.names,
            columns=(self.original_name(self.question), self.original_name(self.answer)),
            answers_with_label=by_label and bool(options.labels),
            right=None if row.answer_text else options.right,
            is_number=isinstance(row.answer, JsonNumber),
            metadata=self._other_columns(row.record),
        )

    def cells(self, record: Record) -> dict[str, Any]:
        """All values of a row by the names that the file gives its columns."""
        return {
            self.names[name]: value for name, value in record.values.items() if name in self.names
        }

    def original_name(self, column: str) -> str:
        """A column as the file writes it."""
        return self.names.get(column, column)

    def _other_columns(self, record: Record) -> dict[str, str]:
        used = {self.question, self.options, self.answer, self.id, self.subject, self.explanation}
        used |= {*self.passages, *_RESERVED_COLUMNS}
        metadata = {
            self.names[name]: text
            for name, value in record.values.items()
            if name in self.names and name not in used and isinstance(value, str)
            if (text := cell_text(value).strip())
        }
        if explanation := record.texts.get(self.explanation, "").strip():
            metadata["explanation"] = explanation
        if cluster := record.texts.get(self.cluster, "").strip():
            metadata[self.names[self.cluster]] = cluster
        return metadata


def _find_columns(records: Records, layout: Layout) -> _ChoiceColumns:
    def first(wanted: Sequence[str]) -> str:
        return next((name for name in wanted if name in records.names), wanted[0])

    return _ChoiceColumns(
        records.names,
        first(_question_names(layout)),
        first(_option_names(layout)),
        fold_name(layout.answer) or answer_column(records.names, records.rows),
        (fold_name(layout.passage),) if layout.passage else PASSAGE_COLUMNS,
        fold_name(layout.explanation or "explanation"),
        fold_name(layout.id or "id"),
        fold_name(layout.subject or "subject"),
        fold_name(layout.cluster),
    )


def _first_is_right(rows: Sequence[_ChoiceRow]) -> bool:
    """Whether the lists mark the first of their options in all rows, which is no order at all."""
    marked = [row.options.right for row in rows if row.options and not row.answer_text]
    return len(marked) >= _MIN_MARKED_ROWS and all(right == (0,) for right in marked)


def _known_names(layout: Layout) -> Sequence[str]:
    return (*_question_names(layout), *_option_names(layout), *ANSWER_COLUMNS)


def _option_names(layout: Layout) -> Sequence[str]:
    return (fold_name(layout.option_list),) if layout.option_list else _OPTION_COLUMNS


def _question_names(layout: Layout) -> Sequence[str]:
    return (fold_name(layout.question),) if layout.question else _QUESTION_COLUMNS


def _folded_names(source: Source, layout: Layout) -> set[str]:
    return {fold_name(name) for name in read_header(source, _known_names(layout))}


def _has_options(values: Mapping[str, Any], layout: Layout) -> bool:
    for name in _question_names(layout):
        if name in values:
            inner = _as_mapping(values[name])
            places = [inner] if "choices" in inner else [values]
            names = _option_names(layout)
            lists = (read_options(place.get(key)) for place in places for key in names)
            return any(options is not None and len(options.texts) > 1 for options in lists)
    return False


def _text_of(record: Record, name: str) -> str:
    text = record.texts.get(name, "").strip()
    return "" if text == _NO_ANSWER else text


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


DATASET_FORMATS.register("choices")(DatasetFormat("multiple_choice", recognises, read))
