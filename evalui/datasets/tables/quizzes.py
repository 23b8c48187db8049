"""Quizzes written for learning platforms: Aiken, GIFT and Moodle XML become rows of questions.

docs.moodle.org describes all three. Questions to choose from and those to answer in writing are
parts of their own, since a dataset has questions of one kind. What is no such question (matching,
numbers with a tolerance, gaps) is a fault that names it; descriptions are noted.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from evalui.datasets.model import FaultList, Limits, UploadNote, sort_by_line
from evalui.datasets.tables.html_text import html_text
from evalui.datasets.tables.pictures import picture_fault
from evalui.datasets.tables.table import JsonRows, collect_json_rows
from evalui.datasets.tables.xml_stream import Attributes, XmlDamage, parse_xml
from evalui.errors import DataError
from evalui.types import LETTERS, Fault

CHOICES, ANSWERS = "multichoice", "shortanswer"  # the parts, by Moodle's names
_FULL = 99.9  # per cent of the marks; thirds do not add up to 100
_ANSWER_LINE = "answer line"  # what states the answer, kept for the fault of one that does not
_MAX_ANSWERS = 1000  # of one question
_MAX_OPTION_LINE = 20_000  # characters of a line in which several options are looked for
_MAX_NESTING = 100  # elements of a quiz within one another
_MAX_LINES_SHOWN = 10  # line numbers in a note

_AIKEN_OPTION = re.compile(r"\s*[(（]?([A-ZＡ-Ｚ])\s*[.)、．:：）]\s*(.*)")
_AIKEN_SEVERAL = re.compile(r"(?:(?<=\s)|^)[(（]?([A-ZＡ-Ｚ])\s*[.)、．）]\s*")
_ANSWER_WORDS = "ANSWER|Answer|answer|正确答案|标准答案|参考答案|答案"
_AIKEN_ANSWER = re.compile(
    rf"\s*(?:[【\[(（](?:{_ANSWER_WORDS})[】\])）]\s*[:：]?|(?:{_ANSWER_WORDS})\s*[:：])\s*(.*)"
)
_AIKEN_LETTERS = re.compile(r"[A-ZＡ-Ｚ](?:[\s,、，;；和]*[A-ZＡ-Ｚ])*\s*[.。]?")
_EXPLANATION_WORDS = "答案解析|试题解析|解析|Explanation|EXPLANATION|Feedback"
_EXPLANATION = re.compile(
    rf"\s*(?:[【\[](?:{_EXPLANATION_WORDS})[】\]]\s*[:：]?|(?:{_EXPLANATION_WORDS})\s*[:：])\s*(.+)"
)
_NUMBERED = re.compile(r"\s*(\d{1,5})\s*[.、．)）]\s*(?=\S)")
_SECTION = re.compile(
    r"\s*[一二三四五六七八九十]+\s*[、.．]\s*.{0,40}题.*|\s*第.{1,6}[部分章节]\s*.{0,40}"
)

_GIFT_ESCAPED = "\\~=#{}:"  # the backslash before all others, which it stands before
_GIFT_HOLD = 0xE000  # private characters that stand for escaped ones while a text is cut
_GIFT_TITLE = re.compile(r"::(.*?)::", re.DOTALL)
_GIFT_MARKUP = re.compile(r"\[(html|markdown|plain|moodle)\]", re.IGNORECASE)
_GIFT_ANSWER = re.compile(r"([=~])\s*(?:%(-?\d+(?:\.\d+)?)%)?([^=~]*)")
_GIFT_BLOCK = re.compile(r"\{[^{}]*\}", re.DOTALL)
_GIFT_TRUE = re.compile(r"(T|TRUE|F|FALSE)\s*(?:#.*)?", re.IGNORECASE | re.DOTALL)
_GIFT_NUMBERS = re.compile(r"=\s*(?:%(-?\d+(?:\.\d+)?)%)?([^=]*)")
_GIFT_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?::\s*0(?:\.0+)?)?")
_GIFT_SIGNS = re.compile(r"\{\s*(?:[=~#]|T(?:RUE)?\s*[}#]|F(?:ALSE)?\s*[}#])", re.IGNORECASE)


class QuizPart(NamedTuple):
    """The questions of one kind."""

    title: str
    rows: JsonRows


@dataclass(frozen=True, slots=True)
class Quiz:
    """The parts of a quiz, and notes on what of it is no question."""

    parts: tuple[QuizPart, ...]
    notes: tuple[UploadNote, ...] = ()


@dataclass(slots=True)
class _Choice:
    text: str
    right: bool


@dataclass(slots=True)
class _Question:
    """A question on its way: with `choices`, or with `answers` in writing."""

    line: int
    text: str
    choices: list[_Choice] = field(default_factory=list[_Choice])
    answers: list[str] = field(default_factory=list[str])
    more: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def title(self) -> str:
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
        named = {name: text for name, text in self.more.items() if text and name != _ANSWER_LINE}
        if not self.choices:
            return {**named, "question": self.text, "answer": self.answers}
        letters = [_letter(at) for at in range(len(self.choices))]
        options = [
            {"label": letter, "text": choice.text}
            for letter, choice in zip(letters, self.choices, strict=True)
        ]
        right = [
            letter for letter, choice in zip(letters, self.choices, strict=True) if choice.right
        ]
        return {**named, "question": self.text, "options": options, "answer": ",".join(right)}


@dataclass(frozen=True, slots=True)
class _NoQuestion:
    """A text that is only there to be read."""

    line: int


_Item = _Question | _NoQuestion | Fault


# Aiken


def is_aiken(text: str) -> bool:
    """Whether lines of options are followed by a line that names the right one."""
    lines = [line for line in text.split("\n") if line.strip()]
    return any(
        _answer_letters(line) is not None and _AIKEN_OPTION.match(before)
        for before, line in pairwise(lines)
    )


def read_aiken(text: str, file: str, limits: Limits) -> Quiz:
    """The questions of a text in which options begin with their letters, a line for the answer."""
    blocks = _AikenReader(file).read(text)
    numbers = [_NUMBERED.match(block.text) for block in blocks if isinstance(block, _Question)]
    if numbers and all(numbers):
        for block in blocks:
            if isinstance(block, _Question) and (number := _NUMBERED.match(block.text)):
                block.more["id"], block.text = number[1], block.text[number.end() :]
    named = [_aiken_fault(block, file) for block in blocks]
    return _collect(named, file, limits)


def _aiken_fault(item: _Item, file: str) -> _Item:
    if not isinstance(item, _Question) or any(choice.right for choice in item.choices):
        return item
    answer = item.more.get(_ANSWER_LINE, "")
    actual = f"the answer “{answer}”" if answer else "no line “ANSWER:” below the options"
    expected = "the letter of one of the options"
    return Fault(file, item.line, "", "quiz-question", actual, expected)


class _AikenReader:
    """The questions of a text, as its lines come."""

    def __init__(self, file: str) -> None:
        self.items: list[_Item] = []
        self._file = file
        self._question: _Question | None = None
        self._answered = False

    def read(self, text: str) -> list[_Item]:
        after_blank = False
        for line, content in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
            if content.strip():
                self._add(line, content, goes_on=not after_blank and not _NUMBERED.match(content))
            after_blank = not content.strip()
        if question := self._question:
            complete = question.choices or self._answered
            self.items.append(question if complete else _NoQuestion(question.line))
        return self.items

    def _add(self, line: int, content: str, *, goes_on: bool) -> None:
        question, letters = self._question, _answer_letters(content)
        if letters is not None:
            self._add_answer(line, letters)
        elif question is None:
            self._begin(line, content)
        elif self._answered and (more := _EXPLANATION.match(content)):
            question.more["explanation"] = more[1].strip()
        elif not self._answered and (options := _options_of(content, question)):
            question.choices += options
        elif goes_on and question.extend(content.strip(), answered=self._answered):
            pass
        elif not question.choices:
            question.text += "\n" + content.strip()
        else:
            self._begin(line, content)

    def _add_answer(self, line: int, letters: str) -> None:
        question = self._question
        if question is None or self._answered:
            self.items.append(_NoQuestion(line))
        elif question.choices:
            _mark_right(question, letters)
            self._answered = True
        else:
            actual, expected = "an answer and no options", "the options above their answer"
            self._add_fault(question.line, actual, expected)
            self._question = None

    def _begin(self, line: int, content: str) -> None:
        if _SECTION.fullmatch(content) and (self._question is None or self._answered):
            self.items.append(_NoQuestion(line))
            return
        if self._question:
            self.items.append(self._question)
        self._question, self._answered = _Question(line, content.strip()), False
        if _AIKEN_OPTION.match(content) and _narrow(content.strip()[0]) == LETTERS[0]:
            actual, expected = "options and no question", "the question above its options"
            self._add_fault(line, actual, expected)
            self._question = None

    def _add_fault(self, line: int, actual: str, expected: str) -> None:
        self.items.append(Fault(self._file, line, "", "quiz-question", actual, expected))


def _answer_letters(line: str) -> str | None:
    """The letters of a line that states the answer, "" for another answer, None for none."""
    match = _AIKEN_ANSWER.fullmatch(line)
    if match is None:
        return None
    return match[1].strip() if _AIKEN_LETTERS.fullmatch(match[1].strip()) else ""


def _mark_right(question: _Question, letters: str) -> None:
    question.more[_ANSWER_LINE] = letters
    wanted = {_narrow(char) for char in letters if "A" <= _narrow(char) <= "Z"}
    places = {_letter(at): choice for at, choice in enumerate(question.choices)}
    if wanted <= places.keys():
        for letter in wanted:
            places[letter].right = True


def _options_of(line: str, question: _Question) -> list[_Choice]:
    """The options in a line, if their letters follow those that are there."""
    starts = list(_AIKEN_SEVERAL.finditer(line)) if len(line) <= _MAX_OPTION_LINE else []
    expected = len(question.choices)
    if not starts or starts[0].start() != len(line) - len(line.lstrip()):
        match = _AIKEN_OPTION.fullmatch(line)
        if match and _narrow(match[1]) == _letter(expected):
            return [_Choice(match[2].strip(), right=False)]
        return []
    kept: list[re.Match[str]] = []
    for start in starts:
        if _narrow(start[1]) == _letter(expected + len(kept)):
            kept.append(start)
    ends = [start.start() for start in kept[1:]] + [len(line)]
    return [
        _Choice(line[start.end() : end].strip(), right=False)
        for start, end in zip(kept, ends, strict=False)
    ]


# GIFT


def is_gift(text: str) -> bool:
    """Whether the text has answers in braces with the signs of GIFT."""
    return bool(_GIFT_SIGNS.search(_hold_escaped(text)))


def read_gift(text: str, file: str, limits: Limits) -> Quiz:
    """The questions of a text in which answers stand in braces."""
    return _collect(_gift_items(text.removeprefix("\ufeff"), file), file, limits)


def _gift_items(text: str, file: str) -> Iterator[_Item]:
    category, block, start = "", "", 0
    for line, content in enumerate([*text.split("\n"), ""], start=1):
        if content.lstrip().startswith("//"):
            continue
        if content.strip().startswith("$CATEGORY:"):
            category = content.partition(":")[2].strip()
        elif content.strip():
            start = start or line
            block += content + "\n"
        elif block.strip():
            yield _gift_question(block, start, category, file)
            block, start = "", 0


def _gift_question(block: str, line: int, category: str, file: str) -> _Item:
    held = _hold_escaped(block)
    title = _GIFT_TITLE.match(held.lstrip())
    body = held.lstrip()[title.end() :] if title else held
    markup = _GIFT_MARKUP.match(body.lstrip())
    is_html = bool(markup and markup[1].lower() in ("html", "moodle"))
    body = body.lstrip()[markup.end() :] if markup else body
    answers = _GIFT_BLOCK.search(body)
    if answers is None:
        return _NoQuestion(line)
    after = body[answers.end() :].strip()
    if "{" in after:
        actual, expected = "answers in braces twice", "a blank line between two questions"
        return Fault(file, line, "", "quiz-question", actual, expected)
    gap = "" if not after else " _____" if re.match(r"\W", after) else " _____ "
    stem = body[: answers.start()].rstrip() + gap + after
    text = _released(stem, is_html=is_html)
    if text is None:
        return picture_fault(file, line, "")
    more = {"id": _released(title[1] if title else "", is_html=False) or "", "category": category}
    question = _Question(line, text, more=more)
    inside, _, feedback = answers[0][1:-1].partition("####")
    question.more["explanation"] = (_released(feedback, is_html=is_html) or "").strip()
    wrong = _fill_gift_answers(question, inside.strip(), is_html=is_html)
    if not wrong:
        return question
    expected = "a question of choices, true or false, or a short answer"
    return Fault(file, line, "", "quiz-question", wrong, expected)


def _fill_gift_answers(question: _Question, inside: str, *, is_html: bool) -> str:
    """Give the answers to a question; what is wrong with them, "" for nothing."""
    if not inside:
        return ""  # an essay: there is no reference
    if match := _GIFT_TRUE.fullmatch(inside):
        _set_true_false(question, is_true=match[1].upper().startswith("T"))
        return ""
    if inside.startswith("#"):
        given = _GIFT_NUMBERS.findall(inside[1:]) or [("", inside[1:])]
        full = [text.partition("#")[0].strip() for weight, text in given if not weight]
        numbers = [_GIFT_NUMBER.fullmatch(text) for text in full]
        if not all(numbers):
            return "a number with a tolerance"
        question.answers = [number[1] for number in numbers if number]
        return ""
    if inside.count("=") + inside.count("~") > _MAX_ANSWERS:
        return f"more than {_MAX_ANSWERS:,} answers"
    given = _GIFT_ANSWER.findall(inside)
    if not given:
        return "answers without “=” and “~”"
    if all("->" in text for _, _, text in given):
        return "terms to be matched"
    is_choice = any(sign == "~" for sign, _, _ in given)
    weighed: list[tuple[float, str]] = []
    for sign, weight, text in given:
        shown = _released(text.partition("#")[0], is_html=is_html)
        if shown is None:
            return "a picture"
        weighed.append((float(weight) if weight else _FULL if sign == "=" else 0.0, shown))
    if is_choice:
        question.choices = _weighed_choices(weighed)
    else:
        question.answers = [text for weight, text in weighed if weight >= _FULL]
    return ""


def _weighed_choices(weighed: Sequence[tuple[float, str]]) -> list[_Choice]:
    """Choices of which those are right that give all marks, or together do; others give some."""
    least = _FULL if any(weight >= _FULL for weight, _ in weighed) else 0.01
    return [_Choice(text, right=weight >= least) for weight, text in weighed]


def _hold_escaped(text: str) -> str:
    for place, char in enumerate(_GIFT_ESCAPED):
        text = text.replace("\\" + char, chr(_GIFT_HOLD + place))
    return text


def _released(text: str, *, is_html: bool) -> str | None:
    """A text with its escaped characters; None if a picture is in it."""
    text = text.replace("\\n", "\n")
    for place, char in enumerate(_GIFT_ESCAPED):
        text = text.replace(chr(_GIFT_HOLD + place), char)
    if not is_html:
        return text.strip()
    read = html_text(text)
    return None if read.has_picture else read.text


# Moodle XML


def is_moodle_xml(text: str) -> bool:
    """Whether a text is XML whose document is a quiz."""
    return bool(re.match(r"\s*(?:<\?xml[^>]*\?>)?(?:\s|<!--.*?-->)*<quiz[\s>]", text, re.DOTALL))


def read_moodle_xml(text: str, file: str, limits: Limits) -> Quiz:
    """The questions of a quiz that Moodle exported; raises `DataError` if it is no XML."""
    handler = _MoodleHandler(file, limits)
    # Its text is decoded already, whatever encoding the first line states.
    content = re.sub(
        r"^\s*<\?xml[^>]*\?>",
        lambda match: "\n" * match[0].count("\n"),
        text.removeprefix("\ufeff"),
    )
    try:
        parse_xml([content.encode()], handler, file, locate=handler.locate)
    except XmlDamage as error:
        raise DataError("xml-damaged", file=file, reason=str(error)) from error
    return _collect(handler.items, file, limits)


class _MoodleHandler:
    """The questions of a quiz, as their elements come."""

    def __init__(self, file: str, limits: Limits) -> None:
        self.items: list[_Item] = []
        self._file = file
        self._limits = limits
        self._line: Callable[[], int] = lambda: 0
        self._path: list[str] = []
        self._kind = ""
        self._start = 0
        self._category = ""
        self._pieces: list[str] = []
        self._texts: dict[str, str] = {}
        self._answers: list[tuple[float, str]] = []
        self._fraction = 0.0
        self._tolerance = ""

    def locate(self, line: Callable[[], int]) -> None:
        """Take what tells the line at which the parser stands."""
        self._line = line

    def start(self, name: str, attributes: Attributes) -> None:
        self._path.append(name)
        if len(self._path) > _MAX_NESTING:
            raise XmlDamage("its elements are nested too deeply")
        if name == "question" and len(self._path) == 2:
            self._kind = attributes.get("type", "")
            self._start = self._line()
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
        if len(self.items) >= self._limits.lines:
            n, limit = len(self.items) + 1, self._limits.lines
            raise DataError("too-many-lines", files=self._file, n=n, limit=limit)
        if self._kind == "category":
            self._category = self._texts.get("category", "").rpartition("/")[2].strip()
        elif self._kind == "description":
            self.items.append(_NoQuestion(self._start))
        else:
            self.items.append(self._question())

    def _question(self) -> _Question | Fault:
        read = {name: html_text(text) for name, text in self._texts.items()}
        answers = [(fraction, html_text(text)) for fraction, text in self._answers]
        question_text = read.get("questiontext", html_text(""))
        if question_text.has_picture or any(text.has_picture for _, text in answers):
            return picture_fault(self._file, self._start, "")
        named = {"id": "idnumber", "name": "name", "explanation": "generalfeedback"}
        more = {name: read[key].text for name, key in named.items() if key in read}
        question = _Question(
            self._start, question_text.text, more={**more, "category": self._category}
        )
        if self._kind == "multichoice":
            question.choices = _weighed_choices([(share, text.text) for share, text in answers])
        elif self._kind == "truefalse":
            right = next((text.text for fraction, text in answers if fraction > 0), "")
            _set_true_false(question, is_true=right.strip().lower() == "true")
        elif self._kind == "shortanswer" or (
            self._kind == "numerical" and "tolerance" not in self._texts
        ):
            question.answers = [text.text for share, text in answers if share >= _FULL]
        elif self._kind != "essay":
            actual = f"a question of the type “{self._kind}”"
            if self._kind == "numerical":
                actual = "a number with a tolerance"
            expected = "a question of choices, true or false, or a short answer"
            return Fault(self._file, self._start, "", "quiz-question", actual, expected)
        return question


def _set_true_false(question: _Question, *, is_true: bool) -> None:
    question.choices = [_Choice("True", is_true), _Choice("False", not is_true)]


def _collect(items: Iterable[_Item], file: str, limits: Limits) -> Quiz:
    """The questions by their kind, each kind numbered as in the file."""
    by_title: dict[str, list[_Question]] = {}
    faults = FaultList()
    unread: list[int] = []
    for n, item in enumerate(items, start=1):
        if n > limits.lines:
            raise DataError("too-many-lines", files=file, n=n, limit=limits.lines)
        if isinstance(item, _NoQuestion):
            unread.append(item.line)
        elif isinstance(item, Fault):
            faults.add(item)
        else:
            by_title.setdefault(item.title, []).append(item)
    if not by_title and not faults.total:
        raise DataError("empty-file", file=file)
    parts: list[QuizPart] = []
    for title, questions in sorted((by_title or {CHOICES: []}).items()):
        rows = collect_json_rows(
            ((each.line, each.values()) for each in questions), file, search=True
        )
        if not parts:
            both = FaultList(sort_by_line(faults.kept, rows.faults), unlisted=faults.unlisted)
            rows = JsonRows(rows.rows, both.kept, both.unlisted + rows.unlisted)
        parts.append(QuizPart(title, rows))
    notes = ()
    if unread:
        more = len(unread) - _MAX_LINES_SHOWN
        lines = ", ".join(map(str, unread[:_MAX_LINES_SHOWN])) + (f" (+{more})" if more > 0 else "")
        notes = (UploadNote("quiz-texts", {"file": file, "lines": lines}),)
    return Quiz(tuple(parts), notes)


def _letter(place: int) -> str:
    """The letter of an option; beyond Z there is none, and its number stands for it."""
    return LETTERS[place] if place < len(LETTERS) else str(place + 1)


def _narrow(letter: str) -> str:
    return chr(ord(letter) - 0xFEE0) if "Ａ" <= letter <= "Ｚ" else letter
