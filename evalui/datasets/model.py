"""What goes into reading files and what comes out, as plain data, and the registry of formats."""

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar, cast

from evalui.messages import Sentence, sentence
from evalui.pictures import Mark, parts
from evalui.registry import Registry
from evalui.types import LETTERS, Dataset, DatasetKind, Fault, Sample, Split

T = TypeVar("T")
DuplicatePolicy = Literal["keep", "skip"]

# The notes on what was assumed of a file: they belong to all figures made of it.
ASSUMPTION_NOTES = (
    "dev-scored",
    "across-files",
    "counts-from-0",
    "counts-from-1",
    "place-or-text",
    "text-or-place",
    "duplicate-options",
    "number-formats",
    "plain-values",
)

COMMAS_RULE = "commas-in-text"  # of the note on rows that `Layout.commas_in_text` makes readable
PANDAS_EMPTY = "nan"  # what pandas makes of an empty cell that it writes as a text
MAX_FAULTS = 1000  # more than a user reads; a file may have a million
_ROWS_A_STEP = 10_000
_MAX_VALUES_SHOWN = 6  # of a column
_ENCODER = json.JSONEncoder(ensure_ascii=False)
# Told how many rows of a large file have become questions by now.
ON_ROWS: ContextVar[Callable[[int], object]] = ContextVar("ON_ROWS", default=id)


Cell = Any  # a str, int, float, bool, None, list or dict: what the container has there


class JsonNumber(str):
    """A number of a JSON text, as it is written there."""

    __slots__ = ()


class Row(NamedTuple):
    """The cells of a row under the heads of its table; a shorter row lacks its last ones.

    `line` is the physical line on which it begins, the row of the sheet or the place in a list, as
    a person counts, from 1.
    """

    line: int
    cells: tuple[Cell, ...]

    def cell(self, at: int) -> Cell:
        """The value in a column, None where the row ends before it; -1 stands for no column."""
        return self.cells[at] if 0 <= at < len(self.cells) else None

    def text(self, at: int) -> str:
        """The same as a text without blanks around it."""
        return cell_text(self.cell(at)).strip()

    def goes_beyond(self, width: int) -> bool:
        """Whether anything stands behind so many columns."""
        return any(cell_text(cell).strip() for cell in self.cells[width:])


@dataclass(frozen=True, slots=True)
class FileTable:
    """Heads and rows of a text, a sheet or a list; `name` is that of its file.

    `title` is that of a sheet or a list, "" for the whole file. `head_line` is the line of the
    heads, 0 where the file has none and the columns are "#1", "#2" and so on. `typed`: values have
    types, as in JSON; else all cells are texts. `delimiter` and `encoding` are those of a text.
    `faults` are the rows that could not be read, `unlisted` counts more of them by their rule.
    """

    name: str
    heads: tuple[str, ...]
    rows: Sequence[Row]
    title: str = ""
    head_line: int = 1
    typed: bool = False
    delimiter: str = ""
    encoding: str = "utf-8"
    faults: tuple[Fault, ...] = ()
    unlisted: Counter[str] = field(default_factory=Counter[str])
    notes: tuple["UploadNote", ...] = ()


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a file, notes on it as a whole, and the titles that can be chosen."""

    tables: tuple[FileTable, ...]
    notes: tuple["UploadNote", ...] = ()
    titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns under names of the user's own; what is empty keeps the format's name.

    `options` are the option columns in order, `answer_key` is a name in `ANSWER_KEYS`. `answer`
    is the column of references where there are no options. `sheet` of a workbook and `kind` of
    question are chosen where there are several; empty, the first that fits counts. `entry` names
    the one dataset of a SWIFT configuration that is meant; empty, all files of a kind together.
    `duplicate_options` decides whether rows whose options share a text stay or are left out.
    `option_list` is the one column of a list of options, `passage` that of a text which a question
    is about and which stands before it. `with_columns` sets all that name columns from what
    each column is. `explanation` is the column of why the answer is right, `row_option` that of the
    options where each has a row of its own. `head_row` is the row of the column names, counted from
    1 as a person sees it; 0 looks for it, -1 says that there is none. `split` is the one whose
    questions are scored; empty, val where it is there, else test. `cluster` is the column of what
    several questions share, which are then no independent evidence. `commas_in_text`: in delimited
    text a comma before a blank separates no cells. `guidance` is the column of what judges go by.
    """

    options: tuple[str, ...] = ()
    answer: str = ""
    answer_key: str = "letter"
    question: str = ""
    sheet: str = ""
    kind: DatasetKind | Literal[""] = ""
    duplicate_options: DuplicatePolicy = "keep"
    entry: str = ""
    subject: str = ""
    id: str = ""
    option_list: str = ""
    capability: str = ""
    passage: str = ""
    head_row: int = 0
    explanation: str = ""
    row_option: str = ""
    split: Split | Literal[""] = ""
    cluster: str = ""
    commas_in_text: bool = False
    guidance: str = ""


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
    "guidance",
    "subject",
    "id",
    "capability",
)
# In the order in which a data set's digest has them.
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
    "guidance": "guidance",
}
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
    "battles",
    "ratings",
]


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


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """The columns of a table as a person sees them, and the texts of its first rows.

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

    def values(self, column: int) -> tuple[str, ...]:
        """Some different texts of a column, in order, cut short."""
        texts = {text for row in self.rows if (text := row[column].strip())}
        return tuple(shorten(text, 20) for text in sorted(texts)[:_MAX_VALUES_SHOWN])


@dataclass(frozen=True, slots=True)
class Roles:
    """What the columns of a table are: a role for each, "" for none, and how answers are written.

    `kind` is "" where no question can be made out. `sure`: the table can be read so without help;
    else `doubt` says what is to be confirmed. `unused` are the columns of texts without a role.
    `plain`: the columns have the names of a published format, and are what these names say.
    """

    roles: tuple[str, ...]
    answer_key: str = "letter"
    kind: DatasetKind | Literal[""] = ""
    sure: bool = False
    unused: tuple[str, ...] = ()
    doubt: Doubt = ""
    plain: bool = False

    def place(self, role: str) -> int:
        """The column that has a role, -1 for none."""
        return self.roles.index(role) if role in self.roles else -1

    @property
    def options(self) -> tuple[int, ...]:
        """The columns of one option each, in order."""
        return tuple(self.roles.index(letter) for letter in LETTERS if letter in self.roles)


@dataclass(frozen=True, slots=True)
class Limits:
    """What is too much for one upload.

    `upload` of one file as it comes; `bytes` of a text and `unpacked` of all texts together, both
    without their pictures. Of picture files there may be `pictures`; with the tables in an archive
    they may have `unpacked_pictures` bytes. `files` and `lines` of all together; `ratio` is how
    many times its packed size a file in an archive may have. A workbook is such an archive; it may
    have `unpacked` bytes without its pictures, `lines` rows and `cells` cells.
    """

    upload: int = 2000 * 2**20
    bytes: int = 200 * 2**20
    unpacked: int = 200 * 2**20
    pictures: int = 100_000
    unpacked_pictures: int = 4000 * 2**20
    ratio: int = 100
    files: int = 2000
    lines: int = 1_000_000
    cells: int = 10_000_000


@dataclass(frozen=True, slots=True)
class UploadNote:
    """Something the user should know about an upload that is no fault."""

    rule: str
    params: Mapping[str, str]

    def __str__(self) -> str:
        """The note as one English sentence."""
        return self.sentence

    @property
    def sentence(self) -> Sentence:
        """The note with what its translation needs."""
        return sentence(f"note.{self.rule}", **self.params)


@dataclass(frozen=True, slots=True)
class FileRole:
    """Subject and split of a file; `name` is what it is called, with the folder that counts.

    `is_new`: earlier versions took the path for another role, or for none. `own_subjects`: they are
    not C-Eval's, though some may have the same names.
    """

    subject: str
    split: Split | None
    name: str
    is_new: bool = False
    own_subjects: bool = False

    @property
    def prefix(self) -> str:
        """The beginning of each sample's id; test rows must not collide with val rows."""
        return f"{self.subject}_test" if self.split == "test" else self.subject


@dataclass(frozen=True, slots=True)
class ParsedRows:
    """What one file yields: its usable rows, everything wrong with the others, all counted.

    `unanswered`: the file has no answer at all, as the test files that benchmarks publish.
    `answer_key` is that of the answers where the layout leaves it to the file.
    `skipped` counts usable rows that were left out by choice.
    `unlisted` counts more faults by their rule.
    """

    samples: tuple[Sample, ...]
    faults: tuple[Fault, ...] = ()
    n_rows: int = 0
    unanswered: bool = False
    answer_key: str = ""
    notes: tuple[UploadNote, ...] = ()
    skipped: int = 0
    unlisted: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True, slots=True)
class LoadResult:
    """An upload as a whole.

    `dataset` has the usable rows only and `faults` all that is wrong with the others. `n_rows`
    counts the rows of the scored files, `skipped` the usable ones among them that were left out by
    choice, `files` names what was read. `sheets` are the visible
    sheets of the workbooks, `kinds` the kinds of question among all files, in their order.
    `unlisted` faults are only counted; then `rows_unusable` is in how many rows there are any.
    `unused_columns` are the columns of text that nothing of the dataset uses.
    """

    dataset: Dataset
    faults: tuple[Fault, ...]
    n_rows: int
    files: tuple[str, ...]
    notes: tuple[UploadNote, ...] = field(default=())
    sheets: tuple[str, ...] = ()
    kinds: tuple[DatasetKind, ...] = ()
    skipped: int = 0
    unlisted: int = 0
    rows_unusable: int = 0
    unused_columns: tuple[str, ...] = ()

    @property
    def n_faults(self) -> int:
        """All faults, those too that are only counted."""
        return len(self.faults) + self.unlisted

    @property
    def n_unusable_rows(self) -> int:
        """The rows that cannot be used; what is wrong with a whole file is in none."""
        if self.unlisted:
            return self.rows_unusable
        return len({(fault.file, fault.line) for fault in self.faults if fault.line})


@dataclass(frozen=True, slots=True)
class DatasetFormat:
    """A kind of file that a package reads, in files whose names end with one of the `suffixes`.

    `recognises` looks at the bytes of a file and may see its name, `read` makes tables of them and
    raises `DataError` for what it cannot read. A list of options may mark the right ones itself.
    """

    suffixes: tuple[str, ...]
    recognises: Callable[[bytes, str], bool]
    read: Callable[[bytes, str], Tables]


DATASET_FORMATS: Registry[DatasetFormat] = Registry("dataset format")


def counted(rows: Iterable[T]) -> Iterator[T]:
    """The same rows; `ON_ROWS` is told how far they are."""
    on_rows = ON_ROWS.get()
    for n, row in enumerate(rows):
        if n and n % _ROWS_A_STEP == 0:
            on_rows(n)
        yield row


def row_numbers(table: FileTable) -> Iterator[int]:
    """The number of each row, counted from 1 with those that could not be read."""
    lines = iter(sorted({fault.line for fault in table.faults}) if table.typed else ())
    number, broken = 0, next(lines, 0)
    for row in table.rows:
        while 0 < broken < row.line:
            number, broken = number + 1, next(lines, 0)
        number += 1
        yield number


def cell_text(value: Cell) -> str:
    """A value as the cell of a table: a list has its items joined, null is empty."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(cell_text, cast(list[Any], value)))
    return _ENCODER.encode(value)


def as_object(value: Any) -> dict[str, Any]:
    """A value if it is an object of JSON, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A value if it is a list of JSON, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def normalise_cell(text: str) -> str:
    """The text with full-width forms made ASCII and the blanks around it removed."""
    return unicodedata.normalize("NFKC", text).strip()


def collapse_whitespace(text: str) -> str:
    """The text on one line, with single spaces."""
    return " ".join(text.split())


def shorten(text: str, limit: int = 40) -> str:
    """The text, cut to `limit` characters with an ellipsis at its end."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quoted(text: str) -> str:
    """A text as a fault shows it: in quotes, on one line, cut short, with words for pictures."""
    word = sentence("picture.word")
    words = "".join(word if isinstance(part, Mark) else part for part in parts(text))
    return f"“{shorten(collapse_whitespace(words))}”"


def first_few(
    items: Sequence[T], most: int, show: Callable[[T], str] = str, joint: str = ", "
) -> str:
    """The first items, and how many more there are: `a, b (+3)`."""
    shown = joint.join(map(show, items[:most]))
    return f"{shown} (+{len(items) - most})" if len(items) > most else shown


def pandas_empty_fault(file: str, line: int, column: str) -> Fault:
    """The fault of a cell that may be empty, or mean what it says."""
    return Fault(
        file, line, column, "pandas-empty", f"“{PANDAS_EMPTY}”", "an empty cell, or a text"
    )


def fold_name(name: str) -> str:
    """A column's name as it is looked for."""
    return name.strip().casefold()


def duplicate_column_fault(file: str, line: int, name: str, count: int) -> Fault:
    """The fault of a name that several columns have."""
    return Fault(file, line, name, "duplicate-column", f"{count} columns “{name}”", "one")


def long_row_fault(table: FileTable, row: Row, file: str) -> Fault | None:
    """The fault of a row with more cells than its table has columns, None if it has no more."""
    width = len(table.heads)
    if not row.goes_beyond(width):
        return None
    visible = "tab" if table.delimiter == "\t" else table.delimiter
    expected = f"{width} cell{'s' if width > 1 else ''}, as in the header; "
    expected += f"a text that contains “{visible}” needs quotes around it"
    return Fault(file, row.line, "", "shifted-row", f"{len(row.cells)} cells", expected)


class FaultList:
    """The first `MAX_FAULTS` faults in the order in which they are added.

    `kept` are those, `unlisted` counts the others by their rule, and `rows` the lines that have
    any, if the faults of a line are added one after another.
    """

    def __init__(
        self, faults: Iterable[Fault] = (), *, unlisted: Counter[str] | None = None
    ) -> None:
        self._kept: list[Fault] = []
        self._last = ("", -1)
        self.unlisted: Counter[str] = Counter(unlisted or {})
        self.rows = 0
        self.add(*faults)

    @property
    def kept(self) -> tuple[Fault, ...]:
        """The faults that can be shown."""
        return tuple(self._kept)

    @property
    def total(self) -> int:
        """How many faults there are."""
        return len(self._kept) + self.unlisted.total()

    def add(self, *faults: Fault) -> None:
        """Keep the faults as long as there is room."""
        for fault in faults:
            if (fault.file, fault.line) != self._last:
                self._last = fault.file, fault.line
                self.rows += 1
            if len(self._kept) < MAX_FAULTS:
                self._kept.append(fault)
            else:
                self.unlisted[fault.rule] += 1


def sort_by_line(*faults: Sequence[Fault]) -> list[Fault]:
    """The faults of one file in the order of its lines."""
    return sorted((fault for some in faults for fault in some), key=lambda fault: fault.line)
