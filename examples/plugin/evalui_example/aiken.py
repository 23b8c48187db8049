"""A format: Moodle's Aiken, plain text with a question, its options, and `ANSWER: B`."""

import re
from collections.abc import Iterator

from evalui.datasets.model import DatasetFormat, Layout, ParsedRows, Source
from evalui.datasets.questions.choice import ParsedQuestion, validate

_OPTION = re.compile(r"([A-J])[.)] (.+)")
_ANSWER = re.compile(r"ANSWER: (.*)")


def recognises(source: Source, layout: Layout) -> bool:
    """Whether a line begins with the format's only keyword."""
    del layout
    return "\nANSWER: " in source.text


def read(source: Source, layout: Layout) -> ParsedRows:
    """The samples and faults of one file; the answer is a letter, whatever the layout."""
    del layout
    return validate(_questions(source), source, Layout())


def _questions(source: Source) -> Iterator[ParsedQuestion]:
    text, first_line, number = "", 0, 0
    options: list[str] = []
    for line, content in enumerate(source.text.split("\n"), start=1):
        if option := _OPTION.fullmatch(content):
            options.append(option[2].strip())
        elif answer := _ANSWER.fullmatch(content):
            number += 1
            yield ParsedQuestion(first_line, str(number), text, tuple(options), answer[1])
            text, options = "", []
        elif content.strip():
            first_line, text = line, content.strip()


AIKEN = DatasetFormat("multiple_choice", recognises, read)
