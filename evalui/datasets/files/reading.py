"""One file finds its reader: decoded, its format recognised, and then read."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from evalui.datasets.base import READERS, Layout, Limits, Note, Part, Reader, Source
from evalui.datasets.files.archive import Member, is_workbook
from evalui.datasets.files.encoding import decode
from evalui.datasets.files.path_roles import Role, roles_of
from evalui.datasets.questions import pictures
from evalui.datasets.tables.rows import Table
from evalui.datasets.tables.workbook import read_sheet
from evalui.errors import DataError
from evalui.types import Kind

# The reader of a file that none recognises, so that its faults name the columns it lacks.
_USUAL = {"multiple_choice": "ceval", "general_qa": "general_qa", "subjective": "subjective"}
_OPEN: tuple[Kind, ...] = ("general_qa", "subjective")


@dataclass(frozen=True, slots=True)
class Opened:
    """A file before its rows are read; `reader` is None if none recognises it."""

    path: PurePosixPath
    role: Role
    source: Source
    reader: Reader | None
    digest: bytes
    notes: tuple[Note, ...] = ()
    sheets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class File:
    """A file with its rows."""

    opened: Opened
    part: Part

    @property
    def source(self) -> Source:
        """The file's text and what its name says."""
        return self.opened.source

    @property
    def pictured(self) -> str | None:
        """The first column of pictures if every row has one, else None."""
        columns = [fault.column for fault in self.part.faults if fault.rule == pictures.RULE]
        if not columns or self.part.samples or len(columns) < len(self.part.faults):
            return None
        return columns[0]


@dataclass(frozen=True, slots=True)
class OfAKind:
    """The files of one kind of question, each with its reader; `kinds` are all there are."""

    files: tuple[tuple[Opened, Reader], ...]
    kind: Kind
    kinds: tuple[Kind, ...]
    notes: tuple[Note, ...]


def open_files(
    members: Sequence[Member], layout: Layout, limits: Limits
) -> Iterator[Opened | Note]:
    """Each of the files that come together, or a note that says why it was left aside."""
    roles = roles_of([member.path for member in members])
    for member, role in zip(members, roles, strict=True):
        opened = open_member(member, role, layout, limits)
        if opened.reader is None and not member.explicit and member.path.suffix.lower() == ".txt":
            yield Note("ignored-files", {"files": member.name})
        else:
            yield opened


def open_member(member: Member, role: Role, layout: Layout, limits: Limits) -> Opened:
    """A file as text or as a sheet; raises `DataError` if it is neither."""
    digest = hashlib.sha256(member.data).digest()
    if is_workbook(member):
        return _open_workbook(member, role, digest, layout, limits)
    decoded = decode(member.data, member.name)
    source = replace(_source(member, role), text=decoded.text, encoding=decoded.encoding)
    return Opened(member.path, role, source, _reader(source, layout), digest)


def of_one_kind(files: Sequence[Opened], layout: Layout) -> OfAKind:
    """The files of the kind that the layout chooses, else of the first kind there is.

    Open questions may be read as either open kind, if the files are all of the other. Raises
    `DataError` if there are no questions of the chosen kind.
    """
    found: list[Kind] = [file.reader.kind for file in files if file.reader]
    kinds = tuple(dict.fromkeys(found))
    kind = _kind(files, kinds, layout)
    usual = READERS[_USUAL[kind]]
    if kind in kinds or not kinds:
        readers = [(file, file.reader or usual) for file in files]
    else:
        readers = [(file, usual if _may_be(kind, file) else file.reader) for file in files]
    chosen = tuple((file, reader) for file, reader in readers if reader and reader.kind == kind)
    left = [(file, reader) for file, reader in readers if reader and reader.kind != kind]
    notes = tuple(
        Note("other-kind", {"file": file.source.name, "kind": reader.kind}) for file, reader in left
    )
    return OfAKind(chosen, kind, kinds if kind in kinds else (*kinds, kind), notes)


def read_files(found: OfAKind, layout: Layout) -> list[File]:
    """The rows of the opened files.

    Where one of them tells whether numbers count options from 0 or from 1, those count alike that
    do not tell: five worked examples may well lack the last option.
    """
    files = [File(file, reader.read(file.source, layout)) for file, reader in found.files]
    told = {file.part.answer_key for file in files if not _assumed(file.part)}
    told &= {"index0", "index1"}
    if len(told) != 1:
        return files
    alike = replace(layout, answer_key=told.pop())
    return [
        File(opened, reader.read(opened.source, alike)) if _assumed(file.part) else file
        for file, (opened, reader) in zip(files, found.files, strict=True)
    ]


def _assumed(part: Part) -> bool:
    return any(note.rule == "counts-from-0" for note in part.notes)


def _source(member: Member, role: Role) -> Source:
    """What is known of a file before it is opened."""
    # C-Eval's own files say their split in their names.
    return Source(role.name, "", role.subject, role.split, own_subjects=role.name != member.name)


def _open_workbook(
    member: Member, role: Role, digest: bytes, layout: Layout, limits: Limits
) -> Opened:
    def source(table: Table) -> Source:
        return replace(_source(member, role), table=table)

    def fits(head: Table) -> bool:
        return _reader(source(head), layout) is not None

    sheet = read_sheet(member.data, member.name, wish=layout.sheet, fits=fits, limits=limits)
    others = ", ".join(title for title in sheet.visible if title != sheet.title)
    notes: list[Note] = []
    if others and not layout.sheet:
        told = {"file": member.name, "sheet": sheet.title, "others": others}
        notes.append(Note("other-sheets", told))
    if sheet.hidden:
        hidden = {"file": member.name, "sheets": ", ".join(sheet.hidden)}
        notes.append(Note("hidden-sheets", hidden))
    found = source(sheet.table)
    reader = _reader(found, layout)
    return Opened(member.path, role, found, reader, digest, tuple(notes), sheet.visible)


def _reader(source: Source, layout: Layout) -> Reader | None:
    readers = (READERS[name] for name in READERS)
    return next((reader for reader in readers if reader.recognises(source, layout)), None)


def _kind(files: Sequence[Opened], kinds: Sequence[Kind], layout: Layout) -> Kind:
    wish = layout.kind
    if not wish:
        return kinds[0] if kinds else "multiple_choice"
    if kinds and wish not in kinds and not any(_may_be(wish, file) for file in files):
        raise DataError(
            "no-such-kind",
            files=", ".join(file.source.name for file in files[:3]),
            kind=wish,
            known=", ".join(kinds),
        )
    return wish


def _may_be(kind: Kind, file: Opened) -> bool:
    return kind in _OPEN and (file.reader is None or file.reader.kind in _OPEN)
