"""Everything a request passes before it reaches the application."""

import logging
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.web.doors.password import PasswordDoor
from evalui.ui.web.doors.proxy import PEER, ProxyDoor, is_proxy
from evalui.ui.web.doors.token import TokenMiddleware
from evalui.ui.web.monitoring import Monitoring, MonitoringMiddleware
from evalui.web.address import access_token
from evalui.web.middleware import SameOriginMiddleware

_OWN_ADDRESS = (b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")
_log = logging.getLogger(__name__)


def guarded(app: ASGIApp, settings: Settings, monitoring: Monitoring) -> ASGIApp:
    """The application behind the door that the settings name.

    Outside of everything are the security headers, so that they stand on errors and refusals, too,
    and before these the address of the visitor, which only a listed proxy may state.
    """
    watched = MonitoringMiddleware(_behind_door(app, settings), monitoring)
    inner = SameOriginMiddleware(watched, [settings.host, *settings.allowed_hosts])
    trusted = [str(network) for network in settings.proxy_addresses]
    if settings.auth == "password" and not trusted:
        _log.warning("EVALUI_PROXY_ADDRESSES lists no proxy: none may state addresses and https")
    # uvicorn and starlette describe the same by types that differ
    behind = cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", inner), trusted))
    return PeerMiddleware(behind, settings)


class PeerMiddleware:
    """Keeps in the scope who is connected, before headers state from where a visitor comes.

    From whoever is no listed proxy, nothing passes that states the server's own address: Gradio
    believes it.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        if scope["type"] == "http":
            scope[PEER] = (scope.get("client") or ("",))[0]
            if not is_proxy(self.settings, scope[PEER]):
                scope["headers"] = [
                    each for each in scope["headers"] if each[0] not in _OWN_ADDRESS
                ]
        await self.app(scope, receive, send)


def _behind_door(app: ASGIApp, settings: Settings) -> ASGIApp:
    if settings.auth == "password":
        return PasswordDoor(app, settings)
    if settings.auth == "proxy":
        return ProxyDoor(app, settings)
    if not settings.token:
        return app
    return TokenMiddleware(app, access_token(settings.data_dir), Database(settings.database))
