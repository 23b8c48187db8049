"""Many questions, and finished runs of them, for the tests of the results of multiple choice."""

from collections.abc import Sequence
from pathlib import Path

from store_examples import open_database
from ui_examples import MODELS

from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.ui.components.form import Form
from evalui.ui.current_person import current_person
from evalui.ui.pages.evaluate.spec import form_to_spec

LETTERS = "ABCD"


def questions(n: int, *, options: Sequence[int] = (4,), start: int = 0) -> str:
    """A file of `n` questions whose answers take turns; `options` takes turns as well."""
    rows = ["id,question,A,B,C,D,answer"]
    for number in range(start, start + n):
        size = options[number % len(options)]
        shown = [f"{word} {number}" for word in ("red", "green", "blue", "grey")[:size]]
        cells = [*shown, *[""] * (4 - size), LETTERS[number % size]]
        rows.append(f"{number},Which colour has number {number}?,{','.join(cells)}")
    return "\n".join(rows) + "\n"


MANY = questions(120)


def new_desk(folder: Path, models: str = MODELS) -> AppService:
    """A desk of its own in a folder, with scripted models."""
    catalog = folder / "models.toml"
    catalog.write_text(models, encoding="utf-8")
    settings = Settings(data_dir=folder / "data", models=catalog)
    settings.data_dir.mkdir()
    return AppService(settings, open_database(settings.database)).with_sender(current_person)


def ran(desk: AppService, *files: tuple[str, str], **fields: str | list[str]) -> str:
    """The id of a run over these files that has come to its end, good or bad."""
    form: Form = {
        "uploads": [store_upload(desk, [(name, text.encode()) for name, text in files])],
        "models": ["biased", "always-A"],
        "modes": ["multiple_choice"],
        "pattern": "circular",
        "shots": "0",
    }
    run_id = start_run(desk, form_to_spec(form | fields))
    Worker(desk.database, desk.models.catalog).run_once()
    return run_id
