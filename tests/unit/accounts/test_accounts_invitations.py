"""A link lets one person choose one password, once."""

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts import invitations
from evalui.accounts.invitations import accept, invite, invited_person, withdraw
from evalui.accounts.people import add_person, read_account, set_disabled, set_password
from evalui.accounts.sessions import person_of_session, start_session
from evalui.accounts.sign_in import sign_in
from evalui.errors import AccountError
from evalui.store.connection import Database


@pytest.fixture(autouse=True)
def people(database: Database) -> None:
    add_person(database, "ann", "reader", by=ME)


def test_the_chosen_password_signs_in(database: Database):
    assert not read_account(database, "ann").invited
    secret = invite(database, "Ann", by=ME)
    account = read_account(database, "ann")
    assert (account.invited, account.has_password) == (True, False)
    assert invited_person(database, secret) == "ann"
    assert accept(database, secret, "my own password") == "ann"
    assert sign_in(database, "ann", "my own password", address="192.0.2.1").name == "ann"
    account = read_account(database, "ann")
    assert (account.invited, account.has_password) == (False, True)


def test_a_short_password_leaves_the_link_as_it_is(database: Database):
    secret = invite(database, "ann", by=ME)
    with pytest.raises(AccountError, match="10 characters"):
        accept(database, secret, "short")
    assert accept(database, secret, "long enough now") == "ann"


def refused(database: Database, secret: str) -> bool:
    with pytest.raises(AccountError, match="was used, has ended"):
        invited_person(database, secret)
    with pytest.raises(AccountError, match="was used, has ended"):
        accept(database, secret, "another password")
    return True


def test_a_link_counts_once(database: Database):
    secret = invite(database, "ann", by=ME)
    accept(database, secret, "my own password")
    assert refused(database, secret)


def test_a_link_ends_after_7_days(database: Database, monkeypatch: pytest.MonkeyPatch):
    secret = invite(database, "ann", by=ME)
    now = invitations.time.time()
    monkeypatch.setattr(invitations.time, "time", lambda: now + 7 * 24 * 3600 - 10)
    assert invited_person(database, secret) == "ann"
    monkeypatch.setattr(invitations.time, "time", lambda: now + 7 * 24 * 3600 + 10)
    assert refused(database, secret)


@pytest.mark.parametrize("end", ["again", "withdrawn", "disabled", "password"])
def test_a_link_is_made_void(database: Database, end: str):
    secret = invite(database, "ann", by=ME)
    if end == "again":
        invite(database, "ann", by=ME)
    elif end == "withdrawn":
        withdraw(database, "ann", by=ME)
    elif end == "disabled":
        set_disabled(database, "ann", disabled=True, by=ME)
    else:
        set_password(database, "ann", "given by an admin", by=ME)
    assert refused(database, secret)


def test_a_new_password_by_link_ends_the_sessions_of_the_old_one(database: Database):
    set_password(database, "ann", "the old password", by=ME)
    session = start_session(database, "ann")
    secret = invite(database, "ann", by=ME)
    assert person_of_session(database, session)  # a link that nobody follows changes nothing
    accept(database, secret, "the new password")
    assert person_of_session(database, session) is None


def test_nobody_who_is_disabled_or_unknown_is_invited(database: Database):
    set_disabled(database, "ann", disabled=True, by=ME)
    with pytest.raises(AccountError, match="disabled"):
        invite(database, "ann", by=ME)
    with pytest.raises(AccountError, match="no person"):
        invite(database, "bob", by=ME)
