"""Evaluations: planned, started, imported, stopped, taken up again, deleted."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from evalui.app.datasets import store_open_sample, store_sample
from evalui.app.files.views import KnownModels, LogChoices, PlannedCell, PlannedRun
from evalui.app.permissions import checks, requires
from evalui.app.samples import open_sample_run, sample_run
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.harnesses.importing import ImportedRun, import_run
from evalui.messages import Messages
from evalui.models.catalog import describe
from evalui.modes import mode_hindrance
from evalui.report.numbers import local_time
from evalui.runs.estimate import KeptElsewhere
from evalui.runs.fair_queue import limits
from evalui.runs.fair_queue.limits import check_may_queue, usual_limits
from evalui.runs.fair_queue.turns import QueueAhead, queue_ahead
from evalui.runs.spec import RunSpec, read_spec
from evalui.store import queue
from evalui.store.queue import RequestKey
from evalui.store.runs import LIVE_STATES, count_runs

_MANY_REQUESTS = 20_000
_AS_IT_IS = LogChoices()


@requires("start")
def plan_run(service: AppService, run: RunSpec) -> PlannedRun:
    """What a specification with uploads would start.

    Raises:
        DataError, SpecError: it cannot be done, or it names a path; the message states why.
    """
    return service.files.plan(run, _known_models(service, run))


@requires("start")
def start_run(service: AppService, run: RunSpec, once: RequestKey | None = None) -> str:
    """Queue the run and return its id, that of an earlier one for the same request; raises as
    `plan_run` does.
    """
    with service.database.reading() as connection:
        if once and (earlier := once.run_of(connection, service.owner)):
            return earlier
    return service.files.start(run, _known_models(service, run), once)


@requires("start")
def start_sample(service: AppService) -> str:
    """Queue the shipped sample for the demo models, and return the run's id."""
    return start_run(service, sample_run(store_sample(service), service.models.states()))


@requires("start")
def start_open_sample(service: AppService) -> str:
    """Queue the shipped open questions for the same models and a judge that follows a rule."""
    return start_run(service, open_sample_run(store_open_sample(service), service.models.states()))


@requires("see", "run_id")
def run_to_repeat(service: AppService, run_id: str) -> RunSpec:
    """The specification of a run, with the uploads of the person that its files came from.

    Raises:
        DataError: a file is none of theirs, or is no longer here.
    """
    return service.files.unlocated(read_spec(service.run(run_id).spec))


@requires("start")
def import_log(service: AppService, upload: str, choices: LogChoices = _AS_IT_IS) -> ImportedRun:
    """Keep the finished run of another harness, or a bundle, that the person has uploaded.

    Raises:
        DataError: the files are no log, cannot be read, or there is no such upload.
        SpecError: the choices lack the name of a model, or a file that is no part of the log;
            columns are not there; and as `check_may_queue` does.
    """
    return service.files.import_log(upload, choices)


@requires("administer")
def import_log_from(service: AppService, path: str, *, name: str = "") -> ImportedRun:
    """The same of a path, which may lead anywhere on this machine; models that no file names
    are called by their folders.
    """
    owner, usual = service.owner, usual_limits(service.settings)
    admit = partial(check_may_queue, owner=owner, usual=usual)
    return import_run(service.database, [Path(path)], name=name, owner=owner, admit=admit)


@checks("nothing: the person's own runs are counted")
def count_live_runs(service: AppService) -> int:
    """How many runs would come before a new one."""
    return count_runs(service.database, service.owner, LIVE_STATES)


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


def _known_models(service: AppService, run: RunSpec) -> KnownModels:
    """Endpoints are known to this process, which has probed them, and it may start programs."""
    catalog = service.models.catalog()
    judges = run.judging.judges if run.judging else []
    named = [name for name in dict.fromkeys((*run.models, *judges)) if name in catalog]
    return KnownModels(
        catalog,
        {name: describe(catalog[name]) for name in named},
        {each.mode: mode_hindrance(each.mode) for each in run.modes},
    )


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
