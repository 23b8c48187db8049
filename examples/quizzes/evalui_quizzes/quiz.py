"""What quizzes have in common: questions to choose from and those to answer in writing.

Each kind is a table of its own, since a dataset has questions of one kind. What is no such question
(matching, numbers with a tolerance, gaps) is a fault that names it; descriptions are noted.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalui.datasets.encoding import decode
from evalui.datasets.model import FaultList, FileTable, Row, Tables, UploadNote
from evalui.errors import DataError
from evalui.messages import add_messages
from evalui.types import LETTERS, Fault

CHOICES, ANSWERS = "multichoice", "shortanswer"  # the tables, by Moodle's names
ANSWER_LINE = "answer line"  # what states the answer, kept for the fault of one that does not
FULL = 99.9  # per cent of the marks; thirds do not add up to 100
RULE = "quiz-question"  # of faults
EXPECTED = "a question of choices, true or false, or a short answer"
_MAX_LINES_SHOWN = 10  # line numbers in a note

add_messages(Path(__file__).with_name("messages.toml"))


@dataclass(slots=True)
class Choice:
    """One option, and whether it is right."""

    text: str
    right: bool


@dataclass(slots=True)
class Question:
    """A question on its way: with `choices`, or with `answers` in writing."""

    line: int
    text: str
    choices: list[Choice] = field(default_factory=list[Choice])
    answers: list[str] = field(default_factory=list[str])
    more: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def title(self) -> str:
        """The table to which it belongs."""
        return CHOICES if self.choices else ANSWERS

    def extend(self, text: str, *, answered: bool) -> bool:
        """Add a line to the last option, or to the explanation of an answered question."""
        if answered and "explanation" in self.more:
            self.more["explanation"] += "\n" + text
        elif self.choices and not answered:
            self.choices[-1].text += "\n" + text
        else:
            return False
        return True

    def values(self) -> dict[str, Any]:
        """The question as a row."""
        named = {name: text for name, text in self.more.items() if text and name != ANSWER_LINE}
        if not self.choices:
            return {**named, "question": self.text, "answer": self.answers}
        letters = [letter_of(at) for at in range(len(self.choices))]
        options = [
            {"label": letter, "text": choice.text}
            for letter, choice in zip(letters, self.choices, strict=True)
        ]
        right = [
            letter for letter, choice in zip(letters, self.choices, strict=True) if choice.right
        ]
        return {**named, "question": self.text, "options": options, "answer": ",".join(right)}


@dataclass(frozen=True, slots=True)
class NoQuestion:
    """A text that is only there to be read."""

    line: int


Item = Question | NoQuestion | Fault


def recognised(is_quiz: Callable[[str], bool]) -> Callable[[bytes, str], bool]:
    """Whether the bytes of a file are a text of that kind."""

    def recognises(data: bytes, name: str) -> bool:
        try:
            return is_quiz(decode(data, name).text)
        except DataError:
            return False

    return recognises


def weighed_choices(weighed: Sequence[tuple[float, str]]) -> list[Choice]:
    """Choices of which those are right that give all marks, or together do; others give some."""
    least = FULL if any(weight >= FULL for weight, _ in weighed) else 0.01
    return [Choice(text, right=weight >= least) for weight, text in weighed]


def true_or_false(*, is_true: bool) -> list[Choice]:
    """The two choices of a statement."""
    return [Choice("True", is_true), Choice("False", not is_true)]


def to_tables(items: Iterable[Item], file: str) -> Tables:
    """The questions by their kind, each kind numbered as in the file."""
    by_title: dict[str, list[Question]] = {}
    faults = FaultList()
    unread: list[int] = []
    for item in items:
        if isinstance(item, NoQuestion):
            unread.append(item.line)
        elif isinstance(item, Fault):
            faults.add(item)
        else:
            by_title.setdefault(item.title, []).append(item)
    if not by_title and not faults.total:
        raise DataError("empty-file", file=file)
    tables: list[FileTable] = []
    for title, questions in sorted((by_title or {CHOICES: []}).items()):
        values = [each.values() for each in questions]
        heads = tuple(dict.fromkeys(name for each in values for name in each))
        rows = [
            Row(question.line, tuple(map(row.get, heads)))
            for question, row in zip(questions, values, strict=True)
        ]
        table = FileTable(file, heads, rows, title, typed=True)
        if not tables:
            table = replace(table, faults=faults.kept, unlisted=faults.unlisted)
        tables.append(table)
    notes = ()
    if unread:
        more = len(unread) - _MAX_LINES_SHOWN
        lines = ", ".join(map(str, unread[:_MAX_LINES_SHOWN])) + (f" (+{more})" if more > 0 else "")
        notes = (UploadNote("quiz-texts", {"file": file, "lines": lines}),)
    if len(tables) == 1:
        return Tables((replace(tables[0], title=""),), notes)
    return Tables(tuple(tables), notes, tuple(table.title for table in tables))


def letter_of(place: int) -> str:
    """The letter of an option; beyond Z there is none, and its number stands for it."""
    return LETTERS[place] if place < len(LETTERS) else str(place + 1)
