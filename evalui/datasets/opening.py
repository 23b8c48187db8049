"""Files are opened: the subject and the split of each, its tables, and which column is what.

The name of a file counts first (law_val.csv), then the nearest folder that is called like a split
(dev/law.csv). A name that is a split alone (law/test.csv) leaves the subject to its folder.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from evalui.datasets.answers import by_letter
from evalui.datasets.containers import open_tables
from evalui.datasets.containers.delimited import read_delimited
from evalui.datasets.containers.pictures import with_pictures
from evalui.datasets.encoding import decode
from evalui.datasets.files import SourceFile, is_optional
from evalui.datasets.model import (
    DATASET_FORMATS,
    DatasetFormat,
    FileRole,
    FileTable,
    Layout,
    Limits,
    Roles,
    Row,
    UploadNote,
    fold_name,
)
from evalui.datasets.reshape import to_questions
from evalui.datasets.roles import find_roles, find_roles_of, layout_of_roles
from evalui.errors import DataError
from evalui.types import LETTERS, DatasetKind, Split

NO_ROWS_RULE = "no-worked-examples"
SHOWN_SPLITS: tuple[Split, ...] = ("dev", "train")  # of worked examples, of which there may be none
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
_BLANK_BYTES = b"\xef\xbb\xbf \t\r\n"
_MMLU_ROWS = 20  # rows that show whether a table without heads is MMLU's
_MMLU_CELLS = 4  # cells: a question, two options, an answer
# A number, or a name of a row or of a subject, which stands before something longer.
_NAME = re.compile(r"[\w.:/#-]+", re.ASCII)
_HEADER_NAMES = frozenset(
    (
        *("id", "question", "answer", "explanation", "subject"),
        *("query", "prompt", "input", "target", "label", "gold", "response", "output", "index"),
        *("题目", "问题", "答案", "选项", "解析"),
    )
)  # which no first row of questions holds as a whole cell
# What only logs of evaluations name: lm-eval's, Inspect's, OpenCompass' and EvalScope's.
_LOG = re.compile(
    rb'"(?:lm_eval_version|filtered_resps|origin_prompt|sample_score)"\s*:'
    rb'|"model_output"\s*:\s*\{|"eval"\s*:\s*\{[^{}]*"(?:run_id|task_id|task)"\s*:'
)
_LOG_BYTES = 20_000  # at the beginning of a file


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """One table of a file with the roles of its columns, before its rows are read.

    `plugin` names the format of a package that has made the table, "" without one. `sheets` are all
    that can be chosen. `layout` is under which it is read.
    """

    member: SourceFile
    role: FileRole
    table: FileTable
    roles: Roles
    layout: Layout
    digest: bytes
    plugin: str = ""
    notes: tuple[UploadNote, ...] = ()
    sheets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the file is called, with the folder that counts and the sheet."""
        return self.role.name

    @property
    def path(self) -> PurePosixPath:
        """Where it stands within its folder or archive."""
        return self.member.path

    @property
    def kind(self) -> DatasetKind | Literal[""]:
        """The kind of its questions, "" where none can be made out."""
        return self.roles.kind

    @property
    def is_recognised(self) -> bool:
        """Whether the file can be read without anybody's help."""
        return bool(self.kind) and self.roles.sure

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the file waits for its columns to be confirmed."""
        return bool(self.roles.doubt)

    @property
    def heads(self) -> tuple[str, ...]:
        """The names of its columns where they were guessed, () where they are of a format."""
        return () if self.roles.plain else self.table.heads

    def with_layout(self, layout: Layout) -> "OpenedFile":
        """The file with the layout under which its roles read it."""
        if self.roles.plain or not self.roles.sure:
            return replace(self, layout=layout)
        return replace(self, layout=layout_of_roles(self.table, self.roles, layout))


@dataclass(frozen=True, slots=True)
class FilesOfKind:
    """The files of one kind of question; `kinds` are all there are."""

    files: tuple[OpenedFile, ...]
    kind: DatasetKind
    kinds: tuple[DatasetKind, ...]
    notes: tuple[UploadNote, ...]


def open_files(
    members: Sequence[SourceFile], layout: Layout, limits: Limits
) -> Iterator[OpenedFile | UploadNote]:
    """Each table of the files that come together, or a note on why a file is not used."""
    roles = roles_of([member.path for member in members])
    rows = 0
    for member, role in zip(members, roles, strict=True):
        try:
            opened = _open_file(member, role, layout, limits)
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
        rows += sum(len(file.table.rows) for file in opened)
        if rows > limits.lines:
            raise DataError("too-many-lines", files=member.name, n=rows, limit=limits.lines)
        yield from opened


def _open_file(
    member: SourceFile, role: FileRole, layout: Layout, limits: Limits
) -> tuple[OpenedFile, ...]:
    """The tables of a file, of which each sheet and each list is one; raises `DataError`.

    Of several those count that can be read, and the first where none can; a note names the others.
    Each has a role of its own if there are still several.
    """
    with member.open() as source:
        digest = hashlib.file_digest(source, "sha256").digest()
    plugin = next((n for n in DATASET_FORMATS if _reads(DATASET_FORMATS[n], member)), "")
    if _LOG.search(member.data[:_LOG_BYTES]):
        raise DataError("log-no-questions", file=member.name)
    if plugin:
        found = DATASET_FORMATS[plugin].read(member.data, member.name)
        found = replace(found, tables=tuple(map(with_pictures, found.tables)))
    else:
        found = open_tables(member, layout, limits)
    if not found.tables:
        raise DataError("empty-file", file=member.name)
    candidates = [
        _with_roles(member, role, table, layout, digest, plugin) for table in found.tables
    ]
    chosen = _readable(candidates)
    several = len(chosen) > 1
    titles = [file.table.title for file in chosen]
    notes = list(found.notes)
    others = [title for title in found.titles if title not in titles]
    if others and not layout.sheet:
        shown = {"file": member.name, "sheet": ", ".join(titles), "others": ", ".join(others)}
        notes.insert(0, UploadNote("other-sheets", shown))
    return tuple(
        replace(
            file,
            role=_own(part_role(file.role, file.table.title) if several else file.role, member),
            notes=(*file.table.notes, *([] if at else notes)),
            sheets=found.titles,
        )
        for at, file in enumerate(chosen)
    )


def _own(role: FileRole, member: SourceFile) -> FileRole:
    """The role; C-Eval's own files have their split in their names."""
    return replace(role, own_subjects=role.own_subjects or role.name != member.name)


def _reads(dataset_format: DatasetFormat, member: SourceFile) -> bool:
    suffix = member.path.suffix.lower()
    return suffix in dataset_format.suffixes and dataset_format.recognises(member.data, member.name)


def _with_roles(
    member: SourceFile, role: FileRole, table: FileTable, layout: Layout, digest: bytes, plugin: str
) -> OpenedFile:
    if mmlu := _mmlu_table(member, table, layout):
        own = replace(role, own_subjects=True)
        roles = Roles(
            ("question", *LETTERS[: len(mmlu.heads) - 2], "answer"),
            kind="multiple_choice",
            sure=True,
            plain=True,
        )
        return OpenedFile(member, own, mmlu, roles, layout, digest)
    table = to_questions(table)
    roles = find_roles(table, layout)
    if table.delimiter != ",":
        member = replace(member, data=b"")  # only commas are read in two ways
    opened = OpenedFile(member, role, table, roles, layout, digest, plugin)
    return opened.with_layout(layout)


def _readable(candidates: Sequence[OpenedFile]) -> Sequence[OpenedFile]:
    """The tables that can be read, and those in doubt that have the heads of one of them.

    Where none can be read, those that wait to be confirmed; where there is none of these, the
    first.
    """
    known = [file for file in candidates if file.is_recognised]
    heads = {file.heads for file in known if file.heads}
    chosen = [
        file
        for file in candidates
        if file in known or (file.is_unconfirmed and file.heads in heads)
    ]
    waiting = [file for file in candidates if file.is_unconfirmed]
    return chosen or waiting or candidates[:1]


def _mmlu_table(member: SourceFile, table: FileTable, layout: Layout) -> FileTable | None:
    """MMLU's table, which has no heads: all first rows end in the letter of one of their options.

    A header ends in the name of a column. One whose last name is a letter has the other letters
    too, or a common name.
    """
    stated = layout.options or layout.option_list or layout.question or layout.answer
    if table.delimiter != "," or stated or layout.answer_key != "letter":
        return None  # names stand in a header
    if layout.head_row > 0 or layout.commas_in_text:
        return None
    if table.head_line:
        if table.head_line > 1 or not _may_be_question(table.heads):
            return None
        table = read_delimited(
            decode(member.data, member.name).text, member.name, replace(layout, head_row=-1)
        )
    rows = table.rows[:_MMLU_ROWS]
    width = len(rows[0].cells) if rows else 0
    if not _MMLU_CELLS <= width <= len(LETTERS) + 2 or not _may_be_question(rows[0].cells):
        return None
    if not all(len(row.cells) == width and _ends_in_letter(row.cells) for row in rows):
        return None
    if not _are_mmlu_columns(rows):
        return None
    return replace(table, heads=("question", *LETTERS[: width - 2], "answer"))


def _may_be_question(cells: Sequence[str]) -> bool:
    names = {fold_name(cell) for cell in cells}
    letters = set(LETTERS[: len(cells) - 2].casefold())
    is_head = not names.isdisjoint(_HEADER_NAMES) or letters <= names
    return len(cells) >= _MMLU_CELLS and not is_head and _ends_in_letter(cells)


def _ends_in_letter(cells: Sequence[str]) -> bool:
    question, *options, answer = cells
    return bool(question.strip()) and by_letter(answer, options) is not None


def _are_mmlu_columns(rows: Sequence[Row]) -> bool:
    """Whether the first column has questions, no index or subject, and the others options alone.

    A column of letters before the answers is one of replies.
    """
    questions, *options, _ = zip(*(row.cells for row in rows), strict=True)
    if len(rows) == 1:
        return True
    shorter = len("".join(questions)) < len("".join(options[0]))
    named = shorter and all(map(_NAME.fullmatch, map(str.strip, questions)))
    named |= len(set(questions)) == 1
    others = LETTERS[: len(options) - 1]
    replies = any(all(by_letter(cell, others) is not None for cell in each) for each in options)
    return not (named or replies)


# Kinds


def select_kind(files: Sequence[OpenedFile], layout: Layout) -> FilesOfKind:
    """The files of the kind that the layout chooses, else of the first kind there is.

    Where all files are of other kinds, each is read as that kind if it can be. Raises `DataError`
    if none can. A file that waits to be confirmed belongs to whatever kind is read.
    """
    files = _share_guesses(files, layout)
    own: list[DatasetKind] = [file.kind for file in files if file.kind]
    sure: list[DatasetKind] = [file.kind for file in files if file.kind and not file.is_unconfirmed]
    kinds = tuple(dict.fromkeys(sure or own))
    kind: DatasetKind = layout.kind or (kinds[0] if kinds else "multiple_choice")
    if own and layout.kind and kind not in sure:
        files = _read_as(kind, files, kinds, layout)
    chosen = tuple(file for file in files if (file.kind or kind) == kind or file.is_unconfirmed)
    notes = tuple(
        UploadNote("other-kind", {"file": file.name, "kind": str(file.kind)})
        for file in files
        if (file.kind or kind) != kind and not file.is_unconfirmed
    )
    return FilesOfKind(chosen, kind, kinds if kind in kinds else (*kinds, kind), notes)


def _share_guesses(files: Sequence[OpenedFile], layout: Layout) -> list[OpenedFile]:
    """The files, those in doubt read as another one of the same heads that is not."""
    sure = {file.heads: file.roles for file in files if file.is_recognised and file.heads}
    return [
        replace(file, roles=sure[file.heads]).with_layout(layout)
        if file.is_unconfirmed and file.heads in sure
        else file
        for file in files
    ]


def _read_as(
    kind: DatasetKind, files: Sequence[OpenedFile], kinds: Sequence[DatasetKind], layout: Layout
) -> list[OpenedFile]:
    """The files read as questions of a kind that none of them is of."""
    forced = [
        replace(file, roles=find_roles_of(kind, file.table, file.roles, layout)).with_layout(layout)
        for file in files
    ]
    if not any(file.kind for file in forced):
        raise DataError(
            "no-such-kind",
            files=", ".join(file.name for file in files[:3]),
            kind=kind,
            known=", ".join(kinds),
        )
    return [after if after.kind else before for before, after in zip(files, forced, strict=True)]


# Subjects and splits


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


def part_role(role: FileRole, title: str) -> FileRole:
    """The role of one of several sheets or lists: its title is a split, or a subject."""
    name = f"{role.name}/{title}"
    if split := _SPLITS.get(title.strip().lower()):
        return FileRole(role.subject, role.split or split, name, is_new=True)
    own = role_of(PurePosixPath(title.replace("/", " ").strip() or "sheet"))
    split = role.split or own.split
    subject = own.subject if own.split else title
    return FileRole(f"{role.subject} {subject}".strip(), split, name, is_new=True)
