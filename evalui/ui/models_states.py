"""The state of each model, asked for in threads where it takes a network: a page never waits long.

What is known of an endpoint is shown while it is asked again.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from evalui.errors import EvaluiError
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState, describe

_DIRECT = ("scripted", "transformers")  # backends that only look at files, at once
_THREADS = 8
_FRESH_S = 30.0  # what an endpoint has said counts for so long


@dataclass(slots=True)
class _Asked:
    future: Future[ModelState]
    at: float
    before: ModelState | None = None

    @property
    def state(self) -> ModelState | None:
        """The answer, or the last one while there is none."""
        return self.future.result() if self.future.done() else self.before


class States:
    """What is known of models; safe to share between threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="state")
        # Protects the table of questions: two pages must not ask one endpoint twice.
        self._lock = threading.Lock()
        self._asked: dict[str, _Asked] = {}

    def of(self, entries: Sequence[ModelEntry], *, wait_s: float) -> list[ModelState | None]:
        """The state of each, None for those that have not answered yet.

        Waits until `wait_s` seconds after they were asked: one page may look several times.
        """
        asked = {entry.name: self._ask(entry) for entry in entries if entry.backend not in _DIRECT}
        unknown = [one for one in asked.values() if one.state is None]
        if unknown:
            until = max(one.at for one in unknown) + wait_s
            left = max(0.0, until - time.monotonic())
            wait([one.future for one in unknown], timeout=left)
        return [
            asked[entry.name].state if entry.name in asked else _state(entry) for entry in entries
        ]

    def _ask(self, entry: ModelEntry) -> _Asked:
        key = repr(entry)
        with self._lock:
            known = self._asked.get(key)
            if known and (not known.future.done() or time.monotonic() - known.at < _FRESH_S):
                return known
            # An error that nobody foresaw was raised to whoever looked; it is asked anew.
            before = known.state if known and not known.future.exception() else None
            future = self._pool.submit(_state, entry)
            self._asked[key] = _Asked(future, time.monotonic(), before)
            return self._asked[key]


def _state(entry: ModelEntry) -> ModelState:
    try:
        return describe(entry)
    except EvaluiError as error:
        return ModelState(entry, frozenset(), error.sentence)
