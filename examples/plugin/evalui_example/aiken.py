"""A format: Moodle's Aiken, plain text with a question, its options, and `ANSWER: B`."""

import re
from collections.abc import Iterator

from evalui.datasets.model import DatasetFormat, FileTable, Row, Tables

_OPTION = re.compile(r"([A-J])[.)] (.+)")
_ANSWER = re.compile(r"ANSWER: (.*)")


def recognises(data: bytes, name: str) -> bool:
    """Whether a line begins with the format's only keyword."""
    del name
    return b"\nANSWER: " in data


def read(data: bytes, name: str) -> Tables:
    """A table with a row for each question."""
    rows = tuple(_rows(data.decode("utf-8-sig")))
    return Tables((FileTable(name, ("id", "question", "options", "answer"), rows, typed=True),))


def _rows(text: str) -> Iterator[Row]:
    question, first_line, number = "", 0, 0
    options: list[str] = []
    for line, content in enumerate(text.splitlines(), start=1):
        if option := _OPTION.fullmatch(content):
            options.append(option[2].strip())
        elif answer := _ANSWER.fullmatch(content):
            number += 1
            yield Row(first_line, (str(number), question, options, answer[1]))
            question, options = "", []
        elif content.strip():
            first_line, question = line, content.strip()


AIKEN = DatasetFormat((".txt",), recognises, read)
