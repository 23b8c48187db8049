"""Components of pages without a web application, which Gradio makes for each `gr.Blocks` twice.

That takes most of a second, and no test of a page's methods sends it a request.
"""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import gradio as gr
from gradio.blocks import BlockContext
from gradio.context import Context

from evalui.access import Person
from evalui.web.middleware import set_sender

T = TypeVar("T")


class Layout(gr.Blocks):
    """Components, and what is told of them to a browser; nothing can be asked for."""

    def queue(self, *_: Any, **__: Any) -> "Layout":
        """There are no requests."""
        return self

    def __exit__(self, *raised: Any) -> None:
        BlockContext.__exit__(self, *raised)
        Context.root_block = None
        if raised[0] is None:
            self.config = self.get_config_file()


def laid_out(make: Callable[[], T]) -> tuple[T, Layout]:
    """What `make` returns, and the components that it has made."""

    async def made() -> tuple[T, Layout]:
        # Where no loop is running, Gradio begins one that nobody closes.
        with Layout(analytics_enabled=False) as layout:
            result = make()
        return result, layout

    return asyncio.run(made())


def request_of(person: Person, query: str = "") -> gr.Request:
    """The request of an event of a person, at the address with a query."""
    scope: dict[str, Any] = {}
    set_sender(scope, person)
    sent = SimpleNamespace(scope=scope, url=SimpleNamespace(query=query), cookies={})
    return cast("gr.Request", SimpleNamespace(request=sent))
