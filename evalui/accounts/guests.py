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
    network_of,
    new_secret,
    require_room,
)
from evalui.errors import AccountError, TooManyTries
from evalui.store.connection import Database

GUEST = "guest:"  # before the name of a guest, which no account has
LONGEST_DAYS = 90  # that a link is open
_MOST_GUESTS = 200  # of one link
# From one address within a day: an office may be behind one, a visitor must not take all seats.
_MOST_FROM_ADDRESS = 40
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


def free_guest_seats(database: Database, run_id: str, digest: str, *, by: Person) -> int:
    """Send away the guests of a link who cast no vote, and return how many there were."""
    with database.writing(durable=True) as connection:
        gone = connection.execute(
            "DELETE FROM guest WHERE link IN (SELECT digest FROM guest_link WHERE digest = ?1"
            " AND run = ?2) AND NOT EXISTS"
            " (SELECT 1 FROM vote v WHERE v.run = ?2 AND v.owner = ?3 || guest.name)",
            (digest, run_id, GUEST),
        ).rowcount
        record_in(connection, by, "free-guest-seats", f"run {run_id}", guests=gone)
    return gone


def admit_guest(database: Database, link: str, name: str, *, address: str = "") -> str:
    """Let somebody in by a link under a name, and return the secret of their cookie.

    `address` is that of the visitor, "" where it is unknown.

    Raises:
        AccountError: the link is closed or has admitted as many as it may, nobody can have the
            name, or somebody on the run has it.
        TooManyTries: too many came from this address within a day.
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
        where = digest_of(network_of(address)) if address else ""
        (seats, near) = connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE address = ?2 AND created > ?3)"
            " FROM guest WHERE link = ?1",
            (digest_of(link), where, now - DAY_S),
        ).fetchone()
        if seats >= _MOST_GUESTS:
            raise AccountError("guest-many", most=_MOST_GUESTS)
        if where and near >= _MOST_FROM_ADDRESS:
            raise TooManyTries("guest-address", most=_MOST_FROM_ADDRESS)
        connection.execute(
            "INSERT INTO guest (digest, link, name, created, seen, address)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (digest_of(secret), digest_of(link), name, now, now, where),
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
