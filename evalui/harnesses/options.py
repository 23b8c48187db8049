"""Options as a prompt shows them, letters as slots, and one order of options as another."""

import ast
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from evalui.types import LETTERS, Variant

_OPTION = re.compile(r"[ \t]*[(（]?([A-Z])[)）.．:：、][ \t]*(\S.*)")  # of a line
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
    before = _TAIL.sub("", before_options(prompt))
    return _LEAD.sub("", before.strip().rpartition("\n\n")[2]).strip()


def before_options(text: str) -> str:
    """What stands before the last options of a text; all of it if it has none."""
    start, options = _last_options(text)
    return text[:start] if options else text


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


def references_of(answer: str) -> tuple[str, ...]:
    """The right answers that a text names; several are a list as Python writes it.

    >>> references_of("['stop', 'halt']"), references_of("stop"), references_of("")
    (('stop', 'halt'), ('stop',), ())
    """
    if answer.startswith("[") and answer.endswith("]"):
        with suppress(ValueError, SyntaxError):
            return tuple(map(str, ast.literal_eval(answer)))
    return (answer,) if answer else ()


@cache
def _origin(n_options: int) -> Variant:
    return Variant(tuple(range(n_options)))


def _last_options(prompt: str) -> tuple[int, tuple[str, ...]]:
    """Where they begin, and their texts; letters must follow each other.

    Lines are read from the last one on: before the question may stand examples, however long.
    """
    lines = prompt.split("\n")
    end = len(prompt)
    after: list[tuple[str, str]] = []  # the options behind a line, the last one first
    for line in reversed(lines):
        start = end - len(line)
        end = start - 1
        option = _OPTION.fullmatch(line) if line else None
        if option is None:
            continue
        after.append((option[1], option[2].rstrip(" \t")))
        if option[1] == "A":
            after.reverse()
            n = next((n for n, (letter, _) in enumerate(after) if letter != LETTERS[n]), len(after))
            return start, tuple(text for _, text in after[:n])
    return 0, ()
