"""The right option by a function of a package, where a file does not write it as evalui reads it.

OpenCompass's `switch` methods derive the answer of a row from several of its columns. Orders of
options are made by evalui, so that a function sees each question once, as the file has it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalui.datasets.model import collapse_whitespace, shorten
from evalui.types import LETTERS, Language


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A question as its file has it.

    `options` are the texts that models are shown, in the order of the file. `answer` is the cell of
    the column of answers, "" where there is none. `columns` holds every cell of the row by the name
    that the file gives its column: texts, and of JSON also lists and objects; numbers are texts.
    """

    question: str
    options: tuple[str, ...]
    answer: str
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerFunction:
    """An answer key of a package: `compute` returns the letter of the right option, "A" the first.

    What it raises, and what is no letter of an option, is a fault of that row.
    """

    compute: Callable[[AnswerRow], str]
    label: Mapping[Language, str] = field(default_factory=dict[Language, str])

    def find_target(self, row: AnswerRow) -> int | str:
        """The place of the right option, or what the function did instead."""
        try:
            letter: Any = self.compute(row)
        except Exception as error:  # noqa: BLE001 (other people's code; the fault reports it)
            return shorten(collapse_whitespace(f"{type(error).__name__}: {error}"), 200)
        known = LETTERS[: len(row.options)]
        if isinstance(letter, str) and len(letter) == 1 and letter in known:
            return known.index(letter)
        return shorten(f"it gave {letter!r}")
