"""The view of a run's questions for tests, by the id of the run."""

from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.report.html import Html
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.tabs.results.samples import SamplesView


class ShownSamples:
    """The view in English."""

    def __init__(self, desk: AppService) -> None:
        self._desk = desk
        self._t = messages("en")
        self._view = SamplesView(desk, self._t)

    def show(self, run_id: str, form: Form | None = None) -> Html:
        """The view as the address in `form` names it."""
        return self._view.render(RunView(self._desk, self._t, run_id), form or {})

    def answer(self, run_id: str, action: Action) -> Html:
        """The view after an action that changes it."""
        answered = self._view.act(RunView(self._desk, self._t, run_id), action)
        assert answered is not None
        return answered
