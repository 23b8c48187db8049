"""What is watched of a server's store and folder: counts, readiness, room on the disk, damage.

Of what a monitor reads models alone are named, no people, runs or files.
"""

import logging
import math
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from evalui.errors import StoreError
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.runs import read_workers
from evalui.types import RunState

_NEARLY_FULL = 0.9
FULL_BYTES = 64 * 2**20  # below this SQLite may soon be unable to write
_LOOK_S = 60.0  # between two looks
_WARN_S = 3600.0  # between two warnings
_CHECK_S = 86_400.0  # between two checks of the whole store

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes of a file system: `free` are those that this user may still write."""

    total: int
    used: int
    free: int

    @property
    def share(self) -> float:
        """The share in use, 0 to 1, as `df` states it."""
        return self.used / (self.used + self.free) if self.used + self.free else 1.0

    @property
    def is_nearly_full(self) -> bool:
        """Whether somebody should make room."""
        return self.share >= _NEARLY_FULL

    @property
    def is_full(self) -> bool:
        """Whether there is no room left to work with."""
        return self.free < FULL_BYTES


def disk_use(folder: Path) -> DiskUse:
    """Of the file system that holds `folder`; raises `StoreError` if there is no such folder."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError as error:
        raise StoreError("data-folder", reason=str(error)) from error
    return DiskUse(usage.total, usage.used, usage.free)


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


class Upkeep:
    """The upkeep of one server, in a thread of its own while it is `running`."""

    def __init__(
        self, settings: Settings, database: Database, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._database = database
        self._clock = clock
        self._warned = self._checked = -math.inf
        self._ending = threading.Event()

    @contextmanager
    def running(self) -> Generator[None]:
        """Within, the upkeep is done; at the end what it does is waited for."""
        thread = threading.Thread(target=self._run, name="upkeep", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            thread.join()

    def look(self) -> None:
        """Do what is due; faults of the store are logged, because the next look may succeed."""
        try:
            self._watch_disk()
            if self._clock() - self._checked >= _CHECK_S:
                self._checked = self._clock()
                self._database.check()
                if damage := self._database.damage:
                    _log.error("The store %s is damaged: %s", self._database.path, damage)
        except (StoreError, OSError) as error:
            _log.warning("The upkeep of the data folder failed: %s", error)

    def _watch_disk(self) -> None:
        use = disk_use(self._settings.data_dir)
        if use.is_nearly_full and self._clock() - self._warned >= _WARN_S:
            _log.warning("The disk of the data folder is %.0f %% full", 100 * use.share)
            self._warned = self._clock()

    def _run(self) -> None:
        while not self._ending.is_set():
            self.look()
            self._ending.wait(_LOOK_S)


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
