"""Many requests to several servers of one model: shared out, tried again, and given up in time.

Each server has threads of its own that take requests from one common heap, so a fast server
answers more of them and a dead one none. Knows nothing of what is asked.
"""

import itertools
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from evalui.errors import Refused, Unreachable
from evalui.messages import sentence
from evalui.models.endpoint.http.circuit_breaker import Breaker, Patience
from evalui.models.endpoint.http.client import TOO_MANY, Declined, Faltered, Json, Post, Server

T = TypeVar("T")
Job = Callable[[Post], T]

_FAREWELL_S = 1.0


@dataclass(slots=True)
class Line:
    """One server, and how much it may be asked. `interval_s` lies between two requests."""

    server: Server
    breaker: Breaker
    concurrency: int
    interval_s: float = 0.0
    free_at: float = 0.0
    answered: int = 0

    def wait(self, now: float) -> float:
        """Seconds until it may be sent a request."""
        return max(self.breaker.wait(now), self.free_at - now, 0.0)


@dataclass(slots=True, eq=False)
class _Task(Generic[T]):
    key: int
    job: Job[T]
    attempts: int = 0
    not_before: float = 0.0
    answered_then: int = 0  # by all servers, when this one was first tried
    avoid: set[int] = field(default_factory=set[int])  # places of servers that failed it


@dataclass(frozen=True, slots=True)
class _Answered(Generic[T]):
    key: int
    response: T


class Pool:
    """The servers of one model. What is known of their health outlives a call of `run`."""

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        concurrency: int,
        requests_per_minute: float = 0.0,
        retries: int = 3,
        patience: Patience | None = None,
    ) -> None:
        self.patience = patience or Patience()
        self.retries = retries
        interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self.lines = [
            Line(server, Breaker(self.patience), concurrency, interval) for server in servers
        ]
        self.threads: list[threading.Thread] = []
        self._shares: list[_Share[Any]] = []  # calls of `run` that are under way

    def run(self, name: str, jobs: Mapping[int, Job[T]]) -> Iterator[tuple[int, T]]:
        """Do the jobs, each with a server's `post`; yield each result as soon as it is known.

        Closing the iterator drops what is queued; what a server is at work on is not waited for.

        Raises:
            Unreachable: after all that could be done, servers are out of reach, or `stop` was
                called; `name` is what the model is called.
            Refused: after all others were done, jobs were turned down for good.
            ModelError: as soon as a job raises one.
        """
        share = _Share(self, name, jobs)
        self._shares.append(share)
        try:
            self.threads = [thread for thread in self.threads if thread.is_alive()] + share.start()
            yield from share.results()
        finally:
            self._shares.remove(share)
            share.stop()
        share.conclude()

    def stop(self) -> None:
        """End the calls of `run` that are under way, whatever they wait for.

        From any thread, or from a signal's handler. What is answered is still yielded, then
        `Unreachable` is raised. Later calls work as ever.
        """
        for share in tuple(self._shares):
            share.abandon()

    def close(self) -> None:
        """Let the servers go; what they are at work on is given a moment to end."""
        until = time.monotonic() + _FAREWELL_S
        for thread in self.threads:
            thread.join(max(0.0, until - time.monotonic()))
        for line in self.lines:
            line.server.close()


class _Share(Generic[T]):
    """One call of `Pool.run`."""

    def __init__(self, pool: Pool, name: str, jobs: Mapping[int, Job[T]]) -> None:
        self._pool = pool
        self._name = name
        self._lines = pool.lines
        # Protects everything below, and the lines: threads of all servers read and write it.
        self._change = threading.Condition()
        self._todo = [_Task(key, job) for key, job in jobs.items()]
        self._todo.reverse()  # taken from the end, in order
        self._running = 0
        self._over = False
        self._exhausted: list[tuple[_Task[T], Faltered]] = []
        self._declined: list[str] = []
        self._outcomes: SimpleQueue[_Answered[T] | Exception | None] = SimpleQueue()
        self._threads = 0

    def start(self) -> list[threading.Thread]:
        """Begin, with no more threads than there are jobs for; they end by themselves."""
        started = [
            threading.Thread(
                target=self._serve, args=(place,), name=f"endpoint-{place}", daemon=True
            )
            for place, line in enumerate(self._lines)
            for _ in range(min(line.concurrency, len(self._todo)))
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
            else:
                yield outcome.key, outcome.response

    def stop(self) -> None:
        """Start nothing more."""
        with self._change:
            self._over = True
            self._change.notify_all()

    def abandon(self) -> None:
        """Start nothing more, and have `results` end with an error."""
        # First, or threads that stop might look like work that is done.
        self._outcomes.put(self._out_of_reach(sentence("error.endpoint-stopped")))
        self.stop()

    def conclude(self) -> None:
        """Raise what became of the jobs that have no result."""
        answered = sum(line.answered for line in self._lines)
        poisoned = [
            error.reason
            for task, error in self._exhausted
            # Others were answered meanwhile, so it is the request that the server cannot bear.
            if error.blame == "answer"
            or (error.blame == "either" and answered > task.answered_then)
        ]
        if self._todo or len(poisoned) < len(self._exhausted):
            raise self._unreachable()
        if declined := [*self._declined, *poisoned]:
            raise Refused(
                "endpoint-refused",
                model=self._name,
                n=len(declined),
                reason=declined[0],
            )

    def _unreachable(self) -> Unreachable:
        now = time.monotonic()
        reasons = [error.reason for _, error in self._exhausted]
        reasons += [line.breaker.reason for line in self._lines if line.breaker.reason]
        reasons.append(sentence("error.endpoint-no-server"))
        error = self._out_of_reach(reasons[0])
        # Infinite while the trial of an earlier call is on its way: nobody knows how long.
        waits = [wait for wait in (line.wait(now) for line in self._lines) if math.isfinite(wait)]
        error.retry_after_s = min(waits, default=0.0)
        return error

    def _out_of_reach(self, reason: str) -> Unreachable:
        return Unreachable(
            "endpoint-unreachable-now",
            model=self._name,
            reason=reason,
        )

    def _serve(self, place: int) -> None:
        """What each thread of a server does: take a job, do it, until there is none left."""
        line = self._lines[place]
        while (taken := self._take(place)) is not None:
            task, trial = taken
            try:
                response = task.job(self._post(line))
            except Faltered as error:
                self._failed(task, place, error, trial=trial)
            except Declined as error:
                self._settled(line)
                self._declined.append(error.reason)
            except Exception as error:  # noqa: BLE001 (raised again where the results are read)
                self._settled(line)
                self._outcomes.put(error)
            else:
                # Told first: whoever counts the answers must not miss one.
                self._outcomes.put(_Answered(task.key, response))
                self._settled(line)
        self._outcomes.put(None)

    def _post(self, line: Line) -> Post:
        """The server's `post` for one job, whose first request has had its turn already."""
        if not line.interval_s:
            return line.server.post
        sent = itertools.count()

        def post(path: str, body: Json) -> Json:
            if next(sent):
                self._queue_up(line)
            return line.server.post(path, body)

        return post

    def _queue_up(self, line: Line) -> None:
        """Wait until one more request may be sent."""
        with self._change:
            turn = max(line.free_at, time.monotonic())
            line.free_at = turn + line.interval_s
            while not self._over and (pause := turn - time.monotonic()) > 0:
                self._change.wait(pause)
            if self._over:  # the server is well: it has answered this job's last request
                reason = sentence("error.endpoint-stopped")
                raise Faltered(reason, blame="answer")

    def _take(self, place: int) -> tuple[_Task[T], bool] | None:
        """The next job for a server, and whether it is a trial; None if there will be none."""
        line = self._lines[place]
        with self._change:
            while not self._is_over():
                now = time.monotonic()
                pause = line.wait(now)
                task = self._next(place, now) if pause <= 0 else None
                if task is not None:
                    if not task.attempts:
                        task.answered_then = sum(each.answered for each in self._lines)
                    line.free_at = max(line.free_at, now) + line.interval_s
                    self._running += 1
                    return task, line.breaker.sent()
                self._change.wait(self._nap(pause, now))
            self._change.notify_all()
            return None

    def _next(self, place: int, now: float) -> _Task[T] | None:
        """Take the first job that may be sent to this server now."""
        for at in range(len(self._todo) - 1, -1, -1):
            task = self._todo[at]
            if task.not_before <= now and not self._better_elsewhere(task, place, now):
                return self._todo.pop(at)
        return None

    def _better_elsewhere(self, task: _Task[T], place: int, now: float) -> bool:
        """Whether this server has failed the job and another, that may be asked, has not."""
        return place in task.avoid and any(
            other not in task.avoid and line.breaker.wait(now) <= 0
            for other, line in enumerate(self._lines)
        )

    def _nap(self, pause: float, now: float) -> float:
        """Seconds after which to look again, if nothing happens before."""
        due = min((task.not_before - now for task in self._todo), default=1.0)
        return min(1.0, max(pause, due, 0.001))

    def _is_over(self) -> bool:
        if self._over or not (self._todo or self._running):
            return True
        if self._running:
            return False
        now = time.monotonic()
        # Nothing is on its way and no server may be asked soon: whoever called can wait better.
        return all(line.breaker.wait(now) > self._bearable(line) for line in self._lines)

    def _bearable(self, line: Line) -> float:
        return 0.0 if line.breaker.is_open else self._pool.patience.longest_pause

    def _settled(self, line: Line) -> None:
        with self._change:
            line.answered += 1
            line.breaker.succeeded()
            self._running -= 1
            self._change.notify_all()

    def _failed(self, task: _Task[T], place: int, error: Faltered, *, trial: bool) -> None:
        line = self._lines[place]
        with self._change:
            now = time.monotonic()
            self._noted(line.breaker, error, now, trial=trial)
            task.avoid.add(place)
            task.attempts += not trial or error.blame == "answer"
            if task.attempts > self._pool.retries:
                self._exhausted.append((task, error))
            else:
                task.not_before = now + self._pause(task, place, error)
                self._todo.append(task)
            self._running -= 1
            self._change.notify_all()

    def _noted(self, breaker: Breaker, error: Faltered, now: float, *, trial: bool) -> None:
        wait = error.retry_after_s
        if error.blame == "answer":
            breaker.succeeded()
        elif error.status == TOO_MANY and wait and not trial:
            breaker.asked_to_wait(now, error.reason, seconds=wait)
        else:
            breaker.failed(now, error.reason, trial=trial, retry_after_s=wait)

    def _pause(self, task: _Task[T], place: int, error: Faltered) -> float:
        """Seconds before the next attempt: none if another server can have the job at once.

        Full jitter, so that requests that failed together do not come back together.
        """
        if self._better_elsewhere(task, place, time.monotonic()):
            return 0.0
        patience = self._pool.patience
        ceiling = min(patience.longest_pause, patience.first_pause * 2.0 ** min(task.attempts, 16))
        return max(random.uniform(0, ceiling), min(error.retry_after_s, patience.longest_pause))
