"""What the doors of a shared server have in common: they find out who sends a request."""

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from evalui.access import ANONYMOUS, Person
from evalui.accounts.tokens import person_of_token
from evalui.errors import StoreError
from evalui.messages import messages
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.current_person import acting_as
from evalui.ui.web.doors.guests import find_guest
from evalui.web.middleware import route_of, set_sender
from evalui.web.problems import problem_answer

# These state nothing about runs, models or people.
PUBLIC_PATHS = frozenset({"/healthz", "/readyz"})
_FILES = "/static/"  # the same for everybody
PUBLIC_PREFIXES = ("/s/", "/vote/")  # what answers these checks for itself who may see it


class Gate:
    """Around the whole application: everything inside is done for whom `admit` finds.

    It has a connection to the store of its own: who somebody is need not wait until a page has been
    read, and on a server that only shows people can sign in nevertheless.
    """

    def __init__(self, app: ASGIApp, database: Database | None) -> None:
        self.app = app
        self.database = database

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on for somebody, or answer 303, 401 or 503."""
        if scope["type"] == "lifespan":
            try:
                await self.app(scope, receive, send)
            finally:
                if self.database:
                    self.database.close()
        elif scope["type"] == "websocket":  # there is none, and none comes in unseen
            await send({"type": "websocket.close", "code": 1008})
        else:
            try:
                answer = await self.admit(scope)
            except StoreError:
                # Its sentence names a folder, and nobody knows who reads it.
                answer = problem("store.title", 503)
            if isinstance(answer, Person):
                set_sender(scope, answer)
                with acting_as(answer):
                    await self.app(scope, receive, send)
            else:
                await (answer or self.app)(scope, receive, send)

    async def admit(self, scope: Scope) -> Person | Response | None:
        """From whom a request is, or why it is refused; None: from whoever the server is of.

        Raises:
            StoreError: that cannot be read.
        """
        raise NotImplementedError


class Door(Gate):
    """Lets in who has a token or is known otherwise."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.settings = settings
        self.accounts = Database(settings.database)
        super().__init__(app, self.accounts)

    def known(self, scope: Scope, headers: Headers) -> Person | None:
        """Whom a request without a token is from, None if that is unknown."""
        raise NotImplementedError

    def refusal(self, scope: Scope) -> Response:
        """The answer to those who are unknown."""
        del scope
        fields = {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}
        return problem("error.not-signed-in", 401, fields)

    async def admit(self, scope: Scope) -> Person | Response:
        """Who sends a request, or the refusal."""
        route = route_of(scope)
        if route in PUBLIC_PATHS or route.startswith(_FILES):
            return ANONYMOUS
        person = await run_in_threadpool(self._find, scope)
        if person is None and route.startswith(PUBLIC_PREFIXES):
            return ANONYMOUS
        return person or self.refusal(scope)

    def _find(self, scope: Scope) -> Person | None:
        headers = Headers(scope=scope)
        token = bearer_of(headers)
        person = person_of_token(self.accounts, token) if token else None
        return person or self.known(scope, headers) or find_guest(self.accounts, scope)


def bearer_of(headers: Headers) -> str:
    """The token that a script sends, "" if it sends none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.casefold() == "bearer" else ""


def problem(key: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """A sentence as JSON (RFC 9457), for what is no page; its scripts read the `error`."""
    text = messages("en")(key)
    return problem_answer(status, key.removeprefix("error."), text, headers, error=text)
