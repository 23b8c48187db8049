"""What the doors of a shared server have in common: they find out who sends a request."""

from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from evalui.access import ANONYMOUS, Person
from evalui.accounts.tokens import person_of_token
from evalui.errors import StoreError
from evalui.messages import messages
from evalui.runs.database.connection import Database
from evalui.settings import Settings
from evalui.ui.current_person import acting_as
from evalui.ui.web.doors.guests import Guests
from evalui.ui.web.middleware import route_of

# These state nothing about runs, models or people.
PUBLIC_PATHS = frozenset({"/healthz", "/readyz"})
_FILES = "/static/"  # the same for everybody
PUBLIC_PREFIXES = ("/s/", "/vote/")  # what answers these checks for itself who may see it


class Door:
    """Lets in who has a token or is known otherwise; everything inside is done for that person.

    It has a connection to the store of its own: who somebody is need not wait until a page has been
    read, and on a server that only shows people can sign in nevertheless.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.database = Database(settings.database)
        self.guests = Guests(self.database)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on for somebody, or answer 303, 401 or 503."""
        if scope["type"] == "lifespan":
            try:
                await self.app(scope, receive, send)
            finally:
                self.database.close()
        elif scope["type"] == "websocket":  # there is none, and none comes in unseen
            await send({"type": "websocket.close", "code": 1008})
        else:
            answer = await self._answer(scope)
            if isinstance(answer, Response):
                await answer(scope, receive, send)
                return
            with acting_as(answer):
                await self.app(scope, receive, send)

    def known(self, scope: Scope, headers: Headers) -> Person | None:
        """Whom a request without a token is from, None if that is unknown."""
        raise NotImplementedError

    def refusal(self, scope: Scope) -> Response:
        """The answer to those who are unknown."""
        del scope
        fields = {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}
        return problem("error.not-signed-in", 401, fields)

    async def _answer(self, scope: Scope) -> Person | Response:
        route = route_of(scope)
        if route in PUBLIC_PATHS or route.startswith(_FILES):
            return ANONYMOUS
        try:
            person = await run_in_threadpool(self._find, scope)
        except StoreError:
            # Its sentence names a folder, and nobody knows who reads it.
            return problem("store.title", 503)
        if person is None and route.startswith(PUBLIC_PREFIXES):
            return ANONYMOUS
        return person or self.refusal(scope)

    def _find(self, scope: Scope) -> Person | None:
        headers = Headers(scope=scope)
        kind, _, token = headers.get("authorization", "").partition(" ")
        person = None
        if kind.casefold() == "bearer":
            person = person_of_token(self.database, token.strip())
        return person or self.known(scope, headers) or self.guests.person(scope)


def problem(key: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """A sentence as JSON (RFC 9457), for what is no page; its scripts read the `error`."""
    name, text = key.removeprefix("error."), messages("en")(key)
    content = {
        "type": f"urn:evalui:error:{name}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": text,
        "key": name,
        "error": text,
    }
    return JSONResponse(content, status, headers, media_type="application/problem+json")
