"""Deletes ended runs, and files that none uses, by their age: what `evalui prune` does."""

import hashlib
import re
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evalui.pictures import FOUND_IN_UPLOAD
from evalui.store.connection import Database

_DAY_S = 86_400.0
_UPLOAD = re.compile(r"([0-9a-f]{16})/([0-9a-f]{16})/")  # in a path: folder of the owner, id
_OLD_SQL = (
    "state IN ('done', 'failed', 'cancelled') AND finished < :limit"
    " AND (:with_votes OR NOT EXISTS (SELECT 1 FROM vote WHERE vote.run = run.id))"
)
_UNUSED_SQL = "created < :limit AND id NOT IN (SELECT dataset FROM cell)"


@dataclass(frozen=True, slots=True)
class OldRun:
    """A run that ended before a day, with about what its answers take; `finished` since 1970."""

    id: str
    owner: str
    name: str
    finished: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Prunable:
    """What is older than a `limit`, in seconds since 1970: runs, and uploads that no other uses."""

    limit: float
    with_votes: bool
    runs: tuple[OldRun, ...]
    uploads: tuple[Path, ...]


def find_prunable(
    database: Database, uploads: Path, days: float, *, with_votes: bool = False
) -> Prunable:
    """What ended so many days ago, of everybody; runs that people voted on only `with_votes`."""
    limit = time.time() - days * _DAY_S
    rows = database.rows(
        "SELECT id, owner, name, finished,"  # noqa: S608 - constants
        " coalesce((SELECT sum(bytes) FROM cell WHERE cell.run = run.id), 0) AS bytes"
        f" FROM run WHERE {_OLD_SQL} ORDER BY finished",
        {"limit": limit, "with_votes": with_votes},
    )
    runs = tuple(OldRun(*row) for row in rows)
    old = {run.id for run in runs}
    specs = database.rows("SELECT id, spec FROM run")
    used = _used_uploads(row["spec"] for row in specs if row["id"] not in old)
    unused = sorted(
        folder
        for folder in uploads.glob("*/*")
        if (folder.parent.name, folder.name) not in used and folder.stat().st_mtime < limit
        if folder.is_dir() and not _upload_beside(folder)
    )
    return Prunable(limit, with_votes, runs, tuple(unused))


def prune(database: Database, found: Prunable) -> int:
    """Delete what was found, and datasets as old that no run has; the bytes that became free.

    What is used again since stays: a run that was resumed or voted on, an upload of a new run. Room
    in the store serves what is written next; the file keeps its size.

    Raises:
        StoreError: the store cannot be written.
    """
    before = _store_bytes(database)
    conditions = {"limit": found.limit, "with_votes": found.with_votes}
    for run in found.runs:
        # Each on its own: deleting a million trials takes a while, in which no worker could write.
        with database.writing() as connection:
            connection.execute(
                f"DELETE FROM run WHERE id = :id AND {_OLD_SQL}",  # noqa: S608 - a constant
                {"id": run.id, **conditions},
            )
            connection.execute("UPDATE clock SET revision = revision + 1")
    with database.writing() as connection:
        connection.execute(f"DELETE FROM dataset WHERE {_UNUSED_SQL}", conditions)  # noqa: S608
    with database.writing() as connection:
        # Of datasets that could not be kept to their end; who keeps one now looks again.
        connection.execute(
            "DELETE FROM picture WHERE sha256 NOT IN (SELECT picture FROM dataset_picture)"
        )
    freed = sum(_delete_upload(database, folder) for folder in found.uploads)
    return max(0, before - _store_bytes(database)) + freed


def upload_bytes(folder: Path) -> int:
    """What the files of an upload take, and the pictures that were found in them."""
    paths = (*folder.rglob("*"), *_found_in(folder).glob("*"))
    return sum(path.stat().st_size for path in paths if path.is_file())


def _found_in(upload: Path) -> Path:
    return upload.with_name(upload.name + FOUND_IN_UPLOAD)


def _upload_beside(folder: Path) -> bool:
    """Whether a folder has the pictures found in an upload, with which it goes."""
    upload = folder.with_name(folder.name.removesuffix(FOUND_IN_UPLOAD))
    return upload != folder and upload.exists()


def _used_uploads(specs: Iterable[str]) -> set[tuple[str, ...]]:
    return {place.groups() for spec in specs for place in _UPLOAD.finditer(spec)}


def _store_bytes(database: Database) -> int:
    """What the store holds, without pages that are free."""
    row = database.row(
        "SELECT (page_count - freelist_count) * page_size AS n"
        " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
    )
    return row["n"] if row else 0


def _delete_upload(database: Database, folder: Path) -> int:
    with database.writing() as connection:
        specs = connection.execute(
            "SELECT spec FROM run WHERE instr(spec, ?)", (f"{folder.parent.name}/{folder.name}/",)
        )
        if specs.fetchone():
            return 0
        rows = connection.execute("SELECT owner FROM upload WHERE id = ?", (folder.name,))
        for row in rows.fetchall():
            if hashlib.sha256(row["owner"].encode()).hexdigest()[:16] == folder.parent.name:
                connection.execute(
                    "DELETE FROM upload WHERE owner = ? AND id = ?", (row["owner"], folder.name)
                )
    n_bytes = upload_bytes(folder)
    shutil.rmtree(folder)
    shutil.rmtree(_found_in(folder), ignore_errors=True)
    return n_bytes
