"""The pages of one language: which tab an address shows, the bar above it, and what a tab answers.

Nothing here knows Gradio: a page is rendered while Gradio is still being imported.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from importlib import import_module
from threading import Lock
from typing import Protocol

from evalui.app.run_labels import LIVE_STATES
from evalui.app.run_view import still_there
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import messages
from evalui.report.html import Html, div, el, join
from evalui.types import Language
from evalui.ui.components.form import PANEL, Form, field_value, field_values, read_form
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import note
from evalui.ui.current_person import current_person
from evalui.ui.deeds import required_deed
from evalui.ui.top_bar import PAGES, takes_run, top_bar

# By name, because the first page need not wait for the modules of the other tabs.
TABS = {
    "results": "ResultsTab",  # its views that have not moved to the page
}
TAB_VIEWS = ("samples", "duels")  # of results
# Tabs whose page depends on the run of its address, and on nobody who looks at it.
_OF_RUN = ("results",)


class Tab(Protocol):
    """One tab of the page."""

    def render(self, form: Form) -> Html:
        """Everything the address shows; `form` holds its parameters."""
        ...

    def act(self, action: Action) -> Html | None:
        """The tab after an action, None if it stays as it is."""
        ...


@dataclass(frozen=True, slots=True)
class Page:
    """What an address shows: the name of the tab, the bar above it, its content and its title.

    `problem` is why there is no more than a sentence of it.
    """

    tab: str
    bar: Html
    content: Html
    title: str
    problem: EvaluiError | None = None


def _nothing() -> None:
    """Nothing is to be started."""


class AppShell:
    """One language of the application; `warm` starts what a run and its files may soon need."""

    def __init__(
        self, service: AppService, language: Language, warm: Callable[[], None] = _nothing
    ) -> None:
        self.service = service.with_sender(current_person)
        self.language: Language = language
        self.warm = warm
        self.t = messages(language)
        self._tabs: dict[str, Tab] = {}
        self._lock = Lock()  # of _tabs: a tab is made once, however many addresses need it
        self._shared = service.pages.memoize_newest(self._render)

    def tab(self, name: str) -> Tab:
        """The tab of a name; its modules are imported with its first use."""
        with self._lock:
            if name not in self._tabs:
                kind = getattr(import_module(f"evalui.ui.tabs.{name}"), TABS[name])
                self._tabs[name] = kind(self.service, self.t)
            return self._tabs[name]

    def page(self, form: Form) -> Page:
        """What an address shows."""
        place = self.place(form)
        name = place if place in TABS else next(iter(TABS))  # what is no tab has its own document
        bar, title = top_bar(self.service, self.t, name, form), self._title(name, form)
        try:
            with still_there(self.service, field_value(form, "run")):
                return Page(name, bar, self._content(name, form), title)
        except EvaluiError as error:
            return Page(name, bar, self._problem(error), title, error)

    def answer(self, name: str, action: Action) -> Html:
        """What a tab answers to an action, or to none when it is shown again.

        The mark tells the script which action is answered, and whether anything is to be drawn.
        """
        shown = problem = None
        live = 0
        try:
            tab, live = self.tab(name), self.service.queued_runs()
            with still_there(self.service, field_value(action.form, "run")):
                self._require(name, action)
                shown = tab.act(action) if action.do else tab.render(action.form)
        except EvaluiError as error:
            problem = self._problem(error)
        return div(
            shown or problem,
            data_answer=action.value("sequence"),
            data_kind="page" if shown else "problem" if problem else "same",
            data_live=live,
            data_title=self._title(name, action.form),
        )

    def _require(self, tab: str, action: Action) -> None:
        """Raise `NotAllowed` unless the person may do what an action does."""
        required = required_deed(tab, action)
        # A tab may read the run from either: whoever names two has to be allowed with both.
        named = {action.data.get(required.run, ""), field_value(action.form, required.run)} - {""}
        for run in named or {""}:
            self.service.require(required.deed, run)

    def _content(self, name: str, form: Form) -> Html:
        """The tab of an address, rendered once for everybody where nothing of it is personal."""
        state = self._state(name, form)
        if state is None:
            return self.tab(name).render(form)
        parameters = sorted((key, field_values(form, key)) for key in form)
        return self._shared(name, tuple(parameters), *state)

    def _state(self, name: str, form: Form) -> tuple[Hashable, Hashable] | None:
        """What the page of an address depends on beside it, None if it cannot be shared.

        That is for whom it is, each of whom has one that is kept, and its version.
        """
        if PANEL in form:
            return None
        run = field_value(form, "run") if name in _OF_RUN else ""
        try:
            return self.service.state(run) if name in _OF_RUN else None
        except UnknownRun:
            return None  # the tab states it

    def _render(
        self,
        name: str,
        parameters: tuple[tuple[str, tuple[str, ...]], ...],
        audience: Hashable,
        version: Hashable,
    ) -> Html:
        del audience, version  # of what is kept
        return self.tab(name).render(
            read_form((key, each) for key, parts in parameters for each in parts)
        )

    def _problem(self, error: EvaluiError) -> Html:
        return div(note("bad", self.t.translate(error.sentence)), role="alert")

    def _title(self, name: str, form: Form) -> str:
        """What a browser calls the page: the run it is about, and how far that is."""
        t, run_id = self.t, field_value(form, "run")
        parts = [t(f"tab.{name}"), t("app.name")]
        if not run_id or not takes_run(name):
            return " · ".join(parts)
        try:
            run = self.service.run(run_id)
        except EvaluiError:
            return " · ".join(parts)
        far = f"{100 * run.done // run.total} %" if run.total and run.state == "running" else ""
        return " · ".join([far or t(f"title.{run.state}"), run.name, *parts])

    def page_of(self, form: Form) -> str:
        """The page of Gradio to which an address of the tabs leads, "" if it is a tab's.

        Raises:
            StoreError: no page can be shown.
        """
        self.service.queued_runs()  # reads the store: its fault is said before a page is opened
        name = self.place(form)
        return name if name in PAGES else ""

    def place(self, form: Form) -> str:
        """Which tab or page an address of the tabs leads to."""
        requested, run = field_value(form, "tab"), field_value(form, "run")
        if requested == "arena" and run:
            return "results"  # where one judged run is read
        if requested in TABS or requested in PAGES:
            return requested
        if not run:
            return "evaluate"
        try:
            live = self.service.run(run).state in LIVE_STATES
        except EvaluiError:
            live = False
        return "runs" if live and "sub" not in form else "results"


def sections(page: Page) -> Html:
    """A place for each tab; only that of the address is filled and shown."""
    return join(
        *(
            el(
                "section",
                page.content if name == page.tab else None,
                cls="ev page tab-page",
                id=f"tab-{name}",
                data_tab=name,
                hidden=name != page.tab,
            )
            for name in TABS
        )
    )
