"""Files that come together: their subjects and splits, which format reads each, and their rows.

The name of a file counts first (law_val.csv), then the nearest folder that is called like a split
(dev/law.csv). A name that is a split alone (law/test.csv) leaves the subject to its folder.

Rows of which several options have the same text are kept with a note, or left out by choice: real
benchmarks have such rows, and published figures count them.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from evalui.datasets.containers.delimited import read_delimited
from evalui.datasets.containers.pictures import PICTURE_RULE
from evalui.datasets.files.archive import SourceFile, is_optional
from evalui.datasets.model import (
    COMMAS_RULE,
    DATASET_FORMATS,
    DatasetFormat,
    Layout,
    Limits,
    ParsedRows,
    Source,
    UploadNote,
)
from evalui.datasets.recognition import Recognition, recognise, recognise_as
from evalui.datasets.tables.containers import Part, open_container, to_part
from evalui.errors import DataError
from evalui.types import LETTERS, DatasetKind, Sample, Split

# The reader of a file that none recognises, so that its faults name the columns it lacks.
_DEFAULT_FORMATS = {
    "multiple_choice": "ceval",
    "general_qa": "general_qa",
    "subjective": "subjective",
}
_OPEN_KINDS: tuple[DatasetKind, ...] = ("general_qa", "subjective")
KEPT_RULE, LEFT_OUT_RULE = "duplicate-options", "duplicate-options-left-out"
OTHER_SPLIT_RULE = "other-split"
_MAX_CHARS_TRIED = 2_000_000  # of a file that is read a second time
NO_ROWS_RULE = "no-worked-examples"
SHOWN_SPLITS: tuple[Split, ...] = ("dev", "train")  # of worked examples, of which there may be none
_BLANK_BYTES = b"\xef\xbb\xbf \t\r\n"
_EMPTY_RULES = frozenset(("no-rows", "missing-column"))
_MAX_ROWS_SHOWN = 10  # rows named in a note
_SPLITS: dict[str, Split] = {
    "dev": "dev",
    "val": "val",
    "validation": "val",
    "test": "test",
    "train": "train",
}
_SPLIT_NAMES = "|".join(_SPLITS)
_SUBJECT_AND_SPLIT = re.compile(rf"(?P<subject>.+?)[_.-](?P<split>{_SPLIT_NAMES})", re.IGNORECASE)
_SPLIT_ONLY = re.compile(
    rf"(?P<split>{_SPLIT_NAMES})(?:_rand_split(?:_no_answers)?)?", re.IGNORECASE
)
_VERSION_0_1_NAME = re.compile(
    r".+?[_.-](?:dev|val|test)", re.IGNORECASE
)  # all that version 0.1.0 knew
_DEFAULT_SUBJECT = "default"  # SWIFT's name for a subject without one


@dataclass(frozen=True, slots=True)
class FileRole:
    """Subject and split of a file; `name` is what it is called, with the folder that counts.

    `is_new`: earlier versions took the path for another role, or for none.
    """

    subject: str
    split: Split | None
    name: str
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class DecodedFile:
    """A file before its rows are read."""

    path: PurePosixPath
    role: FileRole
    source: Source
    recognition: Recognition
    digest: bytes
    notes: tuple[UploadNote, ...] = ()
    sheets: tuple[str, ...] = ()

    @property
    def dataset_format(self) -> DatasetFormat | None:
        """What reads the file."""
        return self.recognition.dataset_format

    @property
    def is_recognised(self) -> bool:
        """Whether the file can be read without anybody's help."""
        return self.dataset_format is not None and not self.is_unconfirmed

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the file waits for its columns to be confirmed."""
        return self.recognition.way == "unconfirmed"

    def key(self) -> tuple[PurePosixPath, str]:
        """What tells it from all others: the path, and the sheet where there are several."""
        return self.path, self.source.sheet

    @property
    def n_rows(self) -> int:
        """How many rows it has, as far as that is known without reading them."""
        rows = self.source.table.rows if self.source.table else self.source.records
        return len(rows or ())


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file with its rows."""

    decoded: DecodedFile
    parsed: ParsedRows

    @property
    def source(self) -> Source:
        """The file's text, with the subject and split of its name."""
        return self.decoded.source

    @property
    def has_no_examples(self) -> bool:
        """Whether it is a file of worked examples that ends with its header."""
        rules = {fault.rule for fault in self.parsed.faults}
        is_empty = not self.decoded.n_rows and rules <= _EMPTY_RULES
        return is_empty and self.source.split in SHOWN_SPLITS

    @property
    def picture_column(self) -> str | None:
        """The first column of pictures if every row has one, else None."""
        faults = self.parsed.faults
        rules = {fault.rule for fault in faults} | self.parsed.unlisted.keys()
        return None if self.parsed.samples or rules != {PICTURE_RULE} else faults[0].column


@dataclass(frozen=True, slots=True)
class FilesOfKind:
    """The files of one kind of question, each with its reader; `kinds` are all there are."""

    files: tuple[tuple[DecodedFile, DatasetFormat], ...]
    kind: DatasetKind
    kinds: tuple[DatasetKind, ...]
    notes: tuple[UploadNote, ...]


def roles_of(paths: Sequence[PurePosixPath]) -> tuple[FileRole, ...]:
    """The roles of files that come together.

    A role that earlier versions did not know counts only where there are several splits; else a
    file in test/ keeps the role, and its questions the ids, that they had in earlier versions.
    """
    roles = tuple(map(role_of, paths))
    if len({role.split for role in roles if role.split}) > 1:
        return roles
    return tuple(
        FileRole(path.stem, None, path.name) if role.is_new else role
        for path, role in zip(paths, roles, strict=True)
    )


def role_of(path: PurePosixPath) -> FileRole:
    """The role that the path of a file within a folder or an archive states by itself."""
    stem, name = path.stem, path.name
    if match := _SUBJECT_AND_SPLIT.fullmatch(stem):
        known = bool(_VERSION_0_1_NAME.fullmatch(stem))
        return FileRole(match["subject"], _SPLITS[match["split"].lower()], name, is_new=not known)
    folder_name = path.parent.name
    if match := _SPLIT_ONLY.fullmatch(stem):
        split = _SPLITS[match["split"].lower()]
        if folder_name and folder_name.lower() not in _SPLITS:
            return FileRole(folder_name, split, f"{folder_name}/{name}", is_new=True)
        return FileRole(_DEFAULT_SUBJECT, split, name, is_new=True)
    for folder in reversed(path.parent.parts):
        if split := _SPLITS.get(folder.lower()):
            return FileRole(stem, split, f"{folder}/{name}", is_new=True)
    return FileRole(stem, None, name)


def open_files(
    members: Sequence[SourceFile], layout: Layout, limits: Limits
) -> Iterator[DecodedFile | UploadNote]:
    """Each table of the files that come together, or a note on why a file is not used."""
    roles = roles_of([member.path for member in members])
    rows = 0
    for member, role in zip(members, roles, strict=True):
        try:
            opened = open_file(member, role, layout, limits)
        except DataError:
            if role.split in SHOWN_SPLITS and not member.data.strip(_BLANK_BYTES):
                yield UploadNote(NO_ROWS_RULE, {"file": role.name})
                continue
            if not is_optional(member):
                raise
            opened = ()
        if is_optional(member) and not any(file.is_recognised for file in opened):
            yield UploadNote("ignored-files", {"files": member.name})
            continue
        rows += sum(file.n_rows for file in opened)
        if rows > limits.lines:
            raise DataError("too-many-lines", files=member.name, n=rows, limit=limits.lines)
        yield from opened


def open_file(
    member: SourceFile, role: FileRole, layout: Layout, limits: Limits
) -> tuple[DecodedFile, ...]:
    """The tables of a file, of which each sheet and each list is one; raises `DataError`.

    Of several those count that a format recognises, and the first where none does; a note names
    the others. Each has a role of its own if there are still several.
    """
    digest = hashlib.sha256(member.data).digest()
    container = open_container(member, layout, limits)
    candidates = [
        (part, recognise(_to_source(member, role, part), layout)) for part in container.parts
    ]
    chosen = _recognised_parts(candidates)
    roles = [_part_role(role, part.title) if len(chosen) > 1 else role for part, _ in chosen]
    notes = list(container.notes)
    titles = [part.title for part, _ in chosen]
    others = [title for title in container.titles if title not in titles]
    if others and not layout.sheet:
        shown = {"file": member.name, "sheet": ", ".join(titles), "others": ", ".join(others)}
        notes.insert(0, UploadNote("other-sheets", shown))
    files: list[DecodedFile] = []
    for (part, recognition), own_role in zip(chosen, roles, strict=True):
        own_notes = (*part.notes, *notes) if not files else part.notes
        source = _to_source(member, own_role, part)
        named = recognition.named(source.name)
        files.append(
            DecodedFile(member.path, own_role, source, named, digest, own_notes, container.titles)
        )
    return tuple(files)


def _recognised_parts(
    candidates: Sequence[tuple[Part, Recognition]],
) -> Sequence[tuple[Part, Recognition]]:
    """The parts that can be read, and those in doubt that have the headers of one of them.

    Where none can be read, those that wait to be confirmed; where there is none of these, the
    first.
    """
    known = [each for _, each in candidates if each.dataset_format and each.way != "unconfirmed"]
    headers = {each.headers for each in known if each.headers}
    chosen = [
        (part, each)
        for part, each in candidates
        if each in known or (each.way == "unconfirmed" and each.headers in headers)
    ]
    waiting = [(part, each) for part, each in candidates if each.way == "unconfirmed"]
    return chosen or waiting or candidates[:1]


def select_kind(files: Sequence[DecodedFile], layout: Layout) -> FilesOfKind:
    """The files of the kind that the layout chooses, else of the first kind there is.

    Where all files are of other kinds, each is read as that kind if it can be. Raises `DataError`
    if none can. A file that waits to be confirmed belongs to whatever kind is read.
    """
    files = _share_guesses(files)
    own: list[DatasetKind] = [file.dataset_format.kind for file in files if file.dataset_format]
    sure: list[DatasetKind] = [
        file.dataset_format.kind
        for file in files
        if file.dataset_format and not file.is_unconfirmed
    ]
    kinds: tuple[DatasetKind, ...] = tuple(dict.fromkeys(sure or own))
    kind: DatasetKind = layout.kind or (kinds[0] if kinds else "multiple_choice")
    if own and layout.kind and kind not in sure:
        files = _read_as(kind, files, kinds, layout)
    usual = DATASET_FORMATS[_DEFAULT_FORMATS[kind]]
    readers = [(file, file.dataset_format or usual) for file in files]
    chosen = tuple(
        (file, reader) for file, reader in readers if reader.kind == kind or file.is_unconfirmed
    )
    notes = tuple(
        UploadNote("other-kind", {"file": file.source.name, "kind": reader.kind})
        for file, reader in readers
        if reader.kind != kind and not file.is_unconfirmed
    )
    return FilesOfKind(chosen, kind, kinds if kind in kinds else (*kinds, kind), notes)


def _share_guesses(files: Sequence[DecodedFile]) -> list[DecodedFile]:
    """The files, those in doubt read as another one of the same headers that is not."""
    sure = {
        file.recognition.headers: file.recognition
        for file in files
        if file.recognition.way == "guess"
    }

    def shared(file: DecodedFile) -> DecodedFile:
        other = sure.get(file.recognition.headers)
        if not file.is_unconfirmed or other is None:
            return file
        return replace(file, recognition=replace(other, notes=()))

    return list(map(shared, files))


def _read_as(
    kind: DatasetKind, files: Sequence[DecodedFile], kinds: Sequence[DatasetKind], layout: Layout
) -> list[DecodedFile]:
    """The files read as questions of a kind that none of them is of."""
    forced = [replace(file, recognition=_recognise_as(kind, file, layout)) for file in files]
    if all(file.dataset_format is None for file in forced):
        raise DataError(
            "no-such-kind",
            files=", ".join(file.source.name for file in files[:3]),
            kind=kind,
            known=", ".join(kinds),
        )
    pairs = zip(files, forced, strict=True)
    return [after if after.dataset_format else before for before, after in pairs]


def _recognise_as(kind: DatasetKind, file: DecodedFile, layout: Layout) -> Recognition:
    """Open questions are read as the other open kind under the same columns."""
    known = file.recognition
    own = file.dataset_format
    if kind in _OPEN_KINDS and (own is None or own.kind in _OPEN_KINDS) and known.way == "format":
        return replace(known, dataset_format=DATASET_FORMATS[_DEFAULT_FORMATS[kind]])
    return recognise_as(file.source, replace(layout, kind=kind))


def read_files(selection: FilesOfKind) -> list[ParsedFile]:
    """The rows of the opened files.

    Where one of them shows whether numbers count options from 0 or from 1, that holds for the
    others too: five worked examples may well lack the last option.
    """
    files = [
        ParsedFile(file, reader.read(file.source, file.recognition.layout))
        for file, reader in selection.files
    ]
    bases = {file.parsed.answer_key for file in files if not _is_index_base_assumed(file.parsed)}
    bases &= {"index0", "index1"}
    if len(bases) != 1:
        return files
    base = bases.pop()
    return [
        ParsedFile(
            opened,
            reader.read(opened.source, replace(opened.recognition.layout, answer_key=base)),
        )
        if _is_index_base_assumed(file.parsed)
        else file
        for file, (opened, reader) in zip(files, selection.files, strict=True)
    ]


def comma_notes(files: Sequence[ParsedFile], layout: Layout) -> Iterator[UploadNote]:
    """A note for each file of which more rows are read if a comma before a blank is text."""
    for file in files:
        table, text = file.source.table, file.source.text
        rules = {fault.rule for fault in file.parsed.faults} | file.parsed.unlisted.keys()
        if table is None or table.delimiter != "," or "shifted-row" not in rules:
            continue
        if layout.commas_in_text or len(text) > _MAX_CHARS_TRIED:
            continue
        wanted = replace(layout, commas_in_text=True)
        again = to_part(read_delimited(text, file.source.name, wanted)).table
        source = replace(file.source, table=again)
        found = recognise(source, wanted)
        if found.dataset_format is None or found.way == "unconfirmed":
            continue
        read = found.dataset_format.read(source, found.layout)
        # An id that is there twice is a fault of the second row.
        n, now = (len({each.id for each in rows.samples}) for rows in (read, file.parsed))
        if n > now:
            total = str(read.n_rows)
            yield UploadNote(COMMAS_RULE, {"file": file.source.name, "n": str(n), "total": total})


def _is_index_base_assumed(part: ParsedRows) -> bool:
    return any(note.rule == "counts-from-0" for note in part.notes)


def _to_source(member: SourceFile, role: FileRole, part: Part) -> Source:
    """A part of a file under the subject and split of its role."""
    read = part.records
    return Source(
        role.name,
        part.text,
        role.subject,
        role.split,
        part.encoding,
        part.table,
        # C-Eval's own files have their split in their names.
        own_subjects=role.name != member.name,
        records=read.rows if read else None,
        faults=read.faults if read else (),
        unlisted=read.unlisted if read else Counter(),
        sheet=part.title,
    )


def _part_role(role: FileRole, title: str) -> FileRole:
    """The role of one of several sheets or lists: its title is a split, or a subject."""
    name = f"{role.name}/{title}"
    if split := _SPLITS.get(title.strip().lower()):
        return FileRole(role.subject, role.split or split, name, is_new=True)
    own = role_of(PurePosixPath(title.replace("/", " ").strip() or "sheet"))
    split = role.split or own.split
    subject = own.subject if own.split else title
    return FileRole(f"{role.subject} {subject}".strip(), split, name, is_new=True)


def equal_letters(choices: Sequence[str]) -> tuple[str, ...]:
    """The letters of the options that share a text, a group for each such text: ("AC", "BD")."""
    letters: defaultdict[str, str] = defaultdict(str)
    for letter, text in zip(LETTERS, choices, strict=False):
        letters[text] += letter
    return tuple(group for group in letters.values() if len(group) > 1)


def apply_duplicate_policy(
    files: Sequence[ParsedFile], layout: Layout
) -> tuple[list[ParsedFile], tuple[UploadNote, ...]]:
    """The files with or without such rows, as the layout states, and notes on them."""
    if layout.duplicate_options == "keep":
        return list(files), tuple(_duplicate_notes(files, KEPT_RULE))
    return [_drop_duplicates(file) for file in files], tuple(_duplicate_notes(files, LEFT_OUT_RULE))


def _drop_duplicates(file: ParsedFile) -> ParsedFile:
    samples = tuple(sample for sample in file.parsed.samples if not sample.duplicate_options)
    skipped = len(file.parsed.samples) - len(samples)
    return replace(file, parsed=replace(file.parsed, samples=samples, skipped=skipped))


def _duplicate_notes(files: Sequence[ParsedFile], rule: str) -> Iterator[UploadNote]:
    """A note for each file that has such rows: how many, their lines and which options."""
    for file in files:
        # Written out, since a property takes four times as long on 100,000 rows.
        samples = file.parsed.samples
        duplicates = [each for each in samples if len(set(each.choices)) < len(each.choices)]
        if duplicates:
            n = len(duplicates)
            more = f" (+{n - _MAX_ROWS_SHOWN})" if n > _MAX_ROWS_SHOWN else ""
            where = ", ".join(map(_describe_row, duplicates[:_MAX_ROWS_SHOWN])) + more
            yield UploadNote(rule, {"file": file.source.name, "n": str(n), "where": where})


def _describe_row(sample: Sample) -> str:
    groups = ", ".join(" = ".join(group) for group in equal_letters(sample.choices))
    return f"{sample.metadata['line']} ({groups})"
