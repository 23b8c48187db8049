"""`evalui votes` and `evalui assign`: from the command line, for who has the machine."""

import csv
import io
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from evalui.access import LOCAL_PERSON
from evalui.accounts.people import add_person
from evalui.cli.main import main
from evalui.store.connection import Database
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.plans import VotingPlan, read_plan
from evalui.store.voting.votes import VoteInput, cast_vote

_MODELS = """
[wordy]
backend = "scripted"
options = { rule = "verbose" }
[short]
backend = "scripted"
options = { rule = "verbose" }
"""
_QUESTIONS = "".join(f'{{"question": "Why {n}?", "answer": "So."}}\n' for n in range(6))


@pytest.fixture
def store(tmp_path: Path) -> tuple[str, str]:
    """The path of a store, and its run with written answers of two models."""
    (tmp_path / "models.toml").write_text(_MODELS)
    (tmp_path / "talk.jsonl").write_text(_QUESTIONS)
    spec = {"datasets": ["talk.jsonl"], "models": ["wordy", "short"], "mode": "question_answer"}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    out = tmp_path / "out"
    models = str(tmp_path / "models.toml")
    run = ["run", str(tmp_path / "spec.json"), "--out", str(out), "--models-file", models]
    assert main(run) == 0
    path = out / "evalui.sqlite"
    with closing(Database(path)) as database:
        row = database.row("SELECT id FROM run")
        assert row
        return str(path), row["id"]


def run_command(store: tuple[str, str], command: str, *options: str) -> int:
    path, run_id = store
    return main([command, run_id, "--database", path, *options])


def cast(store: tuple[str, str], people: Sequence[str]) -> None:
    path, run_id = store
    with closing(Database(Path(path))) as database:
        pairs = voting_pairs(database, run_id)
        for person in people:
            mark = VoteInput(next(iter(pairs)), "tie", "=1+1", seconds=2.5)
            cast_vote(database, run_id, person, mark, pairs=pairs)


def test_votes_are_printed_as_lines_and_as_a_sheet(
    store: tuple[str, str], capfdbinary: pytest.CaptureFixture[bytes]
):
    cast(store, ["ann", "ben"])
    capfdbinary.readouterr()
    assert run_command(store, "votes") == 2
    assert capfdbinary.readouterr().out == b""
    assert run_command(store, "votes", "--close") == 0
    rows = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [(row["by"], row["winner"], row["seconds"]) for row in rows] == [
        ("ann", "tie", 2.5),
        ("ben", "tie", 2.5),
    ]
    assert run_command(store, "votes", "--csv") == 0
    sheet = capfdbinary.readouterr().out.decode("utf-8-sig")
    table = list(csv.DictReader(io.StringIO(sheet)))
    assert [row["by"] for row in table] == ["ann", "ben"]
    assert {row["comment"] for row in table} == {"'=1+1"}  # no formula
    assert [row["created"] for row in table] == [row["created"] for row in rows]


def test_pairs_are_assigned_and_everybody_votes_again(
    store: tuple[str, str], capsys: pytest.CaptureFixture[str]
):
    path, run_id = store
    capsys.readouterr()
    assert run_command(store, "assign", "--people", "ann, ben,guest:Mia", "--overlap", "2") == 0
    assert capsys.readouterr().out == "ann\t4\nben\t4\nguest:Mia\t4\n"
    with closing(Database(Path(path))) as database:
        assert read_plan(database, run_id) == VotingPlan(("ann", "ben", "guest:Mia"), 2)
    assert run_command(store, "assign", "--people", "") == 0
    with closing(Database(Path(path))) as database:
        assert read_plan(database, run_id) is None


def test_on_a_server_with_accounts_people_need_one(
    store: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("EVALUI_AUTH", "password")
    with closing(Database(Path(store[0]))) as database:
        add_person(database, "root", "admin", by=LOCAL_PERSON)
    assert run_command(store, "assign", "--people", "ann", "--overlap", "1") == 2
    assert "ann has no account" in capsys.readouterr().err
    assert run_command(store, "assign", "--people", "Root", "--overlap", "1") == 0


@pytest.mark.parametrize("command", ["votes", "assign"])
def test_what_is_not_there_is_reported_in_a_line(
    store: tuple[str, str], command: str, capsys: pytest.CaptureFixture[str]
):
    options = ["--people", "ann"] if command == "assign" else []
    capsys.readouterr()
    assert main([command, "none", "--database", store[0], *options]) == 2
    assert main([command, "none", "--database", store[0] + "x", *options]) == 2
    assert capsys.readouterr().err.count("\n") == 2
