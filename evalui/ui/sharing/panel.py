"""The panel of links to a page: makes them, lists them, ends them."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from evalui.accounts.shares import DEFAULT_SHARE_DAYS, SHARE_DAYS
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.form import PANEL, Form, field_value
from evalui.ui.components.listing import listing, markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert
from evalui.ui.sharing.links import SharedPage, links_table


class LinkPanel:
    """Its components; hidden unless the address opens it for somebody who may share the page."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        days = [(t("share.days", n=n), str(n)) for n in SHARE_DAYS]
        with gr.Column(visible=False, elem_classes="card share-panel") as self.panel:
            self.head = markup(elem_classes="ev")
            self.problem = markup(visible=False, elem_classes="ev")
            with gr.Row(elem_classes="acts"):
                self.days = gr.Dropdown(
                    days,
                    value=str(DEFAULT_SHARE_DAYS),
                    label=t("share.works"),
                    elem_classes="field",
                )
                self.make = gr.Button(t("share.make"), variant="primary", scale=0)
                self.here = markup(elem_classes="ev")
            self.links = listing()

    @property
    def outputs(self) -> list[Any]:
        """Every component that changes."""
        return [self.panel, self.head, self.problem, self.here, self.links]

    def hidden(self) -> dict[Any, Any]:
        """No panel."""
        return {self.panel: gr.update(visible=False), self.problem: gr.update(visible=False)}

    def shown(self, service: AppService, page: SharedPage, form: Form) -> dict[Any, Any]:
        """The panel if the address has it open, and the person may use it."""
        t = self.t
        if not field_value(form, PANEL) or not page.is_shared_by(service):
            return self.hidden()
        links = links_table(service, t, page)
        return {
            self.panel: gr.update(visible=True),
            self.problem: gr.update(visible=False),
            self.head: fill("results/share_head.html", t=t, close=page.address),
            self.here: fill("results/share_here.html", t=t, address=page.copied),
            self.links: gr.update(value=links or Html(""), visible=links is not None),
        }

    def after(self, problem: EvaluiError | None) -> dict[Any, Any]:
        """Why a change was not made, if it was not; beside what is `shown` after it."""
        if problem is None:
            return {}
        text = self.t.translate(problem.sentence)
        return {self.problem: gr.update(value=alert("bad", text) or Html(""), visible=True)}


def chosen_days(days: object) -> int:
    """The days that a list of the panel names; those that nobody may choose as 0."""
    return int(days) if isinstance(days, str) and days in map(str, SHARE_DAYS) else 0


def tried(change: Callable[[], object]) -> EvaluiError | None:
    """Make a change, and return why it could not be made."""
    try:
        change()
    except EvaluiError as error:
        return error
    return None
