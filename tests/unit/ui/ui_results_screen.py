"""The Results page as a visitor has it: its frame, what can be picked, and the document drawn."""

import json
from collections.abc import Callable, Mapping
from html import escape
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode

import gradio as gr
from ui_layout import laid_out, request_of

from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.ui.components.form import Form
from evalui.ui.components.list_and_reader import ListContent
from evalui.ui.pages.context import PageContext
from evalui.ui.pages.results import ResultsPage


def drawn(draw: Callable[..., None], *arguments: Any) -> str:
    """What a view makes in `gr.render`, as text: markup, names of sections, cells of tables."""
    _, layout = laid_out(lambda: draw(*arguments))
    return "".join(_text(each) for each in layout.config["components"])


def view_of(view: RunView, draw: Callable[[RunView, Form], None], form: Form | None = None) -> str:
    """What a view of a run shows."""
    return drawn(draw, view, form or {})


def _text(component: dict[str, Any]) -> str:
    props = component["props"]
    match component["type"]:
        case "html":
            return str(props["value"])
        case "accordion":
            name, _, finding = props["label"].partition("\u2003")
            return f'<fold id="{props.get("elem_id", "")}">{escape(name)}: {escape(finding)}</fold>'
        case "dataframe":
            value = props["value"]
            heads = "".join(f"<th>{escape(head)}</th>" for head in value["headers"])
            rows = ("".join(row) for row in value["metadata"]["display_value"])
            return heads + "".join(rows)
        case _:
            return ""


def text_of(content: ListContent) -> str:
    """What stands above a list, what can be filtered by, the list and the reader."""
    offered = content.offered.values()
    lists = "".join(_words(words.label or "", words.offered) for words in offered)
    return "".join((str(content.head), lists, content.lines, content.reader))


def _words(label: str, offered: Mapping[str, str]) -> str:
    words = "".join(
        f'<option value="{escape(value)}">{escape(word)}</option>'
        for value, word in offered.items()
    )
    return f"{escape(label)}{words}"


class ResultsScreen:
    """One page in one browser."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.page, _ = laid_out(lambda: ResultsPage(PageContext(service, t)))
        self.query = ""
        self.shown: dict[Any, Any] = {}

    @property
    def request(self) -> gr.Request:
        """The request of an event of whoever acts now."""
        return request_of(self.service.person)

    def render(self, form: Form) -> str:
        """What an address shows."""
        named = {name: value for name, value in form.items() if name != "tab"}
        self.query = urlencode(named, doseq=True)
        event = cast("gr.EventData", SimpleNamespace(_data={"query": self.query}))
        nothing = [""] * len(self.page.lists)  # of lists that the page has
        self.shown = self.page._open(event, self.request, *nothing)  # pyright: ignore[reportPrivateUsage]
        document = drawn(self.page._draw, self.query, event, self.request)  # pyright: ignore[reportPrivateUsage]
        return self.around() + document

    def open(self, form: Form, *, samples: str = "", own: str = "") -> dict[Any, Any]:
        """What is sent for an address where the page has the list of samples of that digest.

        `own` is "yes" where the page itself led there.
        """
        sent = {"query": urlencode(form, doseq=True), "own": own}
        event = cast("gr.EventData", SimpleNamespace(_data=sent))
        drawn = [samples if name == "samples" else "" for name in self.page.lists]
        return self.page._open(event, self.request, *drawn)  # pyright: ignore[reportPrivateUsage]

    def choose(self, name: str, **chosen: str) -> object:
        """Where it leads to choose from lists beside that of this name; the others are empty."""
        lists = self.page.lists[name].filters.pickers.lists
        values = [chosen.get(each, "") for each in lists]
        act = getattr(self.page, f"_choose_{name}")
        return act(self.request, self.query, *values)

    def find(self, text: str) -> object:
        """Where it leads to type a text into the search beside a list."""
        return self.page._find(self.request, self.query, text)  # pyright: ignore[reportPrivateUsage]

    def share(self, days: str) -> str:
        """The panel after a link was made."""
        return self._changed(self.page._share(self.request, self.query, days))  # pyright: ignore[reportPrivateUsage]

    def withdraw(self, link: str) -> str:
        """The panel after a link was ended."""
        sent = cast("gr.EventData", SimpleNamespace(_data={"do": "withdraw", "link": link}))
        return self._changed(self.page._act_on_link(sent, self.request, self.query))  # pyright: ignore[reportPrivateUsage]

    def show_everyone(self, *, ticked: bool) -> str:
        """The panel after the box of everybody was ticked, or not any more."""
        return self._changed(self.page._show_everyone(self.request, self.query, ticked))  # pyright: ignore[reportPrivateUsage]

    def _changed(self, updates: dict[Any, Any]) -> str:
        self.shown |= updates
        return self.around()

    def is_sharing(self) -> bool:
        """Whether the panel of who else may see the run is open."""
        return bool(self.update(self.page.sharing.panel).get("visible"))

    def look(self) -> bool:
        """Whether the page finds something new when it looks by itself."""
        follows = json.loads(self.update(self.page.news)["value"])
        run_id, _, rest = follows["address"].rpartition("/")[2].partition("?")
        told = self.page.context.published.version(self.service, run_id, with_files=bool(rest))
        if told == follows["version"]:
            return False
        drawn = [self.update(each.drawn).get("value", "") for each in self.page.lists.values()]
        event = cast("gr.EventData", SimpleNamespace(_data={"version": told}))
        self.shown |= self.page._look(event, self.request, self.query, *drawn)  # pyright: ignore[reportPrivateUsage]
        return True

    def is_looking(self) -> bool:
        """Whether it looks by itself."""
        return bool(self.update(self.page.news)["value"])

    def around(self) -> str:
        """What the events changed around the document: markup, and what can be picked."""
        page = self.page
        parts = [page.frame, page.top, page.sharing.head, page.sharing.problem]
        parts += [page.sharing.here, page.sharing.links, page.files.note, page.files.first]
        parts += [page.files.others, *page.bias.lists.values(), *page.statistics.lists.values()]
        for each in page.lists.values():
            if self.update(each.view).get("visible"):
                parts += [each.head, *each.filters.lists, each.list, each.reader]
        return "".join(self._part(each) for each in parts)

    def update(self, component: Any) -> dict[str, Any]:
        """The properties of a component that the last events changed."""
        value = self.shown.get(component, {})
        return value if isinstance(value, dict) else {"value": value}

    def _part(self, component: Any) -> str:
        update = self.update(component)
        if update.get("visible") is False or "value" not in update:
            return ""
        if "choices" in update:
            offered = {value: word for word, value in update["choices"]}
            return _words(str(update.get("label", "")), offered)
        return str(update["value"])
