"""Uploaded files: a folder per owner and content, closed to other users; their sizes in the store.

Gradio's upload folder is readable by every visitor who knows a path; this one has no paths in
its addresses.
"""

import hashlib
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Lock

from evalui.accounts.belongings import folder_of
from evalui.errors import DataError
from evalui.pictures import FOUND_IN_UPLOAD
from evalui.runs.fair_queue.limits import (
    UserLimits,
    check_may_store,
    read_limits,
    stored_bytes,
)
from evalui.store.connection import Database

_PIECE = 2**20  # bytes
_MAX_FOLDERS = 12  # above a file of a dropped folder; a system takes paths of 4,096 bytes
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class UploadedFiles:
    """One upload: its id, the names of its files, their bytes, and when it came (Unix time)."""

    id: str
    files: tuple[str, ...]
    bytes: int
    created: float


class UploadStore:
    """Files under `root`, at most `limit` bytes an upload; none are added if `read_only`."""

    def __init__(self, root: Path, limit: int, *, read_only: bool = False) -> None:
        self.root = root
        self.limit = limit
        self._read_only = read_only
        self._lock = Lock()  # protects the bytes on their way, by owner
        self._on_their_way: Counter[str] = Counter()

    def store(self, owner: str, files: Sequence[tuple[str, bytes]]) -> str:
        """Store the named contents together and return the upload's id; the same again is free.

        Raises:
            DataError: there is no file, they are over the limit together, or none may be added.
        """
        if sum(len(content) for _, content in files) > self.limit:
            raise self.too_large
        with self.receiving(owner, 0) as folder:
            paths = [folder / f"{number}" for number, _ in enumerate(files)]
            for path, (_, content) in zip(paths, files, strict=True):
                path.write_bytes(content)
            names = (name for name, _ in files)
            return self.keep(owner, list(zip(names, paths, strict=True)))

    @contextmanager
    def receiving(
        self, owner: str, size: int, admit: Callable[[int], None] = lambda _bytes: None
    ) -> Generator[Path]:
        """An empty folder beside the owner's uploads, for files of `size` bytes on their way.

        `admit` is told how many bytes of the owner's are on their way with these, and may raise.

        Raises:
            DataError: none may be added, or the disk does not take them.
        """
        if self._read_only:
            raise DataError("read-only")
        own = self._folder(owner)
        with self._lock:
            admit(size + self._on_their_way[owner])
            self._on_their_way[owner] += size
        try:
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=own) as folder:
                yield Path(folder)
        except OSError as error:
            raise DataError("upload-unwritten", reason=error.strerror or str(error)) from error
        finally:
            with self._lock:
                self._on_their_way[owner] -= size

    def keep(self, owner: str, files: Sequence[tuple[str, Path]]) -> str:
        """Take the named files out of the folder that received them; as `store` does."""
        if not files:
            raise DataError("upload-empty")
        if sum(path.stat().st_size for _, path in files) > self.limit:
            raise self.too_large
        named = _distinct(files)
        upload = _digest(named)
        with tempfile.TemporaryDirectory(dir=self._folder(owner)) as name:
            unfinished = Path(name) / upload
            unfinished.mkdir(mode=0o700)
            for place, path in named:
                target = unfinished / place
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.rename(target)
            try:
                unfinished.rename(self._folder(owner) / upload)
            except OSError:
                # The same content was stored before, or by another request just now: as good.
                if not (self._folder(owner) / upload).is_dir():
                    raise
        return upload

    @property
    def too_large(self) -> DataError:
        """Why files are refused that are over the limit."""
        return DataError("upload-too-large", mb=self.limit // 2**20)

    def paths(self, owner: str, upload: str) -> tuple[Path, ...]:
        """The files of an upload by name; raises `DataError` if there is no such upload."""
        folder = self._upload(owner, upload)
        return tuple(sorted(path for path in folder.rglob("*") if path.is_file()))

    def pictures(self, owner: str, upload: str) -> Path:
        """The folder for the pictures that are found in an upload, which who reads it makes."""
        return self._folder(owner) / f"{upload}{FOUND_IN_UPLOAD}"

    def came(self, owner: str, upload: str) -> int:
        """When an upload came, in nanoseconds: it may be deleted and come again.

        Raises:
            DataError: there is no such upload.
        """
        return self._upload(owner, upload).stat().st_mtime_ns

    def uploaded(self, owner: str) -> tuple[UploadedFiles, ...]:
        """What an owner has uploaded, the newest first."""
        folder = self._folder(owner)
        folders = folder.iterdir() if folder.is_dir() else ()
        ids = [path.name for path in folders if _ID.fullmatch(path.name)]
        listed = [self.about(owner, upload) for upload in ids]
        return tuple(sorted(listed, key=lambda each: (-each.created, each.id)))

    def about(self, owner: str, upload: str) -> UploadedFiles:
        """The files of one upload; raises `DataError` if there is no such upload."""
        paths = self.paths(owner, upload)
        folder = self._folder(owner) / upload
        names = tuple(path.relative_to(folder).as_posix() for path in paths)
        size = sum(path.stat().st_size for path in paths)
        return UploadedFiles(upload, names, size, folder.stat().st_mtime)

    def bytes_with_pictures(self, owner: str, upload: str) -> int:
        """Bytes of the files of an upload and of the pictures that were found in it; raises as
        `about`.
        """
        # One that is being written has another suffix, and is soon gone.
        found = self.pictures(owner, upload).glob("*")
        sizes = (path.stat().st_size for path in found if path.suffix in ("", ".small"))
        return self.about(owner, upload).bytes + sum(sizes)

    def delete(self, owner: str, upload: str) -> None:
        """Delete the files of an upload; the runs made of it keep their questions.

        Raises:
            DataError: there is no such upload, or none may be changed.
        """
        if self._read_only:
            raise DataError("read-only")
        self.paths(owner, upload)
        shutil.rmtree(self._folder(owner) / upload)
        shutil.rmtree(self.pictures(owner, upload), ignore_errors=True)

    def id_of(self, owner: str, paths: Sequence[Path]) -> str:
        """The upload that the files belong to; raises `DataError` if they are not of one."""
        own = self._folder(owner)
        ids = {path.relative_to(own).parts[0] for path in paths if path.is_relative_to(own)}
        if len(ids) != 1:
            raise DataError("not-uploaded")
        return ids.pop()

    def _upload(self, owner: str, upload: str) -> Path:
        folder = self._folder(owner) / upload
        if not _ID.fullmatch(upload) or not folder.is_dir():
            raise DataError("upload-gone")
        return folder

    def _folder(self, owner: str) -> Path:
        return self.root / folder_of(owner)


def _base_name(name: str) -> str:
    """The file's own name, whatever folders or backslashes the browser sent before it."""
    base = PurePosixPath(name.replace("\\", "/")).name.replace("\0", "")
    # File systems take 255 bytes; the end is kept, because it names the kind.
    end = base.encode(errors="replace")[-200:].decode(errors="ignore")
    return end if end not in {"", ".", ".."} else "file"


def _folders(name: str) -> list[str]:
    """The folders that a browser states before the name of a file in a dropped folder.

    None where they would lead elsewhere, as in `../x.csv` or `C:\\x.csv`, or are too many.
    """
    above = PurePosixPath(name.replace("\\", "/")).parent
    if above.is_absolute() or ":" in name or ".." in above.parts or len(above.parts) > _MAX_FOLDERS:
        return []
    return [_base_name(folder) for folder in above.parts]


def _distinct(files: Sequence[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """The files by their own names, in the folders in which they were dropped.

    Of several files of one name, those that came without a folder get a number for one. Where the
    same place comes twice, each file has a number, and of its folders the last.
    """
    named = [(_base_name(name), path) for name, path in files]
    uses = Counter(name for name, _ in named)
    folders = [_folders(name) for name, _ in files]
    whole = [
        "/".join([*(above or ([f"{at}"] if uses[name] > 1 else [])), name])
        for at, ((name, _), above) in enumerate(zip(named, folders, strict=True))
    ]
    above_all = {str(above) for place in whole for above in PurePosixPath(place).parents}
    if len({*whole}) == len(whole) and above_all.isdisjoint(whole):
        return [(place, path) for place, (_, path) in zip(whole, named, strict=True)]
    # The folder may separate worked examples from questions: dev/law.csv, test/law.csv.
    last = (PurePosixPath(name.replace("\\", "/")).parent.name for name, _ in files)
    places = [f"{at}/{_base_name(folder)}" if folder else f"{at}" for at, folder in enumerate(last)]
    return [(f"{place}/{name}", path) for place, (name, path) in zip(places, named, strict=True)]


def _digest(files: Sequence[tuple[str, Path]]) -> str:
    whole = hashlib.sha256()
    for name, path in sorted(files):
        whole.update(f"{name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as content:
            while piece := content.read(_PIECE):
                whole.update(piece)
    return whole.hexdigest()[:16]


def dataset_ids(upload: str, names: Sequence[str]) -> tuple[str, ...]:
    """The ids of the datasets in an upload."""
    if len(names) < 2:
        return (upload,)
    return tuple(f"{upload}.{place}" for place in range(1, len(names) + 1))


def upload_of(part: str) -> str:
    """The upload that a part belongs to."""
    return part.partition(".")[0]


def is_whole(part: str) -> bool:
    """Whether a part is all of its upload."""
    return "." not in part


def entry_of(part: str, names: Sequence[str]) -> str:
    """The entry that a part of a configuration stands for; raises `DataError` if there is none."""
    upload = upload_of(part)
    for place, name in enumerate(names, 1):
        if part == f"{upload}.{place}":
            return name
    raise _gone()


def part_of(upload: str, entry: str, names: Sequence[str]) -> str:
    """The part of an upload that an entry is; raises `DataError` if it has no such entry."""
    if entry not in names:
        raise _gone()
    return f"{upload}.{names.index(entry) + 1}"


def _gone() -> DataError:
    return DataError("upload-gone")


def record_upload(
    database: Database,
    owner: str,
    upload: str,
    name: str,
    size: int,
    *,
    clock: Callable[[], float] = time.time,
) -> None:
    """Write down an upload of `size` bytes; of one that is there already, the newest time counts.

    Raises:
        StoreError: the store cannot be written.
    """
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO upload (owner, id, name, bytes, created) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET created = excluded.created",
            (owner, upload, name, size, clock()),
        )


def record_pictures(database: Database, owner: str, upload: str, size: int) -> None:
    """An upload has `size` bytes with the pictures that were found in it.

    Raises:
        StoreError: the store cannot be written.
    """
    with database.writing() as connection:
        connection.execute(
            "UPDATE upload SET bytes = ? WHERE owner = ? AND id = ?", (size, owner, upload)
        )


def forget_upload(database: Database, owner: str, upload: str) -> None:
    """An upload is not there any more; raises `StoreError` if the store cannot be written."""
    with database.writing() as connection:
        connection.execute("DELETE FROM upload WHERE owner = ? AND id = ?", (owner, upload))
        # Lists state which runs can be repeated with it.
        connection.execute("UPDATE clock SET revision = revision + 1")


def check_may_upload(database: Database, owner: str, usual: UserLimits, size: int) -> None:
    """Check that an owner may store `size` more bytes; raises `SpecError`."""
    with database.reading() as connection:
        limits = read_limits(connection, owner, usual)
        stored = stored_bytes(connection, owner)
    check_may_store(stored, limits, size)
