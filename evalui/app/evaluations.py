"""Evaluations: what hinders one before it starts, and stopped, taken up again, deleted."""

from collections.abc import Sequence

from evalui.app.files.views import PlannedCell, PlannedRun
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.messages import Messages
from evalui.report.numbers import local_time
from evalui.runs.database import queue
from evalui.runs.database.throughput import KeptElsewhere
from evalui.runs.fair_queue import limits
from evalui.runs.fair_queue.limits import check_may_queue, usual_limits
from evalui.runs.fair_queue.turns import QueueAhead, queue_ahead

_MANY_REQUESTS = 20_000


@requires("change", "run_id")
def stop_run(service: AppService, run_id: str) -> None:
    """Stop a run: at once if it waits, after the batch in hand if it runs."""
    queue.cancel(service.database, run_id)


@requires("change", "run_id")
def resume_run(service: AppService, run_id: str) -> None:
    """Queue a failed or stopped run again; what is done is not done again."""
    limits.resume_run(service.database, run_id, usual_limits(service.settings))


@requires("change", "run_id")
def delete_run(service: AppService, run_id: str) -> None:
    """Delete a run with its trials and votes."""
    queue.delete(service.database, run_id)


@requires("start")
def runs_ahead(service: AppService, planned: PlannedRun) -> QueueAhead:
    """What would be done before a new run of the person's."""
    return queue_ahead(
        service.database,
        service.owner,
        usual_limits(service.settings),
        computes_here=planned.computes_here,
    )


@requires("start")
def hindrance_of(service: AppService, t: Messages, planned: PlannedRun) -> str:
    """Why a run cannot be started, before somebody tries; "" if it can."""
    if not _has_work(planned):
        return t("cost.nothing")
    try:
        with service.database.reading() as connection:
            check_may_queue(connection, service.owner, usual_limits(service.settings))
    except SpecError as error:
        return t.translate(error.sentence)
    return ""


def warnings_of(t: Messages, planned: PlannedRun) -> list[str]:
    """What is to be known before a run is started."""
    unable: dict[str, list[PlannedCell]] = {}
    for cell in planned.cells:
        if cell.impossible and cell.fits:
            unable.setdefault(cell.mode, []).append(cell)
    warnings = [_skipped(t, mode, cells) for mode, cells in unable.items()]
    every_order = any(cell.pattern == "all_possible" for cell in planned.cells)
    if every_order or planned.cost.requests > _MANY_REQUESTS:
        warnings.append(t("cost.many", n=f"{planned.cost.requests:,}"))
    return warnings


def kept_words(t: Messages, kept: KeptElsewhere) -> str:
    """Whose replies are kept of a model whose addresses have changed."""
    n, total = f"{kept.replies:,}", f"{kept.requests:,}"
    made = local_time(kept.made)
    return t("kept.choice", model=kept.model, n=n, total=total, run=kept.run, made=made)


def _skipped(t: Messages, mode: str, cells: Sequence[PlannedCell]) -> str:
    """Which models leave a mode out; why, where it is one."""
    models = list(dict.fromkeys(cell.model for cell in cells))
    label = t(key) if (key := f"modes.{mode}") in t else t(f"mode.{mode}")
    if len(models) == 1:
        why = t.translate(cells[0].impossible)
        return t("cost.left_out", model=models[0], mode=label, why=why)
    return t("cost.left_out_by", models=t("list.comma").join(models), mode=label)


def _has_work(planned: PlannedRun) -> bool:
    """Whether there is a request to send, or an answer to score."""
    return any(cell.total and not cell.impossible for cell in planned.cells)
