"""The Models tab: what there is, what each model can do, and what this server has room for.

The page shows the state of the server; the script requests it again while something can change.
The form that adds or changes a model has an address of its own, and is never requested again.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from evalui.app.models_service import Hardware, ModelStatus, WorkerView
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import base_of
from evalui.models.new_model import InvalidModelForm
from evalui.report.html import Html, div, el, join
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import alert, button, note, page_head
from evalui.ui.tabs.models.catalog_card import catalog_card
from evalui.ui.tabs.models.model_form import ModelForm
from evalui.ui.tabs.models.model_row import ModelRow, RowContext
from evalui.ui.tabs.models.server_card import server_card

_POLL_MS = 1000


class ModelsNotice(NamedTuple):
    """What the last click left to show: a problem or what was done, or the model whose removal
    waits for another click.
    """

    problem: str = ""
    done: str = ""
    confirming: str = ""


class ModelsTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, form: Form) -> Html:
        """The catalog, or the form that the address names."""
        if field_value(form, "add") or field_value(form, "edit"):
            return self._open_form(form)
        return self._catalog(ModelsNotice())

    def act(self, action: Action) -> Html | None:
        """The page after a click or a poll of a notice; None if a poll finds what it left."""
        if action.do == "save":
            return self._saved(action.form)
        if action.do == "set":
            # Only a place changes the fields: whatever else is left is reported with "Add model".
            return self._open_form(action.form) if action.value("name") == "add_place" else None
        if action.do == "poll":
            page = self._catalog(ModelsNotice(*map(action.value, ModelsNotice._fields)))
            return None if f'data-seen="{action.value("seen")}"' in page else page
        try:
            notice = ModelsNotice(done=self._perform(action))
        except EvaluiError as error:
            notice = ModelsNotice(problem=self.t.translate(error.sentence))
        if action.do == "ask":
            notice = ModelsNotice(confirming=action.value("model"))
        return self._catalog(notice)

    def _open_form(self, form: Form) -> Html:
        if not self.service.models.may_edit:
            return self._catalog(ModelsNotice(problem=self.t("add.not_yours")))
        try:
            return self._form_page(self._form(form))
        except EvaluiError as error:
            return self._catalog(ModelsNotice(problem=self.t.translate(error.sentence)))

    def _form(self, form: Form) -> ModelForm:
        """The form of an address; raises `ModelError` if it is to change what was not added."""
        service, name = self.service.models, field_value(form, "edit")
        edited = service.added_entry(name) if name else None
        return ModelForm(self.t, form, edited, service.teams_for(edited))

    def _form_page(
        self, form: ModelForm, problem: str = "", faults: Mapping[str, str] | None = None
    ) -> Html:
        return div(
            page_head(self.t("catalog.head"), self.t("catalog.promise")),
            form.card(problem=problem, faults=faults),
            cls="stack models-page",
            data_address=form.address,
        )

    def _saved(self, form: Form) -> Html:
        service, t = self.service.models, self.t
        try:
            shown = self._form(form)
            save, word = service.add, "add.done"
            if shown.edited:
                save, word = service.change, "add.saved"
            elif shown.place == "endpoint":
                word = "add.done_endpoint"
        except EvaluiError as error:
            return self._catalog(ModelsNotice(problem=t.translate(error.sentence)))
        try:
            entry = save(shown.wanted())
        except InvalidModelForm as error:
            return self._form_page(shown, faults=error.faults)
        except EvaluiError as error:
            return self._form_page(shown, t.translate(error.sentence))
        return self._catalog(ModelsNotice(done=t(word, name=entry.name)))

    def _perform(self, action: Action) -> str:
        """Do what a button states to its model; a sentence if the page itself may not show it."""
        name = action.value("model")
        if action.do == "test":
            self.service.models.queue_test(name, self.service.owner)
        elif action.do == "again":
            self.service.models.refresh(name)
            return self.t("catalog.looked_at", when=f"{datetime.now().astimezone():%H:%M:%S}")
        elif action.do == "remove":
            self.service.models.remove(name)
            return self.t("catalog.removed", name=name)
        return ""

    def _catalog(self, notice: ModelsNotice) -> Html:
        service, t, read_only = self.service.models, self.t, self.service.settings.read_only
        workers, hardware = service.workers(self.service.person), service.hardware()
        problem, broken, looks, shadowed = notice.problem, False, {}, frozenset[str]()
        try:
            looks, shadowed = service.current_statuses(), service.shadowed()
        except EvaluiError as error:
            problem, broken = t.translate(error.sentence), True
        models = self._rows(looks, workers, hardware)
        context = RowContext(
            self._wait_sentence(workers), service.may_edit, not read_only, notice.confirming
        )
        new = el("a", t("add.title"), href="?tab=models&add=endpoint", cls="btn pri")
        shown = join(
            page_head(t("catalog.head"), t("catalog.promise"), new if service.may_edit else None),
            alert("bad", problem),
            div(note("ok", notice.done), role="status") if notice.done else None,
            self._shadowed(sorted(shadowed)) if shadowed else None,
            # Keyed, so that what is unfolded stays when a note above it comes or goes.
            None if broken else div(catalog_card(t, models, context), data_key="catalog"),
            None
            if read_only
            else div(server_card(t, hardware, workers, service.cluster), data_key="server"),
        )
        live = self._live(models, workers)
        return div(
            shown,
            _poll(shown, notice) if live else None,
            cls="stack models-page",
            data_address="tab=models",
        )

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


def _poll(page: Html, notice: ModelsNotice) -> Html:
    """Has the script look at the page again; a notice, which stands in no address, is sent along
    in an action, so that it stays.
    """
    if notice == ModelsNotice():
        return div(data_watch=_POLL_MS)
    seen = hashlib.sha256(page.encode()).hexdigest()[:16]
    parts = {f"data_{name}": text for name, text in notice._asdict().items()}
    return div(data_poll=_POLL_MS, data_seen=seen, **parts)
