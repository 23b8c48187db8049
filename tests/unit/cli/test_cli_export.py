"""`evalui export`: the files of a run in a store."""

import json
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from evalui.cli.main import main

_MODELS = '[always-A]\nbackend = "scripted"\noptions = { rule = "always-A" }\n'
_QUESTIONS = "id,question,A,B,answer\n1,Capital of France?,Paris,Rome,A\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `evalui run` left of two trials."""
    folder = tmp_path_factory.mktemp("export")
    (folder / "models.toml").write_text(_MODELS)
    (folder / "capitals.csv").write_text(_QUESTIONS)
    spec = {"datasets": ["capitals.csv"], "models": ["always-A"], "pattern": "circular"}
    (folder / "spec.json").write_text(json.dumps(spec | {"mode": "multiple_choice"}))
    out, models = folder / "out", str(folder / "models.toml")
    run = ["run", str(folder / "spec.json"), "--out", str(out), "--models-file", models]
    assert main(run) == 0
    return out / "evalui.sqlite"


def _export(store: Path, extension: str, *options: str) -> int:
    with closing(sqlite3.connect(store)) as opened:
        ((run_id,),) = opened.execute("SELECT id FROM run")
    models = str(store.parents[1] / "models.toml")
    place = ["--database", str(store), "--models-file", models]
    return main(["export", run_id, extension, *place, *options])


@pytest.mark.parametrize("name", ["report.json", "trials.jsonl"])
def test_a_run_is_written_to_standard_output(
    store: Path, capfdbinary: pytest.CaptureFixture[bytes], name: str
):
    capfdbinary.readouterr()
    assert _export(store, name.removeprefix("report.")) == 0
    assert capfdbinary.readouterr().out == (store.parent / name).read_bytes()


@pytest.mark.parametrize(("name", "code"), [("xlsx", 2), ("zip", 2), ("sqlite", 2), ("tex", 0)])
def test_a_terminal_is_shown_texts_alone(
    store: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    code: int,
):
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert _export(store, name) == code
    told = capsys.readouterr()
    assert bool(told.out) == (code == 0)
    assert ("--output" in told.err) == (code == 2)


def test_a_run_is_written_into_a_file_of_its_owner_alone(store: Path, tmp_path: Path):
    path = tmp_path / "trials.csv"
    assert _export(store, "trials.csv", "--output", str(path)) == 0
    assert len(path.read_text(encoding="utf-8-sig").splitlines()) > 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_unknown_run_and_a_missing_store_are_reported(
    store: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["export", "nowhere", "csv", "--database", str(store)]) == 2
    assert "no run 'nowhere'" in capsys.readouterr().err
    missing = store.with_name("none.sqlite")
    assert main(["export", "nowhere", "csv", "--database", str(missing)]) == 2
    assert f"There is no store at {missing}." in capsys.readouterr().err
    assert not missing.exists()


def test_who_can_read_the_store_of_a_server_with_accounts_exports_its_runs(
    store: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
):
    # The process that makes the file of a large run has the environment of its server.
    monkeypatch.setenv("EVALUI_AUTH", "password")
    capfdbinary.readouterr()
    assert _export(store, "json") == 0
    assert capfdbinary.readouterr().out == (store.parent / "report.json").read_bytes()
