"""A server with accounts: an administrator, an annotator with two runs, and a reader."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from store_examples import open_database
from ui_admin_examples import ROOT, Administrator
from ui_examples import GOOD, MODELS

from evalui.access import LOCAL_PERSON, Person
from evalui.accounts.people import add_person
from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.settings import Settings
from evalui.ui.current_person import acting_as, current_person
from evalui.ui.pages.evaluate.spec import form_to_spec


@pytest.fixture
def box(tmp_path: Path) -> Iterator[AppService]:
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", models=models, auth="password")
    settings.data_dir.mkdir()
    made = AppService(settings, open_database(settings.database)).with_sender(current_person)
    for name, role in (("root", "admin"), ("ann", "annotator"), ("rita", "reader")):
        add_person(made.database, name, role, by=LOCAL_PERSON)
    with made.database.writing() as connection:  # computing real hashes takes long
        connection.execute("UPDATE person SET password = 'no hash'")
    yield made
    made.database.close()


@pytest.fixture
def admin(box: AppService) -> Administrator:
    return Administrator(box)


@pytest.fixture
def queued(box: AppService) -> Callable[[str], str]:
    """Queue a run of a person."""

    def queue(name: str) -> str:
        with acting_as(Person(name, "annotator") if name != "root" else ROOT):
            upload = store_upload(box, [("a.csv", GOOD.encode())])
            form = {"uploads": [upload], "models": ["biased"], "modes": ["multiple_choice"]}
            return start_run(box, form_to_spec(form))

    return queue
