"""Results, the panel of who else may see a run: everybody here, and links to a frozen page."""

import gradio as gr

from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.app.sharing import share_run, show_everyone
from evalui.ui.screen import Screen
from evalui.ui.sharing.links import SharedPage
from evalui.ui.sharing.panel import link_panel


def sharing_panel(screen: Screen, view: RunView, page: SharedPage) -> None:
    """The links to a run, and whether everybody with an account may see it, where it is open."""
    run = view.run
    panel = link_panel(screen, page, lambda service, days: share_run(service, run.id, days))
    if not panel or screen.service.settings.auth == "token":
        return
    with panel:
        box = gr.Checkbox(
            run.everyone, label=screen.t("share.everyone"), container=False, interactive=True
        )

    def tick(service: AppService, everyone: bool) -> None:
        show_everyone(service, run.id, everyone=everyone)

    screen.on(box.input, tick, box)
