"""What the Models page shows of the catalog and of the server: read for one person, and drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.app.models_service import Hardware, ModelStatus, WorkerView
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import base_of
from evalui.report.html import Html, div, join
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.ui.components.widgets import alert, button, note
from evalui.ui.pages.models.catalog_card import catalog_card
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
            problem = alert("bad", t.translate(error.sentence))
            return Catalog(join(problem), server, self._live((), workers))
        models = self._rows(looks, workers, hardware)
        context = RowContext(self._wait_sentence(workers), service.may_edit, not read_only)
        shown = join(
            self._shadowed(sorted(shadowed)) if shadowed else None,
            catalog_card(t, models, context),
        )
        return Catalog(shown, server, self._live(models, workers))

    def _shadowed(self, names: Sequence[str]) -> Html:
        """That added models are not used, and for those who may the way to be rid of them."""
        t = self.t
        words = [button(t("catalog.rescue", name=n), "remove", data_model=n) for n in names]
        warning = note("warn", t("catalog.shadowed", names=t("list.comma").join(names)))
        return join(warning, div(*words, cls="ways") if self.service.models.may_edit else None)

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
            or self.service.queued_runs() > 0
        )


def _current_test(test: ModelTestRow | None, entry: ModelEntry) -> ModelTestRow | None:
    """The test, unless it is of a model that the catalog has changed since."""
    return test if test and (test.is_pending or test.entry == entry) else None
