"""The place of each queued run, and when it will probably start: the turns are played through."""

import heapq
import math
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection

from evalui.messages import sentence
from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_workers
from evalui.runs.database.throughput import remaining_seconds_of
from evalui.runs.fair_queue.decisions import PRIORITY_PREFIX, queue_state
from evalui.runs.fair_queue.limits import UserLimits, read_limits
from evalui.runs.fair_queue.turns import (
    COMPUTES_HERE_SQL,
    MAX_BESIDE,
    MAX_BESIDE_OF_OWNER,
    WaitingRun,
    hold_reason,
    spent_reason,
    waiting_runs,
)

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
class RunningWork:
    """A run at work: its owner, its remaining seconds (None if unknown), and whether one of its
    models has still to compute where its worker is.
    """

    owner: str
    seconds: float | None
    computes_here: bool = True


@dataclass(frozen=True, slots=True)
class QueuedWork:
    """What is queued and running, as turns need it.

    `seconds` are those that each queued run takes, by id: None if unknown. `most_running` is what
    an owner may have at work at a time, where that is limited; the runs of a `held` owner are not
    taken.
    """

    waiting: Sequence[WaitingRun]
    running: Sequence[RunningWork]
    workers: int
    seconds: Mapping[str, float | None]
    most_running: Mapping[str, int] = field(default_factory=dict[str, int])
    held: frozenset[str] = frozenset()


def queue_order(place: QueuePlace | None) -> tuple[bool, float]:
    """Sorts what runs, which has no place, before what will start, and what is held last."""
    return place is not None, (place.place if place else None) or math.inf


def starts(work: QueuedWork) -> list[tuple[str, float]]:
    """The queued runs in the order in which they will start, and in how many seconds each.

    The seconds are infinite for a run that waits for one of unknown length. Of the runs of a
    worker one computes there, and so many beside it ask endpoints; see `Worker`.
    """
    room = _Room(work)
    waiting = [run for run in work.waiting if run.owner not in work.held]
    taken = {run.owner: run.taken for run in waiting}
    latest = max(taken.values(), default=0.0)
    queues: dict[tuple[str, bool], deque[WaitingRun]] = {}
    for run in sorted(waiting, key=lambda run: run.order(0.0)):
        queues.setdefault((run.owner, run.computes_here), deque()).append(run)
    order: list[tuple[str, float]] = []
    while True:
        while run := min(
            room.able(queues), key=lambda run: run.order(taken[run.owner]), default=None
        ):
            queues[run.owner, run.computes_here].popleft()
            order.append((run.id, room.now))
            room.begin(RunningWork(run.owner, work.seconds.get(run.id), run.computes_here))
            latest += 1.0
            taken[run.owner] = latest
        if not room.end_next():
            return order


class _Room:
    """What may begin at a time, while the runs that were at work end one after the other."""

    def __init__(self, work: QueuedWork) -> None:
        self.now = 0.0
        self._workers = work.workers
        self._most_running = work.most_running
        self._ends: list[tuple[float, str, bool]] = []  # a heap: when, whose, and where
        self._at_work: Counter[str] = Counter()
        self._here = 0
        self._beside: Counter[str] = Counter()
        for run in work.running:
            self.begin(run)

    def able(self, queues: Mapping[tuple[str, bool], deque[WaitingRun]]) -> Iterator[WaitingRun]:
        """The next run of each owner, here and beside, that may begin now."""
        for (owner, computes_here), runs in queues.items():
            if runs and self._may_begin(owner, computes_here=computes_here):
                yield runs[0]

    def _may_begin(self, owner: str, *, computes_here: bool) -> bool:
        if self._at_work[owner] >= self._most_running.get(owner, math.inf):
            return False
        if computes_here:
            return self._here < self._workers
        return (
            self._beside.total() < MAX_BESIDE * self._workers
            and self._beside[owner] < MAX_BESIDE_OF_OWNER * self._workers
        )

    def begin(self, run: RunningWork) -> None:
        """Have a run at work from now on."""
        heapq.heappush(
            self._ends, (self.now + _or_infinite(run.seconds), run.owner, run.computes_here)
        )
        self._count(run.owner, 1, computes_here=run.computes_here)

    def end_next(self) -> bool:
        """Go on to when the next run ends; False if none is at work."""
        if not self._ends:
            return False
        self.now, owner, computes_here = heapq.heappop(self._ends)
        self._count(owner, -1, computes_here=computes_here)
        return True

    def _count(self, owner: str, change: int, *, computes_here: bool) -> None:
        self._at_work[owner] += change
        if computes_here:
            self._here += change
        else:
            self._beside[owner] += change


def queue_places(database: Database, usual: UserLimits) -> dict[str, QueuePlace]:
    """Every queued run's place, by its id."""
    with database.reading() as connection:
        return _places(database, connection, usual, None)[0]


def queue_ahead(
    database: Database, owner: str, usual: UserLimits, *, computes_here: bool = True
) -> QueueAhead:
    """What a run would wait for that this owner would queue now; see `WaitingRun`.

    Runs that compute here and those that do not pass each other.
    """
    with database.reading() as connection:
        new = _new_run(connection, owner, computes_here=computes_here)
        places, work = _places(database, connection, usual, new)
    place = places[_NEW]
    running = sum(run.computes_here == computes_here for run in work.running)
    room = work.workers if computes_here else MAX_BESIDE * work.workers
    before = sum(
        run.computes_here == computes_here
        and run.id != _NEW
        and (place.place is None or (places[run.id].place or math.inf) < place.place)
        for run in work.waiting
    )
    return QueueAhead(before + (running if running >= room else 0), place.starts_in_s, place.held)


def _places(
    database: Database, connection: Connection, usual: UserLimits, new: WaitingRun | None
) -> tuple[dict[str, QueuePlace], QueuedWork]:
    now, state = time.time(), queue_state(connection)
    waiting = [*waiting_runs(connection), *([new] if new else [])]
    running = connection.execute(
        f"SELECT r.id, r.owner, {COMPUTES_HERE_SQL} AS computes_here"  # noqa: S608 (a constant)
        " FROM run r WHERE r.state = 'running'"
    ).fetchall()
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
        [
            RunningWork(row["owner"], seconds[row["id"]], bool(row["computes_here"]))
            for row in running
        ],
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


def _new_run(connection: Connection, owner: str, *, computes_here: bool) -> WaitingRun:
    row = connection.execute(
        "SELECT (SELECT taken FROM turn WHERE owner = ?) AS taken,"
        " (SELECT CAST(value AS INTEGER) FROM decision WHERE name = ?) AS priority",
        (owner, PRIORITY_PREFIX + owner),
    ).fetchone()
    return WaitingRun(
        _NEW,
        owner,
        row["priority"] or 0,
        begun=False,
        taken=row["taken"] or 0.0,
        queued=math.inf,
        number=0,
        computes_here=computes_here,
    )


def _or_infinite(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds
