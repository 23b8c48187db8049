"""The runs that a person sees: the queue with its places, those that have ended, notices of it.

A notice stands above every page until it is seen or closed; a trigger of the store writes it in the
transaction that ends the run.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evalui.app.permissions import checks, requires
from evalui.app.run_progress import known_catalog
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.runs.fair_queue.limits import usual_limits
from evalui.runs.fair_queue.turns import QueuePlace, queue_order, queue_places
from evalui.runs.spec import read_spec
from evalui.store.runs import ENDED_STATES, LIVE_STATES, CellRow, RunRow, read_cells_of
from evalui.store.usage import TokenCost, model_waits, remaining_seconds_of, run_costs


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run that waits or is at work.

    `place` is None once it is taken, `seconds_left` where that is not known. `is_waiting`: one of
    its models does not answer now.
    """

    row: RunRow
    place: QueuePlace | None
    seconds_left: float | None
    is_waiting: bool


@dataclass(frozen=True, slots=True)
class EndedRuns:
    """The newest of the ended runs that were looked for; `matching` are how many there are.

    `cells` and `charges` are by the id of a run; one without counted tokens has no charge.
    """

    rows: Sequence[RunRow]
    matching: int
    cells: Mapping[str, Sequence[CellRow]]
    charges: Mapping[str, TokenCost]
    baselines: frozenset[str]


@dataclass(frozen=True, slots=True)
class Notice:
    """That a run is "done" or has "failed"."""

    id: int
    run: str
    name: str
    state: str


@requires("see")
def order_queue(service: AppService, rows: Sequence[RunRow]) -> list[QueuedRun]:
    """Those of the runs that wait or are at work, the next one first."""
    live = [row for row in reversed(rows) if row.state in LIVE_STATES]
    if not live:
        return []
    places = queue_places(service.database, usual_limits(service.settings))
    at_work = [row.id for row in live if row.state == "running"]
    seconds = remaining_seconds_of(service.database, at_work)
    live.sort(key=lambda row: queue_order(places.get(row.id)))
    return [
        QueuedRun(
            row,
            places.get(row.id),
            seconds.get(row.id),
            bool(model_waits(service.database, row.id)),
        )
        for row in live
    ]


@requires("see")
def find_ended(
    service: AppService, rows: Sequence[RunRow], *, find: str = "", state: str = "", most: int
) -> EndedRuns:
    """Those of the runs that have ended, in `state` if it is one; `find` is looked for in the name
    of a run, of its owner and of its models, or is an id.
    """
    states = {state} & set(ENDED_STATES) or set(ENDED_STATES)
    words = find.casefold().split()
    ended = [row for row in rows if row.state in states]
    matching = [row for row in ended if _matches(service, row, words)] if words else ended
    shown = matching[:most]
    catalog = known_catalog(service)
    return EndedRuns(
        rows=shown,
        matching=len(matching),
        cells=read_cells_of(service.database, [row.id for row in shown]),
        charges=run_costs(service.database, service.owner, catalog),
        baselines=frozenset(entry.name for entry in catalog.values() if entry.baseline),
    )


@checks("whose notices they are")
def unseen_notices(
    service: AppService, shown_run: str = "", *, shows_all: bool = False
) -> list[Notice]:
    """The notices that the person has not seen, the newest first.

    Those about `shown_run`, or all of them where a page `shows_all` runs, are seen by that.
    """
    unseen = _read_unseen(service)
    seen = [notice for notice in unseen if shows_all or notice.run == shown_run]
    if seen:
        _mark_seen(service, seen)
    return [notice for notice in unseen if notice not in seen]


@checks("whose notice it is, and that the server is not read-only")
def close_notice(service: AppService, number: int) -> None:
    """Show a notice of the person no more; one of another person, or none, stays as it is."""
    own = [notice for notice in _read_unseen(service) if notice.id == number]
    if own:
        _mark_seen(service, own)


def _matches(service: AppService, row: RunRow, words: Sequence[str]) -> bool:
    """Whether each word stands in one of the names."""
    names = [row.id, row.name, row.owner, *_models(service, row)]
    text = "\n".join(names).casefold()
    return all(word in text for word in words)


def _models(service: AppService, row: RunRow) -> list[str]:
    try:
        spec = service.cache.memoize(read_spec)(row.spec)
    except SpecError:
        return []  # written by another version of evalui
    judges = spec.judging.judges if spec.judging else ()
    return [*spec.models, *(each.model for each in spec.answers), *judges]


def _read_unseen(service: AppService) -> list[Notice]:
    if not service.owner or service.settings.read_only:  # where none can be closed
        return []
    rows = service.database.rows(
        "SELECT id, run, name, state FROM notice WHERE person = ? AND seen IS NULL"
        " ORDER BY id DESC",
        (service.owner,),
    )
    return [Notice(*row) for row in rows]


def _mark_seen(service: AppService, notices: Collection[Notice]) -> None:
    with service.database.writing() as connection:
        connection.executemany(
            "UPDATE notice SET seen = ? WHERE id = ?",
            [(time.time(), notice.id) for notice in notices],
        )
