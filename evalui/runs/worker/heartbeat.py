"""The heart of a worker: a thread that says that it lives, beside its work."""

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from evalui.errors import StoreError
from evalui.runs.database.records import Lease
from evalui.runs.database.store import Store
from evalui.runs.worker.devices import Presence

BEAT_S = 2.0

_log = logging.getLogger(__name__)


class Heart:
    """Beats while a run is worked on, or without a lease while a model is tried out.

    In a thread of its own, because loading one model, or one batch of a large one, may take
    longer than the time after which a silent worker counts as dead. `on_beat` is called each time.
    """

    def __init__(
        self,
        store: Store,
        lease: Lease | None = None,
        *,
        presence: Presence | None = None,
        on_beat: Callable[[], None] = lambda: None,
        every_s: float = 0.0,
    ) -> None:
        self._store = store
        self._lease = lease
        self._presence = presence
        self._on_beat = on_beat
        self._every_s = every_s or BEAT_S
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heart", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._every_s):
            try:
                # First the run: nothing that is only for the eye may keep it from its beat.
                if self._lease:
                    self._store.beat(self._lease)  # in vain if the run is lost
                self._on_beat()
            except StoreError as error:
                # The next beat may succeed; until then the silence itself tells the others.
                _log.warning("No heartbeat: %s", error)
            if self._presence:
                self._presence.alive()
