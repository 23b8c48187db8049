"""The heart of a worker: a thread that says that it lives, beside its work."""

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from evalui.errors import StoreError
from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.database.records import Lease
from evalui.runs.worker.devices import WorkerStatus

HEARTBEAT_S = 2.0

_log = logging.getLogger(__name__)


class Heartbeat:
    """Beats while a run is worked on, or without a lease while a model is tried out.

    In a thread of its own, because loading one model, or one batch of a large one, may take
    longer than the time after which a silent worker counts as dead. `on_beat` is called each time.
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
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._interval_s):
            try:
                # First the run: nothing that is only for the eye may keep it from its beat.
                if self._lease:
                    queue.heartbeat(self._database, self._lease)  # in vain if the run is lost
                self._on_heartbeat()
            except StoreError as error:
                # The next beat may succeed; until then the silence itself tells the others.
                _log.warning("No heartbeat: %s", error)
            if self._status:
                self._status.refresh()
