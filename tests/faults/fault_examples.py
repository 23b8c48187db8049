"""Copies of a store as a fault leaves them, and what must hold in each of them."""

import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from evalui.store.connection import Database

_HEADER = 32  # bytes of a write-ahead log before its first frame
_FRAME_HEADER = 24
STORE = "evalui.sqlite"
LOG = "evalui.sqlite-wal"


def copy_of(store: Path, folder: Path, *, log: bytes | None = None) -> Path:
    """The store in another folder, with its log as it is or with another one."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / STORE
    target.write_bytes(store.read_bytes())
    (folder / LOG).write_bytes(store.with_name(LOG).read_bytes() if log is None else log)
    return target


def frames_of(log: bytes) -> Iterator[tuple[int, bool]]:
    """Where each frame of a log ends, in bytes, and whether it commits."""
    size = _FRAME_HEADER + page_size(log)
    for start in range(_HEADER, len(log) - size + 1, size):
        (committed_pages,) = struct.unpack(">I", log[start + 4 : start + 8])
        yield start + size, committed_pages > 0


def page_size(log: bytes) -> int:
    """The bytes of a page of the store that a log belongs to."""
    (page,) = struct.unpack(">I", log[8:12])
    return page


def check_consistent(path: Path) -> dict[str, int]:
    """Open a store as the product does, check it, and give how many trials each run has.

    Every cell counts the trials it has, no trial is there twice, and each has its columns.
    """
    with closing(Database(path)) as database:
        (found,) = database.rows("PRAGMA integrity_check")
        assert tuple(found) == ("ok",)
        assert database.rows("PRAGMA foreign_key_check") == []
        cells = database.rows(
            "SELECT c.id, c.run, c.done, count(t.id) AS trials,"
            " count(DISTINCT t.sample || ' ' || t.variant) AS different,"
            " (SELECT coalesce(sum(n), 0) FROM trial_block b WHERE b.cell = c.id) AS columns"
            " FROM cell c LEFT JOIN trial t ON t.cell = c.id GROUP BY c.id"
        )
        runs = {row["id"]: 0 for row in database.rows("SELECT id FROM run")}
    for cell in cells:
        assert cell["done"] == cell["trials"] == cell["different"] == cell["columns"]
        runs[cell["run"]] += cell["done"]
    return runs


def without_checkpoints(database: Database) -> None:
    """Let the log grow: nothing of it is folded into the store any more."""
    with database.reading() as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")


def checkpoint(database: Database) -> None:
    """Fold the log into the store, which is whole without it then."""
    with database.reading() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
