"""A question with its list of options, as JSON Lines, a table or a sheet.

The options stand under `choices`, `options` or the like, in any shape of `option_lists`: those of
AI2's ARC and CommonsenseQA within the question too. The answer is the label, the letter, the
place or the text of an option; what is before the question to be read with it is put before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from evalui.datasets.base import DATASET_FORMATS, DatasetFormat, Layout, ParsedRows, Source
from evalui.datasets.questions.choice import (
    DetectedAnswerKey,
    ParsedQuestion,
    RawAnswer,
    detect_answer_key,
    validate,
)
from evalui.datasets.questions.option_lists import OptionList, read_options
from evalui.datasets.tables.records import Record, Records, fold_name, no_rows_fault, read_records
from evalui.datasets.tables.table import (
    JsonNumber,
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
_ANSWER_COLUMNS = (
    *("answerkey", "answer", "label", "target", "gold", "correct_option", "correct_answer"),
    *("answer_idx", "answer_index", "答案"),
)
_PASSAGE_COLUMNS = ("passage", "context", "article", "paragraph")
_RESERVED_COLUMNS = ("id", "subject", "file", "line", "ceval_subject")
_NO_ANSWER = "-1"  # what published test files have in place of an answer
_ROWS_INSPECTED = 20  # rows


@dataclass(frozen=True, slots=True)
class _ChoiceRow:
    """One row on its way to a question. `options` is None where there is no list of them."""

    record: Record
    question: str
    options: OptionList | None
    answer: Any

    @property
    def raw_answer(self) -> RawAnswer:
        texts = tuple(text for text in self.options.texts if text) if self.options else ()
        return RawAnswer(self.answer_text, texts, isinstance(self.answer, JsonNumber))

    @property
    def answer_text(self) -> str:
        """The answer as a text, "" where there is none."""
        text = cell_text(self.answer).strip()
        return "" if text == _NO_ANSWER else text

    @property
    def answers_with_label(self) -> bool:
        return bool(self.options) and self.answer_text in self.options.labels


def recognises(source: Source, layout: Layout) -> bool:
    """Whether one of the first rows has a question and a list of options."""
    if layout.options:
        return False
    if is_json_lines(source):
        records = (record for _, record in islice(json_objects(source), _ROWS_INSPECTED))
        folded = (
            {fold_name(name): value for name, value in record.items()}
            for record in records
            if isinstance(record, dict)
        )
        return any(_has_options(values, layout) for values in folded)
    known = _known_names(layout)
    names = {fold_name(name) for name in read_header(source, known)}
    if names.isdisjoint(_option_names(layout)) or names.isdisjoint(_question_names(layout)):
        return False
    if source.table and not source.table.rows:
        return True  # a sheet of which only the header was read
    rows = read_records(source, known).rows
    return any(_has_options(record.values, layout) for record in rows[:_ROWS_INSPECTED])


def read(source: Source, layout: Layout) -> ParsedRows:
    """The samples and faults of one file."""
    records = read_records(source, _known_names(layout))
    if not records.rows and not records.faults:
        return ParsedRows((), (no_rows_fault(source.name, records.header_line),))
    columns = _find_columns(records, layout)
    rows = [columns.read_row(record) for record in records.rows]
    free = layout.answer_key == "letter"  # the file decides
    by_label = free and any(row.answers_with_label for row in rows)
    answered = [row.raw_answer for row in rows if row.answer_text and row.options]
    key = DetectedAnswerKey(layout.answer_key)
    if free and answered and not by_label:
        key = detect_answer_key(answered, source.name, columns.original_name(columns.answer))
    questions: list[ParsedQuestion | Fault] = [
        columns.parse_question(row, source.name, by_label=by_label) for row in rows
    ]
    questions += records.faults
    # C-Eval is not published so, but the subjects of other sets may have the same names.
    part = validate(
        sorted(questions, key=lambda question: question.line),
        replace(source, own_subjects=True),
        Layout(answer_key=key.key),
    )
    return replace(
        part,
        n_rows=records.n_rows,
        answer_key=key.key,
        notes=key.notes,
        unlisted=part.unlisted + records.unlisted,
    )


@dataclass(frozen=True, slots=True)
class _ChoiceColumns:
    """The columns of a file, folded, of each kind the first that is there; `names` as written."""

    names: Mapping[str, str]
    question: str
    options: str
    answer: str
    id: str = "id"
    subject: str = "subject"

    def read_row(self, record: Record) -> _ChoiceRow:
        """A row with what stands in these columns, or within its question."""
        value = record.values.get(self.question)
        inner = _as_mapping(value)
        text = cell_text(inner.get("stem")) if inner else cell_text(value)
        passage = record.first_text(_PASSAGE_COLUMNS).strip()
        before = f"{passage}\n" if passage and passage not in text else ""
        return _ChoiceRow(
            record,
            before + text.strip() if text.strip() else "",
            read_options(inner.get("choices", record.values.get(self.options))),
            record.values.get(self.answer),
        )

    def parse_question(
        self, row: _ChoiceRow, file: str, *, by_label: bool
    ) -> ParsedQuestion | Fault:
        """The question of a row, or why it has none."""
        options, line = row.options or OptionList(()), row.record.line
        if len(options.texts) > len(LETTERS):
            actual, expected = f"{len(options.texts)} choices", f"at most {len(LETTERS)}"
            name = self.original_name(self.options)
            return Fault(file, line, name, "too-many-options", actual, expected)
        if len(set(options.labels) - {""}) < len(options.labels):
            actual = f"the labels “{', '.join(options.labels)}”"
            expected = "a label of its own for each choice"
            name = self.original_name(self.options)
            return Fault(file, line, name, "duplicate-option", actual, expected)
        texts = row.record.texts
        return ParsedQuestion(
            line=line,
            id=texts.get(self.id, "").strip() or f"row-{row.record.number}",
            text=row.question,
            options=options.labelled,
            answer=row.answer_text,
            subject=texts.get(self.subject, "").strip(),
            columns=(self.original_name(self.question), self.original_name(self.answer)),
            answers_with_label=by_label,
            metadata=self._other_columns(row.record),
        )

    def original_name(self, column: str) -> str:
        """A column as the file writes it."""
        return self.names.get(column, column)

    def _other_columns(self, record: Record) -> dict[str, str]:
        used = {self.question, self.options, self.answer, self.id, self.subject}
        used |= {*_PASSAGE_COLUMNS, *_RESERVED_COLUMNS}
        return {
            self.names[name]: text
            for name, value in record.values.items()
            if name in self.names and name not in used and isinstance(value, str)
            if (text := cell_text(value).strip())
        }


def _find_columns(records: Records, layout: Layout) -> _ChoiceColumns:
    def first(wanted: Sequence[str]) -> str:
        return next((name for name in wanted if name in records.names), wanted[0])

    return _ChoiceColumns(
        records.names,
        first(_question_names(layout)),
        first(_option_names(layout)),
        first((fold_name(layout.answer),) if layout.answer else _ANSWER_COLUMNS),
        fold_name(layout.id or "id"),
        fold_name(layout.subject or "subject"),
    )


def _known_names(layout: Layout) -> Sequence[str]:
    return (*_question_names(layout), *_option_names(layout), *_ANSWER_COLUMNS)


def _option_names(layout: Layout) -> Sequence[str]:
    return (fold_name(layout.option_list),) if layout.option_list else _OPTION_COLUMNS


def _question_names(layout: Layout) -> Sequence[str]:
    return (fold_name(layout.question),) if layout.question else _QUESTION_COLUMNS


def _has_options(values: Mapping[str, Any], layout: Layout) -> bool:
    for name in _question_names(layout):
        if name in values:
            inner = _as_mapping(values[name])
            places = [inner] if "choices" in inner else [values]
            names = _option_names(layout)
            lists = (read_options(place.get(key)) for place in places for key in names)
            return any(options is not None and len(options.texts) > 1 for options in lists)
    return False


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


DATASET_FORMATS.register("choices")(DatasetFormat("multiple_choice", recognises, read))
