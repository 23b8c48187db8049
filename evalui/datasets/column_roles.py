"""The roles that columns may have, and what is stated of them: by a person, or by a guess."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from evalui.datasets.model import Layout, shorten
from evalui.types import LETTERS, DatasetKind

# What a column may be; the letters are the options in order, `options` is a list of them and
# `row_option` the one option of a row where each option has a row.
COLUMN_ROLES = (
    "question",
    *LETTERS,
    "options",
    "row_option",
    "answer",
    "passage",
    "explanation",
    "subject",
    "id",
    "capability",
)
_FIELDS: Mapping[str, str] = {
    "question": "question",
    "passage": "passage",
    "options": "option_list",
    "row_option": "row_option",
    "answer": "answer",
    "explanation": "explanation",
    "subject": "subject",
    "id": "id",
    "capability": "capability",
}
_LETTER_ROLES = frozenset(LETTERS)
# Why a guess is not sure, "" where it is; each has a sentence, `fault.confirm-<doubt>`.
Doubt = Literal[
    "",
    "columns",
    "question",
    "options",
    "answer",
    "answers",
    "answer-key",
    "answer-base",
    "labels",
    "outputs",
    "passage",
]


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """The columns of a file as it writes them, and the texts of its first rows by column.

    Further rows are among them if they show a short cell that none before has, so that the table
    has each letter and number of a column of answers. Lists and objects are texts of JSON;
    `numbers` are the places of the columns that JSON writes as numbers. `head_row` is the row of
    the names, counted from 1; 0 where a file has none, as JSON. `sheets` are the visible sheets of
    a workbook. `answers_differ`: two columns of answers contradict each other in some row.
    """

    file: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_rows: int
    head_row: int = 0
    sheets: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    answers_differ: bool = False

    def cells(self, column: int) -> tuple[str, ...]:
        """What stands in a column of the rows, without blank cells."""
        return tuple(text for row in self.rows if (text := row[column].strip()))


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """A role for each column, "" for none, and what the right answer is written as.

    `sure`: the file can be read so without help; else `doubt` says what is to be confirmed. `kind`
    is "" where no question can be made out. `unused` are the columns of texts without a role.
    """

    roles: tuple[str, ...]
    answer_key: str = "letter"
    kind: DatasetKind | Literal[""] = ""
    sure: bool = False
    unused: tuple[str, ...] = ()
    doubt: Doubt = ""

    def place(self, role: str) -> int:
        """The column that has a role, -1 for none."""
        return self.roles.index(role) if role in self.roles else -1

    @property
    def options(self) -> tuple[int, ...]:
        """The columns of one option each, in order."""
        return tuple(self.roles.index(letter) for letter in LETTERS if letter in self.roles)


def with_columns(layout: Layout, columns: Mapping[str, str]) -> Layout:
    """The layout that reads the named columns: role -> header. Options count in order of letters.

    Raises:
        KeyError: a role is none of `COLUMN_ROLES`.
    """
    options = tuple(columns[letter] for letter in LETTERS if letter in columns)
    named = {_FIELDS[role]: name for role, name in columns.items() if role not in _LETTER_ROLES}
    return replace(layout, options=options, **named)


def columns_of(layout: Layout) -> dict[str, str]:
    """The inverse: the header of each role that the layout names."""
    options = dict(zip(LETTERS, layout.options, strict=False))
    others = {role: str(getattr(layout, field)) for role, field in _FIELDS.items()}
    return {role: name for role, name in (options | others).items() if name}


def answer_values(table: ColumnTable, column: int, *, limit: int = 6) -> tuple[str, ...]:
    """The different values of a column in the first rows, in order, cut short."""
    return tuple(shorten(text, 20) for text in sorted(set(table.cells(column))))[:limit]
