"""Which queued run comes next: turns go round between people, and limits make runs wait.

What administrators decide of the queue while the server runs holds until it is changed.
"""

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Literal

from evalui.errors import UnknownRun
from evalui.messages import sentence
from evalui.runs.fair_queue.limits import UserLimits, read_limits, spent_today
from evalui.store.connection import Database
from evalui.store.queue import bump_revision
from evalui.store.runs import read_workers

QueueState = Literal["open", "paused", "draining"]
_STATE = "queue"  # the name of a decision
PRIORITY_PREFIX = "priority:"  # before the name of a person
MAX_BESIDE = 8  # runs that only ask endpoints, in one worker at a time
MAX_BESIDE_OF_OWNER = 4  # of them, so that nobody waits until all of another's have ended

# Whether a model of the run has still to compute where its worker is.
COMPUTES_HERE_SQL = (
    "EXISTS (SELECT 1 FROM cell c WHERE c.run = r.id AND c.computes_here"
    " AND c.state IN ('waiting', 'running'))"
)
_WAITING_SQL = f"""
    SELECT r.id, r.owner, r.priority + coalesce(CAST(d.value AS INTEGER), 0) AS priority,
        r.started IS NOT NULL AND r.started >= r.queued AS begun,
        coalesce(t.taken, 0.0) AS taken, r.queued, r.rowid AS number,
        {COMPUTES_HERE_SQL} AS computes_here, r.losses
    FROM run r LEFT JOIN turn t ON t.owner = r.owner
    LEFT JOIN decision d ON d.name = :prefix || r.owner
    WHERE r.state = 'queued'
"""  # noqa: S608 (a constant)


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A queued run. `priority` is its own and its owner's together, `taken` its owner's last turn.

    `begun`: a worker had it and gave it back, so its turn is not over. Times are seconds since
    1970, 0 for an owner who had no turn yet. `computes_here`: one of its models does, and it needs
    the processor of a worker. `losses` counts workers that died at it without progress.
    """

    id: str
    owner: str
    priority: int
    begun: bool
    taken: float
    queued: float
    number: int
    computes_here: bool = True
    losses: int = 0

    def order(self, taken: float) -> tuple[float, ...]:
        """What sorts it among the others, when its owner's last turn was at `taken`."""
        return (-self.priority, not self.begun, taken, self.queued, self.number)


@dataclass(frozen=True, slots=True)
class QueueDecisions:
    """Whether runs are taken, and how much sooner those of a person are; 0 is usual.

    "paused": nothing new is taken, what runs goes on to its end. "draining": what runs ends its
    cell in hand, then waits again.
    """

    state: QueueState = "open"
    priorities: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a run stands in the queue of all owners; `place` counts turns from 1.

    `held` states why it waits although its turn may come, "" if it only waits for its turn. A run
    that no turn will reach before its owner may spend more has no place.
    """

    place: int | None = None
    held: str = ""


@dataclass(frozen=True, slots=True)
class QueueAhead:
    """How many runs a new one would wait for; `held` as of a `QueuePlace`."""

    runs: int
    held: str = ""


def queue_places(database: Database, usual: UserLimits) -> dict[str, QueuePlace]:
    """Every queued run's place, by its id."""
    with database.reading() as connection:
        return _places(connection, waiting_runs(connection), usual)


def queue_ahead(
    database: Database, owner: str, usual: UserLimits, *, computes_here: bool = True
) -> QueueAhead:
    """What a run would wait for that this owner would queue now; see `WaitingRun`.

    Runs that compute here and those that do not pass each other.
    """
    workers = max(1, len(read_workers(database)))
    with database.reading() as connection:
        new = _new_run(connection, owner, computes_here=computes_here)
        waiting = waiting_runs(connection)
        places = _places(connection, [*waiting, new], usual)
        (running,) = connection.execute(
            f"SELECT count(*) FROM run r WHERE r.state = 'running' AND {COMPUTES_HERE_SQL} = ?",  # noqa: S608 (a constant)
            (computes_here,),
        ).fetchone()
    place = places[new.id]
    before = sum(
        run.computes_here == computes_here
        and (place.place is None or (places[run.id].place or math.inf) < place.place)
        for run in waiting
    )
    room = workers if computes_here else MAX_BESIDE * workers
    return QueueAhead(before + (running if running >= room else 0), place.held)


def queue_order(place: QueuePlace | None) -> tuple[bool, float]:
    """Sorts what runs, which has no place, before what will start, and what is held last."""
    return place is not None, (place.place if place else None) or math.inf


def turn_order(waiting: Iterable[WaitingRun]) -> list[str]:
    """The ids of queued runs in the order of their turns."""
    queues: dict[str, deque[WaitingRun]] = {}
    for run in sorted(waiting, key=lambda run: run.order(0.0)):
        queues.setdefault(run.owner, deque()).append(run)
    taken = {owner: runs[0].taken for owner, runs in queues.items()}
    order: list[str] = []
    while queues:
        run = min(
            (runs[0] for runs in queues.values()), key=lambda run: run.order(taken[run.owner])
        )
        order.append(run.id)
        taken[run.owner] = max(taken.values()) + 1.0
        queues[run.owner].popleft()
        if not queues[run.owner]:
            del queues[run.owner]
    return order


def waiting_runs(connection: Connection) -> list[WaitingRun]:
    """The queued runs of all owners, in no order."""
    rows = connection.execute(_WAITING_SQL, {"prefix": PRIORITY_PREFIX})
    return [WaitingRun(**{name: row[name] for name in WaitingRun.__slots__}) for row in rows]


def take_turn(
    connection: Connection,
    usual: UserLimits,
    now: float,
    *,
    may_start: Callable[[WaitingRun], bool] = lambda _: True,
    on_taken: Callable[[WaitingRun], None] = lambda _: None,
) -> str:
    """Inside a transaction: the id of the run whose turn it is, "" if none may be taken.

    A run that may not start now lets the next ones go first, and keeps its turn; but one that lost
    its worker and has to work alone lets none, or it might wait for ever. The turn of its owner is
    noted, and `on_taken` called with the run. `now` is in seconds since 1970.
    """
    if queue_state(connection) != "open":
        return ""
    held: dict[str, bool] = {}
    for run in sorted(waiting_runs(connection), key=lambda run: run.order(run.taken)):
        if run.owner not in held:
            held[run.owner] = bool(hold_reason(connection, run.owner, usual, now))
        if held[run.owner]:
            continue
        if may_start(run):
            # Later than every other turn, also when the clock of the machine was set back.
            connection.execute(
                "INSERT OR REPLACE INTO turn"
                " SELECT ?, max(?, coalesce(max(taken), 0.0) + 1e-3) FROM turn",
                (run.owner, now),
            )
            on_taken(run)
            return run.id
        if run.losses:
            return ""
    return ""


def hold_reason(connection: Connection, owner: str, usual: UserLimits, now: float) -> str:
    """Why no further run of an owner may begin now, in a sentence; "" if one may."""
    limits = read_limits(connection, owner, usual)
    if limits == UserLimits():
        return ""
    if spent_up := spent_reason(connection, owner, limits, now):
        return spent_up
    if limits.running is None:
        return ""
    (running,) = connection.execute(
        "SELECT count(*) FROM run WHERE state = 'running' AND owner = ?", (owner,)
    ).fetchone()
    return sentence("held.running", n=limits.running) if running >= limits.running else ""


def spent_reason(connection: Connection, owner: str, limits: UserLimits, now: float) -> str:
    """That an owner's ceiling of the day is reached, in a sentence; "" if it is not."""
    unit = spent_today(connection, owner, now).used_up(limits)
    return sentence(f"held.{unit}") if unit else ""


def read_decisions(database: Database) -> QueueDecisions:
    """What holds now."""
    rows = database.rows("SELECT name, value FROM decision")
    values = {row["name"]: json.loads(row["value"]) for row in rows}
    return QueueDecisions(
        values.get(_STATE, "open"),
        {
            name.removeprefix(PRIORITY_PREFIX): value
            for name, value in values.items()
            if name.startswith(PRIORITY_PREFIX)
        },
    )


def queue_state(connection: Connection) -> QueueState:
    """Whether runs are taken."""
    row = connection.execute("SELECT value FROM decision WHERE name = ?", (_STATE,)).fetchone()
    return json.loads(row["value"]) if row else "open"


def set_queue_state(database: Database, state: QueueState) -> None:
    """Take runs ("open"), or take none, see `QueueDecisions`."""
    _decide(database, _STATE, state)


def set_person_priority(database: Database, person: str, priority: int) -> None:
    """Take all runs of a person before those with a lower priority; it adds to a run's own."""
    _decide(database, PRIORITY_PREFIX + person, priority)


def set_run_priority(database: Database, run_id: str, priority: int) -> None:
    """Take a run before those with a lower priority; raises `UnknownRun` if there is none."""
    with database.writing() as connection:
        changed = connection.execute("UPDATE run SET priority = ? WHERE id = ?", (priority, run_id))
        if not changed.rowcount:
            raise UnknownRun("no-run", run=run_id)
        bump_revision(connection, run_id)


def _places(
    connection: Connection, waiting: Iterable[WaitingRun], usual: UserLimits
) -> dict[str, QueuePlace]:
    now, state, waiting = time.time(), queue_state(connection), list(waiting)
    owners = dict.fromkeys(run.owner for run in waiting)
    held = {owner: hold_reason(connection, owner, usual, now) for owner in owners}
    spent = {
        owner
        for owner in owners
        if spent_reason(connection, owner, read_limits(connection, owner, usual), now)
    }
    if state != "open":
        held = dict.fromkeys(owners, sentence(f"held.{state}"))
    order = turn_order(run for run in waiting if run.owner not in spent)
    places = {run_id: place for place, run_id in enumerate(order, start=1)}
    return {run.id: QueuePlace(places.get(run.id), held[run.owner]) for run in waiting}


def _new_run(connection: Connection, owner: str, *, computes_here: bool) -> WaitingRun:
    """A run that is not queued yet."""
    row = connection.execute(
        "SELECT (SELECT taken FROM turn WHERE owner = ?) AS taken,"
        " (SELECT CAST(value AS INTEGER) FROM decision WHERE name = ?) AS priority",
        (owner, PRIORITY_PREFIX + owner),
    ).fetchone()
    return WaitingRun(
        "",
        owner,
        row["priority"] or 0,
        begun=False,
        taken=row["taken"] or 0.0,
        queued=math.inf,
        number=0,
        computes_here=computes_here,
    )


def _decide(database: Database, name: str, value: str | int) -> None:
    with database.writing() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO decision VALUES (?, ?)", (name, json.dumps(value))
        )
        connection.execute("UPDATE clock SET revision = revision + 1")
