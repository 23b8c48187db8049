"""What those who watch runs are told of them, and how often it may be drawn anew."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager

from evalui.app.results import page_state
from evalui.app.service import AppService
from evalui.store.runs import LIVE_STATES

_SHARE = 0.05  # of a core, for all drawings of what changes by itself
_OVERHEAD = 2.0  # times what a drawing takes: Gradio makes components and JSON of it
_BURST_S = 4.0  # of CPU that may be drawn at once, after some quiet: the first one imports pandas
_LONGEST_S = 30.0  # between versions, whatever was drawn
_PAUSE_S = 5.0  # at most between looks, so that everybody sees soon that a run has ended
_MOST = 256  # runs
_MOMENT_S = 0.5  # in which a run is read once for all who look at it


class PublishedRuns:
    """The versions of runs that pages know of, a new one as often as drawings may take CPU.

    A drawing takes some 50 ms, and a run changes many times a second: two hundred who look at it
    would take several cores. All are told the same version, so that what is drawn for one serves
    the others. With few of them each change is told, and the end of a run always. Safe to share
    between threads.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._told: OrderedDict[str, str] = OrderedDict()
        self._next = -_BURST_S / _SHARE  # when a new version may be told

    def version(self, service: AppService, run_id: str, *, with_files: bool = False) -> str:
        """The version of a run that its watchers are told, with that of its files under way.

        Raises:
            UnknownRun: the person sees none of this id.
        """
        _, version = page_state(service, run_id)
        is_live = service.run(run_id).state in LIVE_STATES
        told = self.tell(run_id, _digest(version), at_once=not is_live)
        if not with_files:
            return told
        under_way = service.exports.progress(run_id).values()
        return f"{told}-{_digest(sorted((each.extension, each.sent) for each in under_way))}"

    def tell(self, run_id: str, version: str, *, at_once: bool = False) -> str:
        """The version that is told of a run which has this one by now: it, or one before."""
        with self._lock:
            told = self._told.pop(run_id, version)
            if at_once or self._clock() >= self._next:
                told = version
            self._told[run_id] = told
            if len(self._told) > _MOST:
                self._told.popitem(last=False)
            return told

    def newest(self, run_id: str) -> str:
        """The version that was told last, "" if nobody has looked for long."""
        with self._lock:
            return self._told.get(run_id, "")

    def pause_s(self) -> float:
        """Seconds after which it is time to look again."""
        with self._lock:
            return min(max(0.0, self._next - self._clock()), _PAUSE_S)

    @contextmanager
    def drawing(self) -> Generator[None]:
        """Around a drawing, in its thread: the CPU that it takes delays the next version."""
        began = time.thread_time()
        try:
            yield
        finally:
            taken = _OVERHEAD * (time.thread_time() - began) / _SHARE
            with self._lock:
                now = self._clock()
                start = max(self._next, now - _BURST_S / _SHARE)
                self._next = min(start + taken, now + _LONGEST_S)


def this_moment() -> int:
    """The number of the present moment, for `MomentaryRuns`."""
    return int(time.monotonic() / _MOMENT_S)


def _digest(version: object) -> str:
    return hashlib.sha256(repr(version).encode()).hexdigest()[:16]
