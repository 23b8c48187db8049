"""How far a run is: its cells with their figures so far, their waits, and what they cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from evalui.app.permissions import checks, requires
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.store.runs import LIVE_STATES, CellRow, RunRow, read_cells, read_runs_in
from evalui.store.usage import (
    Catalog,
    ModelWait,
    TokenCost,
    cell_costs,
    model_waits,
    remaining_seconds_of,
)

LiveStates = tuple[tuple[str, str, bool, int], ...]


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run as it is now.

    `waits` and `charges` are by the id of a cell; a cell whose model does not answer has the state
    "waiting". `baselines` are the models that are drawn grey. `seconds_left` is None where it is
    not known.
    """

    run: RunRow
    cells: Sequence[CellRow]
    waits: Mapping[int, ModelWait]
    charges: Mapping[int, TokenCost]
    baselines: frozenset[str]
    seconds_left: float | None

    @property
    def loading(self) -> CellRow | None:
        """The cell whose model is being loaded: the first, while a run at work has none at work."""
        if self.run.state != "running" or self.waits:
            return None
        if any(cell.state == "running" for cell in self.cells):
            return None
        return next((cell for cell in self.cells if cell.state == "waiting"), None)


@dataclass(frozen=True, slots=True)
class ProgressVersion:
    """What a `WatchedRun` depends on, and what a page that shows one has to follow beside it.

    `queue` is another value whenever a run was queued, began, got a per cent further or ended; of
    the run itself only whether it began to have answers, for the rest is in its progress. The
    catalog has the prices, and pages say "today".
    """

    revision: int
    queue: int
    is_any_live: bool
    catalog: object
    day: date


@requires("see", "run_id")
def read_progress(service: AppService, run_id: str) -> WatchedRun:
    """A run as it is now.

    Raises:
        UnknownRun: the person sees none of this id.
    """
    database, catalog = service.database, known_catalog(service)
    waits = model_waits(database, run_id)
    return WatchedRun(
        run=service.run(run_id),
        # A cell whose model does not answer is not running, and has no throughput.
        cells=tuple(
            replace(cell, state="waiting") if cell.id in waits else cell
            for cell in read_cells(database, run_id)
        ),
        waits=waits,
        charges=cell_costs(database, run_id, catalog),
        baselines=frozenset(entry.name for entry in catalog.values() if entry.baseline),
        seconds_left=remaining_seconds_of(database, [run_id])[run_id],
    )


@requires("see", "run_id")
def progress_version(service: AppService, run_id: str) -> ProgressVersion:
    """The version of what `read_progress` gives.

    Raises:
        UnknownRun: the person sees none of this id.
    """
    return version_of(service, service.run(run_id), live_states(service))


@checks("that the person may see its run")
def version_of(service: AppService, row: RunRow, live: LiveStates) -> ProgressVersion:
    """The same of a run and of the live ones as they were read before."""
    others = [state for state in live if state[0] != row.id]
    own = row.state, row.cancelling, row.done > 0
    return ProgressVersion(
        revision=row.revision,
        queue=hash((*others, own)),
        is_any_live=bool(others) or row.state in LIVE_STATES,
        catalog=service.models.catalog_stamp(),
        day=datetime.now().astimezone().date(),
    )


@checks("nothing: of the runs of others a page learns only that something changed")
def live_states(service: AppService) -> LiveStates:
    """What is queued or at work, whosever it is: the id, the state, and how far it is."""
    return tuple(
        (row.id, row.state, row.cancelling, 100 * row.done // max(row.total, 1))
        for row in read_runs_in(service.database, LIVE_STATES)
    )


@checks("nothing: prices, and names that decide how figures are drawn")
def known_catalog(service: AppService) -> Catalog:
    """The models with their prices; none while the administrator's file is broken.

    The Models page shows what is wrong with it, and a run must be stopped all the same.
    """
    try:
        return service.models.all_models()
    except EvaluiError:
        return {}
