"""The web server: our own routes, the page in each language, and the workers behind them."""

import inspect
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from evalui.runs.launch import Workers
from evalui.runs.store import Store
from evalui.settings import ASSETS, Settings
from evalui.ui.border import PageHead, SameOrigin
from evalui.ui.desk import Desk
from evalui.ui.routes import router
from evalui.ui.text import LANGUAGES, text

_STATIC = ("css", "js", "icons")  # of the assets; models and samples are not for browsers
_DOCUMENT_LANGUAGES = {"zh": "zh-CN", "en": "en"}


def serve(settings: Settings) -> None:
    """Run until interrupted."""
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        timeout_graceful_shutdown=3,
    )


def create_app(settings: Settings) -> FastAPI:
    """The whole application; its workers live from start-up to shut-down."""
    _own_folder(settings.data_dir)
    _prepare_gradio(settings.data_dir / "gradio")
    store = Store(settings.database)
    desk = Desk(settings, store)
    workers = Workers(store, settings.models, count=settings.workers, threads=settings.threads)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        workers.start()
        yield
        workers.stop()
        store.close()

    app = FastAPI(lifespan=lifespan, openapi_url=None)
    app.include_router(router(desk))
    for folder in _STATIC:
        app.mount(f"/static/{folder}", StaticFiles(directory=ASSETS / folder))
    return _with_pages(app, desk)


def _with_pages(app: FastAPI, desk: Desk) -> FastAPI:
    import gradio as gr

    from evalui.ui.page import Page
    from evalui.ui.theme import head, theme

    for language in LANGUAGES:
        gr.mount_gradio_app(
            app,
            Page(desk, language).build(),
            f"/{language}",
            theme=theme(),
            run_history=False,
            footer_links=[],
            show_error=False,
            max_file_size="1kb",  # files come by our own route
            enable_monitoring=False,
            ssr_mode=False,
            mcp_server=False,
        )
    paths = {language: f"/{language}/" for language in LANGUAGES}
    app.add_middleware(
        PageHead,
        heads={path: head(text(language)("app.title")) for language, path in paths.items()},
        languages={path: _DOCUMENT_LANGUAGES[language] for language, path in paths.items()},
    )
    app.add_middleware(SameOrigin, hosts=[desk.settings.host, *desk.settings.allowed_hosts])
    return app


def _prepare_gradio(folder: Path) -> None:
    # Gradio reads these when it is imported, so nothing above may import it. Its own folder is
    # readable by every user of the machine.
    _own_folder(folder)
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["GRADIO_RUN_HISTORY"] = "False"
    with _without_stubs():
        import_module("gradio")


@contextmanager
def _without_stubs() -> Generator[None]:
    """Keep gradio from writing type stubs beside its own modules, half the time of its import.

    It does so for every component whenever it is imported, unless it cannot tell the file of one.
    """
    known = inspect.getfile

    def getfile(found: Any) -> str:  # as in `inspect`
        if str(getattr(found, "__module__", "")).startswith("gradio."):
            raise OSError("its file need not be known")
        return known(found)

    inspect.getfile = getfile
    try:
        yield
    finally:
        inspect.getfile = known


def _own_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
