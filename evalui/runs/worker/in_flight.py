"""Trials in flight: which requests they wait for, and which are complete.

Requests with a fixed response are sent once, however many trials need them. The responses to a
trial's requests may call for more of them. How many requests are sent at a time follows from how
fast the model answers.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

from evalui.modes import (
    Mode,
    ModeSettings,
    MultiTurn,
    follow_up_requests,
    plan_requests,
)
from evalui.modes.thoughts import with_thoughts
from evalui.runs.database.codec import request_key
from evalui.runs.database.response_cache import is_deterministic
from evalui.types import Request, Response, Sample, Trial, Variant

MIN_SIZE, MAX_SIZE = 32, 4096  # requests; enough of them to be sorted by length
_TARGET_S = 2.0  # a portion should keep a model busy so long
_MIN_SPEEDUP = 1.1  # times as fast as ever before: larger portions may be faster still


@dataclass(slots=True)
class _PendingTrial:
    sample: Sample
    variant: Variant
    request_indices: list[int] = field(
        default_factory=list[int]
    )  # places in `InFlightBatch.requests`, as planned
    unanswered: set[int] = field(default_factory=set[int])


class InFlightBatch:
    """The requests of a number of trials, and the trials as soon as they are answered.

    Requests have numbers. `keys` says where the response to each of them is kept, None for those
    that are drawn anew or answered at once. `on_ungraded` is told of each trial that is given up
    since its responses cannot be read, and why; all others go on. Without it the error is raised.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[Sample, Variant]],
        mode: Mode,
        setting: ModeSettings,
        fingerprint: str,
        *,
        is_cacheable: Callable[[Request], bool] = is_deterministic,
        on_ungraded: Callable[[Sample, Exception], None] | None = None,
    ) -> None:
        self.requests: dict[int, Request] = {}
        self.keys: dict[int, bytes | None] = {}
        self.responses: dict[int, Response] = {}
        self._mode = mode
        self._multi_turn = mode if isinstance(mode, MultiTurn) else None
        self._setting = setting
        self._index_by_key: dict[object, int] = {}
        self._key_by_index: dict[int, object] = {}
        self._pending_by_request: dict[int, list[_PendingTrial]] = {}
        self._fingerprint = fingerprint
        self._is_cacheable = is_cacheable
        self._on_ungraded = on_ungraded
        self._unique_keys = count()
        self._numbers = count()
        self._new: list[int] = []  # requests that `take_new` has not returned
        self._needed: Counter[int] = Counter()  # by how many trials in flight
        self._unneeded: list[int] = []
        self._decided: list[Trial] = []  # that `take_decided` has not returned
        self.add(pairs)

    def add(self, pairs: Sequence[tuple[Sample, Variant]]) -> None:
        """Take further trials."""
        for sample, variant in pairs:
            plan = plan_requests(self._mode, sample, variant, self._setting)
            waiting = _PendingTrial(sample, variant)
            if plan:
                self._add_pending(waiting, plan)
            else:
                self._decided.append(self._grade(waiting, ()))

    def take_new(self) -> list[int]:
        """The numbers of the requests that came up since this was called last."""
        new, self._new = self._new, []
        return new

    def take_decided(self) -> list[Trial]:
        """The trials that needed no request, of those added since this was called last."""
        decided, self._decided = self._decided, []
        return decided

    def drop(self, index: int) -> None:
        """Give up a request that has no response, and the trials that wait for it."""
        # A later trial that needs the same makes a request of its own.
        self._index_by_key.pop(self._key_by_index[index], None)
        for waiting in self._pending_by_request.pop(index, ()):
            for other in waiting.unanswered - {index}:
                self._pending_by_request[other].remove(waiting)
            self._release(waiting)

    def forget(self) -> None:
        """Forget the requests that no trial in flight needs; what was answered is kept elsewhere
        by now.
        """
        unneeded, self._unneeded = self._unneeded, []
        for index in unneeded:
            if self._needed[index] or index not in self.requests:
                continue
            if index in self._pending_by_request:  # its response is on its way
                self._unneeded.append(index)
                continue
            self._index_by_key.pop(self._key_by_index.pop(index), None)
            del self.requests[index], self.keys[index], self._needed[index]
            self.responses.pop(index, None)

    @property
    def open(self) -> int:
        """How many requests have no response yet."""
        return len(self._pending_by_request)

    def is_open(self, index: int) -> bool:
        """Whether a request has no response yet."""
        return index in self._pending_by_request

    def add_response(self, index: int, response: Response) -> list[Trial]:
        """Take the response to request number `index`; the trials that it completes, graded."""
        self.responses[index] = response
        return self._completed(index)

    def unanswered(self) -> list[int]:
        """The numbers of the requests that have no response yet."""
        return sorted(self._pending_by_request)

    def _add_pending(self, waiting: _PendingTrial, requests: Sequence[Request]) -> None:
        """Note what a trial waits for; responses received for another trial count too."""
        indices = [self._request_index(request) for request in requests]
        waiting.request_indices += indices
        self._needed.update(indices)
        waiting.unanswered = {index for index in indices if index not in self.responses}
        for index in waiting.unanswered:
            self._pending_by_request.setdefault(index, []).append(waiting)

    def _completed(self, index: int) -> list[Trial]:
        completed: list[Trial] = []
        for waiting in self._pending_by_request.pop(index, ()):
            waiting.unanswered.discard(index)
            while not waiting.unanswered:
                responses = [self.responses[known] for known in waiting.request_indices]
                try:
                    further = self._follow_up_requests(waiting, responses)
                    if not further:
                        completed.append(self._grade(waiting, responses))
                except Exception as error:  # told and counted; the others go on
                    if self._on_ungraded is None:
                        raise
                    self._on_ungraded(waiting.sample, error)
                    further = ()
                if not further:
                    self._release(waiting)
                    break
                self._add_pending(waiting, further)
        return completed

    def _request_index(self, request: Request) -> int:
        fixed = self._is_cacheable(request)
        key = request_key(self._fingerprint, request) if fixed else None
        known_as = key or next(self._unique_keys)
        if (known := self._index_by_key.get(known_as)) is not None:
            return known
        index = next(self._numbers)
        self._index_by_key[known_as] = index
        self._key_by_index[index] = known_as
        self.requests[index] = request
        self.keys[index] = key
        self._new.append(index)
        return index

    def _release(self, waiting: _PendingTrial) -> None:
        for index in waiting.request_indices:
            self._needed[index] -= 1
            if not self._needed[index]:
                self._unneeded.append(index)

    def _follow_up_requests(
        self, waiting: _PendingTrial, responses: Sequence[Response]
    ) -> tuple[Request, ...]:
        if self._multi_turn is None:
            return ()
        return follow_up_requests(
            self._multi_turn, waiting.sample, waiting.variant, responses, self._setting
        )

    def _grade(self, waiting: _PendingTrial, responses: Sequence[Response]) -> Trial:
        trial = self._mode.grade(waiting.sample, waiting.variant, responses, self._setting)
        return with_thoughts(trial, responses)


@dataclass(slots=True)
class AdaptiveBatchSize:
    """The number of requests of the next portion, at most `limit`."""

    size: int = MIN_SIZE
    limit: int = MAX_SIZE
    _best_rate: float = 0.0  # requests per second
    _min_size: int = MIN_SIZE  # by the model to be as fast as it can

    def record_cached(self) -> None:
        """Take note that all requests of a portion were answered already."""
        self.size = min(2 * self.size, self.limit)

    def halve(self, requests: int) -> None:
        """Take note that so many requests were too much for the memory of the device."""
        self.size = self.limit = max(1, requests // 2)

    def record(self, requests: int, seconds: float) -> None:
        """Take note of how long a portion took."""
        rate = requests / max(1e-3, seconds)
        wanted = int(rate * _TARGET_S)
        if rate > _MIN_SPEEDUP * self._best_rate:
            self._best_rate, self._min_size = rate, max(self._min_size, requests)
            wanted = max(wanted, 2 * requests)
        # At most doubled: one portion with long or short questions says little of the next.
        self.size = min(max(wanted, self._min_size), 2 * self.size, self.limit)
