"""Aiken and Chinese exam texts: options by letter under their question, then the right letter."""

import re
from itertools import pairwise

from evalui.datasets.encoding import decode
from evalui.datasets.model import DatasetFormat, Tables
from evalui.types import LETTERS, Fault
from evalui_quizzes.quiz import (
    ANSWER_LINE,
    RULE,
    Choice,
    Item,
    NoQuestion,
    Question,
    letter_of,
    recognised,
    to_tables,
)

_MAX_OPTION_LINE = 20_000  # characters of a line in which several options are looked for
_OPTION = re.compile(r"\s*[(（]?([A-ZＡ-Ｚ])\s*[.)、．:：）]\s*(.*)")
_SEVERAL = re.compile(r"(?:(?<=\s)|^)[(（]?([A-ZＡ-Ｚ])\s*[.)、．）]\s*")
_ANSWER_WORDS = "ANSWER|Answer|answer|正确答案|标准答案|参考答案|答案"
_ANSWER = re.compile(
    rf"\s*(?:[【\[(（](?:{_ANSWER_WORDS})[】\])）]\s*[:：]?|(?:{_ANSWER_WORDS})\s*[:：])\s*(.*)"
)
_LETTERS = re.compile(r"[A-ZＡ-Ｚ](?:[\s,、，;；和]*[A-ZＡ-Ｚ])*\s*[.。]?")
_EXPLANATION_WORDS = "答案解析|试题解析|解析|Explanation|EXPLANATION|Feedback"
_EXPLANATION = re.compile(
    rf"\s*(?:[【\[](?:{_EXPLANATION_WORDS})[】\]]\s*[:：]?|(?:{_EXPLANATION_WORDS})\s*[:：])\s*(.+)"
)
_NUMBERED = re.compile(r"\s*(\d{1,5})\s*[.、．)）]\s*(?=\S)")
_SECTION = re.compile(
    r"\s*[一二三四五六七八九十]+\s*[、.．]\s*.{0,40}题.*|\s*第.{1,6}[部分章节]\s*.{0,40}"
)


def is_aiken(text: str) -> bool:
    """Whether lines of options are followed by a line that names the right one."""
    lines = [line for line in text.split("\n") if line.strip()]
    return any(
        _answer_letters(line) is not None and _OPTION.match(before)
        for before, line in pairwise(lines)
    )


def read(data: bytes, name: str) -> Tables:
    """The questions of a text in which options begin with their letters, a line for the answer."""
    blocks = _Reader(name).read(decode(data, name).text)
    numbers = [_NUMBERED.match(block.text) for block in blocks if isinstance(block, Question)]
    if numbers and all(numbers):
        for block in blocks:
            if isinstance(block, Question) and (number := _NUMBERED.match(block.text)):
                block.more["id"], block.text = number[1], block.text[number.end() :]
    return to_tables([_named_fault(block, name) for block in blocks], name)


def _named_fault(item: Item, file: str) -> Item:
    if not isinstance(item, Question) or any(choice.right for choice in item.choices):
        return item
    answer = item.more.get(ANSWER_LINE, "")
    actual = f"the answer “{answer}”" if answer else "no line “ANSWER:” below the options"
    expected = "the letter of one of the options"
    return Fault(file, item.line, "", RULE, actual, expected)


class _Reader:
    """The questions of a text, as its lines come."""

    def __init__(self, file: str) -> None:
        self.items: list[Item] = []
        self._file = file
        self._question: Question | None = None
        self._answered = False

    def read(self, text: str) -> list[Item]:
        after_blank = False
        for line, content in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
            if content.strip():
                self._add(line, content, goes_on=not after_blank and not _NUMBERED.match(content))
            after_blank = not content.strip()
        if question := self._question:
            complete = question.choices or self._answered
            self.items.append(question if complete else NoQuestion(question.line))
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
            self.items.append(NoQuestion(line))
        elif question.choices:
            _mark_right(question, letters)
            self._answered = True
        else:
            actual, expected = "an answer and no options", "the options above their answer"
            self._add_fault(question.line, actual, expected)
            self._question = None

    def _begin(self, line: int, content: str) -> None:
        if _SECTION.fullmatch(content) and (self._question is None or self._answered):
            self.items.append(NoQuestion(line))
            return
        if self._question:
            self.items.append(self._question)
        self._question, self._answered = Question(line, content.strip()), False
        if _OPTION.match(content) and _narrow(content.strip()[0]) == LETTERS[0]:
            actual, expected = "options and no question", "the question above its options"
            self._add_fault(line, actual, expected)
            self._question = None

    def _add_fault(self, line: int, actual: str, expected: str) -> None:
        self.items.append(Fault(self._file, line, "", RULE, actual, expected))


def _answer_letters(line: str) -> str | None:
    """The letters of a line that states the answer, "" for another answer, None for none."""
    match = _ANSWER.fullmatch(line)
    if match is None:
        return None
    return match[1].strip() if _LETTERS.fullmatch(match[1].strip()) else ""


def _mark_right(question: Question, letters: str) -> None:
    question.more[ANSWER_LINE] = letters
    wanted = {_narrow(char) for char in letters if "A" <= _narrow(char) <= "Z"}
    places = {letter_of(at): choice for at, choice in enumerate(question.choices)}
    if wanted <= places.keys():
        for letter in wanted:
            places[letter].right = True


def _options_of(line: str, question: Question) -> list[Choice]:
    """The options in a line, if their letters follow those that are there."""
    starts = list(_SEVERAL.finditer(line)) if len(line) <= _MAX_OPTION_LINE else []
    expected = len(question.choices)
    if not starts or starts[0].start() != len(line) - len(line.lstrip()):
        match = _OPTION.fullmatch(line)
        if match and _narrow(match[1]) == letter_of(expected):
            return [Choice(match[2].strip(), right=False)]
        return []
    kept: list[re.Match[str]] = []
    for start in starts:
        if _narrow(start[1]) == letter_of(expected + len(kept)):
            kept.append(start)
    ends = [start.start() for start in kept[1:]] + [len(line)]
    return [
        Choice(line[start.end() : end].strip(), right=False)
        for start, end in zip(kept, ends, strict=False)
    ]


def _narrow(letter: str) -> str:
    return chr(ord(letter) - 0xFEE0) if "Ａ" <= letter <= "Ｚ" else letter


FORMAT = DatasetFormat((".txt",), recognised(is_aiken), read)
