"""What a worker reports beside its work: that it lives, and what it does."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from types import TracebackType
from typing import Self

from evalui.errors import StoreError
from evalui.logs import about_run
from evalui.runs.worker.devices import process_tree_bytes
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import WORKER_TIMEOUT_S, Lease, WorkerRow

HEARTBEAT_S = 2.0

_log = logging.getLogger(__name__)


class WorkerStatus:
    """The status that one worker reports: of several runs the one that computes here, else the one
    that began first.

    That it cannot be written (a full disk) is logged and stops no work: it is only shown.
    """

    def __init__(self, database: Database, name: str, own_device: str = "") -> None:
        self._database = database
        self._idle = WorkerRow(name, 0.0, own_device=own_device)
        self._by_run: dict[str, WorkerRow] = {}  # "" for what belongs to no run
        # Protects both and the order: the heartbeat must not write what the worker did before.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """What the worker is called."""
        return self._idle.name

    def update(
        self, *, model: str = "", run: str = "", device: str = "", keeps: bool = False
    ) -> None:
        """Report what the worker does from now on for a run; without arguments it is idle but for
        its runs.
        """
        row = replace(self._idle, device=device, model=model, run=run, keeps=keeps)
        with self._lock:
            self._by_run[run] = row
            self._write()

    def end(self, run: str) -> None:
        """Report that the worker has left a run."""
        with self._lock:
            self._by_run.pop(run, None)
            self._write()

    def refresh(self) -> None:
        """Report that the worker is there, doing what it did."""
        with self._lock:
            self._write()

    def remove(self) -> None:
        """Take the worker off the list, and those with it that died without notice."""
        values = (self._idle.name, time.time() - WORKER_TIMEOUT_S)
        try:
            with self._database.writing() as connection:
                connection.execute("DELETE FROM worker WHERE name = ? OR seen < ?", values)
        except StoreError as error:
            _log.warning("The worker cannot be taken off the list: %s", error)

    def _write(self) -> None:
        work = [row for row in self._by_run.values() if row.is_busy]
        here = [row for row in work if row.model and row.device != "endpoint"]
        shown = next(iter(here or work), self._by_run.get("", self._idle))
        row = replace(shown, seen=time.time(), bytes=process_tree_bytes())
        try:
            with self._database.writing() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO worker"
                    " (name, seen, device, model, run, bytes, own_device, keeps)"
                    " VALUES (:name, :seen, :device, :model, :run, :bytes, :own_device, :keeps)",
                    asdict(row),
                )
        except StoreError as error:
            _log.warning("What the worker does cannot be written: %s", error)


class Heartbeat:
    """Renews the lease of a run, or without a lease only reports that the worker lives.

    In a thread of its own, because loading one model, or one batch of a large one, may take
    longer than the time after which a silent worker counts as dead. `on_heartbeat` is called each
    time. Within, the log names the run.
    """

    def __init__(
        self,
        database: Database,
        lease: Lease | None = None,
        *,
        status: WorkerStatus | None = None,
        on_heartbeat: Callable[[], None] = lambda: None,
        interval_s: float = 0.0,
    ) -> None:
        self._database = database
        self._lease = lease
        self._status = status
        self._on_heartbeat = on_heartbeat
        self._interval_s = interval_s or HEARTBEAT_S
        self._stopped = threading.Event()
        self._log_context = ExitStack()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._log_context.enter_context(about_run(self._run_id))
        if self._run_id:
            _log.info("Run %s begins", self._run_id)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()
        if self._run_id:
            _log.info("Run %s is left", self._run_id)
        self._log_context.close()

    @property
    def _run_id(self) -> str:
        return self._lease.run_id if self._lease else ""

    def _beat(self) -> None:
        with about_run(self._run_id):
            while not self._stopped.wait(self._interval_s):
                try:
                    # First the run: the status, which is only shown, must not delay it.
                    if self._lease:
                        queue.heartbeat(self._database, self._lease)  # in vain if the run is lost
                    self._on_heartbeat()
                except StoreError as error:
                    # The next may succeed; until then the silence shows that something is wrong.
                    _log.warning("No heartbeat: %s", error)
                if self._status:
                    self._status.refresh()
