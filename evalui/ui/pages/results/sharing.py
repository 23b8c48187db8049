"""Results, the panel of who else may see a run: links to a frozen page, and rights of teams."""

from typing import Any, cast

import gradio as gr

from evalui.access import Right
from evalui.accounts.shares import DEFAULT_SHARE_DAYS, SHARE_DAYS
from evalui.app.run_view import RunView
from evalui.app.sharing import run_address, share_run, state_run_rights, team_rights, withdraw
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.action import Action
from evalui.ui.components.form import PANEL, Form, field_value
from evalui.ui.components.listing import listing, markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert, copy_button
from evalui.ui.pages.results.overview import shared_page
from evalui.ui.sharing.links import links_table

_RIGHTS: tuple[Right, ...] = ("view", "annotate")  # what a team may do with a run
_BETWEEN = "/"  # team and right in one value; names of teams have none


class SharingPanel:
    """Its components; hidden unless the address opens it for somebody who may share the run."""

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
            self.teams = gr.CheckboxGroup([], label=t("teams.title"), visible=False)
            self.none = markup(fill("results/no_team.html", t=t), visible=False, elem_classes="ev")

    @property
    def outputs(self) -> list[Any]:
        """Every component that changes."""
        own = [self.panel, self.head, self.problem, self.days, self.here]
        return [*own, self.links, self.teams, self.none]

    def hidden(self) -> dict[Any, Any]:
        """No panel."""
        return {self.panel: gr.update(visible=False), self.problem: gr.update(visible=False)}

    def shown(self, view: RunView, form: Form) -> dict[Any, Any]:
        """The panel if the address has it open, and the person may use it."""
        page, service, t = shared_page(view), view.service, self.t
        if not field_value(form, PANEL) or not page.is_shared_by(service):
            return self.hidden()
        links = links_table(service, t, page)
        copy = copy_button(t, page.copied)
        return {
            self.panel: gr.update(visible=True),
            self.problem: gr.update(visible=False),
            self.head: fill("results/share_head.html", t=t, close=page.address),
            self.here: fill("results/share_here.html", word=t("share.here"), copy=copy),
            self.links: gr.update(
                value=fill("results/links.html", links=links or ""), visible=links is not None
            ),
            **self._teams(view),
        }

    def _teams(self, view: RunView) -> dict[Any, Any]:
        """A box for each right of each team; none where nobody has an account."""
        if view.service.settings.auth == "token":
            return {self.teams: gr.update(visible=False), self.none: gr.update(visible=False)}
        given = team_rights(view.service, view.run.id)
        choices = [
            (f"{team}: {self.t(f'teams.{right}')}", f"{team}{_BETWEEN}{right}")
            for team in given
            for right in _RIGHTS
        ]
        held = [f"{team}{_BETWEEN}{right}" for team, rights in given.items() for right in rights]
        return {
            self.teams: gr.update(choices=choices, value=held, visible=bool(choices)),
            self.none: gr.update(visible=not choices),
        }

    def add_link(self, view: RunView, form: Form, days: object) -> dict[Any, Any]:
        """The panel after a link was made, or with why it was not."""
        wanted = int(days) if isinstance(days, str) and days in map(str, SHARE_DAYS) else 0
        return self._after(view, form, lambda: share_run(view.service, view.run.id, wanted))

    def act(self, view: RunView, form: Form, action: Action) -> dict[Any, Any]:
        """The panel after a button of the list of links."""
        link, address = action.value("link"), run_address(view.run.id)
        view.service.require("change", view.run.id)
        return self._after(view, form, lambda: withdraw(view.service, link, address))

    def give_rights(self, view: RunView, form: Form, held: object) -> dict[Any, Any]:
        """The panel after teams were given other rights."""
        kept = cast("list[object]", held) if isinstance(held, list) else []

        def state() -> None:
            for team, given in team_rights(view.service, view.run.id).items():
                wanted: list[Right] = [
                    right for right in _RIGHTS if f"{team}{_BETWEEN}{right}" in kept
                ]
                if given.symmetric_difference(wanted):
                    state_run_rights(view.service, view.run.id, team, wanted)

        return self._after(view, form, state)

    def _after(self, view: RunView, form: Form, change: Any) -> dict[Any, Any]:
        try:
            change()
        except EvaluiError as error:
            return self.shown(view, form) | {self.problem: _problem(self.t, error)}
        return self.shown(view, form)


def _problem(t: Messages, error: EvaluiError) -> dict[str, Any]:
    return gr.update(value=alert("bad", t.translate(error.sentence)) or Html(""), visible=True)
