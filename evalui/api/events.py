"""Server-sent events of runs: one reader of the store for all who follow a run."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from evalui.access import ANONYMOUS, Person, may
from evalui.api.schemas import RunProgress
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.runs.database.connection import Database
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_run
from evalui.ui.services.run_labels import LIVE_STATES

_POLL_S = 0.5
_KEEP_ALIVE_S = 15.0  # proxies close what is silent for a minute
_LONGEST_S = 600.0
_LOOK_AGAIN_S = 15.0  # after which it is read again who somebody is: their account may have ended
_MEDIA_TYPE = "text/event-stream"


@dataclass(slots=True)
class _Feed:
    row: RunRow
    task: asyncio.Task[None] | None = None
    followers: int = 0
    problem: EvaluiError | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def publish(self, row: RunRow) -> None:
        if row != self.row:
            self.row = row
            self._wake()

    def fail(self, problem: EvaluiError) -> None:
        self.problem = problem
        self._wake()

    def _wake(self) -> None:
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class RunFeeds:
    """The runs that are followed now; for the loop of one thread."""

    def __init__(
        self,
        database: Database,
        poll_s: float = _POLL_S,
        current: Callable[[Person], Person | None] = lambda person: person,
    ) -> None:
        self._database = database
        self._poll_s = poll_s
        self._current = current  # somebody as they are now, None if they have no account any more
        self._feeds: dict[str, _Feed] = {}

    @property
    def followed(self) -> frozenset[str]:
        """The ids of the runs of which somebody follows the events."""
        return frozenset(self._feeds)

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
        ends, looked = loop.time() + _LONGEST_S, loop.time()
        async with self._following(row) as feed:
            while loop.time() < ends:
                if loop.time() - looked >= _LOOK_AGAIN_S:
                    person, looked = await self._now(person), loop.time()
                changed, row = feed.changed, feed.row
                if feed.problem or not may(person, "see", row.owned):
                    return
                is_over = row.state not in LIVE_STATES
                if is_over or str(row.revision) != seen:
                    yield _event(row, t, "end" if is_over else "progress")
                    seen = str(row.revision)
                if is_over:
                    return
                try:
                    await asyncio.wait_for(changed.wait(), _KEEP_ALIVE_S)
                except TimeoutError:
                    yield ": still here\n\n"

    async def _now(self, person: Person) -> Person:
        try:
            return await run_in_threadpool(self._current, person) or ANONYMOUS
        except EvaluiError:  # the store is away: the stream ends
            return ANONYMOUS

    @asynccontextmanager
    async def _following(self, row: RunRow) -> AsyncGenerator[_Feed]:
        feed = self._feeds.get(row.id)
        if feed is None or (feed.task and feed.task.done()):
            feed = self._feeds[row.id] = _Feed(row)
            feed.task = asyncio.create_task(self._read(feed))
        feed.followers += 1
        try:
            yield feed
        finally:
            feed.followers -= 1
            if not feed.followers:
                assert feed.task, "it was begun with the feed"
                feed.task.cancel()
                if self._feeds.get(row.id) is feed:
                    del self._feeds[row.id]

    async def _read(self, feed: _Feed) -> None:
        while True:
            try:
                feed.publish(await run_in_threadpool(read_run, self._database, feed.row.id))
            except EvaluiError as problem:  # deleted, or the store is away: the streams end
                feed.fail(problem)
                return
            if feed.row.state not in LIVE_STATES:
                return
            await asyncio.sleep(self._poll_s)


def progress_of(row: RunRow, t: Messages) -> RunProgress:
    """How far a run is, as it is sent."""
    return RunProgress.model_validate(replace(row, error=t.translate(row.error)))


def _event(row: RunRow, t: Messages, kind: str) -> str:
    data = progress_of(row, t).model_dump_json()
    return f"id: {row.revision}\nevent: {kind}\ndata: {data}\n\n"
