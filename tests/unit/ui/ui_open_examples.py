"""Open questions, answers to them and a judge for the tests of the page."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from store_examples import open_database

from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.ui.components.form import Form
from evalui.ui.current_person import current_person
from evalui.ui.pages.evaluate.spec import answer_field, form_to_spec

MODELS = """
[perfect]
backend = "scripted"
options = { rule = "perfect" }

[noisy]
backend = "scripted"
options = { rule = "noisy" }

[always-A]
backend = "scripted"
baseline = true
options = { rule = "always-A" }

[reference-judge]
backend = "scripted"
baseline = true
options = { rule = "reference-judge", role = "judge" }
"""
QUESTIONS: Sequence[Mapping[str, str]] = (
    {"index": "en-1", "question": "Capital of France?", "reference_answer": "Paris"},
    {"index": "en-2", "question": "Capital of Italy?", "reference_answer": "Rome"},
    {"index": "cn-3", "question": "中国的首都是哪里？", "reference_answer": "北京"},
    {"index": "en-4", "question": "Say something kind.", "reference_answer": ""},
)
CAPABILITIES = ("facts", "facts", "facts", "manners")
ANSWERS = {"en-1": "Paris", "en-2": "Milan", "cn-3": "首都是北京", "en-4": ""}
QA = (
    {"query": "Capital of France?", "response": "Paris"},
    {"query": "Capital of Italy?", "response": "Rome"},
)


def lines(rows: Sequence[Mapping[str, object]]) -> bytes:
    """The rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def subjective(rows: Sequence[Mapping[str, str]] = QUESTIONS) -> bytes:
    """The open questions, each with its capability."""
    told = zip(rows, CAPABILITIES, strict=True)
    return lines([{**row, "capability": capability} for row, capability in told])


def answers(given: Mapping[str, str] = ANSWERS) -> bytes:
    """A file of answers by index."""
    return lines([{"index": index, "answer": answer} for index, answer in given.items()])


def open_desk(folder: Path, catalog: str = MODELS) -> AppService:
    """A desk with two models, a baseline and a judge, all scripted, unless told otherwise."""
    models = folder / "models.toml"
    models.write_text(catalog, encoding="utf-8")
    settings = Settings(data_dir=folder / "data", models=models)
    settings.data_dir.mkdir()
    return AppService(settings, open_database(settings.database)).with_sender(current_person)


def open_form(desk: AppService, content: bytes = b"", **fields: str | list[str]) -> Form:
    """A form with the open questions, both models and the judge."""
    upload = store_upload(desk, [("talk.jsonl", content or subjective())])
    chosen: Form = {
        "uploads": [upload],
        "models": ["perfect", "noisy"],
        "modes": ["question_answer"],
        "kinds": ["subjective"],
        "judging": ["yes"],
        "judging.judges": ["reference-judge"],
    }
    # "__" stands for the points of a path, which no argument can have.
    return chosen | {name.replace("__", "."): value for name, value in fields.items()}


def given(desk: AppService, content: bytes = b"", name: str = "handmade") -> Form:
    """The fields of a form that bring a file of answers along."""
    upload = store_upload(desk, [(f"answers_{name}.jsonl", content or answers())])
    return {answer_field(f"{upload}.1"): name}


def finish(desk: AppService, form: Form) -> str:
    """A finished run of the form."""
    run_id = start_run(desk, desk.files.matched(form_to_spec(form)))
    Worker(desk.database, desk.models.catalog).run_once()
    run = desk.run(run_id)
    assert run.state == "done", run.error
    return run_id
