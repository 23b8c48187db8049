"""What is drawn of a run is drawn once for all who may do the same with it, for nobody else."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from ui_examples import served

from evalui.access import Person
from evalui.app.service import AppService
from evalui.server import create_app
from evalui.store import queue
from evalui.ui import published
from evalui.ui.pages.context import SharedAnswer
from evalui.ui.pages.results import VIEWS
from evalui.ui.web.events import Event, EventMiddleware, Listeners
from evalui.web.middleware import set_sender

DRAW, PLAIN = 1, 2  # events: one whose answer is shared by the role of its sender, one of none
ADA, BEN, EVE = Person("ada", "reader"), Person("ben", "reader"), Person("eve", "operator")


class Door:
    """The door of events before an application that counts what reaches it."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.asked: list[str] = []
        self.version = "one"
        listeners = Listeners(
            {DRAW: 1, PLAIN: 1},
            {DRAW: self.shared},
            {},
            lambda *_: False,
            lambda: None,
            lambda _: False,
            lambda _: None,
        )
        self.door = EventMiddleware(self.app, ["en"], {"en": listeners}, self.ready)

    async def ready(self) -> None:
        """Gradio is there."""

    def shared(self, person: Person | None, event: Event) -> SharedAnswer | None:
        """By role and version; an event without data is answered apart."""
        if not person or not event.data[0]:
            return None
        return SharedAnswer(person.role, self.version, {"version": self.version})

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What Gradio is behind the door."""
        sent = json.loads((await receive())["body"])
        self.asked.append((sent["event_data"] or {}).get("version", ""))
        answer = JSONResponse({"number": len(self.asked)}, self.status)
        await answer(scope, receive, send)

    async def send(
        self, person: Person, field: str = "x", number: int = DRAW, encodings: str = "br"
    ) -> tuple[int, int]:
        """The status and the number of an answer, with a header that is added on the way."""
        sent = json.dumps({"fn_index": number, "data": [field]}).encode()
        told: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": sent}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                assert (b"x-added", b"1") not in message["headers"]
                message["headers"].append((b"x-added", b"1"))
            told.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/en/gradio_api/run/predict",
            "headers": [(b"accept-encoding", encodings.encode())],
        }
        set_sender(scope, person)
        await self.door(scope, receive, send)
        return told[0]["status"], json.loads(told[1]["body"])["number"]


def test_one_answer_serves_all_who_may_do_the_same():
    door = Door()

    async def ask() -> None:
        first = await asyncio.gather(*(door.send(each) for each in (ADA, BEN, ADA, BEN)))
        assert first == [(200, 1)] * 4
        assert await door.send(EVE) == (200, 2)
        assert await door.send(BEN) == (200, 1)
        assert await door.send(BEN, "y") == (200, 3)
        assert await door.send(BEN, encodings="gzip") == (200, 4)
        door.version = "two"
        assert await door.send(BEN) == (200, 5)
        assert door.asked == ["one"] * 4 + ["two"]  # whatever version an event names

    asyncio.run(ask())


def test_what_is_not_shared_is_answered_each_time():
    door = Door()

    async def ask() -> None:
        assert await door.send(ADA, "") == (200, 1)
        assert await door.send(ADA, "") == (200, 2)
        assert await door.send(ADA, number=PLAIN) == (200, 3)
        assert await door.send(ADA, number=PLAIN) == (200, 4)

    asyncio.run(ask())


def test_an_error_is_sent_and_not_kept():
    door = Door(status=500)

    async def ask() -> None:
        assert await door.send(ADA) == (500, 1)
        door.status = 200
        assert await door.send(ADA) == (200, 2)
        assert await door.send(BEN) == (200, 2)

    asyncio.run(ask())


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs whose overview was drawn."""
    runs: list[str] = []
    plain = VIEWS["overview"]
    draw = plain.draw
    assert draw

    def counting(view: Any, form: Any) -> None:
        runs.append(view.run.id)
        draw(view, form)

    monkeypatch.setitem(VIEWS, "overview", replace(plain, draw=counting))  # pyright: ignore[reportArgumentType] # a dict, stated as a mapping
    return runs


def test_a_document_is_drawn_anew_when_its_run_has_changed(
    desk: AppService,
    finished: Callable[..., str],
    drawn: list[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(published, "_MOMENT_S", 1e-9)  # a run is read anew with each request
    run_id = finished()
    app = served(
        lambda: create_app(desk.settings.model_copy(update={"workers": 0, "token": False}))
    )
    with TestClient(app, base_url="http://127.0.0.1") as client:
        events = client.get("/en/config").json()["dependencies"]
        look = next(each for each in events if each["api_name"] == "results_look")
        draw = next(
            each
            for each in events
            if each["api_name"].startswith("apply") and each["inputs"] == look["inputs"][:1]
        )

        def open_page(**sent: str) -> Any:
            event = {"fn_index": draw["id"], "data": [f"run={run_id}"], "event_data": sent}
            answer = client.post("/en/gradio_api/run/predict", json=event)
            assert answer.status_code == 200
            return answer.content

        first = open_page()
        assert open_page() == first
        assert len(drawn) == 1
        told = client.get(f"/news/{run_id}").json()["version"]
        assert open_page(version=told) == open_page(version=told) != first
        assert len(drawn) == 2
        with desk.database.writing() as connection:
            queue.bump_revision(connection, run_id)
        open_page()
        assert len(drawn) == 3
        newest = client.get(f"/news/{run_id}").json()["version"]
        assert newest != told
        now = open_page(version=newest)
        assert open_page(version=told) == open_page(version="no such") == now
        assert len(drawn) == 4
