"""Many requests to the servers of a model: distributed, retried, and given up in time.

Whoever has requests opens a stream: what it sends is taken by whichever server is free, and what is
answered is there at once, while further requests are sent. A request that fails or is refused waits
alone. Everything with an underscore in `JobStream`, and all of `ServerLimit`, is done on the
event loop. Knows nothing of what the requests are.
"""

import asyncio
import heapq
import itertools
import math
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from evalui.errors import RequestRejected, Unreachable, joined_reasons
from evalui.messages import sentence
from evalui.models.base import Answer, Rejection
from evalui.models.endpoint.protocol import (
    TOO_MANY_REQUESTS,
    Json,
    LockedError,
    RejectedError,
    RetryableError,
    Send,
    usage_of,
)
from evalui.models.endpoint.server import LOOP, HttpServer
from evalui.types import Usage

_MAX_DOUBLINGS = 16  # doublings; any pause is at its longest by then
_MIN_COHORT = 16  # requests
_STORM_SHARE = 4  # a storm: one in so many of a cohort was refused
_STORM_LEAST = 8  # refused requests; of fewer the share says little
_HOLD_S = 5.0  # after a storm; a server that takes so many and no more is tried rarely
_GROWTH = 4  # by one in so many at a time
T = TypeVar("T")
Job = Callable[[Send], Coroutine[Any, Any, T]]
_FAILURES_WHILE_WELL = 2  # once it might have been the end of an outage
_MAX_UNDECIDED = 32  # requests that failed for good; then it is found out whether a server is well
_BUSY_STATUSES = (TOO_MANY_REQUESTS, 503, 529)
_LOOK_AGAIN_S = 1.0
_WAIT_JITTER = 1.25  # times as long as a server has asked for, at most
_GATHER_S = 0.004  # replies that come within it are handed over together
_ORDER = itertools.count()  # of requests that wait until the same moment


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How failures are met. All times in seconds.

    A request waits between attempts: at random up to `initial_delay`, doubled each time up to
    `max_delay`. Its circuit opens after `failure_threshold` failures in a row, for
    `initial_open_time`, doubled after every trial that fails up to `max_open_time`.
    """

    initial_delay: float = 0.5
    max_delay: float = 10.0
    failure_threshold: int = 5
    initial_open_time: float = 2.0
    max_open_time: float = 60.0


@dataclass(slots=True)
class CircuitBreaker:
    """The state of one server; `now` is any clock that never goes back."""

    policy: RetryPolicy
    failures: int = 0
    failed_trials: int = 0  # that failed since it opened
    trial_in_flight: bool = False
    half_open_at: float = 0.0  # when a trial may be made, if `is_open`
    retry_after_until: float = 0.0  # the server itself requested a pause
    reason: str = ""

    @property
    def is_open(self) -> bool:
        """Whether requests to the server are suspended."""
        return self.failures >= self.policy.failure_threshold

    def wait_time(self, now: float) -> float:
        """Seconds until a request may be sent, 0 for now; infinite while a trial is on its way."""
        if not self.is_open:
            return max(0.0, self.retry_after_until - now)
        if self.trial_in_flight:
            return float("inf")
        return max(0.0, max(self.half_open_at, self.retry_after_until) - now)

    def record_sent(self) -> bool:
        """A request is sent; whether it is the trial of a server whose circuit was open."""
        self.trial_in_flight = self.is_open
        return self.trial_in_flight

    def record_success(self) -> None:
        """The server answered, be it to reject a request."""
        self.failures = self.failed_trials = 0
        self.trial_in_flight = False

    def record_retry_after(self, now: float, reason: str, *, seconds: float) -> None:
        """The server is well, and busy for so long."""
        self.reason = reason
        self.retry_after_until = max(self.retry_after_until, now + seconds)

    def record_failure(
        self, now: float, reason: str, *, trial: bool = False, retry_after_s: float = 0.0
    ) -> None:
        """The server gave no usable answer, and may have stated for how long."""
        was_open = self.is_open
        self.reason = reason
        self.retry_after_until = max(self.retry_after_until, now + retry_after_s)
        self.failures += 1
        if was_open and not trial:
            return  # sent before it opened: one outage, not one more trial
        if trial:
            self.trial_in_flight = False
            self.failed_trials += 1
        if self.is_open:
            rest = self.policy.initial_open_time * 2.0 ** min(self.failed_trials, _MAX_DOUBLINGS)
            self.half_open_at = now + min(rest, self.policy.max_open_time)


@dataclass(slots=True)
class Width:
    """At most `ceiling` requests in flight, and fewer while the server refuses a large share.

    Requests that are sent one after another form a cohort. A server that limits itself by chance
    or by a rate refuses some of each: those wait alone, and the width stays. If a quarter of a
    cohort is refused, the server takes no more than what is in flight then; those of them that it
    refuses after all had no place either. So the width falls to what the server takes, at once,
    and grows again with each cohort that it takes.
    """

    ceiling: int
    now: int
    _sent: int = 0  # requests so far
    _begin: int = 0  # the number of the first request of the cohort
    _ended: int = 0  # requests of the cohort that were answered or refused
    _refused: int = 0
    _storm_before: int = 0  # requests with lower numbers were sent before the last storm
    _hold_until: float = 0.0

    def raise_ceiling(self, ceiling: int) -> None:
        """Allow for more in flight; for as many at once if the server has refused none."""
        if ceiling > self.ceiling:
            self.now = ceiling if self.now == self.ceiling else self.now
            self.ceiling = ceiling

    def record_sent(self) -> int:
        """The number of a request that is sent now."""
        self._sent += 1
        return self._sent - 1

    def record_refused(self, number: int, in_flight: int, now: float) -> None:
        """The server was too busy for a request; `in_flight` are the others."""
        if number < self._storm_before:
            self.now = max(1, min(self.now, in_flight))
            return
        self._refused += number >= self._begin
        # Refusals come sooner than answers: their share is one of all that were sent with them.
        share = max(self._cohort_size, self._sent - self._begin) / _STORM_SHARE
        if self._refused >= max(_STORM_LEAST, share):
            self.now = max(1, min(self.now, in_flight))
            self._storm_before, self._hold_until = self._sent, now + _HOLD_S
            self._begin_cohort()
        else:
            self.record_answered(number, now)

    def record_answered(self, number: int, now: float) -> None:
        """A request has ended: the server took it, whatever came of it, or refused it by chance."""
        self._ended += number >= self._begin
        if self._ended >= self._cohort_size:
            if now >= self._hold_until:
                self.now = min(self.ceiling, self.now + max(1, self.now // _GROWTH))
            self._begin_cohort()

    @property
    def _cohort_size(self) -> int:
        return max(_MIN_COHORT, self.now)

    def _begin_cohort(self) -> None:
        self._begin, self._ended, self._refused = self._sent, 0, 0


@dataclass(slots=True, eq=False)
class _RequestTask(Generic[T]):
    key: int
    job: Job[T]
    attempts: int = 0
    refusals: int = 0  # because the server was too busy
    answered_before: int = 0  # by all servers, when this one was last tried
    was_locked: bool = False  # its key was refused once, by a server that had taken it before
    failed_while_well: int = 0  # times that it was given up and a server answered the check then
    failed_servers: set[str] = field(default_factory=set[str])  # URLs of servers that failed it


class ServerLimit:
    """What is in flight at one server, and how it is; shared by all models at its URL."""

    def __init__(self, policy: RetryPolicy) -> None:
        self.breaker = CircuitBreaker(policy)
        self.width = Width(0, 0)
        self.next_request_at = 0.0
        self.in_flight = 0
        self.answered = 0
        self._streams: deque[tuple[JobStream[Any], ServerSlot]] = deque()  # next to be served
        self._timer: asyncio.TimerHandle | None = None

    def wait_time(self, now: float) -> float:
        """Seconds until it may be sent a request."""
        return max(self.breaker.wait_time(now), self.next_request_at - now, 0.0)

    def add(self, stream: "JobStream[Any]", slot: "ServerSlot") -> None:
        """Serve a stream, too."""
        self._streams.append((stream, slot))

    def remove(self, stream: "JobStream[Any]") -> None:
        """Serve a stream no more."""
        self._streams = deque(each for each in self._streams if each[0] is not stream)

    def feed(self) -> None:
        """Send what may be sent now, of each stream in turn, and look again when more may be."""
        now = time.monotonic()
        while self.in_flight < self.width.now and self.wait_time(now) <= 0:
            if not self._send_next(now):
                break
        self._look_again(now)

    def _send_next(self, now: float) -> bool:
        for _ in range(len(self._streams)):
            stream, slot = self._streams[0]
            self._streams.rotate(-1)
            if slot.in_flight < slot.concurrency and stream.start_next(slot, now):
                return True
        return False

    def _look_again(self, now: float) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self.in_flight >= self.width.now:
            return  # the next end of a request is when
        wait = self.wait_time(now)
        due = min((stream.next_due(now, wait) for stream, _ in self._streams), default=math.inf)
        if math.isfinite(at := max(due, now + wait)):
            self._timer = asyncio.get_running_loop().call_later(at - now, self.feed)


@dataclass(slots=True, eq=False)
class ServerSlot:
    """A model's share of a server: at most `concurrency` requests, `interval_s` between two."""

    server: HttpServer
    limit: ServerLimit
    concurrency: int
    interval_s: float = 0.0
    in_flight: int = 0


@dataclass(slots=True, eq=False)
class _Attempt(Generic[T]):
    """A request on its way to a server, by the `number` that `Width` gave it; `trial`: it shows
    whether the circuit of the server may be closed.
    """

    task: _RequestTask[T]
    slot: ServerSlot
    number: int
    trial: bool


class ServerLimits:
    """The limits of the servers in use, by URL."""

    def __init__(self) -> None:
        self._by_url: WeakValueDictionary[str, ServerLimit] = WeakValueDictionary()
        self._lock = threading.Lock()  # models are opened in several threads

    def of(self, url: str, policy: RetryPolicy, concurrency: int) -> ServerLimit:
        """The limit of a server, with room for so many requests."""
        with self._lock:
            limit = self._by_url.setdefault(url, ServerLimit(policy))
            limit.width.raise_ceiling(concurrency)
            return limit


# One in each process: what it protects are the servers.
SERVER_LIMITS = ServerLimits()


class ServerPool:
    """The servers of one model. `limits` are shared with other models, else its own.

    What is known of a server's health outlives a stream.
    """

    def __init__(
        self,
        servers: Sequence[HttpServer],
        *,
        concurrency: int,
        requests_per_minute: float = 0.0,
        retries: int = 3,
        retry_policy: RetryPolicy | None = None,
        limits: ServerLimits | None = None,
    ) -> None:
        self.retry_policy = retry_policy or RetryPolicy()
        self.retries = retries
        interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        limits = limits or ServerLimits()
        self.slots = [
            ServerSlot(
                server, limits.of(server.url, self.retry_policy, concurrency), concurrency, interval
            )
            for server in servers
        ]
        self._streams: list[JobStream[Any]] = []  # that are open
        self.usage = Usage(0, 0)  # the tokens of all answers so far, those of unused ones too

    def stream(self, name: str, *, check: Job[None] | None = None) -> "JobStream[Any]":
        """Open a stream of requests, to be closed. `name` is what the model is called.

        Where requests fail as if a server were away, `check` shows whether it is: a server that
        answers it is well, and a request that fails there once more is one that it cannot do.
        """
        stream: JobStream[Any] = JobStream(self, name, check)
        self._streams.append(stream)
        return stream

    def run(
        self, name: str, jobs: Mapping[int, Job[T]], *, check: Job[None] | None = None
    ) -> Iterator[tuple[int, T]]:
        """Do the jobs, each with a server's `send`; yield each result as soon as it is known.

        Closing the iterator ends what is queued and under way. `check` is as in `stream`.

        Raises:
            Unreachable: after all that could be done, servers are out of reach, or `stop` was
                called.
            RequestRejected: after all others were done, jobs were rejected permanently.
            ModelError: as soon as a job raises one.
        """
        stream = self.stream(name, check=check)
        rejected: list[str] = []
        try:
            stream.send(list(jobs.items()))
            left = len(jobs)
            while left:
                for outcome in stream.receive():
                    left -= 1
                    if isinstance(outcome, Rejection):
                        rejected.append(outcome.reason)
                    else:
                        yield outcome.key, outcome.response
        finally:
            stream.close()
        if rejected:
            reason = joined_reasons(Counter(rejected))
            raise RequestRejected("endpoint-refused", model=name, n=len(rejected), reason=reason)

    def stop(self) -> None:
        """End the streams that are open, whatever they wait for.

        From any thread, or from a signal's handler. What is answered can still be received, then
        `Unreachable` is raised. Later streams work as ever.
        """
        for stream in tuple(self._streams):
            stream.cancel()

    def forget(self, stream: "JobStream[Any]") -> None:
        """Note that a stream was closed."""
        if stream in self._streams:
            self._streams.remove(stream)

    def close(self) -> None:
        """Let the servers go."""
        for stream in tuple(self._streams):
            stream.close()
        for slot in self.slots:
            slot.server.close()


class JobStream(Generic[T]):
    """Requests of one caller on their way: it sends and receives as it likes, from one thread.

    Once `receive` has raised, what was not received has to be sent again, by another stream.
    """

    def __init__(self, pool: ServerPool, name: str, check: Job[None] | None) -> None:
        self._pool = pool
        self._name = name
        self._check = check
        self._ready: deque[_RequestTask[T]] = deque()  # not tried yet
        self._again: deque[_RequestTask[T]] = deque()  # to be tried once more
        self._later: list[tuple[float, int, _RequestTask[T]]] = []  # a heap: not before this time
        self._running: set[asyncio.Task[T]] = set()
        self._undecided: list[tuple[_RequestTask[T], RetryableError]] = []
        self._checking: asyncio.Task[bool] | None = None
        self._is_over = False
        self.usage = Usage(0, 0)  # as the pool's, of this stream
        # What is handed over to the caller's thread.
        self._outcomes: deque[Answer[T] | Rejection] = deque()
        self._error: BaseException | None = None
        self._arrived = threading.Event()
        self._gathering = False
        LOOP.submit(self._open)

    @property
    def width(self) -> int:
        """How many requests the servers are sent at a time, as they take them now."""
        return sum(min(slot.limit.width.now, slot.concurrency) for slot in self._pool.slots)

    @property
    def max_width(self) -> int:
        """How many they are sent at a time at most."""
        return sum(slot.concurrency for slot in self._pool.slots)

    @property
    def waiting(self) -> int:
        """How many requests wait for some time before they are sent once more."""
        return len(self._later)

    def send(self, jobs: Sequence[tuple[int, Job[T]]], *, first: bool = False) -> None:
        """Have jobs done, each with a server's `send`; `first`: before those that wait."""
        tasks = [_RequestTask(key, job) for key, job in jobs]
        LOOP.submit(lambda: self._add(tasks, first=first))

    def receive(self, timeout_s: float | None = None) -> list[Answer[T] | Rejection]:
        """What has come of requests; waits for something until the time is over.

        Raises:
            Unreachable: no server can be asked now, or the stream was stopped.
            ModelError: a job has raised one; and whatever else a job raises.
        """
        if not self._outcomes:
            self._arrived.wait(timeout_s)
        self._arrived.clear()
        outcomes = [self._outcomes.popleft() for _ in range(len(self._outcomes))]
        if self._error:
            if not outcomes:
                raise self._error
            self._arrived.set()  # it is raised next time
        return outcomes

    def cancel(self) -> None:
        """End what the caller waits for with `Unreachable`; from any thread."""
        error = self._unreachable_because(sentence("error.endpoint-stopped"))
        LOOP.submit(lambda: self._end(error))

    def close(self) -> None:
        """End what is under way; from any thread."""
        self._pool.forget(self)
        LOOP.submit(lambda: self._end(None))

    def _open(self) -> None:
        for slot in self._pool.slots:
            slot.limit.add(self, slot)

    def _add(self, tasks: Sequence[_RequestTask[T]], *, first: bool) -> None:
        if self._is_over:
            return
        if first:
            self._ready.extendleft(reversed(tasks))
        else:
            self._ready.extend(tasks)
        self._go_on()

    def _go_on(self) -> None:
        """Send what can be sent, and see whether it is clear what becomes of the rest."""
        for slot in self._pool.slots:
            slot.limit.feed()
        if self._is_over or self._checking:
            return
        waiting = bool(self._ready or self._again or self._later)
        is_idle = not (self._running or waiting)
        if self._undecided and (is_idle or len(self._undecided) >= _MAX_UNDECIDED):
            self._decide()
        elif waiting and not self._running and self._is_stuck():
            self._find_out()

    def _is_stuck(self) -> bool:
        """Whether nothing is under way and no server is available soon: the caller waits better."""
        now = time.monotonic()
        return all(
            slot.limit.breaker.wait_time(now)
            > (0.0 if slot.limit.breaker.is_open else self._pool.retry_policy.max_delay)
            for slot in self._pool.slots
        )

    def next_due(self, now: float, wait: float) -> float:
        """When to look again for something to send; infinite if there is nothing."""
        if self._ready or self._again:
            # Without a wait others are in the way: they report when they end.
            return now if wait else now + _LOOK_AGAIN_S
        return self._later[0][0] if self._later else math.inf

    def start_next(self, slot: ServerSlot, now: float) -> bool:
        """Send a server the next request that it may have now; False if there is none."""
        task = self._pop(slot, now)
        if task is None:
            return False
        task.answered_before = self._answered
        limit = slot.limit
        limit.next_request_at = max(limit.next_request_at, now) + slot.interval_s
        limit.in_flight += 1
        slot.in_flight += 1
        attempt = _Attempt(task, slot, limit.width.record_sent(), limit.breaker.record_sent())
        running = asyncio.get_running_loop().create_task(task.job(self._send_of(slot)))
        # Not at the end of the job: one that is cancelled early has none.
        running.add_done_callback(partial(self._finish, attempt))
        self._running.add(running)
        return True

    def _pop(self, slot: ServerSlot, now: float) -> _RequestTask[T] | None:
        while self._later and self._later[0][0] <= now:
            self._again.append(heapq.heappop(self._later)[2])
        for task in self._again:
            if not self._has_better_server(task, slot, now):
                self._again.remove(task)
                return task
        return self._ready.popleft() if self._ready else None

    def _has_better_server(self, task: _RequestTask[T], slot: ServerSlot, now: float) -> bool:
        """Whether this server has failed the request and another, that is available, has not."""
        return slot.server.url in task.failed_servers and any(
            other.server.url not in task.failed_servers and other.limit.breaker.wait_time(now) <= 0
            for other in self._pool.slots
        )

    def _finish(self, attempt: _Attempt[T], running: "asyncio.Task[T]") -> None:
        """Take note of how an attempt has ended."""
        task, slot, limit, now = attempt.task, attempt.slot, attempt.slot.limit, time.monotonic()
        limit.in_flight -= 1
        slot.in_flight -= 1
        self._running.discard(running)
        if running.cancelled():
            limit.breaker.trial_in_flight = limit.breaker.trial_in_flight and not attempt.trial
            limit.width.record_answered(attempt.number, now)
            limit.feed()  # for other streams
            return
        error = running.exception()
        if isinstance(error, RetryableError) and error.status in _BUSY_STATUSES:
            limit.width.record_refused(attempt.number, limit.in_flight, now)
            self._record_refusal(attempt, error, now)
        else:
            limit.width.record_answered(attempt.number, now)
            if isinstance(error, RetryableError):
                self._record_failure(attempt, error, now)
            else:
                limit.answered += error is None or isinstance(error, RejectedError)
                limit.breaker.record_success()
        if error is None:
            self._hand_over(Answer(task.key, running.result()))
        elif isinstance(error, RejectedError):
            self._hand_over(Rejection(task.key, error.reason))
        elif isinstance(error, LockedError) and limit.answered and not task.was_locked:
            task.was_locked = True  # by chance, maybe: the same key was taken before
            pause = self._pool.retry_policy.initial_open_time
            self._try_later(task, now + pause)
        elif not isinstance(error, RetryableError):
            self._end(error)
        self._go_on()

    def _send_of(self, slot: ServerSlot) -> Send:
        """The server's `send` for one attempt, whose first request has had its turn already."""
        sent = itertools.count()

        async def send(path: str, body: Json) -> Json:
            if slot.interval_s and next(sent):
                limit, now = slot.limit, time.monotonic()
                turn = max(limit.next_request_at, now)
                limit.next_request_at = turn + slot.interval_s
                await asyncio.sleep(turn - now)
            answer = await slot.server.send(path, body)
            if used := usage_of(answer):
                self.usage += used
                self._pool.usage += used
            return answer

        return send

    def _record_refusal(self, attempt: _Attempt[T], error: RetryableError, now: float) -> None:
        """The server was too busy for a request. While it answers others that is no failure."""
        task, trial, limit = attempt.task, attempt.trial, attempt.slot.limit
        breaker, wait = limit.breaker, error.retry_after_s
        takes_none = limit.in_flight == 0
        if trial or takes_none:
            if error.status == TOO_MANY_REQUESTS and wait and not trial:
                breaker.record_retry_after(now, error.reason, seconds=wait)
            else:
                breaker.record_failure(now, error.reason, trial=trial, retry_after_s=wait)
        task.refusals += 1
        is_alone = takes_none and self._answered == task.answered_before
        task.attempts += is_alone and not trial
        self._retry(attempt, error, now, tried=task.refusals)

    def _record_failure(self, attempt: _Attempt[T], error: RetryableError, now: float) -> None:
        breaker, wait = attempt.slot.limit.breaker, error.retry_after_s
        if error.blame == "answer":
            breaker.record_success()
        else:
            breaker.record_failure(now, error.reason, trial=attempt.trial, retry_after_s=wait)
        attempt.task.attempts += not attempt.trial or error.blame == "answer"
        self._retry(attempt, error, now, tried=attempt.task.attempts)

    def _retry(
        self, attempt: _Attempt[T], error: RetryableError, now: float, *, tried: int
    ) -> None:
        """Have a request tried again after a while, unless it was tried often enough."""
        task = attempt.task
        task.failed_servers.add(attempt.slot.server.url)
        if task.attempts <= self._pool.retries:
            self._try_later(task, now + self._retry_delay(attempt, error, now, tried))
        elif self._is_own_fault(task, error):
            self._hand_over(Rejection(task.key, error.reason))
        else:
            self._undecided.append((task, error))

    def _try_later(self, task: _RequestTask[T], due: float) -> None:
        heapq.heappush(self._later, (due, next(_ORDER), task))

    def _retry_delay(
        self, attempt: _Attempt[T], error: RetryableError, now: float, tried: int
    ) -> float:
        """Seconds before the next attempt: none if another server can have the request at once.

        With jitter, so that requests that failed together do not come back together: full, where
        the server does not say when.
        """
        if self._has_better_server(attempt.task, attempt.slot, now):
            return 0.0
        policy = self._pool.retry_policy
        if error.retry_after_s:
            return min(error.retry_after_s, policy.max_delay) * random.uniform(1.0, _WAIT_JITTER)
        ceiling = min(policy.max_delay, policy.initial_delay * 2.0 ** min(tried, _MAX_DOUBLINGS))
        return random.uniform(0, ceiling)

    @property
    def _answered(self) -> int:
        return sum(slot.limit.answered for slot in self._pool.slots)

    def _is_own_fault(self, task: _RequestTask[T], error: RetryableError) -> bool:
        """Whether it is the request that the server cannot serve: others were answered meanwhile.

        Of an error in which a server speaks of itself that shows only when it was asked again. What
        was answered before the last attempt says nothing: the server may have stopped since.
        """
        if error.blame == "answer" or task.failed_while_well >= _FAILURES_WHILE_WELL:
            return True
        return error.blame == "either" and self._answered > task.answered_before

    def _decide(self) -> None:
        """Say what becomes of requests that failed as often as they may."""
        undecided, self._undecided = self._undecided, []
        for task, error in undecided:
            if self._is_own_fault(task, error):
                self._hand_over(Rejection(task.key, error.reason))
            else:
                self._undecided.append((task, error))
        if self._undecided:
            self._find_out()

    def _find_out(self) -> None:
        """End the stream because no server can be asked, unless one turns out to be well."""
        limited = any(error.status == TOO_MANY_REQUESTS for _, error in self._undecided)
        if limited or self._check is None:
            self._end(self._unreachable_error())
        else:
            self._checking = asyncio.get_running_loop().create_task(self._is_answered())
            self._checking.add_done_callback(self._record_check)

    def _record_check(self, checking: "asyncio.Task[bool]") -> None:
        """Have what is undecided tried again if a server is well: what failed often enough already
        only once.
        """
        self._checking = None
        if checking.cancelled():
            return
        if error := checking.exception():
            self._end(error)
        elif not checking.result():
            self._end(self._unreachable_error())
        else:
            failed, self._undecided = self._undecided, []
            for task, _ in failed:
                task.failed_while_well += 1
                task.attempts = self._pool.retries
                self._again.append(task)
            self._go_on()

    async def _is_answered(self) -> bool:
        """Whether a server is well after all: it answers the check, be it with a refusal."""
        assert self._check, "there is one"
        now = time.monotonic()
        for slot in self._pool.slots:
            if slot.limit.breaker.retry_after_until > now:
                continue
            try:
                await self._check(slot.server.send)
            except RetryableError as error:
                if error.blame != "answer":
                    continue
            except RejectedError:
                pass
            slot.limit.breaker.record_success()
            return True
        return False

    def _end(self, error: BaseException | None) -> None:
        """Do nothing more, and have `receive` raise an error after what is answered."""
        if self._is_over:
            return
        self._is_over = True
        self._error = error
        for slot in self._pool.slots:
            slot.limit.remove(self)
        self._ready.clear()
        self._again.clear()
        self._later.clear()
        for running in self._running:
            running.cancel()
        if self._checking:
            self._checking.cancel()
        self._arrived.set()

    def _hand_over(self, outcome: Answer[T] | Rejection) -> None:
        """Give the caller's thread an outcome, together with those that come at the same time."""
        self._outcomes.append(outcome)
        if not self._gathering:
            self._gathering = True
            asyncio.get_running_loop().call_later(_GATHER_S, self._give)

    def _give(self) -> None:
        self._gathering = False
        self._arrived.set()

    def _unreachable_error(self) -> Unreachable:
        now = time.monotonic()
        reasons = [error.reason for _, error in self._undecided]
        breakers = [slot.limit.breaker for slot in self._pool.slots]
        reasons += [breaker.reason for breaker in breakers if breaker.reason]
        reasons.append(sentence("error.endpoint-no-server"))
        error = self._unreachable_because(reasons[0])
        # Infinite while the trial of another stream is under way, which takes an unknown time.
        waits = (slot.limit.wait_time(now) for slot in self._pool.slots)
        error.retry_after_s = min(filter(math.isfinite, waits), default=0.0)
        return error

    def _unreachable_because(self, reason: str) -> Unreachable:
        return Unreachable("endpoint-unreachable-now", model=self._name, reason=reason)
