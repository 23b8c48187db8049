"""The door of a server with accounts: whoever has signed in, by a cookie that names a session."""

import logging
import re
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from evalui.access import Person
from evalui.accounts.people import read_accounts
from evalui.accounts.sessions import person_of_session
from evalui.errors import StoreError
from evalui.settings import Settings
from evalui.ui.web.doors.door import Door, problem
from evalui.ui.web.doors.sign_in import PREFIXES, SIGN_IN, sign_in_pages
from evalui.web.address import access_token, cookie_name, cookie_of
from evalui.web.middleware import route_of

_log = logging.getLogger(__name__)
_PAGE = re.compile(r"/([a-z]{2}/|r/.+)?")


class PasswordDoor(Door):
    """Sends who opens a page to the sign-in page first, and answers everything else with 401."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        super().__init__(app, settings)
        token = access_token(settings.data_dir)  # opens nothing here, and differs between folders
        self.cookie, _ = cookie_of(token)
        self.pages = sign_in_pages(self.accounts, settings, self.cookie, token)
        if not read_accounts(self.accounts):
            _log.warning("Nobody can sign in yet: evalui users add NAME --role admin")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As every door, but that its own pages are open to everybody."""
        if scope["type"] != "http" or not route_of(scope).startswith(PREFIXES):
            await super().__call__(scope, receive, send)
            return
        try:
            await self.pages(scope, receive, send)
        except StoreError:  # before there was an answer
            await problem("store.title", 503)(scope, receive, send)

    def known(self, scope: Scope, headers: Headers) -> Person | None:
        """Whose session the cookie names."""
        cookies = cookie_parser(headers.get("cookie", ""))
        secret = cookies.get(cookie_name(scope, self.cookie), "")
        return person_of_session(self.accounts, secret) if secret else None

    def refusal(self, scope: Scope) -> Response:
        """The sign-in page, which leads back, instead of a page; 401 instead of all else."""
        if not _is_page(scope):
            return super().refusal(scope)
        route = route_of(scope)
        query = scope.get("query_string", b"").decode("latin-1")
        back = quote(route.lstrip("/")) + (f"?{query}" if query else "")
        # Relative, because a proxy may serve us below a path that we do not know.
        place = "../" * (route.count("/") - 1) + SIGN_IN
        address = f"{place}?{urlencode({'to': back})}" if back else place
        return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def _is_page(scope: Scope) -> bool:
    """Whether somebody opens an address, and not a script on a page that is open already."""
    headers = Headers(scope=scope)
    if scope["method"] not in ("GET", "HEAD"):
        return False
    if headers.get("sec-fetch-mode", "navigate") != "navigate":
        return False
    return "text/html" in headers.get("accept", "") or bool(_PAGE.fullmatch(route_of(scope)))
