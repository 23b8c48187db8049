"""Which column of a header is which, and which is missing, with the nearest name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.datasets.base import Layout
from evalui.types import LETTERS, Fault

COLUMN_NAMES = ("id", "question", *LETTERS, "answer", "explanation", "subject")
_MIN_OPTIONS = 2
_RESERVED_COLUMNS = ("file", "line", "ceval_subject")  # what samples know of themselves


@dataclass(frozen=True, slots=True)
class HeaderColumns:
    """Positions in a row. `options` and `others` have their names; -1 means there is none."""

    question: int
    question_name: str
    options: tuple[tuple[str, int], ...]
    answer: int
    answer_name: str
    id: int
    subject: int
    explanation: int
    others: tuple[tuple[str, int], ...]

    @property
    def last_needed(self) -> int:
        """The last position without which a row cannot be read."""
        return max(self.question, self.answer, *(at for _, at in self.options))


def known_column_names(layout: Layout) -> tuple[str, ...]:
    """Every column name that means something under this layout."""
    own = (layout.question, layout.answer, *layout.options)
    return (*COLUMN_NAMES, *(name for name in own if name))


def find_columns(
    header: Sequence[str], layout: Layout, *, file: str, line: int
) -> HeaderColumns | tuple[Fault, ...]:
    """The columns of a header, or the faults that make the file unreadable."""
    places = _positions_by_name(header)
    faults = [*duplicate_column_faults(header, file, line)]
    options = layout.options or _option_letters(places)
    question, answer = layout.question or "question", layout.answer or "answer"
    needed = (question, *options, answer)
    for name in needed:
        if _normalise_name(name) not in places:
            faults.append(missing_column_fault(name, header, needed, file=file, line=line))
    if not layout.options and "k" in places and len(options) == len(LETTERS):
        expected = f"at most {len(LETTERS)} options, {LETTERS[0]} to {LETTERS[-1]}"
        faults.append(Fault(file, line, "K", "too-many-options", "a column K", expected))
    if faults:
        return tuple(faults)
    used = {
        _normalise_name(name)
        for name in (*needed, "id", "subject", "explanation", *_RESERVED_COLUMNS)
    }
    return HeaderColumns(
        question=places[_normalise_name(question)],
        question_name=question,
        options=tuple((name, places[_normalise_name(name)]) for name in options),
        answer=places[_normalise_name(answer)],
        answer_name=answer,
        id=places.get("id", -1),
        subject=places.get("subject", -1),
        explanation=places.get("explanation", -1),
        others=tuple(
            (name.strip(), places[_normalise_name(name)])
            for name in header
            if name.strip() and _normalise_name(name) not in used
        ),
    )


def _normalise_name(name: str) -> str:
    return name.strip().casefold()


def _positions_by_name(header: Sequence[str]) -> Mapping[str, int]:
    # Unnamed columns (a spreadsheet's padding, a data frame's index) mean nothing.
    return {_normalise_name(name): at for at, name in enumerate(header) if name.strip()}


def duplicate_column_faults(header: Sequence[str], file: str, line: int) -> list[Fault]:
    """A fault for each name that several columns have."""
    counts = Counter(_normalise_name(name) for name in header if name.strip())
    return [
        Fault(file, line, name, "duplicate-column", f"{count} columns “{name}”", "one")
        for name, count in counts.items()
        if count > 1
    ]


def _option_letters(places: Mapping[str, int]) -> tuple[str, ...]:
    # Up to the last letter there is: a file with A, B and D lacks C, it has not three options.
    present = [at for at, letter in enumerate(LETTERS) if letter.casefold() in places]
    return tuple(LETTERS[: max([_MIN_OPTIONS, *(at + 1 for at in present)])])


def missing_column_fault(
    name: str, header: Sequence[str], needed: Sequence[str], *, file: str, line: int
) -> Fault:
    """The fault of a column that the header lacks, with the nearest name that is there."""
    from difflib import get_close_matches  # only faulty files need it

    taken = {_normalise_name(other) for other in needed}
    free = {
        _normalise_name(other): other for other in header if _normalise_name(other) not in taken
    }
    # One letter is near to every other letter: options get no suggestion.
    near = get_close_matches(_normalise_name(name), free, n=1) if len(name) > 1 else []
    shown = ", ".join(other for other in header if other)
    found = f"the columns {_truncate(shown)}" if shown else "no header"
    expected = f"a column “{name}”" + (f"; is “{free[near[0]]}” meant?" if near else "")
    return Fault(file, line, name, "missing-column", found, expected)


def _truncate(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
