"""The one way in: files, folders, archives and SWIFT configurations become a dataset.

Files belong together by name or folder: <subject>_dev and dev/<subject> are shown as worked
examples, <subject>_val and <subject>_test are scored, and so is a file of which neither tells.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import reduce
from pathlib import Path

from evalui.datasets.base import Layout, Limits, Loaded, Note, Part
from evalui.datasets.faults import FaultList, by_line
from evalui.datasets.files import swift_config
from evalui.datasets.files.archive import Member, gather, is_json, is_workbook
from evalui.datasets.files.reading import File, Opened, of_one_kind, open_files, read_files
from evalui.datasets.questions.duplicates import LEFT_OUT, settled
from evalui.errors import DataError
from evalui.messages import Sentence, sentence
from evalui.types import Dataset, Fault, Kind, Sample

_SHOTS = 5  # worked examples that C-Eval gives
_SHOWN = 3  # file names in a refusal
_COLUMN_FIELDS = 4  # of a layout: options, answer, answer key, question
_DEFAULT = Layout()
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The files to read; `chosen` are the entries of the configurations, if there are any.

    Of `others` none is read: another entry was asked for.
    """

    members: tuple[Member, ...]
    notes: tuple[Note, ...]
    chosen: tuple[swift_config.Chosen, ...] = ()
    others: tuple[swift_config.Chosen, ...] = ()

    @property
    def usable(self) -> tuple[swift_config.Chosen, ...]:
        """The entries that have files, each under a name of its own."""
        return swift_config.distinct(choice for choice in self.chosen if choice.members)

    def of(self, entry: str) -> "_Gathered":
        """What belongs to one entry; the first one keeps what is said of the files as a whole."""
        if not entry:
            return self
        usable = self.usable
        mine = swift_config.pick(usable, entry)
        others = tuple(choice for choice in usable if choice is not mine)
        swift_config.refuse_shared(mine, others)
        return _Gathered(mine.members, self.notes if mine is usable[0] else (), (mine,), others)

    def is_own(self, file: Opened) -> bool:
        """Whether a file is meant: without its folder it may fit several entries by its name."""
        shared = any(file.path == member.path for each in self.others for member in each.members)
        kind = file.reader.kind if file.reader else _by_suffix(file)
        return not shared or any(choice.takes(kind) for choice in self.chosen)

    def name_of(self, used: Sequence[File]) -> str:
        """The name that the configurations give to these files, "" without one."""
        paths = {file.opened.path for file in used}
        return "+".join(
            choice.name
            for choice in self.chosen
            if not paths.isdisjoint(member.path for member in choice.members)
        )


@dataclass(frozen=True, slots=True)
class _Roles:
    scored: tuple[File, ...]
    shots: tuple[File, ...]
    notes: tuple[Note, ...]


def entries(paths: Sequence[Path], *, limits: Limits = _LIMITS) -> tuple[swift_config.Chosen, ...]:
    """The datasets of the configurations in `paths`, () without one; each name is there once.

    Those whose folder is not there are left out. Raises `DataError` as `load` does.
    """
    return _gathered(paths, limits).usable


def load(
    paths: Sequence[Path], *, layout: Layout = _DEFAULT, name: str = "", limits: Limits = _LIMITS
) -> Loaded:
    """The dataset in `paths`, everything wrong with its rows, and what else there is to know.

    Raises:
        DataError: nothing can be read, or a file is no table at all; says which and why.
        UnknownName: the layout's answer key does not exist.
    """
    gathered = _gathered(paths, limits).of(layout.entry)
    _check_lines(gathered.members, limits)
    opened = list(open_files(gathered.members, layout, limits))
    own = [file for file in opened if isinstance(file, Opened) and gathered.is_own(file)]
    found = of_one_kind(own, layout)
    files, repeated = settled(read_files(found, layout), layout)
    _check_names(files)
    roles = _roles(files)
    aside = [note for note in opened if isinstance(note, Note)]
    notes = (*gathered.notes, *aside, *found.notes, *roles.notes, *repeated)
    if not roles.scored:
        said = [sentence("error.nothing-to-score")]
        said += (note.sentence for note in notes)
        raise DataError(_in_a_row(said))
    used = sorted((*roles.scored, *roles.shots), key=lambda file: file.source.name)
    scored, shown = _distinct(roles.scored), _distinct(roles.shots)
    faults = FaultList((*scored.faults, *shown.faults))
    faults.add(unlisted=scored.unlisted + shown.unlisted)
    dataset = Dataset(
        name=name or gathered.name_of(used) or _name(paths, used),
        kind=found.kind,
        samples=scored.samples,
        shots=shown.samples,
        sha256=_sha256(used, layout, skipped=any(note.rule == LEFT_OUT for note in repeated)),
    )
    return Loaded(
        dataset=dataset,
        faults=faults.kept,
        n_rows=sum(file.part.n_rows for file in roles.scored),
        skipped=sum(file.part.skipped for file in roles.scored),
        files=tuple(file.source.name for file in used),
        notes=(*notes, *_notes(roles, found.kind)),
        sheets=tuple(dict.fromkeys(title for file in used for title in file.opened.sheets)),
        kinds=found.kinds,
        unlisted=faults.unlisted,
        rows_unusable=sum(
            part.n_rows - part.skipped - len(part.samples)
            for part in (*(f.part for f in used), scored, shown)
        ),
    )


def _gathered(paths: Sequence[Path], limits: Limits) -> _Gathered:
    """The files to read, and what configurations say of them."""
    gathered = gather(paths, limits)
    configs = [member for member in gathered.members if swift_config.is_config(member)]
    members = [member for member in gathered.members if not is_json(member)]
    if not configs:
        return _Gathered(tuple(members), gathered.notes)
    for path in paths:
        if path.is_file() and path.suffix.lower() == ".json":
            members += swift_config.beside(path, limits)
    chosen = [choice for member in configs for choice in swift_config.choose(member, members)]
    found = {member.path: member for choice in chosen for member in choice.members}
    bare = [choice.name for choice in chosen if not choice.members]
    notes = (Note("folder-missing", {"name": name}) for name in bare)
    return _Gathered(tuple(found.values()), (*gathered.notes, *notes), tuple(chosen))


def _by_suffix(file: Opened) -> Kind:
    return "general_qa" if file.path.suffix.lower() in (".jsonl", ".ndjson") else "multiple_choice"


def _check_lines(members: Sequence[Member], limits: Limits) -> None:
    # Each line may become a fault, and a fault is a hundred times as big as the line "1".
    # The rows of a workbook are counted where they are read.
    texts = [member.data for member in members if not is_workbook(member)]
    lines = sum(max(data.count(b"\n"), data.count(b"\r")) for data in texts)
    if lines > limits.lines:
        names = ", ".join(member.name for member in members[:_SHOWN])
        more = f" (+{len(members) - _SHOWN})" if len(members) > _SHOWN else ""
        raise DataError(
            "too-many-lines",
            files=names + more,
            n=lines,
            limit=limits.lines,
        )


def _in_a_row(said: Sequence[Sentence]) -> Sentence:
    return reduce(
        lambda before, after: sentence("error.both", before=before, after=after),
        said,
    )


def _check_names(files: Sequence[File]) -> None:
    seen: dict[tuple[str, str], File] = {}
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


def _roles(files: Sequence[File]) -> _Roles:
    """Which files are scored and which shown; a file of pictures alone is neither."""
    pictured = {file.opened.path: file.pictured for file in files if file.pictured is not None}
    roles = _by_split([file for file in files if file.opened.path not in pictured])
    left = (
        Note("pictures", {"file": file.source.name, "column": pictured[file.opened.path]})
        for file in files
        if file.opened.path in pictured
    )
    return replace(roles, notes=(*left, *roles.notes))


def _by_split(files: Sequence[File]) -> _Roles:
    """The roles by the splits: test and val are scored, dev is shown, or train without a dev.

    Where neither test nor val has answers, dev is scored beside a train split (that is how
    CommonsenseQA calls its val), and so is what stands alone.
    """
    dev = tuple(file for file in files if file.source.split == "dev")
    train = tuple(file for file in files if file.source.split == "train")
    rest = tuple(file for file in files if file.source.split not in ("dev", "train"))
    bare = tuple(file for file in rest if file.source.split != "val" and file.part.unanswered)
    scored = tuple(file for file in rest if file not in bare)
    notes = [Note("test-without-answers", {"file": file.source.name}) for file in bare]
    if not scored and (not rest or (dev and train)):
        scored, dev, train = (dev, (), train) if dev else (train, (), ())
        notes += (
            Note("dev-scored", {"file": file.source.name, "split": str(file.source.split)})
            for file in scored
        )
    shown = _subjects(dev)
    unused = [file for file in train if _subjects([file]) <= shown]
    notes += (Note("train-unused", {"file": file.source.name}) for file in unused)
    asked = _subjects(scored)
    shots = [file for file in (*dev, *train) if file not in unused]
    useless = [file for file in shots if _subjects([file]).isdisjoint(asked)]
    notes += (
        Note("no-scored-file", {"file": file.source.name, "subject": file.source.subject})
        for file in useless
    )
    return _Roles(scored, tuple(file for file in shots if file not in useless), tuple(notes))


def _subjects(files: Sequence[File]) -> set[str]:
    # By the names of the files too: their rows may all be faulty.
    named = {file.source.subject for file in files}
    return named.union(sample.subject for file in files for sample in file.part.samples)


def _distinct(files: Sequence[File]) -> Part:
    """The samples of all files with the later ones of an equal id made faults."""
    first: dict[str, Sample] = {}
    samples: list[Sample] = []
    faults = FaultList()
    rows = 0
    for file in files:
        again = FaultList()
        for sample in file.part.samples:
            earlier = first.setdefault(sample.id, sample)
            if earlier is sample:
                samples.append(sample)
            else:
                again.add(_duplicate(sample, earlier))
        rows += len(file.part.samples)
        faults.add(*by_line(file.part.faults, again.kept))
        faults.add(unlisted=file.part.unlisted + again.unlisted)
    return Part(tuple(samples), faults.kept, rows, unlisted=faults.unlisted)


def _duplicate(sample: Sample, earlier: Sample) -> Fault:
    file, line = sample.metadata["file"], int(sample.metadata["line"])
    place = f"line {earlier.metadata['line']}"
    place += f" of {earlier.metadata['file']}" if earlier.metadata["file"] != file else ""
    found = f"“{sample.id.rpartition('/')[2]}”, already on {place}"
    return Fault(file, line, "id", "duplicate-id", found, "an id of its own")


def _name(paths: Sequence[Path], used: Sequence[File]) -> str:
    subjects = list(dict.fromkeys(file.source.subject for file in used))
    if len(subjects) == 1 and subjects != ["default"]:
        return subjects[0]
    if len(paths) == 1:
        return paths[0].resolve().stem
    return subjects[0] + (f"+{len(subjects) - 1}" if len(subjects) > 1 else "")


def _sha256(used: Sequence[File], layout: Layout, *, skipped: bool) -> str:
    """The same for the same files in a folder, in an archive or one by one.

    File names count, since they are the subject and the role; a layout counts, since it decides
    what the options are, and so do rows `skipped` because their options share a text.
    """
    total = hashlib.sha256()
    for file in used:
        total.update(_bytes(file.source.name) + b"\0" + file.opened.digest)
        if file.opened.role.news:
            # Earlier versions gave the same file another subject or split.
            total.update(_bytes(f"role:{file.source.subject}:{file.source.split}"))
    # The kind and the entry decide which files are used, and are told by them.
    columns = replace(layout, sheet="", kind="", entry="", duplicate_options="keep")
    if columns != _DEFAULT:
        # As it was written before a layout had sheets, so that older signatures stay true.
        total.update(_bytes(repr(astuple(columns)[:_COLUMN_FIELDS])))
    if layout.sheet:
        total.update(_bytes("sheet:" + layout.sheet))
    if skipped:
        total.update(b"duplicate_options:skip")
    return total.hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _notes(roles: _Roles, kind: Kind) -> Iterator[Note]:
    for file in (*roles.scored, *roles.shots):
        yield from file.opened.notes
        yield from file.part.notes
        if not file.source.encoding.startswith("utf"):
            encoding = file.source.encoding.upper()
            yield Note("encoding", {"file": file.source.name, "encoding": encoding})
    if kind == "general_qa":
        yield from _without_reference(roles.scored)
    for file in roles.shots:
        if (rows := len(file.part.samples)) < _SHOTS:
            yield Note("few-dev-rows", {"file": file.source.name, "rows": str(rows)})
    if roles.shots:
        shown = _subjects(roles.shots)
        scored = dict.fromkeys(file.source.subject for file in roles.scored)
        for subject in scored:
            if subject not in shown:
                yield Note("no-dev-file", {"subject": subject})


def _without_reference(files: Sequence[File]) -> Iterator[Note]:
    for file in files:
        samples = file.part.samples
        if bare := sum(not sample.references for sample in samples):
            counts = {"n": str(bare), "rows": str(len(samples))}
            yield Note("without-reference", {"file": file.source.name, **counts})
