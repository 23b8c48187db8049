"""Gradio's side of the application, mounted once Gradio has been imported.

Importing Gradio takes seconds, so the server listens before; whoever opens a page waits for it.
"""

import asyncio
import os
import warnings
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from evalui.app.service import AppService
from evalui.imports import uncollected_imports
from evalui.messages import LANGUAGES, Messages, messages
from evalui.types import Language
from evalui.web.address import own_folder

if TYPE_CHECKING:
    import gradio as gr


class Attachment:
    """Gradio mounted on the application, once it has been imported."""

    def __init__(
        self,
        app: FastAPI,
        service: AppService,
        add_endpoints: Callable[[AppService, Messages], None],
    ) -> None:
        self.app = app
        self.service = service
        self.folder = service.settings.data_dir / "gradio"
        self.add_endpoints = add_endpoints
        self.apps: dict[str, gr.Blocks] = {}
        self._stack = AsyncExitStack()
        self._task: asyncio.Task[None] | None = None

    def start(self, ready: Callable[[], None]) -> None:
        """Mount an app for each language once Gradio is imported, then call `ready`."""
        self._task = asyncio.create_task(self._attach(ready))

    async def wait(self) -> None:
        """Return when Gradio's routes are there.

        Raises:
            StoreError: Gradio's own folder cannot be made.
        """
        assert self._task, "the application has been started"
        await asyncio.shield(self._task)

    async def close(self) -> None:
        """End what Gradio does in the background."""
        for demo in self.apps.values():
            demo.close(verbose=False)
        if self._task and not self._task.done():
            self._task.cancel()
        await self._stack.aclose()

    async def _attach(self, ready: Callable[[], None]) -> None:
        await asyncio.to_thread(import_gradio, self.folder)
        for language in LANGUAGES:
            await self._mount(language)
        ready()

    async def _mount(self, language: Language) -> None:
        import gradio as gr

        from evalui.ui.build import build
        from evalui.ui.components.theme import theme

        # Said of every app with several pages, though nothing asks for it.
        warnings.filterwarnings("ignore", "SSR mode is not supported")
        page = build(self.service, messages(language), self.add_endpoints)
        self.apps[language] = page
        gr.mount_gradio_app(
            self.app,
            page,
            f"/{language}",
            run_history=False,
            footer_links=[],
            show_error=False,
            max_file_size=self.service.uploads.limit,
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
    with uncollected_imports():
        import_module("gradio")
