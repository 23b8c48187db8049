"""Libraries that runs need, imported before there is work for them, and given back when idle.

Importing them takes seconds that a user would wait after the press on Start. The server requests
it when somebody opens the page that leads there. A worker that holds them and has had nothing to do
for some minutes ends; its supervisor starts one without them.
"""

import sys
import threading
import time
from collections.abc import Callable
from io import RawIOBase

IDLE_S = 600.0  # without work and without a request, after which the libraries go
# Whichever way they came in, their memory is held: gigabytes, and some 90 MB with scipy.
_LARGE = frozenset({"torch", "nltk"})


class Warming:
    """What one worker holds ready. `prepare` imports the libraries."""

    def __init__(
        self,
        prepare: Callable[[], None],
        *,
        holds_libraries: Callable[[], bool] = lambda: not _LARGE.isdisjoint(sys.modules),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prepare = prepare
        self._holds_libraries = holds_libraries
        self._clock = clock
        self._requested = threading.Event()
        self._last = clock()

    def request(self) -> None:
        """Have the libraries ready soon; from any thread."""
        self._requested.set()

    def follow(self, requests: RawIOBase) -> None:
        """Take each byte of a stream for a request, in a thread that ends with the stream."""

        def read() -> None:
            while requests.read(1):
                self.request()

        threading.Thread(target=read, name="warming", daemon=True).start()

    def touch(self) -> None:
        """Count the time without work from now."""
        self._last = self._clock()

    def prepare(self) -> None:
        """Import what was requested since the last call; a worker without work calls it."""
        if not self._requested.is_set():
            return
        self._requested.clear()
        self._prepare()
        self.touch()

    @property
    def is_over(self) -> bool:
        """Whether the worker holds libraries that nobody has needed for long."""
        return self._holds_libraries() and self._clock() - self._last > IDLE_S
