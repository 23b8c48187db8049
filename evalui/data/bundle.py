"""The one way in: files, folders, archives and SWIFT configurations become a dataset.

Files belong together by name: <subject>_dev is shown as worked examples, <subject>_val and
<subject>_test are scored, and so is a file whose name says nothing.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import reduce
from pathlib import Path
from typing import cast

from evalui.data import config
from evalui.data.base import READERS, Layout, Limits, Loaded, Note, Part, Reader, Source
from evalui.data.decoding import decode
from evalui.data.files import Gathered, Member, gather, is_json
from evalui.data.table import header
from evalui.errors import DataError, Sentence, sentence
from evalui.types import Dataset, Fault, Kind, Sample, Split

_SPLIT = re.compile(r"(?P<subject>.+?)[_.-](?P<split>dev|val|test)", re.IGNORECASE)
_SHOTS = 5  # worked examples that C-Eval gives
_SHOWN = 3  # file names in a refusal
_DEFAULT = Layout()
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _File:
    source: Source
    kind: Kind
    part: Part
    digest: bytes


@dataclass(frozen=True, slots=True)
class _Roles:
    scored: tuple[_File, ...]
    shots: tuple[_File, ...]
    notes: tuple[Note, ...]


def load(
    paths: Sequence[Path], *, layout: Layout = _DEFAULT, name: str = "", limits: Limits = _LIMITS
) -> Loaded:
    """The dataset in `paths`, everything wrong with its rows, and what else there is to know.

    Raises:
        DataError: nothing can be read, or a file is no table at all; says which and why.
        UnknownName: the layout's answer key does not exist.
    """
    gathered, given = _gathered(paths, limits)
    _check_lines(gathered.members, limits)
    read = [_read(member, layout) for member in gathered.members]
    files = [file for file in read if isinstance(file, _File)]
    _check_names(files)
    roles = _roles(files)
    aside = [file for file in read if isinstance(file, Note)]
    notes = (*gathered.notes, *aside, *roles.notes)
    if not roles.scored:
        said = [sentence("There is nothing to score.", "nothing-to-score")]
        said += (note.sentence for note in notes)
        raise DataError(_in_a_row(said))
    used = sorted((*roles.scored, *roles.shots), key=lambda file: file.source.name)
    samples, faults = _distinct(roles.scored)
    shots, shot_faults = _distinct(roles.shots)
    dataset = Dataset(
        name=name or given or _name(paths, used),
        kind=used[0].kind,
        samples=samples,
        shots=shots,
        sha256=_sha256(used, layout),
    )
    return Loaded(
        dataset=dataset,
        faults=(*faults, *shot_faults),
        n_rows=sum(file.part.n_rows for file in roles.scored),
        files=tuple(file.source.name for file in used),
        notes=(*notes, *_notes(roles)),
    )


def _gathered(paths: Sequence[Path], limits: Limits) -> tuple[Gathered, str]:
    """The files to read, and the name that a configuration gives them."""
    gathered = gather(paths, limits)
    configs = [member for member in gathered.members if config.is_config(member)]
    members = [member for member in gathered.members if not is_json(member)]
    if not configs:
        return Gathered(tuple(members), gathered.notes), ""
    for path in paths:
        if path.is_file() and path.suffix.lower() == ".json":
            members += config.beside(path, limits)
    chosen = [config.choose(member, members) for member in configs]
    found = {member.path: member for choice in chosen for member in choice.members}
    notes = [*gathered.notes, *(note for choice in chosen for note in choice.notes)]
    name = "+".join(choice.name for choice in chosen)
    return Gathered(tuple(found.values()), tuple(notes)), name


def _check_lines(members: Sequence[Member], limits: Limits) -> None:
    # Each line may become a fault, and a fault is a hundred times as big as the line "1".
    lines = sum(max(member.data.count(b"\n"), member.data.count(b"\r")) for member in members)
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


def _read(member: Member, layout: Layout) -> _File | Note:
    """One file, or a note that says why it was left aside."""
    decoded = decode(member.data, member.name)
    subject, split = _meaning(member.path.stem)
    source = Source(member.name, decoded.text, subject, split, decoded.encoding)
    reader = _reader(source, layout)
    if reader is None:
        if _is_general_qa(source):
            return Note("kind-not-supported", {"file": source.name, "kind": "general_qa"})
        if not member.explicit and member.path.suffix.lower() == ".txt":
            return Note("ignored-files", {"files": source.name})
        # The usual format, so that its faults name the columns that are missing.
        reader = READERS["ceval"]
    part = reader.read(source, layout)
    return _File(source, reader.kind, part, hashlib.sha256(member.data).digest())


def _meaning(stem: str) -> tuple[str, Split | None]:
    """The subject and the split that a file's name tells."""
    found = _SPLIT.fullmatch(stem)
    return (found["subject"], cast(Split, found["split"].lower())) if found else (stem, None)


def _reader(source: Source, layout: Layout) -> Reader | None:
    readers = (READERS[name] for name in READERS)
    return next((reader for reader in readers if reader.recognises(source, layout)), None)


def _is_general_qa(source: Source) -> bool:
    return "query" in {name.casefold() for name in header(source, ("query",))}


def _check_names(files: Sequence[_File]) -> None:
    seen: dict[tuple[str, str], _File] = {}
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


def _roles(files: Sequence[_File]) -> _Roles:
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


def _subjects(files: Sequence[_File]) -> set[str]:
    # By the names of the files too: their rows may all be faulty.
    named = {file.source.subject for file in files}
    return named.union(sample.subject for file in files for sample in file.part.samples)


def _distinct(files: Sequence[_File]) -> tuple[tuple[Sample, ...], tuple[Fault, ...]]:
    """The samples of all files with the later ones of an equal id made faults."""
    first: dict[str, Sample] = {}
    samples: list[Sample] = []
    faults: list[Fault] = []
    for file in files:
        found = list(file.part.faults)
        for sample in file.part.samples:
            earlier = first.setdefault(sample.id, sample)
            if earlier is sample:
                samples.append(sample)
            else:
                found.append(_duplicate(sample, earlier))
        faults += sorted(found, key=lambda fault: fault.line)
    return tuple(samples), tuple(faults)


def _duplicate(sample: Sample, earlier: Sample) -> Fault:
    file, line = sample.metadata["file"], int(sample.metadata["line"])
    place = f"line {earlier.metadata['line']}"
    place += f" of {earlier.metadata['file']}" if earlier.metadata["file"] != file else ""
    found = f"“{sample.id.rpartition('/')[2]}”, already on {place}"
    return Fault(file, line, "id", "duplicate-id", found, "an id of its own")


def _name(paths: Sequence[Path], used: Sequence[_File]) -> str:
    subjects = list(dict.fromkeys(file.source.subject for file in used))
    if len(subjects) == 1 and subjects != ["default"]:
        return subjects[0]
    if len(paths) == 1:
        return paths[0].resolve().stem
    return subjects[0] + (f"+{len(subjects) - 1}" if len(subjects) > 1 else "")


def _sha256(used: Sequence[_File], layout: Layout) -> str:
    """The same for the same files in a folder, in an archive or one by one.

    File names count, since they are the subject and the role; a layout counts, since it decides
    what the options are.
    """
    total = hashlib.sha256()
    for file in used:
        total.update(file.source.name.encode("utf-8", "surrogatepass") + b"\0" + file.digest)
    if layout != _DEFAULT:
        total.update(repr(astuple(layout)).encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def _notes(roles: _Roles) -> Iterator[Note]:
    for file in (*roles.scored, *roles.shots):
        if not file.source.encoding.startswith("utf"):
            encoding = file.source.encoding.upper()
            yield Note("encoding", {"file": file.source.name, "encoding": encoding})
    for file in roles.shots:
        if (rows := len(file.part.samples)) < _SHOTS:
            yield Note("few-dev-rows", {"file": file.source.name, "rows": str(rows)})
    if roles.shots:
        shown = _subjects(roles.shots)
        scored = dict.fromkeys(file.source.subject for file in roles.scored)
        for subject in scored:
            if subject not in shown:
                yield Note("no-dev-file", {"subject": subject})
