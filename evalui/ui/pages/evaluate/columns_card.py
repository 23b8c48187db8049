"""How a file is read: its kind, sheet, head row, columns and answer key, and what comes of it.

What is changed on the card counts when its button is pressed; before, its fields hold a draft, and
leaving the card forgets it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from evalui.app.column_memory import headers_key
from evalui.app.files.reader import FileReader
from evalui.app.service import AppService
from evalui.datasets.answers import ANSWER_KEYS, answer_function
from evalui.datasets.model import COLUMN_ROLES, Layout, columns_of, with_columns
from evalui.datasets.preview import ColumnUse, FileReading, Preview, pin
from evalui.errors import DataError
from evalui.messages import Messages, sentence
from evalui.report.html import Html
from evalui.report.words import in_words
from evalui.types import LETTERS, DatasetKind, has_options
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.format import fault_text
from evalui.ui.components.templates import fill
from evalui.ui.pages.evaluate.dataset_card import unused_columns
from evalui.ui.pages.evaluate.questions import first_question, questions_part
from evalui.ui.pages.evaluate.spec import dataset_field, read_layout, write_layout

_KINDS: Mapping[str, DatasetKind] = {name: name for name in get_args(DatasetKind)}
_HEAD_ROW = re.compile(r"-1|[1-9]\d{0,6}")
_SAMPLE_ROWS = 2
_OFFERED_HEAD_ROWS = 20
_DRAFT_FIELDS = (
    *("role", "key", "remember", "heads", "drawn"),
    *("read_kind", "read_sheet", "read_row", "read_commas"),
)
LEFT = "left"  # the state of a file whose card was left
_BETWEEN = "/"  # parts of what was drawn: the key and the kind detected, and the kind shown
_ANY_KEY = ""  # of a layout: the answer key that the columns show


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """How a file would be read as its card stands, and what comes of it.

    `layout` has what was chosen alone, the `preview` also what is guessed. `confirmed`: a person
    has used these columns before. `detected_kind` is that of the questions if nobody chooses one,
    `known`: the file can be read without anybody's choice; else `problem` may say why not. `placed`
    has the sheet and the head row of the card; where no table is there, `refusal` says so, and the
    rest is as before they were chosen.
    """

    upload: str
    layout: Layout
    preview: Preview
    reading: FileReading
    detected_kind: str
    confirmed: bool
    known: bool
    problem: str
    placed: Layout
    refusal: str = ""

    @property
    def pinned(self) -> Layout:
        """The layout that the button confirms."""
        return pin(self.reading, self.layout)

    @property
    def is_usable(self) -> bool:
        """Whether questions can be read so."""
        return bool(self.preview.total) and not self.missing and not self.refusal

    @property
    def missing(self) -> str:
        """The role without which nothing can be read, "" if all are there.

        A role that nobody gave may still be found by a name, which is not what the lists say.
        """
        if self.preview.total and not columns_of(self.layout):
            return ""
        needed = ["question"]
        if answer_function(str(self.reading.answer_key.value)):
            return "" if "question" in self.reading.roles else "question"
        guessed = "answer" in self.reading.guess.roles  # else the options mark it themselves
        if has_options(str(self.reading.kind.value)) and (guessed or not self.preview.total):
            needed.append("answer")
        return next((role for role in needed if role not in self.reading.roles), "")


def choose_columns(files: FileReader, upload: str, form: Form) -> ColumnChoice | None:
    """The choice as the form has it: its draft, else what was confirmed, else a guess.

    None if the file is no table. Raises `DataError` if it cannot be read at all.
    """
    confirmed = read_layout(form, upload)
    before = Layout(
        sheet=confirmed.sheet,
        head_row=confirmed.head_row,
        split=confirmed.split,
        commas_in_text=confirmed.commas_in_text,
        duplicate_options=confirmed.duplicate_options,
    )
    placed = _placed(form, upload, before)
    refusal = "" if placed == before else _refusal(files, upload, placed)
    place = before if refusal else placed
    plain = files.preview(upload, place)
    if plain.reading is None:
        return None
    layout = _draft(form, upload, place, plain.reading)
    if layout is None:
        layout = _layout_without_roles(files, upload, form, place)
    shown = files.preview(upload, layout, first_question(form, upload))
    assert shown.reading is not None, "the same file in the same place is a table again"
    return ColumnChoice(
        upload,
        layout,
        shown,
        shown.reading,
        str(plain.reading.kind.value),
        confirmed=bool(columns_of(confirmed)),
        known=bool(plain.total),
        problem=plain.problem,
        placed=placed,
        refusal=refusal,
    )


@dataclass(frozen=True, slots=True)
class _List:
    """A drop-down list of value -> word; `is_guess`: nobody has confirmed what it holds."""

    name: str
    label: str
    words: Mapping[str, str]
    value: str
    about: str = ""
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the file, its first values, and the list of its roles."""

    header: str
    values: Sequence[str]
    role: _List


def column_card(service: AppService, t: Messages, choice: ColumnChoice, form: Form) -> Html:
    """The card of a file's columns."""
    reading, upload = choice.reading, choice.upload
    shape = (
        t.count("file.rows", reading.n_rows),
        t.count("file.columns_count", len(reading.columns)),
    )
    remember = f"remember_{upload}"
    first = f"heads_{upload}" not in form
    drawn = (reading.detected_key, choice.detected_kind, str(reading.kind.value))
    hidden = {
        f"heads_{upload}": headers_key(reading.headers),
        f"drawn_{upload}": _BETWEEN.join(drawn),
    }
    if len(reading.sheets) <= 1:
        hidden[f"read_sheet_{upload}"] = choice.placed.sheet
    return fill(
        "evaluate/column_mapping.html",
        t=t,
        upload=upload,
        file=reading.file,
        about=" · ".join(shape),
        state=_state(t, choice),
        places=_places(t, choice),
        columns=[_column(t, choice, at, column) for at, column in enumerate(reading.columns)],
        key=_answer_key(t, choice),
        unused=unused_columns(t, choice.preview.unused),
        questions=questions_part(service, t, upload, choice.preview) if choice.is_usable else None,
        is_usable=choice.is_usable,
        verdict=_verdict(t, choice),
        reason=_reason(t, choice),
        remember=remember,
        remembers=first or "yes" in field_values(form, remember),
        hidden=hidden,
    )


def waiting_card(t: Messages, choice: ColumnChoice) -> Html:
    """A file whose columns nobody has confirmed yet, while its mapping is not open."""
    return fill("evaluate/unread.html", t=t, file=choice.reading.file, upload=choice.upload)


def pinned_form(choice: ColumnChoice, form: Form) -> Form:
    """The form that reads a file by the columns of its card, which is closed."""
    upload, layout = choice.upload, read_layout(form, choice.upload)
    closed = (f"kept_{upload}", f"open_{upload}", f"from_{upload}")
    kept = {
        name: value
        for name, value in without_drafts(form).items()
        if name not in closed and not name.startswith(dataset_field(upload))
    }
    # No list of the card has it.
    return kept | write_layout(replace(choice.pinned, cluster=layout.cluster), upload)


def without_drafts(form: Form) -> Form:
    """The form without what the cards of its files would change, which the cards hold."""
    gone = tuple(f"{name}_" for name in _DRAFT_FIELDS)
    return {name: value for name, value in form.items() if not name.startswith(gone)}


def _placed(form: Form, upload: str, before: Layout) -> Layout:
    """The sheet, the head row and the commas of the draft, else those of before; no columns."""
    if f"heads_{upload}" not in form:
        return before
    row = field_value(form, f"read_row_{upload}")
    return replace(
        before,
        sheet=field_value(form, f"read_sheet_{upload}"),
        head_row=int(row) if _HEAD_ROW.fullmatch(row) else 0,  # to be looked for
        commas_in_text=field_value(form, f"read_commas_{upload}") == "text",
    )


def _refusal(files: FileReader, upload: str, placed: Layout) -> str:
    """Why there is no table in this place, "" if there is one."""
    try:
        reading = files.preview(upload, placed).reading
    except DataError as error:
        return error.sentence
    return "" if reading else sentence("error.no-table-there")


def _layout_without_roles(files: FileReader, upload: str, form: Form, placed: Layout) -> Layout:
    """The layout where the card has no roles yet: what was confirmed, else a guess.

    A file that is read without help stays as it is read, unless another kind is chosen for it.
    """
    confirmed = read_layout(form, upload)
    same_place = placed == replace(
        placed,
        sheet=confirmed.sheet,
        head_row=confirmed.head_row,
        commas_in_text=confirmed.commas_in_text,
    )
    kind = _chosen_kind(form, upload)
    if not kind and columns_of(confirmed) and same_place:
        return confirmed
    layout = replace(placed, kind=kind or confirmed.kind)
    guessed = files.preview(upload, layout)
    is_read = guessed.total and not kind
    return layout if is_read or not guessed.reading else pin(guessed.reading, layout)


def _chosen_kind(form: Form, upload: str) -> DatasetKind | Literal[""]:
    """The kind of the draft, "" if it is the one detected."""
    kind: DatasetKind | Literal[""] = _KINDS.get(field_value(form, f"read_kind_{upload}"), "")
    return "" if kind == _drawn(form, upload)[1] else kind


def _drawn(form: Form, upload: str) -> Sequence[str]:
    """The key and the kind that were detected when the card was drawn, and the kind it showed."""
    drawn = field_value(form, f"drawn_{upload}").split(_BETWEEN)
    return drawn if len(drawn) == 3 else ("", "", "")


def _draft(form: Form, upload: str, placed: Layout, reading: FileReading) -> Layout | None:
    """The layout of the card's lists, None if there are none, or of other columns or another kind.

    An answer key or a kind that is still the one detected follows the columns.
    """
    is_drawn = field_value(form, f"heads_{upload}") == headers_key(reading.headers)
    drawn_key, _, drawn_kind = _drawn(form, upload)
    is_drawn &= field_value(form, f"read_kind_{upload}") == drawn_kind
    if not is_drawn or f"role_{upload}_0" not in form:
        return None
    roles = [field_value(form, f"role_{upload}_{at}") for at in range(len(reading.columns))]
    named = {
        role: column.header
        for role, column in zip(roles, reading.columns, strict=True)
        if role in COLUMN_ROLES
    }
    key = field_value(form, f"key_{upload}")
    key = key if key != drawn_key and key in ANSWER_KEYS else _ANY_KEY
    return with_columns(replace(placed, answer_key=key, kind=_chosen_kind(form, upload)), named)


def _state(t: Messages, choice: ColumnChoice) -> str:
    """Whether the file is read without help, else why not."""
    if choice.known:
        return t("mapping.known")
    doubt = choice.reading.guess.doubt
    if choice.problem or not doubt:
        return t.translate(choice.problem) or t("mapping.unknown")
    why = t(f"fault.confirm-{doubt}.what")
    return t("mapping.doubt", why=why[:1].upper() + why[1:])


def _places(t: Messages, choice: ColumnChoice) -> list[_List]:
    """The kind of questions, the sheet where there are several, and the row of the names.

    Where rows have too many cells, also whether a comma before a blank is part of a text.
    """
    upload, reading = choice.upload, choice.reading
    kinds: dict[str, str] = {name: t(f"kind.{name}") for name in _KINDS}
    if not reading.kind.value:
        kinds = {"": "–"} | kinds
    kind, guessed = str(reading.kind.value), _is_guess(choice, reading.kind.origin)
    lists = [_List(f"read_kind_{upload}", t("columns.kind"), kinds, kind, is_guess=guessed)]
    if len(reading.sheets) > 1:
        sheets = {"": t("mapping.any_sheet")} | {title: title for title in reading.sheets}
        sheet = choice.placed.sheet
        lists.append(_List(f"read_sheet_{upload}", t("columns.sheet"), sheets, sheet))
    row = int(reading.head_row.value)
    if row or choice.placed.head_row:
        lists.append(_head_row(t, choice, row))
    fault = choice.preview.fault
    if choice.placed.commas_in_text or (fault and fault.rule == "shifted-row"):
        uses = {name: t(f"mapping.commas_{name or 'cells'}") for name in ("", "text")}
        use = "text" if choice.placed.commas_in_text else ""
        lists.append(_List(f"read_commas_{upload}", t("mapping.commas"), uses, use))
    return lists


def _head_row(t: Messages, choice: ColumnChoice, row: int) -> _List:
    chosen = choice.placed.head_row
    automatic = t("mapping.row_detected", n=row) if not chosen else t("mapping.row_detect")
    rows = {str(n): t("mapping.row", n=n) for n in range(1, _OFFERED_HEAD_ROWS + 1)}
    if chosen > _OFFERED_HEAD_ROWS:
        rows[str(chosen)] = t("mapping.row", n=chosen)
    return _List(
        f"read_row_{choice.upload}",
        t("mapping.head_row"),
        {"": automatic} | rows | {"-1": t("mapping.no_head_row")},
        str(chosen or ""),
        is_guess=_is_guess(choice, choice.reading.head_row.origin),
    )


def _is_guess(choice: ColumnChoice, origin: str) -> bool:
    """Whether a list holds a guess that nobody has confirmed."""
    return origin == "content" and not (choice.confirmed or choice.known)


def _column(t: Messages, choice: ColumnChoice, at: int, column: ColumnUse) -> _Column:
    texts = [in_words(value, t.language) or "–" for value in column.values[:_SAMPLE_ROWS]]
    texts += ["–"] * (_SAMPLE_ROWS - len(texts))
    certain = choice.confirmed or (choice.known and column.origin == "name")
    role = _List(
        f"role_{choice.upload}_{at}",
        t("mapping.role_of", name=column.header),
        _role_words(t, len(choice.reading.columns)),
        column.role,
        is_guess=bool(column.role and column.origin != "person" and not certain),
    )
    return _Column(column.header, texts, role)


def _role_words(t: Messages, columns: int) -> Mapping[str, str]:
    letters = LETTERS[: max(2, min(len(LETTERS), columns - 1))]
    words = {"": t("mapping.not_used")}
    for role in COLUMN_ROLES:
        if role in letters:
            words[role] = t("mapping.option", letter=role)
        elif role not in LETTERS:
            words[role] = t(f"mapping.{role}")
    return words


def _answer_key(t: Messages, choice: ColumnChoice) -> _List | None:
    reading = choice.reading
    functions = any(map(answer_function, ANSWER_KEYS))  # they need no column of answers
    if not (reading.answer_values or functions) or not has_options(str(reading.kind.value)):
        return None
    values = t("mapping.values", values=t("list.comma").join(reading.answer_values))
    return _List(
        f"key_{choice.upload}",
        t("mapping.written_as"),
        {key: t(f"key.{key}") for key in ANSWER_KEYS},
        str(reading.answer_key.value),
        about=values if reading.answer_values else "",
        is_guess=_is_guess(choice, reading.answer_key.origin),
    )


def _verdict(t: Messages, choice: ColumnChoice) -> tuple[str, str]:
    """How many rows will be readable, or what is missing."""
    if choice.missing:
        return "warn", t(f"mapping.no_{choice.missing}")
    rows, total = choice.preview.total, f"{choice.preview.n_rows:,}"
    if choice.refusal or not rows:
        return "bad", t("mapping.no_rows", total=total)
    kind = "ok" if rows == choice.preview.n_rows else "warn"
    return kind, t("mapping.readable", n=f"{rows:,}", total=total)


def _reason(t: Messages, choice: ColumnChoice) -> str:
    """Why no row is readable, "" if one is or something else is missing."""
    if choice.missing or (choice.preview.total and not choice.refusal):
        return ""
    fault = choice.preview.fault
    if choice.refusal or not fault:
        return t.translate(choice.refusal or choice.preview.problem)
    actual, expected = fault_text(t, fault)
    return t("answers.fault", found=actual, expected=expected)
