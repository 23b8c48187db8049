"""What only administrators see of a shared server, and decide of its queue.

Each change stands in the audit log.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalui.accounts.audit import record
from evalui.accounts.shares import Share, list_shares
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.runs.fair_queue.limits import usual_limits
from evalui.runs.fair_queue.turns import (
    QueueDecisions,
    QueuePlace,
    QueueState,
    queue_order,
    queue_places,
    read_decisions,
    set_queue_state,
    set_run_priority,
)
from evalui.runs.upkeep.monitor import DiskUse, disk_use
from evalui.store import queue
from evalui.store.codec import decode_sentence
from evalui.store.runs import RunRow, read_run

PRIORITIES = (-1, 0, 1, 2)
_STATES: Mapping[str, QueueState] = {"open": "open", "paused": "paused", "draining": "draining"}
_MOST = 20  # failures, and runs by size


@dataclass(frozen=True, slots=True)
class Failure:
    """A run or a cell of one that failed, `model` is "" of a whole run; `at` since 1970."""

    run: str
    run_name: str
    owner: str
    model: str
    error: str
    at: float


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that waits or is at work; a higher priority is taken earlier, 0 is usual."""

    row: RunRow
    priority: int


@requires("administer")
def read_disk(service: AppService) -> DiskUse:
    """How full the disk is on which everything is kept."""
    return disk_use(service.settings.data_dir)


@requires("administer")
def list_failures(service: AppService) -> list[Failure]:
    """The newest failed runs and cells."""
    rows = service.database.rows(
        """
        SELECT id, name, owner, '' AS model, error, finished AS at FROM run WHERE state = 'failed'
        UNION ALL
        SELECT r.id, r.name, r.owner, c.model, c.error, c.finished FROM cell c
        JOIN run r ON r.id = c.run WHERE c.state = 'failed'
        ORDER BY at DESC LIMIT ?
        """,
        (_MOST,),
    )
    return [
        Failure(*row[:4], error=decode_sentence(row["error"]), at=row["at"] or 0.0) for row in rows
    ]


@requires("administer")
def count_sessions(service: AppService) -> tuple[int, int]:
    """How many browsers are signed in now, and of how many people."""
    row = service.database.row(
        "SELECT count(*) AS n, count(DISTINCT person) AS people FROM session"
        " WHERE expires > :now AND seen + idle > :now",
        {"now": time.time()},
    )
    return (row["n"], row["people"]) if row else (0, 0)


@requires("administer")
def read_upload_bytes(service: AppService) -> Mapping[str, int]:
    """Bytes of uploads by owner."""
    rows = service.database.rows("SELECT owner, sum(bytes) AS n FROM upload GROUP BY owner")
    return {row["owner"]: row["n"] for row in rows}


@requires("administer")
def list_largest_runs(service: AppService) -> list[tuple[str, str, str, int]]:
    """Id, name, owner and bytes of the runs with the most bytes of answers."""
    rows = service.database.rows(
        "SELECT r.id, r.name, r.owner, sum(c.bytes) AS n FROM run r JOIN cell c ON c.run = r.id"
        " GROUP BY r.id HAVING n > 0 ORDER BY n DESC LIMIT ?",
        (_MOST,),
    )
    return [(row["id"], row["name"], row["owner"], row["n"]) for row in rows]


@requires("administer")
def list_share_links(service: AppService) -> Sequence[Share]:
    """The links to frozen pages of everybody, those that have ended too."""
    return list_shares(service.database)


@requires("administer")
def list_settings(service: AppService) -> Sequence[tuple[str, str]]:
    """The settings in force by the name of their variable, without paths of the machine."""
    values = {name: getattr(service.settings, name) for name in type(service.settings).model_fields}
    return [
        (f"EVALUI_{name.upper()}", str(value))
        for name, value in values.items()
        if not isinstance(value, Path)
    ]


def read_priority(text: str) -> int:
    """The priority of a word; raises `SpecError` if it is none of `PRIORITIES`."""
    if text not in map(str, PRIORITIES):
        raise SpecError("no-action")
    return int(text)


def read_queue_state(text: str) -> QueueState:
    """The state of a word; raises `SpecError` if there is none of it."""
    state = _STATES.get(text)
    if state is None:
        raise SpecError("no-action")
    return state


@requires("administer")
def list_live_runs(service: AppService) -> list[LiveRun]:
    """The runs of all that are at work, then those that wait, the oldest first."""
    rows = service.database.rows(
        "SELECT id, priority FROM run WHERE state IN ('queued', 'running')"
        " ORDER BY state DESC, queued, rowid"
    )
    return [LiveRun(read_run(service.database, row["id"]), row["priority"]) for row in rows]


@requires("administer")
def list_queue(service: AppService) -> Sequence[tuple[LiveRun, QueuePlace | None]]:
    """The same runs in the order in which they will start, each with its place if it waits."""
    places = queue_places(service.database, usual_limits(service.settings))
    live = sorted(list_live_runs(service), key=lambda each: queue_order(places.get(each.row.id)))
    return [(each, places.get(each.row.id)) for each in live]


@requires("administer")
def read_queue_decisions(service: AppService) -> QueueDecisions:
    """What administrators decided."""
    return read_decisions(service.database)


@requires("administer")
def stop_run_of_all(service: AppService, run_id: str) -> None:
    """Stop a run of whomever; raises `UnknownRun`."""
    run = service.run(run_id)
    queue.cancel(service.database, run.id)
    record(service.database, service.person, "stop-run", f"run {run.id}", owner=run.owner)


@requires("administer")
def set_priority(service: AppService, run_id: str, priority: int) -> None:
    """Have a run taken earlier, or later; 0 is usual. Raises `UnknownRun`."""
    run = service.run(run_id)
    set_run_priority(service.database, run.id, priority)
    thing = f"run {run.id}"
    record(
        service.database, service.person, "set-priority", thing, owner=run.owner, priority=priority
    )


@requires("administer")
def decide_queue(service: AppService, state: QueueState) -> None:
    """Open the queue, pause it, or let only what waits be done."""
    set_queue_state(service.database, state)
    record(service.database, service.person, "set-queue", "queue", state=state)
