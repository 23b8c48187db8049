"""Moodle XML: a quiz that Moodle exported."""

import re
from xml.parsers import expat

from evalui.datasets.containers.pictures import picture_fault
from evalui.datasets.encoding import decode
from evalui.datasets.model import DatasetFormat, Tables
from evalui.errors import DataError
from evalui.types import Fault
from evalui_quizzes.html_text import html_text
from evalui_quizzes.quiz import (
    EXPECTED,
    FULL,
    RULE,
    Item,
    NoQuestion,
    Question,
    recognised,
    to_tables,
    true_or_false,
    weighed_choices,
)


def is_moodle_xml(text: str) -> bool:
    """Whether a text is XML whose document is a quiz."""
    return bool(re.match(r"\s*(?:<\?xml[^>]*\?>)?(?:\s|<!--.*?-->)*<quiz[\s>]", text, re.DOTALL))


def read(data: bytes, name: str) -> Tables:
    """The questions of a quiz that Moodle exported; raises `DataError` if it is no XML."""
    handler = _Handler(name)
    # Its text is decoded already, whatever encoding the first line states.
    content = re.sub(
        r"^\s*<\?xml[^>]*\?>",
        lambda match: "\n" * match[0].count("\n"),
        decode(data, name).text.removeprefix("\ufeff"),
    )
    try:
        handler.parse(content)
    except (expat.ExpatError, ValueError) as error:
        raise DataError("quiz-damaged", file=name, reason=str(error)) from error
    return to_tables(handler.items, name)


class _Handler:
    """The questions of a quiz, as their elements come."""

    def __init__(self, file: str) -> None:
        self.items: list[Item] = []
        self._file = file
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self.start
        self._parser.EndElementHandler = self.end
        self._parser.CharacterDataHandler = self.text
        self._path: list[str] = []
        self._kind = ""
        self._start = 0
        self._category = ""
        self._pieces: list[str] = []
        self._texts: dict[str, str] = {}
        self._answers: list[tuple[float, str]] = []
        self._fraction = 0.0
        self._tolerance = ""

    def parse(self, text: str) -> None:
        """Read a document; raises `expat.ExpatError` if it is no XML."""
        self._parser.Parse(text.encode(), True)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        if name == "question" and len(self._path) == 2:
            self._kind = attributes.get("type", "")
            self._start = self._parser.CurrentLineNumber
            self._texts, self._answers = {}, []
        elif name == "answer":
            self._fraction = float(attributes.get("fraction") or 0)
            self._tolerance = ""
        self._pieces = []

    def end(self, name: str) -> None:
        place = "/".join(self._path[2:])
        content = "".join(self._pieces)
        self._pieces = []
        self._path.pop()
        if place in ("name/text", "questiontext/text", "generalfeedback/text", "category/text"):
            self._texts[place.partition("/")[0]] = content
        elif place in ("idnumber",):
            self._texts[place] = content
        elif place == "answer/text":
            self._answers.append((self._fraction, content))
        elif place == "answer/tolerance":
            self._tolerance = content.strip()
            if self._tolerance and float(self._tolerance):
                self._texts["tolerance"] = self._tolerance
        elif name == "question" and len(self._path) == 1:
            self._add_question()

    def text(self, content: str) -> None:
        if len(self._path) > 2:
            self._pieces.append(content)

    def _add_question(self) -> None:
        if self._kind == "category":
            self._category = self._texts.get("category", "").rpartition("/")[2].strip()
        elif self._kind == "description":
            self.items.append(NoQuestion(self._start))
        else:
            self.items.append(self._question())

    def _question(self) -> Question | Fault:
        read = {name: html_text(text) for name, text in self._texts.items()}
        answers = [(fraction, html_text(text)) for fraction, text in self._answers]
        question_text = read.get("questiontext", html_text(""))
        if question_text.has_picture or any(text.has_picture for _, text in answers):
            return picture_fault(self._file, self._start, "")
        named = {"id": "idnumber", "name": "name", "explanation": "generalfeedback"}
        more = {name: read[key].text for name, key in named.items() if key in read}
        question = Question(
            self._start, question_text.text, more={**more, "category": self._category}
        )
        if self._kind == "multichoice":
            question.choices = weighed_choices([(share, text.text) for share, text in answers])
        elif self._kind == "truefalse":
            right = next((text.text for fraction, text in answers if fraction > 0), "")
            question.choices = true_or_false(is_true=right.strip().lower() == "true")
        elif self._kind == "shortanswer" or (
            self._kind == "numerical" and "tolerance" not in self._texts
        ):
            question.answers = [text.text for share, text in answers if share >= FULL]
        elif self._kind != "essay":
            actual = f"a question of the type “{self._kind}”"
            if self._kind == "numerical":
                actual = "a number with a tolerance"
            return Fault(self._file, self._start, "", RULE, actual, EXPECTED)
        return question


FORMAT = DatasetFormat((".xml",), recognised(is_moodle_xml), read)
