"""The Arena page as a visitor has it: what can be picked, the standings, the runs behind them."""

from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
from ui_layout import laid_out, request_of
from ui_results_screen import drawn

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.types import Language
from evalui.ui.pages.arena import ArenaPage
from evalui.ui.pages.context import PageContext


class ArenaScreen:
    """One page in one browser."""

    def __init__(self, service: AppService, language: Language = "en") -> None:
        self.service = service
        self.page, _ = laid_out(lambda: ArenaPage(PageContext(service, messages(language))))
        self.query = ""
        self.shown: dict[Any, Any] = {}

    def render(self, query: str = "") -> str:
        """What an address shows."""
        request = request_of(self.service.person)
        event = cast("gr.EventData", SimpleNamespace(_data={"query": query}))
        self.query = query
        self.shown = self.page._open(event, request)  # pyright: ignore[reportPrivateUsage]
        return drawn(self.page._draw, query, event, request) + str(self.shown[self.page.runs])  # pyright: ignore[reportPrivateUsage]

    def offered(self) -> dict[str, list[str]]:
        """The words of each list that is seen, by the name that it has in the address."""
        updates = {name: self.shown[each] for name, each in self.page.pickers.lists.items()}
        return {
            name: [word for word, _ in update["choices"]]
            for name, update in updates.items()
            if update["visible"]
        }

    def pick(self, **chosen: str) -> str:
        """The query after lists were set to these values, the others as they stand."""
        lists = self.page.pickers.lists
        held = {name: self.shown[each].get("value") for name, each in lists.items()}
        values = [chosen.get(name, value) for name, value in held.items()]
        to = self.page._pick(self.query, *values)  # pyright: ignore[reportPrivateUsage]
        return to.partition("?")[2]
