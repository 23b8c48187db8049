"""What a monitor reads of a store: counts, no names of people, runs or files; models are named."""

import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from evalui.store.connection import Database
from evalui.store.runs import read_workers
from evalui.types import RunState


@dataclass(frozen=True, slots=True)
class ModelReadings:
    """What the stored runs had of one model: tokens by its own count, and cells that failed."""

    read_tokens: int
    written_tokens: int
    failed_cells: int


@dataclass(frozen=True, slots=True)
class StoreReadings:
    """Counts of one moment: runs by state, trials that are stored, live workers.

    `waiting_s` is for how long the oldest run in the queue has waited, 0 without one;
    `worker_bytes` what the workers' processes hold of the machine's memory.
    """

    runs: Mapping[str, int]
    waiting_s: float
    trials: int
    models: Mapping[str, ModelReadings]
    busy_workers: int
    idle_workers: int
    worker_bytes: int


def read_store(database: Database) -> StoreReadings:
    """Count; raises `StoreError`."""
    runs = database.rows(
        "SELECT state, count(*) AS n, min(created) AS since FROM run GROUP BY state"
    )
    since = {row["state"]: row["since"] for row in runs}
    models = database.rows(
        "SELECT model, sum(done) AS trials, sum(input_tokens) AS read,"
        " sum(output_tokens) AS written, count(*) FILTER (WHERE state = 'failed') AS failed"
        " FROM cell GROUP BY model"
    )
    workers = read_workers(database)
    busy = sum(worker.is_busy for worker in workers)
    return StoreReadings(
        dict.fromkeys(get_args(RunState), 0) | {row["state"]: row["n"] for row in runs},
        max(0.0, time.time() - since["queued"]) if "queued" in since else 0.0,
        sum(row["trials"] for row in models),
        {row["model"]: ModelReadings(row["read"], row["written"], row["failed"]) for row in models},
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
