"""One file finds its reader: decoded, its format recognised, and then read."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from evalui.datasets.base import (
    DATASET_FORMATS,
    DatasetFormat,
    Layout,
    Limits,
    ParsedRows,
    Source,
    UploadNote,
)
from evalui.datasets.files.archive import SourceFile, is_workbook
from evalui.datasets.files.encoding import decode
from evalui.datasets.files.path_roles import FileRole, roles_of
from evalui.datasets.questions import pictures
from evalui.datasets.tables.rows import RawTable
from evalui.datasets.tables.workbook import read_sheet
from evalui.errors import DataError
from evalui.types import DatasetKind

# The reader of a file that none recognises, so that its faults name the columns it lacks.
_DEFAULT_FORMATS = {
    "multiple_choice": "ceval",
    "general_qa": "general_qa",
    "subjective": "subjective",
}
_OPEN_KINDS: tuple[DatasetKind, ...] = ("general_qa", "subjective")


@dataclass(frozen=True, slots=True)
class DecodedFile:
    """A file before its rows are read; `dataset_format` is None if none recognises it."""

    path: PurePosixPath
    role: FileRole
    source: Source
    dataset_format: DatasetFormat | None
    digest: bytes
    notes: tuple[UploadNote, ...] = ()
    sheets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file with its rows."""

    decoded: DecodedFile
    parsed: ParsedRows

    @property
    def source(self) -> Source:
        """The file's text and what its name says."""
        return self.decoded.source

    @property
    def picture_column(self) -> str | None:
        """The first column of pictures if every row has one, else None."""
        columns = [
            fault.column for fault in self.parsed.faults if fault.rule == pictures.PICTURE_RULE
        ]
        if not columns or self.parsed.samples or len(columns) < len(self.parsed.faults):
            return None
        return columns[0]


@dataclass(frozen=True, slots=True)
class FilesOfKind:
    """The files of one kind of question, each with its reader; `kinds` are all there are."""

    files: tuple[tuple[DecodedFile, DatasetFormat], ...]
    kind: DatasetKind
    kinds: tuple[DatasetKind, ...]
    notes: tuple[UploadNote, ...]


def open_files(
    members: Sequence[SourceFile], layout: Layout, limits: Limits
) -> Iterator[DecodedFile | UploadNote]:
    """Each of the files that come together, or a note that says why it was left aside."""
    roles = roles_of([member.path for member in members])
    for member, role in zip(members, roles, strict=True):
        opened = open_file(member, role, layout, limits)
        if (
            opened.dataset_format is None
            and not member.explicit
            and member.path.suffix.lower() == ".txt"
        ):
            yield UploadNote("ignored-files", {"files": member.name})
        else:
            yield opened


def open_file(member: SourceFile, role: FileRole, layout: Layout, limits: Limits) -> DecodedFile:
    """A file as text or as a sheet; raises `DataError` if it is neither."""
    digest = hashlib.sha256(member.data).digest()
    if is_workbook(member):
        return _open_workbook(member, role, digest, layout, limits)
    decoded = decode(member.data, member.name)
    source = replace(_empty_source(member, role), text=decoded.text, encoding=decoded.encoding)
    return DecodedFile(member.path, role, source, _find_format(source, layout), digest)


def select_kind(files: Sequence[DecodedFile], layout: Layout) -> FilesOfKind:
    """The files of the kind that the layout chooses, else of the first kind there is.

    Open questions may be read as either open kind, if the files are all of the other. Raises
    `DataError` if there are no questions of the chosen kind.
    """
    found: list[DatasetKind] = [file.dataset_format.kind for file in files if file.dataset_format]
    kinds = tuple(dict.fromkeys(found))
    kind = _choose_kind(files, kinds, layout)
    usual = DATASET_FORMATS[_DEFAULT_FORMATS[kind]]
    if kind in kinds or not kinds:
        readers = [(file, file.dataset_format or usual) for file in files]
    else:
        readers = [
            (file, usual if _can_be_read_as(kind, file) else file.dataset_format) for file in files
        ]
    chosen = tuple((file, reader) for file, reader in readers if reader and reader.kind == kind)
    left = [(file, reader) for file, reader in readers if reader and reader.kind != kind]
    notes = tuple(
        UploadNote("other-kind", {"file": file.source.name, "kind": reader.kind})
        for file, reader in left
    )
    return FilesOfKind(chosen, kind, kinds if kind in kinds else (*kinds, kind), notes)


def read_files(selection: FilesOfKind, layout: Layout) -> list[ParsedFile]:
    """The rows of the opened files.

    Where one of them tells whether numbers count options from 0 or from 1, those count alike that
    do not tell: five worked examples may well lack the last option.
    """
    files = [ParsedFile(file, reader.read(file.source, layout)) for file, reader in selection.files]
    told = {file.parsed.answer_key for file in files if not _is_index_base_assumed(file.parsed)}
    told &= {"index0", "index1"}
    if len(told) != 1:
        return files
    alike = replace(layout, answer_key=told.pop())
    return [
        ParsedFile(opened, reader.read(opened.source, alike))
        if _is_index_base_assumed(file.parsed)
        else file
        for file, (opened, reader) in zip(files, selection.files, strict=True)
    ]


def _is_index_base_assumed(part: ParsedRows) -> bool:
    return any(note.rule == "counts-from-0" for note in part.notes)


def _empty_source(member: SourceFile, role: FileRole) -> Source:
    """What is known of a file before it is opened."""
    # C-Eval's own files say their split in their names.
    return Source(role.name, "", role.subject, role.split, own_subjects=role.name != member.name)


def _open_workbook(
    member: SourceFile, role: FileRole, digest: bytes, layout: Layout, limits: Limits
) -> DecodedFile:
    def source(table: RawTable) -> Source:
        return replace(_empty_source(member, role), table=table)

    def fits(head: RawTable) -> bool:
        return _find_format(source(head), layout) is not None

    sheet = read_sheet(
        member.data, member.name, sheet_name=layout.sheet, accepts_header=fits, limits=limits
    )
    others = ", ".join(title for title in sheet.visible if title != sheet.title)
    notes: list[UploadNote] = []
    if others and not layout.sheet:
        told = {"file": member.name, "sheet": sheet.title, "others": others}
        notes.append(UploadNote("other-sheets", told))
    if sheet.hidden:
        hidden = {"file": member.name, "sheets": ", ".join(sheet.hidden)}
        notes.append(UploadNote("hidden-sheets", hidden))
    found = source(sheet.table)
    reader = _find_format(found, layout)
    return DecodedFile(member.path, role, found, reader, digest, tuple(notes), sheet.visible)


def _find_format(source: Source, layout: Layout) -> DatasetFormat | None:
    readers = (DATASET_FORMATS[name] for name in DATASET_FORMATS)
    return next((reader for reader in readers if reader.recognises(source, layout)), None)


def _choose_kind(
    files: Sequence[DecodedFile], kinds: Sequence[DatasetKind], layout: Layout
) -> DatasetKind:
    wish = layout.kind
    if not wish:
        return kinds[0] if kinds else "multiple_choice"
    if kinds and wish not in kinds and not any(_can_be_read_as(wish, file) for file in files):
        raise DataError(
            "no-such-kind",
            files=", ".join(file.source.name for file in files[:3]),
            kind=wish,
            known=", ".join(kinds),
        )
    return wish


def _can_be_read_as(kind: DatasetKind, file: DecodedFile) -> bool:
    return kind in _OPEN_KINDS and (
        file.dataset_format is None or file.dataset_format.kind in _OPEN_KINDS
    )
