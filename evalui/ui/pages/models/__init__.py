"""The Models page: what there is, what each model can do, and what this server has room for.

The page shows the state of the server, and looks again while something can change. The form that
adds or changes a model has an address of its own.
"""

import hashlib
from datetime import datetime
from typing import Any

import gradio as gr

from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.models.base import ModelEntry
from evalui.models.new_model import InvalidModelForm
from evalui.report.html import Html
from evalui.ui.components.action import Action
from evalui.ui.components.address import address, leads_to, read_query
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.listing import bar, listing, markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert, done, heading, link, page_head
from evalui.ui.pages.context import EVENTS, PageContext
from evalui.ui.pages.models.catalog import CatalogReader
from evalui.ui.pages.models.form import ModelFields, Updates, place_of, place_of_entry

_NAME = "models"
_POLL_S = 1.0


def make_page(context: PageContext) -> None:
    """The page, where Gradio is to draw it."""
    ModelsPage(context).wire()


class ModelsPage:
    """Its components, and what changes them."""

    def __init__(self, context: PageContext) -> None:
        t = context.t
        self.context = context
        self.address = address(f"{t(f'tab.{_NAME}')} · {t('app.name')}", t.language)
        self.bar = bar()
        with gr.Column(elem_classes="page ev stack models-page"):
            self.head = markup()
            self.notice = markup(visible=False)
            self.models = listing()
            self.server = listing()
            with gr.Column(visible=False, elem_classes="card add-model") as self.form:
                self.title = markup()
                self.fields = ModelFields(t)
                self.problem = markup(visible=False)
                with gr.Row(elem_classes="acts"):
                    self.save = gr.Button(t("add.go"), variant="primary", scale=0, min_width=140)
                    markup(link(t("add.cancel"), _NAME, cls="btn quiet"))
        self.timer = gr.Timer(_POLL_S, active=False)
        self.edited = gr.Textbox(visible="hidden", elem_classes="hidden-field")
        # What the page shows by now, for the timer: the server keeps nothing of a visitor.
        self.seen = gr.Textbox(visible="hidden", elem_classes="hidden-field")

    def wire(self) -> None:
        """Say what happens on which event."""
        shown = [
            *(self.bar, self.head, self.notice, self.models, self.server, self.form, self.title),
            *(self.problem, self.save, self.timer, self.seen, self.edited),
            *self.fields.outputs,
        ]
        self.address.open(
            self._open, None, shown, api_name=f"{_NAME}_open", trigger_mode="multiple", **EVENTS
        )
        self.models.act(
            self._act,
            None,
            [self.notice, self.models, self.server, self.timer, self.seen],
            api_name=f"{_NAME}_act",
            trigger_mode="multiple",
            **EVENTS,
        )
        self.timer.tick(
            self._look,
            [self.seen],
            [self.models, self.server, self.timer, self.seen],
            api_name=f"{_NAME}_look",
            **EVENTS,
        )
        self.fields.place.input(
            self._place,
            [self.fields.place],
            list(self.fields.placed("endpoint")),
            api_name=f"{_NAME}_place",
            **EVENTS,
        )
        self.save.click(
            self._save,
            [self.edited, *self.fields.inputs],
            [self.address, *shown],
            api_name=f"{_NAME}_save",
            **EVENTS,
        )

    def _open(self, event: gr.EventData, request: gr.Request) -> Updates:
        """What an address shows: the catalog, or the form that it names."""
        service = self.context.service(request)
        sent: Any = event._data  # pyright: ignore[reportPrivateUsage] # no other name
        return self._opened(service, read_query(sent.get("query") if sent else ""))

    def _opened(self, service: AppService, form: Form) -> Updates:
        bar = self.context.bar(service, _NAME, form)
        if not (field_value(form, "add") or field_value(form, "edit")):
            return {self.bar: bar} | self._catalog(service)
        if not service.models.may_edit:
            return {self.bar: bar} | self._catalog(service, self._problem("add.not_yours"))
        try:
            edited = self._edited(service, field_value(form, "edit"))
        except EvaluiError as error:
            return {self.bar: bar} | self._catalog(service, self._sentence(error))
        place = place_of_entry(edited) if edited else place_of(field_value(form, "add"))
        t = self.context.t
        title = t("add.edit", name=edited.name) if edited else t("add.title")
        return {
            self.bar: bar,
            self.head: self._head(),
            self.notice: gr.update(visible=False),
            self.models: gr.update(visible=False),
            self.server: gr.update(visible=False),
            self.timer: gr.update(active=False),
            self.form: gr.update(visible=True),
            self.title: heading(title),
            self.edited: edited.name if edited else "",
            self.problem: gr.update(visible=False),
            self.save: gr.update(value=t("add.save" if edited else "add.go")),
            **self.fields.opened(place, edited, service.models.people_for(edited)),
        }

    def _edited(self, service: AppService, name: str) -> ModelEntry | None:
        """The added model that is to be changed, None if it is a new one.

        Raises:
            ModelError: none was added under its name, or it is another's.
        """
        return service.models.added_entry(name) if name else None

    def _catalog(self, service: AppService, notice: Html | None = None) -> Updates:
        """The catalog in place of the form."""
        new = link(self.context.t("add.title"), "models?add=endpoint", cls="btn pri")
        return {
            self.form: gr.update(visible=False),
            self.head: self._head(new if service.models.may_edit else ""),
            self.notice: gr.update(value=notice or Html(""), visible=notice is not None),
            **self._state(service),
        }

    def _state(self, service: AppService, seen: str = "") -> Updates:
        """What changes by itself, unless it is as it was `seen`."""
        catalog = CatalogReader(service, self.context.t).read()
        content = f"{catalog.models}{catalog.server}{catalog.is_live}"
        now = hashlib.sha256(content.encode()).hexdigest()[:16]
        changed: Updates = {}
        if seen != now:
            changed = {
                self.models: gr.update(value=_framed(catalog.models), visible=True),
                self.server: gr.update(value=_framed(catalog.server), visible=bool(catalog.server)),
                self.timer: gr.update(active=catalog.is_live),
                self.seen: now,
            }
        return changed

    def _look(self, request: gr.Request, seen: object) -> Any:
        service = self.context.service(request)
        changed: Updates = self._state(service, seen if isinstance(seen, str) else "")
        return changed or gr.skip()  # pyright: ignore[reportUnknownVariableType] # of Gradio

    def _act(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Do what a button of a model states."""
        service, t = self.context.service(request), self.context.t
        action = Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # no other name
        try:
            word = self._done(service, action)
            notice = done(word) if word else None
        except EvaluiError as error:
            notice = alert("bad", t.translate(error.sentence))
        shown = gr.update(value=notice or Html(""), visible=notice is not None)
        return {self.notice: shown, **self._state(service)}

    def _done(self, service: AppService, action: Action) -> str:
        """Do it; a sentence if the page itself may not show it."""
        t, name = self.context.t, action.value("model")
        if action.do == "test":
            service.models.queue_test(name, service.owner)
        elif action.do == "again":
            service.models.refresh(name)
            return t("catalog.looked_at", when=f"{datetime.now().astimezone():%H:%M:%S}")
        elif action.do == "remove":
            service.models.remove(name)
            return t("catalog.removed", name=name)
        return ""

    def _place(self, place: object) -> Updates:
        return self.fields.placed(place_of(place if isinstance(place, str) else ""))

    def _save(self, request: gr.Request, name: object, *sent: Any) -> Updates:
        """Add or change the model; the catalog if that went well, else what is wrong."""
        service, t = self.context.service(request), self.context.t
        try:
            edited = self._edited(service, name if isinstance(name, str) else "")
        except EvaluiError as error:
            return {self.address: leads_to(""), **self._catalog(service, self._sentence(error))}
        shared = service.settings.auth != "token"
        wanted = self.fields.read(sent, edited, shared=shared)
        try:
            entry = service.models.change(wanted) if edited else service.models.add(wanted)
        except InvalidModelForm as error:
            return self._wrong(wanted.place, dict(error.faults), self.fields.name_of(sent))
        except EvaluiError as error:
            shown = alert("bad", t.translate(error.sentence))
            return {self.problem: gr.update(value=shown, visible=True), **self.fields.marked({})}
        word = (
            "add.saved"
            if edited
            else "add.done_endpoint"
            if wanted.place == "endpoint"
            else "add.done"
        )
        saved = done(t(word, name=entry.name))
        key = {self.fields.texts["key"]: gr.update(value="")}  # stays on no page
        bar = {self.bar: self.context.bar(service, _NAME, {})}
        return {self.address: leads_to(""), **bar, **key, **self._catalog(service, saved)}

    def _wrong(self, place: str, faults: dict[str, str], name: str) -> Updates:
        if place == "endpoint" and "path" in faults and not name:
            faults.pop("name", None)  # without a name of its own it would be called as its path
        problem = alert("bad", self.context.t("add.wrong"))
        return {
            self.problem: gr.update(value=problem, visible=True),
            **self.fields.marked(faults),
        }

    def _head(self, beside: Html | str = "") -> Html:
        t = self.context.t
        return page_head(t("catalog.head"), t("catalog.promise"), beside)

    def _problem(self, key: str) -> Html | None:
        return alert("bad", self.context.t(key))

    def _sentence(self, error: EvaluiError) -> Html | None:
        return alert("bad", self.context.t.translate(error.sentence))


def _framed(content: Html) -> Html:
    """In the frame to which the style sheets of the other pages belong."""
    return fill("models/framed.html", content=content)
