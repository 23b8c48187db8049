"""The one way in: files, folders, archives and SWIFT configurations become a dataset.

Files belong together by name or folder: <subject>_dev and dev/<subject> are shown as worked
examples, <subject>_val is scored, or <subject>_test where there is no val, and so is a file with no
split in its name or folder. A layout's split chooses another.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Literal

from evalui.datasets import swift_config
from evalui.datasets.answers import ANSWER_KEYS, answer_function
from evalui.datasets.columns import ColumnTable, columns_of
from evalui.datasets.files.archive import SourceFile, collect_files, is_text
from evalui.datasets.model import (
    DATASET_FORMATS,
    FaultList,
    Layout,
    Limits,
    LoadResult,
    ParsedRows,
    UploadNote,
    sort_by_line,
)
from evalui.datasets.reading import (
    LEFT_OUT_RULE,
    NO_ROWS_RULE,
    OTHER_SPLIT_RULE,
    DecodedFile,
    ParsedFile,
    apply_duplicate_policy,
    comma_notes,
    open_files,
    read_files,
    select_kind,
)
from evalui.datasets.recognition import column_table
from evalui.errors import DataError
from evalui.imports import uncollected
from evalui.messages import Sentence, sentence
from evalui.types import Dataset, DatasetKind, Fault, Sample, Split

_CEVAL_SHOTS = 5  # worked examples that C-Eval gives
_MAX_NAMES_SHOWN = 3  # file names in a refusal
_COLUMN_FIELDS = 4  # of a layout: options, answer, answer key, question
_DEFAULT_LAYOUT = Layout()
_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _SelectedFiles:
    """The files to read; `chosen_entries` are the entries of the configurations, if there are any.

    Of `other_entries` none is read: another entry was requested.
    """

    files: tuple[SourceFile, ...]
    notes: tuple[UploadNote, ...]
    chosen_entries: tuple[swift_config.EntryFiles, ...] = ()
    other_entries: tuple[swift_config.EntryFiles, ...] = ()

    @property
    def usable_entries(self) -> tuple[swift_config.EntryFiles, ...]:
        """The entries that have files, each under a name of its own."""
        return swift_config.with_distinct_names(
            choice for choice in self.chosen_entries if choice.files
        )

    def for_entry(self, entry: str) -> "_SelectedFiles":
        """What belongs to one entry; the first one keeps the notes on the files as a whole."""
        if not entry:
            return self
        usable = self.usable_entries
        chosen = swift_config.entry_named(usable, entry)
        others = tuple(choice for choice in usable if choice is not chosen)
        swift_config.reject_shared_files(chosen, others)
        return _SelectedFiles(
            chosen.files, self.notes if chosen is usable[0] else (), (chosen,), others
        )

    def includes(self, file: DecodedFile) -> bool:
        """Whether a file is meant: without its folder it may fit several entries by its name."""
        shared = any(
            file.path == member.path for each in self.other_entries for member in each.files
        )
        kind = file.dataset_format.kind if file.dataset_format else _kind_by_suffix(file)
        return not shared or any(choice.accepts_kind(kind) for choice in self.chosen_entries)

    def dataset_name(self, used: Sequence[ParsedFile]) -> str:
        """The name that the configurations give to these files, "" without one."""
        paths = {file.decoded.path for file in used}
        return "+".join(
            choice.name
            for choice in self.chosen_entries
            if not paths.isdisjoint(member.path for member in choice.files)
        )


@dataclass(frozen=True, slots=True)
class _FileRoles:
    scored: tuple[ParsedFile, ...]
    shots: tuple[ParsedFile, ...]
    notes: tuple[UploadNote, ...]


def config_entries(
    paths: Sequence[Path], *, limits: Limits = _DEFAULT_LIMITS
) -> tuple[swift_config.EntryFiles, ...]:
    """The datasets of the configurations in `paths`, () without one; each name is there once.

    Those whose folder is not there are left out. Raises `DataError` as `load` does.
    """
    return _select_files(paths, limits).usable_entries


@uncollected()
def read_columns(
    paths: Sequence[Path],
    *,
    layout: Layout = _DEFAULT_LAYOUT,
    limits: Limits = _DEFAULT_LIMITS,
) -> ColumnTable | None:
    """The columns of the first file that is to be scored; None if it is no table of rows.

    A format that knows the header makes a table of it even where its rows cannot be cut. Raises
    `DataError` as `load` does.
    """
    gathered = _select_files(paths, limits).for_entry(layout.entry)
    opened = [
        file for file in open_files(gathered.files, layout, limits) if isinstance(file, DecodedFile)
    ]
    wanted = {layout.split} if layout.split else {"val", "test", None}
    scored = [file for file in opened if file.source.split in wanted]
    first = next(iter(scored or opened), None)
    if first is None:
        return None
    table, cells = column_table(first.source), first.source.table
    if table is None and cells and first.dataset_format and cells.rows:
        table = ColumnTable(first.source.name, cells.header, (), len(cells.rows), cells.header_line)
    return replace(table, sheets=first.sheets) if table else None


@uncollected()
def load(
    paths: Sequence[Path],
    *,
    layout: Layout = _DEFAULT_LAYOUT,
    name: str = "",
    limits: Limits = _DEFAULT_LIMITS,
) -> LoadResult:
    """The dataset in `paths`, everything wrong with its rows, and what else there is to know.

    Raises:
        DataError: nothing can be read, or a file is no table at all; the message
            states which and why.
        UnknownName: the layout's answer key does not exist.
    """
    gathered = _select_files(paths, limits).for_entry(layout.entry)
    _check_lines(gathered.files, limits)
    opened = list(open_files(gathered.files, layout, limits))
    own = [file for file in opened if isinstance(file, DecodedFile) and gathered.includes(file)]
    selection = select_kind(own, layout)
    files, repeated = apply_duplicate_policy(read_files(selection), layout)
    _check_names(files)
    _check_answer_key(files, layout)
    roles = _assign_roles(files, layout)
    left_out = [note for note in opened if isinstance(note, UploadNote)]
    commas = comma_notes(files, layout)
    notes = (*gathered.notes, *left_out, *selection.notes, *roles.notes, *repeated, *commas)
    if not roles.scored:
        sentences = [sentence("error.nothing-to-score")]
        sentences += (note.sentence for note in notes)
        raise DataError(_join_sentences(sentences))
    used = sorted((*roles.scored, *roles.shots), key=lambda file: file.source.name)
    scored, shown = _merge_distinct(roles.scored), _merge_distinct(roles.shots)
    faults = FaultList((*scored.faults, *shown.faults), unlisted=scored.unlisted + shown.unlisted)
    samples = scored.samples
    if layout.cluster:
        samples = tuple(_in_cluster(sample, layout.cluster) for sample in samples)
        if not any(sample.cluster for sample in samples):
            raise DataError("cluster-column", column=layout.cluster)
    dataset = Dataset(
        name=name or gathered.dataset_name(used) or _default_name(paths, used),
        kind=selection.kind,
        samples=samples,
        shots=shown.samples,
        sha256=_sha256(used, layout, skipped=any(note.rule == LEFT_OUT_RULE for note in repeated)),
        packages=_packages(used, layout),
    )
    return LoadResult(
        dataset=dataset,
        faults=faults.kept,
        n_rows=sum(file.parsed.n_rows for file in roles.scored),
        skipped=sum(file.parsed.skipped for file in roles.scored),
        files=tuple(file.source.name for file in used),
        notes=(*notes, *_load_notes(roles, selection.kind)),
        sheets=tuple(dict.fromkeys(title for file in used for title in file.decoded.sheets)),
        kinds=selection.kinds,
        unused_columns=_unused_columns(used),
        unlisted=faults.unlisted.total(),
        rows_unusable=sum(
            part.n_rows - part.skipped - len(part.samples)
            for part in (*(f.parsed for f in used), scored, shown)
        ),
    )


def _in_cluster(sample: Sample, column: str) -> Sample:
    """The sample in the cluster that its row names in the column, as the file writes it."""
    wanted = column.strip().casefold()
    named = (text for name, text in sample.metadata.items() if name.strip().casefold() == wanted)
    return replace(sample, cluster=next(named, ""))


def _select_files(paths: Sequence[Path], limits: Limits) -> _SelectedFiles:
    """The files to read, and the entries of configurations that they belong to."""
    gathered = collect_files(paths, limits)
    configs = [member for member in gathered.files if swift_config.is_config(member)]
    members = [member for member in gathered.files if member not in configs]
    if not configs:
        return _SelectedFiles(tuple(members), gathered.notes)
    for path in paths:
        if path.is_file() and path.suffix.lower() == ".json":
            members += swift_config.files_beside(path, limits)
    chosen = [
        choice for member in configs for choice in swift_config.match_entries(member, members)
    ]
    files = {member.path: member for choice in chosen for member in choice.files}
    bare = [choice.name for choice in chosen if not choice.files]
    notes = (UploadNote("folder-missing", {"name": name}) for name in bare)
    return _SelectedFiles(tuple(files.values()), (*gathered.notes, *notes), tuple(chosen))


def _kind_by_suffix(file: DecodedFile) -> DatasetKind:
    return "general_qa" if file.path.suffix.lower() in (".jsonl", ".ndjson") else "multiple_choice"


def _check_lines(members: Sequence[SourceFile], limits: Limits) -> None:
    # Each line may become a fault, and a fault is a hundred times as big as the line "1".
    # The rows of a workbook are counted where they are read.
    texts = [member.data for member in members if is_text(member)]
    lines = sum(max(data.count(b"\n"), data.count(b"\r")) for data in texts)
    if lines > limits.lines:
        names = ", ".join(member.name for member in members[:_MAX_NAMES_SHOWN])
        more = f" (+{len(members) - _MAX_NAMES_SHOWN})" if len(members) > _MAX_NAMES_SHOWN else ""
        raise DataError("too-many-lines", files=names + more, n=lines, limit=limits.lines)


def _join_sentences(sentences: Sequence[Sentence]) -> Sentence:
    return reduce(
        lambda before, after: sentence("error.both", before=before, after=after),
        sentences,
    )


def _check_names(files: Sequence[ParsedFile]) -> None:
    seen: dict[tuple[str, str], ParsedFile] = {}
    for file in files:
        role = (file.source.subject, file.source.split or "val")
        other = seen.setdefault(role, file)
        if other is not file:
            raise DataError(
                "same-role",
                file=other.source.name,
                other=file.source.name,
                split=role[1],
                subject=role[0],
            )


def _check_answer_key(files: Sequence[ParsedFile], layout: Layout) -> None:
    """Raise `DataError` if a function for the answers is named that some format has no use for."""
    if not answer_function(layout.answer_key):
        return
    for file in files:
        if file.parsed.samples and file.parsed.answer_key != layout.answer_key:
            raise DataError("answer-function-unused", file=file.source.name, name=layout.answer_key)


def _assign_roles(files: Sequence[ParsedFile], layout: Layout) -> _FileRoles:
    """Which files are scored and which shown; a file of pictures, or of a header, is neither."""
    pictured = {
        file.decoded.key: file.picture_column for file in files if file.picture_column is not None
    }
    bare = [file for file in files if file.has_no_examples]
    usable = [file for file in files if file.decoded.key not in pictured and file not in bare]
    roles = _roles_by_split(usable, layout.split)
    left_out = (
        UploadNote("pictures", {"file": file.source.name, "column": pictured[file.decoded.key]})
        for file in files
        if file.decoded.key in pictured
    )
    without_rows = (UploadNote(NO_ROWS_RULE, {"file": file.source.name}) for file in bare)
    return replace(roles, notes=(*left_out, *without_rows, *roles.notes))


def _roles_by_split(files: Sequence[ParsedFile], wanted: Split | Literal[""]) -> _FileRoles:
    """The roles by the splits: one is scored, dev is shown, or train without a dev.

    The `wanted` split is scored; without one, val, and test of the subjects that have no val: the
    two often share questions, and their mean is the figure of neither.

    Where neither test nor val has answers, dev is scored beside a train split (that is how
    CommonsenseQA calls its val), and so is what stands alone.
    """
    dev = tuple(file for file in files if file.source.split == "dev")
    train = tuple(file for file in files if file.source.split == "train")
    rest = tuple(file for file in files if file.source.split not in ("dev", "train"))
    bare = tuple(file for file in rest if file.source.split != "val" and file.parsed.unanswered)
    scored = tuple(file for file in rest if file not in bare)
    notes = [UploadNote("test-without-answers", {"file": file.source.name}) for file in bare]
    if wanted in ("dev", "train"):
        unscored, scored = scored, dev if wanted == "dev" else train
        dev, train = ((), train) if wanted == "dev" else (dev, ())
    else:
        unscored = _unscored(scored, wanted)
        scored = tuple(file for file in scored if file not in unscored)
    if unscored:
        names = ", ".join(file.source.name for file in unscored)
        notes.append(UploadNote(OTHER_SPLIT_RULE, {"files": names, "split": wanted or "val"}))
    if not wanted and not scored and (not rest or (dev and train)):
        scored, dev, train = (dev, (), train) if dev else (train, (), ())
        notes += (
            UploadNote("dev-scored", {"file": file.source.name, "split": str(file.source.split)})
            for file in scored
        )
    shown = _subjects_of(dev)
    unused = [file for file in train if _subjects_of([file]) <= shown]
    notes += (UploadNote("train-unused", {"file": file.source.name}) for file in unused)
    scored_subjects = _subjects_of(scored)
    shots = [file for file in (*dev, *train) if file not in unused]
    useless = [file for file in shots if _subjects_of([file]).isdisjoint(scored_subjects)]
    notes += (
        UploadNote("no-scored-file", {"file": file.source.name, "subject": file.source.subject})
        for file in useless
    )
    return _FileRoles(scored, tuple(file for file in shots if file not in useless), tuple(notes))


def _unscored(files: Sequence[ParsedFile], wanted: Split | Literal[""]) -> tuple[ParsedFile, ...]:
    """The files with answers that are not scored: of another split than the one that counts."""
    if wanted:
        return tuple(file for file in files if (file.source.split or "val") != wanted)
    of_val = _subjects_of([file for file in files if file.source.split == "val"])
    return tuple(
        file for file in files if file.source.split == "test" and _subjects_of([file]) <= of_val
    )


def _subjects_of(files: Sequence[ParsedFile]) -> set[str]:
    # By the names of the files too: their rows may all be faulty.
    named = {file.source.subject for file in files}
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
    subjects = list(dict.fromkeys(file.source.subject for file in used))
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
        total.update(_utf8(file.source.name) + b"\0" + file.decoded.digest)
        if file.decoded.role.is_new:
            # Earlier versions gave the same file another subject or split.
            total.update(_utf8(f"role:{file.source.subject}:{file.source.split}"))
        if file.decoded.recognition.way == "guess":
            # What was read by a guess is what that guess made of it.
            guessed = file.decoded.recognition.layout
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
    formats = [file.decoded.dataset_format for file in files]
    used = (name for name in DATASET_FORMATS if DATASET_FORMATS[name] in formats)
    packages = {DATASET_FORMATS.package_of(name) for name in used}
    if answer_function(layout.answer_key):
        packages.add(ANSWER_KEYS.package_of(layout.answer_key))
    return tuple(sorted(packages - {""}))


def _unused_columns(files: Sequence[ParsedFile]) -> tuple[str, ...]:
    """The columns of texts that nothing uses."""
    guesses = (file.decoded.recognition.guess for file in files)
    return tuple(dict.fromkeys(name for guess in guesses if guess for name in guess.unused))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _load_notes(roles: _FileRoles, kind: DatasetKind) -> Iterator[UploadNote]:
    for file in (*roles.scored, *roles.shots):
        yield from file.decoded.notes
        yield from file.decoded.recognition.notes
        yield from file.parsed.notes
        if unused := _unused_columns([file]):
            values = {"file": file.source.name, "columns": ", ".join(unused)}
            yield UploadNote("unused-columns", values)
        if not file.source.encoding.startswith("utf"):
            encoding = file.source.encoding.upper()
            yield UploadNote("encoding", {"file": file.source.name, "encoding": encoding})
    yield from _repeated_across_files((*roles.scored, *roles.shots))
    if kind == "general_qa":
        yield from _missing_reference_notes(roles.scored)
    for file in roles.shots:
        if (rows := len(file.parsed.samples)) < _CEVAL_SHOTS:
            yield UploadNote("few-dev-rows", {"file": file.source.name, "rows": str(rows)})
    if roles.shots:
        shown = _subjects_of(roles.shots)
        scored = dict.fromkeys(file.source.subject for file in roles.scored)
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
            files_of[sample.subject, sample.content].add(file.source.name)
    repeated = [names for names in files_of.values() if len(names) > 1]
    if repeated:
        names = ", ".join(sorted({name for each in repeated for name in each}))
        yield UploadNote("across-files", {"n": str(len(repeated)), "files": names})


def _missing_reference_notes(files: Sequence[ParsedFile]) -> Iterator[UploadNote]:
    for file in files:
        samples = file.parsed.samples
        if bare := sum(not sample.references for sample in samples):
            counts = {"n": str(bare), "rows": str(len(samples))}
            yield UploadNote("without-reference", {"file": file.source.name, **counts})
