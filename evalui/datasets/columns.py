"""Which column is what: the roles that a user may name, and a guess from the cells and the heads.

The content decides and the heads help. A guess that is sure is read; of any other the first rows
are shown with it, and nothing is read until a person has confirmed it.
"""

from collections.abc import Sequence
from dataclasses import replace

from evalui.datasets.column_roles import (
    COLUMN_ROLES,
    ColumnGuess,
    ColumnTable,
    answer_values,
    columns_of,
    with_columns,
)
from evalui.datasets.guessing.choice import guess_choice, guess_without_options
from evalui.datasets.guessing.open_questions import guess_open, holds_replies
from evalui.datasets.guessing.profile import TableProfile
from evalui.datasets.heads import is_known_name
from evalui.datasets.model import Layout

__all__ = [
    "COLUMN_ROLES",
    "ColumnGuess",
    "ColumnTable",
    "answer_values",
    "columns_of",
    "guess_answer_key",
    "guess_columns",
    "is_known_name",
    "with_columns",
]


def guess_columns(table: ColumnTable, layout: Layout | None = None) -> ColumnGuess:
    """Which column is probably what, of which kind the questions are, and whether that is sure.

    What a `layout` names is taken as it is: columns, the kind and the answer key.
    """
    profile = TableProfile(table, layout or Layout())
    guess = _guess(profile)
    if guess.place("question") < 0 and holds_replies(profile):
        return ColumnGuess(tuple(profile.new_roles()), kind=profile.layout.kind, doubt="outputs")
    if table.answers_differ and guess.sure and "answer" not in profile.fixed:
        return replace(guess, sure=False, doubt="answers")
    return guess


def _guess(profile: TableProfile) -> ColumnGuess:
    if profile.layout.kind in ("", "multiple_choice") and (guess := guess_choice(profile)):
        return guess
    if profile.layout.kind == "multiple_choice":
        return guess_without_options(profile)
    return guess_open(profile)


def guess_answer_key(table: ColumnTable, roles: Sequence[str]) -> str:
    """What the right answer is written as in the rows, a name in `ANSWER_KEYS`."""
    columns = {role: table.headers[at] for at, role in enumerate(roles) if role}
    if "answer" not in columns:
        return "letter"
    layout = with_columns(Layout(kind="multiple_choice"), columns)
    return guess_columns(table, layout).answer_key
