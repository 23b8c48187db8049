"""The limits of a server and of a person, and what is refused because of them."""

import json

import pytest
from pictured_runs import RED, give_pictures
from queue_examples import add_owned, add_person, take
from runs_examples import trial

from evalui.errors import SpecError, UnknownRun
from evalui.runs.fair_queue.limits import (
    UserLimits,
    check_may_queue,
    check_may_store,
    limits_of,
    resume_run,
    stored_bytes,
    usual_limits,
    write_limits,
)
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_run
from evalui.store.trials import write_trials

USUAL = UserLimits(queued=5, running=2, dollars_day=10)


def test_the_usual_limits_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert usual_limits(Settings()) == UserLimits()
    for name, value in (
        ("QUEUED", "5"),
        ("RUNNING", "2"),
        ("STORED_BYTES", "2GB"),
        ("TOKENS_DAY", "100000"),
        ("DOLLARS_DAY", "1.5"),
    ):
        monkeypatch.setenv(f"EVALUI_LIMIT_{name}", value)
    assert usual_limits(Settings()) == UserLimits(5, 2, 2 * 10**9, 100_000, 1.5)


def test_a_limit_of_a_person_counts_more_than_the_usual_one(database: Database) -> None:
    add_person(database, "ada")
    assert limits_of(database, "ada", USUAL) == limits_of(database, "nobody yet", USUAL) == USUAL
    own = UserLimits(queued=5, running=None, dollars_day=40)
    write_limits(database, "ada", own, USUAL)
    assert limits_of(database, "ada", USUAL) == own
    row = database.row("SELECT limits FROM person")
    assert row
    assert json.loads(row["limits"]) == {"running": None, "dollars_day": 40}
    # What a person shares with the others follows the settings of the server.
    assert limits_of(database, "ada", UserLimits(queued=7)).queued == 7


def test_a_limit_that_is_none_is_refused(database: Database) -> None:
    add_person(database, "ada")
    with pytest.raises(SpecError, match="dollars_day must be 0 or more"):
        write_limits(database, "ada", UserLimits(dollars_day=-1), USUAL)
    with pytest.raises(SpecError, match="dollars_day must be 0 or more"):
        write_limits(database, "ada", UserLimits(dollars_day=float("nan")), USUAL)
    with pytest.raises(SpecError, match="There is no person 'bob'"):
        write_limits(database, "bob", USUAL, USUAL)


def test_no_more_runs_wait_than_may(database: Database) -> None:
    usual = UserLimits(queued=2)
    for _ in range(2):
        _check(database, "ada", usual)
        add_owned(database, "ada")
    with pytest.raises(SpecError, match="2 of your runs are already waiting"):
        _check(database, "ada", usual)
    _check(database, "bob", usual)
    take(database)
    _check(database, "ada", usual)


def _check(database: Database, owner: str, usual: UserLimits) -> None:
    with database.reading() as connection:
        check_may_queue(connection, owner, usual)


def test_what_is_stored_is_uploads_and_answers(database: Database) -> None:
    add_owned(database, "ada")
    with database.writing() as connection:
        connection.execute("INSERT INTO upload VALUES ('ada', 'x', 'x.csv', 1000, 0)")
        connection.execute("INSERT INTO upload VALUES ('bob', 'x', 'x.csv', 5, 0)")
        assert stored_bytes(connection, "ada") == 1000
    run = take(database)
    assert run
    write_trials(database, run.lease, 1, [trial(0, reply="y" * 500), trial(1, reply="é" * 500)])
    with database.reading() as connection:
        stored = stored_bytes(connection, "ada")
        assert 1000 + 1500 < stored < 1000 + 1500 + 2 * 300
        assert stored_bytes(connection, "bob") == 5
    _check(database, "ada", UserLimits(stored_bytes=stored + 1))
    with pytest.raises(SpecError, match="Delete runs or uploads"):
        _check(database, "ada", UserLimits(stored_bytes=stored))


def test_pictures_are_stored_by_whoever_has_a_dataset_with_them(database: Database) -> None:
    add_owned(database, "ada")
    give_pictures(database, add_owned(database, "bob"), RED, small=b"small")
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO dataset_picture SELECT d.id, ids.name, p.picture FROM dataset d,"
            " (SELECT 'one' AS name UNION SELECT 'two') ids, dataset_picture p"
            " WHERE d.owner = 'ada'"
        )
        for owner, stored in (("ada", len(RED) + 5), ("bob", len(RED) + 5), ("eve", 0)):
            assert stored_bytes(connection, owner) == stored


def test_an_upload_that_fits_exactly_is_stored() -> None:
    limits = UserLimits(stored_bytes=100)
    check_may_store(90, limits, 10)
    with pytest.raises(SpecError):
        check_may_store(90, limits, 11)
    check_may_store(90, UserLimits(), 10**12)


def test_a_stopped_run_is_queued_again_within_the_limits_of_its_owner(database: Database) -> None:
    stopped = add_owned(database, "ada")
    queue.cancel(database, stopped)
    add_owned(database, "ada")
    with pytest.raises(SpecError, match="1 of your runs are already waiting"):
        resume_run(database, stopped, UserLimits(queued=1))
    assert read_run(database, stopped).state == "cancelled"
    resume_run(database, stopped, UserLimits(queued=2))
    assert read_run(database, stopped).state == "queued"
    with pytest.raises(UnknownRun):
        resume_run(database, "none", UserLimits())


def test_frozen_pages_of_links_are_stored_too(database: Database) -> None:
    with database.writing() as connection:
        for name, owner in (("s", "ada"), ("t", "ada"), ("u", "bob")):
            connection.execute(
                "INSERT INTO share (id, owner, address, title, created, expires, pages, csv)"
                " VALUES (?, ?, '', '', 0, 0, zeroblob(70), zeroblob(30))",
                (name, owner),
            )
        assert stored_bytes(connection, "ada") == 200
        assert stored_bytes(connection, "bob") == 100
        assert stored_bytes(connection, "eve") == 0
