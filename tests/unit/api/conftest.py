"""The interface for programs over a desk with scripted models."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from store_examples import open_database
from ui_examples import GOOD, MODELS

from evalui.access import Person, Role
from evalui.api.application import create_api
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.web.middleware import set_sender


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", models=models)
    settings.data_dir.mkdir()
    return AppService(settings, open_database(settings.database))


@pytest.fixture
def senders() -> list[Person]:
    """Who sends the requests of the test: the last one, if there is any."""
    return []


@pytest.fixture
def api(desk: AppService, senders: list[Person]) -> TestClient:
    answers = create_api(desk)

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        if senders:
            set_sender(scope, senders[-1])
        await answers(scope, receive, send)

    return TestClient(door)


@pytest.fixture
def sent_by(senders: list[Person]) -> Callable[[Person], Any]:
    """Within, requests are this person's."""

    @contextmanager
    def act(person: Person) -> Generator[None]:
        senders.append(person)
        yield
        senders.pop()

    return act


@pytest.fixture
def send(api: TestClient) -> Callable[..., str]:
    """Upload one file; its id."""

    def upload(text: str = GOOD, name: str = "capitals.csv") -> str:
        sent = api.post("/datasets", files=[("files", (name, text.encode()))])
        assert sent.status_code == 201, sent.text
        return sent.json()["id"]

    return upload


@pytest.fixture
def spec(send: Callable[..., str]) -> dict[str, Any]:
    return {
        "version": 2,
        "datasets": [{"upload": send()}],
        "models": ["biased"],
        "modes": [{"mode": "multiple_choice", "pattern": "circular"}],
    }


@pytest.fixture
def finished(api: TestClient, desk: AppService, spec: dict[str, Any]) -> str:
    """The id of a run that is done."""
    run = api.post("/runs", json=spec).json()["id"]
    Worker(desk.database, desk.models.catalog).run_once()
    return run


@pytest.fixture
def become(sent_by: Callable[[Person], Any]) -> Iterator[Callable[..., None]]:
    """Let all that follows in the test be sent by the person of a name."""
    with ExitStack() as people:

        def act(name: str, role: Role = "annotator", **more: Any) -> None:
            people.enter_context(sent_by(Person(name, role, **more)))

        yield act
