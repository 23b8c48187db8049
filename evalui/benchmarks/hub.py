"""Fetch the files of a published set from the hub, whole, verified and recorded, or not at all.

The hub's own client asks for them, as it does for models: its settings (`HF_ENDPOINT`, `HF_TOKEN`,
`HF_HUB_OFFLINE`, proxies) hold here too, and no address comes from a user. Only files of questions
of the splits that are needed are taken, no code. Each has the digest that the hub states.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast

from evalui.benchmarks.index import Benchmark
from evalui.benchmarks.places import MANIFEST, DataFile, DataFolder, TaskData, split_files
from evalui.benchmarks.preparing import file_digest, missing
from evalui.datasets.model import collapse_whitespace
from evalui.errors import DataError

MAX_BYTES = 8 * 2**30  # of all files that are fetched together
_CONVERTED = "refs/convert/parquet"  # where the hub keeps sets as Parquet that have a script
_PIECE = 2**20  # bytes


@dataclass(frozen=True, slots=True)
class FetchedBenchmark:
    """What was fetched: the commit of the hub, the files by path with their bytes, and where to."""

    name: str
    revision: str
    files: Mapping[str, int]
    place: Path


@dataclass(frozen=True, slots=True)
class _Listed:
    """A file as the hub lists it: `sha256` of large files, `blob` (git's digest) of the others."""

    path: str
    size: int
    sha256: str
    blob: str


@dataclass(frozen=True, slots=True)
class _Listing:
    commit: str
    files: tuple[_Listed, ...]


def fetch(
    benchmark: Benchmark, data: TaskData, *, revision: str = "main", limit: int = MAX_BYTES
) -> FetchedBenchmark:
    """Fetch the splits of a set that are scored and shown.

    Raises:
        DataError: the set is not on the hub, the hub cannot be reached or refuses, it has no such
            files, they are too many or too large, or not what the hub says they are.
    """
    listing, chosen = _wanted(benchmark, data, revision)
    size = sum(each.size for each in chosen)
    if size > limit:
        raise DataError("benchmark-hub-large", name=benchmark.name, n=size, limit=limit)
    place = data.fetched / benchmark.hub
    try:
        place.mkdir(parents=True, exist_ok=True)
        if (free := shutil.disk_usage(place).free) < 2 * size:
            raise DataError("benchmark-disk", name=benchmark.name, n=2 * size, free=free)
        with tempfile.TemporaryDirectory(dir=data.fetched, prefix=".fetching-") as folder:
            for each in chosen:
                _verify(_download(benchmark, data, listing.commit, each, Path(folder)), each)
            _keep(Path(folder), place, listing.commit, chosen)
    except OSError as error:
        raise DataError(
            "benchmark-unwritten", path=str(place), reason=error.strerror or str(error)
        ) from error
    return FetchedBenchmark(
        benchmark.name, listing.commit, {each.path: each.size for each in chosen}, place
    )


def download_sizes(
    benchmark: Benchmark, data: TaskData, *, revision: str = "main"
) -> Mapping[str, int]:
    """The files that `fetch` would get, by path with their bytes, as the hub lists them.

    Raises:
        DataError: the set is not on the hub, the hub cannot be reached or refuses, or it has no
            such files.
    """
    return {each.path: each.size for each in _wanted(benchmark, data, revision)[1]}


def _wanted(benchmark: Benchmark, data: TaskData, revision: str) -> tuple[_Listing, list[_Listed]]:
    """The commit, and the files of it that are the splits of a set."""
    if not benchmark.hub:
        raise DataError(missing(benchmark, data, benchmark.split))
    listing = _list(benchmark, data, revision)
    chosen = _choose(benchmark, listing)
    if not chosen and revision == "main":
        listing = _list(benchmark, data, _CONVERTED)
        chosen = _choose(benchmark, listing)
    if not chosen:
        raise DataError(
            "benchmark-hub-empty", name=benchmark.name, hub=benchmark.hub, split=benchmark.split
        )
    return listing, chosen


def _list(benchmark: Benchmark, data: TaskData, revision: str) -> _Listing:
    import huggingface_hub

    api: Any = huggingface_hub.HfApi(endpoint=_endpoint())
    try:
        info = api.dataset_info(benchmark.hub, revision=revision, files_metadata=True, timeout=60)
    except _failures() as error:
        raise _unreachable(benchmark, data, error) from error
    files = [
        _Listed(
            str(each.rfilename),
            int(each.size or 0),
            str(each.lfs.sha256) if each.lfs else "",
            str(each.blob_id or ""),
        )
        for each in info.siblings or ()
    ]
    return _Listing(str(info.sha), tuple(each for each in files if _is_inside(each.path)))


def _is_inside(path: str) -> bool:
    """Whether a path of a listing stays in its folder and hides nothing."""
    parts = PurePosixPath(path).parts
    plain = not any(part.startswith((".", "/")) or "\\" in part or ":" in part for part in parts)
    return bool(parts) and plain


def _choose(benchmark: Benchmark, listing: _Listing) -> list[_Listed]:
    """The files of the two splits; a set whose files are in archives has those."""
    files = [DataFile(each.path, Path(each.path)) for each in listing.files]
    wanted = {
        part.data.path
        for split in (benchmark.split, benchmark.shots)
        if split
        for part in split_files(files, benchmark.configs, split, benchmark.layouts)
    }
    if not split_files(files, benchmark.configs, benchmark.split, benchmark.layouts):
        wanted = {each.path for each in listing.files if each.path.lower().endswith(".zip")}
    return [each for each in listing.files if each.path in wanted]


def _download(
    benchmark: Benchmark, data: TaskData, commit: str, wanted: _Listed, folder: Path
) -> Path:
    import huggingface_hub

    download = cast(Any, huggingface_hub).hf_hub_download  # typed only in part
    try:
        return Path(
            download(
                benchmark.hub,
                wanted.path,
                repo_type="dataset",
                revision=commit,
                local_dir=folder,
                endpoint=_endpoint(),
            )
        )
    except _failures() as error:
        raise _unreachable(benchmark, data, error) from error


def _verify(path: Path, wanted: _Listed) -> None:
    """Raise `DataError` if a file is not the one that the hub has listed."""
    size = path.stat().st_size
    if wanted.sha256:
        is_same = file_digest(path) == wanted.sha256
    else:
        is_same = _git_digest(path, size) == wanted.blob
    if size != wanted.size or not is_same:
        raise DataError("benchmark-hub-differs", file=wanted.path)


def _git_digest(path: Path, size: int) -> str:
    """What git calls a file; the hub lists it for files that are not large."""
    total = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            total.update(piece)
    return total.hexdigest()


def _keep(source: Path, place: Path, commit: str, files: Sequence[_Listed]) -> None:
    """Move the files to their place and record their digests; sets may share a folder."""
    recorded = DataFolder(place, "fetched").manifest.get("files", {})
    for each in files:
        target = place / each.path
        target.parent.mkdir(parents=True, exist_ok=True)
        recorded[each.path] = {"sha256": file_digest(source / each.path), "revision": commit}
        (source / each.path).replace(target)
    manifest = {"revision": commit, "files": dict(sorted(recorded.items()))}
    written = source / MANIFEST
    written.write_text(json.dumps(manifest, indent=1), "utf-8")
    written.replace(place / MANIFEST)


def _endpoint() -> str | None:
    """Another hub than the usual one, if the administrator names it."""
    return os.environ.get("HF_ENDPOINT") or None


def _failures() -> tuple[type[Exception], ...]:
    """What the hub's client raises where it gets no answer, or none that it can use."""
    from huggingface_hub.errors import HfHubHTTPError

    # Its own error is one of its HTTP client's, which is httpx in one version, httpx2 in another.
    clients = (each for each in HfHubHTTPError.__mro__ if each.__module__.startswith("httpx"))
    of_client = cast("list[type[Exception]]", list(clients))
    return (OSError, ValueError, HfHubHTTPError, *of_client)


def _unreachable(benchmark: Benchmark, data: TaskData, error: Exception) -> DataError:
    reason = collapse_whitespace(str(error))[:200].rstrip(".")
    return DataError(
        "benchmark-hub",
        hub=benchmark.hub,
        reason=reason or type(error).__name__,
        advice=missing(benchmark, data, benchmark.split),
    )
