"""GIFT: questions with their answers in braces."""

import re
from collections.abc import Iterator

from evalui.datasets.containers.pictures import picture_fault
from evalui.datasets.encoding import decode
from evalui.datasets.model import DatasetFormat, Tables
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

_MAX_ANSWERS = 1000  # of one question
_ESCAPED = "\\~=#{}:"  # the backslash before all others, which it stands before
_HOLD = 0xE000  # private characters that stand for escaped ones while a text is cut
_TITLE = re.compile(r"::(.*?)::", re.DOTALL)
_MARKUP = re.compile(r"\[(html|markdown|plain|moodle)\]", re.IGNORECASE)
_ANSWER = re.compile(r"([=~])\s*(?:%(-?\d+(?:\.\d+)?)%)?([^=~]*)")
_BLOCK = re.compile(r"\{[^{}]*\}", re.DOTALL)
_TRUE = re.compile(r"(T|TRUE|F|FALSE)\s*(?:#.*)?", re.IGNORECASE | re.DOTALL)
_NUMBERS = re.compile(r"=\s*(?:%(-?\d+(?:\.\d+)?)%)?([^=]*)")
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?::\s*0(?:\.0+)?)?")
_SIGNS = re.compile(r"\{\s*(?:[=~#]|T(?:RUE)?\s*[}#]|F(?:ALSE)?\s*[}#])", re.IGNORECASE)


def is_gift(text: str) -> bool:
    """Whether the text has answers in braces with the signs of GIFT."""
    return bool(_SIGNS.search(_hold_escaped(text)))


def read(data: bytes, name: str) -> Tables:
    """The questions of a text in which answers stand in braces."""
    return to_tables(_items(decode(data, name).text.removeprefix("\ufeff"), name), name)


def _items(text: str, file: str) -> Iterator[Item]:
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
            yield _question(block, start, category, file)
            block, start = "", 0


def _question(block: str, line: int, category: str, file: str) -> Item:
    held = _hold_escaped(block)
    title = _TITLE.match(held.lstrip())
    body = held.lstrip()[title.end() :] if title else held
    markup = _MARKUP.match(body.lstrip())
    is_html = bool(markup and markup[1].lower() in ("html", "moodle"))
    body = body.lstrip()[markup.end() :] if markup else body
    answers = _BLOCK.search(body)
    if answers is None:
        return NoQuestion(line)
    after = body[answers.end() :].strip()
    if "{" in after:
        actual, expected = "answers in braces twice", "a blank line between two questions"
        return Fault(file, line, "", RULE, actual, expected)
    gap = "" if not after else " _____" if re.match(r"\W", after) else " _____ "
    stem = body[: answers.start()].rstrip() + gap + after
    text = _released(stem, is_html=is_html)
    if text is None:
        return picture_fault(file, line, "")
    more = {"id": _released(title[1] if title else "", is_html=False) or "", "category": category}
    question = Question(line, text, more=more)
    inside, _, feedback = answers[0][1:-1].partition("####")
    question.more["explanation"] = (_released(feedback, is_html=is_html) or "").strip()
    wrong = _fill_answers(question, inside.strip(), is_html=is_html)
    if not wrong:
        return question
    return Fault(file, line, "", RULE, wrong, EXPECTED)


def _fill_answers(question: Question, inside: str, *, is_html: bool) -> str:
    """Give the answers to a question; what is wrong with them, "" for nothing."""
    if not inside:
        return ""  # an essay: there is no reference
    if match := _TRUE.fullmatch(inside):
        question.choices = true_or_false(is_true=match[1].upper().startswith("T"))
        return ""
    if inside.startswith("#"):
        given = _NUMBERS.findall(inside[1:]) or [("", inside[1:])]
        full = [text.partition("#")[0].strip() for weight, text in given if not weight]
        numbers = [_NUMBER.fullmatch(text) for text in full]
        if not all(numbers):
            return "a number with a tolerance"
        question.answers = [number[1] for number in numbers if number]
        return ""
    if inside.count("=") + inside.count("~") > _MAX_ANSWERS:
        return f"more than {_MAX_ANSWERS:,} answers"
    given = _ANSWER.findall(inside)
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
        weighed.append((float(weight) if weight else FULL if sign == "=" else 0.0, shown))
    if is_choice:
        question.choices = weighed_choices(weighed)
    else:
        question.answers = [text for weight, text in weighed if weight >= FULL]
    return ""


def _hold_escaped(text: str) -> str:
    for place, char in enumerate(_ESCAPED):
        text = text.replace("\\" + char, chr(_HOLD + place))
    return text


def _released(text: str, *, is_html: bool) -> str | None:
    """A text with its escaped characters; None if a picture is in it."""
    text = text.replace("\\n", "\n")
    for place, char in enumerate(_ESCAPED):
        text = text.replace(chr(_HOLD + place), char)
    if not is_html:
        return text.strip()
    read = html_text(text)
    return None if read.has_picture else read.text


FORMAT = DatasetFormat((".gift", ".txt"), recognised(is_gift), read)
