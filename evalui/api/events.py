"""Server-sent events of runs: one reader of the store for all who follow a run."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable

from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from evalui.access import ANONYMOUS, Person, may
from evalui.api.schemas import RunProgress
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.store.connection import Database
from evalui.store.runs import LIVE_STATES, RunRow, read_run

_POLL_S = 0.5
_KEEP_ALIVE_S = 15.0  # proxies close what is silent for a minute
_LONGEST_S = 600.0
_LOOK_AGAIN_S = 15.0  # after which it is read again who somebody is: their account may have ended
_MEDIA_TYPE = "text/event-stream"


class RunFeeds:
    """The runs that are followed now; for the loop of one thread."""

    def __init__(
        self,
        database: Database,
        poll_s: float = _POLL_S,
        current: Callable[[Person], Person | None] = lambda person: person,
    ) -> None:
        self._current = current  # somebody as they are now, None if they have no account any more
        self._database = database
        self._poll_s = poll_s
        self._followers: Counter[str] = Counter()
        self._reads: dict[str, tuple[float, asyncio.Future[RunRow]]] = {}

    def answer(self, row: RunRow, person: Person, t: Messages, seen: str) -> StreamingResponse:
        """The events of a run from the revision after `seen` on; they end with the run."""
        headers = {"X-Accel-Buffering": "no"}  # nginx would keep events back
        return StreamingResponse(
            self._events(row, person, t, seen), media_type=_MEDIA_TYPE, headers=headers
        )

    async def _events(
        self, row: RunRow, person: Person, t: Messages, seen: str
    ) -> AsyncGenerator[str]:
        loop = asyncio.get_running_loop()
        looked = spoke = loop.time()
        ends = spoke + _LONGEST_S
        self._followers[row.id] += 1
        try:
            while loop.time() < ends and may(person, "see", row.owned):
                is_over = row.state not in LIVE_STATES
                if is_over or str(row.revision) != seen:
                    yield _event(row, t, "end" if is_over else "progress")
                    seen, spoke = str(row.revision), loop.time()
                elif loop.time() - spoke >= _KEEP_ALIVE_S:
                    yield ": still here\n\n"
                    spoke = loop.time()
                if is_over:
                    return
                await asyncio.sleep(self._poll_s)
                row = await self._latest(row.id)
                if loop.time() - looked >= _LOOK_AGAIN_S:
                    looked = loop.time()
                    person = await run_in_threadpool(self._current, person) or ANONYMOUS
        except EvaluiError:  # deleted, or the store is away: the streams end
            return
        finally:
            self._followers[row.id] -= 1
            if not self._followers[row.id]:
                del self._followers[row.id]
                self._reads.pop(row.id, None)

    async def _latest(self, run_id: str) -> RunRow:
        """The run as it was read for one of its followers, `poll_s` seconds ago at most."""
        now = asyncio.get_running_loop().time()
        began, reading = self._reads.get(run_id, (now, None))
        if reading is None or (reading.done() and now - began >= self._poll_s):
            work = run_in_threadpool(read_run, self._database, run_id)
            reading = asyncio.ensure_future(work)
            self._reads[run_id] = now, reading
        return await asyncio.shield(reading)  # who goes away takes it from nobody


def _event(row: RunRow, t: Messages, kind: str) -> str:
    data = RunProgress.model_validate(row, context=t).model_dump_json()
    return f"id: {row.revision}\nevent: {kind}\ndata: {data}\n\n"
