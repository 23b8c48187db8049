"""Where the files of published sets lie on this machine, and which of them are a split.

Three places are looked at, in this order: the folder of `EVALUI_TASK_DATA`, the data folder, where
`benchmarks fetch` puts what it gets, and the cache of the hub's own client. In each the files of a
set lie as on the hub: `allenai/ai2_arc/ARC-Challenge/test-00000-of-00001.parquet`. Files in a zip
lie in it as in a folder. Nothing here asks a network.
"""

import json
import os
import re
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

from evalui.benchmarks.index import Benchmark
from evalui.errors import DataError

MANIFEST = ".evalui-benchmark.json"  # what was fetched: revision, digests
_MAX_FILES = 20_000  # of one set
_MAX_BYTES = 2 * 2**30  # of one file of questions
_SUFFIXES = ("parquet", "jsonl", "ndjson", "json", "csv", "tsv")
# Other words for the same split; "dev" is another one where there are both.
_SPLIT_WORDS = {"validation": ("validation", "val", "valid"), "val": ("val", "validation")}
# With the name of a part (a "config" of the hub), and without one.
_OF_PART = (
    "{config}/{split}-*",
    "{config}/{split}/0*",
    "{config}/{split}",
    "data/{config}/{split}-*",
    "data/{config}/{split}",
)
_WITHOUT_PART = (
    "data/{split}-*",
    "{split}-*",
    "data/{split}",
    "{split}",
    "default/{split}-*",
    "default/{split}/0*",
    "plain_text/{split}-*",
)


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a set: its path below the set's folder, and the zip it lies in, if any."""

    path: str
    file: Path
    member: str = ""

    def read(self) -> bytes:
        """Its contents; raises `DataError` if they are too many, or cannot be read."""
        with self.open() as opened:
            data = opened.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise DataError("benchmark-too-large", file=self.path, limit=_MAX_BYTES)
        return data

    @contextmanager
    def open(self) -> Generator[IO[bytes]]:
        """Its contents, to be read in pieces; raises `DataError` if they cannot be read."""
        try:
            if not self.member:
                with self.file.open("rb") as opened:
                    yield opened
                return
            with zipfile.ZipFile(self.file) as archive, archive.open(self.member) as opened:
                yield opened
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise DataError("benchmark-unreadable", file=self.path, reason=str(error)) from error


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file of a split, and the part ("config") of the set that it belongs to."""

    part: str
    data: DataFile


@dataclass(frozen=True)
class DataFolder:
    """The folder of one set on this machine; `origin` is which of the three places it is in."""

    root: Path
    origin: str

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        """All files of questions in it, those in zips too, in the order of their paths."""
        listed: list[DataFile] = []
        for path in sorted(self.root.rglob("*")):
            relative = path.relative_to(self.root)
            if any(part.startswith(".") for part in relative.parts) or not path.is_file():
                continue
            if path.suffix.lower() == ".zip":
                listed += _zip_members(path, relative.with_suffix("").as_posix())
            elif path.suffix.lower().lstrip(".") in _SUFFIXES:
                listed.append(DataFile(relative.as_posix(), path))
            if len(listed) > _MAX_FILES:
                raise DataError("benchmark-many-files", path=str(self.root), limit=_MAX_FILES)
        return tuple(listed)

    @property
    def revision(self) -> str:
        """The commit of the hub that its files are of, "" where nothing says it."""
        if self.origin == "cache":
            return self.root.name
        return str(self.manifest.get("revision", ""))

    @property
    def manifest(self) -> dict[str, Any]:
        """What was recorded when it was fetched; {} if it was not."""
        try:
            return cast("dict[str, Any]", json.loads((self.root / MANIFEST).read_text("utf-8")))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise DataError(
                "benchmark-unreadable", file=str(self.root / MANIFEST), reason=str(error)
            ) from error

    def split(self, benchmark: Benchmark, split: str) -> tuple[PartFile, ...]:
        """The files of a split, those of each part together; () if there is none."""
        if benchmark.pictures:  # the folder of all of them may have a million pictures
            table = self.root / f"{benchmark.split}.tsv"
            is_here = split == benchmark.split and table.is_file()
            return (PartFile("", DataFile(table.name, table)),) if is_here else ()
        return split_files(self.files, benchmark.configs, split, benchmark.layouts)


@dataclass(frozen=True, slots=True)
class TaskData:
    """The places that are looked at: `given` is `EVALUI_TASK_DATA`, `fetched` the data folder's."""

    fetched: Path
    given: Path | None = None

    def folders(self, place: str) -> Iterator[DataFolder]:
        """The folders of a set by its id on the hub, the first place first."""
        candidates = [(self.fetched / place, "fetched")]
        if self.given:
            candidates.insert(0, (self.given / place, "given"))
        if snapshot := _cached_snapshot(place):
            candidates.append((snapshot, "cache"))
        for root, origin in candidates:
            if root.is_dir():
                yield DataFolder(root, origin)

    def with_split(self, benchmark: Benchmark, split: str) -> DataFolder | None:
        """The first folder that has the split, None if none has."""
        for folder in self.folders(benchmark.place):
            if folder.split(benchmark, split):
                return folder
        return None

    @property
    def target(self) -> Path:
        """Where people are told to copy files to."""
        return self.given or self.fetched


def split_files(
    files: Sequence[DataFile], configs: Sequence[str], split: str, layouts: Sequence[str] = ()
) -> tuple[PartFile, ...]:
    """The files of a split of these parts; of several ways to lay them out the first counts."""
    usual = (*_OF_PART, *(() if "*" in configs else _WITHOUT_PART)) if configs else _WITHOUT_PART
    own = [layout.rpartition(".")[0] if "." in layout else layout for layout in layouts]
    for layout in (*own, *usual):
        chosen = [
            PartFile(part, file)
            for file in files
            if (part := _part_of(file.path, layout, configs, split)) is not None
        ]
        if layout in _WITHOUT_PART and len(configs) > 1:
            continue
        if chosen:
            return tuple(chosen)
    return ()


def _part_of(path: str, layout: str, configs: Sequence[str], split: str) -> str | None:
    """The part that a path belongs to under a layout, None if it is not of the split."""
    any_part = not configs or "*" in configs
    part = r"[^/]+?" if any_part else "|".join(map(re.escape, configs))
    words = "|".join(map(re.escape, _SPLIT_WORDS.get(split, (split,))))
    pattern = re.escape(layout)
    pattern = pattern.replace(r"\{subject\}", "(?P<part>[^/]+?)", 1)
    pattern = pattern.replace(r"\{config\}", f"(?P<part>{part})", 1)
    pattern = pattern.replace(r"\{config\}", "(?P=part)").replace(r"\{split\}", f"(?:{words})")
    pattern = pattern.replace(r"\*", "[^/]*")
    # A zip holds the files themselves, or one folder of them.
    whole = rf"(?:[^/]+!/(?:[^/]+/)?)?{pattern}\.(?:{'|'.join(_SUFFIXES)})"
    match = re.fullmatch(whole, path)
    if not match:
        return None
    return match.groupdict().get("part") or (configs[0] if len(configs) == 1 else "")


def _zip_members(path: Path, stem: str) -> list[DataFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [each.filename for each in archive.infolist() if not each.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError("benchmark-unreadable", file=path.name, reason=str(error)) from error
    return [
        DataFile(f"{stem.rpartition('/')[2]}!/{name}", path, name)
        for name in sorted(names)
        if name.rpartition(".")[2].lower() in _SUFFIXES and "__MACOSX" not in name
    ]


def _cached_snapshot(place: str) -> Path | None:
    """The files of a set in the cache of the hub's own client, as it lays them out."""
    cache = _hub_cache() / f"datasets--{place.replace('/', '--')}"
    try:
        revision = (cache / "refs" / "main").read_text("utf-8").strip()
    except OSError:
        snapshots = sorted((cache / "snapshots").glob("*"), key=lambda each: each.stat().st_mtime)
        return snapshots[-1] if snapshots else None
    snapshot = cache / "snapshots" / revision
    return snapshot if snapshot.is_dir() else None


def _hub_cache() -> Path:
    if path := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(path).expanduser()
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    return Path(home).expanduser() / "hub"
