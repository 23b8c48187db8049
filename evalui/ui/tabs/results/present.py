"""The views of a run that have no actions of their own: what a user does changes their fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from evalui.messages import Messages
from evalui.report.html import Html, div
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.bias import BiasView
from evalui.ui.tabs.results.calibration import render_calibration
from evalui.ui.tabs.results.health import render_health
from evalui.ui.tabs.results.run_view import RunView
from evalui.ui.tabs.results.statistics import StatisticsView


@dataclass(frozen=True, slots=True)
class RenderedView:
    """A view that is rendered anew after each action, with the fields it changed."""

    show: Callable[[RunView, Form], Html]

    def render(self, view: RunView, form: Form) -> Html:
        """The view of a run, for the fields of its address."""
        return self.show(view, form)

    def act(self, view: RunView, action: Action) -> Html | None:
        """The view after an action."""
        own = {key: value for key, value in action.data.items() if key not in ("do", "name")}
        return self.show(view, action.form | own)


def rendered_views(service: AppService, t: Messages) -> Mapping[str, RenderedView]:
    """The views by their names in the address."""
    statistics = StatisticsView(service, t)

    def show_statistics(view: RunView, form: Form) -> Html:
        parts = statistics.show(view.run.id, form)
        return div(*(part for part in parts if isinstance(part, Html)), cls="stack")

    return {
        "bias": RenderedView(BiasView(service, t).render),
        "statistics": RenderedView(show_statistics),
        "calibration": RenderedView(partial(render_calibration, t, sub="calibration")),
        "health": RenderedView(lambda view, _: render_health(t, view)),
    }
