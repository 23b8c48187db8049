"""Says on a page of its own that the store cannot be read, in place of a page that stays empty."""

from collections.abc import Callable, Collection

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from evalui.errors import StoreError
from evalui.ui.web.middleware import route_of
from evalui.ui.web.plain_page import plain_page


class StoreMiddleware:
    """Before a page in `paths` is sent, `read` tries what the page will read first."""

    def __init__(self, app: ASGIApp, *, paths: Collection[str], read: Callable[[], object]) -> None:
        self.app = app
        self.paths = frozenset(paths)
        self.read = read

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 503 with the reason if the store cannot be read."""
        if scope["type"] == "http" and route_of(scope) in self.paths:
            try:
                await run_in_threadpool(self.read)
            except StoreError as error:
                said = error.sentence
                page = plain_page("store.title", lambda t: t.translate(said))
                await HTMLResponse(page, status_code=503)(scope, receive, send)
                return
        await self.app(scope, receive, send)
