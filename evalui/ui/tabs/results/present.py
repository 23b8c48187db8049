"""Views that are laid out with Gradio's components, as one piece of HTML each; charts are left out.

Each entry goes when its view renders itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalui.messages import Messages
from evalui.report.html import Html, div
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.run_view import RunView
from evalui.ui.tabs.results.samples import SamplesView
from evalui.ui.tabs.results.statistics import StatisticsView


@dataclass(frozen=True, slots=True)
class PresentView:
    """What `show` gives of a run, with its fields."""

    show: Callable[[str, Form], Any]
    answer: Callable[[str, Action], Html] | None = None

    def render(self, view: RunView, form: Form) -> Html:
        """The view without its charts."""
        shown = self.show(view.run.id, form)
        parts = shown if isinstance(shown, tuple) else (shown,)
        return div(*(part for part in parts if isinstance(part, Html)), cls="stack")

    def act(self, view: RunView, action: Action) -> Html | None:
        """The view after an action."""
        if self.answer:
            return self.answer(view.run.id, action)
        own = {key: value for key, value in action.data.items() if key not in ("do", "name")}
        return self.render(view, action.form | own)


def views(service: AppService, t: Messages) -> dict[str, PresentView]:
    """The views that are still laid out with components."""
    samples = SamplesView(service, t)
    return {
        "samples": PresentView(samples.show, samples.answer),
        "statistics": PresentView(StatisticsView(service, t).show),
    }
