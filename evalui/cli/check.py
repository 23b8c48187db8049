"""`evalui check FILE...`: how files are read, and what to write so that they are read otherwise.

    evalui check FILE... [--kind KIND] [--head-row N] [--sheet NAME] [--column ROLE=HEADER]...
                 [--answer-key KEY] [--entry NAME] [--from N] [--questions N] [--commas-in-text]
                 [--language zh]

Nothing is stored and no model is asked. The exit code is 2 where `evalui run` would refuse them.
"""

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

from evalui.cli.parser import number
from evalui.errors import DataError, SpecError
from evalui.messages import Sentence
from evalui.types import DatasetKind, Language, has_options

if TYPE_CHECKING:
    from evalui.datasets.model import Layout, LoadResult
    from evalui.datasets.preview import Examination, FileReading, Preview, QuestionPreview
    from evalui.messages import Messages

_SHOWN_FAULTS = 5
_SHOWN_FILES = 3
_SHOWN_CHARS = 60  # of the first value of a column
# Notes and faults that say themselves what helps.
_SAY_WHAT_HELPS = ("commas-in-text", "confirm-outputs", "confirm-battles", "confirm-ratings")
_ANY_KEY = ""  # of a layout: the answer key that the columns show


def add_check_command(commands: Any) -> None:
    """Add `evalui check FILE...` to the commands of a parser."""
    check = commands.add_parser("check", help="show how files are read, and what is wrong in them")
    check.add_argument("files", metavar="FILE", type=Path, nargs="+")
    check.add_argument(
        "--kind", choices=get_args(DatasetKind), default="", help="kind of the questions"
    )
    check.add_argument(
        "--head-row",
        metavar="N",
        type=number("a row", -1),
        default=0,
        help="row of the headers, counted from 1; -1: no headers",
    )
    check.add_argument("--sheet", metavar="NAME", default="", help="the only sheet to read")
    check.add_argument(
        "--column",
        metavar="ROLE=HEADER",
        action="append",
        default=[],
        help="the column of a role, such as question=Frage or A=erste; can be repeated",
    )
    check.add_argument(
        "--answer-key",
        metavar="KEY",
        help="letter, index0, index1, text, or a function of a package",
    )
    check.add_argument(
        "--commas-in-text", action="store_true", help="a comma before a blank belongs to the text"
    )
    check.add_argument("--entry", metavar="NAME", default="", help="entry of a SWIFT configuration")
    check.add_argument(
        "--from",
        dest="first",
        metavar="N",
        type=number("a question", 1),
        default=1,
        help="number of the first question to show",
    )
    check.add_argument(
        "--questions",
        metavar="N",
        type=number("the number of questions", 0),
        help="how many questions to show (default: 3)",
    )
    check.add_argument("--language", choices=get_args(Language), default="en")
    check.set_defaults(command=_check)


def _check(given: argparse.Namespace) -> int:
    from evalui.datasets.sandbox import config_entries, confined
    from evalui.messages import messages

    t = messages(given.language)
    layout = _layout(given)
    with TemporaryDirectory(prefix="evalui-") as folder:
        log = confined(find_log)(given.files, Path(folder))
    if isinstance(log, Sentence):
        print(t.translate(log))
    elif log:
        paths = " ".join(shlex.quote(str(path)) for path in given.files)
        key = f"harness.{log}"
        print(t("check.log", harness=t(key) if key in t else log, paths=paths))
    codes: list[int] = []
    try:
        entries = [each.name for each in config_entries(given.files)] or [""]
        for entry in [given.entry] if given.entry else entries:
            if codes:
                print()
            codes.append(_check_dataset(t, given, replace(layout, entry=entry), is_log=bool(log)))
    except DataError:
        if not log:
            raise
        return 2  # why a log is no dataset helps nobody
    return max(codes)


def find_log(files: Sequence[Path], folder: Path) -> str:
    """The harness whose log the files are, or the sentence on what such a log lacks, or "".

    Archives are unpacked within a folder.
    """
    from evalui.datasets.model import Limits
    from evalui.harnesses.files import MAX_FILES, opened_files
    from evalui.harnesses.importing import find_parts

    with ExitStack() as stack:
        try:
            limits = Limits(files=MAX_FILES)
            opened = stack.enter_context(opened_files(files, limits, within=folder))
        except DataError:
            return ""  # what reads it as a dataset says why
        try:
            parts = find_parts(opened)
        except DataError as error:
            return error.sentence
    return parts[0].harness if parts else ""


def _layout(given: argparse.Namespace) -> "Layout":
    """The layout of the options.

    Raises:
        SpecError: a role or an answer key is none of those there are, or the head row is no row.
    """
    from evalui.datasets.answers import ANSWER_KEYS
    from evalui.datasets.model import COLUMN_ROLES, Layout, with_columns

    columns: dict[str, str] = {}
    for pair in given.column:
        role, _, header = pair.partition("=")
        if role not in COLUMN_ROLES or not header:
            raise SpecError("check-column", pair=pair, known=", ".join(COLUMN_ROLES))
        columns[role] = header
    if given.head_row < -1:
        raise SpecError("check-head-row", row=given.head_row)
    if given.answer_key:
        ANSWER_KEYS[given.answer_key]  # raises for an unknown one
    layout = Layout(
        kind=given.kind,
        sheet=given.sheet,
        head_row=given.head_row,
        commas_in_text=given.commas_in_text,
        answer_key=given.answer_key or (_ANY_KEY if columns else "letter"),
    )
    return with_columns(layout, columns) if columns else layout


def _check_dataset(
    t: "Messages", given: argparse.Namespace, layout: "Layout", *, is_log: bool
) -> int:
    """Print what one dataset is read as; the exit code. Of a log only what can be read counts."""
    from evalui.datasets.preview import PAGE
    from evalui.datasets.sandbox import examine

    size, start = max(given.questions or PAGE, 1), max(given.first, 1) - 1
    found = examine(given.files, layout, start=start, size=size)
    if is_log and not found.shown.total:
        return 2
    _print_lines(_about(t, found))
    if found.cure:
        print(t("check.guess", why=_doubt(t, found.shown)))
    _print_lines(_questions(t, found.cure or found.shown))
    if found.pinned is not None:
        path = [str(file) for file in given.files]
        entry = {"path": path[0] if len(path) == 1 else path} | found.pinned
        print(t("check.pin"))
        print(json.dumps(entry, ensure_ascii=False))
    return 2 if found.is_refused else 0


def _doubt(t: "Messages", shown: "Preview") -> str:
    """Why a file is not read without a confirmation."""
    doubt = shown.reading.guess.doubt if shown.reading else ""
    return t(f"fault.confirm-{doubt}.what") if doubt else t("check.unread")


def _print_lines(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)


def _about(t: "Messages", found: "Examination") -> Iterator[str]:
    shown, loaded = found.shown, found.loaded
    if loaded:
        more = len(loaded.files) - _SHOWN_FILES
        files = ", ".join(loaded.files[:_SHOWN_FILES]) + (f" (+{more})" if more > 0 else "")
        counts = {"n": f"{shown.total:,}", "total": f"{shown.n_rows:,}"}
        kind = t(f"kind.{loaded.dataset.kind}")
        yield t("check.dataset", name=loaded.dataset.name, files=files, kind=kind, **counts)
    else:
        yield t.translate(found.problem)
    if shown.reading:
        yield from _reading(t, shown.reading)
    if shown.unused:
        yield t("file.unused", names=t("list.comma").join(shown.unused))
    if loaded:
        stated = ("columns-read", "unused-columns")
        notes = (note for note in loaded.notes if note.rule not in stated)
        yield from (t.translate(note.sentence) for note in notes)
        if found.n_repeated:
            yield t("check.repeated", k=f"{found.n_repeated:,}", n=f"{shown.total:,}")
        yield from () if found.cure else _faults(t, loaded, is_misread=found.is_misread)


def _reading(t: "Messages", reading: "FileReading") -> Iterator[str]:
    from evalui.datasets.answers import answer_function

    row = int(reading.head_row.value)
    if row:
        number = t("mapping.no_head_row") if row < 0 else t("mapping.row", n=row)
        yield f"{t('mapping.head_row')}: {number}{_origin(t, reading.head_row.origin)}"
    if len(reading.sheets) > 1:
        yield f"{t('columns.sheet')}: {reading.sheet.value or t('mapping.any_sheet')}"
    width = max(len(column.header) for column in reading.columns)
    roles = max(1, *(len(column.role) for column in reading.columns))
    for column in reading.columns:
        value = next(iter(column.values), "").replace("\n", " ")[:_SHOWN_CHARS]
        role = (column.role or "–").ljust(roles)
        origin = _origin(t, column.origin) if column.role else ""
        yield f"  {column.header.ljust(width)}  {role}  {value}{origin}".rstrip()
    key = str(reading.answer_key.value)
    stated = reading.answer_values or answer_function(key)
    if stated and has_options(str(reading.kind.value)):
        yield f"{t('mapping.written_as')}: {t(f'key.{key}')} ({key})"


def _origin(t: "Messages", origin: str) -> str:
    """Where a choice comes from, if not from the names of the file."""
    return f"  [{t(f'check.{origin}')}]" if origin in ("content", "person") else ""


def _faults(t: "Messages", loaded: "LoadResult", *, is_misread: bool) -> Iterator[str]:
    """The first faults, and what helps."""
    if not loaded.faults:
        return
    yield t("check.faults", n=f"{loaded.n_faults:,}")
    yield from (f"  {fault}" for fault in loaded.faults[:_SHOWN_FAULTS])
    rest = loaded.n_faults - _SHOWN_FAULTS
    if rest > 0:
        yield "  " + t("preview.more", n=f"{rest:,}")
    rules = {note.rule for note in loaded.notes} | {fault.rule for fault in loaded.faults}
    if rules.isdisjoint(_SAY_WHAT_HELPS):
        yield t("check.misread" if is_misread else "check.rows")


def _questions(t: "Messages", shown: "Preview") -> Iterator[str]:
    from evalui.report.words import in_words

    for place, question in enumerate(shown.questions, start=shown.start + 1):
        yield ""
        yield from (in_words(line, t.language) for line in _question(t, question, place))
    if shown.questions:
        yield ""


def _question(t: "Messages", question: "QuestionPreview", number: int) -> Iterator[str]:
    place = f"{question.file}, {t('preview.line', n=question.line)}" if question.line else ""
    yield f"{number}. {place}".rstrip()
    for turn in question.turns:
        yield _indented(f"[{t(f'role.{turn.role}')}] {turn.content}")
    yield _indented(question.text)
    for option in question.options:
        mark = "*" if option.right else " "
        yield _indented(f"{option.letter}. {option.text}", first=f" {mark} ")
    for text in question.references:
        yield _indented(f"{t('preview.reference')}: {text}", first=" * ")
    for text in question.follow_ups:
        yield _indented(f"[{t('preview.then')}] {text}")


def _indented(text: str, first: str = "   ") -> str:
    return first + text.replace("\n", "\n   ")
