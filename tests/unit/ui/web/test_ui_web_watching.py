"""How often a document is made for those who look at it."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from fastapi import Request, Response

from evalui.types import Language
from evalui.ui.web import watching
from evalui.ui.web.watching import MOMENT_S, Document, WatchedDocuments

Made = list[tuple[str, str, int | None]]


class Office:
    """Makes documents that say `text`, while its `gate` is open, and notes which."""

    def __init__(self) -> None:
        self.made: Made = []
        self.text = "first"
        self.error: Exception | None = None
        self.now = 100.0
        self.takes = 0.0  # seconds
        self.gate = threading.Event()
        self.gate.set()
        self.documents = WatchedDocuments(self.make, clock=lambda: self.now)

    def make(self, language: Language, query: str, moment: int | None) -> Document:
        self.made.append((language, query, moment))
        text, error = self.text, self.error
        assert self.gate.wait(30)
        self.now += self.takes
        if error:
            raise error
        return Document(f"{language} {query} {text}".encode(), 200)

    async def look(
        self, query: str = "run=k", seen: str | None = "old", to: Language = "en"
    ) -> Response:
        headers = [] if seen is None else [(b"if-none-match", seen.encode())]
        scope = {"type": "http", "query_string": query.encode(), "headers": headers}
        return await self.documents.answer(to, Request(scope))

    async def looks(self, n: int, **given: Any) -> list[Response]:
        return await asyncio.gather(*(self.look(**given) for _ in range(n)))


@pytest.fixture
def office() -> Iterator[Office]:
    made = Office()
    yield made
    made.gate.set()


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        async with asyncio.timeout(60):
            await work()

    asyncio.run(all_of_it())


def test_of_fifty_who_look_again_one_has_it_made(office: Office):
    async def work() -> None:
        answers = await office.looks(50)
        assert {bytes(each.body) for each in answers} == {b"en run=k first"}
        assert office.made == [("en", "run=k", 1)]

    run(work)


def test_each_moment_language_and_address_has_its_own(office: Office):
    async def work() -> None:
        await office.looks(50)
        await office.looks(50, to="zh")
        await office.looks(50, query="run=k&tab=runs")
        assert len(office.made) == 3
        office.now += MOMENT_S
        office.text = "second"
        answers = await office.looks(50)
        assert {bytes(each.body) for each in answers} == {b"en run=k second"}
        assert office.made[3:] == [("en", "run=k", 2)]

    run(work)


@pytest.mark.parametrize("weak", ["", "W/"])
def test_what_is_the_same_is_not_sent_again(office: Office, weak: str):
    async def work() -> None:
        opened = await office.look(seen=None)
        tag = weak + opened.headers["etag"]
        again = await office.look(seen=tag)
        assert (again.status_code, bytes(again.body)) == (304, b"")
        assert again.headers["etag"] == opened.headers["etag"]
        office.now += MOMENT_S
        office.text = "second"
        assert (await office.look(seen=tag)).status_code == 200

    run(work)


def test_who_opens_an_address_is_sent_it_as_it_is_now(office: Office):
    async def work() -> None:
        await office.look()
        office.text = "second"
        opened = await office.look(seen=None)
        assert bytes(opened.body) == b"en run=k second"
        assert office.made == [("en", "run=k", 1), ("en", "run=k", None)]

    run(work)


def test_of_many_who_open_some_at_once_most_are_sent_that_of_the_moment(office: Office):
    async def work() -> None:
        office.gate.clear()
        opened = asyncio.gather(*(office.look(seen=None) for _ in range(50)))
        while len(office.made) < 3:
            await asyncio.sleep(0)
        office.gate.set()
        await opened
        assert sorted(str(moment) for _, _, moment in office.made) == ["1", "None", "None"]

    run(work)


def test_an_error_reaches_all_who_wait_and_is_not_kept(office: Office):
    async def work() -> None:
        office.error = ValueError("broken")
        tasks = [asyncio.create_task(office.look()) for _ in range(50)]
        await asyncio.wait(tasks)
        assert {str(task.exception()) for task in tasks} == {"broken"}
        assert len(office.made) == 1
        office.error = None
        assert bytes((await office.look()).body) == b"en run=k first"

    run(work)


def test_who_goes_away_takes_it_from_nobody(office: Office):
    async def work() -> None:
        office.gate.clear()
        first, other = (asyncio.create_task(office.look()) for _ in range(2))
        while not office.made:
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        office.gate.set()
        assert bytes((await other).body) == b"en run=k first"
        assert len(office.made) == 1

    run(work)


def test_while_one_takes_long_the_one_before_is_sent(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watching, "_PATIENCE_S", 0.0)

    async def work() -> None:
        opened = await office.look(seen=None)
        tag = opened.headers["etag"]
        while (await office.look(seen=tag)).status_code != 304:
            pass  # nothing of a moment before: it waits
        office.gate.clear()
        office.text = "second"
        for _ in range(3):  # also when the moment in which it was begun has ended
            office.now += MOMENT_S
            assert (await office.look(seen=tag)).status_code == 304
        while len(office.made) < 3:
            await asyncio.sleep(0)
        office.gate.set()
        while bytes((await office.look(seen=tag)).body) != b"en run=k second":
            pass
        assert len(office.made) == 3

    run(work)


def test_nobody_is_sent_what_was_made_long_ago(office: Office, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watching, "_PATIENCE_S", 0.0)

    async def work() -> None:
        await office.look()
        office.now += 3600
        office.text = "second"
        assert bytes((await office.look()).body) == b"en run=k second"

    run(work)


def test_a_moment_lasts_longer_where_documents_take_long(office: Office):
    async def work() -> None:
        office.takes = 5.0
        await office.look()
        for _ in range(9):
            office.now += 1.0
            await office.look()
        assert len(office.made) == 1
        office.now += 1.5
        await office.look()
        assert len(office.made) == 2

    run(work)
