"""The Models page's catalog: every model in the one state it is in, and what the server has."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalui.app.evaluations import count_live_runs
from evalui.app.models_service import Hardware, WorkerView
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import base_of
from evalui.report.html import Html
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert
from evalui.ui.model_labels import demo_about, group_about
from evalui.ui.pages.models.model_line import model_line
from evalui.ui.pages.models.model_row import ModelRow
from evalui.ui.server_card import server_card


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models, the server, and whether they can change by themselves.

    `server` is empty where the server only shows.
    """

    models: Html
    server: Html
    is_live: bool


def read_catalog(service: AppService, t: Messages) -> Catalog:
    """What there is now for the person of `service`; a fault of its file stands in its place."""
    known, read_only = service.models, service.settings.read_only
    workers, hardware = known.workers(service.person), known.hardware()
    server = Html("") if read_only else server_card(t, hardware, workers, known.cluster)
    try:
        models, shadowed = list(_models(service, workers, hardware)), sorted(known.shadowed())
    except EvaluiError as error:
        problem = alert("bad", t.translate(error.sentence)) or Html("")
        return Catalog(problem, server, _is_live(service, (), workers))
    waits = _wait_sentence(t, workers)
    groups = [
        {
            "name": name,
            "about": demo_about(t, [each.entry for each in members])
            if name == "demo"
            else group_about(t, [each.state for each in members]),
            "rows": [model_line(t, each, known.may_edit) for each in members],
        }
        for name in ("here", "endpoints", "demo")
        if (members := [each for each in models if each.group == name])
    ]
    away = sum(model.is_away for model in models)
    ready = sum(model.usable for model in models)
    count = "catalog.ready_away" if away else "catalog.ready"
    shown = fill(
        "models/catalog.html",
        t=t,
        shadowed=shadowed,
        groups=groups,
        waits=waits,
        may_edit=known.may_edit,
        may_test=not read_only,
        count=t(count, n=ready, total=len(models), away=away) if models else "",
    )
    return Catalog(shown, server, _is_live(service, models, workers))


def _models(
    service: AppService, workers: Sequence[WorkerView], hardware: Hardware
) -> Iterator[ModelRow]:
    known, looks = service.models, service.models.current_statuses()
    catalog = known.catalog() if looks else {}
    tests, speeds = known.tests(service.owner), known.speeds()
    added = known.changeable() - known.shadowed() if looks else frozenset[str]()
    at = {worker.row.model: worker for worker in workers if worker.visible and worker.row.model}
    for name, status in looks.items():
        if name in catalog:
            entry = catalog[name]
            yield ModelRow(
                entry=entry,
                status=status,
                test=_current_test(tests.get(name), entry),
                footprint=known.footprint(status.state, hardware) if status.state else None,
                free_bytes=None if known.cluster else hardware.free(entry),
                speeds=speeds.get(name, {}),
                worker=at.get(name),
                base=base_of(entry, catalog.values()),
                added=name in added,
            )


def _current_test(test: ModelTestRow | None, entry: ModelEntry) -> ModelTestRow | None:
    """The test, unless it is of a model that the catalog has changed since."""
    return test if test and (test.is_pending or test.entry == entry) else None


def _wait_sentence(t: Messages, workers: Sequence[WorkerView]) -> str:
    """What a queued test waits for."""
    if not workers:
        return t("tried.nobody")
    if not all(worker.row.is_busy for worker in workers):
        return t("tried.soon")
    if runs := [worker.run_name for worker in workers if worker.run_name]:
        return t("tried.behind", run=runs[0])
    mine = any(worker.visible and not worker.row.run for worker in workers)
    return t("tried.behind_test" if mine else "tried.behind_others")


def _is_live(
    service: AppService, models: Sequence[ModelRow], workers: Sequence[WorkerView]
) -> bool:
    return (
        any(model.status.pending or model.test_is_pending for model in models)
        or any(worker.row.is_busy for worker in workers)
        or (not workers and service.settings.workers != 0)  # they come with the server
        or count_live_runs(service) > 0
    )
