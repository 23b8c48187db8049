"""What a page is made of: a function of a `Screen`, drawn anew whenever its address changes.

    def page(screen: Screen) -> None:
        day = screen.picker("day", "Day", {"1": "Monday", "2": "Tuesday"})
        gr.Markdown(f"# {day}")
        add = gr.Button("Next day")
        screen.on(add.click, lambda service: screen.address(day="2"), None, screen.place)

The parameters of the address are the only state of a page. They come with every event of Gradio's,
in `request.query_params`; a listener changes the page by answering another address to `place`.
"""

import json
import logging
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Concatenate, cast
from urllib.parse import urlencode

import gradio as gr

from evalui.app.evaluations import count_live_runs
from evalui.app.service import AppService
from evalui.errors import EvaluiError, StoreError
from evalui.messages import Messages
from evalui.ui.components.action import Action
from evalui.ui.components.form import Form, field_value, read_query, read_values
from evalui.ui.components.format import DOCUMENT_LANGUAGES
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.web.middleware import sender_of

_log = logging.getLogger(__name__)
# How events are sent: straight to their listener, for no other program, with nothing grey over
# what is drawn anew.
EVENT: dict[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}


@dataclass(frozen=True, slots=True)
class Screen:
    """What a page gets each time it is drawn.

    `service` are the use cases of who looks at it, `form` the parameters of its address, `place`
    the component to which a listener answers another address, and `cookies` what the browser keeps.
    `typed` is what its tab keeps of a page with a form of its own (assets/js/form.js).
    """

    name: str
    t: Messages
    service: AppService
    form: Form
    place: gr.HTML
    cookies: Mapping[str, str] = field(default_factory=dict[str, str])
    typed: Form = field(default_factory=dict[str, str | list[str]])

    def on(
        self,
        triggers: Any,
        listener: Callable[Concatenate[AppService, ...], Any],
        inputs: Any = None,
        outputs: Any = None,
        **settings: Any,
    ) -> None:
        """Call a listener with the use cases of who sends an event, then with the inputs.

        `triggers` is an event (`button.click`) or several. Where it raises an `EvaluiError`, the
        page says so. `settings` are those of Gradio's `on`.
        """

        def answer(request: gr.Request, *values: Any) -> Any:
            with in_words(self.t):
                return listener(self._acting(request), *values)

        gr.on(triggers, answer, inputs, outputs, **(EVENT | settings))

    def on_act(
        self,
        component: gr.HTML,
        listener: Callable[Concatenate[AppService, Action, ...], Any],
        inputs: Any = None,
        outputs: Any = None,
        **settings: Any,
    ) -> None:
        """The same for the buttons of a `listing`: the listener has what was pressed, too."""

        def answer(request: gr.Request, event: gr.EventData, *values: Any) -> Any:
            action = Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # no other name
            with in_words(self.t):
                return listener(self._acting(request), action, *values)

        # pyright knows no events that only our script has
        act = cast("Callable[..., Any]", component.act)  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType]
        act(answer, inputs, outputs, **(EVENT | settings))

    def _acting(self, request: gr.Request) -> AppService:
        return service_of(self.service, request, ballot_of=_ballot_of(self.name, self.form))

    def address(self, page: str = "", /, **changed: str | list[str]) -> str:
        """The address of this page with some parameters changed, "" without; or of another page.

        Another page has no other parameters than these.
        """
        form = changed if page else {**self.form, **changed}
        named = {name: value for name, value in form.items() if value}
        return f"{page}?{urlencode(named, doseq=True)}"

    def value(self, name: str) -> str:
        """A parameter of the address, "" if it is not there."""
        return field_value(self.form, name)

    def picker(
        self,
        name: str,
        label: str,
        offered: Mapping[str, str],
        chosen: str | None = None,
        *,
        drops: Sequence[str] = (),
    ) -> str:
        """A list whose choice stands in the address under this name; returns what is chosen.

        `offered` are words by values. Unless told, the first is chosen where the address names
        none of them. Another choice takes the parameters `drops` out of the address.
        """
        if chosen is None:
            named = self.value(name)
            chosen = named if named in offered else next(iter(offered), "")
        dropdown = gr.Dropdown(
            [(word, value) for value, word in offered.items()],
            value=chosen,
            label=label,
            interactive=True,
            elem_classes="field",
            key=("picker", name),
        )

        def picked(service: AppService, value: object) -> str:
            del service  # who may see the page may look at another part of it
            if value == chosen:
                return ""  # Gradio tells of a list that is only left, too
            return self.address(**dict.fromkeys(drops, "") | {name: str(value or "")})

        self.on(dropdown.input, picked, dropdown, self.place)
        return chosen


def add_page(service: AppService, t: Messages, name: str, page: Callable[[Screen], None]) -> None:
    """Have `page` draw what each address of the page shows, within a route of Gradio's."""
    title = f"{t(f'tab.{name}')} · {t('app.name')}"
    place = gr.HTML(
        "",
        html_template="",
        js_on_load="evalui.place(element, props, trigger, watch)",
        apply_default_css=False,
        elem_classes="nothing",
        title=title,
        language=DOCUMENT_LANGUAGES[t.language],
    )

    def draw(request: gr.Request, event: gr.EventData) -> None:
        form, live = form_of(request), 0
        sent = Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # no other name
        try:
            acting = service_of(service, request, ballot_of=_ballot_of(name, form))
            cookies = request.request.cookies if request.request else {}
            typed = read_typed(sent.value("form"))
            page(Screen(name, t, acting, form, place, cookies, typed))
            live = count_live_runs(acting)
        except EvaluiError as error:
            problem = fill("problem.html", t=t, problem=_told(t, error))
            with gr.Column(elem_classes="page"):
                markup(problem, elem_classes="ev")
        gr.HTML(
            str(time.monotonic_ns()),  # of the same address, too, it is another drawing
            html_template="",
            js_on_load="evalui.drawn(props, watch)",
            elem_classes="nothing",
            key="drawn",
            live=live,
            preserved_by_key=[],
        )

    gr.render(triggers=[place.submit], queue=False, show_progress="hidden")(draw)


def _ballot_of(name: str, form: Form) -> str:
    """The run that guests of its link may vote on by a page, "" by others."""
    return field_value(form, "run") if name == "annotate" else ""


@contextmanager
def in_words(t: Messages) -> Generator[None]:
    """Have who sent an event told of an `EvaluiError` that is raised within."""
    try:
        yield
    except EvaluiError as error:
        raise gr.Error(_told(t, error), print_exception=False) from error


def _told(t: Messages, error: EvaluiError) -> str:
    """The sentence of an error; that of a damaged store is for the log, too."""
    if isinstance(error, StoreError):
        _log.warning("%s", error)
    return t.translate(error.sentence)


def service_of(service: AppService, request: gr.Request, *, ballot_of: str = "") -> AppService:
    """The use cases of who sends an event; guests of the run `ballot_of` have them, too.

    Raises:
        NotAllowed: they may not look at anything.
    """
    assert request.request is not None, "an event comes by a request"
    acting = service.acting_for(sender_of(request.request.scope))
    if ballot_of and acting.person.is_guest:
        acting.require("annotate", ballot_of)
    else:
        acting.require("see")
    return acting


def form_of(request: gr.Request) -> Form:
    """The parameters of the address from which an event comes."""
    assert request.request is not None, "an event comes by a request"
    return read_query(request.request.url.query)


def read_typed(text: str) -> Form:
    """What a tab has kept of a form, {} of what is none."""
    try:
        return read_values(json.loads(text or "{}"))
    except (ValueError, RecursionError):
        return {}
