"""A data folder as one archive, and back: a copy of the store that is consistent while it is used.

An archive holds everything of the folder but what is made anew: the start-up token, Gradio's own
files, the gallery, the pictures that were found in uploads. Keys of endpoints and the secret that
encrypts them are in it, so it is as secret as the folder.
"""

import errno
import gzip
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from pydantic import BaseModel, ValidationError

from evalui.errors import StoreError
from evalui.pictures import FOUND_IN_UPLOAD
from evalui.runs.upkeep.monitor import FULL_BYTES, disk_use
from evalui.store import queue
from evalui.store.connection import Database

_STORE = "evalui.sqlite"
_MANIFEST = "backup.json"  # the first member: where the folder was, which its files name
_LEFT_OUT = frozenset(
    {_STORE, f"{_STORE}-wal", f"{_STORE}-shm", "access-token", "gradio", "demo", ".cache"}
)
_MAX_MANIFEST = 2**16  # bytes
_SUFFIX = ".tar.gz"
_LEVEL = 3  # of gzip: the store's large columns are compressed already


class _Manifest(BaseModel):
    format: Literal[1]
    folder: str


def write_backup(folder: Path, target: Path) -> int:
    """Write an archive of a data folder, which nothing else may read; the bytes of the archive.

    The store is copied first, so that files which a run of the copy names are in the archive.

    Raises:
        StoreError: there is no store, the target exists, or a file cannot be read or written.
    """
    if not target.name.endswith(_SUFFIX):
        raise StoreError("backup-name", file=target.name, suffix=_SUFFIX)
    if not (folder / _STORE).is_file():
        raise StoreError("no-store", path=str(folder / _STORE))
    if target.exists():
        raise StoreError("backup-exists", file=str(target))
    with _faults_of(target), tempfile.TemporaryDirectory(dir=target.parent) as made:
        copy, unfinished = Path(made) / _STORE, Path(made) / "archive"  # readable by us alone
        _copy_store(folder / _STORE, copy)
        with tarfile.open(unfinished, "w:gz", compresslevel=_LEVEL) as archive:
            content = _Manifest(format=1, folder=str(folder.absolute())).model_dump_json().encode()
            archive.addfile(_member(_MANIFEST, len(content)), BytesIO(content))
            for path, name in [(copy, _STORE), *_files(folder)]:
                _add(archive, path, name)
        unfinished.chmod(0o600)
        unfinished.rename(target)
        return target.stat().st_size


def restore_backup(source: Path, folder: Path) -> int:
    """Fill an empty folder with an archive; the number of runs that wait for a worker.

    A run that was being done goes on with the next worker. Files that runs name are looked for in
    the new folder from now on.

    Raises:
        StoreError: the folder is not empty, the archive is none of ours, damaged or of another
            version, or a file cannot be written. Then the folder is empty again.
    """
    if folder.exists() and any(folder.iterdir()):
        raise StoreError("restore-not-empty", folder=str(folder))
    with _faults_of(source):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        try:
            with gzip.open(source) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
                before = _unpack(archive, folder, source)
                while stream.read(2**20):
                    pass  # up to the checksum, which a file that was cut off lacks
            _check_store(folder / _STORE, source)
            with closing(Database(folder / _STORE)) as database:
                return _settle(database, before, folder)
        except BaseException:  # raised again
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            raise


@contextmanager
def _faults_of(file: Path) -> Generator[None]:
    """Within, what goes wrong with files is stated as a `StoreError` about the archive."""
    try:
        yield
    except (OSError, EOFError, zlib.error, tarfile.TarError, sqlite3.Error) as error:
        raise StoreError("backup-failed", file=str(file), reason=str(error)) from error


def _copy_store(source: Path, target: Path) -> None:
    # In one step, which the write-ahead log lets readers and writers go on beside; not through
    # `Database`, which refuses a store of another version.
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as opened,
        closing(sqlite3.connect(target)) as copy,
    ):
        opened.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    """The plain files below a folder that belong into an archive, with their names there."""
    for place, folders, names in os.walk(folder):
        at = Path(place)
        if at == folder:
            folders[:] = [name for name in folders if name not in _LEFT_OUT]
            names = [name for name in names if name not in _LEFT_OUT]
        if at.parent == folder / "uploads":
            folders[:] = [name for name in folders if not name.endswith(FOUND_IN_UPLOAD)]
        for path in (at / name for name in sorted(names)):
            if path.is_file() and not path.is_symlink():
                yield path, path.relative_to(folder).as_posix()


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    try:
        file = path.open("rb")
    except FileNotFoundError:  # deleted since, or replaced just now by a new one of another name
        return
    with file:
        archive.addfile(_member(name, os.fstat(file.fileno()).st_size), file)


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o600, int(time.time())
    return member


def _unpack(archive: tarfile.TarFile, folder: Path, source: Path) -> str:
    """Write the members; the folder that they are from.

    Only plain files at relative places are taken, which are written by ourselves: filters of
    `tarfile` are not in every Python 3.11.
    """
    first = archive.next()
    if first is None or first.name != _MANIFEST or first.size > _MAX_MANIFEST:
        raise StoreError("backup-foreign", file=str(source))
    try:
        manifest = _Manifest.model_validate_json(_content(archive, first).read())
    except ValidationError as error:
        raise StoreError("backup-foreign", file=str(source)) from error
    for member in iter(archive.next, None):
        place = PurePosixPath(member.name)
        if not member.isreg() or place.is_absolute() or ".." in place.parts:
            raise StoreError("backup-member", file=str(source), member=member.name)
        if disk_use(folder).free - member.size < FULL_BYTES:  # others write on this disk, too
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        path = folder / place
        for parent in reversed(place.parents):  # `parents=True` would make them for everybody
            (folder / parent).mkdir(mode=0o700, exist_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(number, "wb") as file:
            shutil.copyfileobj(_content(archive, member), file)
        os.utime(path, (member.mtime, member.mtime))
    return manifest.folder


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(member)
    if content is None:
        raise tarfile.ReadError(member.name)
    return content


def _check_store(path: Path, source: Path) -> None:
    if not path.is_file():
        raise StoreError("backup-foreign", file=str(source))
    with closing(sqlite3.connect(path)) as opened:
        (verdict,) = opened.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise StoreError("backup-damaged", file=str(source), reason=str(verdict))


def _settle(database: Database, before: str, folder: Path) -> int:
    """Free a copied store from the processes and the folder that it had."""
    places = [f"{place}/" for place in (before, str(folder.absolute()))]
    # As each column writes the beginning of such a text.
    in_specs = [json.dumps(place, ensure_ascii=False)[:-1] for place in places]
    in_datasets = [json.dumps(place)[:-1] for place in places]
    workers = database.rows("SELECT DISTINCT worker FROM run WHERE state = 'running'")
    for row in workers:
        queue.release_worker_runs(database, row["worker"])
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM worker")
        connection.execute("UPDATE run SET spec = replace(spec, ?, ?)", in_specs)
        connection.execute("UPDATE dataset SET paths = replace(paths, ?, ?)", in_datasets)
        row = connection.execute("SELECT count(*) AS n FROM run WHERE state = 'queued'").fetchone()
    return row["n"]
