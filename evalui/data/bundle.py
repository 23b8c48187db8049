"""The one way in: files, folders, archives and SWIFT configurations become a dataset.

Files belong together by name: <subject>_dev is shown as worked examples, <subject>_val and
<subject>_test are scored, and so is a file whose name says nothing.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import reduce
from pathlib import Path

from evalui.data import config
from evalui.data.base import Layout, Limits, Loaded, Note, Part
from evalui.data.faults import FaultList, by_line
from evalui.data.files import Member, gather, is_json, is_workbook
from evalui.data.reading import File, Opened, of_one_kind, open_file, read_file
from evalui.errors import DataError, Sentence, sentence
from evalui.types import Dataset, Fault, Kind, Sample

_SHOTS = 5  # worked examples that C-Eval gives
_SHOWN = 3  # file names in a refusal
_COLUMN_FIELDS = 4  # of a layout: options, answer, answer key, question
_DEFAULT = Layout()
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The files to read; `chosen` are the entries of the configurations, if there are any."""

    members: tuple[Member, ...]
    notes: tuple[Note, ...]
    chosen: tuple[config.Chosen, ...] = ()

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


def load(
    paths: Sequence[Path], *, layout: Layout = _DEFAULT, name: str = "", limits: Limits = _LIMITS
) -> Loaded:
    """The dataset in `paths`, everything wrong with its rows, and what else there is to know.

    Raises:
        DataError: nothing can be read, or a file is no table at all; says which and why.
        UnknownName: the layout's answer key does not exist.
    """
    gathered = _gathered(paths, limits)
    _check_lines(gathered.members, limits)
    opened = [open_file(member, layout, limits) for member in gathered.members]
    found = of_one_kind([file for file in opened if isinstance(file, Opened)], layout)
    files = [read_file(file, reader, layout) for file, reader in found.files]
    _check_names(files)
    roles = _roles(files)
    aside = [note for note in opened if isinstance(note, Note)]
    notes = (*gathered.notes, *aside, *found.notes, *roles.notes)
    if not roles.scored:
        said = [sentence("There is nothing to score.", "nothing-to-score")]
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
        sha256=_sha256(used, layout),
    )
    return Loaded(
        dataset=dataset,
        faults=faults.kept,
        n_rows=sum(file.part.n_rows for file in roles.scored),
        files=tuple(file.source.name for file in used),
        notes=(*notes, *_notes(roles, found.kind)),
        sheets=tuple(dict.fromkeys(title for file in used for title in file.opened.sheets)),
        kinds=found.kinds,
        unlisted=faults.unlisted,
        rows_unusable=sum(
            part.n_rows - len(part.samples) for part in (*(f.part for f in used), scored, shown)
        ),
    )


def _gathered(paths: Sequence[Path], limits: Limits) -> _Gathered:
    """The files to read, and what configurations say of them."""
    gathered = gather(paths, limits)
    configs = [member for member in gathered.members if config.is_config(member)]
    members = [member for member in gathered.members if not is_json(member)]
    if not configs:
        return _Gathered(tuple(members), gathered.notes)
    for path in paths:
        if path.is_file() and path.suffix.lower() == ".json":
            members += config.beside(path, limits)
    chosen = [choice for member in configs for choice in config.choose(member, members)]
    found = {member.path: member for choice in chosen for member in choice.members}
    bare = [choice.name for choice in chosen if not choice.members]
    notes = (Note("folder-missing", {"name": name}) for name in bare)
    return _Gathered(tuple(found.values()), (*gathered.notes, *notes), tuple(chosen))


def _check_lines(members: Sequence[Member], limits: Limits) -> None:
    # Each line may become a fault, and a fault is a hundred times as big as the line "1".
    # The rows of a workbook are counted where they are read.
    texts = [member.data for member in members if not is_workbook(member)]
    lines = sum(max(data.count(b"\n"), data.count(b"\r")) for data in texts)
    if lines > limits.lines:
        names = ", ".join(member.name for member in members[:_SHOWN])
        more = f" (+{len(members) - _SHOWN})" if len(members) > _SHOWN else ""
        raise DataError(
            "{files}: {n:,} lines; at most {limit:,} are read.",
            "too-many-lines",
            files=names + more,
            n=lines,
            limit=limits.lines,
        )


def _in_a_row(said: Sequence[Sentence]) -> Sentence:
    return reduce(
        lambda before, after: sentence("{before} {after}", "both", before=before, after=after),
        said,
    )


def _check_names(files: Sequence[File]) -> None:
    seen: dict[tuple[str, str], File] = {}
    for file in files:
        role = (file.source.subject, file.source.split or "val")
        other = seen.setdefault(role, file)
        if other is not file:
            raise DataError(
                "{file} and {other} are both the {split} rows of {subject}. "
                "Give them different names, or load them one at a time.",
                "same-role",
                file=other.source.name,
                other=file.source.name,
                split=role[1],
                subject=role[0],
            )


def _roles(files: Sequence[File]) -> _Roles:
    dev = tuple(file for file in files if file.source.split == "dev")
    rest = [file for file in files if file.source.split != "dev"]
    bare = [file for file in rest if file.source.split == "test" and file.part.unanswered]
    scored = tuple(file for file in rest if file not in bare)
    if dev and not rest:
        notes = tuple(Note("dev-scored", {"file": file.source.name}) for file in dev)
        return _Roles(dev, (), notes)
    asked = _subjects(scored)
    useless = [file for file in dev if _subjects([file]).isdisjoint(asked)]
    notes = [Note("test-without-answers", {"file": file.source.name}) for file in bare]
    notes += (
        Note("no-scored-file", {"file": file.source.name, "subject": file.source.subject})
        for file in useless
    )
    return _Roles(scored, tuple(file for file in dev if file not in useless), tuple(notes))


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


def _sha256(used: Sequence[File], layout: Layout) -> str:
    """The same for the same files in a folder, in an archive or one by one.

    File names count, since they are the subject and the role; a layout counts, since it decides
    what the options are.
    """
    total = hashlib.sha256()
    for file in used:
        total.update(_bytes(file.source.name) + b"\0" + file.opened.digest)
    # The kind decides which files are used, and is told by them.
    columns = replace(layout, sheet="", kind="")
    if columns != _DEFAULT:
        # As it was written before a layout had sheets, so that older signatures stay true.
        total.update(_bytes(repr(astuple(columns)[:_COLUMN_FIELDS])))
    if layout.sheet:
        total.update(_bytes("sheet:" + layout.sheet))
    return total.hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _notes(roles: _Roles, kind: Kind) -> Iterator[Note]:
    for file in (*roles.scored, *roles.shots):
        yield from file.opened.notes
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
