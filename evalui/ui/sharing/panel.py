"""The panel of links to a page: makes them, lists them, ends them."""

from collections.abc import Callable

import gradio as gr

from evalui.accounts.shares import DEFAULT_SHARE_DAYS, SHARE_DAYS
from evalui.app.service import AppService
from evalui.app.sharing import withdraw
from evalui.ui.components.action import Action
from evalui.ui.components.form import PANEL
from evalui.ui.components.listing import listing, markup
from evalui.ui.components.templates import fill
from evalui.ui.screen import Screen
from evalui.ui.sharing.links import SharedPage, links_table


def link_panel(
    screen: Screen, page: SharedPage, share: Callable[[AppService, int], object]
) -> gr.Column | None:
    """The panel, where the address has it open for somebody who may share the page.

    `share` makes a link that works for a number of days. Returns the panel for what else stands
    in it, None where there is none.
    """
    t, service = screen.t, screen.service
    if not screen.value(PANEL) or not page.is_shared_by(service):
        return None
    here = screen.address()

    def make(service: AppService, days: str) -> str:
        share(service, int(days))
        return here

    def end(service: AppService, action: Action) -> str:
        for run in page.runs:
            service.require("change", run.id)
        withdraw(service, action.value("link"), page.links)
        return here

    with gr.Column(elem_classes="card share-panel") as panel:
        markup(fill("results/share_head.html", t=t, close=page.address), elem_classes="ev")
        with gr.Row(elem_classes="acts"):
            days = gr.Dropdown(
                [(t("share.days", n=n), str(n)) for n in SHARE_DAYS],
                value=str(DEFAULT_SHARE_DAYS),
                label=t("share.works"),
                interactive=True,
                elem_classes="field",
            )
            button = gr.Button(t("share.make"), variant="primary", scale=0)
            markup(fill("results/share_here.html", t=t, address=page.copied), elem_classes="ev")
        if links := links_table(service, t, page):
            screen.on_act(listing(links), end, None, screen.place)
    screen.on(button.click, make, days, screen.place)
    return panel
