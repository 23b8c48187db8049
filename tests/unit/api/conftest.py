"""The interface for programs over a desk with scripted models."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from store_examples import open_database
from ui_examples import GOOD, MODELS

from evalui.access import Person, Role
from evalui.api.application import create_api
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.ui.current_person import acting_as


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", models=models)
    settings.data_dir.mkdir()
    return AppService(settings, open_database(settings.database))


@pytest.fixture
def api(desk: AppService) -> TestClient:
    return TestClient(create_api(desk))


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
    Worker(desk.database, desk.catalog).run_once()
    return run


@pytest.fixture
def become() -> Iterator[Callable[..., None]]:
    """Let all that follows in the test be sent by the person of a name."""
    with ExitStack() as people:

        def act(name: str, role: Role = "annotator", **more: Any) -> None:
            people.enter_context(acting_as(Person(name, role, **more)))

        yield act
