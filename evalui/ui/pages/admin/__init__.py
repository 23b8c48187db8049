"""The Admin page: people, queue, models, storage and server, for administrators alone.

What it shows, which form is open and by whom the log is filtered stand in its address.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import gradio as gr

from evalui.accounts.audit import AuditEntry
from evalui.app.people import list_audit
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.ui.components.action import Action
from evalui.ui.components.listing import listing, markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert
from evalui.ui.pages.admin.changes import make_change
from evalui.ui.pages.admin.forms import draw_form
from evalui.ui.pages.admin.views import VIEWS
from evalui.ui.screen import Screen

_POLL_S = 5.0
_ENTRIES = 200  # of the log that are shown
_COLUMNS = ("when", "who", "deed", "thing", "detail")


def page(screen: Screen) -> None:
    """A view with the form that is open in it; the view is looked at again, the form stays."""
    t, service = screen.t, screen.service
    service.require("administer")
    sub = screen.value("sub")
    sub = sub if sub in VIEWS else "users"
    view = VIEWS[sub](service, t)
    with gr.Column(elem_classes="page ev admin"):
        reason = service.database.damage
        damage = alert("bad", t("admin.store_damaged", reason=reason)) if reason else ""
        markup(fill("admin/head.html", t=t, views=list(VIEWS), shown=sub, damage=damage))
        made = markup(visible=False)  # a link that is shown once
        verdict = listing(view.verdict)
        form = draw_form(screen, sub)
        body = listing(view.body)
        if sub == "server":
            _log(screen)
        timer = gr.Timer(_POLL_S)

    def look(service: AppService) -> list[str]:
        now = VIEWS[sub](service, t)
        return [now.verdict, now.body]

    def change(service: AppService, do: str, sent: Mapping[str, Any]) -> Mapping[Any, Any]:
        done = make_change(service, do, sent)
        if done and done.secret:
            server = service.settings.public_url.rstrip("/") or ".."
            text = t(f"admin.done.{done.key}", **done.values)
            link = fill(
                "admin/done.html", t=t, text=text, address=f"{server}/invitation/{done.secret}"
            )
            shown = dict(zip((verdict, body), look(service), strict=True))
            closed = {form.card: gr.update(visible=False)} if form else {}
            return {made: gr.update(value=link, visible=True), **shown, **closed}
        if done:
            gr.Info(t(f"admin.done.{done.key}", **done.values), title=t("tab.admin"))
        return {screen.place: screen.address(add="", person="", run="")}

    def press(service: AppService, action: Action) -> Mapping[Any, Any]:
        return change(service, action.do, action.data)

    changed = [screen.place, made, verdict, body]
    for part in (verdict, body):
        # Words that appear for a moment are told through the queue.
        screen.on_act(part, press, None, changed, queue=True)
    if form:
        for do, button in form.buttons.items():

            def send(service: AppService, *values: Any, do: str = do) -> Mapping[Any, Any]:
                return change(service, do, form.sent | dict(zip(form.fields, values, strict=True)))

            fields = list(form.fields.values())
            screen.on(button.click, send, fields, [*changed, form.card], queue=True)
    screen.on(timer.tick, look, None, [verdict, body])


def _log(screen: Screen) -> None:
    """Who changed what, of all or of one person."""
    t, entries = screen.t, list_audit(screen.service, _ENTRIES)
    names = sorted({each.person for each in entries})
    with gr.Column(elem_classes="card audit"):
        with gr.Row():
            markup(fill("admin/heading.html", text=t("admin.audit"), about=""))
            with gr.Column(min_width=200, elem_classes="field"):
                everybody = {"": t("admin.everybody")}
                who = screen.picker(
                    "who", t("admin.audit_who"), everybody | {name: name for name in names}
                )
        gr.Dataframe(
            [_row(t, each) for each in entries if who in ("", each.person)],
            headers=[t(f"admin.audit_column.{name}") for name in _COLUMNS],
            column_count=len(_COLUMNS),
            interactive=False,
            buttons=["copy", "fullscreen"],
            show_search="search",
            label=t("admin.audit"),
            show_label=False,
            wrap=True,
        )


def _row(t: Messages, entry: AuditEntry) -> list[str]:
    deed = f"deed.{entry.deed}"
    return [
        f"{datetime.fromtimestamp(entry.at).astimezone():%Y-%m-%d %H:%M}",
        entry.person,
        t(deed) if deed in t else entry.deed,
        entry.thing,
        "; ".join(f"{name}: {value}" for name, value in entry.detail.items()),
    ]
