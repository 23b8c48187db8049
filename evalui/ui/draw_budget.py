"""How often pages that change by themselves are drawn anew, however many look at them."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_SHARE = 0.15  # of a core, for all drawings; what Gradio does of each takes as much again
_WEIGHT = 0.2  # of the last drawing in what one takes


class DrawBudget:
    """Lets so many drawings begin that they take a share of a core.

    One takes some 50 ms of CPU, and each watcher has one of their own: two hundred who look every
    two seconds would take several cores. With few of them each change is drawn.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._taken_s = 0.0  # of CPU, by one drawing
        self._next = 0.0

    def take(self) -> bool:
        """Whether a drawing may begin now; whoever is refused asks again."""
        with self._lock:
            now = self._clock()
            if now < self._next:
                return False
            self._next = now + self._taken_s / _SHARE
            return True

    @contextmanager
    def drawing(self) -> Generator[None]:
        """Around a drawing, in its thread: notes what it takes."""
        began = time.thread_time()
        try:
            yield
        finally:
            taken = time.thread_time() - began
            with self._lock:
                self._taken_s += _WEIGHT * (taken - self._taken_s)
