"""The Admin page: people, queue, models, storage and server, for administrators alone.

What the page shows, which form is open and by whom the log is filtered stand in its address. It
looks again every few seconds, and changes what has changed; a form that is open stays as it is.
"""

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.report.html import Html
from evalui.ui.components.action import Action
from evalui.ui.components.address import address, leads_to, read_query
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.listing import bar, listing, markup
from evalui.ui.components.secret_link import secret_link
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert
from evalui.ui.pages.admin.changes import ChangeNotice, make_change
from evalui.ui.pages.admin.forms import (
    AdminForm,
    InvitationForm,
    PersonForm,
    PriorityForm,
    Updates,
)
from evalui.ui.pages.admin.queue import QueueView
from evalui.ui.pages.admin.server import ServerView
from evalui.ui.pages.admin.stock import ModelsView, StorageView
from evalui.ui.pages.admin.users import UsersView
from evalui.ui.pages.admin.view import View
from evalui.ui.pages.context import EVENTS, PageContext

_NAME = "admin"
_POLL_S = 5.0


def make_page(context: PageContext) -> None:
    """The page, where Gradio is to draw it."""
    AdminPage(context).wire()


class AdminPage:
    """Its components, and what changes them."""

    def __init__(self, context: PageContext) -> None:
        t = context.t
        self.context = context
        self.address = address(f"{t(f'tab.{_NAME}')} · {t('app.name')}", t.language)
        self.bar = bar()
        with gr.Column(elem_classes="page ev admin"):
            self.head = markup()
            self.notice = secret_link()
            self.verdict = listing()
            self.invitation = InvitationForm(t)
            self.person = PersonForm(t)
            self.priority = PriorityForm(t)
            self.server = ServerView(t, self.verdict)
            first = (UsersView, QueueView, ModelsView, StorageView)
            views: list[View] = [*(kind(t, self.verdict) for kind in first), self.server]
        self.views: Mapping[str, View] = {view.name: view for view in views}
        self.forms: tuple[AdminForm, ...] = (
            self.invitation,
            self.person,
            self.priority,
        )
        self.timer = gr.Timer(_POLL_S, active=False)
        # What the page shows by now: the server keeps nothing of a visitor.
        self.seen = gr.Textbox(visible="hidden", elem_classes="hidden-field")

    @property
    def lists(self) -> list[gr.HTML]:
        """All components whose markup the views fill."""
        return [
            self.verdict,
            *(part for view in self.views.values() for part in view.made.values()),
        ]

    @property
    def acting(self) -> Mapping[str, gr.HTML]:
        """Those of them that have buttons, by name."""
        views = self.views.values()
        return {"verdict": self.verdict} | {
            name: view.made[name] for view in views for name in view.acting
        }

    def wire(self) -> None:
        """Say what happens on which event."""
        logged = [self.server.who, self.server.log]
        state = [*self.lists, *logged, self.timer, self.seen]
        columns = [view.column for view in self.views.values()]
        shown = [self.bar, self.head, self.notice, *columns, *state]
        shown += [each for form in self.forms for each in form.outputs]
        self.address.open(
            self._open, None, shown, api_name=f"{_NAME}_open", trigger_mode="multiple", **EVENTS
        )
        for name, part in self.acting.items():
            part.act(
                self._act,
                [self.seen, self.server.who],
                [self.notice, *state],
                api_name=f"{_NAME}_act_{name}",
                **EVENTS,
            )
        self.timer.tick(
            self._look,
            [self.seen, self.server.who],
            [*self.lists, *logged, self.seen],
            api_name=f"{_NAME}_look",
            **EVENTS,
        )
        self.server.who.input(
            self._filter,
            [self.server.who],
            [self.address, self.bar, *logged],
            api_name=f"{_NAME}_filter",
            **EVENTS,
        )
        for button, form, do in (
            (self.invitation.invite, self.invitation, "invite"),
            (self.person.save, self.person, "person"),
            (self.person.disable, self.person, "disable"),
            (self.person.enable, self.person, "enable"),
            (self.person.remove, self.person, "remove"),
            (self.priority.save, self.priority, "priority"),
        ):
            button.click(
                self._saver(form, do),
                list(form.inputs.values()),
                [self.address, *shown],
                api_name=f"{_NAME}_{do}",
                **EVENTS,
            )

    def _open(self, event: gr.EventData, request: gr.Request) -> Updates:
        """What an address shows."""
        service = self.context.service(request)
        sent: Any = event._data  # pyright: ignore[reportPrivateUsage] # no other name
        form = read_query(sent.get("query") if sent else "")
        bar: Updates = {self.bar: self.context.bar(service, _NAME, form)}
        try:
            return bar | self._shown(service, form) | {self.notice: _notice(Html(""))}
        except EvaluiError as error:
            return bar | self._closed(self._sentence(error))

    def _shown(self, service: AppService, form: Form) -> Updates:
        service.require("administer")
        sub = field_value(form, "sub")
        view = self.views.get(sub) or self.views["users"]
        updates: Updates = {self.head: self._head(service, view.name)}
        for each in self.views.values():
            updates[each.column] = gr.update(visible=each is view)
        for each in self.forms:
            updates |= each.shown(service, form)
        updates[self.timer] = gr.update(active=True)
        return updates | self._state(service, view, field_value(form, "who"), "")

    def _closed(self, problem: Html) -> Updates:
        """Nothing of the page but why it is not shown."""
        hidden = gr.update(visible=False, value="")
        return {
            self.head: self._head(None, ""),
            self.notice: _notice(problem),
            self.timer: gr.update(active=False),
            **dict.fromkeys(self.lists, hidden),
            **{view.column: gr.update(visible=False) for view in self.views.values()},
            **{form.column: gr.update(visible=False) for form in self.forms},
        }

    def _state(self, service: AppService, view: View, who: str, seen: str) -> Updates:
        """What changes by itself in a view, as far as it is not as it was `seen`."""
        known, changed = set(seen.split()), Updates()
        now = [view.name]
        for place, (component, value) in enumerate(view.read(service).items()):
            digest = f"{place}:{_digest(value)}"
            now.append(digest)
            if digest not in known:
                changed[component] = gr.update(value=value, visible=bool(value))
        if view is self.server:
            digest = f"log:{_digest(repr(self.server.read_log(service, who)))}"
            now.append(digest)
            if digest not in known:
                changed |= self.server.logged(service, who)
        return changed | {self.seen: " ".join(now)} if changed else changed

    def _view(self, seen: object) -> tuple[View, str]:
        """The view that the page shows, and what is seen of it."""
        text = seen if isinstance(seen, str) else ""
        return self.views.get(text.partition(" ")[0]) or self.views["users"], text

    def _look(self, request: gr.Request, seen: object, who: object) -> Any:
        service = self.context.service(request)
        service.require("administer")
        changed = self._state(service, *self._seen(seen, who))
        return changed or gr.skip()  # pyright: ignore[reportUnknownVariableType] # of Gradio

    def _seen(self, seen: object, who: object) -> tuple[View, str, str]:
        view, text = self._view(seen)
        return view, who if isinstance(who, str) else "", text

    def _filter(self, request: gr.Request, who: object) -> Updates:
        """The log of one person, whose name comes into the address."""
        service = self.context.service(request)
        service.require("administer")
        name = who if isinstance(who, str) else ""
        query: Form = {"sub": "server", "who": name} if name else {"sub": "server"}
        return {
            self.address: leads_to(urlencode(query)),
            self.bar: self.context.bar(service, _NAME, query),
            **self.server.logged(service, name),
        }

    def _act(self, event: gr.EventData, request: gr.Request, seen: object, who: object) -> Updates:
        """Make the change of a button in a list."""
        service = self.context.service(request)
        action = Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # no other name
        try:
            done = make_change(service, action.do, action.data)
            notice = self._done(service, done)
            return {self.notice: _notice(notice), **self._state(service, *self._seen(seen, who))}
        except EvaluiError as error:
            return {self.notice: _notice(self._sentence(error))}

    def _saver(self, form: AdminForm, do: str) -> Any:
        """A listener that makes a change with what stands in a form, closed if that went well."""

        def save(request: gr.Request, *values: Any) -> Updates:
            service, sent = self.context.service(request), form.sent(values)
            try:
                done = make_change(service, do, sent)
                query: Form = {"sub": "queue"} if form is self.priority else {}
                shown = self._shown(service, query)
            except EvaluiError as error:
                return {self.notice: _notice(self._sentence(error))}
            bar = self.context.bar(service, _NAME, query)
            notice = _notice(self._done(service, done))
            leads = {self.address: leads_to(urlencode(query)), self.bar: bar}
            return leads | shown | {self.notice: notice}

        return save

    def _done(self, service: AppService, notice: ChangeNotice | None) -> Html:
        """What was done, in words; the one time that the link of an invitation can be copied."""
        if notice is None:
            return Html("")
        t, address = self.context.t, ""
        if notice.secret:
            server = service.settings.public_url.rstrip("/") or ".."
            address = f"{server}/invitation/{notice.secret}"
        text = t(f"admin.done.{notice.key}", **notice.values)
        return fill("admin/done.html", t=t, text=text, address=address)

    def _head(self, service: AppService | None, shown: str) -> Html:
        t, damage = self.context.t, None
        if service and (reason := service.database.damage):
            damage = alert("bad", t("admin.store_damaged", reason=reason))
        views = list(self.views) if service else []
        return fill("admin/head.html", t=t, views=views, shown=shown, damage=damage)

    def _sentence(self, error: EvaluiError) -> Html:
        return alert("bad", self.context.t.translate(error.sentence)) or Html("")


def _notice(shown: Html) -> Any:
    return gr.update(value=shown, visible=bool(shown))


def _digest(shown: str) -> str:
    return hashlib.sha256(shown.encode()).hexdigest()[:12]
