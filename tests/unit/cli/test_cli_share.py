"""Links from the command line: those that the page makes, lists and withdraws."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evalui.accounts.shares import find_share, list_shares
from evalui.cli.main import main
from evalui.store.connection import Database
from evalui.store.runs import read_runs

_MODELS = '[always-A]\nbackend = "scripted"\noptions = { rule = "always-A" }\n'
_QUESTIONS = "id,question,A,B,answer\n1,Capital of France?,Paris,Rome,A\n"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """The store of a server with one run."""
    (tmp_path / "models.toml").write_text(_MODELS)
    (tmp_path / "capitals.csv").write_text(_QUESTIONS)
    spec = {"datasets": ["capitals.csv"], "models": ["always-A"], "mode": "multiple_choice"}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    out = tmp_path / "out"
    monkeypatch.setenv("EVALUI_DATA_DIR", str(out))
    monkeypatch.setenv("EVALUI_MODELS", str(tmp_path / "models.toml"))
    assert main(["run", str(tmp_path / "spec.json"), "--out", str(out)]) == 0
    with closing(Database(out / "evalui.sqlite")) as opened:
        yield opened


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["share", *arguments]) == 0
    return capsys.readouterr().out.strip()


def test_a_link_is_made_listed_and_revoked(database: Database, capsys):
    (run,) = read_runs(database)
    link = printed(capsys, run.id, "--days", "7", "--address", "https://eval.example.org/")
    assert link.startswith("https://eval.example.org/s/")
    share = find_share(database, link.rpartition("/")[2])
    assert share is not None
    assert share.ended is None
    assert (share.owner, share.expires - share.created) == (run.owner, 7 * 24 * 3600)
    listed = printed(capsys, "list")
    assert listed.startswith(f"{share.id}\tlocal\tcapitals\tuntil ")
    (as_json,) = json.loads(printed(capsys, "list", "--json"))
    assert as_json["id"] == share.id
    assert link.rpartition(".")[2] not in listed + json.dumps(as_json)  # a list opens nothing
    printed(capsys, "revoke", share.id)
    assert list_shares(database)[0].ended is not None
    assert "\tended " in printed(capsys, "list")


def test_a_title_controls_no_terminal(database: Database, capsys):
    with database.writing() as connection:
        connection.execute("UPDATE run SET name = 'law' || char(10, 27) || '[2J'")
    printed(capsys, read_runs(database)[0].id)
    assert "\tlaw\\n\\x1b[2J\t" in printed(capsys, "list")


def test_without_an_address_the_path_is_printed(database: Database, capsys, monkeypatch):
    (run,) = read_runs(database)
    assert main(["share", run.id]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("/s/")
    assert "EVALUI_PUBLIC_URL" in said.err
    monkeypatch.setenv("EVALUI_PUBLIC_URL", "https://eval.example.org")
    assert printed(capsys, run.id).startswith("https://eval.example.org/s/")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere"], "no run"),
        (["revoke", "nothing"], "no link nothing"),
        (["revoke"], "no link"),
    ],
)
def test_what_is_not_there_is_reported(database: Database, capsys, arguments, why: str):
    assert database
    assert main(["share", *arguments]) == 2
    assert why in capsys.readouterr().err


def test_other_days_are_refused(database: Database, capsys):
    (run,) = read_runs(database)
    assert main(["share", run.id, "--days", "8"]) == 2
    assert "7, 30, 90" in capsys.readouterr().err
