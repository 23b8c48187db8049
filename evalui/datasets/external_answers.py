"""Answers that were collected elsewhere are matched with their questions.

JSON Lines, a table or a workbook with one answer per row: MT-bench's model_answer files and the
trials of an earlier run too. A row names its question by the dataset's index, by the sample's id
or as "row-7"; where the row repeats the question, its text has to agree with
that of the question named.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from evalui.datasets.containers import open_tables
from evalui.datasets.files import collect_files, is_json
from evalui.datasets.model import (
    FaultList,
    FileTable,
    Layout,
    Limits,
    as_list,
    as_object,
    cell_text,
    collapse_whitespace,
    fold_name,
    quoted,
    row_numbers,
    sort_by_line,
)
from evalui.datasets.open_samples import normalise_index
from evalui.datasets.picture_files import pass_over_pictures
from evalui.datasets.picture_places import without_places
from evalui.errors import DataError
from evalui.pictures import without
from evalui.types import Fault, Sample

KEY_COLUMNS = ("index", "id", "question_id")
# What is certainly a model's comes first: some files keep the reference under "answer".
ANSWER_COLUMNS = ("prediction", "reply", "output", "response", "answer", "choices")
_QUESTION_COLUMNS = ("question", "query")
# What was asked, where a row has neither a question nor a key: AlpacaEval's and vLLM's outputs.
_PROMPT_COLUMNS = ("instruction", "prompt")
_MODEL_COLUMNS = ("model", "model_id", "generator")
_TRIAL_COLUMNS = {"id", "model", "mode", "reply"}  # the columns of an earlier run's trials
_VERDICT_MODE = "judge"
_DEFAULT_LIMITS = Limits()
_UNKNOWN_INDEX_RULE = "unknown-index"


@dataclass(frozen=True, slots=True)
class ExternalAnswers:
    """The answers by sample id, one for each turn; an empty text is an empty answer.

    `unknown` are the indices of answers that belong to no sample, `missing` counts the samples
    without an answer. `faults` has by line what could not be used, the first unknown indices
    too; `unlisted` are more that could not be used, and only counted.
    """

    answers: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...] = ()
    missing: int = 0
    faults: tuple[Fault, ...] = ()
    unlisted: int = 0

    @property
    def unusable(self) -> tuple[Fault, ...]:
        """The faults without the unknown indices: a file may answer more than the dataset."""
        return tuple(fault for fault in self.faults if fault.rule != _UNKNOWN_INDEX_RULE)


class Record(NamedTuple):
    """One row by the folded names of its columns. `number` counts the rows from 1.

    `texts` are the `values` as cells of a table.
    """

    line: int
    number: int
    values: Mapping[str, Any]
    texts: Mapping[str, str]

    def first_text(self, names: Sequence[str]) -> str:
        """The text of the first of the columns that has any."""
        return next((text for name in names if (text := self.texts.get(name, "")).strip()), "")


def read_answers(
    path: Path, samples: Sequence[Sample], *, model: str = "", limits: Limits = _DEFAULT_LIMITS
) -> ExternalAnswers:
    """The answers in a file to these samples, those of `model` where the file has several.

    Raises:
        DataError: the file cannot be read, has no answers in it, or has two different ones to
            the same question.
    """
    pass_over_pictures()
    table = _read_table(path, limits)
    _check_columns(table)
    of_run = {fold_name(head) for head in table.heads} >= _TRIAL_COLUMNS
    rows = [row for row in _records_of(table) if not of_run or _answers_a_question(row)]
    matching = _AnswerMatcher(table.name, _SampleIndex.build(samples), from_run=of_run)
    for row in _rows_of_model(rows, table.name, model=model):
        matching.add_row(row)
    wrong = FaultList(
        sort_by_line(table.faults, matching.faults.kept),
        unlisted=table.unlisted + matching.faults.unlisted,
    )
    return ExternalAnswers(
        answers=matching.answers,
        unknown=tuple(matching.unknown),
        missing=sum(sample.id not in matching.answers for sample in samples),
        faults=tuple(sort_by_line(wrong.kept, matching.unmatched_faults.kept)),
        unlisted=wrong.unlisted.total(),
    )


def _read_table(path: Path, limits: Limits) -> FileTable:
    given = collect_files([path], limits).files
    members = [member for member in given if len(given) == 1 or not is_json(member)]
    if len(members) != 1:
        raise DataError(
            "answers-one-file",
            n=len(members),
            files=", ".join(member.name for member in members[:3]) or path.name,
        )
    tables = open_tables(members[0], Layout(), limits).tables
    if not tables:
        raise DataError("empty-file", file=members[0].name)
    fitting = (table for table in tables if _has_answers(table))
    return next(fitting, tables[0])


def _has_answers(table: FileTable) -> bool:
    return not {fold_name(head) for head in table.heads}.isdisjoint(ANSWER_COLUMNS)


def _check_columns(table: FileTable) -> None:
    if not table.rows:
        return
    if not _has_answers(table):
        known = ", ".join(ANSWER_COLUMNS[:-1])
        raise DataError("answers-no-column", file=table.name, known=known)
    names = {fold_name(head) for head in table.heads}
    if names.isdisjoint((*KEY_COLUMNS, *_QUESTION_COLUMNS, *_PROMPT_COLUMNS)):
        known = ", ".join((*KEY_COLUMNS, *_QUESTION_COLUMNS))
        raise DataError("answers-no-index", file=table.name, known=known)


def _records_of(table: FileTable) -> Iterable[Record]:
    names = tuple(map(fold_name, table.heads))
    for number, row in zip(row_numbers(table), table.rows, strict=True):
        pairs = zip(names, row.cells, strict=False)
        values = {name: cell for name, cell in pairs if name}
        texts = {name: cell_text(cell) for name, cell in values.items()}
        yield Record(row.line, number, values, texts)


def _rows_of_model(rows: Sequence[Record], file: str, *, model: str) -> Sequence[Record]:
    """The rows of one model.

    Where the file has no more than one, `model` is a name that the user gave to it.
    """
    named = {row.number: row.first_text(_MODEL_COLUMNS).strip() for row in rows}
    known = list(dict.fromkeys(name for name in named.values() if name))
    if len(known) <= 1:
        return rows
    if not model:
        raise DataError("answers-several-models", file=file, known=", ".join(known))
    if model not in known:
        raise DataError("answers-no-model", file=file, model=model, known=", ".join(known))
    return [row for row in rows if named[row.number] == model]


@dataclass(frozen=True, slots=True)
class _SampleIndex:
    """The samples by everything that an answer may call them."""

    by_key: Mapping[str, Sequence[Sample]]
    by_question: Mapping[str, Sequence[Sample]]

    @classmethod
    def build(cls, samples: Iterable[Sample]) -> "_SampleIndex":
        by_key: defaultdict[str, list[Sample]] = defaultdict(list)
        by_question: defaultdict[str, list[Sample]] = defaultdict(list)
        for sample in samples:
            for key in _sample_keys(sample):
                by_key[key].append(sample)
            by_question[_asked(sample.question)].append(sample)
        return cls(by_key, by_question)


@dataclass(slots=True)
class _AnswerMatcher:
    """Matches rows with samples, one after the other."""

    file: str
    sample_index: _SampleIndex
    from_run: bool
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    # Per question that occurs several times, the first index that may have no answer yet.
    next_unanswered: dict[str, int] = field(default_factory=dict[str, int])
    unknown: list[str] = field(default_factory=list[str])
    faults: FaultList = field(default_factory=FaultList)
    unmatched_faults: FaultList = field(default_factory=FaultList)

    def add_row(self, row: Record) -> None:
        key, question = (
            normalise_index(row.first_text(KEY_COLUMNS)),
            _asked(row.first_text(_QUESTION_COLUMNS)),
        )
        if not key:
            question = question or _asked(row.first_text(_PROMPT_COLUMNS))
        if not key and not question:
            self._add_fault(row, "no-index", "neither an index nor a question", "one of them")
            return
        answer = _turns_of_run(row) if self.from_run else _turns_of_row(row)
        if answer is None:
            self._add_fault(
                row, "no-answer", "no answer", f"one under {', '.join(ANSWER_COLUMNS[:-1])}"
            )
            return
        sample = self._find_sample(row, key, question)
        if sample is None:
            shown = key or quoted(question)
            self.unknown.append(key or question)
            expected = "an index or a question of the dataset"
            self.unmatched_faults.add(
                Fault(self.file, row.line, "", _UNKNOWN_INDEX_RULE, shown, expected)
            )
            return
        self._store_answer(sample, answer, row)

    def _find_sample(self, row: Record, key: str, question: str) -> Sample | None:
        named = self.sample_index.by_key.get(key, ())
        if question:
            # A dataset may have been cut or put into another order since: the text decides.
            agreeing = [sample for sample in named if _asked(sample.question) == question]
            return next(iter(agreeing), None) or self._sample_by_question(question)
        if len(named) > 1:
            raise DataError(
                "answers-ambiguous",
                file=self.file,
                line=row.line,
                n=len(named),
                key=key,
                sample=named[0].id,
            )
        return named[0] if named else None

    def _sample_by_question(self, question: str) -> Sample | None:
        """The sample with this text; a text that occurs twice gets its answers in order."""
        samples = self.sample_index.by_question.get(question, ())
        at = self.next_unanswered.get(question, 0)
        while at < len(samples) - 1 and samples[at].id in self.answers:
            at += 1
        self.next_unanswered[question] = at
        return samples[at] if samples else None

    def _store_answer(self, sample: Sample, answer: tuple[str, ...], row: Record) -> None:
        if self.answers.setdefault(sample.id, answer) != answer:
            raise DataError(
                "answers-twice",
                file=self.file,
                line=row.line,
                sample=sample.id,
                earlier=self.lines[sample.id],
            )
        self.lines.setdefault(sample.id, row.line)

    def _add_fault(self, row: Record, rule: str, actual: str, expected: str) -> None:
        self.faults.add(Fault(self.file, row.line, "", rule, actual, expected))


def _sample_keys(sample: Sample) -> Sequence[str]:
    tail = sample.id.partition("/")[2]
    index = sample.metadata.get("index", "")
    number = tail.removeprefix("row-")  # a row without an index of its own is counted
    return [key for key in dict.fromkeys((index, sample.id, tail, number)) if key]


def _answers_a_question(trial: Record) -> bool:
    """Whether it is no choice, which has the options as shown, and no verdict of older files."""
    return not trial.values.get("options") and trial.texts.get("mode") != _VERDICT_MODE


def _turns_of_run(row: Record) -> tuple[str, ...] | None:
    turns = row.values.get("turns")
    return _texts(turns) if turns else _texts(row.values.get("reply"))


def _turns_of_row(row: Record) -> tuple[str, ...] | None:
    present = [name for name in ANSWER_COLUMNS if name in row.values]
    column = next(
        (name for name in present if row.values[name] is not None), present[0] if present else ""
    )
    value = row.values.get(column)
    return _first_choice(value) if column == "choices" else _texts(value) if column else None


def _texts(value: Any) -> tuple[str, ...] | None:
    items = cast(list[Any], value) if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items):
        return None
    return tuple(map(cell_text, items)) or ("",)


def _first_choice(value: Any) -> tuple[str, ...] | None:
    """MT-bench keeps several tries of a model, and judges the first."""
    first = as_object(next(iter(as_list(value)), None))
    return _texts(first["turns"]) if "turns" in first else None


def _asked(question: str) -> str:
    """A question as it is compared: in files of answers its pictures are not marked."""
    return collapse_whitespace(without_places(without(question)))
