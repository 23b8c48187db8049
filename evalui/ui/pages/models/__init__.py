"""The Models page: what there is, what each model can do, and what this server has room for.

`?add=PLACE` and `?edit=NAME` open the form that adds or changes a model.
"""

from datetime import datetime
from typing import Any

import gradio as gr

from evalui.app.service import AppService
from evalui.errors import ModelError
from evalui.ui.components.action import Action
from evalui.ui.components.listing import listing, markup
from evalui.ui.components.widgets import link, page_head
from evalui.ui.pages.models.catalog import read_catalog
from evalui.ui.pages.models.form import model_form, place_of, place_of_entry
from evalui.ui.screen import Screen

_POLL_S = 2.0


def page(screen: Screen) -> None:
    """The catalog, or the form that the address opens."""
    t, models = screen.t, screen.service.models
    add, edit = screen.value("add"), screen.value("edit")
    if (add or edit) and not models.may_edit:
        raise ModelError("models-not-yours")
    edited = models.added_entry(edit) if edit else None
    new = link(t("add.title"), "models?add=endpoint", cls="btn pri")
    with gr.Column(elem_classes="page ev stack models-page"):
        offered = "" if add or edit or not models.may_edit else new
        markup(page_head(t("catalog.head"), t("catalog.promise"), offered))
        if edited:
            model_form(screen, place_of_entry(edited), edited)
        elif add:
            model_form(screen, place_of(add), None)
        else:
            _catalog(screen)


def _catalog(screen: Screen) -> None:
    """The models and the server, looked at again while they can change."""
    t = screen.t
    catalog = read_catalog(screen.service, t)
    models, server = listing(catalog.models), listing(catalog.server)
    timer = gr.Timer(_POLL_S, active=catalog.is_live)

    def look(service: AppService) -> list[Any]:
        now = read_catalog(service, t)
        return [now.models, now.server, gr.update(active=now.is_live)]

    def act(service: AppService, action: Action) -> list[Any]:
        name = action.value("model")
        if action.do == "test":
            service.models.queue_test(name, service.owner)
        elif action.do == "again":
            service.models.refresh(name)
            now = f"{datetime.now().astimezone():%H:%M:%S}"
            gr.Info(t("catalog.looked_at", when=now), title=t("tab.models"))
        elif action.do == "remove":
            service.models.remove(name)
            gr.Info(t("catalog.removed", name=name), title=t("tab.models"))
        return look(service)

    shown = [models, server, timer]
    screen.on(timer.tick, look, None, shown)
    # Words that appear for a moment are told through the queue.
    screen.on_act(models, act, None, shown, queue=True, trigger_mode="multiple")
