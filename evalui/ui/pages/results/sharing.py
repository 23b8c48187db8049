"""Results, the panel of who else may see a run: links to a frozen page, and rights of teams."""

from collections.abc import Callable
from typing import Any, cast

import gradio as gr

from evalui.access import Right
from evalui.app.run_view import RunView
from evalui.app.sharing import run_address, share_run, state_run_rights, team_rights, withdraw
from evalui.messages import Messages
from evalui.ui.components.action import Action
from evalui.ui.components.form import Form
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.pages.results.overview import shared_page
from evalui.ui.sharing.panel import LinkPanel, chosen_days, tried

_RIGHTS: tuple[Right, ...] = ("view", "annotate")  # what a team may do with a run
_BETWEEN = "/"  # team and right in one value; names of teams have none


class SharingPanel(LinkPanel):
    """The panel of links to a run, and below them what teams may do with it."""

    def __init__(self, t: Messages) -> None:
        super().__init__(t)
        with self.panel:
            self.teams = gr.CheckboxGroup([], label=t("teams.title"), visible=False)
            self.none = markup(fill("results/no_team.html", t=t), visible=False, elem_classes="ev")

    @property
    def outputs(self) -> list[Any]:
        """Every component that changes."""
        return [*super().outputs, self.teams, self.none]

    def shown_of(self, view: RunView, form: Form) -> dict[Any, Any]:
        """The panel of a run, as `shown`, with the rights of teams."""
        links = self.shown(view.service, shared_page(view), form)
        return links if links == self.hidden() else links | self._teams(view)

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
        return self._tried(
            view, form, lambda: share_run(view.service, view.run.id, chosen_days(days))
        )

    def act(self, view: RunView, form: Form, action: Action) -> dict[Any, Any]:
        """The panel after a button of the list of links."""
        link, address = action.value("link"), run_address(view.run.id)
        view.service.require("change", view.run.id)
        return self._tried(view, form, lambda: withdraw(view.service, link, address))

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

        return self._tried(view, form, state)

    def _tried(self, view: RunView, form: Form, change: Callable[[], object]) -> dict[Any, Any]:
        problem = tried(change)
        return self.shown_of(view, form) | self.after(problem)
