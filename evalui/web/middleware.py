"""What stands around the application: security headers, who sends a request, pages in its place."""

import re
from collections.abc import Callable, MutableMapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evalui.access import Person
from evalui.errors import EvaluiError, NotAllowed, StoreError, UnknownRun
from evalui.messages import LANGUAGES, Messages, messages
from evalui.report.html import Html
from evalui.report.markup import Templates

# Gradio needs inline scripts and eval; nothing may be fetched from, or sent to, another host.
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; img-src 'self' data: blob:; "
    "connect-src 'self' data: blob:; frame-ancestors 'self'; form-action 'self'; base-uri 'self'"
)
# Files of evalui and Gradio, the same for everyone; what else is answered stays in no cache.
_SHARED = re.compile(r"/static/|/[a-z]+/(assets|static|svelte)/|/[a-z]+/theme\.css$")
_FOREIGN_SITES = ("cross-site", "same-site")
_SENDER = "evalui.person"  # of the scope of a request; mounted applications have it, too
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
TEMPLATES = Path(__file__).parent / "templates"
_TEMPLATES = Templates(TEMPLATES)


class SameOriginMiddleware:
    """Refuses what another site's page sends, and forbids our pages to talk to other hosts.

    Only addresses, localhost and `hosts` are answered: a foreign name that is made to point here
    (DNS rebinding) would be an origin of its own, and could read everything.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] = ()) -> None:
        self.app = app
        self.hosts = frozenset(host.casefold() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 to a foreign origin, else add the headers to the answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        is_shared = _SHARED.match(route_of(scope))  # of which routers take parts away

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = _POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers.setdefault("Referrer-Policy", "same-origin")
                if not is_shared:
                    headers.setdefault("Cache-Control", "no-store")
                # Gradio lets pages of other ports of this machine read its answers, with cookies.
                del headers["Access-Control-Allow-Origin"]
                del headers["Access-Control-Allow-Credentials"]
            await send(message)

        await (self._refusal(scope) or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if not self._is_allowed_host(headers.get("host", "")):
            return PlainTextResponse("Unknown host. See EVALUI_ALLOWED_HOSTS.", status_code=421)
        if scope["method"] not in _SAFE_METHODS and _foreign(headers):
            return JSONResponse({"error": "This page is of another site."}, status_code=403)
        return None

    def _is_allowed_host(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").casefold()
        except ValueError:  # half an address in brackets
            return False
        return name == "localhost" or name in self.hosts or _is_address(name)


def route_of(scope: Scope) -> str:
    """The path of a request as our routes name it, "" if there is none.

    ASGI counts the prefix that a proxy puts before our paths as part of the path.
    """
    path, prefix = scope.get("path", ""), scope.get("root_path", "")
    return path.removeprefix(prefix) if path.startswith(f"{prefix}/") else path


def set_sender(scope: MutableMapping[str, Any], person: Person) -> None:
    """State who sends a request, in its own scope: the router adds to it what figures count by."""
    scope[_SENDER] = person


def sender_of(scope: MutableMapping[str, Any]) -> Person | None:
    """Who sends a request, None where the door names nobody: it is whoever the server is of."""
    person = scope.get(_SENDER)
    return person if isinstance(person, Person) else None


def status_of(error: EvaluiError, otherwise: int = 400) -> int:
    """The HTTP status of an error: 404 for a run that is not there, 403
    for a deed that is not allowed, 503 for a damaged store.

    `otherwise` is that of all others: 400 where the request carries fields, which may be wrong.
    """
    if isinstance(error, UnknownRun):
        return 404
    if isinstance(error, NotAllowed):
        return 403
    return 503 if isinstance(error, StoreError) else otherwise


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _foreign(headers: Headers) -> bool:
    if headers.get("sec-fetch-site") in _FOREIGN_SITES:  # "same-site": another port, too
        return True
    origin = headers.get("origin")
    try:
        return bool(origin) and urlsplit(origin).netloc != headers.get("host")
    except ValueError:  # half an address in brackets
        return True


def plain_page(title: str, about: Callable[[Messages], str]) -> Html:
    """The document; `title` is the key of the headings, `about` gives the text below each."""
    known = [(language, messages(language)) for language in LANGUAGES]
    return _TEMPLATES.fill(
        "plain.html",
        title=messages("en")(title),
        sections=[(language, t(title), about(t)) for language, t in known],
    )
