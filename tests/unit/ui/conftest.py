"""A desk with scripted models, a small file, and a finished run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from ui_examples import GOOD, MODELS

from evalui.runs.database.store import Store
from evalui.runs.worker.main import Worker
from evalui.settings import Settings
from evalui.ui.components.fragment import Form
from evalui.ui.services.service import Desk
from evalui.ui.tabs.evaluate.run_form import read_draft


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", models=models)
    settings.data_dir.mkdir()
    return Desk(settings, Store(settings.database))


@pytest.fixture
def act() -> Callable[..., gr.EventData]:
    def make(do: str, form: Form | None = None, **data: str) -> gr.EventData:
        return gr.EventData(None, {"do": do, "form": form or {}, **data})

    return make


@pytest.fixture
def form_for(desk: Desk) -> Callable[..., dict[str, Any]]:
    def make(text: str = GOOD, file: str = "capitals.csv", **fields: str | list[str]) -> Form:
        upload = desk.keep([(file, text.encode())])
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
def finished(desk: Desk, form_for: Callable[..., Form]) -> Callable[..., str]:
    def run(text: str = GOOD, **fields: str | list[str]) -> str:
        run_id = desk.start(read_draft(form_for(text, **fields)))
        Worker(desk.store, desk.catalog).work_once()
        assert desk.run(run_id).state == "done"
        return run_id

    return run
