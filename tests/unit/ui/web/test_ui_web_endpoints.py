"""Calls of `gradio_client`: only endpoints are called, and each person reads their own answers."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from ui_examples import MODELS, served

from evalui.access import Person
from evalui.server import create_app
from evalui.settings import Settings
from evalui.ui.web.events import EventMiddleware, Listeners
from evalui.web.sender import with_sender

HERE, CALL = Person("ann", "annotator"), "/en/gradio_api/queue/join"
ANSWERS = "/en/gradio_api/queue/data"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "models.toml").write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=folder, models=folder / "models.toml", workers=0, token=False)
    app = served(lambda: create_app(settings))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def _endpoints(site: TestClient) -> dict[str, dict[str, Any]]:
    listed = site.get("/en/config").json()["dependencies"]
    return {each["api_name"]: each for each in listed if each["api_visibility"] == "public"}


def test_three_endpoints_are_public_and_documented(site: TestClient):
    assert {*_endpoints(site)} == {"evaluate", "status", "results"}
    told = site.get("/en/gradio_api/info").json()
    assert {*told["named_endpoints"]} == {"/evaluate", "/status", "/results"}
    assert not told["unnamed_endpoints"]
    assert "specification" in told["named_endpoints"]["/evaluate"]["description"]


def test_no_event_of_a_page_and_no_file_comes_by_the_queue(site: TestClient):
    listed = site.get("/en/config").json()["dependencies"]
    status = _endpoints(site)["status"]["id"]
    evaluate = _endpoints(site)["evaluate"]["id"]
    page = next(each for each in listed if each["api_visibility"] == "private")
    fields = {"session_hash": "abc"}
    for sent in (
        {"fn_index": page["id"], "data": [""] * len(page["inputs"]), **fields},
        {"fn_index": status, "data": [], **fields},
        {"fn_index": status, "data": ["x"]},
        {"fn_index": status, "data": ["x"], "session_hash": "a/b"},
        {"fn_index": status, "data": ["x"], "session_hash": "a" * 65},
        {"fn_index": status, "data": "x", **fields},
        {"fn_index": 10**6, "data": ["x"], **fields},
        {"fn_index": evaluate, "data": [{"path": "/etc/hostname"}], **fields},
        {"fn_index": evaluate, "data": [{"datasets": [{"path": "/etc/hostname"}]}], **fields},
        [],
        {},
    ):
        assert site.post(CALL, json=sent).status_code == 404, sent
    assert site.post(CALL, content=b'"' + b"x" * 2**20 + b'"').status_code == 413
    assert site.post(CALL, content=b"\xff").status_code == 404
    assert site.get(ANSWERS).status_code == 404
    for session in ("a/b", "abc", "", "x" * 65):
        assert site.get(f"{ANSWERS}?session_hash={session}").status_code == 404
    assert site.post("/en/gradio_api/call/status", json={"data": ["x"]}).status_code == 404


def test_an_endpoint_takes_no_event_past_the_queue(site: TestClient):
    sent = {"fn_index": _endpoints(site)["status"]["id"], "data": ["x"]}
    assert site.post("/en/gradio_api/run/predict", json=sent).status_code == 400


def test_an_answer_stands_under_a_session_of_the_sender_alone():
    passed: list[tuple[str, bytes]] = []

    async def gradio(scope: Scope, receive: Receive, _: Send) -> None:
        body = (await receive())["body"] if scope["method"] == "POST" else b""
        passed.append((scope["query_string"].decode(), body))

    begun: list[bool] = []
    listeners = Listeners({}, {}, {1: 1}, lambda: begun.append(True), lambda: None, lambda _: True)

    async def ready() -> None:
        """Gradio is there."""

    door = EventMiddleware(gradio, ["en"], {"en": listeners}, ready)

    async def call(person: Person) -> None:
        sent = {"fn_index": 1, "data": ["x"], "session_hash": "one", "event_data": {"path": "/"}}

        async def receive() -> Message:
            return {"type": "http.request", "body": json.dumps(sent).encode()}

        async def send(_: Message) -> None:
            pass

        for method, path, query in (("POST", CALL, b""), ("GET", ANSWERS, b"session_hash=one")):
            scope = {"type": "http", "method": method, "path": path, "query_string": query}
            await door(with_sender(scope, person), receive, send)

    asyncio.run(call(HERE))
    asyncio.run(call(Person("ben", "annotator")))
    (_, joined), (read, _), (_, other), (other_read, _) = passed
    mine, theirs = (json.loads(each)["session_hash"] for each in (joined, other))
    assert (read, other_read) == (f"session_hash={mine}", f"session_hash={theirs}")
    assert mine != theirs
    assert b"path" not in joined
    assert len(begun) == 2
