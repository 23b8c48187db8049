"""The Compare page as a visitor has it: its head, what can be chosen, the comparison, the list."""

from html import escape
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode

import gradio as gr
from ui_layout import laid_out, request_of
from ui_results_screen import drawn

from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.ui.components.address import read_query
from evalui.ui.components.form import Form
from evalui.ui.pages.compare import ComparePage
from evalui.ui.pages.context import PageContext


class CompareScreen:
    """One page in one browser."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.page, _ = laid_out(lambda: ComparePage(PageContext(service, t)))
        self.query = ""
        self.shown: dict[Any, Any] = {}

    @property
    def request(self) -> gr.Request:
        """The request of an event of whoever acts now."""
        return request_of(self.service.person)

    def render(self, form: Form | str) -> str:
        """What an address shows, given as its query or its parameters."""
        if not isinstance(form, str):
            named = {name: value for name, value in form.items() if name != "tab"}
            form = urlencode(named, doseq=True, safe=",")
        self.query = form
        event = cast("gr.EventData", SimpleNamespace(_data={"query": form}))
        held = [self.value(each.held) for each in (self.page.runs, self.page.models)]
        answer = self.page._open(event, self.request, *held)  # pyright: ignore[reportPrivateUsage]
        # What is skipped stays as it was.
        self.shown |= {key: value for key, value in answer.items() if value != gr.skip()}
        page = self.page

        def draw() -> None:
            for each in (page._draw, page._draw_questions):  # pyright: ignore[reportPrivateUsage]
                each(form, event, self.request)

        return self.around() + drawn(draw)

    def pick(self, what: str, value: object) -> str:
        """The query to which another value of a list leads: "runs", "group", "only" and so on."""
        field = self.shown.get(self._list(what))
        if isinstance(field, dict):  # what is pressed is held
            field["value"] = value
        picked = getattr(self.page, f"_pick_{what}")(self.request, self.query, value)
        query = picked[self.page.address].partition("?")[2]
        self.shown |= {key: each for key, each in picked.items() if key is not self.page.address}
        assert query == picked[self.page.query]
        return query

    def share(self, days: str) -> str:
        """The page after a link was made."""
        return self._changed(self.page._share(self.request, self.query, days))  # pyright: ignore[reportPrivateUsage]

    def withdraw(self, link: str) -> str:
        """The page after a link was ended."""
        sent = cast("gr.EventData", SimpleNamespace(_data={"do": "withdraw", "link": link}))
        return self._changed(self.page._act_on_link(sent, self.request, self.query))  # pyright: ignore[reportPrivateUsage]

    def _changed(self, updates: dict[Any, Any]) -> str:
        self.shown |= updates
        return self.around()

    def is_sharing(self) -> bool:
        """Whether the panel of links is open."""
        return bool(self._update(self.page.sharing.panel).get("visible"))

    def offered(self, name: str) -> list[str]:
        """The words of a list, none of one that is not seen."""
        update = self._update(self._list(name))
        choices = update.get("choices", []) if update.get("visible", True) else []
        return [word for word, _ in choices]

    def chosen(self, name: str) -> Any:
        """The words of what is chosen in a list, one word where one is."""
        update = self._update(self._list(name))
        words = {value: word for word, value in update["choices"]}
        value = update["value"]
        return [words[each] for each in value] if isinstance(value, list) else words[value]

    def form(self) -> Form:
        """The parameters of the address."""
        return read_query(self.query)

    def value(self, component: Any) -> Any:
        """What a component holds."""
        return self._update(component).get("value", "")

    def around(self) -> str:
        """What the events changed around the document, as text."""
        page, sharing = self.page, self.page.sharing
        parts = [page.head, page.hint, page.recent, page.title, page.signatures]
        parts += [sharing.head, sharing.problem, sharing.here, sharing.links]
        shown = "".join(str(self.value(each)) for each in parts if self._is_seen(each))
        names = ("runs", "group", "measure", "models", "pair", "only")
        offered = (word for name in names for word in self.offered(name))
        return shown + "".join(f"<li>{escape(word)}</li>" for word in offered)

    def _is_seen(self, component: Any) -> bool:
        return self._update(component).get("visible") is not False

    def _list(self, name: str) -> Any:
        page = self.page
        lists: dict[str, Any] = {
            "runs": page.runs.field,
            "models": page.models.field,
            "only": page.only,
        }
        return (lists | page.pickers.lists | page.pairs.lists)[name]

    def _update(self, component: Any) -> dict[str, Any]:
        value = self.shown.get(component, {})
        return value if isinstance(value, dict) else {"value": value}
