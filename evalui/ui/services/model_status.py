"""The state of each model, asked for in threads where it takes a network: a page never waits long.

What is known of an endpoint is shown while it is asked again.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from evalui.errors import EvaluiError
from evalui.models.base import ModelEntry
from evalui.models.catalog import REMOTE, ModelState, describe, probe_and_describe

_DIRECT = ("scripted", "transformers")  # backends that only look at files, at once
_THREADS = 8
# What an endpoint has said counts for so long. Each question costs it some requests, so one that
# works is left alone for longer than one that may come back.
_HEALTHY_TTL_S, _FAILED_TTL_S = 600.0, 30.0


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What is known of a model: `state` None before it has answered for the first time.

    `pending` while it is asked, for the first time or again. `checked_at` is when an endpoint was
    last asked, in Unix time; None before that, and of files, which are looked at each time.
    """

    state: ModelState | None
    pending: bool = False
    checked_at: float | None = None


@dataclass(frozen=True, slots=True)
class _QueryResult:
    state: ModelState
    at: float


@dataclass(slots=True)
class _PendingQuery:
    future: Future[_QueryResult]
    started: float
    previous: _QueryResult | None = None

    @property
    def answer(self) -> _QueryResult | None:
        """The answer, or the last one while there is none."""
        return self.future.result() if self.future.done() else self.previous

    @property
    def fresh(self) -> bool:
        """Whether nobody need ask again: it is being asked, or has answered lately."""
        if not self.future.done():
            return True
        well = not self.future.exception() and not self.future.result().state.problem
        return time.monotonic() - self.started < (_HEALTHY_TTL_S if well else _FAILED_TTL_S)


class ModelStatusCache:
    """What is known of models; safe to share between threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="state")
        # Protects the table of questions: two pages must not ask one endpoint twice.
        self._lock = threading.Lock()
        self._queries: dict[str, _PendingQuery] = {}

    def statuses(self, entries: Sequence[ModelEntry], *, wait_s: float) -> list[ModelStatus]:
        """What is known of each.

        Waits for those that have never answered, until `wait_s` seconds after they were asked:
        one page may look several times.
        """
        asked = {
            entry.name: self._query(entry) for entry in entries if entry.backend not in _DIRECT
        }
        unknown = [one for one in asked.values() if one.answer is None]
        if unknown:
            until = max(one.started for one in unknown) + wait_s
            left = max(0.0, until - time.monotonic())
            wait([one.future for one in unknown], timeout=left)
        return [
            _current_status(asked[entry.name])
            if entry.name in asked
            else ModelStatus(_state(entry, describe))
            for entry in entries
        ]

    def refresh(self, entry: ModelEntry) -> None:
        """Ask an endpoint now, however lately it has answered; one that is asked is not again."""
        if entry.backend in _DIRECT:
            return  # its files are looked at each time
        with self._lock:
            known = self._queries.get(repr(entry))
            if known is None or known.future.done():
                self._start_query(entry, known)

    def _query(self, entry: ModelEntry) -> _PendingQuery:
        with self._lock:
            known = self._queries.get(repr(entry))
            return known if known and known.fresh else self._start_query(entry, known)

    def _start_query(self, entry: ModelEntry, known: _PendingQuery | None) -> _PendingQuery:
        """Ask in a thread; an error that nobody foresaw was raised to whoever looked."""
        before = known.answer if known and not known.future.exception() else None
        begun = _PendingQuery(self._pool.submit(_run_query, entry), time.monotonic(), before)
        self._queries[repr(entry)] = begun
        return begun


def _current_status(asked: _PendingQuery) -> ModelStatus:
    asking = not asked.future.done()  # first: what comes in between is shown by the next look
    answer = asked.answer
    if answer is None:
        return ModelStatus(None, asking)
    remote = answer.state.entry.backend in REMOTE
    return ModelStatus(answer.state, asking, answer.at if remote else None)


def _run_query(entry: ModelEntry) -> _QueryResult:
    return _QueryResult(_state(entry, probe_and_describe), time.time())


def _state(entry: ModelEntry, look: Callable[[ModelEntry], ModelState]) -> ModelState:
    try:
        return look(entry)
    except EvaluiError as error:
        return ModelState(entry, frozenset(), error.sentence)
