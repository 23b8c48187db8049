"""A question with its list of options, as JSON Lines, a table or a sheet.

The options stand under `choices`, `options` or the like, in any shape of `option_lists`: those of
AI2's ARC and CommonsenseQA within the question too. The answer is the label, the letter, the
place or the text of an option; what is before the question to be read with it is put before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from evalui.datasets.base import READERS, Layout, Part, Reader, Source
from evalui.datasets.questions.answer_keys import Answered, Found, find_key
from evalui.datasets.questions.choice import Question, judge
from evalui.datasets.questions.option_lists import Options, read_options
from evalui.datasets.tables.records import Record, Records, fold, read_records
from evalui.datasets.tables.table import Number, cell_text, header, is_json_lines, json_objects
from evalui.types import LETTERS, Fault

_QUESTIONS = ("question", "query", "prompt", "input", "ctx", "stem", "problem", "题目", "问题")
_OPTIONS = ("choices", "options", "candidates", "endings", "选项")
_ANSWERS = (
    *("answerkey", "answer", "label", "target", "gold", "correct_option", "correct_answer"),
    *("answer_idx", "answer_index", "答案"),
)
_PASSAGES = ("passage", "context", "article", "paragraph")
_RESERVED = ("id", "subject", "file", "line", "ceval_subject")
_NONE = "-1"  # what published test files have in place of an answer
_LOOKED_AT = 20  # rows


@dataclass(frozen=True, slots=True)
class _Row:
    """One row on its way to a question. `options` is None where there is no list of them."""

    record: Record
    question: str
    options: Options | None
    answer: Any

    @property
    def answered(self) -> Answered:
        texts = tuple(text for text in self.options.texts if text) if self.options else ()
        return Answered(self.cell, texts, isinstance(self.answer, Number))

    @property
    def cell(self) -> str:
        """The answer as a text, "" where there is none."""
        found = cell_text(self.answer).strip()
        return "" if found == _NONE else found

    @property
    def names_a_label(self) -> bool:
        return bool(self.options) and self.cell in self.options.labels


def recognises(source: Source, layout: Layout) -> bool:
    """Whether one of the first rows has a question and a list of options."""
    if layout.options:
        return False
    if is_json_lines(source):
        records = (record for _, record in islice(json_objects(source), _LOOKED_AT))
        folded = (
            {fold(name): value for name, value in record.items()}
            for record in records
            if isinstance(record, dict)
        )
        return any(_has_options(values, layout) for values in folded)
    names = {fold(name) for name in header(source, (*_QUESTIONS, *_OPTIONS, *_ANSWERS))}
    if names.isdisjoint(_OPTIONS) or names.isdisjoint(_question_names(layout)):
        return False
    if source.table and not source.table.rows:
        return True  # a sheet of which only the header was read
    rows = read_records(source, (*_QUESTIONS, *_OPTIONS, *_ANSWERS)).rows
    return any(_has_options(record.values, layout) for record in rows[:_LOOKED_AT])


def read(source: Source, layout: Layout) -> Part:
    """The samples and faults of one file."""
    records = read_records(source, (*_QUESTIONS, *_OPTIONS, *_ANSWERS))
    if not records.rows and not records.faults:
        found, expected = "a header and nothing below it", "a question per row"
        return Part((), (Fault(source.name, records.header_line, "", "no-rows", found, expected),))
    columns = _columns(records, layout)
    rows = [columns.row(record) for record in records.rows]
    free = layout.answer_key == "letter"  # the file decides
    by_label = free and any(row.names_a_label for row in rows)
    answered = [row.answered for row in rows if row.cell and row.options]
    key = Found(layout.answer_key)
    if free and answered and not by_label:
        key = find_key(answered, source.name, columns.named(columns.answer))
    questions: list[Question | Fault] = [
        columns.question_of(row, source.name, by_label=by_label) for row in rows
    ]
    questions += records.faults
    # C-Eval is not published so, but the subjects of other sets may have the same names.
    part = judge(
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
class _Columns:
    """The columns of a file, folded, of each kind the first that is there; `names` as written."""

    names: Mapping[str, str]
    question: str
    options: str
    answer: str

    def row(self, record: Record) -> _Row:
        """A row with what stands in these columns, or within its question."""
        value = record.values.get(self.question)
        inner = _mapping(value)
        text = cell_text(inner.get("stem")) if inner else cell_text(value)
        passage = record.first(_PASSAGES).strip()
        before = f"{passage}\n" if passage and passage not in text else ""
        return _Row(
            record,
            before + text.strip() if text.strip() else "",
            read_options(inner.get("choices", record.values.get(self.options))),
            record.values.get(self.answer),
        )

    def question_of(self, row: _Row, file: str, *, by_label: bool) -> Question | Fault:
        """The question of a row, or why it has none."""
        options, line = row.options or Options(()), row.record.line
        if len(options.texts) > len(LETTERS):
            found, expected = f"{len(options.texts)} choices", f"at most {len(LETTERS)}"
            name = self.named(self.options)
            return Fault(file, line, name, "too-many-options", found, expected)
        if len(set(options.labels) - {""}) < len(options.labels):
            found = f"the labels “{', '.join(options.labels)}”"
            expected = "a label of its own for each choice"
            name = self.named(self.options)
            return Fault(file, line, name, "duplicate-option", found, expected)
        texts = row.record.texts
        return Question(
            line=line,
            id=texts.get("id", "").strip() or f"row-{row.record.number}",
            text=row.question,
            options=options.named,
            answer=row.cell,
            subject=texts.get("subject", "").strip(),
            columns=(self.named(self.question), self.named(self.answer)),
            answers_with_label=by_label,
            metadata=self._others(row.record),
        )

    def named(self, column: str) -> str:
        """A column as the file writes it."""
        return self.names.get(column, column)

    def _others(self, record: Record) -> dict[str, str]:
        used = {self.question, *_PASSAGES, self.options, self.answer, *_RESERVED}
        return {
            self.names[name]: text
            for name, value in record.values.items()
            if name in self.names and name not in used and isinstance(value, str)
            if (text := cell_text(value).strip())
        }


def _columns(records: Records, layout: Layout) -> _Columns:
    def first(wanted: Sequence[str]) -> str:
        return next((name for name in wanted if name in records.names), wanted[0])

    return _Columns(
        records.names,
        first(_question_names(layout)),
        first(_OPTIONS),
        first((fold(layout.answer),) if layout.answer else _ANSWERS),
    )


def _question_names(layout: Layout) -> Sequence[str]:
    return (fold(layout.question),) if layout.question else _QUESTIONS


def _has_options(values: Mapping[str, Any], layout: Layout) -> bool:
    for name in _question_names(layout):
        if name in values:
            inner = _mapping(values[name])
            places = [inner] if "choices" in inner else [values]
            found = (read_options(place.get(key)) for place in places for key in _OPTIONS)
            return any(options is not None and len(options.texts) > 1 for options in found)
    return False


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


READERS.register("choices")(Reader("multiple_choice", recognises, read))
