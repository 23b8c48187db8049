"""Between Gradio and our listeners: malformed events are refused, errors are answered in words.

Gradio answers every exception with 500 and prints its traceback. Here what a user can act on
becomes an answer of its own status with its sentence; only our own mistakes keep the traceback,
on the server's log.
"""

import asyncio
import hashlib
import inspect
import logging
import re
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Generator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, urlencode

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evalui.access import Person
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.types import Language
from evalui.ui.components.format import DOCUMENT_LANGUAGES
from evalui.ui.pages.context import PageContext, SharedAnswer, SharedBy
from evalui.ui.top_bar import PAGES
from evalui.ui.web.documents import page_body, page_head
from evalui.ui.web.newest import NewestAnswers
from evalui.web.middleware import route_of, sender_of, status_of

if TYPE_CHECKING:
    import gradio as gr
    from gradio.block_function import BlockFunction

    from evalui.ui.build import UnqueuedBlocks

_QUERY = re.compile(rb"[!-~]{0,2000}")
_LONGEST_PATH = 255  # bytes; a file system takes no longer names
LARGEST = 2**20  # bytes of an event; files come by a route of their own
_EVENT = re.compile(r"gradio_api/run/[a-z_0-9]+")
_CALL, _ANSWERS = "gradio_api/queue/join", "gradio_api/queue/data"  # of `gradio_client`
_SESSION = re.compile(r"^[\w-]{1,64}$", re.ASCII)
# What the pages themselves read. Gradio's other routes (uploads, heartbeats, development,
# monitoring) serve no page here, and would answer any client.
_READ_PATHS = re.compile(
    r"theme\.css|config|manifest\.json|favicon\.ico|robots\.txt|(assets|static|svelte)/.*"
    r"|gradio_api/(app_id|info|startup-events)"
)
_MOST_SHARED = 64  # answers that serve several; that of a document has some 300 kB
_log = logging.getLogger(__name__)
# Set while an event is answered: the status of the error that a listener raised.
_status: ContextVar[list[int]] = ContextVar("_status")


@dataclass(frozen=True, slots=True)
class Listeners:
    """What listens in the app of a language: how many fields each takes, by its number.

    `events` are those of the pages, `shared` those of them whose answers serve several, with what
    a person and an event share them by. `endpoints` are for other programs, whose calls come by the
    queue, which starts with the first and `close_queue` ends. `admit` says whether a person's
    session may call one more, `is_awaited` whether answers are under way to a session, and
    `forget` keeps nothing of one whose answers are read.
    """

    events: Mapping[int, int]
    shared: Mapping[int, "_Sharing"]
    endpoints: Mapping[int, int]
    admit: Callable[[str, str], bool]
    close_queue: Callable[[], None]
    is_awaited: Callable[[str], bool]
    forget: Callable[[str], None]


_Sharing = Callable[[Person | None, "Event"], SharedAnswer | None]
_Fields = dict[str, str | list[str]]
_Item = str | int | float | None


class Event(BaseModel):
    """What a page sends; no field of ours is an object, which might name a file.

    What else there is goes no further: Gradio would keep a state for each name of a session.
    """

    model_config = ConfigDict(strict=True, extra="ignore")

    data: list[str | bool | int | float | list[str] | None]
    fn_index: int
    # Of Gradio's own events it is a value, which the fields have, too.
    event_data: dict[str, _Item | list[_Item] | _Fields] | _Item | list[_Item] = None
    trigger_id: int | None = None
    session_hash: str | None = Field(default=None, exclude=True)


class Call(BaseModel):
    """What `gradio_client` sends to an endpoint; the answer is read by the name of the session."""

    model_config = ConfigDict(strict=True, extra="ignore")

    data: list[JsonValue]
    fn_index: int
    session_hash: str = Field(pattern=_SESSION)


class EventMiddleware:
    """Answers 404 to the routes of Gradio that no page uses, and 400 to events of no listener.

    `pages` gives the listeners of each page when `wait` has returned: Gradio may still be coming.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: Collection[str],
        pages: Mapping[str, Listeners],
        wait: Callable[[], Awaitable[None]],
    ) -> None:
        self.app = app
        self.names = names
        self.pages = pages
        self.wait = wait
        self._shared = NewestAnswers[Sequence[Message]](_MOST_SHARED)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what a page of ours may send."""
        page, slash, rest = route_of(scope).removeprefix("/").partition("/")
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if scope["type"] != "http" or not slash or page not in self.names or (is_read and not rest):
            await self.app(scope, receive, send)
        elif scope["method"] == "POST" and _EVENT.fullmatch(rest):
            await self.wait()
            await self._answer(self.pages[page], scope, receive, send)
        elif scope["method"] == "POST" and rest == _CALL:
            await self.wait()
            await self._queue(self.pages[page], scope, receive, send)
        elif scope["method"] == "GET" and rest == _ANSWERS:
            await self.wait()
            await self._answers(self.pages[page], scope, receive, send)
        elif is_read and rest in PAGES and _is_readable(scope, rest):
            await self.wait()
            language: Language = "zh" if page == "zh" else "en"
            await self.app(scope, receive, with_head(send, language))
        elif is_read and _READ_PATHS.fullmatch(rest) and _is_readable(scope, rest):
            await self.wait()
            await self.app(scope, receive, send)
        else:
            await _NOT_FOUND(scope, receive, send)

    async def _answer(
        self, listeners: Listeners, scope: Scope, receive: Receive, send: Send
    ) -> None:
        body = await _body(receive)
        if body is None:
            await JSONResponse({"error": "The event is too large."}, 413)(scope, receive, send)
            return
        event = _read(body, listeners)
        if event is None:
            await JSONResponse({"error": "No such event."}, 400)(scope, receive, send)
            return
        shared = await self._sharing(listeners, sender_of(scope), event)
        if shared is None:
            await self._pass_on(event, scope, receive, send)
            return
        told = event.event_data if isinstance(event.event_data, dict) else {}
        wanted = event.model_copy(update={"event_data": {**told, **shared.sent}})
        encodings = Headers(scope=scope).get("accept-encoding")  # Gradio compresses its answers
        try:
            answer = await self._shared.find(
                (id(listeners), event.fn_index, repr(event.data), shared.name, encodings),
                shared.version,
                lambda: _recorded(partial(self._pass_on, wanted, scope, _never)),
            )
        except _NotKept as failed:
            answer = failed.answer
        for message in answer:
            # What stands around the application writes its headers into the message.
            await send({**message, "headers": [*message.get("headers", ())]})

    async def _sharing(
        self, listeners: Listeners, person: Person | None, event: Event
    ) -> SharedAnswer | None:
        """Which answer of several this one is, None of one that serves nobody else."""
        by = listeners.shared.get(event.fn_index)
        return await run_in_threadpool(by, person, event) if by else None

    async def _pass_on(self, event: Event, scope: Scope, receive: Receive, send: Send) -> None:
        """Have Gradio answer an event; errors of its listener get their own status."""
        raised: list[int] = []
        _status.set(raised)
        content = event.model_dump_json().encode()

        async def with_status(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 500 and raised:
                message = {**message, "status": raised[0]}
            await send(message)

        await self.app(scope, _replay(content, receive), with_status)

    async def _queue(
        self, listeners: Listeners, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Pass a call on to Gradio's queue, under a session of its sender alone."""
        body = await _body(receive)
        if body is None:
            await JSONResponse({"error": "The call is too large."}, 413)(scope, receive, send)
            return
        call, person = _read_call(body, listeners), sender_of(scope)
        if call is None or (person and person.is_guest):  # who came to vote calls nothing
            await _NOT_FOUND(scope, receive, send)
            return
        session = _own_session(scope, call.session_hash)
        if not listeners.admit(session.partition("-")[0], session):
            refused = {"error": "Too many calls are under way or unread. Read their answers first."}
            await JSONResponse(refused, 429)(scope, receive, send)
            return
        own = call.model_copy(update={"session_hash": session})
        await self.app(scope, _replay(own.model_dump_json().encode(), receive), send)

    async def _answers(
        self, listeners: Listeners, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Send what becomes of the sender's calls, by server-sent events."""
        session = _own_session(scope, _session_of(scope))
        if not listeners.is_awaited(session):
            await _NOT_FOUND(scope, receive, send)
            return
        query = urlencode({"session_hash": session}).encode()
        try:
            await self.app({**scope, "query_string": query}, receive, send)
        finally:
            listeners.forget(session)


_NOT_FOUND = JSONResponse({"error": "Not found."}, 404)


def _session_of(scope: Scope) -> str:
    """The session whose answers a request reads, "" if it names none."""
    sent = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("session_hash", [""])
    return sent[0] if _SESSION.fullmatch(sent[0]) else ""


def _own_session(scope: Scope, session: str) -> str:
    """The session as Gradio knows it, named after its person: to guess another's is of no use."""
    person = sender_of(scope)
    names = (person.name if person else "", session)
    return "-".join(hashlib.sha256(name.encode()).hexdigest() for name in names)


def _read_call(body: bytes, listeners: Listeners) -> Call | None:
    """The call of a body, None if no endpoint can take it."""
    try:
        call = Call.model_validate_json(body)
    except ValidationError:
        return None
    is_known = listeners.endpoints.get(call.fn_index) == len(call.data)
    return call if is_known and not _holds_path(call.data) else None


def _holds_path(value: object) -> bool:
    # Gradio takes every object with a path for one of its own files.
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return "path" in fields or any(map(_holds_path, fields.values()))
    return isinstance(value, list) and any(map(_holds_path, cast("list[object]", value)))


def _replay(content: bytes, receive: Receive) -> Receive:
    """Receives a body that was read already."""
    messages = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def replay() -> Message:
        return next(messages, None) or await receive()

    return replay


def _is_readable(scope: Scope, rest: str) -> bool:
    """Whether Gradio can look for the address: it raises what we would answer 500 to."""
    query = _QUERY.fullmatch(scope.get("query_string", b""))
    return query is not None and len(rest.encode()) <= _LONGEST_PATH


class _NotKept(Exception):
    """An answer that serves nobody else, for it is an error."""

    def __init__(self, answer: Sequence[Message]) -> None:
        super().__init__()
        self.answer = answer


async def _recorded(answering: Callable[[Send], Awaitable[None]]) -> Sequence[Message]:
    """What is sent; raises `_NotKept` where that is an error."""
    messages: list[Message] = []

    async def record(message: Message) -> None:
        messages.append(message)

    await answering(record)
    if messages[0]["status"] != 200:
        raise _NotKept(messages)
    return messages


async def _never() -> Message:
    """Receives nothing: whoever was first may go away, the others want their answer."""
    await asyncio.Event().wait()
    raise AssertionError("it waits for ever")


def listeners_of(blocks: "UnqueuedBlocks", context: PageContext) -> Listeners:
    """What `EventMiddleware` has to know of an app."""
    called = {index: len(fn.inputs) for index, fn in blocks.fns.items() if fn.fn}
    public = {index for index, fn in blocks.fns.items() if fn.api_visibility == "public"}
    return Listeners(
        {index: n for index, n in called.items() if index not in public},
        {
            index: partial(_shared_by, context, by)
            for index, fn in blocks.fns.items()
            if (by := context.shared.get(_listener(fn)))
        },
        {index: n for index, n in called.items() if index in public},
        blocks.admit,
        blocks.close_queue,
        blocks.is_awaited,
        blocks.forget,
    )


def _listener(fn: "BlockFunction") -> Any:
    """The function of ours that answers an event."""
    return fn.renderable.fn if fn.renderable else fn.fn  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType] # bare callables there


def _shared_by(
    context: PageContext, by: SharedBy, person: Person | None, event: Event
) -> SharedAnswer | None:
    sent = event.event_data if isinstance(event.event_data, dict) else {}
    try:
        return by(context.service_of_all.acting_for(person), sent, event.data)
    except EvaluiError:
        return None  # the listener answers it


def translate_errors(blocks: "gr.Blocks", t: Messages) -> None:
    """Let the listeners of a page answer errors in the page's language, without a traceback."""
    for fn in blocks.fns.values():
        if fn.fn:
            # Gradio gives the callable no types
            fn.fn = _translated(fn.fn, t)  # pyright: ignore[reportUnknownArgumentType]


def _translated(listener: Callable[..., Any], t: Messages) -> Callable[..., Any]:
    import gradio as gr

    @contextmanager
    def translating() -> Generator[None]:
        try:
            yield
        except EvaluiError as error:
            status = status_of(error)
            _status.get([]).append(status)
            if status == 503:
                _log.warning("%s", error)
            raise gr.Error(t.translate(error.sentence), print_exception=False) from error

    @wraps(listener)
    def translated(*values: Any) -> Any:
        with translating():
            return listener(*values)

    @wraps(listener)
    async def translated_later(*values: Any) -> Any:
        with translating():
            return await listener(*values)

    return translated_later if inspect.iscoroutinefunction(listener) else translated


def _read(body: bytes, listeners: Listeners) -> Event | None:
    """The event of a body, None if no listener of the page can take it."""
    try:
        # pydantic's own reader of JSON takes no halves of characters, which no file or store takes.
        event = Event.model_validate_json(body)
    except ValidationError:
        return None
    if listeners.events.get(event.fn_index) != len(event.data) or _holds_path(event.event_data):
        return None
    return event.model_copy(
        update={
            "data": ["" if value is None else value for value in event.data],
            "event_data": event.event_data if isinstance(event.event_data, dict) else None,
        }
    )


def with_head(send: Send, language: Language) -> Send:
    """Sends a page of Gradio with our head, in its language."""
    start: Message = {}
    body = bytearray()

    async def changed(message: Message) -> None:
        nonlocal start, body
        if message["type"] == "http.response.start":
            start = message
            return
        if message["type"] != "http.response.body":
            await send(message)
            return
        body += message.get("body", b"")
        if not message.get("more_body"):
            content = bytes(body).replace(b"</head>", page_head() + b"</head>", 1)
            content = content.replace(b"<body", page_body(language), 1)
            content = content.replace(
                b'lang="en"', f'lang="{DOCUMENT_LANGUAGES[language]}"'.encode(), 1
            )
            MutableHeaders(scope=start)["content-length"] = str(len(content))
            await send(start)
            await send({"type": "http.response.body", "body": content})

    return changed


async def _body(receive: Receive) -> bytes | None:
    """The body of a request, None if it is larger than an event may be."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LARGEST:
            return None
        if not message.get("more_body"):
            return bytes(body)
