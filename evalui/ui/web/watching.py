"""The documents of pages that many look at again and again, each made once for all of them.

A page that can change by itself is requested again by its script, with the tag of what it shows.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from evalui.types import Language

MOMENT_S = 1.0  # a document is made again after so many seconds at the earliest
_PAUSE = 1.0  # and after so many times what the last ones took


@dataclass(frozen=True, slots=True)
class Document:
    """What is sent for an address; `tag` is another for each other content."""

    content: bytes
    status: int

    @property
    def tag(self) -> str:
        """As HTTP's ETag."""
        return f'"{hashlib.blake2b(self.content, digest_size=12).hexdigest()}"'


Make = Callable[[Language, str, int | None], Document]


class WatchedDocuments:
    """Makes documents by `make`, which gets the language, the query and the moment.

    Time is cut into moments. The first that looks at an address again in a moment has its document
    made, with runs as they are at that moment; all others get the same one. A moment lasts a
    second, and longer where documents take long to make, so that the server has time for others. An
    error reaches all who wait, and is not kept. Only for the loop of one thread.
    """

    def __init__(self, make: Make, clock: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._clock = clock
        self._moment = 0
        self._ends = 0.0
        self._documents: dict[tuple[Language, str], asyncio.Task[Document]] = {}

    async def answer(self, language: Language, request: Request) -> Response:
        """The document of an address as it is now; to a request that has a tag, as it was at this
        moment, or that it is the same.
        """
        query = str(request.query_params)
        seen = request.headers.get("if-none-match")
        if seen is None:
            shown = await run_in_threadpool(self._make, language, query, None)
        else:
            shown = await self._watched(language, query)
        headers = {"ETag": shown.tag}
        # A proxy that compresses calls a tag weak.
        if seen is not None and shown.tag == seen.removeprefix("W/"):
            return Response(status_code=304, headers=headers)
        return HTMLResponse(shown.content, shown.status, headers)

    async def _watched(self, language: Language, query: str) -> Document:
        if self._clock() >= self._ends:
            self._moment += 1
            self._ends = self._clock() + MOMENT_S
            # What is still being made is new enough; the rest would only take memory.
            made = self._documents.items()
            self._documents = {place: task for place, task in made if not task.done()}
        place = language, query
        if place not in self._documents:
            self._documents[place] = asyncio.create_task(self._make_now(language, query))
        # Who goes away while it is made takes it from nobody.
        return await asyncio.shield(self._documents[place])

    async def _make_now(self, language: Language, query: str) -> Document:
        began = self._clock()
        try:
            shown = await run_in_threadpool(self._make, language, query, self._moment)
        except BaseException:
            del self._documents[language, query]
            raise
        now = self._clock()
        self._ends = max(self._ends, now + _PAUSE * (now - began))
        return shown
