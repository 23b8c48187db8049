"""The pages of the password door: signing in and out, and choosing a password by a link.

They are plain forms that need no script. That another site's page sends none is seen to by
`SameOriginMiddleware`, and by cookies that are SameSite=Lax.
"""

import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, Router

from evalui.accounts.invitations import accept, invited_person
from evalui.accounts.passwords import MIN_LENGTH
from evalui.accounts.people import password_stamp
from evalui.accounts.secrets import digest_of
from evalui.accounts.sessions import LONGEST_S, end_session, start_session
from evalui.accounts.sign_in import WINDOW_S, sign_in
from evalui.errors import AccountError, TooManyTries
from evalui.messages import Messages
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.web.documents import document
from evalui.ui.web.languages import visitor_messages
from evalui.web.address import cookie_name, derived, is_same, keep_cookie

SIGN_IN = "account/sign-in"
PREFIXES = ("/account/", "/invitation/")  # of the routes here
_LARGEST = 4096  # bytes of a form
_TIME_DIGITS = 12  # of seconds since 1970
_SAFE = "/?&=%:+,;@~!*'()$"  # of an address that was quoted before
# Each check of a password takes 64 MB, as argon2 wants it; the others wait outside of threads.
_AT_ONCE = 2
_Known = TypeVar("_Known")


def sign_in_pages(database: Database, settings: Settings, cookie: str, token: str) -> Router:
    """The routes. `cookie` names the cookie of a session; `token` is a secret of this server."""
    pages = _SignInPages(database, settings, cookie, token)
    return Router(
        [
            Route(f"/{SIGN_IN}", pages.form, methods=["GET"]),
            Route(f"/{SIGN_IN}", pages.sign_in, methods=["POST"]),
            Route("/account/sign-out", pages.sign_out, methods=["POST"]),
            Route("/invitation/{secret}", pages.invitation, methods=["GET", "POST"]),
        ],
        redirect_slashes=False,
    )


class _SignInPages:
    def __init__(self, database: Database, settings: Settings, cookie: str, token: str) -> None:
        self._database = database
        self._settings = settings
        self._cookie = cookie
        self._known_cookie = f"{cookie}-known"
        self._token = token
        self._limiter = CapacityLimiter(_AT_ONCE)

    async def form(self, request: Request) -> Response:
        return self._sign_in_page(request)

    async def sign_in(self, request: Request) -> Response:
        fields = await small_form(request)
        if fields is None:
            return PlainTextResponse("Too large.", 413)
        name, stay = fields.get("name", "").strip().casefold(), "stay" in fields
        mark = self._sent(request, self._known_cookie)
        known = await self._work(partial(self._is_known, mark, name))
        address = request.client.host if request.client else ""
        attempt = partial(
            sign_in, self._database, name, fields.get("password", ""), address=address
        )
        try:
            person = await self._work(partial(attempt, browser=digest_of(mark) if known else ""))
        except AccountError as error:
            return self._sign_in_page(request, name, stay, error)
        place = _local(request.query_params.get("to", ""))
        return await self._enter(request, person.name, place, stay=stay)

    async def sign_out(self, request: Request) -> Response:
        await self._work(partial(end_session, self._database, self._secret(request)))
        answer = RedirectResponse("sign-in", 303)
        keep_cookie(answer, request.scope, self._cookie, "", 0)
        return answer

    async def invitation(self, request: Request) -> Response:
        secret, fields = request.path_params["secret"], await small_form(request)
        if fields is None:
            return PlainTextResponse("Too large.", 413)
        try:
            name = await self._work(partial(invited_person, self._database, secret))
        except AccountError as error:
            return self._page(request, "web/ended.html", "sign_in.ended", 404, error)
        if request.method != "POST":
            return self._choose(request, name)
        try:
            await self._work(partial(accept, self._database, secret, fields.get("password", "")))
        except AccountError as error:
            return self._choose(request, name, error)
        return await self._enter(request, name, "", stay=False)

    async def _work(self, function: Callable[[], _Known]) -> _Known:
        return await run_sync(function, limiter=self._limiter)

    async def _enter(self, request: Request, name: str, place: str, *, stay: bool) -> Response:
        """Sign somebody in on this browser, and lead them to a place relative to the start."""
        await self._work(partial(end_session, self._database, self._secret(request)))
        secret = await self._work(partial(start_session, self._database, name, stay=stay))
        answer = RedirectResponse(f"../{place}", 303)
        longest = int(LONGEST_S)
        keep_cookie(answer, request.scope, self._cookie, secret, longest if stay else None)
        mark = await self._work(partial(self._mark, name, int(time.time())))
        keep_cookie(answer, request.scope, self._known_cookie, mark, longest)
        return answer

    def _mark(self, name: str, since: int) -> str:
        """What a browser keeps from which a person signed in at a time, in seconds since 1970.

        It means nothing any more after another password, or after `LONGEST_S`.
        """
        stamp = password_stamp(self._database, name)
        return f"{since}.{derived(self._token, f'known {name} {since} {stamp}')}"

    def _is_known(self, mark: str, name: str) -> bool:
        since = mark.partition(".")[0]
        if not since.isdecimal() or len(since) > _TIME_DIGITS:
            return False
        is_fresh = 0 <= time.time() - int(since) <= LONGEST_S
        return is_fresh and is_same(mark, self._mark(name, int(since)))

    def _secret(self, request: Request) -> str:
        return self._sent(request, self._cookie)

    def _sent(self, request: Request, cookie: str) -> str:
        return request.cookies.get(cookie_name(request.scope, cookie), "")

    def _sign_in_page(
        self,
        request: Request,
        name: str = "",
        stay: bool = True,
        error: AccountError | None = None,
    ) -> Response:
        is_late = isinstance(error, TooManyTries)
        answer = self._page(
            request,
            "web/sign_in.html",
            "sign_in.title",
            429 if is_late else 401 if error else 200,
            error,
            name=name,
            stay=stay,
            # Not request.url, which decodes the query as well.
            host=urlsplit(f"//{request.headers['host']}").hostname or "",
        )
        if is_late:
            answer.headers["Retry-After"] = f"{WINDOW_S:.0f}"
        return answer

    def _choose(self, request: Request, name: str, error: AccountError | None = None) -> Response:
        template, status = "web/choose_password.html", 400 if error else 200
        return self._page(
            request, template, "sign_in.choose", status, error, name=name, min_length=MIN_LENGTH
        )

    def _page(
        self,
        request: Request,
        template: str,
        title: str,
        status: int,
        error: AccountError | None,
        **values: Any,
    ) -> Response:
        t = self._messages(request)
        problem = t.translate(error.sentence) if error else ""
        return document(request, t, template, t(title), status=status, problem=problem, **values)

    def _messages(self, request: Request) -> Messages:
        return visitor_messages(request, self._settings.language)


async def small_form(request: Request) -> dict[str, str] | None:
    """The fields of a form, None if it is larger than any of ours, whatever its length states,
    or its sender has gone.
    """
    sent = bytearray()
    try:
        async for part in request.stream():
            sent += part
            if len(sent) > _LARGEST:
                return None
    except ClientDisconnect:
        return None
    return dict(parse_qsl(sent.decode("utf-8", "replace"), keep_blank_values=True))


def _local(address: str) -> str:
    """An address as it may follow "../": one below the start of this server, else ""."""
    parts = re.split(r"[/\\]", unquote(address.partition("?")[0].partition("#")[0]))
    return "" if parts[0] == "" or ".." in parts else quote(address, safe=_SAFE)
