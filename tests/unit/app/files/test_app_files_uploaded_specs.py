"""Specifications with uploads run what those with paths would, and name no path of the server."""

import json
from pathlib import Path
from typing import Any

import pytest
from store_examples import open_database
from ui_examples import MODELS

from evalui.app.datasets import store_upload
from evalui.app.evaluations import plan_run, start_run
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.runs.spec import parse_spec, read_spec
from evalui.runs.submit import read_datasets
from evalui.settings import Settings
from evalui.store.runs import read_run

GOOD = "id,question,A,B,C,D,answer\n1,Capital of France?,Paris,Rome,Oslo,Bern,A\n"
OPEN = '{"query": "Who wrote Faust?", "response": "Goethe"}\n'
ANSWERS = '{"index": 1, "answer": "Goethe"}\n'


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    (tmp_path / "models.toml").write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", models=tmp_path / "models.toml")
    settings.data_dir.mkdir()
    return AppService(settings, open_database(settings.database))


def of_uploads(desk: AppService) -> dict[str, Any]:
    sent = {"law_val.csv": GOOD, "qa.jsonl": OPEN, "x.jsonl": ANSWERS}
    law, qa, x = (store_upload(desk, [(name, text.encode())]) for name, text in sent.items())
    return {
        "version": 2,
        "datasets": [{"upload": law}, {"upload": qa}],
        "models": ["biased"],
        "seed": 3,
        "answers": [{"model": "x", "upload": x, "dataset": qa}],
        "modes": [{"mode": "question_answer"}],
    }


def test_what_is_run_is_what_the_paths_would_give(desk: AppService, tmp_path: Path):
    values = of_uploads(desk)
    run = read_run(desk.database, start_run(desk, parse_spec(json.dumps(values))))
    plain = read_spec(run.spec)
    for name, text in (("law_val.csv", GOOD), ("qa.jsonl", OPEN), ("x.jsonl", ANSWERS)):
        (tmp_path / name).write_text(text)
    answers = [{"model": "x", "path": "x.jsonl", "dataset": "qa"}]
    paths = {"datasets": ["law_val.csv", "qa.jsonl"], "answers": answers}
    wanted = read_spec(json.dumps(values | paths))
    by_path = read_datasets(wanted, base=tmp_path)
    assert [(source.name, source.sha256) for source in plain.datasets] == [
        (each.dataset.name, each.dataset.sha256) for each in by_path.values()
    ]
    assert (plain.modes, plain.seed, plain.version) == (wanted.modes, 3, 2)
    (own,) = plain.answers
    assert (Path(own.path).name, own.dataset) == ("x.jsonl", "qa")
    assert '"upload"' not in run.spec


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"datasets": ["a.csv"]}, "spec-path"),
        ({"datasets": [{"path": ["a.csv"], "upload": "u"}]}, "spec-path"),
        ({"datasets": [{"name": "a"}]}, "spec-no-upload"),
        ({"answers": [{"model": "m"}]}, "spec-no-upload"),
        ({"answers": [{"model": "m", "path": "a"}]}, "spec-path"),
        ({"answers": [{"model": "m", "run": "r", "path": "a"}]}, "spec-path"),
        ({"name": "x" * 121}, "request-field"),
        ({"datasets": [{"upload": "u", "name": "x" * 121}]}, "request-field"),
        ({"answers": [{"upload": "u", "model": "x" * 121}]}, "request-field"),
    ],
)
def test_only_uploads_are_located(desk: AppService, changes: dict[str, Any], key: str):
    with pytest.raises(SpecError) as refused:
        plan_run(desk, parse_spec(json.dumps(of_uploads(desk) | changes)))
    assert refused.value.sentence.key == f"error.{key}"


def test_a_file_of_several_that_were_uploaded_together_is_named_by_its_place(desk: AppService):
    values = of_uploads(desk)
    both = store_upload(
        desk, [("a.jsonl", b'{"index": 7, "answer": "?"}'), ("b.jsonl", ANSWERS.encode())]
    )
    (own,) = values["answers"]
    with pytest.raises(SpecError, match="one file"):
        plan_run(desk, parse_spec(json.dumps(values | {"answers": [own | {"upload": both}]})))
    second = values | {"answers": [own | {"upload": f"{both}.2"}], "name": "x" * 120}
    spec = read_spec(read_run(desk.database, start_run(desk, parse_spec(json.dumps(second)))).spec)
    assert Path(spec.answers[0].path).name == "b.jsonl"
