"""Between Gradio and our listeners: malformed events are refused, errors are answered in words.

Gradio answers every exception with 500 and prints its traceback. Here what a user can act on
becomes an answer of its own status with its sentence; only our own mistakes keep the traceback,
on the server's log.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.types import Language
from evalui.ui.components.format import DOCUMENT_LANGUAGES
from evalui.ui.top_bar import PAGES
from evalui.ui.web.documents import page_body, page_head
from evalui.web.middleware import route_of, status_of

if TYPE_CHECKING:
    import gradio as gr

_QUERY = re.compile(rb"[!-~]{0,2000}")
_LONGEST_PATH = 255  # bytes; a file system takes no longer names
LARGEST = 2**20  # bytes of an event; files come by a route of their own
_EVENT = re.compile(r"gradio_api/run/[a-z_0-9]+")
# What the pages themselves read. Gradio's other routes (uploads, its queue, development,
# monitoring) serve no page here, and would answer any client.
_READ_PATHS = re.compile(
    r"theme\.css|config|manifest\.json|favicon\.ico|robots\.txt|(assets|static|svelte)/.*"
    r"|gradio_api/(app_id|info|startup-events|heartbeat/[^/]+)"
)
_log = logging.getLogger(__name__)
# Set while an event is answered: the status of the error that a listener raised.
_status: ContextVar[list[int]] = ContextVar("_status")


Listeners = Mapping[int, int]  # of one page: how many fields each listener takes, by its number


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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what a page of ours may send."""
        page, slash, rest = route_of(scope).removeprefix("/").partition("/")
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if scope["type"] != "http" or not slash or page not in self.names or (is_read and not rest):
            await self.app(scope, receive, send)
        elif scope["method"] == "POST" and _EVENT.fullmatch(rest):
            await self.wait()
            await self._answer(self.pages[page], scope, receive, send)
        elif is_read and rest in PAGES and _is_readable(scope, rest):
            await self.wait()
            language: Language = "zh" if page == "zh" else "en"
            await self.app(scope, receive, with_head(send, language))
        elif is_read and _READ_PATHS.fullmatch(rest) and _is_readable(scope, rest):
            await self.wait()
            await self.app(scope, receive, send)
        else:
            await JSONResponse({"error": "Not found."}, 404)(scope, receive, send)

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
        raised: list[int] = []
        _status.set(raised)
        content = event.model_dump_json().encode()
        messages = iter([{"type": "http.request", "body": content, "more_body": False}])

        async def replay() -> Message:
            return next(messages, None) or await receive()

        async def with_status(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 500 and raised:
                message = {**message, "status": raised[0]}
            await send(message)

        await self.app(scope, replay, with_status)


def _is_readable(scope: Scope, rest: str) -> bool:
    """Whether Gradio can look for the address: it raises what we would answer 500 to."""
    query = _QUERY.fullmatch(scope.get("query_string", b""))
    return query is not None and len(rest.encode()) <= _LONGEST_PATH


def listeners_of(blocks: "gr.Blocks") -> Listeners:
    """What `EventMiddleware` has to know of a page."""
    return {index: len(fn.inputs) for index, fn in blocks.fns.items() if fn.fn}


def translate_errors(blocks: "gr.Blocks", t: Messages) -> None:
    """Let the listeners of a page answer errors in the page's language, without a traceback."""
    for fn in blocks.fns.values():
        if fn.fn:
            # Gradio gives the callable no types
            fn.fn = _translated(fn.fn, t)  # pyright: ignore[reportUnknownArgumentType]


def _translated(listener: Callable[..., Any], t: Messages) -> Callable[..., Any]:
    import gradio as gr

    @wraps(listener)
    def translated(*values: Any) -> Any:
        try:
            return listener(*values)
        except EvaluiError as error:
            status = status_of(error)
            _status.get([]).append(status)
            if status == 503:
                _log.warning("%s", error)
            raise gr.Error(t.translate(error.sentence), print_exception=False) from error

    return translated


def _read(body: bytes, listeners: Listeners) -> Event | None:
    """The event of a body, None if no listener of the page can take it."""
    try:
        # pydantic's own reader of JSON takes no halves of characters, which no file or store takes.
        event = Event.model_validate_json(body)
    except ValidationError:
        return None
    if listeners.get(event.fn_index) != len(event.data) or _mentions_file(event):
        return None
    return event.model_copy(
        update={
            "data": ["" if value is None else value for value in event.data],
            "event_data": event.event_data if isinstance(event.event_data, dict) else None,
        }
    )


def _mentions_file(event: Event) -> bool:
    # Gradio takes every object with a path for one of its own files.
    sent = event.event_data if isinstance(event.event_data, dict) else {}
    return "path" in sent or any(
        isinstance(part, dict) and "path" in part for part in sent.values()
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
