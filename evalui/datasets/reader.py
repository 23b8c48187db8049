"""The one way in: files, folders, archives and SWIFT configurations become a dataset.

Each file is opened as tables, the columns of each get their roles, and rows become samples. Files
belong together by name or folder: <subject>_dev and dev/<subject> are shown as worked examples,
<subject>_val is scored, or <subject>_test where there is no val, and so is a file with no split in
its name or folder. A layout's split chooses another.

Rows of which several options have the same text are kept with a note, or left out by choice: real
benchmarks have such rows, and published figures count them.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Literal

from evalui.datasets.answers import ANSWER_KEYS, answer_function
from evalui.datasets.containers.delimited import read_delimited
from evalui.datasets.containers.pictures import picture_fault
from evalui.datasets.encoding import decode
from evalui.datasets.files import SourceFile, ignored_files_notes, is_text
from evalui.datasets.model import (
    COMMAS_RULE,
    DATASET_FORMATS,
    ColumnTable,
    FaultList,
    FileRole,
    Layout,
    Limits,
    LoadResult,
    ParsedRows,
    UploadNote,
    columns_of,
    duplicate_column_fault,
    first_few,
    fold_name,
    sort_by_line,
)
from evalui.datasets.opening import (
    NO_ROWS_RULE,
    SHOWN_SPLITS,
    FilesOfKind,
    OpenedFile,
    open_files,
    select_kind,
)
from evalui.datasets.picture_files import (
    UnreadablePicture,
    current_folder,
    open_folder,
    pass_over_pictures,
)
from evalui.datasets.roles import (
    column_table,
    describe_roles,
    find_roles,
    missing_column_faults,
    unconfirmed_fault,
)
from evalui.datasets.samples import read_rows
from evalui.datasets.swift_config import EntryFiles, SelectedFiles, select_files
from evalui.errors import DataError
from evalui.imports import uncollected
from evalui.messages import Sentence, sentence
from evalui.types import LETTERS, Dataset, DatasetKind, Fault, Sample, Split

KEPT_RULE, LEFT_OUT_RULE = "duplicate-options", "duplicate-options-left-out"
OTHER_SPLIT_RULE = "other-split"
_MAX_TRIED = 2_000_000  # bytes of a file that is read a second time
_EMPTY_RULES = frozenset(("no-rows", "missing-column"))
_MAX_ROWS_SHOWN = 10  # rows named in a note
_CEVAL_SHOTS = 5  # worked examples that C-Eval gives
_MAX_NAMES_SHOWN = 3  # file names in a refusal
_COLUMN_FIELDS = 4  # of a layout: options, answer, answer key, question
_DEFAULT_LAYOUT = Layout()
_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file with its rows."""

    opened: OpenedFile
    parsed: ParsedRows

    @property
    def role(self) -> FileRole:
        """The subject and the split of its name."""
        return self.opened.role

    @property
    def has_no_examples(self) -> bool:
        """Whether it is a file of worked examples that ends with its header."""
        rules = {fault.rule for fault in self.parsed.faults}
        return (
            not (self.opened.table.rows or self.parsed.n_rows)
            and rules <= _EMPTY_RULES
            and self.role.split in SHOWN_SPLITS
        )


@dataclass(frozen=True, slots=True)
class _FileRoles:
    scored: tuple[ParsedFile, ...]
    shots: tuple[ParsedFile, ...]
    notes: tuple[UploadNote, ...]


def config_entries(
    paths: Sequence[Path], *, limits: Limits = _DEFAULT_LIMITS
) -> tuple[EntryFiles, ...]:
    """The datasets of the configurations in `paths`, () without one; each name is there once.

    Those whose folder is not there are left out. Raises `DataError` as `load` does.
    """
    pass_over_pictures()
    return select_files(paths, limits).usable_entries


@uncollected()
def has_questions(paths: Sequence[Path], *, limits: Limits = _DEFAULT_LIMITS) -> bool:
    """Whether there is a question that can be used, of whose pictures none is looked at.

    Raises `DataError` as `load` does.
    """
    pass_over_pictures()
    _, _, files = _open_and_read(paths, _DEFAULT_LAYOUT, limits)
    return any(file.parsed.samples for file in files)


@uncollected()
def read_columns(
    paths: Sequence[Path],
    *,
    layout: Layout = _DEFAULT_LAYOUT,
    limits: Limits = _DEFAULT_LIMITS,
    pictures: Path | None = None,
) -> ColumnTable | None:
    """The columns of the first file that is to be scored; None if it is no table of rows.

    A format that knows the header makes a table of it even where its rows cannot be cut. Raises
    `DataError` as `load` does; `pictures` is its folder.
    """
    open_folder(pictures)
    gathered = select_files(paths, limits).for_entry(layout.entry)
    opened = [
        file for file in open_files(gathered.files, layout, limits) if isinstance(file, OpenedFile)
    ]
    wanted = {layout.split} if layout.split else {"val", "test", None}
    scored = [file for file in opened if file.role.split in wanted]
    first = next(iter(scored or opened), None)
    if first is None:
        return None
    table, cells = column_table(first.table), first.table
    if table is None and first.kind and cells.rows and not cells.typed:
        table = ColumnTable(first.name, cells.heads, (), len(cells.rows), cells.head_line)
    return replace(table, file=first.name, sheets=first.sheets) if table else None


@uncollected()
def load(
    paths: Sequence[Path],
    *,
    layout: Layout = _DEFAULT_LAYOUT,
    name: str = "",
    limits: Limits = _DEFAULT_LIMITS,
    pictures: Path | None = None,
) -> LoadResult:
    """The dataset in `paths`, everything wrong with its rows, and what else there is to know.

    Its pictures are kept in the folder `pictures`; without one they are only looked at.

    Raises:
        DataError: nothing can be read, or a file is no table at all; the message
            states which and why.
        UnknownName: the layout's answer key does not exist.
    """
    folder = open_folder(pictures)
    gathered, selection, parsed = _open_and_read(paths, layout, limits)
    files, repeated = _apply_duplicate_policy(parsed, layout)
    _check_names(files)
    _check_answer_key(files, layout)
    roles = _assign_roles(files, layout)
    commas = _comma_notes(files, layout)
    unnamed = [place.name for place in folder.files if place not in folder.named]
    left_out = (*gathered.notes, *ignored_files_notes(unnamed))
    notes = (*left_out, *selection.notes, *roles.notes, *repeated, *commas)
    if not roles.scored:
        sentences = [sentence("error.nothing-to-score")]
        sentences += (note.sentence for note in notes)
        raise DataError(_join_sentences(sentences))
    used = sorted((*roles.scored, *roles.shots), key=lambda file: file.role.name)
    scored, shown = _merge_distinct(roles.scored), _merge_distinct(roles.shots)
    faults = FaultList((*scored.faults, *shown.faults), unlisted=scored.unlisted + shown.unlisted)
    samples = scored.samples
    if layout.cluster:
        samples = tuple(_in_cluster(sample, layout.cluster) for sample in samples)
        if not any(sample.cluster for sample in samples):
            raise DataError("cluster-column", column=layout.cluster)
    by_entry = gathered.dataset_name({file.opened.path for file in used})
    dataset = Dataset(
        name=name or by_entry or _default_name(paths, used),
        kind=selection.kind,
        samples=samples,
        shots=shown.samples,
        sha256=_sha256(used, layout, skipped=any(note.rule == LEFT_OUT_RULE for note in repeated)),
        packages=_packages(used, layout),
        pictures=str(pictures or "") if folder.known else "",
    )
    return LoadResult(
        dataset=dataset,
        faults=faults.kept,
        n_rows=sum(file.parsed.n_rows for file in roles.scored),
        skipped=sum(file.parsed.skipped for file in roles.scored),
        files=tuple(file.role.name for file in used),
        notes=(*notes, *_load_notes(roles, selection.kind)),
        sheets=tuple(dict.fromkeys(title for file in used for title in file.opened.sheets)),
        kinds=selection.kinds,
        unused_columns=_unused_columns(used),
        unlisted=faults.unlisted.total(),
        rows_unusable=sum(
            part.n_rows - part.skipped - len(part.samples)
            for part in (*(f.parsed for f in used), scored, shown)
        ),
    )


def _open_and_read(
    paths: Sequence[Path], layout: Layout, limits: Limits
) -> tuple[SelectedFiles, FilesOfKind, list[ParsedFile]]:
    """What was selected, and the files of one kind with their samples.

    The bytes and rows of files are let go of: of a million rows they take as much memory as the
    samples.
    """
    gathered = select_files(paths, limits).for_entry(layout.entry)
    _check_lines(gathered.files, limits)
    opened = list(open_files(gathered.files, layout, limits))
    gathered = replace(gathered, files=())
    own = [
        file
        for file in opened
        if isinstance(file, OpenedFile) and gathered.includes(file.path, file.kind)
    ]
    selection = select_kind(own, layout)
    files = [
        replace(file, opened=replace(file.opened, table=replace(file.opened.table, rows=())))
        if file.parsed.samples
        else file
        for file in map(_without_foreign_pictures, _read_files(selection))
    ]
    left_out = tuple(note for note in opened if isinstance(note, UploadNote))
    return gathered, replace(selection, files=(), notes=(*left_out, *selection.notes)), files


def _without_foreign_pictures(file: ParsedFile) -> ParsedFile:
    """The file without samples that show pictures of other uploads, which are faults.

    A cell may be read in many ways, and a mark may be hidden in it until then.
    """
    samples: list[Sample] = []
    faults = FaultList(file.parsed.faults, unlisted=file.parsed.unlisted)
    for sample in file.parsed.samples:
        try:
            current_folder().check(*sample.texts)
            samples.append(sample)
        except UnreadablePicture as foreign:
            faults.add(
                picture_fault(file.role.name, int(sample.metadata["line"]), "", foreign.reason)
            )
    if len(samples) == len(file.parsed.samples):
        return file
    parsed = replace(
        file.parsed, samples=tuple(samples), faults=faults.kept, unlisted=faults.unlisted
    )
    return replace(file, parsed=parsed)


def _in_cluster(sample: Sample, column: str) -> Sample:
    """The sample in the cluster that its row names in the column, as the file writes it."""
    wanted = column.strip().casefold()
    named = (text for name, text in sample.metadata.items() if name.strip().casefold() == wanted)
    return replace(sample, cluster=next(named, ""))


def _check_lines(members: Sequence[SourceFile], limits: Limits) -> None:
    # Each line may become a fault, and a fault is a hundred times as big as the line "1".
    # The rows of a workbook are counted where they are read.
    texts = [member.data for member in members if is_text(member)]
    lines = sum(max(data.count(b"\n"), data.count(b"\r")) for data in texts)
    if lines > limits.lines:
        names = first_few(members, _MAX_NAMES_SHOWN, lambda member: member.name)
        raise DataError("too-many-lines", files=names, n=lines, limit=limits.lines)


def _join_sentences(sentences: Sequence[Sentence]) -> Sentence:
    return reduce(
        lambda before, after: sentence("error.both", before=before, after=after),
        sentences,
    )


def _check_names(files: Sequence[ParsedFile]) -> None:
    seen: dict[tuple[str, str], ParsedFile] = {}
    for file in files:
        role = (file.role.subject, file.role.split or "val")
        other = seen.setdefault(role, file)
        if other is not file:
            raise DataError(
                "same-role",
                file=other.role.name,
                other=file.role.name,
                split=role[1],
                subject=role[0],
            )


def _check_answer_key(files: Sequence[ParsedFile], layout: Layout) -> None:
    """Raise `DataError` if a function for the answers is named that some format has no use for."""
    if not answer_function(layout.answer_key):
        return
    for file in files:
        if file.parsed.samples and file.parsed.answer_key != layout.answer_key:
            raise DataError("answer-function-unused", file=file.role.name, name=layout.answer_key)


def _assign_roles(files: Sequence[ParsedFile], layout: Layout) -> _FileRoles:
    """Which files are scored and which shown; a file that ends with its header is neither."""
    bare = [file for file in files if file.has_no_examples]
    roles = _roles_by_split([file for file in files if file not in bare], layout.split)
    without_rows = (UploadNote(NO_ROWS_RULE, {"file": file.role.name}) for file in bare)
    return replace(roles, notes=(*without_rows, *roles.notes))


def _roles_by_split(files: Sequence[ParsedFile], wanted: Split | Literal[""]) -> _FileRoles:
    """The roles by the splits: one is scored, dev is shown, or train without a dev.

    The `wanted` split is scored; without one, val, and test of the subjects that have no val: the
    two often share questions, and their mean is the figure of neither.

    Where neither test nor val has answers, dev is scored beside a train split (that is how
    CommonsenseQA calls its val), and so is what stands alone.
    """
    dev = tuple(file for file in files if file.role.split == "dev")
    train = tuple(file for file in files if file.role.split == "train")
    rest = tuple(file for file in files if file.role.split not in ("dev", "train"))
    bare = tuple(file for file in rest if file.role.split != "val" and file.parsed.unanswered)
    scored = tuple(file for file in rest if file not in bare)
    notes = [UploadNote("test-without-answers", {"file": file.role.name}) for file in bare]
    if wanted in ("dev", "train"):
        unscored, scored = scored, dev if wanted == "dev" else train
        dev, train = ((), train) if wanted == "dev" else (dev, ())
    else:
        unscored = _unscored(scored, wanted)
        scored = tuple(file for file in scored if file not in unscored)
    if unscored:
        names = ", ".join(file.role.name for file in unscored)
        notes.append(UploadNote(OTHER_SPLIT_RULE, {"files": names, "split": wanted or "val"}))
    if not wanted and not scored and (not rest or (dev and train)):
        scored, dev, train = (dev, (), train) if dev else (train, (), ())
        notes += (
            UploadNote("dev-scored", {"file": file.role.name, "split": str(file.role.split)})
            for file in scored
        )
    shown = _subjects_of(dev)
    unused = [file for file in train if _subjects_of([file]) <= shown]
    notes += (UploadNote("train-unused", {"file": file.role.name}) for file in unused)
    scored_subjects = _subjects_of(scored)
    shots = [file for file in (*dev, *train) if file not in unused]
    useless = [file for file in shots if _subjects_of([file]).isdisjoint(scored_subjects)]
    notes += (
        UploadNote("no-scored-file", {"file": file.role.name, "subject": file.role.subject})
        for file in useless
    )
    return _FileRoles(scored, tuple(file for file in shots if file not in useless), tuple(notes))


def _unscored(files: Sequence[ParsedFile], wanted: Split | Literal[""]) -> tuple[ParsedFile, ...]:
    """The files with answers that are not scored: of another split than the one that counts."""
    if wanted:
        return tuple(file for file in files if (file.role.split or "val") != wanted)
    of_val = _subjects_of([file for file in files if file.role.split == "val"])
    return tuple(
        file for file in files if file.role.split == "test" and _subjects_of([file]) <= of_val
    )


def _subjects_of(files: Sequence[ParsedFile]) -> set[str]:
    # By the names of the files too: their rows may all be faulty.
    named = {file.role.subject for file in files}
    return named.union(sample.subject for file in files for sample in file.parsed.samples)


def _merge_distinct(files: Sequence[ParsedFile]) -> ParsedRows:
    """The samples of all files with the later ones of an equal id made faults."""
    first: dict[str, Sample] = {}
    samples: list[Sample] = []
    faults = FaultList()
    rows = 0
    for file in files:
        repeated = FaultList()
        for sample in file.parsed.samples:
            earlier = first.setdefault(sample.id, sample)
            if earlier is sample:
                samples.append(sample)
            else:
                repeated.add(_duplicate_id_fault(sample, earlier))
        rows += len(file.parsed.samples)
        faults.add(*sort_by_line(file.parsed.faults, repeated.kept))
        faults.unlisted += file.parsed.unlisted + repeated.unlisted
    return ParsedRows(tuple(samples), faults.kept, rows, unlisted=faults.unlisted)


def _duplicate_id_fault(sample: Sample, earlier: Sample) -> Fault:
    file, line = sample.metadata["file"], int(sample.metadata["line"])
    place = f"line {earlier.metadata['line']}"
    place += f" of {earlier.metadata['file']}" if earlier.metadata["file"] != file else ""
    actual = f"“{sample.id.rpartition('/')[2]}”, already on {place}"
    return Fault(file, line, "id", "duplicate-id", actual, "an id of its own")


def _default_name(paths: Sequence[Path], used: Sequence[ParsedFile]) -> str:
    subjects = list(dict.fromkeys(file.role.subject for file in used))
    if len(subjects) == 1 and subjects != ["default"]:
        return subjects[0]
    if len(paths) == 1:
        return paths[0].resolve().stem
    return subjects[0] + (f"+{len(subjects) - 1}" if len(subjects) > 1 else "")


def _sha256(used: Sequence[ParsedFile], layout: Layout, *, skipped: bool) -> str:
    """The same for the same files in a folder, in an archive or one by one.

    File names count, since they are the subject and the role; a layout counts, since it decides
    what the options are, and so do rows `skipped` because their options share a text.
    """
    total = hashlib.sha256()
    for file in used:
        total.update(_utf8(file.role.name) + b"\0" + file.opened.digest)
        if file.role.is_new:
            # Earlier versions gave the same file another subject or split.
            total.update(_utf8(f"role:{file.role.subject}:{file.role.split}"))
        if file.opened.roles.sure and not file.opened.roles.plain:
            # What was read by a guess is what that guess made of it.
            guessed = file.opened.layout
            total.update(_utf8(f"guess:{columns_of(guessed)!r}:{guessed.answer_key}"))
            total.update(_utf8(f":{guessed.kind}"))
        if any(note.rule == "options-in-question" for note in file.parsed.notes):
            # Earlier versions left them in the question.
            total.update(b"options-in-question")
    # The kind and the entry decide which files are used, and are hashed with them.
    columns = astuple(layout)[:_COLUMN_FIELDS]
    if columns != astuple(_DEFAULT_LAYOUT)[:_COLUMN_FIELDS]:
        # As it was written before a layout had sheets, so that older signatures stay true.
        total.update(_utf8(repr(columns)))
    more = (layout.subject, layout.id, layout.option_list, layout.capability)
    if any(more):
        total.update(_utf8("columns:" + repr(more)))
    further = (layout.passage, layout.explanation, layout.row_option)
    if any(further):
        total.update(_utf8("further:" + repr(further)))
    if layout.sheet:
        total.update(_utf8("sheet:" + layout.sheet))
    if layout.head_row:
        total.update(_utf8(f"head_row:{layout.head_row}"))
    if layout.commas_in_text:
        total.update(b"commas_in_text")
    if layout.split:
        total.update(_utf8("split:" + layout.split))
    if skipped:
        total.update(b"duplicate_options:skip")
    return total.hexdigest()


def _packages(files: Sequence[ParsedFile], layout: Layout) -> tuple[str, ...]:
    """The packages whose formats and functions have read the files; none for our own."""
    packages = {
        DATASET_FORMATS.package_of(file.opened.plugin) for file in files if file.opened.plugin
    }
    if answer_function(layout.answer_key):
        packages.add(ANSWER_KEYS.package_of(layout.answer_key))
    return tuple(sorted(packages - {""}))


def _unused_columns(files: Sequence[ParsedFile]) -> tuple[str, ...]:
    """The columns of texts that nothing uses."""
    return tuple(dict.fromkeys(name for file in files for name in file.opened.roles.unused))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _load_notes(roles: _FileRoles, kind: DatasetKind) -> Iterator[UploadNote]:
    for file in (*roles.scored, *roles.shots):
        yield from file.opened.notes
        if file.opened.roles.sure and not file.opened.roles.plain:
            columns = describe_roles(file.opened.table.heads, file.opened.roles)
            yield UploadNote("columns-read", {"file": file.role.name, "columns": columns})
        yield from file.parsed.notes
        if unused := _unused_columns([file]):
            values = {"file": file.role.name, "columns": ", ".join(unused)}
            yield UploadNote("unused-columns", values)
        if not file.opened.table.encoding.startswith("utf"):
            encoding = file.opened.table.encoding.upper()
            yield UploadNote("encoding", {"file": file.role.name, "encoding": encoding})
    yield from _repeated_across_files((*roles.scored, *roles.shots))
    if kind == "general_qa":
        yield from _missing_reference_notes(roles.scored)
    for file in roles.shots:
        if (rows := len(file.parsed.samples)) < _CEVAL_SHOTS:
            yield UploadNote("few-dev-rows", {"file": file.role.name, "rows": str(rows)})
    if roles.shots:
        shown = _subjects_of(roles.shots)
        scored = dict.fromkeys(file.role.subject for file in roles.scored)
        for subject in scored:
            if subject not in shown:
                yield UploadNote("no-dev-file", {"subject": subject})


def _repeated_across_files(files: Sequence[ParsedFile]) -> Iterator[UploadNote]:
    """Questions that stand in several files of a subject: counted twice, or shown with the answer.

    The health of the data counts what is repeated among the questions of all subjects.
    """
    files_of: defaultdict[object, set[str]] = defaultdict(set)
    for file in files if len(files) > 1 else ():
        for sample in file.parsed.samples:
            files_of[sample.subject, sample.content].add(file.role.name)
    repeated = [names for names in files_of.values() if len(names) > 1]
    if repeated:
        names = ", ".join(sorted({name for each in repeated for name in each}))
        yield UploadNote("across-files", {"n": str(len(repeated)), "files": names})


def _missing_reference_notes(files: Sequence[ParsedFile]) -> Iterator[UploadNote]:
    for file in files:
        samples = file.parsed.samples
        if bare := sum(not sample.references for sample in samples):
            counts = {"n": str(bare), "rows": str(len(samples))}
            yield UploadNote("without-reference", {"file": file.role.name, **counts})


# Rows


def _read_files(selection: FilesOfKind) -> list[ParsedFile]:
    """The rows of the opened files.

    Where one of them shows whether numbers count options from 0 or from 1, that holds for the
    others too: five worked examples may well lack the last option.
    """
    kind = selection.kind
    files = [ParsedFile(file, _read_file(file, kind)) for file in selection.files]
    bases = {file.parsed.answer_key for file in files if not _is_index_base_assumed(file.parsed)}
    bases &= {"index0", "index1"}
    if len(bases) != 1:
        return files
    base = bases.pop()
    return [
        replace(
            file,
            parsed=_read_file(
                replace(file.opened, layout=replace(file.opened.layout, answer_key=base)), kind
            ),
        )
        if _is_index_base_assumed(file.parsed)
        else file
        for file in files
    ]


def _read_file(file: OpenedFile, kind: DatasetKind) -> ParsedRows:
    """The rows of one file, or what stands in the way of reading any."""
    table, roles, role, layout = file.table, file.roles, file.role, file.layout
    n_rows = len(table.rows) + FaultList(table.faults).rows + table.unlisted.total()
    if file.is_unconfirmed:
        fault = unconfirmed_fault(table, roles)
        return ParsedRows((), (replace(fault, file=role.name),), n_rows)
    kind = file.kind or kind
    is_choice = kind == "multiple_choice"
    function = answer_function(layout.answer_key)
    heads = [fold_name(head) for head in table.heads if head.strip()]
    is_bare = is_choice and roles.options and roles.place("answer") < 0 and not function
    if is_bare and role.split == "test" and not layout.answer:
        return ParsedRows((), unanswered=True)
    wrong = [
        duplicate_column_fault(role.name, table.head_line, name, n)
        for name, n in Counter(heads).items()
        if n > 1
    ]
    if not table.rows and table.faults:
        return ParsedRows((), table.faults, n_rows, unlisted=table.unlisted)
    if roles.plain or not roles.kind:
        needs_names = not is_choice or bool(roles.options) or not roles.kind
        if needs_names and (table.rows or not is_choice or not wrong):
            missing = missing_column_faults(table, kind, layout)
            wrong += [replace(fault, file=role.name) for fault in missing]
    if wrong:
        kept = FaultList((*table.faults, *wrong), unlisted=table.unlisted)
        return ParsedRows((), kept.kept, n_rows, unlisted=kept.unlisted)
    if is_choice and not roles.options:
        # C-Eval is not published so, but the subjects of other sets may have the same names.
        role = replace(role, own_subjects=True)
    return read_rows(table, replace(roles, kind=kind), role, layout)


def _is_index_base_assumed(part: ParsedRows) -> bool:
    return any(note.rule == "counts-from-0" for note in part.notes)


def _comma_notes(files: Sequence[ParsedFile], layout: Layout) -> Iterator[UploadNote]:
    """A note for each file of which more rows are read if a comma before a blank is text."""
    for file in files:
        opened = file.opened
        rules = {fault.rule for fault in file.parsed.faults} | file.parsed.unlisted.keys()
        if opened.table.delimiter != "," or "shifted-row" not in rules:
            continue
        if layout.commas_in_text or len(opened.member.data) > _MAX_TRIED:
            continue
        wanted = replace(layout, commas_in_text=True)
        text = decode(opened.member.data, opened.member.name).text
        table = read_delimited(text, opened.member.name, wanted)
        again = replace(opened, table=table, roles=find_roles(table, wanted)).with_layout(wanted)
        if not again.is_recognised:
            continue
        read = _read_file(again, again.kind or "multiple_choice")
        # An id that is there twice is a fault of the second row.
        n, now = (len({each.id for each in rows.samples}) for rows in (read, file.parsed))
        if n > now:
            values = {"file": file.role.name, "n": str(n), "total": str(read.n_rows)}
            yield UploadNote(COMMAS_RULE, values)


def equal_letters(choices: Sequence[str]) -> tuple[str, ...]:
    """The letters of the options that share a text, a group for each such text: ("AC", "BD")."""
    letters: defaultdict[str, str] = defaultdict(str)
    for letter, text in zip(LETTERS, choices, strict=False):
        letters[text] += letter
    return tuple(group for group in letters.values() if len(group) > 1)


def _apply_duplicate_policy(
    files: Sequence[ParsedFile], layout: Layout
) -> tuple[list[ParsedFile], tuple[UploadNote, ...]]:
    """The files with or without such rows, as the layout states, and notes on them."""
    if layout.duplicate_options == "keep":
        return list(files), tuple(_duplicate_notes(files, KEPT_RULE))
    return [_drop_duplicates(file) for file in files], tuple(_duplicate_notes(files, LEFT_OUT_RULE))


def _drop_duplicates(file: ParsedFile) -> ParsedFile:
    samples = tuple(sample for sample in file.parsed.samples if not sample.duplicate_options)
    skipped = file.parsed.skipped + len(file.parsed.samples) - len(samples)
    return replace(file, parsed=replace(file.parsed, samples=samples, skipped=skipped))


def _duplicate_notes(files: Sequence[ParsedFile], rule: str) -> Iterator[UploadNote]:
    """A note for each file that has such rows: how many, their lines and which options."""
    for file in files:
        # Written out, since a property takes four times as long on 100,000 rows.
        samples = file.parsed.samples
        duplicates = [each for each in samples if len(set(each.choices)) < len(each.choices)]
        if duplicates:
            where = first_few(duplicates, _MAX_ROWS_SHOWN, _describe_row)
            n = str(len(duplicates))
            yield UploadNote(rule, {"file": file.role.name, "n": n, "where": where})


def _describe_row(sample: Sample) -> str:
    groups = ", ".join(" = ".join(group) for group in equal_letters(sample.choices))
    return f"{sample.metadata['line']} ({groups})"
