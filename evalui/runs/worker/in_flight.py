"""Requests in flight: the trials that wait for them, and the two ways to have them answered.

Requests with a fixed response are sent once, however many trials need them. The responses to a
trial's requests may call for more of them. A model that takes requests while it answers always has
some more than it works on; any other one is handed a portion at a time, of a size that follows from
how fast it answers.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from evalui.errors import ModelError, RequestRejected
from evalui.models import Model
from evalui.models.base import Answer, Rejection, Streaming, UsageTracking, is_out_of_memory
from evalui.modes import (
    Mode,
    ModeSettings,
    MultiTurn,
    follow_up_requests,
    plan_requests,
)
from evalui.replies import with_thoughts
from evalui.store.codec import request_key
from evalui.store.response_cache import is_deterministic
from evalui.types import Request, Response, Sample, Trial, Usage, Variant

MIN_SIZE, MAX_SIZE = 32, 4096  # requests; enough of them to be sorted by length
_TARGET_S = 2.0  # a portion should keep a model busy so long
_MIN_SPEEDUP = 1.1  # times as fast as ever before: larger portions may be faster still
_LAP_S = 0.15  # of a stream, after which its speed is noted
_QUEUED = 2  # requests that wait to be sent, for each that is in flight
_MIN_QUEUED = 32
_WAITING = 8  # requests beside these that were refused and wait, for each that may be in flight
_MIN_TIMED_REQUESTS = 20  # fewer requests than this do not measure a model's speed

_log = logging.getLogger(__name__)


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
                self._decided += self._go_on(waiting)  # all may have been answered for others
            else:
                self._decided.append(self._grade(waiting, ()))

    def take_new(self) -> list[int]:
        """The numbers of the requests that came up since this was called last."""
        new, self._new = self._new, []
        return new

    def renew(self) -> None:
        """Let `take_new` return every request without a response once more."""
        self._new = self.unanswered()

    def take_decided(self) -> list[Trial]:
        """The trials that needed no new request, of those added since this was called last."""
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
            completed += self._go_on(waiting)
        return completed

    def _go_on(self, waiting: _PendingTrial) -> list[Trial]:
        """The trial, graded, once nothing that it waits for lacks a response, and nothing more is
        to be asked; [] before that, and where its responses cannot be read.
        """
        while not waiting.unanswered:
            responses = [self.responses[known] for known in waiting.request_indices]
            try:
                further = self._follow_up_requests(waiting, responses)
                graded = [] if further else [self._grade(waiting, responses)]
            except Exception as error:  # told and counted; the others go on
                if self._on_ungraded is None:
                    raise
                self._on_ungraded(waiting.sample, error)
                further, graded = (), []
            if not further:
                self._release(waiting)
                return graded
            self._add_pending(waiting, further)
        return []

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


@dataclass(frozen=True, slots=True)
class Lap:
    """What a model answered at a time, and how long it took."""

    requests: int
    seconds: float


class Pace:
    """How fast one model answers, lap by lap."""

    def __init__(self) -> None:
        self._laps: list[Lap] = []
        self.begin()

    def begin(self) -> None:
        """Begin a lap; one under way does not count."""
        self.began = time.monotonic()
        self._requests = 0
        self._is_starved = False

    def add(self) -> None:
        """Count an answer."""
        self._requests += 1

    def starve(self) -> None:
        """Note that the model has too little to do: this lap does not measure its speed."""
        self._is_starved = True

    def end(self, *, after_s: float = 0.0) -> None:
        """End the lap and begin the next, unless it is younger, or without an answer yet."""
        seconds = time.monotonic() - self.began
        if self._requests and seconds >= after_s:
            if not self._is_starved:
                self._laps.append(Lap(self._requests, seconds))
            self.begin()

    def total(self) -> Lap | None:
        """All laps but the first, in which a model does what it does once, if these are enough;
        None where all are too few.
        """
        for laps in (self._laps[1:], self._laps):
            if (requests := sum(lap.requests for lap in laps)) >= _MIN_TIMED_REQUESTS:
                return Lap(requests, sum(lap.seconds for lap in laps))
        return None


class StreamSource:
    """The stream of a model that takes further requests while it answers."""

    takes_more = True

    def __init__(self, model: Streaming, pace: Pace) -> None:
        self._model = model
        self._pace = pace
        self._spent = Usage(0, 0)  # by streams before this one
        # Other cells have streams of their own, whose tokens are theirs.
        self._stream = model.stream()
        pace.begin()

    @property
    def width(self) -> int:
        """As the servers take them now."""
        return self._stream.width

    @property
    def max_width(self) -> int:
        """As the model was set up."""
        return self._stream.max_width

    @property
    def waiting(self) -> int:
        """Those that were refused, up to a bound: they hold up nothing else."""
        return min(self._stream.waiting, _WAITING * self._stream.max_width)

    def room(self, unanswered: int) -> int:
        """So many that some more than the model works on are always there."""
        return _QUEUED * self._stream.width + _MIN_QUEUED - (unanswered - self.waiting)

    def send(self, requests: Sequence[tuple[int, Request]], *, first: bool = False) -> None:
        """Put requests on the stream."""
        if requests:
            self._stream.send(requests, first=first)

    def receive(self, timeout_s: float) -> Sequence[Answer[Response] | Rejection]:
        """What has come since; see `RequestStream.receive`."""
        self._pace.end(after_s=_LAP_S)
        return self._stream.receive(timeout_s)

    def restart(self) -> None:
        """Open a new stream."""
        self._spent += self._stream.usage()
        self._stream = self._model.stream()
        self._pace.begin()

    def usage(self) -> Usage:
        """The tokens of all streams of this cell."""
        return self._spent + self._stream.usage()

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
        self._pace.end()


class PortionSource:
    """A model that is handed a portion of requests and answers it before it takes the next.

    `receive` returns after `look_s` seconds, with the portion half answered if need be. A portion
    that is too much for the memory of the device is handed in again, in smaller ones.
    """

    takes_more = False
    width = max_width = waiting = 0

    def __init__(self, model: Model, pace: Pace, look_s: float) -> None:
        self._model = model
        self._pace = pace
        self._look_s = look_s
        self._size = AdaptiveBatchSize()
        self._queue: deque[tuple[int, Request]] = deque()
        self._portion: list[tuple[int, Request]] = []  # with the model
        self._left: dict[int, Request] = {}  # of it, those without an answer
        self._answers: Iterator[tuple[int, Response]] | None = None
        self._before = model.usage() if isinstance(model, UsageTracking) else Usage(0, 0)

    def room(self, unanswered: int) -> int:
        """A portion, once all is answered."""
        return 0 if unanswered else self._size.size

    def send(self, requests: Sequence[tuple[int, Request]], *, first: bool = False) -> None:
        """Put requests at the end of the queue, in whose order portions are made."""
        del first
        self._queue.extend(requests)
        if not requests:
            self._size.record_cached()

    def receive(self, timeout_s: float) -> Iterator[Answer[Response] | Rejection]:
        """Yield what the model answers, as it does."""
        del timeout_s  # the model is not waited for: it computes meanwhile
        until = time.monotonic() + self._look_s
        try:
            for place, response in self._answers or self._hand_in():
                number, _ = self._portion[place]
                self._left.pop(number, None)
                yield Answer(number, response)
                if time.monotonic() > until:
                    return
        except RequestRejected as error:
            reason = error.sentence.values.get("reason")
            reason = reason if isinstance(reason, str) else error.sentence.rstrip(".")
            left = list(self._left)
            self.close()
            yield from (Rejection(number, reason) for number in left)
            return
        except Exception as error:  # raised again, unless fewer requests may fit the memory
            n = len(self._portion)
            if not is_out_of_memory(error) or n == 1:
                raise
            _log.warning("%d requests at a time are too many for %s", n, self._model.name)
            self._size.halve(n)
            self._queue.extendleft(reversed(self._left.items()))
            self.close()
            return
        if self._left:
            raise ModelError(
                "unanswered",
                model=self._model.name,
                n=len(self._left),
                total=len(self._portion),
            )
        self._size.record(len(self._portion), time.monotonic() - self._pace.began)
        self._pace.end()
        self.close()

    def restart(self) -> None:
        """Forget what was sent."""
        self._queue.clear()

    def usage(self) -> Usage:
        """What the model has spent since this cell began; nothing if it does not count tokens."""
        if not isinstance(self._model, UsageTracking):
            return Usage(0, 0)
        now = self._model.usage()
        return Usage(
            now.prompt_tokens - self._before.prompt_tokens,
            now.completion_tokens - self._before.completion_tokens,
        )

    def close(self) -> None:
        """Give up what the model is still to answer."""
        if isinstance(self._answers, Generator):
            self._answers.close()
        self._answers = None

    def _hand_in(self) -> Iterator[tuple[int, Response]]:
        """Hand the model its next portion."""
        limit = min(len(self._queue), self._size.limit)
        self._portion = [self._queue.popleft() for _ in range(limit)]
        self._left = dict(self._portion)
        self._pace.begin()
        self._answers = iter(self._model.answer([request for _, request in self._portion]))
        return self._answers


# A model at work for a cell: it is sent requests, each with its number, and answers them.
AnswerSource = StreamSource | PortionSource


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
