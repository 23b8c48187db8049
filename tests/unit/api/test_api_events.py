"""Events of runs: one reader of the store for all, each change once, and an end."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from evalui.access import LOCAL_PERSON, Person
from evalui.accounts.people import add_person, set_disabled
from evalui.api import events
from evalui.api.application import create_api
from evalui.api.events import RunFeeds
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import RunRow, read_run
from evalui.store.voting.plans import keep_plan

T = messages("en")


@pytest.fixture
def queued(api: TestClient, spec: dict[str, Any]) -> str:
    return api.post("/runs", json=spec).json()["id"]


def parsed(event: str) -> tuple[str, str, dict[str, Any]]:
    """Its id, its kind, and its data."""
    fields = dict(line.split(": ", 1) for line in event.strip().splitlines())
    return fields["id"], fields["event"], json.loads(fields["data"])


def test_a_run_that_has_ended_has_one_event(api: TestClient, finished: str) -> None:
    answer = api.get(f"/runs/{finished}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    revision, kind, data = parsed(answer.text)
    assert (kind, data["state"], data["done"]) == ("end", "done", 16)
    seen = api.get(f"/runs/{finished}/events", headers={"Last-Event-ID": revision})
    assert (seen.status_code, seen.text) == (204, "")  # so that a browser does not come back
    earlier = api.get(f"/runs/{finished}/events", headers={"Last-Event-ID": "1"})
    assert parsed(earlier.text)[1] == "end"


def stream(feeds: RunFeeds, row: RunRow, person: Person = LOCAL_PERSON) -> AsyncIterator[str]:
    """The events as they are sent."""
    return feeds.answer(row, person, T, "").body_iterator  # pyright: ignore[reportReturnType]


def test_all_who_follow_a_run_share_one_reader_of_the_store(
    desk: AppService, queued: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []

    def counted(database: Database, run_id: str) -> RunRow:
        reads.append(run_id)
        return read_run(database, run_id)

    monkeypatch.setattr(events, "read_run", counted)

    async def follow() -> None:
        feeds, row = RunFeeds(desk.database, poll_s=0.01), desk.run(queued)
        streams = [stream(feeds, row) for _ in range(50)]
        first = [await anext(each) for each in streams]
        assert {parsed(each)[1] for each in first} == {"progress"}
        waiting = [asyncio.ensure_future(anext(each)) for each in streams]
        while len(reads) < 3:
            await asyncio.sleep(0)
        queue.cancel(desk.database, queued)
        last = await asyncio.gather(*waiting)
        assert {parsed(each)[2]["state"] for each in last} == {"cancelled"}
        after = len(reads)
        for each in streams:
            with pytest.raises(StopAsyncIteration):
                await anext(each)
        assert not feeds._followers
        assert len(reads) == after  # nobody reads on
        # 50 readers would have read at least 50 times by then.
        assert len({id(each) for each in streams}) == 50
        assert len(reads) < 50

    asyncio.run(follow())


def test_an_event_comes_with_a_change_only(desk: AppService, queued: str) -> None:
    async def follow() -> None:
        feeds = RunFeeds(desk.database, poll_s=0.001)
        seen = stream(feeds, desk.run(queued))
        revision, _, _ = parsed(await anext(seen))
        waiting = asyncio.ensure_future(anext(seen))
        await asyncio.wait([waiting], timeout=0.05)
        assert not waiting.done()
        claimed = queue.claim(desk.database, "w", queued)
        assert claimed
        later, kind, data = parsed(await waiting)
        assert (kind, data["state"]) == ("progress", "running")
        assert int(later) > int(revision)
        queue.delete(desk.database, queued)
        with pytest.raises(StopAsyncIteration):  # the run is gone
            await anext(seen)

    asyncio.run(follow())


def test_silence_is_filled_so_that_no_proxy_closes_it(
    desk: AppService, queued: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_KEEP_ALIVE_S", 0.01)

    async def follow() -> None:
        seen = stream(RunFeeds(desk.database), desk.run(queued))
        await anext(seen)
        assert (await anext(seen)).startswith(":")

    asyncio.run(follow())


def test_who_may_not_see_the_run_any_more_is_sent_nothing(desk: AppService, queued: str) -> None:
    async def follow() -> None:
        keep_plan(desk.database, queued, ["eve"], 1)
        guest = Person("eve", "annotator")
        seen = stream(RunFeeds(desk.database, poll_s=0.001), desk.run(queued), guest)
        await anext(seen)
        keep_plan(desk.database, queued, [], 1)
        with pytest.raises(StopAsyncIteration):
            await anext(seen)

    asyncio.run(follow())


def test_a_stream_ends_in_time_to_look_again_who_follows_it(
    desk: AppService, queued: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_LONGEST_S", 0.0)

    async def follow() -> None:
        with pytest.raises(StopAsyncIteration):
            await anext(stream(RunFeeds(desk.database), desk.run(queued)))

    asyncio.run(follow())


@pytest.mark.parametrize("change", ["disabled", "not named"])
def test_whose_account_or_vote_ends_is_sent_nothing_more(
    desk: AppService, queued: str, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setattr(events, "_LOOK_AGAIN_S", 0.0)
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    database = desk.database
    add_person(database, "eve", "annotator", by=LOCAL_PERSON)
    keep_plan(database, queued, ["eve"], 1)
    eve = Person("eve", "annotator")

    async def follow() -> None:
        row = read_run(database, queued)
        seen = stream(create_api(desk).state.feeds, row, eve)
        await anext(seen)
        if change == "disabled":
            set_disabled(database, "eve", disabled=True, by=LOCAL_PERSON)
        else:
            keep_plan(database, queued, [], 1)
        with database.writing() as connection:
            queue.bump_revision(connection, queued)
        with pytest.raises(StopAsyncIteration):
            await anext(seen)

    asyncio.run(follow())
