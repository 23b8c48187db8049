"""A desk with scripted models, a small file, and a finished run."""

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from press import Press
from store_examples import open_database
from ui_examples import GOOD, MODELS

from evalui.access import LOCAL, Person
from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as, current_person
from evalui.ui.pages.evaluate.spec import form_to_spec


def _desk(folder: Path) -> AppService:
    models = folder / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=folder / "data", models=models)
    settings.data_dir.mkdir()
    return AppService(settings, open_database(settings.database)).with_sender(current_person)


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return _desk(tmp_path)


@pytest.fixture
def act() -> Callable[..., Press]:
    def make(do: str, form: Form | None = None, **data: str) -> Press:
        return Press.read({"do": do, "form": form or {}, **data})

    return make


def _form(desk: AppService, text: str, file: str, fields: Mapping[str, str | list[str]]) -> Form:
    upload = store_upload(desk, [(file, text.encode())])
    chosen: Form = {
        "uploads": [upload],
        "models": ["biased", "always-A"],
        "modes": ["multiple_choice", "cloze"],
        "pattern": "circular",
        "shots": "0",
    }
    return {**chosen, **fields}


@pytest.fixture
def form_for(desk: AppService) -> Callable[..., dict[str, Any]]:
    def make(text: str = GOOD, file: str = "capitals.csv", **fields: str | list[str]) -> Form:
        return _form(desk, text, file, fields)

    return make


def _finish(desk: AppService, form: Form) -> str:
    run_id = start_run(desk, form_to_spec(form))
    Worker(desk.database, desk.models.catalog).run_once()
    assert desk.run(run_id).state == "done"
    return run_id


def _is_untouched(desk: AppService) -> bool:
    usual = desk.owner == LOCAL and desk.settings.models.read_text(encoding="utf-8") == MODELS
    with desk.database.reading() as connection:
        return usual and connection.total_changes == 0


def _copy(folder: Path, run_id: str, desk: AppService) -> str:
    """Let a desk have what is in the data folder of another one, and return the id of its run."""
    files = shutil.ignore_patterns(f"{desk.settings.database.name}*")
    shutil.copytree(folder, desk.settings.data_dir, ignore=files, dirs_exist_ok=True)
    with (
        closing(sqlite3.connect(folder / desk.settings.database.name)) as source,
        desk.database.reading() as connection,
    ):
        source.backup(connection)
    with desk.database.writing() as connection:  # the files of the run lie there now
        moved = (str(folder), str(desk.settings.data_dir))
        connection.execute("UPDATE run SET spec = replace(spec, ?, ?)", moved)
        connection.execute("UPDATE worker SET seen = ?", (time.time(),))  # as if it had just ended
    return run_id


@pytest.fixture(scope="session")
def usual_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The data folder in which the usual run has ended, and its id."""
    desk = _desk(tmp_path_factory.mktemp("usual_run"))
    run_id = _finish(desk, _form(desk, GOOD, "capitals.csv", {}))
    desk.database.close()
    return desk.settings.data_dir, run_id


@pytest.fixture
def finished(desk: AppService, usual_run: tuple[Path, str]) -> Callable[..., str]:
    """Runs that have ended; the usual one is copied to a desk on which nothing was done yet."""
    copied: list[str] = []

    def run(text: str = GOOD, **fields: str | list[str]) -> str:
        if text == GOOD and not fields and not copied and _is_untouched(desk):
            copied.append(_copy(*usual_run, desk))
            return copied[0]
        return _finish(desk, _form(desk, text, "capitals.csv", fields))

    return run


@pytest.fixture
def become() -> Iterator[Callable[[str], None]]:
    """Let all that follows in the test be done by the person of a name, an annotator."""
    with ExitStack() as people:
        yield lambda name: people.enter_context(acting_as(Person(name, "annotator")))
