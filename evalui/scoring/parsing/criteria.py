"""What marks did a judge give a single answer, one for each criterion?

A line that begins with the name of a criterion and goes on with its mark in double brackets gives
it. Thoughts, quotations and code do not count. An answer without a mark for every criterion, or
with two different ones for the same, has none.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.scoring.parsing import phrases
from evalui.scoring.parsing.rating import HIGHEST_RATING, LOWEST_RATING


@dataclass(frozen=True, slots=True)
class ParsedCriteria:
    """The mark of each criterion, empty if one cannot be read, and the rule that says so."""

    marks: Mapping[str, float]
    rule: str


def read_criteria(names: Sequence[str], reply: str) -> ParsedCriteria:
    """The marks of a reply, from 1 to 10, in lines such as `clarity: [[7]]`."""
    spoken = phrases.after_thoughts(phrases.plain_judgement(reply, {}))
    if spoken is None:
        return ParsedCriteria({}, "unfinished")
    if not spoken.strip():
        return ParsedCriteria({}, "empty")
    text = phrases.without_quotations(spoken, _MARK)
    marks: dict[str, float] = {}
    for name in names:
        plain = re.escape(unicodedata.normalize("NFKC", name))
        named = rf"^[ \t>*_#\-•\d.)]*{plain}[ \t*_]*[:=：][ \t*_]*{_MARK.pattern}[ \t*_.。]*$"
        given = re.findall(named, text, re.IGNORECASE | re.MULTILINE)
        if not given:
            return ParsedCriteria({}, "unparsed")
        if len({float(mark) for mark in given}) > 1:
            return ParsedCriteria({}, "ambiguous")
        value = float(given[0])
        if not LOWEST_RATING <= value <= HIGHEST_RATING:
            return ParsedCriteria({}, "out-of-range")
        marks[name] = value
    return ParsedCriteria(marks, "criteria")


_MARK = re.compile(r"\[\[\s*(\d+(?:\.\d+)?)\s*(?:/\s*10\s*)?\]\]")
