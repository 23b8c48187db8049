"""Written answers that another harness has collected are judged here, without their questions'
files: the imported run has both.
"""

import json
from pathlib import Path

import pytest

from evalui.cli.main import main
from evalui.store.connection import Database
from evalui.store.runs import read_runs

LOG = Path(__file__).parents[1] / "golden" / "harnesses" / "lmeval" / "qwen2-small-4l256"
JUDGE = """
[referee]
backend = "scripted"
options = {role = "judge", rule = "first-biased-judge"}
"""


def log_of(model: str, folder: Path) -> Path:
    """The written answers of the log as those of another model."""
    folder.mkdir()
    (samples,) = LOG.glob("samples_written_*")
    (folder / samples.name).write_bytes(samples.read_bytes())
    (results,) = LOG.glob("results_*")
    stated = json.loads(results.read_text())
    (folder / results.name).write_text(json.dumps(stated | {"model_name": model}))
    return folder


def test_answers_that_were_imported_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.toml").write_text(JUDGE)
    monkeypatch.setenv("EVALUI_MODELS", str(tmp_path / "models.toml"))
    logs = [str(log_of(name, tmp_path / name)) for name in ("late", "early")]
    store = tmp_path / "out" / "evalui.sqlite"
    store.parent.mkdir()
    assert main(["import", *logs, "--database", str(store)]) == 0
    database = Database(store)
    (run,) = read_runs(database)
    database.close()
    spec = {
        "version": 3,
        "name": "Judged",
        "answers": [{"model": name, "run": run.id} for name in ("late", "early")],
        "judging": {"judges": ["referee"]},
    }
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    assert main(["run", "spec.json", "--out", "out"]) == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [each["judge"] for each in report["reliability"]] == ["referee"]
    assert {each["model"] for each in report["standings"]} == {"late", "early"}
    (answers,) = {cell["dataset"] for cell in report["answers"]}
    assert answers == "written"


def test_a_run_without_written_answers_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.toml").write_text(JUDGE)
    monkeypatch.setenv("EVALUI_MODELS", str(tmp_path / "models.toml"))
    store = tmp_path / "out" / "evalui.sqlite"
    store.parent.mkdir()
    assert main(["import", str(log_of("late", tmp_path / "late")), "--database", str(store)]) == 0
    database = Database(store)
    (run,) = read_runs(database)
    database.close()
    answers = [{"model": "nobody", "run": run.id}]
    spec = {"version": 3, "answers": answers, "judging": {"judges": ["referee"]}}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    assert main(["run", "spec.json", "--out", "out"]) == 2
    assert "nobody" in capsys.readouterr().err
