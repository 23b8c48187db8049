"""Tokens act for a person with a scope, until they are revoked, expire, or the person goes."""

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.access import Person
from evalui.accounts import tokens
from evalui.accounts.people import add_person, remove_person, set_disabled
from evalui.accounts.tokens import add_token, person_of_token, read_tokens, revoke_token
from evalui.errors import AccountError
from evalui.store.connection import Database


@pytest.fixture(autouse=True)
def people(database: Database) -> None:
    add_person(database, "ann", "operator", by=ME)


def test_a_token_acts_for_its_person_in_its_scope(database: Database):
    reading, writing = (add_token(database, "Ann", by=ME, scope=s) for s in ("read", "write"))
    assert person_of_token(database, reading) == Person("ann", "operator", "read", by_token=True)
    assert person_of_token(database, writing) == Person("ann", "operator", "write", by_token=True)
    assert person_of_token(database, "") is None
    assert person_of_token(database, read_tokens(database)[0].label) is None


def test_the_list_shows_everything_but_the_secret(database: Database):
    secret = add_token(database, "ann", by=ME, label="ci", days=1)
    (token,) = read_tokens(database, "ann")
    assert (token.person, token.scope, token.label, token.used) == ("ann", "read", "ci", None)
    assert token.expires == token.created + 24 * 3600
    assert secret not in repr(token)
    assert person_of_token(database, secret)
    assert read_tokens(database)[0].used is not None
    assert read_tokens(database, "bob") == ()


def test_a_token_expires(database: Database, monkeypatch: pytest.MonkeyPatch):
    secret = add_token(database, "ann", by=ME, days=1)
    (token,) = read_tokens(database)
    assert token.expires
    monkeypatch.setattr(tokens.time, "time", lambda: token.expires)
    assert person_of_token(database, secret) is None


@pytest.mark.parametrize("days", [0, -1, float("nan")])
def test_a_token_that_never_counts_is_refused(database: Database, days: float):
    with pytest.raises(AccountError, match="more than 0 days"):
        add_token(database, "ann", by=ME, days=days)


def test_a_token_is_revoked_once(database: Database):
    secret = add_token(database, "ann", by=ME)
    (token,) = read_tokens(database)
    revoke_token(database, token.id, by=ME)
    assert person_of_token(database, secret) is None
    with pytest.raises(AccountError, match="no token"):
        revoke_token(database, token.id, by=ME)


def test_a_token_stops_with_its_person(database: Database):
    secret = add_token(database, "ann", by=ME, scope="write")
    set_disabled(database, "ann", disabled=True, by=ME)
    assert person_of_token(database, secret) is None
    set_disabled(database, "ann", disabled=False, by=ME)
    assert person_of_token(database, secret)
    remove_person(database, "ann", heir=None, by=ME)
    add_person(database, "ann", "reader", by=ME)  # somebody else of this name
    assert person_of_token(database, secret) is None


def test_a_token_needs_a_person(database: Database):
    with pytest.raises(AccountError, match="no person"):
        add_token(database, "bob", by=ME)
