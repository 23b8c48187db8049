"""Guests: people without an account who came by the link of one run, and only vote on it.

A guest states a name, which nobody else on the run has, and carries a secret in a cookie.
"""

import time
import unicodedata
from dataclasses import dataclass

from evalui.access import Person
from evalui.accounts.audit import record_in
from evalui.accounts.secrets import (
    DAY_S,
    digest_of,
    find_live,
    is_old,
    new_secret,
    require_room,
)
from evalui.errors import AccountError
from evalui.runs.database.connection import Database

GUEST = "guest:"  # before the name of a guest, which no account has
LONGEST_DAYS = 90  # that a link is open
_MOST_GUESTS = 200  # of one link
_NAME_LENGTH = 40


@dataclass(frozen=True, slots=True)
class GuestLink:
    """A link of a run, known by the digest of its secret; `expires` in seconds since 1970."""

    digest: str
    expires: float
    guests: tuple[str, ...]


def make_guest_link(database: Database, run_id: str, *, by: Person, days: int) -> str:
    """Let whoever has the link vote on a run for so many days; the secret is returned once.

    Raises:
        AccountError: the days are not 1 to `LONGEST_DAYS`, or they have `MOST_LIVE` links.
    """
    if not 1 <= days <= LONGEST_DAYS:
        raise AccountError("guest-days", days=days, most=LONGEST_DAYS)
    secret, now = new_secret(), time.time()
    with database.writing(durable=True) as connection:
        require_room(connection, "guest_link", by.name)
        connection.execute(
            "INSERT INTO guest_link (digest, run, owner, created, expires) VALUES (?, ?, ?, ?, ?)",
            (digest_of(secret), run_id, by.name, now, now + days * DAY_S),
        )
        record_in(connection, by, "make-guest-link", f"run {run_id}", days=days)
    return secret


def revoke_guest_link(database: Database, run_id: str, digest: str, *, by: Person) -> None:
    """Close a link; those who came by it vote no more, and the votes they cast stay."""
    with database.writing(durable=True) as connection:
        closed = connection.execute(
            "UPDATE guest_link SET revoked = ? WHERE digest = ? AND run = ? AND revoked IS NULL",
            (time.time(), digest, run_id),
        )
        if closed.rowcount:
            record_in(connection, by, "revoke-guest-link", f"run {run_id}")


def read_guest_links(database: Database, run_id: str) -> tuple[GuestLink, ...]:
    """The links of a run that are open, the oldest first."""
    rows = database.rows(
        "SELECT digest, expires,"
        " (SELECT group_concat(name, char(10)) FROM guest g WHERE g.link = l.digest) AS guests"
        " FROM guest_link l WHERE run = ? AND revoked IS NULL AND expires > ? ORDER BY created",
        (run_id, time.time()),
    )
    return tuple(
        GuestLink(
            row["digest"],
            row["expires"],
            tuple(row["guests"].split("\n")) if row["guests"] else (),
        )
        for row in rows
    )


def run_of_link(database: Database, secret: str) -> str:
    """The run of an open link; raises `AccountError` if there is none."""
    row = find_live(database, "guest_link", secret, "s.run")
    if row is None:
        raise AccountError("guest-link")
    return row["run"]


def admit_guest(database: Database, link: str, name: str) -> str:
    """Let somebody in by a link under a name, and return the secret of their cookie.

    Raises:
        AccountError: the link is closed, nobody can have the name, or somebody on the run has it.
    """
    run_id = run_of_link(database, link)
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if not 0 < len(name) <= _NAME_LENGTH or not name.isprintable():
        raise AccountError("guest-name", most=_NAME_LENGTH)
    secret, now = new_secret(), time.time()
    with database.writing(durable=True) as connection:
        taken = [
            row["name"].casefold()
            for row in connection.execute(
                "SELECT name FROM guest g JOIN guest_link l ON l.digest = g.link WHERE l.run = ?",
                (run_id,),
            )
        ]
        if name.casefold() in taken:
            raise AccountError("guest-taken", name=name)
        if len(taken) >= _MOST_GUESTS:
            raise AccountError("guest-many", most=_MOST_GUESTS)
        connection.execute(
            "INSERT INTO guest (digest, link, name, created, seen) VALUES (?, ?, ?, ?, ?)",
            (digest_of(secret), digest_of(link), name, now, now),
        )
    return secret


def person_of_guest(database: Database, secret: str) -> Person | None:
    """Who came by a link that is still open, None if nobody did."""
    run = "(SELECT run FROM guest_link WHERE digest = s.link) AS run"
    row = find_live(database, "guest", secret, f"s.name, s.seen, {run}")
    if row is None:
        return None
    if is_old(row["seen"]):
        with database.writing(durable=True) as connection:
            connection.execute(
                "UPDATE guest SET seen = ? WHERE digest = ?", (time.time(), digest_of(secret))
            )
    return Person(GUEST + row["name"], "annotator", guest_of=row["run"])
