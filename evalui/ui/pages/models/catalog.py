"""What the Models page shows of the catalog and of the server: read for one person, and drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.app.evaluations import count_live_runs
from evalui.app.models_service import Hardware, ModelStatus, WorkerView
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
from evalui.ui.pages.models.model_row import ModelRow, RowContext
from evalui.ui.server_card import server_card


@dataclass(frozen=True, slots=True)
class Catalog:
    """The page without its form: the models, the server, and whether they can change by themselves.

    `server` is empty where the server only shows.
    """

    models: Html
    server: Html
    is_live: bool


class CatalogReader:
    """Reads the catalog for the person of `service`."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def read(self) -> Catalog:
        """The catalog as it is now; a fault of its file stands in its place."""
        service, t, read_only = self.service.models, self.t, self.service.settings.read_only
        workers, hardware = service.workers(self.service.person), service.hardware()
        server = Html("") if read_only else server_card(t, hardware, workers, service.cluster)
        try:
            looks, shadowed = service.current_statuses(), service.shadowed()
        except EvaluiError as error:
            problem = alert("bad", t.translate(error.sentence)) or Html("")
            return Catalog(problem, server, self._live((), workers))
        models = self._rows(looks, workers, hardware)
        context = RowContext(self._wait_sentence(workers), service.may_edit, not read_only)
        shown = self._catalog(models, context, sorted(shadowed))
        return Catalog(shown, server, self._live(models, workers))

    def _catalog(
        self, models: Sequence[ModelRow], context: RowContext, shadowed: Sequence[str]
    ) -> Html:
        """Every model in its group, below the added ones that are not used."""
        t = self.t
        groups = [
            {
                "name": name,
                "about": demo_about(t, [each.entry for each in members])
                if name == "demo"
                else group_about(t, [each.state for each in members]),
                "rows": [model_line(t, each, context) for each in members],
            }
            for name in ("here", "endpoints", "demo")
            if (members := [each for each in models if each.group == name])
        ]
        away = sum(model.is_away for model in models)
        ready = sum(model.usable for model in models)
        count = "catalog.ready_away" if away else "catalog.ready"
        return fill(
            "models/catalog.html",
            t=t,
            shadowed=shadowed,
            context=context,
            groups=groups,
            opened=all(group["name"] == "demo" for group in groups),
            count=t(count, n=ready, total=len(models), away=away) if models else "",
        )

    def _rows(
        self,
        looks: Mapping[str, ModelStatus],
        workers: Sequence[WorkerView],
        hardware: Hardware,
    ) -> list[ModelRow]:
        service, catalog = self.service.models, {}
        if looks:
            catalog = service.catalog()
        tests, speeds = service.tests(self.service.owner), service.speeds()
        added = service.changeable() - service.shadowed() if looks else frozenset[str]()
        at = {worker.row.model: worker for worker in workers if worker.visible and worker.row.model}
        return [
            ModelRow(
                entry=catalog[name],
                status=status,
                test=_current_test(tests.get(name), catalog[name]),
                footprint=service.footprint(status.state, hardware) if status.state else None,
                free_bytes=None if service.cluster else hardware.free(catalog[name]),
                speeds=speeds.get(name, {}),
                worker=at.get(name),
                base=base_of(catalog[name], catalog.values()),
                added=name in added,
            )
            for name, status in looks.items()
            if name in catalog
        ]

    def _wait_sentence(self, workers: Sequence[WorkerView]) -> str:
        """What a queued test waits for."""
        t = self.t
        if not workers:
            return t("tried.nobody")
        if not all(worker.row.is_busy for worker in workers):
            return t("tried.soon")
        if runs := [worker.run_name for worker in workers if worker.run_name]:
            return t("tried.behind", run=runs[0])
        mine = any(worker.visible and not worker.row.run for worker in workers)
        return t("tried.behind_test" if mine else "tried.behind_others")

    def _live(self, models: Sequence[ModelRow], workers: Sequence[WorkerView]) -> bool:
        return (
            any(model.status.pending or (model.test and model.test.is_pending) for model in models)
            or any(worker.row.is_busy for worker in workers)
            or (not workers and self.service.settings.workers != 0)  # they come with the server
            or count_live_runs(self.service) > 0
        )


def _current_test(test: ModelTestRow | None, entry: ModelEntry) -> ModelTestRow | None:
    """The test, unless it is of a model that the catalog has changed since."""
    return test if test and (test.is_pending or test.entry == entry) else None
