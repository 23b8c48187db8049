"""What every answer of the server carries: security headers, and the head of our pages."""

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Gradio needs inline scripts and eval; nothing may be fetched from, or sent to, another host.
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; img-src 'self' data: blob:; "
    "connect-src 'self' data: blob:; frame-ancestors 'self'; form-action 'self'; base-uri 'self'"
)
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


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

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = _POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers.setdefault("Referrer-Policy", "same-origin")
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

    ASGI counts what a proxy was said to put before our paths as part of the path.
    """
    return scope.get("path", "").removeprefix(scope.get("root_path", ""))


class PageHeadMiddleware:
    """Puts our head and language into the pages Gradio renders.

    Gradio would add style sheets by script, after its own start: the page would flash.
    `heads` gives the markup by path, `languages` the language of the document by path.
    """

    def __init__(
        self, app: ASGIApp, *, heads: Mapping[str, str], languages: Mapping[str, str]
    ) -> None:
        self.app = app
        self.heads = heads
        self.languages = languages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Rewrite the one document of a path in `heads`; pass everything else through."""
        path = route_of(scope)
        if scope["type"] != "http" or scope["method"] != "GET" or path not in self.heads:
            await self.app(scope, receive, send)
            return
        start: Message = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            if message["type"] != "http.response.body":
                await send(message)
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body"):
                page = self._rewritten(bytes(body), path)
                MutableHeaders(scope=start)["Content-Length"] = str(len(page))
                await send(start)
                await send({"type": "http.response.body", "body": page})

        await self.app(scope, receive, collect)

    def _rewritten(self, page: bytes, path: str) -> bytes:
        head = self.heads[path].encode()
        language = self.languages[path].encode()
        page = page.replace(b'lang="en"', b'lang="' + language + b'"', 1)
        return page.replace(b"</head>", head + b"</head>", 1)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _foreign(headers: Headers) -> bool:
    origin = headers.get("origin")
    try:
        return bool(origin) and urlsplit(origin).netloc != headers.get("host")
    except ValueError:  # half an address in brackets
        return True
