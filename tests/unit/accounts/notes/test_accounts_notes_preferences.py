"""A person chooses where notes go, within what the administrator allows."""

from email.message import EmailMessage
from itertools import chain, product

import pytest

from evalui.access import Person
from evalui.accounts.audit import read_audit
from evalui.accounts.notes.preferences import (
    NotePreferences,
    is_mail_address,
    read_preferences,
    write_preferences,
)
from evalui.errors import AccountError
from evalui.runs.database.connection import Database

ANN = Person("ann", "annotator")
HOSTS = ["hooks.example.org"]


def choose(database: Database, **chosen: str) -> None:
    write_preferences(database, NotePreferences(**chosen), hosts=HOSTS, by=ANN)


def test_what_is_chosen_is_kept_and_taken_back(database: Database):
    assert read_preferences(database, "ann") == NotePreferences()
    assert read_preferences(database, "local") == NotePreferences()
    with database.writing() as connection:
        connection.execute("""UPDATE person SET preferences = '{"theme": "dark"}'""")
    choose(database, webhook="https://Hooks.example.org/a?key=s3cret", mail="ann@example.org")
    kept = read_preferences(database, "ann")
    assert (kept.webhook[-6:], kept.mail) == ("s3cret", "ann@example.org")
    choose(database)
    assert read_preferences(database, "ann") == NotePreferences()
    row = database.row("SELECT preferences ->> 'theme' AS theme FROM person")
    assert row is not None
    assert row["theme"] == "dark"
    assert "s3cret" not in repr(read_audit(database))


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example.org/",
        "https://hooks.example.org.evil.org/",
        "https://hooks.example.org@evil.org/",
        "ftp://hooks.example.org/",
        "https://hooks.example.org/ x",
        "https://hooks.example.org/é",
        "https://hooks.example.org/" + "x" * 1000,
        "hooks.example.org",
        "https://169.254.169.254/",
    ],
)
def test_only_allowed_hosts_are_taken(database: Database, url: str):
    with pytest.raises(AccountError, match=r"hooks\.example\.org"):
        choose(database, webhook=url)


@pytest.mark.parametrize(
    "mail",
    [
        *("ann", "ann@", "@b", "a b@c", "a@b\nBcc: c@d", "a@b,c@d", "<a@b>", "a@" + "b" * 300),
        *("a@[", "a@[127.0.0.1]", "().@a", "a\\@b", "é@b", "a@b\0"),
    ],
)
def test_only_one_mail_address_is_taken(database: Database, mail: str):
    with pytest.raises(AccountError, match="mail address"):
        choose(database, mail=mail)


SPECIAL = ".-_+=?%'`{|}~/*&$#!^a"


def test_every_mail_address_that_is_taken_can_be_written_into_a_mail():
    domains = ("b", ".", "-", "b.", ".b", "_")
    short = ("".join(parts) for parts in product(SPECIAL, repeat=2))
    long = ("".join(parts) for parts in product(SPECIAL, repeat=3))
    for name, domain in chain(product(short, domains), product(long, domains[:1])):
        mail = f"{name}@{domain}"
        assert is_mail_address(mail)
        message = EmailMessage()
        try:
            message["To"] = mail
        except ValueError:  # which the sender reports
            continue
        assert b"To: " in message.as_bytes()
