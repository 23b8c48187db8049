"""`evalui wait`: it ends when the run does, and its exit code says how."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from store_examples import open_database

from evalui.cli import runs
from evalui.cli.main import main


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a run at work."""
    path = tmp_path / "evalui.sqlite"
    with closing(open_database(path)) as database, database.writing() as connection:
        connection.execute(
            "INSERT INTO run (id, owner, name, spec, state, created, queued)"
            " VALUES ('r1', 'ann', 'Midterm', '', 'running', 1, 1)"
        )
    return path


def end(store: Path, state: str) -> None:
    with closing(open_database(store)) as database, database.writing() as connection:
        connection.execute("UPDATE run SET state = ?, finished = 2", (state,))


def wait(store: Path, *options: str) -> int:
    return main(["wait", "r1", "--database", str(store), *options])


@pytest.mark.parametrize(("state", "code"), [("done", 0), ("failed", 1), ("cancelled", 1)])
def test_it_waits_for_the_end_and_says_how_it_was(
    store: Path,
    state: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            end(store, state)

    monkeypatch.setattr(runs.time, "sleep", sleep)
    assert wait(store) == code
    assert capsys.readouterr().out == f"{state}: Midterm, 0 of 0 trials\n"
    assert len(looks) == 2


def test_the_end_as_json(store: Path, capsys: pytest.CaptureFixture[str]):
    end(store, "done")
    assert wait(store, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {
        "id": "r1",
        "name": "Midterm",
        "state": "done",
        "done": 0,
        "total": 0,
        "created": 1.0,
        "owner": "ann",
    }


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["r2"], "r2"), (["r1", "--server", "http://127.0.0.1:1"], "--database cannot be used with")],
)
def test_what_cannot_be_waited_for_is_told(
    store: Path, arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["wait", *arguments, "--database", str(store)]) == 2
    assert problem in capsys.readouterr().err
