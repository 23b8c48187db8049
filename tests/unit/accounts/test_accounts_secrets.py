"""Secrets differ, are long, stand in the store as digests, and nobody has very many at once."""

import re
from collections.abc import Callable

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.access import Person
from evalui.accounts import secrets
from evalui.accounts.guests import make_guest_link, read_guest_links, revoke_guest_link
from evalui.accounts.people import add_person
from evalui.accounts.secrets import digest_of, new_secret
from evalui.accounts.shares import add_share, list_shares, new_share, revoke_share
from evalui.accounts.tokens import add_token, read_tokens, revoke_token
from evalui.errors import AccountError
from evalui.store.connection import Database


def test_a_secret_is_32_bytes_in_characters_of_an_address():
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", new_secret())
    assert len({new_secret() for _ in range(100)}) == 100


def test_the_digest_is_that_of_sha_256():
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_of("") == empty
    assert digest_of("\ud800") != empty  # half a character, as a header may have one


def make_share(database: Database, owner: str) -> None:
    add_share(database, new_share(owner, "?run=k3f", "x", 7), {}, {}, by=ME)


def make_guests(database: Database, owner: str) -> None:
    make_guest_link(database, "k3f", by=Person(owner, "annotator"), days=3)


def make_token(database: Database, owner: str) -> None:
    add_token(database, owner, by=ME)


def end_share(database: Database) -> None:
    revoke_share(database, list_shares(database, "ann")[0].id, by=ME)


def end_guests(database: Database) -> None:
    revoke_guest_link(database, "k3f", read_guest_links(database, "k3f")[0].digest, by=ME)


def end_token(database: Database) -> None:
    revoke_token(database, read_tokens(database, "ann")[0].id, by=ME)


@pytest.mark.parametrize(
    ("table", "make", "end"),
    [
        ("share", make_share, end_share),
        ("guest_link", make_guests, end_guests),
        ("api_token", make_token, end_token),
    ],
)
def test_so_many_work_at_once_and_no_more(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    make: Callable[[Database, str], None],
    end: Callable[[Database], None],
):
    monkeypatch.setattr(secrets, "MOST_LIVE", 2, raising=False)
    for name in ("ann", "bob"):
        add_person(database, name, "annotator", by=ME)
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO run (id, owner, name, spec, state, created, queued, revision)"
            " VALUES ('k3f', 'ann', 'k3f', '{}', 'done', 1, 1, 1)"
        )
    for _ in range(2):
        make(database, "ann")
    with pytest.raises(AccountError, match="ann has 2 such links or tokens"):
        make(database, "ann")
    make(database, "bob")
    end(database)
    make(database, "ann")
    with database.writing() as connection:  # those that have ended are not counted
        connection.execute(f"UPDATE {table} SET expires = 1")
    make(database, "ann")
