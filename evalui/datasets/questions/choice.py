"""Questions as a file has them, checked all together: samples, or all that is wrong with them.

The letters before the options' texts are taken off, the answers of the whole file decide what they
say, and a question with a true or false answer and no options gets those two.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from evalui.datasets.model import (
    PANDAS_EMPTY,
    FaultList,
    Layout,
    ParsedRows,
    Source,
    UploadNote,
    collapse_whitespace,
    counted,
    pandas_empty_fault,
    shorten,
    sort_by_line,
)
from evalui.datasets.questions.answer_functions import AnswerFunction, AnswerRow
from evalui.datasets.questions.answers import (
    CELL_KEYS,
    LETTER_PLACES,
    DetectedAnswerKey,
    RawAnswer,
    answer_function,
    answer_letters,
    by_text,
    detect_answer_key,
    truth_of,
    truth_options,
)
from evalui.datasets.questions.ceval_subjects import subject_metadata
from evalui.datasets.questions.option_lists import (
    strip_letter,
    strip_letters,
    strip_spaced_letters,
    without_options,
)
from evalui.datasets.questions.option_references import refers_to_other_options
from evalui.types import LETTERS, Fault, Sample

_LETTERED_SHARE = 0.9  # of the questions whose options begin with their letters, for all to do so
_MIN_LETTERED = 3  # questions
_PLAIN_SHARE = 0.9  # of the answers of a file that are bare letters, for no other to be thought of
_LETTER_STARTS = frozenset("AaＡａ(（[【选")
_SHUFFLE_SEED = "evalui-options-1"  # another one would be another order: raise its number
_NO_METADATA: Mapping[str, str] = MappingProxyType({})


class ParsedQuestion(NamedTuple):
    """One question before any check.

    `options` are texts, with the empty ones, and `names` what the file calls each; `columns` is
    what it calls the question and the answer. `answers_with_label`: the answer repeats the name of
    an option, whatever the layout states. `right` are the places of the options that the file marks
    as right, None where it has an answer instead. `is_number`: JSON wrote the answer without
    quotes. `metadata` has all else. `cells` are all columns of the row, for a function that reads
    the answer from them, and empty without one.
    """

    line: int
    id: str
    text: str
    options: tuple[str, ...]
    answer: str
    subject: str = ""
    names: Sequence[str] = LETTERS
    columns: tuple[str, str] = ("question", "answer")
    answers_with_label: bool = False
    right: tuple[int, ...] | None = None
    is_number: bool = False
    metadata: Mapping[str, str] = _NO_METADATA
    cells: Mapping[str, Any] = _NO_METADATA

    @property
    def texts(self) -> tuple[str, ...]:
        """The options that are not empty."""
        return tuple(filter(None, self.options)) if "" in self.options else self.options


def validate(
    questions: Iterable[ParsedQuestion | Fault],
    source: Source,
    layout: Layout,
    *,
    shuffled: bool = False,
) -> ParsedRows:
    """Samples of the good questions and the faults of the others, in the file's order.

    Faults among `questions` are rows that could not be read; they count as rows. `shuffled`: the
    file's order of options says which is right, and another takes its place.
    """
    read: list[ParsedQuestion] = []
    unread = FaultList()
    for row in questions:
        if type(row) is Fault:
            unread.add(row)
        else:
            read.append(cast(ParsedQuestion, row))
    lettered = _without_letters(read)
    plain = [without_options(row.text, row.texts) for row in lettered]
    parsed = [
        row if text is row.text else row._replace(text=text)
        for row, text in zip(lettered, plain, strict=True)
    ]
    repeated = sum(one is not other for one, other in zip(parsed, lettered, strict=True))
    key = _detect_key(parsed, source, layout)
    function = answer_function(key.key)
    bare = [row for row in parsed if "" in row.options or not row.options]
    truths = [row for row in bare if not row.texts and truth_of(row.answer) is not None]
    reading = _Reading(
        source,
        key.key,
        truth_options([row.answer for row in truths], [row.text for row in truths]),
        shuffled=not function and (shuffled or key.key == "apart"),
        by_letter=key.key == "letter" and not shuffled,
        prefix=source.prefix,
        function=function,
    )
    values = {"file": source.name, "n": str(repeated)}
    repeated_notes = (UploadNote("options-in-question", values),) if repeated else ()
    samples: list[Sample] = []
    faults = FaultList()
    for result in map(reading.to_sample, counted(parsed)):
        if isinstance(result, Sample):
            samples.append(result)
        else:
            faults.add(*result)
    merged = FaultList(
        sort_by_line(unread.kept, faults.kept), unlisted=unread.unlisted + faults.unlisted
    )
    return ParsedRows(
        tuple(samples),
        merged.kept,
        len(read) + unread.total,
        unanswered=not function
        and bool(parsed)
        and not any(row.answer.strip() or row.right for row in parsed),
        answer_key=key.key,
        notes=(*key.notes, *repeated_notes, *reading.notes(len(samples))),
        unlisted=merged.unlisted,
    )


def _without_letters(questions: list[ParsedQuestion]) -> list[ParsedQuestion]:
    """The questions without the letters that stand before their options.

    They are no part of an option where all options of a question have their own, and where nearly
    all questions of a file are so: "C. elegans" alone keeps its letter.
    """
    stripped: dict[int, ParsedQuestion] = {}
    for at, question in enumerate(questions):
        options = question.options
        if options and options[0][:1] in _LETTER_STARTS:
            texts = question.texts
            rest = options[len(texts) :]
            if (plain := strip_letters(texts)) != texts and not any(rest):
                stripped[at] = question._replace(options=plain + rest)
    nearly_all = len(stripped) >= max(_MIN_LETTERED, _LETTERED_SHARE * len(questions))
    if not stripped:
        return _without_spaced_letters(questions)
    return [
        stripped.get(at) or (_without_own_letters(question) if nearly_all else question)
        for at, question in enumerate(questions)
    ]


def _without_spaced_letters(questions: list[ParsedQuestion]) -> list[ParsedQuestion]:
    """The questions without "A " before their options, where nearly all of them have that."""
    stripped = [strip_spaced_letters(question.options) for question in questions]
    plain = [
        question if options is question.options else question._replace(options=options)
        for question, options in zip(questions, stripped, strict=True)
    ]
    spaced = sum(one is not other for one, other in zip(plain, questions, strict=True))
    nearly_all = spaced >= max(_MIN_LETTERED, _LETTERED_SHARE * len(questions))
    return plain if nearly_all else questions


def _without_own_letters(question: ParsedQuestion) -> ParsedQuestion:
    options = enumerate(question.options[: len(LETTERS)])
    return question._replace(options=tuple(strip_letter(text, place) for place, text in options))


def _detect_key(
    questions: Sequence[ParsedQuestion], source: Source, layout: Layout
) -> DetectedAnswerKey:
    """What the answers are written as: as the layout states, or as most of them show."""
    if layout.answer_key != "letter" or _are_plain_letters(questions):
        return DetectedAnswerKey(layout.answer_key)
    answers = [
        RawAnswer(row.answer, texts, row.is_number)
        for row in questions
        if row.answer and row.right is None and not row.answers_with_label and (texts := row.texts)
    ]
    if not answers:
        return DetectedAnswerKey("letter")
    return detect_answer_key(answers, source.name, questions[0].columns[1])


def _are_plain_letters(questions: Sequence[ParsedQuestion]) -> bool:
    """Whether nearly all answers are bare letters of options and no options themselves."""
    plain = 0
    for row in questions:
        place = LETTER_PLACES.get(row.answer)
        plain += place is not None and place < len(row.options) and row.answer not in row.options
    return plain >= _PLAIN_SHARE * len(questions)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the rows of one file have in common."""

    source: Source
    key: str
    truth_names: tuple[str, str]
    shuffled: bool
    by_letter: bool
    prefix: str
    function: AnswerFunction | None = None
    subjects: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def notes(self, n: int) -> tuple[UploadNote, ...]:
        """What is to be known of questions that were changed on the way."""
        if not (self.shuffled and n):
            return ()
        return (UploadNote("options-shuffled", {"file": self.source.name, "n": str(n)}),)

    def to_sample(self, question: ParsedQuestion) -> Sample | list[Fault]:
        """The question as a sample, or everything that is wrong with it."""
        if self.function:
            return self._by_function(question, self.function)
        options = question.options
        if PANDAS_EMPTY in options or question.text == PANDAS_EMPTY:
            column = question.columns[0]
            if PANDAS_EMPTY in options:
                column = question.names[options.index(PANDAS_EMPTY)]
            return [pandas_empty_fault(self.source.name, question.line, column)]
        place = LETTER_PLACES.get(question.answer)
        if self.by_letter and place is not None and place < len(options) and question.text:
            # As nearly all questions of a file are.
            by_mark = question.answers_with_label or question.right is not None
            if "" not in options and len(options) > 1 and not by_mark:
                return self._make_sample(question, options, place)
        texts = question.texts
        if not texts and (truth := truth_of(question.answer)) is not None:
            texts, target = self.truth_names, int(not truth)
            faults = self._text_faults(question)
        else:
            texts, target = self._read_target(question, texts)
            faults = [*self._text_faults(question), *self._option_faults(question, texts)]
            if target is None:
                faults.append(self._answer_fault(question, texts))
        if faults or target is None:
            return faults
        if self.shuffled:
            texts, target = _shuffle(question.text, texts, target)
        return self._make_sample(question, texts, target)

    def _by_function(
        self, question: ParsedQuestion, function: AnswerFunction
    ) -> Sample | list[Fault]:
        """The question with the option that a function of a package says is right."""
        texts = question.texts
        if faults := [*self._text_faults(question), *self._option_faults(question, texts)]:
            return faults
        row = AnswerRow(question.text, texts, question.answer, question.cells)
        target = function.find_target(row)
        if isinstance(target, int):
            return self._make_sample(question, texts, target)
        expected = f"a letter from A to {LETTERS[len(texts) - 1]} from {self.key}"
        file, line = self.source.name, question.line
        return [Fault(file, line, self.key, "answer-function", target, expected)]

    def _make_sample(self, question: ParsedQuestion, texts: tuple[str, ...], target: int) -> Sample:
        subject = question.subject or self.source.subject
        own = self.subjects.get(subject)
        if own is None:
            named = {"subject": subject} if self.source.own_subjects else subject_metadata(subject)
            own = self.subjects[subject] = {**named, "file": self.source.name}
        # The reader's own values come last: no column of the file may replace them.
        further = question.metadata
        metadata = {**further, **own} if further else own.copy()
        metadata["line"] = str(question.line)
        return Sample(
            f"{question.subject or self.prefix}/{question.id}",
            question.text,
            texts,
            target,
            metadata,
            refers_to_other_options(texts),
        )

    def _read_target(
        self, question: ParsedQuestion, texts: tuple[str, ...]
    ) -> tuple[tuple[str, ...], int | None]:
        """The options and the place of the right one among them."""
        answer = question.answer
        if question.right is not None:
            return texts, question.right[0] if len(question.right) == 1 else None
        if question.answers_with_label:
            labels = [
                name for name, text in zip(question.names, question.options, strict=False) if text
            ]
            return texts, labels.index(answer) if answer in labels else None
        if self.key == "apart":
            wrong = tuple(text for text in texts if text != answer)
            return ((answer, *wrong), 0) if answer else (texts, None)
        target = CELL_KEYS[self.key](answer, texts)
        if target is None and self.key == "letter" and _is_wording(answer):
            target = by_text(answer, texts)
        if target is None and (truth := truth_of(answer)) is not None:
            same = [place for place, text in enumerate(texts) if truth_of(text) is truth]
            target = same[0] if len(same) == 1 and len(texts) == 2 else None
        return texts, target

    def _text_faults(self, question: ParsedQuestion) -> list[Fault]:
        if question.text:
            return []
        column, file = question.columns[0], self.source.name
        return [Fault(file, question.line, column, "empty-question", "empty", "some text")]

    def _option_faults(self, question: ParsedQuestion, texts: Sequence[str]) -> list[Fault]:
        options = question.options
        names = question.names
        if not all(options):
            filled = max((at for at, text in enumerate(options) if text), default=-1)
            empty = next(at for at, text in enumerate(options) if not text)
            if empty < filled:
                later = next(at for at in range(empty, filled + 1) if options[at])
                actual = f"empty, but {names[later]} is filled"
                expected = "no gap between options"
                return [
                    Fault(
                        self.source.name,
                        question.line,
                        names[empty],
                        "gap-in-options",
                        actual,
                        expected,
                    )
                ]
        if len(texts) < 2:
            actual = f"{len(texts)} option" + ("s" if not texts else "")
            pairs = zip(names, options, strict=False)
            column = next((name for name, text in pairs if not text), "")
            return [
                Fault(
                    self.source.name, question.line, column, "too-few-options", actual, "at least 2"
                )
            ]
        return []

    def _answer_fault(self, question: ParsedQuestion, texts: Sequence[str]) -> Fault:
        cell, column = question.answer.strip(), question.columns[1]
        if question.right is not None:
            right = ", ".join(LETTERS[place] for place in question.right)
            if right:
                expected = f"one letter; single-answer evaluation cannot score {right}"
                return Fault(
                    self.source.name, question.line, column, "multi-letter-answer", right, expected
                )
            expected = "one option that is marked as right"
            return Fault(
                self.source.name,
                question.line,
                column,
                "answer-not-an-option",
                "none marked",
                expected,
            )
        actual = f"“{shorten(collapse_whitespace(cell))}”" if cell else "empty"
        by_letter = self.key == "letter"
        if by_letter and (letters := answer_letters(cell, len(texts))):
            expected = f"one letter; single-answer evaluation cannot score {', '.join(letters)}"
            return Fault(
                self.source.name, question.line, column, "multi-letter-answer", actual, expected
            )
        same = [letter for letter, text in zip(LETTERS, texts, strict=False) if text == cell]
        if same and (by_letter or len(same) > 1):
            actual += f" (the text of option {' and '.join(same)})"
        expected = self._expected_answer(question, texts)
        if self.key == "text" and len(same) > 1:
            expected = "the text of one option only"
        return Fault(
            self.source.name, question.line, column, "answer-not-an-option", actual, expected
        )

    def _expected_answer(self, question: ParsedQuestion, texts: Sequence[str]) -> str:
        if not texts:
            return "an answer that names an option"
        if question.answers_with_label:
            pairs = zip(question.names, question.options, strict=False)
            return f"one of {', '.join(name for name, text in pairs if text)}"
        if self.key == "letter":
            return f"one of {', '.join(LETTERS[: len(texts)])}"
        if self.key in ("index0", "index1"):
            first = int(self.key == "index1")
            return f"a number from {first} to {first + len(texts) - 1}"
        return "the text of the right option" if self.key == "apart" else _ONE_TEXT


_ONE_TEXT = "the text of one of the options"


def _is_wording(answer: str) -> bool:
    """Whether an answer that is no letter can only be meant as the text of an option."""
    return len(answer) > 1 and not answer.replace(".", "", 1).isdecimal()


def _shuffle(question: str, texts: tuple[str, ...], target: int) -> tuple[tuple[str, ...], int]:
    """The options in an order that depends on the question's own texts and on nothing else."""

    def rank(place: int) -> bytes:
        text = "\0".join((_SHUFFLE_SEED, question, texts[place]))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    order = sorted(range(len(texts)), key=rank)
    return tuple(texts[place] for place in order), order.index(target)
