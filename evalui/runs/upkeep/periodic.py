"""What a server does beside its requests: it watches disk and store."""

import logging
import math
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from evalui.errors import StoreError
from evalui.runs.upkeep.disk import disk_use
from evalui.settings import Settings
from evalui.store.connection import Database

_LOOK_S = 60.0
_WARN_S = 3600.0
_CHECK_S = 86_400.0

_log = logging.getLogger(__name__)


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
