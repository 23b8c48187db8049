"""Who is signed in: a secret in a cookie, for 12 hours without a request or for 30 days."""

import time
from dataclasses import asdict, dataclass

from evalui.access import Person
from evalui.accounts.audit import record_in
from evalui.accounts.people import PERSON_COLUMNS, note_request, person_of
from evalui.accounts.secrets import OF_PERSON, digest_of, find_live, is_old, new_secret
from evalui.store.connection import Database

IDLE_S = 12 * 3600.0  # seconds without a request after which a session ends
LONGEST_S = 30 * 24 * 3600.0  # seconds after which every session ends


def start_session(database: Database, name: str, *, stay: bool = False) -> str:
    """Sign a person in and return the secret of their cookie; `stay`: they may be away for days."""
    secret, now = new_secret(), time.time()
    idle = LONGEST_S if stay else IDLE_S
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM session WHERE expires < ?1 OR seen + idle < ?1", (now,))
        connection.execute(
            "INSERT INTO session (digest, person, created, seen, idle, expires)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (digest_of(secret), name, now, now, idle, now + LONGEST_S),
        )
    note_request(database, name)
    return secret


def person_of_session(database: Database, secret: str) -> Person | None:
    """Who is signed in by a cookie, None if nobody is."""
    row = find_live(database, "session", secret, f"{PERSON_COLUMNS}, s.seen", OF_PERSON)
    if row is None:
        return None
    if is_old(row["seen"]):
        also = "UPDATE session SET seen = ? WHERE digest = ?"
        note_request(database, row["name"], also, (time.time(), digest_of(secret)))
    return person_of(row)


def end_session(database: Database, secret: str) -> None:
    """Sign out of the browser whose cookie this is."""
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM session WHERE digest = ?", (digest_of(secret),))


@dataclass(frozen=True, slots=True)
class Ended:
    """How many sessions and tokens of a person ended."""

    sessions: int
    tokens: int


def sign_out_everywhere(database: Database, name: str, *, by: Person) -> Ended:
    """End all by which a person is let in without their password: sessions and tokens."""
    with database.writing(durable=True) as connection:
        n = [
            connection.execute(f"DELETE FROM {table} WHERE person = ?", (name,)).rowcount  # noqa: S608 (ours)
            for table in ("session", "api_token")
        ]
        ended = Ended(*n)
        record_in(connection, by, "sign-out", f"person {name}", **asdict(ended))
    return ended


def end_sessions(database: Database, name: str, *, by: Person) -> int:
    """Sign a person out of all browsers, and return from how many; their tokens stay."""
    with database.writing(durable=True) as connection:
        ended = connection.execute("DELETE FROM session WHERE person = ?", (name,)).rowcount
        record_in(connection, by, "sign-out", f"person {name}", sessions=ended)
    return ended
