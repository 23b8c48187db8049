"""The English pages without doors and workers, for whoever writes one: `gradio app.py`.

They show what there is in the data folder; Gradio draws them anew when a module has changed.
"""

from functools import cache

import gradio as gr
from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.settings import read_settings
from evalui.store.connection import Database
from evalui.ui.build import build
from evalui.ui.components.theme import theme
from evalui.ui.web.first_paint import FirstPaint
from evalui.ui.web.routes import add_routes, mount_assets


def make_demo() -> gr.Blocks:
    """The pages over the data folder of the settings."""
    return build(_service(), messages("en"))


def launch(demo: gr.Blocks) -> None:
    """Show the pages at /en/ to this machine alone, at the port of the settings."""
    settings = read_settings()
    demo.launch(
        server_name="127.0.0.1",
        server_port=settings.port,
        theme=theme(),
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        app_kwargs={"middleware": [Middleware(_Site, service=_service())]},
    )


@cache
def _service() -> AppService:
    settings = read_settings()
    return AppService(settings, Database(settings.database, read_only=settings.read_only))


class _Site:
    """What the server has beside Gradio's own routes, which are at /en/ and at the root."""

    def __init__(self, app: ASGIApp, service: AppService) -> None:
        site = FastAPI(openapi_url=None, redirect_slashes=False)
        add_routes(site, service)
        mount_assets(site)
        site.get("/en/")(lambda: RedirectResponse("evaluate"))
        site.mount("/en", app)
        site.mount("/", app)
        self._gradio = app
        self._site = FirstPaint(site, ("en",), service, {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the server does."""
        await (self._gradio if scope["type"] == "lifespan" else self._site)(scope, receive, send)
