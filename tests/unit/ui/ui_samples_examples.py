"""The view of a run's questions for tests, by the id of the run."""

from urllib.parse import parse_qsl

from ui_results_screen import text_of

from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.ui.components.form import Form, read_form
from evalui.ui.components.list_and_reader import ListContent
from evalui.ui.pages.results import samples


class ShownSamples:
    """The view in English, without a page around it."""

    def __init__(self, desk: AppService) -> None:
        self._desk = desk
        self._t = messages("en")

    def content(self, run_id: str, form: Form | None = None) -> ListContent:
        """What the address in `form` shows."""
        return samples.content(self._view(run_id), form or {})

    def show(self, run_id: str, form: Form | None = None) -> str:
        """The same as text: what stands above, what can be filtered by, the list and the reader."""
        return text_of(self.content(run_id, form))

    def changed(self, run_id: str, form: Form, **fields: str) -> Form:
        """The parameters of the address after a field beside the list was changed, {} if none."""
        query = samples.changed(self._view(run_id), form, {**fields})
        return read_form(parse_qsl(query))

    def _view(self, run_id: str) -> RunView:
        return RunView(self._desk, self._t, run_id)
