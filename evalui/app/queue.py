"""The queue of a shared server, for administrators; each change stands in the audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.accounts.audit import record
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
from evalui.store import queue
from evalui.store.records import RunRow
from evalui.store.runs import read_run

PRIORITIES = (-1, 0, 1, 2)
_STATES: Mapping[str, QueueState] = {"open": "open", "paused": "paused", "draining": "draining"}


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that waits or is at work; a higher priority is taken earlier, 0 is usual."""

    row: RunRow
    priority: int


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
