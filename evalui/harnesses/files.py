"""The files of a log: folders walked, JSON read a line or an object at a time."""

import json
import os
import zipfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import orjson

from evalui.datasets.files import ARCHIVE_ERRORS, read_chunks
from evalui.datasets.model import Limits
from evalui.errors import DataError

JsonObject = Mapping[str, Any]
MAX_FILES = 200_000  # of a folder; more are no log
# A JSON object is read whole and takes some times its size; lines are read one by one.
MAX_OBJECT_BYTES = 2**29
_BLOCK_LINES, _BLOCK_BYTES = 512, 2**22


@contextmanager
def opened_files(
    paths: Sequence[Path], limits: Limits, *, within: Path | None = None
) -> Generator[tuple[Path, ...]]:
    """Every file in `paths`, in name order; folders are walked and archives unpacked meanwhile.

    An archive is unpacked to a folder of its own name, `within` a folder if one is given.

    Raises:
        DataError: a path is not there, an archive is damaged or is over one of the `limits`, or
            there are more than `MAX_FILES`.
    """
    with ExitStack() as stack:
        files: list[Path] = []
        left = limits.unpacked  # of all archives together
        for path in paths:
            if _is_archive(path):
                made = TemporaryDirectory(prefix="evalui-", dir=within)
                folder = Path(stack.enter_context(made)) / (path.stem.strip(".") or "log")
                left = _unpack(path, folder, left, limits)
                files += _walk(folder)
            else:
                files += _walk(path)
        yield tuple(files)


def json_lines(path: Path) -> Iterator[tuple[int, JsonObject | None]]:
    """Each line that is not blank with its number from 1; None for one that is no JSON object."""
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.isspace():
                yield number, json_line(line)


def json_line(line: bytes) -> JsonObject | None:
    """A line as a JSON object, None if it is none."""
    values = parsed(line)
    return cast("JsonObject", values) if isinstance(values, dict) else None


def line_blocks(path: Path) -> Iterator[list[tuple[int, bytes]]]:
    """The lines that are not blank with their numbers from 1, some hundreds at a time."""
    with _opened(path) as lines:
        block: list[tuple[int, bytes]] = []
        left = _BLOCK_BYTES
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            block.append((number, line))
            left -= len(line)
            if left < 0 or len(block) == _BLOCK_LINES:
                yield block
                block, left = [], _BLOCK_BYTES
        if block:
            yield block


@lru_cache(maxsize=4096)
def first_object(path: Path) -> JsonObject | None:
    """The first line of a file as a JSON object, None if it is none."""
    return next((values for _, values in json_lines(path)), None)


def json_file(path: Path) -> Any:
    """The content of a JSON file, None if it is no JSON.

    Raises:
        DataError: the file cannot be read, or has more than `MAX_OBJECT_BYTES`.
    """
    try:
        if path.stat().st_size > MAX_OBJECT_BYTES:
            raise DataError("log-too-large", file=path.name, gb=f"{MAX_OBJECT_BYTES / 1e9:.1f}")
        return parsed(path.read_bytes())
    except OSError as error:
        raise DataError("file-unread", path=str(path), reason=str(error.strerror)) from error


def json_object(path: Path) -> JsonObject | None:
    """The content of a JSON file if it is an object; raises as `json_file`."""
    values = json_file(path)
    return cast("JsonObject", values) if isinstance(values, dict) else None


def head_of(path: Path, size: int = 4096) -> bytes:
    """The first bytes of a file, b"" if it cannot be read: by them it is recognised."""
    try:
        with path.open("rb") as opened:
            return opened.read(size)
    except OSError:
        return b""


def as_text(value: Any) -> str:
    """A JSON value if it is a text or a number, else ""."""
    if type(value) is str:  # nearly always
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)


def as_number(value: Any) -> float | None:
    """A JSON value if it is a number or true or false, else None."""
    return float(value) if isinstance(value, bool | int | float) else None


def parsed(content: bytes) -> Any:
    """What JSON holds, None if it is none."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:  # NaN and Infinity, which Python writes and JSON does not know
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


@contextmanager
def _opened(path: Path) -> Generator[Iterator[bytes]]:
    try:
        with path.open("rb") as lines:
            yield lines
    except OSError as error:
        raise DataError("file-unread", path=str(path), reason=str(error.strerror)) from error


def _walk(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise DataError("log-not-there", path=str(path))
    files: list[Path] = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += (Path(folder, name) for name in sorted(names) if not name.startswith("."))
        if len(files) > MAX_FILES:
            raise DataError("log-too-many", path=str(path), n=f"{MAX_FILES:,}")
    return files


def _is_archive(path: Path) -> bool:
    return path.suffix.lower() == ".zip" and path.is_file() and zipfile.is_zipfile(path)


def _unpack(path: Path, folder: Path, left: int, limits: Limits) -> int:
    """Unpack an archive to at most `left` bytes, whatever it declares; how many are left then."""
    folder.mkdir()
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > limits.files:
                n, limit = len(entries), limits.files
                raise DataError("zip-too-full", file=path.name, n=n, limit=limit)
            for entry in entries:
                name = entry.filename.replace("\\", "/")  # as some programs of Windows write it
                target = folder / os.path.normpath(f"/{name}").lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as unpacked:
                    for piece in read_chunks(archive, entry):
                        left -= len(piece)
                        if left < 0:
                            mb = f"{limits.unpacked / 1e6:,.0f} MB"
                            raise DataError("too-much-together", file=path.name, limit=mb)
                        unpacked.write(piece)
    except ARCHIVE_ERRORS as error:
        raise DataError("log-damaged", file=path.name, reason=str(error)) from error
    return left
