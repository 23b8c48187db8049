"""Calls of `gradio_client`: only endpoints are called, and each person reads their own answers."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from ui_examples import MODELS, served

from evalui.access import Person
from evalui.server import create_app
from evalui.settings import Settings
from evalui.ui.web.events import EventMiddleware, Listeners
from evalui.web.middleware import set_sender

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


class Calls:
    """The door of calls before an application that keeps what reaches it."""

    def __init__(self) -> None:
        self.passed: list[tuple[str, bytes]] = []
        self.admitted: list[tuple[str, str]] = []
        self.forgotten: list[str] = []
        self.listeners = Listeners(
            {}, {}, {1: 1}, self.admit, lambda: None, lambda _: True, self.forgotten.append
        )
        self.door = EventMiddleware(self.gradio, ["en"], {"en": self.listeners}, self.ready)

    async def ready(self) -> None:
        """Gradio is there."""

    def admit(self, owner: str, session: str) -> bool:
        self.admitted.append((owner, session))
        return True

    async def gradio(self, scope: Scope, receive: Receive, _: Send) -> None:
        body = (await receive())["body"] if scope["method"] == "POST" else b""
        self.passed.append((scope["query_string"].decode(), body))

    def send(self, person: Person, method: str = "POST", path: str = CALL) -> int:
        """Let a person call an endpoint, or read answers; the status of what the door answers."""
        sent = {"fn_index": 1, "data": ["x"], "session_hash": "one", "event_data": {"path": "/"}}
        statuses = [200]

        async def receive() -> Message:
            return {"type": "http.request", "body": json.dumps(sent).encode()}

        async def send(message: Message) -> None:
            statuses.append(message.get("status", statuses[-1]))

        query = b"session_hash=one" if method == "GET" else b""
        scope = {"type": "http", "method": method, "path": path, "query_string": query}
        set_sender(scope, person)
        asyncio.run(self.door(scope, receive, send))
        return statuses[-1]


def test_an_answer_stands_under_a_session_of_the_sender_alone():
    calls = Calls()
    for person in (HERE, Person("ben", "annotator")):
        calls.send(person)
        calls.send(person, "GET", ANSWERS)
    (_, joined), (read, _), (_, other), (other_read, _) = calls.passed
    mine, theirs = (json.loads(each)["session_hash"] for each in (joined, other))
    assert (read, other_read) == (f"session_hash={mine}", f"session_hash={theirs}")
    assert b"path" not in joined
    (owner, first), (other_owner, second) = calls.admitted
    assert [first, second] == calls.forgotten == [mine, theirs]
    assert mine.startswith(owner)
    assert theirs.startswith(other_owner)
    assert owner != other_owner


def test_a_guest_of_a_link_calls_nothing():
    calls = Calls()
    assert calls.send(Person("ann", guest_of="run")) == 404
    assert (calls.passed, calls.admitted) == ([], [])


def test_a_person_has_so_many_calls_whose_answers_are_unread(site: TestClient):
    sent = {"fn_index": _endpoints(site)["status"]["id"], "data": ["x"], "session_hash": "unread"}
    statuses = [site.post(CALL, json=sent).status_code for _ in range(41)]
    assert statuses == [200] * 40 + [429]
    answers = site.get(f"{ANSWERS}?session_hash=unread").text
    assert answers.count("process_completed") == 40
    assert site.post(CALL, json=sent).status_code == 200
    for name in range(45):  # what has ended, and nobody has read, makes room
        other = sent | {"session_hash": f"left{name}"}
        assert any(site.post(CALL, json=other).status_code == 200 for _ in range(500))


def test_sessions_leave_little_memory_behind(tmp_path: Path):
    (tmp_path / "models.toml").write_text(MODELS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SESSIONS, str(tmp_path)], check=True, capture_output=True
    )
    assert float(done.stdout) < 20  # 40 if each kept what Gradio makes of it


SESSIONS = """
import asyncio, sys
from pathlib import Path
from starlette.testclient import TestClient
from evalui.server import create_app
from evalui.settings import Settings

folder = Path(sys.argv[1])

async def build():
    models = folder / "models.toml"
    return create_app(Settings(data_dir=folder, models=models, workers=0, token=False))

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

with TestClient(asyncio.run(build()), base_url="http://127.0.0.1") as site:
    listed = site.get("/en/config").json()["dependencies"]
    status = next(each["id"] for each in listed if each["api_name"] == "status")

    def call(first, last):
        for name in range(first, last):
            sent = {"fn_index": status, "data": ["x"], "session_hash": str(name)}
            assert site.post("/en/gradio_api/queue/join", json=sent).status_code == 200
        while site.get(f"/en/gradio_api/queue/data?session_hash={name}").status_code == 404:
            pass

    call(0, 16)
    before = megabytes()
    call(16, 76)
    print(megabytes() - before)
"""
