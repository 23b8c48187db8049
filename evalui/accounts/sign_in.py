"""Names and passwords, and how often they may be tried.

Every try is counted before the password is looked at, so that many at once do not pass together,
and forgotten when it was right. Only what comes within the limits is counted: whoever waits for
five minutes can try again. A browser that a person has signed in from counts by itself, so that
others who try their name do not keep them out.
"""

import time
from sqlite3 import Connection

from evalui.access import Person
from evalui.accounts.passwords import is_password
from evalui.accounts.people import find_person
from evalui.accounts.secrets import network_of
from evalui.errors import AccountError, TooManyTries
from evalui.store.connection import Database

WINDOW_S = 300.0  # seconds for which a try counts
PER_NAME = 5
PER_ADDRESS = 20
_LONGEST_NAME = 64  # characters; longer ones are nobody's


def sign_in(
    database: Database, name: str, password: str, *, address: str, browser: str = ""
) -> Person:
    """Who has this name and this password.

    `address` is where the request comes from; `browser` names the one it comes from, if this
    person has signed in there before.

    Raises:
        TooManyTries: too many were wrong lately.
        AccountError: name and password do not match, or the person is disabled.
    """
    name = name.strip().casefold()[: _LONGEST_NAME + 1]
    keys = _keys(name, address, browser)
    started = time.time()
    with database.writing(durable=True) as connection:
        _count(connection, keys, started)
    row = database.row("SELECT password FROM person WHERE name = ?", (name,))
    person = find_person(database, name)
    if not is_password(row["password"] if row else "", password) or person is None:
        raise AccountError("sign-in-wrong")
    with database.writing(durable=True) as connection:
        _forget(connection, keys, started)
    return person


def _keys(name: str, address: str, browser: str) -> dict[str, int]:
    """What a try counts for, with how many are allowed."""
    if browser:
        return {f"browser:{browser}": PER_NAME}
    return {f"name:{name}": PER_NAME, f"address:{network_of(address)}": PER_ADDRESS}


def _count(connection: Connection, keys: dict[str, int], now: float) -> None:
    # A clock that was put back leaves tries in the future.
    connection.execute(
        "DELETE FROM sign_in_failure WHERE at < ? OR at > ?", (now - WINDOW_S, now + WINDOW_S)
    )
    for key, limit in keys.items():
        (n,) = connection.execute(
            "SELECT count(*) FROM sign_in_failure WHERE key = ?", (key,)
        ).fetchone()
        if n >= limit:
            raise TooManyTries("too-many-tries")
    connection.executemany(
        "INSERT INTO sign_in_failure VALUES (?, ?)", ((key, now) for key in keys)
    )


def _forget(connection: Connection, keys: dict[str, int], at: float) -> None:
    """Forget a try that was right; of an address this one alone, whose others may be of others."""
    for key in keys:
        whole = not key.startswith("address:")
        connection.execute(
            "DELETE FROM sign_in_failure WHERE key = ? AND (? OR at = ?)", (key, whole, at)
        )
