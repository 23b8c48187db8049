"""Answers that others have collected find their questions.

JSON Lines, a table or a workbook with one answer per row: MT-bench's model_answer files and the
trials of an earlier run too. A row names its question by the dataset's index, by the sample's id
or as "row-7"; where the row repeats the question, its text has to agree with what the name says.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from evalui.datasets.base import Layout, Limits, Source
from evalui.datasets.faults import FaultList, by_line
from evalui.datasets.files.archive import gather, is_json
from evalui.datasets.files.path_roles import role_of
from evalui.datasets.files.reading import open_member
from evalui.datasets.questions.open import index_text
from evalui.datasets.tables.records import Record, Records, read_records
from evalui.datasets.tables.table import cell_text
from evalui.errors import DataError
from evalui.types import Fault, Sample

KEYS = ("index", "id", "question_id")
# What is certainly a model's comes first: some files keep the reference under "answer".
ANSWERS = ("prediction", "reply", "output", "response", "answer", "choices")
_QUESTIONS = ("question", "query")
_MODELS = ("model", "model_id")
_TRIAL = {"id", "model", "mode", "reply"}  # the columns of an earlier run's trials
_MODE = "question_answer"  # the only mode whose trials are answers
_LIMITS = Limits()
_UNKNOWN = "unknown-index"
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers by sample id, one for each turn; an empty text is an empty answer.

    `unknown` are the indices of answers that belong to no sample, `missing` counts the samples
    without an answer. `faults` tells by line what could not be used, the first unknown indices
    too; `unlisted` are more that could not be used, and only counted.
    """

    answers: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...] = ()
    missing: int = 0
    faults: tuple[Fault, ...] = ()
    unlisted: int = 0

    @property
    def unusable(self) -> tuple[Fault, ...]:
        """The faults without the unknown indices: a file may answer more than is asked here."""
        return tuple(fault for fault in self.faults if fault.rule != _UNKNOWN)


def read_answers(
    path: Path, samples: Sequence[Sample], *, model: str = "", limits: Limits = _LIMITS
) -> Answers:
    """The answers in a file to these samples, those of `model` where the file has several.

    Raises:
        DataError: the file cannot be read, has no answers in it, or has two different ones to
            the same question.
    """
    source = _source(path, limits)
    records = read_records(source, (*KEYS, *ANSWERS, *_QUESTIONS, *_MODELS))
    _check_columns(records, source.name)
    of_run = records.names.keys() >= _TRIAL
    rows = [row for row in records.rows if not of_run or _answers_a_question(row)]
    matching = _Matching(source.name, _Places.of(samples), of_run=of_run)
    for row in _of_model(rows, source.name, model=model):
        matching.take(row)
    wrong = FaultList(by_line(records.faults, matching.faults.kept))
    wrong.add(unlisted=records.unlisted + matching.faults.unlisted)
    return Answers(
        answers=matching.answers,
        unknown=tuple(matching.unknown),
        missing=sum(sample.id not in matching.answers for sample in samples),
        faults=tuple(by_line(wrong.kept, matching.strays.kept)),
        unlisted=wrong.unlisted,
    )


def _source(path: Path, limits: Limits) -> Source:
    members = [member for member in gather([path], limits).members if not is_json(member)]
    if len(members) != 1:
        raise DataError(
            "answers-one-file",
            n=len(members),
            files=", ".join(member.name for member in members[:3]) or path.name,
        )
    return open_member(members[0], role_of(members[0].path), Layout(), limits).source


def _check_columns(records: Records, file: str) -> None:
    if not records.rows:
        return
    if records.names.keys().isdisjoint(ANSWERS):
        raise DataError(
            "answers-no-column",
            file=file,
            known=", ".join(ANSWERS[:-1]),
        )
    if records.names.keys().isdisjoint((*KEYS, *_QUESTIONS)):
        raise DataError(
            "answers-no-index",
            file=file,
            known=", ".join((*KEYS, *_QUESTIONS)),
        )


def _of_model(rows: Sequence[Record], file: str, *, model: str) -> Sequence[Record]:
    """The rows of one model.

    Where the file has no more than one, `model` is a name that somebody gave to it.
    """
    named = {row.number: row.first(_MODELS).strip() for row in rows}
    known = list(dict.fromkeys(name for name in named.values() if name))
    if len(known) <= 1:
        return rows
    if not model:
        raise DataError(
            "answers-several-models",
            file=file,
            known=", ".join(known),
        )
    if model not in known:
        raise DataError(
            "answers-no-model",
            file=file,
            model=model,
            known=", ".join(known),
        )
    return [row for row in rows if named[row.number] == model]


@dataclass(frozen=True, slots=True)
class _Places:
    """The samples by everything that an answer may call them."""

    by_key: Mapping[str, Sequence[Sample]]
    by_question: Mapping[str, Sequence[Sample]]

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> "_Places":
        by_key: defaultdict[str, list[Sample]] = defaultdict(list)
        by_question: defaultdict[str, list[Sample]] = defaultdict(list)
        for sample in samples:
            for key in _keys(sample):
                by_key[key].append(sample)
            by_question[_flat(sample.question)].append(sample)
        return cls(by_key, by_question)


@dataclass(slots=True)
class _Matching:
    """Rows that find their samples, one after the other."""

    file: str
    places: _Places
    of_run: bool
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    # Per question that is asked several times, the first place that may have no answer yet.
    next_free: dict[str, int] = field(default_factory=dict[str, int])
    unknown: list[str] = field(default_factory=list[str])
    faults: FaultList = field(default_factory=FaultList)
    strays: FaultList = field(default_factory=FaultList)

    def take(self, row: Record) -> None:
        key, question = index_text(row.first(KEYS)), _flat(row.first(_QUESTIONS))
        if not key and not question:
            self._fault(row, "no-index", "neither an index nor a question", "one of them")
            return
        answer = _turns_of_run(row) if self.of_run else _turns(row)
        if answer is None:
            self._fault(row, "no-answer", "no answer", f"one under {', '.join(ANSWERS[:-1])}")
            return
        sample = self._sample(row, key, question)
        if sample is None:
            shown = key or f"“{_short(question)}”"
            self.unknown.append(key or question)
            expected = "an index or a question of the dataset"
            self.strays.add(Fault(self.file, row.line, "", _UNKNOWN, shown, expected))
            return
        self._keep(sample, answer, row)

    def _sample(self, row: Record, key: str, question: str) -> Sample | None:
        named = self.places.by_key.get(key, ())
        if question:
            # A dataset may have been cut or put into another order since: the text decides.
            agreeing = [sample for sample in named if _flat(sample.question) == question]
            return next(iter(agreeing), None) or self._asked(question)
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

    def _asked(self, question: str) -> Sample | None:
        """The sample with this text; a text that is asked twice gets its answers in order."""
        asked = self.places.by_question.get(question, ())
        at = self.next_free.get(question, 0)
        while at < len(asked) - 1 and asked[at].id in self.answers:
            at += 1
        self.next_free[question] = at
        return asked[at] if asked else None

    def _keep(self, sample: Sample, answer: tuple[str, ...], row: Record) -> None:
        if self.answers.setdefault(sample.id, answer) != answer:
            raise DataError(
                "answers-twice",
                file=self.file,
                line=row.line,
                sample=sample.id,
                earlier=self.lines[sample.id],
            )
        self.lines.setdefault(sample.id, row.line)

    def _fault(self, row: Record, rule: str, found: str, expected: str) -> None:
        self.faults.add(Fault(self.file, row.line, "", rule, found, expected))


def _keys(sample: Sample) -> Sequence[str]:
    tail = sample.id.partition("/")[2]
    index = sample.metadata.get("index", "")
    number = tail.removeprefix("row-")  # a row without an index of its own is counted
    return [key for key in dict.fromkeys((index, sample.id, tail, number)) if key]


def _answers_a_question(trial: Record) -> bool:
    return trial.texts.get("mode", "").startswith(_MODE)


def _turns_of_run(row: Record) -> tuple[str, ...] | None:
    said = row.values.get("turns")
    return _texts(said) if said else _texts(row.values.get("reply"))


def _turns(row: Record) -> tuple[str, ...] | None:
    column = next((name for name in ANSWERS if name in row.values), "")
    value = row.values.get(column)
    return _first_choice(value) if column == "choices" else _texts(value) if column else None


def _texts(value: Any) -> tuple[str, ...] | None:
    items = cast(list[Any], value) if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items):
        return None
    return tuple(map(cell_text, items)) or ("",)


def _first_choice(value: Any) -> tuple[str, ...] | None:
    """MT-bench keeps several tries of a model, and judges the first."""
    choices = cast(list[Any], value) if isinstance(value, list) else []
    first = cast(dict[str, Any], choices[0]) if choices and isinstance(choices[0], dict) else {}
    return _texts(first["turns"]) if "turns" in first else None


def _flat(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
