"""Links by which a person chooses a password, the first one or a new one: once, within 7 days."""

import time

from evalui.access import Person
from evalui.accounts.audit import record_in
from evalui.accounts.passwords import hash_password
from evalui.accounts.people import keep_password, read_account
from evalui.accounts.secrets import DAY_S, OF_PERSON, digest_of, find_live, new_secret
from evalui.errors import AccountError
from evalui.store.connection import Database

_DAYS = 7


def invite(database: Database, name: str, *, by: Person) -> str:
    """Make a link for a person, whose earlier one ends, and return its secret.

    Raises:
        AccountError: there is no such person, or they are disabled.
    """
    account = read_account(database, name)
    if account.disabled:
        raise AccountError("disabled", name=account.name)
    secret, now = new_secret(), time.time()
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM invitation WHERE person = ?", (account.name,))
        connection.execute(
            "INSERT INTO invitation VALUES (?, ?, ?, ?)",
            (digest_of(secret), account.name, now, now + _DAYS * DAY_S),
        )
        record_in(connection, by, "invite", f"person {account.name}")
    return secret


def withdraw(database: Database, name: str, *, by: Person) -> None:
    """End the invitation of a person, if there is one."""
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM invitation WHERE person = ?", (name,))
        record_in(connection, by, "withdraw", f"person {name}")


def invited_person(database: Database, secret: str) -> str:
    """Whom a link invites; raises `AccountError` if it is unknown, used, or has ended."""
    row = find_live(database, "invitation", secret, "s.person", OF_PERSON)
    if row is None:
        raise AccountError("invitation-ended")
    return row["person"]


def accept(database: Database, secret: str, password: str) -> str:
    """Give an invited person the password they chose, and return their name.

    Raises:
        AccountError: the link is unknown, used, or has ended, or the password is too short.
    """
    name = invited_person(database, secret)  # before the work of a hash
    hashed = hash_password(password)
    with database.writing(durable=True) as connection:
        used = connection.execute(
            "DELETE FROM invitation WHERE digest = ? AND person = ?", (digest_of(secret), name)
        )
        if not used.rowcount:
            raise AccountError("invitation-ended")  # by another request, at the same moment
        keep_password(connection, name, hashed)
        record_in(connection, Person(name), "accept-invitation", f"person {name}")
    return name
