"""Many requests to several servers of one model: distributed, retried, and given up in time.

Each server has threads of its own that take requests from one common heap, so a fast server
answers more of them and a dead one none. Knows nothing of what the requests are.
"""

import itertools
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from evalui.errors import RequestRejected, Unreachable, joined_reasons
from evalui.messages import sentence
from evalui.models.endpoint.failures import TOO_MANY_REQUESTS, RejectedError, RetryableError
from evalui.models.endpoint.http.circuit_breaker import CircuitBreaker, RetryPolicy
from evalui.models.endpoint.http.client import HttpServer, Post
from evalui.models.endpoint.json_values import Json

T = TypeVar("T")
Job = Callable[[Post], T]

_CLOSE_TIMEOUT_S = 1.0
_FAILURES_WHILE_WELL = 2  # once it might have been the end of an outage


@dataclass(slots=True)
class ServerSlot:
    """One server, and how much may be sent to it. `interval_s` lies between two requests."""

    server: HttpServer
    breaker: CircuitBreaker
    concurrency: int
    interval_s: float = 0.0
    next_request_at: float = 0.0
    answered: int = 0

    def wait_time(self, now: float) -> float:
        """Seconds until it may be sent a request."""
        return max(self.breaker.wait_time(now), self.next_request_at - now, 0.0)


@dataclass(slots=True, eq=False)
class _RequestTask(Generic[T]):
    key: int
    job: Job[T]
    attempts: int = 0
    not_before: float = 0.0
    answered_at_start: int = 0  # by all servers, when this one was first tried
    failed_while_well: int = 0  # times that it was given up and a server answered the check then
    failed_servers: set[int] = field(default_factory=set[int])  # places of servers that failed it


@dataclass(frozen=True, slots=True)
class _JobResult(Generic[T]):
    key: int
    response: T


@dataclass(frozen=True, slots=True)
class _CheckResult:
    passed: bool


class ServerPool:
    """The servers of one model. What is known of their health outlives a call of `run`."""

    def __init__(
        self,
        servers: Sequence[HttpServer],
        *,
        concurrency: int,
        requests_per_minute: float = 0.0,
        retries: int = 3,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        self.retry_policy = retry_policy or RetryPolicy()
        self.retries = retries
        interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self.slots = [
            ServerSlot(server, CircuitBreaker(self.retry_policy), concurrency, interval)
            for server in servers
        ]
        self.threads: list[threading.Thread] = []
        self._runs: list[_PoolRun[Any]] = []  # calls of `run` that are under way

    def run(
        self, name: str, jobs: Mapping[int, Job[T]], *, check: Job[None] | None = None
    ) -> Iterator[tuple[int, T]]:
        """Do the jobs, each with a server's `post`; yield each result as soon as it is known.

        Closing the iterator drops what is queued; what a server is at work on is not waited for.
        Where jobs fail as if a server were away, `check` shows whether it is: a server that answers
        it is well, and a job that fails there once more is one that it cannot do.

        Raises:
            Unreachable: after all that could be done, servers are out of reach, or `stop` was
                called; `name` is what the model is called.
            RequestRejected: after all others were done, jobs were rejected permanently.
            ModelError: as soon as a job raises one.
        """
        run = _PoolRun(self, name, jobs)
        self._runs.append(run)
        try:
            while True:
                self.threads = [each for each in self.threads if each.is_alive()] + run.start()
                yield from run.results()
                if not (check and run.needs_check and run.is_answered(check)):
                    break
                run.try_again()
        finally:
            self._runs.remove(run)
            run.stop()
        run.raise_failures()

    def stop(self) -> None:
        """End the calls of `run` that are under way, whatever they wait for.

        From any thread, or from a signal's handler. What is answered is still yielded, then
        `Unreachable` is raised. Later calls work as ever.
        """
        for run in tuple(self._runs):
            run.cancel()

    def close(self) -> None:
        """Let the servers go; what they are at work on is given a moment to end."""
        until = time.monotonic() + _CLOSE_TIMEOUT_S
        for thread in self.threads:
            thread.join(max(0.0, until - time.monotonic()))
        for slot in self.slots:
            slot.server.close()


class _PoolRun(Generic[T]):
    """One call of `ServerPool.run`."""

    def __init__(self, pool: ServerPool, name: str, jobs: Mapping[int, Job[T]]) -> None:
        self._pool = pool
        self._name = name
        self._slots = pool.slots
        # Protects everything below, and the slots: threads of all servers read and write it.
        self._condition = threading.Condition()
        self._pending = [_RequestTask(key, job) for key, job in jobs.items()]
        self._pending.reverse()  # taken from the end, in order
        self._running = 0
        self._stopped = False
        self._exhausted: list[tuple[_RequestTask[T], RetryableError]] = []
        self._rejected: list[str] = []
        self._outcomes: SimpleQueue[_JobResult[T] | _CheckResult | Exception | None] = SimpleQueue()
        self._threads = 0

    def start(self) -> list[threading.Thread]:
        """Begin, with no more threads than there are jobs for; they end by themselves."""
        started = [
            threading.Thread(
                target=self._serve, args=(place,), name=f"endpoint-{place}", daemon=True
            )
            for place, slot in enumerate(self._slots)
            for _ in range(min(slot.concurrency, len(self._pending)))
        ]
        self._threads = len(started)
        for thread in started:
            thread.start()
        return started

    def results(self) -> Iterator[tuple[int, T]]:
        """What is answered, until nothing more can be; raises what a job could not foresee."""
        left = self._threads
        while left:
            outcome = self._outcomes.get()
            if outcome is None:
                left -= 1
            elif isinstance(outcome, Exception):
                raise outcome
            elif isinstance(outcome, _JobResult):
                yield outcome.key, outcome.response

    def stop(self) -> None:
        """Start nothing more."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def cancel(self) -> None:
        """Start nothing more, and end `results` with an error."""
        # First, or threads that stop might look like work that is done.
        self._outcomes.put(self._unreachable_because(sentence("error.endpoint-stopped")))
        self.stop()

    @property
    def needs_check(self) -> bool:
        """Whether what is left undone is so because servers seem to be away."""
        with self._condition:
            if self._stopped or any(
                error.status == TOO_MANY_REQUESTS for _, error in self._exhausted
            ):
                return False
            undecided = [each for each in self._exhausted if not self._is_own_fault(*each)]
            return bool(undecided or self._pending)

    def is_answered(self, check: Job[None]) -> bool:
        """Whether a server is well after all: it answers the check, be it with a refusal."""

        def ask() -> None:
            try:
                self._outcomes.put(_CheckResult(any(self._passes(check, each) for each in slots)))
            except Exception as error:  # noqa: BLE001 (raised again below)
                self._outcomes.put(error)

        now = time.monotonic()
        slots = [each for each in self._slots if each.breaker.retry_after_until <= now]
        thread = threading.Thread(target=ask, name="endpoint-check", daemon=True)
        self._pool.threads.append(thread)
        thread.start()
        while not isinstance(outcome := self._outcomes.get(), _CheckResult):
            if isinstance(outcome, Exception):  # also where the run is stopped meanwhile
                raise outcome
        return outcome.passed

    def _passes(self, check: Job[None], slot: ServerSlot) -> bool:
        try:
            check(slot.server.post)
        except RetryableError as error:
            if error.blame != "answer":
                return False
        except RejectedError:
            pass
        with self._condition:
            slot.breaker.record_success()
        return True

    def try_again(self) -> None:
        """Have what is left undone tried again, since a server is well: what failed often enough
        already only once.
        """
        with self._condition:
            failed, self._exhausted = self._exhausted, []
            for task, error in failed:
                task.failed_while_well += not self._is_own_fault(task, error)
                if self._is_own_fault(task, error):
                    self._exhausted.append((task, error))
                    continue
                task.attempts = self._pool.retries
                task.not_before = 0.0
                self._pending.append(task)

    def raise_failures(self) -> None:
        """Raise what became of the jobs that have no result."""
        poisoned = [
            error.reason for task, error in self._exhausted if self._is_own_fault(task, error)
        ]
        if self._pending or len(poisoned) < len(self._exhausted):
            raise self._unreachable_error()
        if declined := Counter([*self._rejected, *poisoned]):
            raise _rejected_error(self._name, declined)

    def _is_own_fault(self, task: _RequestTask[T], error: RetryableError) -> bool:
        """Whether it is the request that the server cannot serve: others were answered meanwhile.

        Of an error in which a server speaks of itself that shows only when it was asked again.
        """
        if error.blame == "answer" or task.failed_while_well >= _FAILURES_WHILE_WELL:
            return True
        answered = sum(slot.answered for slot in self._slots)
        return error.blame == "either" and answered > task.answered_at_start

    def _unreachable_error(self) -> Unreachable:
        now = time.monotonic()
        reasons = [error.reason for _, error in self._exhausted]
        reasons += [slot.breaker.reason for slot in self._slots if slot.breaker.reason]
        reasons.append(sentence("error.endpoint-no-server"))
        error = self._unreachable_because(reasons[0])
        # Infinite while the trial of an earlier call is under way, which takes an unknown time.
        waits = [
            wait for wait in (slot.wait_time(now) for slot in self._slots) if math.isfinite(wait)
        ]
        error.retry_after_s = min(waits, default=0.0)
        return error

    def _unreachable_because(self, reason: str) -> Unreachable:
        return Unreachable(
            "endpoint-unreachable-now",
            model=self._name,
            reason=reason,
        )

    def _serve(self, place: int) -> None:
        """What each thread of a server does: take a job, do it, until there is none left."""
        slot = self._slots[place]
        while (taken := self._next_task(place)) is not None:
            task, trial = taken
            try:
                response = task.job(self._post(slot))
            except RetryableError as error:
                self._handle_failure(task, place, error, trial=trial)
            except RejectedError as error:
                self._record_success(slot)
                self._rejected.append(error.reason)
            except Exception as error:  # noqa: BLE001 (raised again where the results are read)
                self._record_success(slot)
                self._outcomes.put(error)
            else:
                # First: the end of the run compares how many were answered.
                self._outcomes.put(_JobResult(task.key, response))
                self._record_success(slot)
        self._outcomes.put(None)

    def _post(self, slot: ServerSlot) -> Post:
        """The server's `post` for one job, whose first request has had its turn already."""
        if not slot.interval_s:
            return slot.server.post
        sent = itertools.count()

        def post(path: str, body: Json) -> Json:
            if next(sent):
                self._wait_for_rate_limit(slot)
            return slot.server.post(path, body)

        return post

    def _wait_for_rate_limit(self, slot: ServerSlot) -> None:
        """Wait until one more request may be sent."""
        with self._condition:
            turn = max(slot.next_request_at, time.monotonic())
            slot.next_request_at = turn + slot.interval_s
            while not self._stopped and (pause := turn - time.monotonic()) > 0:
                self._condition.wait(pause)
            if self._stopped:  # the server is well: it has answered this job's last request
                reason = sentence("error.endpoint-stopped")
                raise RetryableError(reason, blame="answer")

    def _next_task(self, place: int) -> tuple[_RequestTask[T], bool] | None:
        """The next job for a server, and whether it is a trial; None if there will be none."""
        slot = self._slots[place]
        with self._condition:
            while not self._is_over():
                now = time.monotonic()
                pause = slot.wait_time(now)
                task = self._pop_ready_task(place, now) if pause <= 0 else None
                if task is not None:
                    if not task.attempts:
                        task.answered_at_start = sum(each.answered for each in self._slots)
                    slot.next_request_at = max(slot.next_request_at, now) + slot.interval_s
                    self._running += 1
                    return task, slot.breaker.record_sent()
                self._condition.wait(self._poll_delay(pause, now))
            self._condition.notify_all()
            return None

    def _pop_ready_task(self, place: int, now: float) -> _RequestTask[T] | None:
        """Take the first job that may be sent to this server now."""
        for at in range(len(self._pending) - 1, -1, -1):
            task = self._pending[at]
            if task.not_before <= now and not self._has_better_server(task, place, now):
                return self._pending.pop(at)
        return None

    def _has_better_server(self, task: _RequestTask[T], place: int, now: float) -> bool:
        """Whether this server has failed the job and another, that is available, has not."""
        return place in task.failed_servers and any(
            other not in task.failed_servers and slot.breaker.wait_time(now) <= 0
            for other, slot in enumerate(self._slots)
        )

    def _poll_delay(self, pause: float, now: float) -> float:
        """Seconds after which to look again, if nothing happens before."""
        due = min((task.not_before - now for task in self._pending), default=1.0)
        return min(1.0, max(pause, due, 0.001))

    def _is_over(self) -> bool:
        if self._stopped or not (self._pending or self._running):
            return True
        if self._running:
            return False
        now = time.monotonic()
        # Nothing is under way and no server is available soon: the caller can wait better.
        return all(slot.breaker.wait_time(now) > self._max_wait(slot) for slot in self._slots)

    def _max_wait(self, slot: ServerSlot) -> float:
        return 0.0 if slot.breaker.is_open else self._pool.retry_policy.max_delay

    def _record_success(self, slot: ServerSlot) -> None:
        with self._condition:
            slot.answered += 1
            slot.breaker.record_success()
            self._running -= 1
            self._condition.notify_all()

    def _handle_failure(
        self, task: _RequestTask[T], place: int, error: RetryableError, *, trial: bool
    ) -> None:
        slot = self._slots[place]
        with self._condition:
            now = time.monotonic()
            self._update_breaker(slot.breaker, error, now, trial=trial)
            task.failed_servers.add(place)
            task.attempts += not trial or error.blame == "answer"
            if task.attempts > self._pool.retries:
                self._exhausted.append((task, error))
            else:
                task.not_before = now + self._retry_delay(task, place, error)
                self._pending.append(task)
            self._running -= 1
            self._condition.notify_all()

    def _update_breaker(
        self, breaker: CircuitBreaker, error: RetryableError, now: float, *, trial: bool
    ) -> None:
        wait = error.retry_after_s
        if error.blame == "answer":
            breaker.record_success()
        elif error.status == TOO_MANY_REQUESTS and wait and not trial:
            breaker.record_retry_after(now, error.reason, seconds=wait)
        else:
            breaker.record_failure(now, error.reason, trial=trial, retry_after_s=wait)

    def _retry_delay(self, task: _RequestTask[T], place: int, error: RetryableError) -> float:
        """Seconds before the next attempt: none if another server can have the job at once.

        Full jitter, so that requests that failed together do not come back together.
        """
        if self._has_better_server(task, place, time.monotonic()):
            return 0.0
        policy = self._pool.retry_policy
        ceiling = min(policy.max_delay, policy.initial_delay * 2.0 ** min(task.attempts, 16))
        return max(random.uniform(0, ceiling), min(error.retry_after_s, policy.max_delay))


def _rejected_error(name: str, reasons: Mapping[str, int]) -> RequestRejected:
    error = RequestRejected(
        "endpoint-refused", model=name, n=sum(reasons.values()), reason=joined_reasons(reasons)
    )
    error.reasons = dict(reasons)
    return error
