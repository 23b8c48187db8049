"""The place of each queued run, and when it will probably start: the turns are played through."""

import heapq
import math
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from evalui.messages import sentence
from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_workers
from evalui.runs.database.throughput import remaining_seconds_of
from evalui.runs.fair_queue.decisions import PRIORITY_PREFIX, queue_state
from evalui.runs.fair_queue.limits import UserLimits, read_limits
from evalui.runs.fair_queue.turns import WaitingRun, hold_reason, spent_reason, waiting_runs

_NEW = ""  # stands for a run that is not queued yet


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a run stands in the queue of all owners; `place` counts from 1.

    `starts_in_s` is None where it cannot be estimated: a run before it was never timed, or nothing
    is taken now. `held` states why it waits although its turn may come, "" if it only waits for
    its turn. A run that no turn will reach before its owner may spend more has no place.
    """

    place: int | None
    starts_in_s: float | None
    held: str = ""


@dataclass(frozen=True, slots=True)
class QueueAhead:
    """How many runs a new one would wait for, and the seconds until it starts, None if unknown.

    `held` states why it would wait even then, see `QueuePlace`.
    """

    runs: int
    seconds: float | None
    held: str = ""


@dataclass(frozen=True, slots=True)
class QueuedWork:
    """What is queued and running, as turns need it.

    `running` holds the owner and the remaining seconds of each run at work; `seconds` those of
    each queued run, by id: None if unknown. `most_running` is what an owner may have at work at a
    time, where that is limited; the runs of a `held` owner are not taken.
    """

    waiting: Sequence[WaitingRun]
    running: Sequence[tuple[str, float | None]]
    workers: int
    seconds: Mapping[str, float | None]
    most_running: Mapping[str, int] = field(default_factory=dict[str, int])
    held: frozenset[str] = frozenset()


def queue_order(place: QueuePlace | None) -> tuple[bool, float]:
    """Sorts what runs, which has no place, before what will start, and what is held last."""
    return place is not None, (place.place if place else None) or math.inf


def starts(work: QueuedWork) -> list[tuple[str, float]]:
    """The queued runs in the order in which they will start, and in how many seconds each.

    The seconds are infinite for a run that waits for one of unknown length.
    """
    by_owner: dict[str, deque[WaitingRun]] = {}
    for run in sorted(work.waiting, key=lambda run: run.order(0.0)):
        if run.owner not in work.held:
            by_owner.setdefault(run.owner, deque()).append(run)
    taken = {run.owner: run.taken for run in work.waiting}
    latest = max(taken.values(), default=0.0)
    at_work = Counter(owner for owner, _ in work.running)
    ends = [(_or_infinite(seconds), owner) for owner, seconds in work.running]
    heapq.heapify(ends)
    idle, now = work.workers - len(ends), 0.0
    order: list[tuple[str, float]] = []
    while True:
        while idle > 0 and (owner := _next_owner(by_owner, taken, at_work, work.most_running)):
            run = by_owner[owner].popleft()
            order.append((run.id, now))
            heapq.heappush(ends, (now + _or_infinite(work.seconds.get(run.id)), owner))
            latest += 1.0
            taken[owner] = latest
            at_work[owner] += 1
            idle -= 1
        if not ends:
            return order
        now, ended = heapq.heappop(ends)
        at_work[ended] -= 1
        idle += 1


def queue_places(database: Database, usual: UserLimits) -> dict[str, QueuePlace]:
    """Every queued run's place, by its id."""
    with database.reading() as connection:
        return _places(database, connection, usual, None)[0]


def queue_ahead(database: Database, owner: str, usual: UserLimits) -> QueueAhead:
    """What a run would wait for that this owner would queue now."""
    with database.reading() as connection:
        places, work = _places(database, connection, usual, _new_run(connection, owner))
    place = places[_NEW]
    full = len(work.running) if len(work.running) >= work.workers else 0
    before = len(work.waiting) if place.place is None else place.place
    return QueueAhead(before - 1 + full, place.starts_in_s, place.held)


def _places(
    database: Database, connection: Connection, usual: UserLimits, new: WaitingRun | None
) -> tuple[dict[str, QueuePlace], QueuedWork]:
    now, state = time.time(), queue_state(connection)
    waiting = [*waiting_runs(connection), *([new] if new else [])]
    running = connection.execute("SELECT id, owner FROM run WHERE state = 'running'").fetchall()
    seconds = remaining_seconds_of(
        database, [run.id for run in waiting if run.id] + [row["id"] for row in running]
    )
    owners = {
        name: read_limits(connection, name, usual)
        for name in dict.fromkeys(run.owner for run in waiting)
    }
    held = {name: hold_reason(connection, name, usual, now) for name in owners}
    if state != "open":
        held = dict.fromkeys(held, sentence(f"held.{state}"))
    work = QueuedWork(
        waiting,
        [(row["owner"], seconds[row["id"]]) for row in running],
        max(1, len(read_workers(database))),
        seconds,
        {name: each.running for name, each in owners.items() if each.running is not None},
        frozenset(
            name for name, each in owners.items() if spent_reason(connection, name, each, now)
        ),
    )
    order = {run_id: (place, at) for place, (run_id, at) in enumerate(starts(work), start=1)}
    places: dict[str, QueuePlace] = {}
    for run in waiting:
        place, at = order.get(run.id, (None, math.inf))
        known = state == "open" and math.isfinite(at)
        places[run.id] = QueuePlace(place, at if known else None, held[run.owner])
    return places, work


def _new_run(connection: Connection, owner: str) -> WaitingRun:
    row = connection.execute(
        "SELECT (SELECT taken FROM turn WHERE owner = ?) AS taken,"
        " (SELECT CAST(value AS INTEGER) FROM decision WHERE name = ?) AS priority",
        (owner, PRIORITY_PREFIX + owner),
    ).fetchone()
    return WaitingRun(_NEW, owner, row["priority"] or 0, False, row["taken"] or 0.0, math.inf, 0)


def _next_owner(
    by_owner: Mapping[str, deque[WaitingRun]],
    taken: Mapping[str, float],
    at_work: Mapping[str, int],
    most_running: Mapping[str, int],
) -> str:
    """Whose turn it is, "" if none of those who wait may have one more at work."""
    ready = (
        owner
        for owner, runs in by_owner.items()
        if runs and at_work.get(owner, 0) < most_running.get(owner, math.inf)
    )
    return min(ready, key=lambda owner: by_owner[owner][0].order(taken[owner]), default="")


def _or_infinite(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds
