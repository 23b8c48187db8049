"""The door of a server that one person uses: whoever has its token may everything.

The token is in the address once, in a cookie from then on.
"""

from urllib.parse import quote, unquote_plus

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from evalui.access import ANONYMOUS, Person
from evalui.ui.current_person import acting_as
from evalui.ui.web.address import cookie_of, is_same, keep_cookie
from evalui.ui.web.doors.door import PUBLIC_PATHS, PUBLIC_PREFIXES, problem
from evalui.ui.web.doors.guests import Guests
from evalui.ui.web.middleware import plain_page, route_of

PARAMETER = "token"
_TOKEN_METHODS = frozenset({"GET", "HEAD"})
_COOKIE_MAX_AGE_S = 30 * 24 * 3600  # the cookie


class TokenMiddleware:
    """Around the whole application: pages, files, Gradio's own routes, events, exports.

    A GET whose address carries the token is redirected to the same address without it and sets
    the cookie, so that the token stays in no history, no copied link and no Referer. The cookie
    is SameSite=Lax: a permalink that is opened from a chat or a mail works, while requests that
    another site's page makes carry no cookie. Scripts send `Authorization: Bearer <token>`.
    """

    def __init__(self, app: ASGIApp, token: str, guests: Guests | None = None) -> None:
        self.app = app
        self.guests = guests
        self.token = token
        self.cookie, self.value = cookie_of(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, redirect, or answer 401."""
        if scope["type"] == "lifespan":
            try:
                await self.app(scope, receive, send)
            finally:
                if self.guests:
                    self.guests.database.close()
            return
        if route_of(scope) in PUBLIC_PATHS:
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":  # there is none, and none comes in unseen
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        given, rest = _split_query(scope.get("query_string", b""))
        is_known = self._is_known(headers)
        if given is not None and scope["method"] in _TOKEN_METHODS:
            if is_known or is_same(given, self.token):
                await self._redirect(scope, rest)(scope, receive, send)
                return
        elif is_known:
            await self.app(scope, receive, send)
            return
        elif guest := await self._guest(scope):
            with acting_as(guest):
                await self.app(scope, receive, send)
            return
        await _unauthorized(scope)(scope, receive, send)

    async def _guest(self, scope: Scope) -> Person | None:
        """Who may open an address without the token."""
        if route_of(scope).startswith(PUBLIC_PREFIXES):
            return ANONYMOUS
        return await self.guests.find(scope) if self.guests else None

    def _is_known(self, headers: Headers) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.casefold() == "bearer" and is_same(token.strip(), self.token):
            return True
        cookies = cookie_parser(headers.get("cookie", ""))
        return is_same(cookies.get(self.cookie, ""), self.value)

    def _redirect(self, scope: Scope, rest: str) -> Response:
        # Relative, because a proxy may serve us below a path that we do not know.
        place = "./" + quote(scope["path"].rpartition("/")[2])
        answer = Response(
            status_code=303,
            headers={
                "Location": f"{place}?{rest}" if rest else place,
                "Cache-Control": "no-store",
                "Referrer-Policy": "no-referrer",
            },
        )
        keep_cookie(answer, scope, self.cookie, self.value, _COOKIE_MAX_AGE_S)
        return answer


def _split_query(query: bytes) -> tuple[str | None, str]:
    """The token of a query, None if there is none, and the query without it."""
    token: str | None = None
    rest: list[str] = []
    for part in filter(None, query.decode("latin-1").split("&")):
        name, _, value = part.partition("=")
        if unquote_plus(name) == PARAMETER:
            token = unquote_plus(value)
        else:
            rest.append(part)
    return token, "&".join(rest)


def _unauthorized(scope: Scope) -> Response:
    fields = {
        "WWW-Authenticate": "Bearer",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    }
    if scope["method"] not in _TOKEN_METHODS or route_of(scope).startswith("/api/"):
        return problem("access.about", 401, fields)
    page = plain_page("access.title", lambda t: t("access.about"))
    return HTMLResponse(page, status_code=401, headers=fields)
