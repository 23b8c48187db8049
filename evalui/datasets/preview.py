"""What a file was read as: its first questions as models are asked them, and every guess made.

A page, a command and the interface for programs show the same of it, and let the same be changed:
the kind of questions, the head row, the sheet, the role of each column and the answer key. What
`evalui check` examines besides is whether another reading cures the files.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from evalui.datasets.answers import answer_function
from evalui.datasets.guess import guess_answer_key, guess_roles
from evalui.datasets.model import (
    COLUMN_ROLES,
    COMMAS_RULE,
    MAX_FAULTS,
    ColumnTable,
    Layout,
    LoadResult,
    Roles,
    columns_of,
    fold_name,
    shorten,
    with_columns,
)
from evalui.datasets.names import is_known_name
from evalui.datasets.plain_data import encode
from evalui.datasets.reader import equal_letters, load, read_columns
from evalui.errors import DataError
from evalui.types import LETTERS, DatasetKind, Fault, Message, Sample

PAGE = 3  # questions that are shown together
# Where a guess comes from: a name in the file, what stands in the file, or a person who chose it.
Origin = Literal["name", "content", "person"]
_SHOWN_VALUES = 2  # of each column
_MAX_VALUE_CHARS = 200
_WHOLE_FILE_RULES = frozenset(("missing-column", "duplicate-column", "no-rows"))
_NO_LAYOUT = Layout()
_KINDS: Mapping[str, DatasetKind] = {name: name for name in get_args(DatasetKind)}


@dataclass(frozen=True, slots=True)
class OptionPreview:
    """An option under its letter, as the file orders them; `right` marks the right answer.

    `equal` are the letters of the other options of the same text.
    """

    letter: str
    text: str
    right: bool
    equal: str = ""


@dataclass(frozen=True, slots=True)
class QuestionPreview:
    """One question as a model is asked it.

    `turns` come before it, `text` begins with its passage if it has one, and `follow_ups` are asked
    after its answer. An open question has `references`, () without one. `file` and `line` are where
    it stands.
    """

    id: str
    file: str
    line: int
    subject: str
    turns: tuple[Message, ...]
    text: str
    options: tuple[OptionPreview, ...]
    references: tuple[str, ...]
    follow_ups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A column, its role ("" for none) and where that comes from; `values` are its first ones."""

    header: str
    role: str
    origin: Origin | Literal[""]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LayoutChoice:
    """One thing about how a file is read, and where it comes from."""

    value: str | int
    origin: Origin


@dataclass(frozen=True, slots=True)
class FileReading:
    """How a table is read. Each of its choices is a field of `Layout`, or a role of a column.

    `sheets` are all there are to choose from. `guess` is what the content says of questions of this
    kind; it is read without anybody's help if it is sure. `detected_key` is the answer key that
    these columns show.
    """

    file: str
    n_rows: int
    columns: tuple[ColumnUse, ...]
    kind: LayoutChoice
    answer_key: LayoutChoice
    head_row: LayoutChoice
    sheet: LayoutChoice
    sheets: tuple[str, ...]
    guess: Roles
    detected_key: str
    answer_values: tuple[str, ...]

    @property
    def headers(self) -> tuple[str, ...]:
        """The columns as the file writes them."""
        return tuple(column.header for column in self.columns)

    @property
    def roles(self) -> tuple[str, ...]:
        """The role of each column."""
        return tuple(column.role for column in self.columns)


@dataclass(frozen=True, slots=True)
class Preview:
    """Some questions of a dataset, those from `start` on (from 0) of `total`, and how it was read.

    `n_rows` are those of its scored files, the unusable ones too, `unused` the columns of text that
    nothing uses. `reading` is None for what is no table. Where nothing can be read so, `problem`
    says why, or `fault` is the first of the faults.
    """

    questions: tuple[QuestionPreview, ...]
    start: int
    total: int
    n_rows: int
    unused: tuple[str, ...]
    reading: FileReading | None
    problem: str = ""
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Examination:
    """How files are read; `loaded` has no samples, and is None where `problem` says why.

    `n_repeated` questions are there already, further up. `cure` is what is read with the columns
    that the content shows, where nothing is read without; `pinned` are the fields of a
    specification that read the files so whatever will be guessed, None where they would change it.
    """

    shown: Preview
    loaded: LoadResult | None
    problem: str
    n_repeated: int
    is_misread: bool
    cure: Preview | None
    pinned: dict[str, Any] | None

    @property
    def is_refused(self) -> bool:
        """Whether a run would refuse the files."""
        return self.loaded is None or bool(self.loaded.faults) or not self.shown.total


def examine(paths: Sequence[Path], layout: Layout, *, start: int, size: int) -> Examination:
    """How files are read by a layout, with `size` questions from `start` on.

    With the `answer_key` "" that which the columns show is taken. Raises `DataError` where nothing
    can be read of them.
    """
    table = read_columns(paths, layout=layout)
    if table:
        layout = with_detected_key(layout, table)
    elif not layout.answer_key:
        layout = replace(layout, answer_key="letter")
    loaded = _load(paths, layout)
    if isinstance(loaded, DataError) and table is None:
        raise loaded
    shown = preview(_result(loaded), table, layout, start=start, size=size)
    pinned = pin(shown.reading, layout) if shown.reading else layout
    if isinstance(loaded, DataError):
        misread, repeated, about, problem = False, 0, None, loaded.sentence
    else:
        samples = loaded.dataset.samples
        misread = is_misread(loaded)
        # Hashes, since the contents of a million questions take as much as these.
        repeated = len(samples) - len({hash(sample.content) for sample in samples})
        about = replace(loaded, dataset=replace(loaded.dataset, samples=(), shots=()))
        problem = ""
        del samples
    digest = _digest(loaded)
    del loaded  # a million questions are there once at a time
    again = _load(paths, pinned)
    cured = not shown.total and not isinstance(again, DataError) and bool(again.dataset.samples)
    cure = preview(_result(again), table, pinned, start=start, size=size) if cured else None
    holds = cured or (shown.total and digest == _digest(again))
    fields = layout_fields(pinned) if holds else None
    return Examination(shown, about, problem, repeated, misread, cure, fields)


def preview(
    loaded: LoadResult | str,
    table: ColumnTable | None,
    layout: Layout = _NO_LAYOUT,
    *,
    start: int = 0,
    size: int = PAGE,
) -> Preview:
    """What to show of a file that is read by `layout`.

    `loaded` is the reason where nothing can be read of it so, `table` None where it is no table.
    A `start` behind the last question shows the last page.
    """
    if isinstance(loaded, str):
        reading = read_choices(table, layout)
        rows, unused = (reading.n_rows, reading.guess.unused) if reading else (0, ())
        return Preview((), 0, 0, rows, unused, reading, loaded)
    samples = loaded.dataset.samples
    first = min(max(start, 0), max(len(samples) - 1, 0)) // size * size
    reading = read_choices(table, layout, loaded.dataset.kind if samples else "")
    shown = tuple(map(preview_question, samples[first : first + size]))
    cures = (note.sentence for note in loaded.notes if note.rule == COMMAS_RULE and not samples)
    return Preview(
        questions=shown,
        start=first,
        total=len(samples),
        n_rows=loaded.n_rows,
        unused=loaded.unused_columns,
        reading=reading,
        problem=next(cures, ""),
        fault=loaded.faults[0] if loaded.faults and not samples else None,
    )


def preview_question(sample: Sample) -> QuestionPreview:
    """A sample as a model is asked it."""
    line, equal = sample.metadata.get("line", ""), equal_letters(sample.choices)
    return QuestionPreview(
        id=sample.id,
        file=sample.metadata.get("file", ""),
        line=int(line) if line.isdecimal() else 0,
        subject=sample.subject,
        turns=sample.history,
        text=sample.question,
        options=tuple(
            OptionPreview(
                letter,
                text,
                place == sample.target,
                next((group.replace(letter, "") for group in equal if letter in group), ""),
            )
            for place, (letter, text) in enumerate(zip(LETTERS, sample.choices, strict=False))
        ),
        references=sample.references,
        follow_ups=sample.follow_ups,
    )


def read_choices(
    table: ColumnTable | None, layout: Layout, kind: DatasetKind | Literal[""] = ""
) -> FileReading | None:
    """How a table is read by `layout`, as questions of a `kind`; None if it is no table.

    What the layout leaves open is as guessed. A role that is the one guessed comes from where the
    guess does, whoever confirmed it.
    """
    if table is None:
        return None
    # A function of a package needs no column of answers, so that none is guessed.
    by_function = answer_function(layout.answer_key or _NO_LAYOUT.answer_key)
    open_layout = Layout(answer_key=layout.answer_key) if by_function else _NO_LAYOUT
    natural = guess_roles(table, open_layout)
    guess = guess_roles(table, replace(open_layout, kind=layout.kind)) if layout.kind else natural
    named = columns_of(layout)
    roles = _roles_by_header(table, named) if named else guess.roles
    kind = layout.kind or kind or guess.kind
    detected = _detect_key(table, roles, guess)
    key = layout.answer_key if layout.answer_key != _NO_LAYOUT.answer_key else detected
    return FileReading(
        file=table.file,
        n_rows=table.n_rows,
        columns=tuple(
            ColumnUse(
                header, role, _role_origin(header, role, guessed), _first_values(table, column)
            )
            for column, (header, role, guessed) in enumerate(
                zip(table.headers, roles, guess.roles, strict=True)
            )
        ),
        kind=LayoutChoice(kind, "person" if layout.kind not in ("", natural.kind) else "content"),
        answer_key=LayoutChoice(
            key, "content" if key == detected and not by_function else "person"
        ),
        head_row=_head_row(table, layout),
        sheet=LayoutChoice(layout.sheet, "person" if layout.sheet else "content"),
        sheets=table.sheets,
        guess=guess,
        detected_key=detected,
        answer_values=table.values(roles.index("answer")) if "answer" in roles else (),
    )


def with_detected_key(layout: Layout, table: ColumnTable) -> Layout:
    """The layout with the answer key that its columns show; `answer_key` "" stands for that one."""
    if layout.answer_key:
        return layout
    roles = _roles_by_header(table, columns_of(layout))
    guess = guess_roles(table, Layout(kind=layout.kind))
    return replace(layout, answer_key=_detect_key(table, roles, guess))


def pin(reading: FileReading, layout: Layout = _NO_LAYOUT) -> Layout:
    """The layout that reads a file so whatever will be guessed of it later; `layout` has the rest.

    A head row and a sheet that nobody chose are found again by themselves.
    """
    kind = _KINDS.get(str(reading.kind.value), "")
    columns = {column.role: column.header for column in reading.columns if column.role}
    key = str(reading.answer_key.value) if kind == "multiple_choice" else "letter"
    return with_columns(replace(layout, answer_key=key, kind=kind), columns)


def layout_fields(layout: Layout) -> dict[str, Any]:
    """The fields of an entry of `datasets` in a specification that read files by this layout."""
    named = columns_of(layout)
    columns = {role: named[role] for role in COLUMN_ROLES if role in named}
    fields: dict[str, Any] = {"columns": columns} if columns else {}
    for name in ("answer_key", "kind", "head_row", "sheet", "entry", "commas_in_text"):
        value = getattr(layout, name)
        if value != getattr(_NO_LAYOUT, name):
            fields[name] = value
    return fields


def is_misread(loaded: LoadResult) -> bool:
    """Whether the faults of a file are those of how it is read: no row is right, a column is
    missing, or most rows have the same fault. To leave out single rows does not help it.
    """
    rules = Counter(fault.rule for fault in loaded.faults)
    common = max(rules.values(), default=0)
    missing = not _WHOLE_FILE_RULES.isdisjoint(rules)
    return bool(rules) and (
        missing or not loaded.dataset.samples or 2 * common > min(loaded.n_rows, MAX_FAULTS)
    )


def _load(paths: Sequence[Path], layout: Layout) -> LoadResult | DataError:
    try:
        return load(paths, layout=layout)
    except DataError as error:
        return error


def _result(loaded: LoadResult | DataError) -> LoadResult | str:
    return loaded.sentence if isinstance(loaded, DataError) else loaded


def _digest(loaded: LoadResult | DataError) -> str:
    """What two readings share that have the same questions."""
    digest = hashlib.sha256()
    for sample in () if isinstance(loaded, DataError) else loaded.dataset.samples:
        digest.update(encode(sample))
    return digest.hexdigest()


def _detect_key(table: ColumnTable, roles: tuple[str, ...], guess: Roles) -> str:
    """What the right answer is written as; the guess knows more than its roles alone say."""
    return guess.answer_key if roles == guess.roles else guess_answer_key(table, roles)


def _roles_by_header(table: ColumnTable, named: Mapping[str, str]) -> tuple[str, ...]:
    roles = {fold_name(header): role for role, header in named.items()}
    return tuple(roles.get(fold_name(header), "") for header in table.headers)


def _role_origin(header: str, role: str, guessed: str) -> Origin | Literal[""]:
    if role != guessed:
        return "person"
    if not role:
        return ""
    return "name" if is_known_name(header) else "content"


def _first_values(table: ColumnTable, column: int) -> tuple[str, ...]:
    rows = table.rows[:_SHOWN_VALUES]
    return tuple(shorten(row[column].strip(), _MAX_VALUE_CHARS) for row in rows)


def _head_row(table: ColumnTable, layout: Layout) -> LayoutChoice:
    if layout.head_row:
        return LayoutChoice(layout.head_row, "person")
    return LayoutChoice(table.head_row, "name" if table.head_row <= 1 else "content")
