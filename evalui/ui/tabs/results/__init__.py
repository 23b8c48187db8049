"""What of the results of a run has not moved to its page: its samples, and its duels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evalui.app.run_labels import LIVE_STATES
from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html, div
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.fragment import Action
from evalui.ui.run_frame import run_frame
from evalui.ui.tabs.results import duels
from evalui.ui.tabs.results.samples import SamplesView

_FIRST = "samples"  # where a run has no duels
_WATCH_MS = 2000  # milliseconds between looks at a run that is not finished
_FIRST_WATCH_MS = 500  # the same while it has no answer, and somebody waits for its first figure


@dataclass(frozen=True, slots=True)
class SubView:
    """One view of a run: everything it shows, whose root may carry the address of what is shown.

    `act` gives the view after an action, None if it stays as it is.
    """

    render: Callable[[RunView, Form], Html]
    act: Callable[[RunView, Action], Html | None]


class ResultsTab:
    """The tab in one language; the address is its whole state."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        samples = SamplesView(service, t)
        self.views: Mapping[str, SubView] = {
            "duels": SubView(duels.render, duels.act),
            "samples": SubView(samples.render, samples.act),
        }

    def render(self, form: Form) -> Html:
        """The run of the address in the view it names."""
        view = RunView(self.service, self.t, field_value(form, "run"))
        name = self._name(view, form)
        return self._framed(view, name, self.views[name].render(view, form))

    def act(self, action: Action) -> Html | None:
        """The tab after an action, None if it leaves it as it is."""
        view = RunView(self.service, self.t, field_value(action.form, "run"))
        name = self._name(view, action.form)
        content = self.views[name].act(view, action)
        return None if content is None else self._framed(view, name, content)

    def _name(self, view: RunView, form: Form) -> str:
        requested = field_value(form, "sub")
        has_it = requested != "duels" or not view.has_choices
        return requested if requested in self.views and has_it else _FIRST

    def _framed(self, view: RunView, name: str, content: Html) -> Html:
        pause = _WATCH_MS if view.run.done else _FIRST_WATCH_MS
        is_live = view.run.state in LIVE_STATES
        return div(
            run_frame(view, name),
            content,
            cls="results",
            data_watch=pause if is_live else None,
        )
