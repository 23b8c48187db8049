"""Which column is what: a list for each column, filled with a guess, and row 1 read that way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.datasets.base import Layout
from evalui.datasets.columns import (
    COLUMN_ROLES,
    ColumnTable,
    answer_values,
    columns_of,
    guess_answer_key,
    guess_columns,
    with_columns,
)
from evalui.datasets.questions.answers import ANSWER_KEYS
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import status, status_icon
from evalui.types import LETTERS, Sample
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.widgets import button, card, select, tick
from evalui.ui.services.files.views import UploadView
from evalui.ui.services.run_form import read_layout
from evalui.ui.tabs.evaluate.dataset_card import upload_fields

_SAMPLE_ROWS = 2


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """The columns of a file with the role of each as it stands in the form, else as guessed.

    `guessed` are the columns whose role nobody has chosen and no format has.
    """

    upload: str
    table: ColumnTable
    roles: tuple[str, ...]
    answer_key: str
    guessed: frozenset[int]
    layout: Layout

    @property
    def missing(self) -> str:
        """The role without which nothing can be read, "" if all are there."""
        open_ = not {*LETTERS, "options"} & set(self.roles)
        needed = ("question",) if open_ else ("question", "answer")
        return next((role for role in needed if role not in self.roles), "")


def choose_columns(upload: str, table: ColumnTable, form: Form) -> ColumnChoice:
    """The choice as the form has it: its lists, else what was confirmed before, else a guess."""
    known = columns_of(read_layout(form, upload))
    guess = guess_columns(table)
    chosen = [field_value(form, f"role_{upload}_{at}") for at in range(len(table.headers))]
    begun = f"role_{upload}_0" in form
    if begun:
        roles, guessed = tuple(chosen), _still_guessed(guess.roles, chosen, table)
    elif known:
        by_name = {name: role for role, name in known.items()}
        roles, guessed = tuple(by_name.get(name, "") for name in table.headers), frozenset[int]()
    else:
        roles, guessed = guess.roles, _still_guessed(guess.roles, guess.roles, table)
    key = field_value(form, f"key_{upload}") if begun else ""
    if not key:
        key = read_layout(form, upload).answer_key if known else guess_answer_key(table, roles)
    columns = {role: name for name, role in zip(table.headers, roles, strict=True) if role}
    base = read_layout(form, upload)
    layout = with_columns(Layout(answer_key=key, sheet=base.sheet, kind=base.kind), columns)
    return ColumnChoice(upload, table, roles, key, guessed, layout)


def columns_card(
    t: Messages, choice: ColumnChoice, view: UploadView | None, form: Form, *, known: bool
) -> Html:
    """The card. `view` is the file read this way, None if it cannot be; `known`: so it can be
    without any choice, too.
    """
    table = choice.table
    shape = (
        table.file,
        t.count("file.rows", table.n_rows),
        t.count("file.columns_count", len(table.headers)),
    )
    return card(
        upload_fields(choice.upload, form, "col_sheet", "col_kind", "col_duplicates"),
        div(el("h2", t("mapping.title")), span(" · ".join(shape), cls="meta"), cls="card-h"),
        el("p", t("mapping.known" if known else "mapping.unknown"), cls="dim"),
        div(el("table", _head(t), el("tbody", *_rows(t, choice)), cls="map"), cls="scroll"),
        _answer_key(t, choice),
        _read_back(t, view),
        div(
            button(
                t("mapping.use"),
                "columns",
                cls="pri",
                data_upload=choice.upload,
                disabled=not _readable(view),
            ),
            _verdict(t, choice, view),
            tick(
                f"remember_{choice.upload}",
                "yes",
                t("mapping.remember"),
                on=field_value(form, f"remember_{choice.upload}") == "yes"
                or f"role_{choice.upload}_0" not in form,
                many=False,
            ),
            cls="use",
        ),
        cls="mapping",
    )


def _still_guessed(
    guess: Sequence[str], roles: Sequence[str], table: ColumnTable
) -> frozenset[int]:
    """The columns that stand as guessed, under names that are not the roles' own."""
    return frozenset(
        at
        for at, (guessed, role) in enumerate(zip(guess, roles, strict=True))
        if role and guessed == role and table.headers[at].strip().casefold() != role.casefold()
    )


def _head(t: Messages) -> Html:
    names = ("column", "row_1", "row_2", "role")
    heads = (el("th", t(f"mapping.{name}"), scope="col") for name in names)
    return el("thead", el("tr", *heads))


def _rows(t: Messages, choice: ColumnChoice) -> list[Html]:
    return [_row(t, choice, at, name) for at, name in enumerate(choice.table.headers)]


def _row(t: Messages, choice: ColumnChoice, at: int, name: str) -> Html:
    texts = [row[at].strip() or "–" for row in choice.table.rows[:_SAMPLE_ROWS]]
    texts += ["–"] * (_SAMPLE_ROWS - len(texts))
    role = select(
        f"role_{choice.upload}_{at}",
        _role_words(t, len(choice.table.headers)),
        choice.roles[at],
        aria_label=t("mapping.role_of", name=name),
        cls="guess" if at in choice.guessed else None,
    )
    return el(
        "tr",
        el("th", name, scope="row", cls="mono"),
        *(el("td", div(text, cls="dim ell")) for text in texts),
        el("td", role),
    )


def _role_words(t: Messages, columns: int) -> Mapping[str, str]:
    letters = LETTERS[: max(2, min(len(LETTERS), columns - 1))]
    words = {"": t("mapping.not_used")}
    for role in COLUMN_ROLES:
        if role in letters:
            words[role] = t("mapping.option", letter=role)
        elif role not in LETTERS:
            words[role] = t(f"mapping.{role}")
    return words


def _answer_key(t: Messages, choice: ColumnChoice) -> Html | None:
    if "answer" not in choice.roles or not {*LETTERS, "options"} & set(choice.roles):
        return None
    values = answer_values(choice.table, choice.roles.index("answer"))
    name = f"key_{choice.upload}"
    words = {key: t(f"key.{key}") for key in ANSWER_KEYS}
    return div(
        el("b", t("mapping.written_as")),
        span(t("mapping.values", values=t("list.comma").join(values)), cls="meta"),
        select(name, words, choice.answer_key, aria_label=t("mapping.written_as"), cls="guess"),
        cls="written",
    )


def _readable(view: UploadView | None) -> bool:
    return view is not None and bool(view.n_questions)


def _read_back(t: Messages, view: UploadView | None) -> Html | None:
    """The first row that can be read, as it will be."""
    if view is None or not view.first:
        return None
    first = view.first[0]
    return div(
        div(el("h3", t("mapping.read_back")), el("p", first.subject, cls="meta")),
        div(el("p", first.question), el("p", *_choices(first), cls="dim")),
        cls="read-back",
    )


def _choices(sample: Sample) -> list[Html]:
    if not sample.choices:
        return [span(text, cls="ok") for text in sample.references[:1]]
    return [
        span(
            status_icon("ok") if place == sample.target else None,
            f"{LETTERS[place]}. {text}",
            cls="ok" if place == sample.target else None,
        )
        for place, text in enumerate(sample.choices)
    ]


def _verdict(t: Messages, choice: ColumnChoice, view: UploadView | None) -> Html:
    """How many rows will be readable, or what is missing."""
    if choice.missing:
        return status("warn", t(f"mapping.no_{choice.missing}"))
    if view is None:
        return status("bad", t("mapping.no_rows", total=f"{choice.table.n_rows:,}"))
    rows, total = view.n_questions, f"{view.n_rows:,}"
    if not rows:
        why = view.faults[0] if view.faults else None
        reason = f": {why.actual}" if why and t.language == "en" else ""
        return join(status("bad", t("mapping.no_rows", total=total)), span(reason, cls="meta"))
    kind = "ok" if rows == view.n_rows else "warn"
    return status(kind, t("mapping.readable", n=f"{rows:,}", total=total))
