"""Which files are read: those that are given, or those that a configuration among them names.

SWIFT's custom_config.json says which folders hold which kind of questions. It is a list of {"name",
"pattern": "ceval" or "general_qa", "dataset": folder, "subset_list": names}; comments behind a "#"
are left out. The folders are looked for below the configuration only, by the end of their path:
what an uploaded file states must not make a server read its other files.
"""

import json
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any, Literal, cast

from evalui.datasets.containers.json import has_lone_surrogate
from evalui.datasets.encoding import decode
from evalui.datasets.files import SourceFile, collect_files, files_in_folder, is_json
from evalui.datasets.model import Limits, UploadNote, as_object
from evalui.errors import DataError
from evalui.messages import Sentence, sentence
from evalui.types import DatasetKind

_PATTERNS = ("ceval", "general_qa")
# SWIFT's page explains each line of its example behind a "#".
_COMMENT = re.compile(r'(?P<text>"(?:[^"\\\n]|\\.)*+")|#[^\n]*')


@dataclass(frozen=True, slots=True)
class _Entry:
    """One dataset of a configuration."""

    name: str
    pattern: str
    dataset: PurePosixPath
    subsets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntryFiles:
    """The files that one entry of a configuration names, the name it gives them and their kind."""

    files: tuple[SourceFile, ...]
    name: str
    pattern: str

    @property
    def is_open_ended(self) -> bool:
        """Whether its questions are answered in writing."""
        return self.pattern != "ceval"


@dataclass(frozen=True, slots=True)
class SelectedFiles:
    """The files to read; `chosen_entries` are the entries of the configurations, if there are any.

    Of `other_entries` none is read: another entry was requested.
    """

    files: tuple[SourceFile, ...]
    notes: tuple[UploadNote, ...]
    chosen_entries: tuple[EntryFiles, ...] = ()
    other_entries: tuple[EntryFiles, ...] = ()

    @property
    def usable_entries(self) -> tuple[EntryFiles, ...]:
        """The entries that have files, each under a name of its own."""
        return _with_distinct_names(choice for choice in self.chosen_entries if choice.files)

    def for_entry(self, entry: str) -> "SelectedFiles":
        """What belongs to one entry; the first one keeps the notes on the files as a whole."""
        if not entry:
            return self
        usable = self.usable_entries
        chosen = _entry_named(usable, entry)
        others = tuple(choice for choice in usable if choice is not chosen)
        _reject_shared_files(chosen, others)
        return SelectedFiles(
            chosen.files, self.notes if chosen is usable[0] else (), (chosen,), others
        )

    def includes(self, path: PurePosixPath, kind: DatasetKind | Literal[""]) -> bool:
        """Whether a file is meant: without its folder it may fit several entries by its name.

        Where its `kind` is not known, its ending says it.
        """
        if not any(path == member.path for each in self.other_entries for member in each.files):
            return True
        by_suffix = path.suffix.lower() in (".jsonl", ".ndjson")
        is_open_ended = kind != "multiple_choice" if kind else by_suffix
        return any(choice.is_open_ended == is_open_ended for choice in self.chosen_entries)

    def dataset_name(self, paths: Set[PurePosixPath]) -> str:
        """The name that the configurations give to these files, "" without one."""
        return "+".join(
            choice.name
            for choice in self.chosen_entries
            if not paths.isdisjoint(member.path for member in choice.files)
        )


def select_files(paths: Sequence[Path], limits: Limits) -> SelectedFiles:
    """The files to read, and the entries of configurations that they belong to."""
    gathered = collect_files(paths, limits)
    configs = [member for member in gathered.files if _is_config(member)]
    members = [member for member in gathered.files if member not in configs]
    if not configs:
        return SelectedFiles(tuple(members), gathered.notes)
    for path in paths:
        if path.is_file() and path.suffix.lower() == ".json":
            members += _files_beside(path, limits)
    chosen = [choice for member in configs for choice in _match_entries(member, members)]
    files = {member.path: member for choice in chosen for member in choice.files}
    bare = [choice.name for choice in chosen if not choice.files]
    notes = (UploadNote("folder-missing", {"name": name}) for name in bare)
    return SelectedFiles(tuple(files.values()), (*gathered.notes, *notes), tuple(chosen))


def _is_config(member: SourceFile) -> bool:
    """Whether a JSON file is a configuration: a list of objects with a pattern and a dataset.

    One of them is enough, so that what is wrong with the others is reported.
    """
    if not is_json(member):
        return False
    try:
        text = decode(member.data, member.name).text
        # Most files of questions need not be parsed for this.
        value = _parse(text, member.name) if '"pattern"' in text and '"dataset"' in text else None
    except DataError:
        return False  # whatever it is, it is no configuration
    return isinstance(value, list) and any(
        isinstance(entry, dict) and entry.keys() >= {"pattern", "dataset"}
        for entry in cast(list[Any], value)
    )


def _files_beside(path: Path, limits: Limits) -> tuple[SourceFile, ...]:
    """The files of the folders that the configuration at `path` names, as far as they exist."""
    try:
        entries = _read_config(SourceFile(PurePosixPath(path.name), path.read_bytes()))
        places = {
            folder: None
            for entry in entries
            if (folder := _folder_below(path.parent, entry.dataset))
        }
        return tuple(
            member
            for place in places
            for member in files_in_folder(place, limits)
            if not _is_config(member)
        )
    except OSError as error:
        raise DataError("folder-unreadable", file=path.name, reason=str(error.strerror)) from error


def _match_entries(config: SourceFile, members: Sequence[SourceFile]) -> tuple[EntryFiles, ...]:
    """Those of the `members` that each entry names.

    A folder of general-QA questions that is not there has no members, if there are multiple-choice
    questions. Raises `DataError` if other files are missing.
    """
    entries = _read_config(config)
    may_miss = any(entry.pattern == "ceval" for entry in entries)
    return tuple(_match_entry(config, entry, members, may_miss=may_miss) for entry in entries)


def _with_distinct_names(chosen: Iterable[EntryFiles]) -> tuple[EntryFiles, ...]:
    """The entries with a number behind each name that was there before."""
    named: dict[str, EntryFiles] = {}
    for choice in chosen:
        numbered = (f"{choice.name} ({n})" for n in count(2))
        name = next(name for name in chain([choice.name], numbered) if name not in named)
        named[name] = replace(choice, name=name)
    return tuple(named.values())


def _entry_named(chosen: Sequence[EntryFiles], name: str) -> EntryFiles:
    """The entry of this name; raises `DataError` if there is none."""
    for choice in chosen:
        if choice.name == name:
            return choice
    raise DataError(
        "config-no-entry", name=repr(name), known=", ".join(choice.name for choice in chosen) or "–"
    )


def _reject_shared_files(chosen: EntryFiles, others: Iterable[EntryFiles]) -> None:
    """Raise `DataError` if a file that lost its folder may belong to another entry of its kind."""
    for other in others:
        for member in chosen.files if other.pattern == chosen.pattern else ():
            if member.explicit and member in other.files:
                raise DataError(
                    "config-shared", file=member.name, entry=chosen.name, other=other.name
                )


def _read_config(member: SourceFile) -> tuple[_Entry, ...]:
    """The entries of a configuration; raises `DataError` if one of them is none."""
    value = _parse(decode(member.data, member.name).text, member.name)
    return tuple(
        _parse_entry(entry, sentence("error.where-dataset", file=member.name, n=n))
        for n, entry in enumerate(cast(list[Any], value), 1)
    )


def _parse(text: str, file: str) -> Any:
    text = _COMMENT.sub(lambda found: found["text"] or "", text)
    try:
        # Python refuses to read thousands of digits; no number here means anything.
        value: Any = json.loads(text, parse_int=float)
        half = has_lone_surrogate(value)
    except json.JSONDecodeError as error:
        raise DataError("json-broken", file=file, line=error.lineno, reason=error.msg) from error
    except RecursionError as error:
        raise DataError("json-too-deep", file=file) from error
    if half:
        raise DataError("half-pair", file=file)
    return value


def _parse_entry(value: Any, where: Sentence) -> _Entry:
    entry = as_object(value)
    dataset, pattern = entry.get("dataset"), entry.get("pattern")
    if pattern not in _PATTERNS:
        raise DataError("config-pattern", where=where, pattern=repr(pattern))
    if not isinstance(dataset, str) or not dataset.strip():
        raise DataError("config-dataset", where=where)
    subsets = entry.get("subset_list", ["default"])
    if not isinstance(subsets, list) or not all(
        isinstance(subset, str) for subset in cast(list[Any], subsets)
    ):
        raise DataError("config-subsets", where=where)
    place = PurePosixPath(dataset.strip().replace("\\", "/"))
    name = entry.get("name")
    return _Entry(
        name if isinstance(name, str) and name else place.name,
        pattern,
        place,
        tuple(cast(list[str], subsets)),
    )


def _folder_below(base: Path, dataset: PurePosixPath) -> Path | None:
    """The folder with the longest end of the path `dataset` that exists below `base`."""
    for start in range(len(dataset.parts)):
        end = dataset.parts[start:]
        place = base.joinpath(*end)
        if ".." not in end and place.is_dir() and place.resolve().is_relative_to(base.resolve()):
            return place
    return None


def _match_entry(
    config: SourceFile, entry: _Entry, members: Sequence[SourceFile], *, may_miss: bool
) -> EntryFiles:
    files: list[SourceFile] = []
    for subset in entry.subsets:
        names = {subset, *(f"{subset}_{split}" for split in ("dev", "val", "test"))}
        matches = [
            member
            for member in members
            if member.path.stem in names and _is_in_folder(member, entry.dataset)
        ]
        if not matches and may_miss and entry.pattern != "ceval":
            return EntryFiles((), entry.name, entry.pattern)
        if not matches:
            raise _missing_file_error(config, entry, subset)
        files += matches
    return EntryFiles(tuple(files), entry.name, entry.pattern)


def _missing_file_error(config: SourceFile, entry: _Entry, subset: str) -> DataError:
    if entry.pattern == "general_qa":
        return DataError(
            "config-missing-qa", file=config.name, subset=subset, folder=str(entry.dataset)
        )
    return DataError("config-missing", file=config.name, subset=subset, folder=str(entry.dataset))


def _is_in_folder(member: SourceFile, dataset: PurePosixPath) -> bool:
    # A file that was uploaded by itself has lost its folder.
    return member.explicit or member.path.parent.name == dataset.name
