"""The door of a server that one person uses: whoever has its token may everything.

The token is in the address once, in a cookie from then on.
"""

from urllib.parse import quote, unquote_plus

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Scope

from evalui.access import ANONYMOUS, Person
from evalui.store.connection import Database
from evalui.ui.web.doors.door import PUBLIC_PATHS, PUBLIC_PREFIXES, Gate, bearer_of, problem
from evalui.ui.web.doors.guests import find_guest
from evalui.web.address import cookie_name, cookie_of, is_same, keep_cookie
from evalui.web.middleware import plain_page, route_of

PARAMETER = "token"
_TOKEN_METHODS = frozenset({"GET", "HEAD"})
_COOKIE_MAX_AGE_S = 30 * 24 * 3600  # the cookie


class TokenMiddleware(Gate):
    """Lets in who has the token, and guests that `database` knows.

    A GET whose address carries the token is redirected to the same address without it and sets
    the cookie, so that the token stays in no history, no copied link and no Referer. The cookie
    is SameSite=Lax: a permalink that is opened from a chat or a mail works, while requests that
    another site's page makes carry no cookie. Scripts send `Authorization: Bearer <token>`.
    """

    def __init__(self, app: ASGIApp, token: str, database: Database | None = None) -> None:
        super().__init__(app, database)
        self.token = token
        self.cookie, self.value = cookie_of(token)

    async def admit(self, scope: Scope) -> Person | Response | None:
        """A guest, the redirection, 401, or None for who has the token."""
        if route_of(scope) in PUBLIC_PATHS:
            return None
        given, rest = _split_query(scope.get("query_string", b""))
        is_known = self._is_known(scope, Headers(scope=scope))
        if given is not None and scope["method"] in _TOKEN_METHODS:
            is_known = is_known or is_same(given, self.token)
            return self._redirect(scope, rest) if is_known else _unauthorized(scope)
        if is_known:
            return None
        return await self._guest(scope) or _unauthorized(scope)

    async def _guest(self, scope: Scope) -> Person | None:
        """Who may open an address without the token."""
        if route_of(scope).startswith(PUBLIC_PREFIXES):
            return ANONYMOUS
        if self.database is None:
            return None
        return await run_in_threadpool(find_guest, self.database, scope)

    def _is_known(self, scope: Scope, headers: Headers) -> bool:
        if is_same(bearer_of(headers), self.token):
            return True
        cookies = cookie_parser(headers.get("cookie", ""))
        return is_same(cookies.get(cookie_name(scope, self.cookie), ""), self.value)

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
