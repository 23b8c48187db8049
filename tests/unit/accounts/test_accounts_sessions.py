"""A session ends by sign-out, by time, and with its person."""

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.access import Person
from evalui.accounts import sessions
from evalui.accounts.people import (
    add_person,
    read_account,
    remove_person,
    set_disabled,
    set_password,
    set_role,
)
from evalui.accounts.sessions import (
    end_session,
    end_sessions,
    person_of_session,
    start_session,
)
from evalui.store.connection import Database

HOUR = 3600.0


@pytest.fixture(autouse=True)
def people(database: Database) -> None:
    add_person(database, "root", "admin", by=ME)
    add_person(database, "ann", "reader", by=ME)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_800_000_000.0]
    monkeypatch.setattr(sessions.time, "time", lambda: now[0])
    return now


def test_a_cookie_stands_for_its_person_as_they_are_now(database: Database):
    secret = start_session(database, "ann")
    assert person_of_session(database, secret) == Person("ann", "reader")
    set_role(database, "ann", "operator", by=ME)
    assert person_of_session(database, secret) == Person("ann", "operator")
    assert person_of_session(database, secret + "x") is None
    assert person_of_session(database, "") is None


def test_the_secret_is_not_in_the_store(database: Database):
    secret = start_session(database, "ann")
    database.close()
    files = [*database.path.parent.glob("evalui.sqlite*")]
    assert files
    assert not any(secret.encode() in file.read_bytes() for file in files)


def test_a_session_ends_12_hours_after_the_last_request(database: Database, clock: list[float]):
    secret = start_session(database, "ann")
    for _ in range(3):
        clock[0] += 11 * HOUR
        assert person_of_session(database, secret)
    clock[0] += 12 * HOUR + 1
    assert person_of_session(database, secret) is None


def test_who_stays_signed_in_does_so_for_30_days(database: Database, clock: list[float]):
    secret = start_session(database, "ann", stay=True)
    clock[0] += 29 * 24 * HOUR
    assert person_of_session(database, secret)
    clock[0] += 25 * HOUR  # whatever was requested meanwhile
    assert person_of_session(database, secret) is None


def test_requests_are_noted_once_a_minute(database: Database, clock: list[float]):
    secret = start_session(database, "ann")
    before = read_account(database, "ann").seen
    for seconds, seen in ((59, 0), (1, 0), (1, 61), (60, 61), (1, 122)):
        clock[0] += seconds
        assert person_of_session(database, secret)
        assert before is not None
        assert read_account(database, "ann").seen == before + seen


def test_sessions_that_have_ended_leave_the_store(database: Database, clock: list[float]):
    start_session(database, "ann")
    clock[0] += 13 * HOUR
    start_session(database, "ann")
    assert len(database.rows("SELECT 1 FROM session")) == 1


def test_signing_out_ends_one_session_and_an_administrator_all(database: Database):
    first, second, third = (start_session(database, "ann") for _ in range(3))
    end_session(database, first)
    assert person_of_session(database, first) is None
    assert person_of_session(database, second)
    assert end_sessions(database, "ann", by=ME) == 2
    assert person_of_session(database, third) is None


@pytest.mark.parametrize("end", ["disabled", "removed", "password"])
def test_a_session_ends_with_what_it_stands_on(database: Database, end: str):
    secret = start_session(database, "ann")
    if end == "disabled":
        set_disabled(database, "ann", disabled=True, by=ME)
    elif end == "removed":
        remove_person(database, "ann", heir=None, by=ME)
    else:
        set_password(database, "ann", "another password", by=ME)
    assert person_of_session(database, secret) is None
    if end == "disabled":
        set_disabled(database, "ann", disabled=False, by=ME)
        assert person_of_session(database, secret) is None
