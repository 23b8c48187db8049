"""The web server: our own routes, the page in each language, and the workers behind them."""

import inspect
import logging
import os
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from evalui.messages import LANGUAGES, messages
from evalui.runs.database.connection import Database, configure_log
from evalui.runs.database.runs import read_runs
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.settings import ASSETS, Settings
from evalui.ui.services.service import AppService
from evalui.ui.web.address import access_token, own_folder
from evalui.ui.web.middleware import (
    PageHeadMiddleware,
    SameOriginMiddleware,
    StoreMiddleware,
    TokenMiddleware,
)
from evalui.ui.web.routes import add_routes

_STATIC = ("css", "js", "icons")  # of the assets; models and samples are not for browsers
_NOT_STARTED = 3  # the exit code; uvicorn has said why
_DOCUMENT_LANGUAGES = {"zh": "zh-CN", "en": "en"}


def serve(settings: Settings, listener: socket.socket) -> None:
    """Answer what comes to a socket that listens already, until interrupted."""
    configure_log(logging.WARNING)
    config = uvicorn.Config(
        create_app(settings),
        log_level="warning",
        access_log=False,  # it would write down the addresses that carry the token
        timeout_graceful_shutdown=3,
    )
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt):  # raised again by uvicorn, after all has ended
        server.run(sockets=[listener])
    if not server.started:
        raise SystemExit(_NOT_STARTED)


def create_app(settings: Settings) -> ASGIApp:
    """The whole application; its workers live from start-up to shut-down.

    Raises:
        StoreError: the data folder or what is in it cannot be used.
    """
    own_folder(settings.data_dir)
    _prepare_gradio(settings.data_dir / "gradio")
    database = Database(settings.database)
    desk = AppService(settings, database)
    workers = WorkerSupervisor(
        database, settings.models, count=settings.workers, threads=settings.threads
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        workers.start()
        yield
        workers.stop()
        database.close()

    app = FastAPI(lifespan=lifespan, openapi_url=None)
    add_routes(app, desk)
    for folder in _STATIC:
        app.mount(f"/static/{folder}", StaticFiles(directory=ASSETS / folder))
    _add_pages(app, desk)
    return _guarded(app, settings)


def _guarded(app: ASGIApp, settings: Settings) -> ASGIApp:
    # Outside of everything, so that what they add stands on errors and refusals, too.
    guarded = TokenMiddleware(app, access_token(settings.data_dir)) if settings.token else app
    return SameOriginMiddleware(guarded, [settings.host, *settings.allowed_hosts])


def _add_pages(app: FastAPI, service: AppService) -> None:
    import gradio as gr

    from evalui.ui.shell import AppShell, head, theme
    from evalui.ui.web.events import EventMiddleware, Listeners, listeners_of, translate_errors

    listeners: dict[str, Listeners] = {}
    for language in LANGUAGES:
        page = AppShell(service, language).build()
        translate_errors(page, messages(language))
        listeners[language] = listeners_of(page)
        gr.mount_gradio_app(
            app,
            page,
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
        PageHeadMiddleware,
        heads={path: head(messages(language)("app.title")) for language, path in paths.items()},
        languages={path: _DOCUMENT_LANGUAGES[language] for language, path in paths.items()},
    )
    app.add_middleware(EventMiddleware, pages=listeners)
    app.add_middleware(
        StoreMiddleware,
        paths=paths.values(),
        read=lambda: read_runs(service.database, service.owner),
    )


def _prepare_gradio(folder: Path) -> None:
    # Gradio reads these when it is imported, so nothing above may import it. Its own folder is
    # readable by every user of the machine.
    own_folder(folder)
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

    inspect.getfile = getfile  # ty: ignore[invalid-assignment]  # of the same use
    try:
        yield
    finally:
        inspect.getfile = known
