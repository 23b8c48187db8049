"""One question as a file has it, checked: a sample, or everything that is wrong with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evalui.datasets.base import (
    ANSWER_KEYS,
    Layout,
    ParsedRows,
    Source,
    answer_letters,
    normalise_cell,
)
from evalui.datasets.faults import FaultList
from evalui.datasets.questions.ceval_subjects import subject_metadata
from evalui.datasets.questions.naming import refers_to_other_options
from evalui.types import LETTERS, Fault, Sample

_MAX_SHOWN_CHARS = 40  # characters of a cell in a fault


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """One question before any check.

    `options` are (column, text) pairs with the empty ones, `columns` is what the file calls the
    question and the answer. `answers_with_label`: the answer repeats the name of an option,
    whatever the layout says. `metadata` has what is none of these.
    """

    line: int
    id: str
    text: str
    options: tuple[tuple[str, str], ...]
    answer: str
    subject: str
    columns: tuple[str, str] = ("question", "answer")
    answers_with_label: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])


def validate(
    questions: Iterable[ParsedQuestion | Fault], source: Source, layout: Layout
) -> ParsedRows:
    """Samples of the good questions and the faults of the others, in the file's order.

    Faults among `questions` are rows that could not be read; they count as rows.
    """
    samples: list[Sample] = []
    faults = FaultList()
    rows, asked, answered = 0, False, False
    for question in questions:
        rows += 1
        if isinstance(question, Fault):
            faults.add(question)
            continue
        asked, answered = True, answered or bool(question.answer.strip())
        judged = _to_sample(question, source, layout)
        if isinstance(judged, Sample):
            samples.append(judged)
        else:
            faults.add(*judged)
    return ParsedRows(
        tuple(samples),
        faults.kept,
        rows,
        unanswered=asked and not answered,
        unlisted=faults.unlisted,
    )


def _to_sample(question: ParsedQuestion, source: Source, layout: Layout) -> Sample | list[Fault]:
    texts = tuple(text for _, text in question.options if text)
    faults = list(_text_faults(question, source.name))
    faults += _option_faults(question, texts, source.name)
    target = _target_index(question, texts, layout)
    if target is None:
        faults.append(_answer_fault(question, texts, source.name, layout))
    if faults or target is None:
        return faults
    subject = question.subject or source.subject
    own = {"subject": subject} if source.own_subjects else subject_metadata(subject)
    own |= {"file": source.name, "line": str(question.line)}
    return Sample(
        id=f"{question.subject or source.prefix}/{question.id}",
        question=question.text,
        choices=texts,
        target=target,
        # What the reader says comes last: no column of the file may replace it.
        metadata={**question.metadata, **own},
        refers_to_other_options=refers_to_other_options(texts),
    )


def _text_faults(question: ParsedQuestion, file: str) -> Sequence[Fault]:
    if question.text:
        return ()
    return (
        Fault(file, question.line, question.columns[0], "empty-question", "empty", "some text"),
    )


def _option_faults(question: ParsedQuestion, texts: Sequence[str], file: str) -> Sequence[Fault]:
    if gap := _option_gap(question):
        empty, filled = gap
        found, expected = f"empty, but {filled} is filled", "no gap between options"
        return (Fault(file, question.line, empty, "gap-in-options", found, expected),)
    if len(texts) < 2:
        found = f"{len(texts)} option" + ("s" if not texts else "")
        column = next((column for column, text in question.options if not text), "")
        return (Fault(file, question.line, column, "too-few-options", found, "at least 2"),)
    return ()


def _option_gap(question: ParsedQuestion) -> tuple[str, str] | None:
    """The first empty option column before a filled one, and that one."""
    empty = ""
    for column, text in question.options:
        if text and empty:
            return empty, column
        empty = empty or ("" if text else column)
    return None


def _target_index(question: ParsedQuestion, texts: Sequence[str], layout: Layout) -> int | None:
    if not question.answers_with_label:
        return ANSWER_KEYS[layout.answer_key](question.answer, texts)
    labels = [label for label, text in question.options if text]
    answer = normalise_cell(question.answer)
    return labels.index(answer) if answer in labels else None


def _answer_fault(
    question: ParsedQuestion, texts: Sequence[str], file: str, layout: Layout
) -> Fault:
    cell, column = question.answer.strip(), question.columns[1]
    found = f"“{_truncate(cell)}”" if cell else "empty"
    by_letter = layout.answer_key == "letter"
    if by_letter and (letters := answer_letters(cell)):
        expected = f"one letter; single-answer evaluation cannot score {', '.join(letters)}"
        return Fault(file, question.line, column, "multi-letter-answer", found, expected)
    same = [letter for letter, text in zip(LETTERS, texts, strict=False) if text == cell]
    if same and (by_letter or len(same) > 1):
        found += f" (the text of option {' and '.join(same)})"
    expected = _expected_answer(question, texts, layout.answer_key)
    if layout.answer_key == "text" and len(same) > 1:
        expected = "the text of one option only"
    return Fault(file, question.line, column, "answer-not-an-option", found, expected)


def _expected_answer(question: ParsedQuestion, texts: Sequence[str], key: str) -> str:
    if not texts:
        return "an answer that names an option"
    if question.answers_with_label:
        return f"one of {', '.join(label for label, text in question.options if text)}"
    if key == "letter":
        return f"one of {', '.join(LETTERS[: len(texts)])}"
    if key in ("index0", "index1"):
        first = int(key == "index1")
        return f"a number from {first} to {first + len(texts) - 1}"
    return "the text of one of the options"


def _truncate(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_SHOWN_CHARS else flat[: _MAX_SHOWN_CHARS - 1] + "…"
