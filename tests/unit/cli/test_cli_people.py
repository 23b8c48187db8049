"""People and tokens from the command line; secrets are printed once, and alone."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalui.access import Person
from evalui.accounts.audit import read_audit
from evalui.accounts.invitations import invited_person
from evalui.accounts.people import read_account, read_accounts
from evalui.accounts.sessions import person_of_session, start_session
from evalui.accounts.sign_in import sign_in
from evalui.accounts.tokens import person_of_token
from evalui.cli.main import main
from evalui.store.connection import Database

pytestmark = pytest.mark.usefixtures("cheap_passwords")


class Keyboard(io.StringIO):
    """Standard input of a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("sys.stdin", Keyboard())
    return tmp_path


@pytest.fixture
def database(folder: Path):
    opened = Database(folder / "evalui.sqlite")
    yield opened
    opened.close()


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out.removesuffix("\n")


def test_a_password_comes_from_a_pipe_and_is_not_printed(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse \n"))
    assert output(capsys, "users", "add", "Ann", "--role", "admin") == ""
    assert sign_in(database, "ann", "correct horse ", address="") == Person("ann", "admin")


def test_without_one_it_is_made_and_printed_once(
    database: Database, capsys: pytest.CaptureFixture[str]
):
    made = output(capsys, "users", "add", "ann", "--role", "admin")
    assert sign_in(database, "ann", made, address="").name == "ann"
    another = output(capsys, "users", "passwd", "ann")
    assert another != made
    assert sign_in(database, "ann", another, address="").name == "ann"


def test_an_invitation_is_a_link(database: Database, capsys: pytest.CaptureFixture[str]):
    link = output(
        capsys, "users", "invite", "ann", "--role", "reader", "--address", "https://box.test/e/"
    )
    start, _, secret = link.rpartition("/")
    assert start == "https://box.test/e/invitation"
    assert invited_person(database, secret) == "ann"
    again = output(capsys, "users", "invite", "ann")
    assert again.startswith("http://127.0.0.1:7860/invitation/")


def test_an_invitation_has_the_public_address_of_the_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("EVALUI_PUBLIC_URL", "https://box.test/e/")
    link = output(capsys, "users", "invite", "ann", "--role", "reader")
    assert link.startswith("https://box.test/e/invitation/")


def test_people_are_listed_changed_and_removed(
    database: Database, capsys: pytest.CaptureFixture[str]
):
    for name, role in (("root", "admin"), ("ann", "reader"), ("bob", "reader")):
        output(capsys, "users", "add", name, "--role", role)
    output(capsys, "users", "role", "ANN", "operator")
    session = start_session(database, "ann")
    assert output(capsys, "users", "sign-out", "ann") == "sessions: 1, tokens: 0"
    assert person_of_session(database, session) is None
    output(capsys, "users", "disable", "ann")
    listed = json.loads(output(capsys, "users", "list", "--json"))
    assert [(each["name"], each["role"], each["disabled"]) for each in listed] == [
        ("ann", "operator", True),
        ("bob", "reader", False),
        ("root", "admin", False),
    ]
    assert "password" not in {key for each in listed for key in each}
    assert output(capsys, "users", "list").startswith("ann\toperator\tdisabled\t")
    output(capsys, "users", "enable", "ann")
    assert not read_account(database, "ann").disabled
    output(capsys, "users", "remove", "ann", "--hand-over-to", "bob")
    output(capsys, "users", "remove", "bob", "--delete")
    assert [account.name for account in read_accounts(database)] == ["root"]
    entries = read_audit(database)
    assert [entry.deed for entry in entries[:2]] == ["remove-person", "remove-person"]
    assert {entry.person for entry in entries} == {"local"}


def test_tokens_are_made_listed_and_revoked(database: Database, capsys: pytest.CaptureFixture[str]):
    output(capsys, "users", "add", "ann", "--role", "operator")
    reading = output(capsys, "tokens", "add", "ann", "--label", "ci")
    writing = output(capsys, "tokens", "add", "ann", "--scope", "write", "--days", "2")
    ann = Person("ann", "operator", by_token=True)
    assert person_of_token(database, reading) == replace(ann, scope="read")
    assert person_of_token(database, writing) == replace(ann, scope="write")
    output(capsys, "tokens", "add", "ann", "--label", "x\n9\x1b[2J")
    assert "\tx\\n9\\x1b[2J\t" in output(capsys, "tokens", "list")
    output(capsys, "tokens", "revoke", "3")
    shown = output(capsys, "tokens", "list")
    assert reading not in shown
    assert shown.startswith("1\tann\tread\tci\t")
    output(capsys, "tokens", "revoke", "1")
    assert person_of_token(database, reading) is None
    assert [each["id"] for each in json.loads(output(capsys, "tokens", "list", "--json"))] == [2]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["users", "add", "a b", "--role", "admin"], "cannot be a name"),
        (["users", "add", "local", "--role", "admin"], "cannot be a name"),
        (["users", "add", "root", "--role", "reader"], "already"),
        (["users", "disable", "root"], "only administrator"),
        (["users", "role", "root", "reader"], "only administrator"),
        (["users", "remove", "root", "--delete"], "only administrator"),
        (["users", "remove", "root", "--hand-over-to", "root"], "own runs"),
        (["users", "passwd", "bob"], "no person bob"),
        (["users", "invite", "bob"], "no person bob"),
        (["tokens", "add", "bob"], "no person bob"),
        (["tokens", "revoke", "7"], "no token 7"),
    ],
)
def test_what_cannot_be_is_stated_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
):
    output(capsys, "users", "add", "root", "--role", "admin")
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert reason in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_removing_says_what_becomes_of_the_rest(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["users", "remove", "root"])
    assert ended.value.code == 2
    assert "--hand-over-to" in capsys.readouterr().err


def test_a_short_password_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    assert main(["users", "add", "ann", "--role", "admin"]) == 2
    assert "10 characters" in capsys.readouterr().err
