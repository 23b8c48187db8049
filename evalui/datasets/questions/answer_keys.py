"""What the answers of a file mean: letters, places or texts of options.

A layout may state which. Where it does not, all rows decide together, since one answer alone is
often open: 1 is the second option or the first, "A" is a letter or a blood group.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalui.datasets.base import UploadNote, normalise_cell
from evalui.registry import Registry
from evalui.types import LETTERS

# (cell text, the options that are not empty) -> index of the right option, None if it names none
AnswerKey = Callable[[str, Sequence[str]], int | None]

ANSWER_KEYS: Registry[AnswerKey] = Registry("answer key")

_LETTER = re.compile(r"[(\[【]?([A-Ja-j])[)\]】.、:]?")
_LETTERS = re.compile(r"[A-J](?:(?:[\s,;、/&+|]|AND|和|与)*[A-J])+")


def answer_letters(cell: str) -> str:
    """The letters of an answer that names several ("AC", "A, C", "["A", "C"]"), else ""."""
    text = re.sub(r"[\[\]()'\"“”【】]", "", normalise_cell(cell).upper()).strip()
    letters = "".join(dict.fromkeys(re.sub(r"AND", "", text)))
    letters = "".join(letter for letter in letters if letter in LETTERS)
    return letters if _LETTERS.fullmatch(text) and len(letters) > 1 else ""


@ANSWER_KEYS.register("letter")
def by_letter(cell: str, options: Sequence[str]) -> int | None:
    """A for the first option; lower case, full width and "(A)" or "A." are the same letter."""
    match = _LETTER.fullmatch(normalise_cell(cell))
    return _valid_index(LETTERS.index(match[1].upper()), options) if match else None


@ANSWER_KEYS.register("index0")
def by_index_from_0(cell: str, options: Sequence[str]) -> int | None:
    """0 for the first option."""
    number = _parse_number(cell)
    return None if number is None else _valid_index(number, options)


@ANSWER_KEYS.register("index1")
def by_index_from_1(cell: str, options: Sequence[str]) -> int | None:
    """1 for the first option."""
    number = _parse_number(cell)
    return None if number is None else _valid_index(number - 1, options)


@ANSWER_KEYS.register("text")
def by_text(cell: str, options: Sequence[str]) -> int | None:
    """The option whose text the cell repeats; none where several have it."""
    text = cell.strip()
    return options.index(text) if options.count(text) == 1 else None


def _parse_number(cell: str) -> int | None:
    # A spreadsheet may have made 2 into 2.0; three digits are enough for ten options.
    match = re.fullmatch(r"([0-9]{1,3})(?:\.0+)?", normalise_cell(cell))
    return int(match[1]) if match else None


def _valid_index(index: int, options: Sequence[str]) -> int | None:
    return index if 0 <= index < len(options) else None


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer with the options that are not empty; `is_number`: JSON wrote it without quotes."""

    cell: str
    options: tuple[str, ...]
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class DetectedAnswerKey:
    """An answer key, and notes on what was assumed for it."""

    key: str
    notes: tuple[UploadNote, ...] = ()


def detect_answer_key(answers: Sequence[RawAnswer], file: str, column: str) -> DetectedAnswerKey:
    """The key under which most answers name an option.

    A 0 means that numbers count from 0, the number of a row's options that they count from 1;
    where a file has both, the way in which more of its answers name an option; where it has
    neither, 0 is assumed, with a note. Where places and texts explain as much,
    numbers that JSON writes as such and letters are places, quoted numbers are texts, with a note
    if that makes a difference.
    """
    base, assumed = _index_base(answers)
    place = max(("letter", base), key=lambda key: _count_matches(key, answers))
    hits, as_text = _count_matches(place, answers), _count_matches("text", answers)
    text_first = place == base and not all(answer.is_number for answer in answers)
    values = {"file": file, "column": column}
    if as_text > hits or (as_text == hits and text_first):
        other = _count_differences("text", place, answers) if as_text == hits else 0
        return DetectedAnswerKey("text", _note_if_any("text-or-place", values, other))
    notes = _note_if_any(
        "place-or-text",
        values,
        _count_differences(place, "text", answers) if as_text == hits else 0,
    )
    if place == "index1":
        notes += (UploadNote("counts-from-1", values),)
    elif place == "index0" and assumed:
        notes += (UploadNote("counts-from-0", values),)
    return DetectedAnswerKey(place, notes)


def _index_base(answers: Sequence[RawAnswer]) -> tuple[str, bool]:
    """From where numbers count, and whether that is assumed."""
    from_0, from_1 = ANSWER_KEYS["index0"], ANSWER_KEYS["index1"]
    first = any(from_0(answer.cell, ("",)) == 0 for answer in answers)
    last = any(from_1(each.cell, each.options) == len(each.options) - 1 for each in answers)
    if first and last:
        return max(("index0", "index1"), key=lambda key: _count_matches(key, answers)), False
    return ("index1", False) if last else ("index0", not first)


def _targets(key: str, answers: Sequence[RawAnswer]) -> list[int | None]:
    return [ANSWER_KEYS[key](answer.cell, answer.options) for answer in answers]


def _count_matches(key: str, answers: Sequence[RawAnswer]) -> int:
    return sum(target is not None for target in _targets(key, answers))


def _count_differences(key: str, other: str, answers: Sequence[RawAnswer]) -> int:
    """How many answers name another option under the other key."""
    pairs = zip(_targets(key, answers), _targets(other, answers), strict=True)
    return sum(None not in pair and pair[0] != pair[1] for pair in pairs)


def _note_if_any(rule: str, values: Mapping[str, str], n: int) -> tuple[UploadNote, ...]:
    return (UploadNote(rule, {**values, "n": str(n)}),) if n else ()
