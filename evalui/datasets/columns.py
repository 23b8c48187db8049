"""Which column is what: the roles that a user may name, and a guess from headers and values.

A guess is only shown: nothing is read by it until a person has confirmed it.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalui.datasets.base import Layout, shorten
from evalui.datasets.questions.choice import ANSWER_KEYS, RawAnswer, detect_answer_key
from evalui.datasets.questions.option_lists import read_options
from evalui.datasets.tables.records import fold_name
from evalui.types import LETTERS

# What a column may be; the letters are the options in order, `options` is a list of them.
COLUMN_ROLES = ("question", *LETTERS, "options", "answer", "subject", "id", "capability")

_FIELDS: Mapping[str, str] = {
    "question": "question",
    "options": "option_list",
    "answer": "answer",
    "subject": "subject",
    "id": "id",
    "capability": "capability",
}
_NAMES: Mapping[str, frozenset[str]] = {
    "question": frozenset(
        (
            *("question", "query", "prompt", "input", "stem", "problem", "text", "q"),
            *("题目", "问题", "题干", "试题", "提问"),
        )
    ),
    "options": frozenset(("choices", "options", "candidates", "endings", "选项")),
    "answer": frozenset(
        (
            *("answer", "answerkey", "label", "target", "gold", "correct", "key", "solution"),
            *("response", "reference", "reference_answer", "correct_answer", "correct_option"),
            *("答案", "正确答案", "标准答案", "参考答案", "回答"),
        )
    ),
    "subject": frozenset(("subject", "topic", "category", "task", "学科", "科目", "类别", "主题")),
    "id": frozenset(("id", "no", "nr", "number", "index", "qid", "question_id", "序号", "编号")),
    "capability": frozenset(("capability", "skill", "ability", "能力")),
}
_OPTION_NAME = re.compile(
    r"(?:opt(?:ion)?|choice|answer|sol(?:ution)?|ans|选项|答案)[ _.-]?(?P<place>[a-j]|10|[1-9])"
    r"|(?P<letter>[a-j])"
)
_MIN_OPTIONS = 2
_ANSWER_SHARE = 0.9  # of a column's cells that must name an option for it to be the answer's


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """The columns of a file as it writes them, and the texts of its first rows by column."""

    file: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_rows: int

    def cells(self, column: int) -> tuple[str, ...]:
        """What stands in a column of the first rows, without blank cells."""
        return tuple(text for row in self.rows if (text := row[column].strip()))


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """A role for each column, "" for none, and what the right answer is written as."""

    roles: tuple[str, ...]
    answer_key: str = "letter"


def with_columns(layout: Layout, columns: Mapping[str, str]) -> Layout:
    """The layout that reads the named columns: role -> header. Options count in order of letters.

    Raises:
        KeyError: a role is none of `COLUMN_ROLES`.
    """
    options = tuple(columns[letter] for letter in LETTERS if letter in columns)
    named = {_FIELDS[role]: name for role, name in columns.items() if role not in LETTERS}
    return replace(layout, options=options, **named)


def columns_of(layout: Layout) -> dict[str, str]:
    """The inverse: the header of each role that the layout names."""
    options = dict(zip(LETTERS, layout.options, strict=False))
    others = {role: str(getattr(layout, field)) for role, field in _FIELDS.items()}
    return {role: name for role, name in (options | others).items() if name}


def is_known_name(text: str) -> bool:
    """Whether a cell is the name of a column that means something."""
    name = fold_name(unicodedata.normalize("NFKC", text))
    return any(name in names for names in _NAMES.values()) or bool(_OPTION_NAME.fullmatch(name))


def guess_columns(table: ColumnTable) -> ColumnGuess:
    """Which column is probably what, by the headers and then by the values."""
    roles = _by_name(table)
    _guess_question(table, roles)
    _guess_options(table, roles)
    options = [roles.index(letter) for letter in LETTERS if letter in roles]
    if "answer" not in roles:
        _guess_answer(table, roles, options)
    return ColumnGuess(tuple(roles), guess_answer_key(table, roles))


def guess_answer_key(table: ColumnTable, roles: Sequence[str]) -> str:
    """What the right answer is written as in the first rows, a name in `ANSWER_KEYS`."""
    if "answer" not in roles:
        return "letter"
    options = [place for place, role in enumerate(roles) if role in LETTERS]
    listed = roles.index("options") if "options" in roles else None
    answers = [
        RawAnswer(cell, texts)
        for row in table.rows
        if (cell := row[roles.index("answer")].strip())
        and (texts := _option_texts(row, options, listed))
    ]
    return detect_answer_key(answers, table.file, "").key if answers else "letter"


def answer_values(table: ColumnTable, column: int, *, limit: int = 6) -> tuple[str, ...]:
    """The different values of a column in the first rows, in order, cut short."""
    return tuple(shorten(text, 20) for text in sorted(set(table.cells(column))))[:limit]


def _by_name(table: ColumnTable) -> list[str]:
    roles = [""] * len(table.headers)
    for place, header in enumerate(table.headers):
        name = fold_name(header)
        role = next((role for role, names in _NAMES.items() if name in names), "")
        if role and role not in roles:
            roles[place] = role
    named = {
        place: match["place"] or match["letter"]
        for place, header in enumerate(table.headers)
        if not roles[place] and (match := _OPTION_NAME.fullmatch(fold_name(header)))
    }
    if len(named) >= _MIN_OPTIONS:
        ordered = sorted(named, key=lambda place: (len(named[place]), named[place]))
        for letter, place in zip(LETTERS, ordered, strict=False):
            roles[place] = letter
    return roles


def _guess_question(table: ColumnTable, roles: list[str]) -> None:
    """The free column with the longest texts that are nearly all different."""
    if "question" in roles:
        return
    lengths = {
        place: sum(map(len, cells)) / len(cells)
        for place, role in enumerate(roles)
        if not role
        and (cells := table.cells(place))
        and 2 * len(set(cells)) > len(cells)
        and not all(map(_is_number, cells))
    }
    if lengths:
        roles[max(lengths, key=lengths.__getitem__)] = "question"


def _guess_options(table: ColumnTable, roles: list[str]) -> None:
    """The free columns beside one another after the question, if an answer fits them."""
    if "question" not in roles or {"A", "options"} & set(roles):
        return
    for place, role in enumerate(roles):
        cells = table.cells(place)
        if not role and cells and all(read_options(cell) for cell in cells):
            roles[place] = "options"
            return
    start = roles.index("question") + 1
    run: list[int] = []
    for place in range(start, len(roles)):
        if roles[place] or not table.cells(place):
            break
        run.append(place)
    for width in range(min(len(run), len(LETTERS)), _MIN_OPTIONS - 1, -1):
        options = run[:width]
        rest = [at for at, role in enumerate(roles) if role in ("", "answer") and at not in options]
        if any(_names_options(table, place, options) for place in rest):
            for letter, place in zip(LETTERS, options, strict=False):
                roles[place] = letter
            return


def _guess_answer(table: ColumnTable, roles: list[str], options: Sequence[int]) -> None:
    free = [place for place, role in enumerate(roles) if not role]
    if options:
        fitting = [place for place in free if _names_options(table, place, options)]
    else:
        fitting = [place for place in free if len(table.cells(place)) == len(table.rows)]
    if fitting:
        roles[fitting[-1] if options else fitting[0]] = "answer"


def _names_options(table: ColumnTable, column: int, options: Sequence[int]) -> bool:
    """Whether nearly all cells of a column name one of the options, under one answer key."""
    rows = [(row[column].strip(), _option_texts(row, options, None)) for row in table.rows]
    if len({cell for cell, _ in rows}) < 2:
        return False
    needed = _ANSWER_SHARE * len(rows)
    return any(
        sum(ANSWER_KEYS[key](cell, texts) is not None for cell, texts in rows) >= needed
        for key in ANSWER_KEYS
    )


def _option_texts(
    row: Sequence[str], options: Sequence[int], listed: int | None
) -> tuple[str, ...]:
    if listed is not None:
        listed_options = read_options(row[listed])
        return listed_options.texts if listed_options else ()
    return tuple(text for place in options if (text := row[place].strip()))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()
