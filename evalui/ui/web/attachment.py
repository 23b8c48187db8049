"""Gradio's side of the application, mounted once Gradio has been imported.

Importing Gradio takes seconds, so the server listens before; whoever opens a page waits for it.
"""

import asyncio
import inspect
import os
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from evalui.imports import uncollected_imports
from evalui.ui.web.events import Listeners, listeners_of, translate_errors
from evalui.web.address import own_folder

if TYPE_CHECKING:
    from evalui.ui.pages.context import PageContext


class Attachment:
    """Gradio mounted on the application, once it has been imported."""

    def __init__(
        self, app: FastAPI, folder: Path, add_endpoints: Callable[["PageContext"], None]
    ) -> None:
        self.app = app
        self.folder = folder
        self.add_endpoints = add_endpoints
        self.listeners: dict[str, Listeners] = {}
        self._stack = AsyncExitStack()
        self._task: asyncio.Task[None] | None = None

    def start(self, contexts: Sequence["PageContext"], ready: Callable[[], None]) -> None:
        """Mount an app for each language once Gradio is imported, then call `ready`."""
        self._task = asyncio.create_task(self._attach(contexts, ready))

    async def wait(self) -> None:
        """Return when Gradio's routes are there.

        Raises:
            StoreError: Gradio's own folder cannot be made.
        """
        assert self._task, "the application has been started"
        await asyncio.shield(self._task)

    async def close(self) -> None:
        """End what Gradio does in the background."""
        for listeners in self.listeners.values():
            listeners.close_queue()
        if self._task and not self._task.done():
            self._task.cancel()
        await self._stack.aclose()

    async def _attach(self, contexts: Sequence["PageContext"], ready: Callable[[], None]) -> None:
        await asyncio.to_thread(import_gradio, self.folder)
        for context in contexts:
            await self._mount(context)
        ready()

    async def _mount(self, context: "PageContext") -> None:
        import gradio as gr

        from evalui.ui.build import build
        from evalui.ui.components.theme import theme

        # Said of every app with several pages, though nothing asks for it.
        warnings.filterwarnings("ignore", "SSR mode is not supported")
        page, language = build(context, self.add_endpoints), context.t.language
        self.listeners[language] = listeners_of(page, context)
        translate_errors(page, context.t)
        gr.mount_gradio_app(
            self.app,
            page,
            f"/{language}",
            run_history=False,
            footer_links=[],
            show_error=False,
            max_file_size="1kb",  # files come by our own route
            enable_monitoring=False,
            ssr_mode=False,
            mcp_server=False,
            theme=theme(),
            app_kwargs={"openapi_url": None},
        )
        # What `gr.mount_gradio_app` leaves to the start of the application, which was before.
        mounted: Any = self.app.routes[-1]
        await self._stack.enter_async_context(mounted.app.router.lifespan_context(mounted.app))
        page.run_startup_events()
        await page.run_extra_startup_events()


def import_gradio(folder: Path) -> None:
    """Import Gradio, which reads where its own folder is only then.

    Its own folder would be readable by every user of the machine.

    Raises:
        StoreError: the folder cannot be made.
    """
    own_folder(folder)
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["GRADIO_RUN_HISTORY"] = "False"
    with _without_stubs(), uncollected_imports():
        import_module("gradio")


@contextmanager
def _without_stubs() -> Generator[None]:
    """Keep gradio from writing type stubs beside its own modules, half the time of its import.

    It does so for every component whenever it is imported, unless it cannot find the file of one.
    """
    known = inspect.getfile

    def getfile(inspected: Any) -> str:  # as in `inspect`
        if str(getattr(inspected, "__module__", "")).startswith("gradio."):
            raise OSError("its file need not be known")
        return known(inspected)

    inspect.getfile = getfile  # ty: ignore[invalid-assignment]  # of the same use
    try:
        yield
    finally:
        inspect.getfile = known
