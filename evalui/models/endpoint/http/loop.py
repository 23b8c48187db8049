"""The event loop on which this process sends its requests, in a thread of its own.

Whoever waits for a reply is in another thread: the loop itself only sends and receives.
"""

import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

T = TypeVar("T")


class LoopThread:
    """An event loop that is started when it is needed first, and runs as long as the process."""

    def __init__(self) -> None:
        self._loop: AbstractEventLoop | None = None
        self._lock = threading.Lock()  # two threads must not start two

    def call(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """What a coroutine returns or raises; waits for it. Never from the loop itself.

        Who waits no longer, because of a signal, say, ends the coroutine.
        """
        import asyncio  # which few processes need

        future = asyncio.run_coroutine_threadsafe(coroutine, self._running())
        try:
            return future.result(timeout_s)
        except BaseException:
            future.cancel()
            raise

    def submit(self, function: Callable[[], object]) -> None:
        """Have a function called on the loop soon; what was submitted before is called before."""
        self._running().call_soon_threadsafe(function)

    def _running(self) -> "AbstractEventLoop":
        with self._lock:
            if self._loop is None:
                import asyncio

                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="endpoints", daemon=True
                ).start()
            return self._loop


# One in each process: connections and limits of servers belong to a single loop.
LOOP = LoopThread()
