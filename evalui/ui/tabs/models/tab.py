"""The Models tab: what there is, what each model can do, and what this server has room for.

The page shows what the server says; it is asked again while something of it can change.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import gradio as gr
from pydantic import Field

from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelStatus, base_of
from evalui.models.user_catalog import InvalidModelForm
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.ui.components.client_state import dump_client_state, load_client_state
from evalui.ui.components.fragment import (
    QUIET,
    SKIP,
    Action,
    Form,
    html_fragment,
    on_action,
    read_action,
)
from evalui.ui.components.html import Html, div, el, join
from evalui.ui.components.widgets import button, note, page_head
from evalui.ui.services.models_service import Hardware, WorkerView
from evalui.ui.services.service import AppService
from evalui.ui.tabs.models.add_form import add_card, read_wanted
from evalui.ui.tabs.models.catalog_list import catalog_cards
from evalui.ui.tabs.models.devices import devices_card
from evalui.ui.tabs.models.rows import ModelRow, RowContext

_EVERY_S = 1.0
_LATEST = 2.0**32  # Unix time, in the year 2106; a clock cannot show every number


class ModelsNotice(NamedTuple):
    """What the last click left to show, kept in the browser as text.

    `problem` came of it, `confirming` is the model whose removal waits for a second one,
    `checked_at` when it was, in Unix time.
    """

    problem: str = ""
    confirming: str = ""
    checked_at: Annotated[float, Field(ge=0, le=_LATEST)] = 0.0


class ModelsTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the page, and the form below it that no poll touches."""
        with gr.Column(elem_classes="page"):
            whole = html_fragment("models-pane")
            # As it is laid out, and from then on only what a click makes of it: whatever else
            # wrote it, an address or the tab, could undo what somebody is about to send.
            form = html_fragment("models-add", self.empty_form())
        said = gr.Textbox(visible=False)
        stamp = gr.Textbox(visible=False)
        timer = gr.Timer(_EVERY_S, active=False)
        self.outputs = [whole, form, said, stamp, timer]
        for source in (whole, form):
            on_action(source, self.answer, outputs=self.outputs)
        # A poll that began before a click may end after it, so it never writes what was said.
        timer.tick(self.tick, [said, stamp], [whole, stamp, timer], trigger_mode="once", **QUIET)

    def empty_form(self) -> Html:
        """The form before anybody has typed; a line that says so where nobody may add."""
        return self._form({})

    def enter(self, form: Form) -> tuple[Any, ...]:
        """All outputs for an address; another tab's costs nothing."""
        return self.open() if form.get("tab") == "models" else (SKIP,) * len(self.outputs)

    def open(self) -> tuple[Any, ...]:
        """All outputs when the tab is pressed."""
        return self._page(_new_notice(), SKIP)

    def answer(self, event: gr.EventData) -> tuple[Any, ...]:
        """The page after a click: a test, a question, a model more or less, or another place."""
        act = read_action(event)
        if act.do == "add":
            return self._added(act)
        if act.do == "set":
            # Only a place changes the fields. What is left at the click on "Add model" is told of
            # beside that click, and whatever it comes to must not be written over.
            place = act.value("name") == "add_place"
            return self._only_form(self._form(act.form) if place else SKIP)
        try:
            self._perform(act)
            problem = ""
        except EvaluiError as error:
            problem = self.t.translate(error.sentence)
        asking = act.value("model") if act.do == "ask" else ""
        return self._page(_new_notice(problem, asking), SKIP)

    def tick(self, notice: str, stamp: str) -> tuple[Any, ...]:
        """The page if it is another than that of `stamp`, else nothing at all.

        It is asked for once more after each change, so that what came too late is put right.
        """
        page, live = self.show(load_client_state(ModelsNotice, notice))
        now = _stamp(page)
        if now == stamp:
            return SKIP, SKIP, SKIP if live else gr.Timer(active=False)
        return page, now, gr.Timer(active=True)

    def show(self, notice: ModelsNotice = ModelsNotice()) -> tuple[Html, bool]:  # noqa: B008 (it cannot change)
        """The page, and whether something of it may change by itself."""
        shelf, t = self.service.models, self.t
        seats, hardware = shelf.workers(self.service.owner), shelf.hardware()
        problem, broken, looks, shadowed = notice.problem, False, {}, frozenset[str]()
        try:
            looks, shadowed = shelf.current_statuses(), shelf.shadowed()
        except EvaluiError as error:
            problem, broken = t.translate(error.sentence), True
        models = self._rows(looks, seats, hardware)
        around = RowContext(
            self._wait_sentence(seats), shelf.may_edit, notice.confirming, notice.checked_at
        )
        page = div(
            page_head(t("catalog.head"), t("catalog.promise"), self._scroll_to_form()),
            div(note("bad", problem), role="alert") if problem else None,
            self._shadowed(sorted(shadowed)) if shadowed else None,
            devices_card(t, hardware, seats, shelf.cluster),
            None if broken else catalog_cards(t, models, around),
            cls="stack models-page",
        )
        return page, self._live(models, seats)

    def _scroll_to_form(self) -> Html | None:
        """The way to the form, which a long catalog pushes out of sight."""
        if not self.service.models.may_edit:
            return None
        word = self.t("add.title")
        return el("button", word, type="button", cls="btn", data_scroll="models-add")

    def _shadowed(self, names: Sequence[str]) -> Html:
        """That added models are not used, and for those who may the way to be rid of them."""
        t = self.t
        words = [button(t("catalog.rescue", name=n), "remove", data_model=n) for n in names]
        told = note("warn", t("catalog.shadowed", names=t("list.comma").join(names)))
        return join(told, div(*words, cls="ways") if self.service.models.may_edit else None)

    def _page(self, said: ModelsNotice, form: Any) -> tuple[Any, ...]:
        page, live = self.show(said)
        return page, form, dump_client_state(said), _stamp(page), gr.Timer(active=live)

    def _only_form(self, form: Any) -> tuple[Any, ...]:
        return SKIP, form, SKIP, SKIP, SKIP

    def _form(self, form: Form, *, problem: str = "", done: str = "") -> Html:
        if self.service.models.may_edit:
            return add_card(self.t, form, problem=problem, done=done)
        return el("p", self.t("add.not_yours"), cls="meta")

    def _added(self, act: Action) -> tuple[Any, ...]:
        try:
            entry = self.service.models.add(read_wanted(act.form))
        except InvalidModelForm as error:
            return self._only_form(add_card(self.t, act.form, faults=error.faults))
        except EvaluiError as error:
            problem = self.t.translate(error.sentence)
            return self._only_form(self._form(act.form, problem=problem))
        place: Form = {"add_place": act.value("add_place")}
        return self._page(
            _new_notice(), self._form(place, done=self.t("add.done", name=entry.name))
        )

    def _perform(self, act: Action) -> None:
        name = act.value("model")
        if act.do == "test":
            self.service.models.queue_test(name, self.service.owner)
        elif act.do == "again":
            self.service.models.refresh(name)
        elif act.do == "remove":
            self.service.models.remove(name)

    def _rows(
        self,
        looks: Mapping[str, ModelStatus],
        seats: Sequence[WorkerView],
        hardware: Hardware,
    ) -> list[ModelRow]:
        shelf, catalog = self.service.models, {}
        if looks:
            catalog = shelf.catalog()
        trials, speeds = shelf.tests(self.service.owner), shelf.speeds()
        added = shelf.added() - shelf.shadowed() if looks else frozenset[str]()
        at = {seat.row.model: seat for seat in seats if seat.visible and seat.row.model}
        return [
            ModelRow(
                entry=catalog[name],
                status=look,
                test=_current_test(trials.get(name), catalog[name]),
                footprint=shelf.footprint(look.state, hardware) if look.state else None,
                free_bytes=None if shelf.cluster else hardware.free(catalog[name]),
                speeds=speeds.get(name, {}),
                worker=at.get(name),
                base=base_of(catalog[name], catalog.values()),
                added=name in added,
            )
            for name, look in looks.items()
            if name in catalog
        ]

    def _wait_sentence(self, seats: Sequence[WorkerView]) -> str:
        """What a queued trial waits for."""
        t = self.t
        if not seats:
            return t("tried.nobody")
        if not all(seat.row.is_busy for seat in seats):
            return t("tried.soon")
        if runs := [seat.run_name for seat in seats if seat.run_name]:
            return t("tried.behind", run=runs[0])
        mine = any(seat.visible and not seat.row.run for seat in seats)
        return t("tried.behind_test" if mine else "tried.behind_others")

    def _live(self, models: Sequence[ModelRow], seats: Sequence[WorkerView]) -> bool:
        return (
            any(model.status.pending or (model.test and model.test.is_pending) for model in models)
            or any(seat.row.is_busy for seat in seats)
            or (not seats and self.service.settings.workers > 0)  # they come with the server
            or self.service.queued_runs() > 0
        )


def _new_notice(problem: str = "", asking: str = "") -> ModelsNotice:
    """What a click leaves that was made just now."""
    return ModelsNotice(problem, asking, time.time())


def _current_test(trial: ModelTestRow | None, entry: ModelEntry) -> ModelTestRow | None:
    """The trial, unless it tells of a model that the catalog has changed since."""
    return trial if trial and (trial.is_pending or trial.entry == entry) else None


def _stamp(page: Html) -> str:
    return hashlib.sha256(page.encode()).hexdigest()[:16]
