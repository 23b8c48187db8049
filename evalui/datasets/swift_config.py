"""SWIFT's custom_config.json: which folders hold which kind of questions.

A list of {"name", "pattern": "ceval" or "general_qa", "dataset": folder, "subset_list": names}.
Comments behind a "#" are left out. The folders are looked for below the configuration only, by the
end of their path: what an uploaded file states must not make a server read its other files.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any, cast

from evalui.datasets.containers.json import has_lone_surrogate
from evalui.datasets.encoding import decode
from evalui.datasets.files import SourceFile, files_in_folder, is_json
from evalui.datasets.model import Limits, as_object
from evalui.errors import DataError
from evalui.messages import Sentence, sentence
from evalui.types import DatasetKind

SWIFT_PATTERNS = ("ceval", "general_qa")
# SWIFT's page explains each line of its example behind a "#".
_COMMENT = re.compile(r'(?P<text>"(?:[^"\\\n]|\\.)*+")|#[^\n]*')
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class SwiftEntry:
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

    def accepts_kind(self, kind: DatasetKind) -> bool:
        """Whether the entry means questions of this kind."""
        return (kind == "multiple_choice") == (self.pattern == "ceval")


def is_config(member: SourceFile) -> bool:
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


def files_beside(path: Path, limits: Limits) -> tuple[SourceFile, ...]:
    """The files of the folders that the configuration at `path` names, as far as they exist."""
    try:
        entries = read_config(SourceFile(PurePosixPath(path.name), path.read_bytes()))
        places = {
            folder: None
            for entry in entries
            if (folder := _folder_below(path.parent, entry.dataset))
        }
        return tuple(
            member
            for place in places
            for member in files_in_folder(place, limits)
            if not is_config(member)
        )
    except OSError as error:
        raise DataError("folder-unreadable", file=path.name, reason=str(error.strerror)) from error


def match_entries(config: SourceFile, members: Sequence[SourceFile]) -> tuple[EntryFiles, ...]:
    """Those of the `members` that each entry names.

    A folder of general-QA questions that is not there has no members, if there are multiple-choice
    questions. Raises `DataError` if other files are missing.
    """
    entries = read_config(config)
    may_miss = any(entry.pattern == "ceval" for entry in entries)
    return tuple(_match_entry(config, entry, members, may_miss=may_miss) for entry in entries)


def with_distinct_names(chosen: Iterable[EntryFiles]) -> tuple[EntryFiles, ...]:
    """The entries with a number behind each name that was there before."""
    named: dict[str, EntryFiles] = {}
    for choice in chosen:
        numbered = (f"{choice.name} ({n})" for n in count(2))
        name = next(name for name in chain([choice.name], numbered) if name not in named)
        named[name] = replace(choice, name=name)
    return tuple(named.values())


def entry_named(chosen: Sequence[EntryFiles], name: str) -> EntryFiles:
    """The entry of this name; raises `DataError` if there is none."""
    for choice in chosen:
        if choice.name == name:
            return choice
    raise DataError(
        "config-no-entry", name=repr(name), known=", ".join(choice.name for choice in chosen) or "–"
    )


def reject_shared_files(chosen: EntryFiles, others: Iterable[EntryFiles]) -> None:
    """Raise `DataError` if a file that lost its folder may belong to another entry of its kind."""
    for other in others:
        for member in chosen.files if other.pattern == chosen.pattern else ():
            if member.explicit and member in other.files:
                raise DataError(
                    "config-shared", file=member.name, entry=chosen.name, other=other.name
                )


def read_config(member: SourceFile) -> tuple[SwiftEntry, ...]:
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


def _parse_entry(value: Any, where: Sentence) -> SwiftEntry:
    entry = as_object(value)
    dataset, pattern = entry.get("dataset"), entry.get("pattern")
    if pattern not in SWIFT_PATTERNS:
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
    return SwiftEntry(
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
    config: SourceFile, entry: SwiftEntry, members: Sequence[SourceFile], *, may_miss: bool
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


def _missing_file_error(config: SourceFile, entry: SwiftEntry, subset: str) -> DataError:
    if entry.pattern == "general_qa":
        return DataError(
            "config-missing-qa", file=config.name, subset=subset, folder=str(entry.dataset)
        )
    return DataError("config-missing", file=config.name, subset=subset, folder=str(entry.dataset))


def _is_in_folder(member: SourceFile, dataset: PurePosixPath) -> bool:
    # A file that was uploaded by itself has lost its folder.
    return member.explicit or member.path.parent.name == dataset.name
