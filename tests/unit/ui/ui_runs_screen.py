"""The Runs page as a visitor has it: what its components show, changed by what events answer."""

import json
from html import escape
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode

import gradio as gr
from ui_layout import laid_out, request_of

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.report.html import Html
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.pages.context import PageContext
from evalui.ui.pages.runs import RunsPage


class Screen:
    """One page in one browser."""

    def __init__(self, service: AppService, language: Language = "en") -> None:
        self.service = service
        self.page, _ = laid_out(lambda: RunsPage(PageContext(service, messages(language))))
        self.shown: dict[Any, dict[str, Any]] = {}
        self.query = ""

    def render(self, form: Form) -> Html:
        """What an address shows."""
        self.query = urlencode(form, doseq=True)
        event = SimpleNamespace(_data={"query": self.query})
        return self._answered(self.page._open(cast("gr.EventData", event), self._request()))  # pyright: ignore[reportPrivateUsage]

    def act(self, do: str, target: str = "") -> Html:
        """What the page shows after a click."""
        event = SimpleNamespace(_data={"do": do, "target": target})
        return self._answered(
            self.page._act(cast("gr.EventData", event), self._request(), *self._fields())  # pyright: ignore[reportPrivateUsage]
        )

    def follow(self) -> Html:
        """What the page shows when its progress lets it follow."""
        return self._answered(self.page._follow(self._request(), *self._fields()))  # pyright: ignore[reportPrivateUsage]

    def search(self, find: str, state: str = "") -> Html:
        """What the page shows once somebody has typed, and chosen a state."""
        page = self.page
        self.shown.setdefault(page.find, {})["value"] = find
        self.shown.setdefault(page.state, {})["value"] = state
        return self._answered(page._search(self._request(), *self._fields()))  # pyright: ignore[reportPrivateUsage]

    def progress(self) -> dict[str, Any]:
        """What the run in full is given to draw, with the address where it looks; {} if none."""
        value = self.shown.get(self.page.progress, {}).get("value")
        return json.loads(value) if value else {}

    def is_live(self) -> bool:
        """Whether it looks by itself."""
        return bool(self.progress() and self.progress()["now"]["is_live"])

    def html(self) -> Html:
        """Everything that is visible; of the progress its texts, one a line."""
        page = self.page
        parts = [self._value(each) for each in (page.bar, page.head, page.notice, page.queue)]
        if self._sees(page.run, default=False):
            texts = "\n".join(_texts(self.progress()["now"]))
            parts += [self._value(page.run_head), f"<pre>{escape(texts)}</pre>"]
        if self._sees(page.ended, default=False):
            parts.append(f"<h2>Finished</h2>{self._value(page.listed)}")
        return Html("".join(parts))

    def sees_search(self) -> bool:
        """Whether what has ended can be searched."""
        return self._sees(self.page.search, default=False)

    def _request(self) -> gr.Request:
        return request_of(self.service.person)

    def _fields(self) -> list[Any]:
        page = self.page
        return [
            self.shown.get(each, {}).get("value") for each in (page.chosen, page.find, page.state)
        ]

    def _answered(self, updates: dict[Any, Any]) -> Html:
        for component, update in updates.items():
            is_update = isinstance(update, dict) and "__type__" in update
            change = cast("dict[str, Any]", update) if is_update else {"value": update}
            if component is self.page.address:
                if "value" in change:
                    self.query = change["value"].partition("?")[2]
                continue
            self.shown.setdefault(component, {}).update(change)
        return self.html()

    def _sees(self, block: Any, *, default: bool = True) -> bool:
        return bool(self.shown.get(block, {}).get("visible", default))

    def _value(self, component: Any) -> str:
        state = self.shown.get(component, {})
        return str(state.get("value") or "") if state.get("visible", True) else ""


def _texts(value: Any) -> list[str]:
    """Every text of a document."""
    if isinstance(value, str):
        return [value] if value else []
    inner = list(value.values()) if isinstance(value, dict) else value
    return [text for each in inner for text in _texts(each)] if isinstance(inner, list) else []
