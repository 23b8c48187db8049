"""A desk with scripted models, a small file, and a finished run."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from ui_examples import GOOD, MODELS

from evalui.access import Person
from evalui.runs.database.connection import Database
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.current_person import acting_as
from evalui.ui.services.run_form import read_run_form
from evalui.ui.services.service import AppService


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", models=models)
    settings.data_dir.mkdir()
    return AppService(settings, Database(settings.database))


@pytest.fixture
def act() -> Callable[..., Action]:
    def make(do: str, form: Form | None = None, **data: str) -> Action:
        return Action.read({"do": do, "form": form or {}, **data})

    return make


@pytest.fixture
def form_for(desk: AppService) -> Callable[..., dict[str, Any]]:
    def make(text: str = GOOD, file: str = "capitals.csv", **fields: str | list[str]) -> Form:
        upload = desk.store_upload([(file, text.encode())])
        chosen: Form = {
            "uploads": [upload],
            "models": ["biased", "always-A"],
            "modes": ["multiple_choice", "cloze"],
            "pattern": "circular",
            "shots": "0",
        }
        return chosen | fields

    return make


@pytest.fixture
def finished(desk: AppService, form_for: Callable[..., Form]) -> Callable[..., str]:
    def run(text: str = GOOD, **fields: str | list[str]) -> str:
        run_id = desk.start(read_run_form(form_for(text, **fields)))
        Worker(desk.database, desk.catalog).run_once()
        assert desk.run(run_id).state == "done"
        return run_id

    return run


@pytest.fixture
def become() -> Iterator[Callable[[str], None]]:
    """Let all that follows in the test be done by the person of a name, an annotator."""
    with ExitStack() as people:
        yield lambda name: people.enter_context(acting_as(Person(name, "annotator")))
