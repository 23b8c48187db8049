"""The documents of pages that many look at, each made once for all of them.

A page that can change by itself is requested again by its script, with the tag of what it shows.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from evalui.access import Person
from evalui.types import Language
from evalui.ui.current_person import current_person

MOMENT_S = 0.5  # a document is made again after so many seconds at the earliest
_PAUSE = 2.0  # and after so many times what the last ones took
_PATIENCE_S = 0.1  # for a document, where there is one of the moment before
_MAX_OPENED = 2  # documents made at the same time, above which an opened one is of the moment


@dataclass(frozen=True)
class Document:
    """What is sent for an address; `tag` is another for each other content."""

    content: bytes
    status: int

    @cached_property
    def tag(self) -> str:
        """As HTTP's ETag."""
        return f'"{hashlib.blake2b(self.content, digest_size=12).hexdigest()}"'


Place = tuple[Person | None, Language, str]  # who looks, a language and the query of an address
Make = Callable[[Language, str, int | None], Document]


class WatchedDocuments:
    """Makes documents by `make`, which gets the language, the query and the moment.

    Time is cut into moments. Who looks at an address again is sent the document of the moment,
    which is made once, with runs as they are at that moment; while that takes long, the one of the
    moment before. Who opens an address is sent it as it is now, or, where many open some at once,
    that of the moment. A moment lasts half a second, and longer where documents take long to make,
    so that the server has time for others. An error reaches all who wait, and is not kept.

    For the loop of one thread.
    """

    def __init__(self, make: Make, clock: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._clock = clock
        self._making = 0  # documents
        self._moment = 0
        self._ends = 0.0
        self._tasks: dict[Place, asyncio.Task[Document]] = {}  # of this moment
        self._before: dict[Place, Document] = {}  # of the last one, if it ended just now

    async def answer(self, language: Language, request: Request) -> Response:
        """The document of an address, or that it is the one whose tag the request has."""
        place = current_person(), language, str(request.query_params)
        seen = request.headers.get("if-none-match")
        is_free = seen is None and self._making < _MAX_OPENED
        shown = await (self._made(place, None) if is_free else self._watched(place))
        headers = {"ETag": shown.tag}
        # A proxy that compresses calls a tag weak.
        if seen is not None and shown.tag == seen.removeprefix("W/"):
            return Response(status_code=304, headers=headers)
        return HTMLResponse(shown.content, shown.status, headers)

    async def _watched(self, place: Place) -> Document:
        self._pass()
        task = self._tasks.get(place)
        if task is None:
            task = self._tasks[place] = asyncio.create_task(self._made_now(place))
        # Who goes away takes it from nobody: waiting for a task does not end it.
        before = self._before.get(place)
        await asyncio.wait([task], timeout=_PATIENCE_S if before else None)
        return before if before and not task.done() else task.result()

    def _pass(self) -> None:
        """Go on to the next moment if this one has ended."""
        now = self._clock()
        if now < self._ends:
            return
        made = {place: task.result() for place, task in self._tasks.items() if task.done()}
        # What is still being made is new enough.
        self._tasks = {place: task for place, task in self._tasks.items() if place not in made}
        is_recent = now < self._ends + MOMENT_S
        older = {place: self._before[place] for place in self._tasks if place in self._before}
        self._before = older | made if is_recent else {}
        self._moment += 1
        self._ends = now + MOMENT_S

    async def _made_now(self, place: Place) -> Document:
        began = self._clock()
        try:
            shown = await self._made(place, self._moment)
        except BaseException:
            del self._tasks[place]
            raise
        now = self._clock()
        self._ends = max(self._ends, now + _PAUSE * (now - began))
        return shown

    async def _made(self, place: Place, moment: int | None) -> Document:
        _, language, query = place
        self._making += 1
        try:
            return await run_in_threadpool(self._make, language, query, moment)
        finally:
            self._making -= 1
