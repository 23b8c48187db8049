"""What a monitor reads of a store: counts, no names of people, runs or files."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_workers


@dataclass(frozen=True, slots=True)
class StoreReadings:
    """Counts of one moment: runs by state, trials that are stored, failed cells, live workers.

    `worker_bytes` is what the workers' processes hold of the machine's memory.
    """

    runs: Mapping[str, int]
    trials: int
    failed_cells: int
    busy_workers: int
    idle_workers: int
    worker_bytes: int


def read_store(database: Database) -> StoreReadings:
    """Count; raises `StoreError`."""
    runs = database.rows("SELECT state, count(*) AS n FROM run GROUP BY state")
    cells = database.row(
        "SELECT coalesce(sum(done), 0) AS trials, count(*) FILTER (WHERE state = 'failed')"
        " AS failed FROM cell"
    )
    workers = read_workers(database)
    busy = sum(worker.is_busy for worker in workers)
    return StoreReadings(
        {row["state"]: row["n"] for row in runs},
        cells["trials"] if cells else 0,
        cells["failed"] if cells else 0,
        busy,
        len(workers) - busy,
        sum(worker.bytes for worker in workers),
    )


def not_ready(database: Database, *, needs_worker: bool) -> str:
    """Why a server cannot do a run just now, in a word: "store", "workers", or "" if it can.

    Raises:
        StoreError: the store cannot be read.
    """
    if not database.read_only and not _is_writable(database.path):
        return "store"
    return "workers" if needs_worker and not read_workers(database) else ""


def _is_writable(path: Path) -> bool:
    # Through a connection of its own that waits for no writer: pages would wait with it.
    address = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=0, isolation_level=None)) as probe:
            probe.execute("BEGIN IMMEDIATE")
            probe.execute("ROLLBACK")
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
    return True
