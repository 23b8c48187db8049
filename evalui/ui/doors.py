"""Which of Gradio's routes a visitor reaches; no request and no answer is rewritten.

Who is unknown was refused by the server's own door before. Gradio asks of nobody whether a session
or a file is theirs: here a session belongs to the first who sends an event for it, and a temporary
file to whoever uploaded it.
"""

import re
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evalui.access import Person
from evalui.errors import EvaluiError
from evalui.web.middleware import route_of, sender_of

if TYPE_CHECKING:
    import gradio as gr

_FILES = re.compile(
    r"theme\.css|config|manifest\.json|favicon\.ico|robots\.txt|(assets|static|svelte)/.*"
    r"|gradio_api/(app_id|info|upload_progress)"
)
_RUN = re.compile(r"gradio_api/run/[a-z_0-9]+")
_JOIN, _DATA, _UPLOAD = (f"gradio_api/{name}" for name in ("queue/join", "queue/data", "upload"))
_SESSION = re.compile(r"^[\w-]{1,64}$", re.ASCII)
_QUERY = re.compile(rb"[!-~]{0,8000}")
_UNFINISHED = re.compile(r"tmp[a-z0-9_]{8}")  # the name of a file that Gradio still writes
_LONGEST_PATH = 255  # bytes; a file system takes no longer names
_BALLOT = "annotate"  # the page that guests of a link have
LARGEST = 2**20  # bytes of an event
SESSIONS = 40  # of a person, each an open tab
IDLE_S = 3600.0  # after which a session is forgotten; its page loads itself anew
AT_ONCE = 40  # events of a person that are not answered yet
UPLOADS = 1000  # temporary files of a person


class _Owner(NamedTuple):
    """Whose something is: guests of two runs may have one name; who has none is told by address."""

    name: str
    guest_of: str = ""
    address: str = ""


class _Event(BaseModel):
    """What a page or `gradio_client` sends."""

    # Gradio believes an event that it is a batch, or goes on with another one.
    model_config = ConfigDict(strict=True, extra="forbid")

    session_hash: str = Field(pattern=_SESSION)
    fn_index: int
    data: list[JsonValue]
    event_data: JsonValue = None
    trigger_id: int | None = None


class Doors:
    """Passes on what a page of ours sends.

    `apps` gives the app of each language when `wait` has returned. `receiving` is entered while
    Gradio receives files: it is told who sends them by which headers, and how many bytes of theirs
    wait already, and may raise an `EvaluiError`, for which `refused` has the answer. They come to
    `folder`.
    """

    def __init__(
        self,
        app: ASGIApp,
        languages: tuple[str, ...],
        apps: "Mapping[str, gr.Blocks]",
        wait: Callable[[], Awaitable[None]],
        receiving: Callable[[Person | None, Headers, int], AbstractContextManager[object]],
        refused: Callable[[EvaluiError], JSONResponse],
        folder: Path,
    ) -> None:
        self.app, self.languages, self.apps, self.wait = app, languages, apps, wait
        self.receiving, self.refused, self.folder = receiving, refused, folder
        self._files: defaultdict[_Owner, set[str]] = defaultdict(set)  # paths in Gradio's folder
        self._pending: Counter[_Owner] = Counter()  # events that are under way
        self._uploading = 0
        self._sessions: dict[str, _Sessions] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 404 to what no page uses, and refuse events and files that are not to come in."""
        language, slash, rest = route_of(scope).removeprefix("/").partition("/")
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        is_gradios = scope["type"] == "http" and slash and language in self.languages
        if not is_gradios or (is_read and not rest):  # the address of no page leads to one
            await self.app(scope, receive, send)
            return
        await self.wait()
        demo = self.apps[language]
        sessions = self._sessions.setdefault(language, _Sessions(demo))
        if is_read:
            answer = self.app if _may_read(demo, sessions, scope, rest) else _NOT_FOUND
            await answer(scope, receive, send)
        elif scope["method"] == "POST" and rest == _UPLOAD:
            await self._upload(scope, receive, send)
        elif scope["method"] == "POST" and (rest == _JOIN or _RUN.fullmatch(rest)):
            await self._event(sessions, scope, receive, send, queued=rest == _JOIN)
        else:
            await _NOT_FOUND(scope, receive, send)

    async def _event(
        self, sessions: "_Sessions", scope: Scope, receive: Receive, send: Send, *, queued: bool
    ) -> None:
        """Let Gradio answer an event that is its sender's to send."""
        owner = _owner(scope)
        if self._pending[owner] + sessions.calls(owner) >= AT_ONCE:
            await _problem("Too many events wait for their answers.", 429)(scope, receive, send)
            return
        self._pending[owner] += 1
        try:
            body = await _body(receive)
            refusal = self._refusal(sessions, scope, body, queued=queued)
            if refusal:
                await refusal(scope, receive, send)
            else:
                await self.app(scope, _replay(body, receive), send)
        finally:
            self._pending[owner] -= 1
            if not self._pending[owner]:
                del self._pending[owner]

    def _refusal(
        self, sessions: "_Sessions", scope: Scope, body: bytes, *, queued: bool
    ) -> JSONResponse | None:
        """Why an event goes no further, None if it does."""
        if len(body) > LARGEST:
            return _problem("The event is too large.", 413)
        try:
            # This reader of JSON takes no halves of characters, which no file or store takes.
            event = _Event.model_validate_json(body)
        except ValidationError:
            return _NO_EVENT
        owner, person = _owner(scope), sender_of(scope)
        if any(path not in self._files.get(owner, ()) for path in _paths(event.data)):
            return _NOT_FOUND
        if any(_paths(event.event_data)) or not sessions.is_open(event.session_hash, owner):
            return _NOT_FOUND
        listener = sessions.listener(event.session_hash, event.fn_index)
        is_drawn = sessions.is_drawn(event.fn_index)
        if listener is None and is_drawn:
            if sessions.is_kept(event.session_hash):
                return _problem("No such event any more.", 409)  # the page draws itself anew
            return _problem("No such session any more.", 410)  # the page loads itself anew
        if listener is None or not listener.fn or len(event.data) != len(listener.inputs):
            return _NO_EVENT
        # Of what a drawing has made Gradio notes another page.
        page = (listener.rendered_in or listener).page
        if person and person.is_guest and (queued or page != _BALLOT):
            return _NOT_FOUND  # who came to vote has the ballot alone
        if listener.queue != queued:
            return _NO_EVENT
        sessions.use(event.session_hash, owner)
        return None

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let Gradio store files, and note whose their paths are: an event may name no others."""
        own = self._files[_owner(scope)]
        waiting = dict(_sizes(own))
        own.intersection_update(waiting)  # a listener has taken the others, or time has
        if len(own) >= UPLOADS:
            await _problem("Too many files wait to be used.", 429)(scope, receive, send)
            return
        answered, accepted = bytearray(), False

        async def noting(message: Message) -> None:
            nonlocal accepted
            accepted = accepted or message.get("status") == 200
            answered.extend(message.get("body", b""))
            await send(message)

        # What is compressed could not be read.
        plain = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
        held = sum(waiting.values())
        self._uploading += 1
        try:
            with self.receiving(sender_of(scope), Headers(scope=scope), held):
                await self.app({**scope, "headers": plain}, receive, noting)
        except EvaluiError as error:
            await self.refused(error)(scope, receive, send)
            return
        finally:
            self._uploading -= 1
            self._sweep()
        if accepted:
            own.update(cast("list[str]", from_json(bytes(answered))))

    def _sweep(self) -> None:
        """Remove what Gradio leaves of uploads that were broken off, or whose form is not its own.

        They are counted for nobody.
        """
        if not self._uploading and self.folder.is_dir():
            for each in self.folder.iterdir():
                if _UNFINISHED.fullmatch(each.name) and each.is_file():
                    each.unlink(missing_ok=True)


class _Sessions:
    """Whose sessions of an app there are; those that nobody uses are forgotten, in Gradio, too."""

    def __init__(self, demo: "gr.Blocks") -> None:
        self._demo = demo
        self._last_fixed = max(demo.fns, default=-1)  # of the listeners that every session has
        self._used: OrderedDict[str, tuple[_Owner, float]] = OrderedDict()  # the latest used last

    def is_open(self, session: str, owner: _Owner) -> bool:
        """Whether a session is this person's, or may become theirs."""
        return session not in self._used or self.is_of(session, owner)

    def is_of(self, session: str, owner: _Owner) -> bool:
        """Whether a session is this person's."""
        return session in self._used and self._used[session][0] == owner

    def listener(self, session: str, index: int) -> Any:
        """The listener of a number in a session, None if there is none."""
        held = self._demo.state_holder.session_data.get(session)
        return (held.blocks_config.fns if held else self._demo.fns).get(index)

    def is_kept(self, session: str) -> bool:
        """Whether Gradio knows a session."""
        return session in self._demo.state_holder

    def is_drawn(self, index: int) -> bool:
        """Whether a listener of this number can only be made in a drawing."""
        return index > self._last_fixed

    def calls(self, owner: _Owner) -> int:
        """How many calls of a person are in the queue, or answered and unread.

        Of too many those are forgotten that nobody reads, with their sessions.
        """
        waiting = {each: self._calls(each) for each in self._used if self.is_of(each, owner)}
        for session, calls in waiting.items():
            if sum(map(len, waiting.values())) < AT_ONCE:
                break
            if calls and self._forget(session):
                waiting[session] = frozenset()
        return sum(map(len, waiting.values()))

    def use(self, session: str, owner: _Owner) -> None:
        """Note that a person uses a session; forget those that are idle, or too many."""
        now = time.monotonic()
        self._used[session] = owner, now
        self._used.move_to_end(session)
        own = [each for each in self._used if self.is_of(each, owner)]
        idle = [each for each, (_, used) in self._used.items() if now - used > IDLE_S]
        for each in {*own[:-SESSIONS], *idle}:
            self._forget(each)

    def _calls(self, session: str) -> frozenset[str]:
        return frozenset(self._queue.pending_event_ids_session.get(session, ()))

    def _forget(self, session: str) -> bool:
        """Keep nothing of a session, unless a call of it is under way."""
        if self._calls(session) & self._queue.event_ids_to_events.keys():
            return False
        del self._used[session]
        holder, queue = self._demo.state_holder, self._queue
        holder.delete_state(session)  # whose callbacks are told
        for kept in (
            *(holder.session_data, holder.time_last_used),
            *(queue.pending_event_ids_session, queue.pending_messages_per_session),
        ):
            kept.pop(session, None)
        return True

    @property
    def _queue(self) -> Any:
        return self._demo._queue  # pyright: ignore[reportPrivateUsage] # no other name


def _may_read(demo: "gr.Blocks", sessions: _Sessions, scope: Scope, rest: str) -> bool:
    query = scope.get("query_string", b"")
    # Gradio raises for a path or query that it cannot look for.
    if not _QUERY.fullmatch(query) or len(rest.encode()) > _LONGEST_PATH:
        return False
    if rest == _DATA:
        named = parse_qs(query.decode("latin-1")).get("session_hash", [""])
        return len(named) == 1 and sessions.is_of(named[0], _owner(scope))
    return rest in {path for path, *_ in demo.pages if path} or bool(_FILES.fullmatch(rest))


def _problem(text: str, status: int) -> JSONResponse:
    return JSONResponse({"error": text}, status)


_NOT_FOUND, _NO_EVENT = _problem("Not found.", 404), _problem("No such event.", 400)


def _owner(scope: Scope) -> _Owner:
    person = sender_of(scope)
    if person and person.name:
        return _Owner(person.name, person.guest_of)
    return _Owner("", address=(scope.get("client") or ("",))[0])


def _paths(value: JsonValue) -> Iterator[str]:
    """Each path in an event: Gradio takes every object that has one for a file."""
    if isinstance(value, dict):
        if "path" in value:
            yield str(value["path"])
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _paths(each)


def _sizes(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The files that are there, with their sizes."""
    for each in paths:
        with suppress(FileNotFoundError):
            yield each, Path(each).stat().st_size


def _replay(content: bytes, receive: Receive) -> Receive:
    """Receives a body that was read already."""
    left: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay


async def _body(receive: Receive) -> bytes:
    """The body of a request, of which no more is read than is too large for an event."""
    body = bytearray()
    while len(body) <= LARGEST:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return bytes(body)
