"""Results, the panel of who else may see a run: everybody here, and links to a frozen page."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from evalui.app.run_view import RunView
from evalui.app.sharing import run_address, share_run, show_everyone, withdraw
from evalui.messages import Messages
from evalui.ui.components.action import Action
from evalui.ui.components.form import Form
from evalui.ui.pages.results.overview import shared_page
from evalui.ui.sharing.panel import LinkPanel, chosen_days, tried


class SharingPanel(LinkPanel):
    """The panel of links to a run, and below them whether everybody with an account may see it."""

    def __init__(self, t: Messages) -> None:
        super().__init__(t)
        with self.panel:
            self.everyone = gr.Checkbox(False, label=t("share.everyone"), container=False)

    @property
    def outputs(self) -> list[Any]:
        """Every component that changes."""
        return [*super().outputs, self.everyone]

    def shown_of(self, view: RunView, form: Form) -> dict[Any, Any]:
        """The panel of a run, as `shown`."""
        has_accounts = view.service.settings.auth != "token"
        box = gr.update(value=view.run.everyone, visible=has_accounts)
        return {**self.shown(view.service, shared_page(view), form), self.everyone: box}

    def show_everyone(self, view: RunView, form: Form, everyone: object) -> dict[Any, Any]:
        """The panel after the box was ticked, or not any more."""
        show_everyone(view.service, view.run.id, everyone=everyone is True)
        return self.shown_of(RunView(view.service, view.t, view.run.id), form)

    def add_link(self, view: RunView, form: Form, days: object) -> dict[Any, Any]:
        """The panel after a link was made, or with why it was not."""
        return self._tried(
            view, form, lambda: share_run(view.service, view.run.id, chosen_days(days))
        )

    def act(self, view: RunView, form: Form, action: Action) -> dict[Any, Any]:
        """The panel after a button of the list of links."""
        link, address = action.value("link"), run_address(view.run.id)
        view.service.require("change", view.run.id)
        return self._tried(view, form, lambda: withdraw(view.service, link, address))

    def _tried(self, view: RunView, form: Form, change: Callable[[], object]) -> dict[Any, Any]:
        problem = tried(change)
        return self.shown_of(view, form) | self.after(problem)
