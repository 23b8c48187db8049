"""Options as a prompt shows them, letters as slots, and one order of options as another."""

import re
from collections.abc import Sequence
from functools import cache

from evalui.types import LETTERS, Variant

_OPTION = re.compile(r"^[ \t]*[(（]?([A-Z])[)）.．:：、][ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_LETTER = re.compile(r"\s*[(（]?([A-Za-z])[)）.．]*\s*")
_LEAD = re.compile(r"^\s*(?:Question|Q|问题|题目)\s*[:：]\s*", re.IGNORECASE)
_TAIL = re.compile(r"\s*(?:Options|Choices|选项)\s*[:：]?\s*$", re.IGNORECASE)


def options_of(prompt: str) -> tuple[str, ...]:
    """The texts of the last lines A, B, C, ... of a prompt: those of examples come before.

    >>> options_of("1+1? A. 3\\nA. 2\\nB) 3\\nAnswer:")
    ('2', '3')
    """
    return _last_options(prompt)[1]


def question_of(prompt: str) -> str:
    """What stands before the last options of a prompt, or the prompt: its last paragraph."""
    start, options = _last_options(prompt)
    before = _TAIL.sub("", prompt[:start] if options else prompt)
    return _LEAD.sub("", before.strip().rpartition("\n\n")[2]).strip()


def slot_of(answer: object, n_options: int) -> int | None:
    """The slot that a letter or "(B)" names; None for anything else.

    >>> slot_of("(B)", 4), slot_of("E", 4), slot_of("Paris", 4)
    (1, None, None)
    """
    if not isinstance(answer, str):
        return None
    named = _LETTER.fullmatch(answer)
    slot = LETTERS.find(named[1].upper()) if named else -1
    return slot if 0 <= slot < n_options else None


def order_of(shown: Sequence[str], own: Sequence[str]) -> Variant | None:
    """The order in which the own options were shown, by their texts; None if they are others.

    Options of the same text are taken in the order in which they come.
    """
    if len(shown) != len(own):
        return None
    if tuple(shown) == tuple(own):  # nearly always
        return _origin(len(own))
    places: dict[str, list[int]] = {}
    for place, text in enumerate(own):
        places.setdefault(text, []).append(place)
    try:
        return Variant(tuple(places[text].pop(0) for text in shown))
    except (KeyError, IndexError):
        return None


@cache
def _origin(n_options: int) -> Variant:
    return Variant(tuple(range(n_options)))


def _last_options(prompt: str) -> tuple[int, tuple[str, ...]]:
    """Where they begin, and their texts; letters must follow each other."""
    lines = list(_OPTION.finditer(prompt))
    starts = [place for place, line in enumerate(lines) if line[1] == "A"]
    if not starts:
        return 0, ()
    own = lines[starts[-1] :]
    n = next((n for n, line in enumerate(own) if line[1] != LETTERS[n]), len(own))
    return own[0].start(), tuple(line[2] for line in own[:n])
