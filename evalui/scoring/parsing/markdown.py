"""How an answer is made up: its length and its Markdown headers, list items and bold marks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MarkdownCounts:
    """Counts over one answer: characters, and marks outside of code."""

    length: int
    headers: int
    items: int
    bold: int


def count_markdown(turns: Sequence[str]) -> MarkdownCounts:
    """The counts of an answer, of all its turns together."""
    prose = _CODE.sub("", "\n".join(turns))
    lines = prose.splitlines()
    return MarkdownCounts(
        length=sum(map(len, turns)),
        headers=sum(_HEADER.match(line) is not None for line in lines),
        items=sum(_ITEM.match(line) is not None for line in lines),
        bold=sum(len(mark.findall(prose)) for mark in _BOLD),
    )


# A comment in a program is no header and its minus signs are no list.
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_HEADER = re.compile(r" {0,3}#{1,6}\s")
# Markdown wants a blank after the mark; Chinese texts often leave it out after a number.
# "3.5 million" at the beginning of a line is a number and no item.
_ITEM = re.compile(r"[ \t]*(?:[-*+]\s+\S|•|\d{1,3}(?:[.)）](?!\d)|、))")
# Two patterns that begin with a fixed text are far faster than one with a choice.
_BOLD = (re.compile(r"\*\*[^*\n]+\*\*"), re.compile(r"__[^_\n]+__"))
