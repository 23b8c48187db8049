"""Secrets that people carry in cookies, headers and links: 32 random bytes, stored as digests.

What is found by a digest, and whether it still counts, is decided here for all of them.
"""

import hashlib
import secrets
import time
from ipaddress import IPv6Address, ip_address, ip_network
from sqlite3 import Connection, Row
from typing import Literal

from evalui.errors import AccountError
from evalui.store.connection import Database

DAY_S = 24 * 3600.0
MOST_LIVE = 100  # links to pages, links for guests, or tokens of one person that work
SEEN_EVERY_S = 60.0  # seconds between two notes that somebody was here
OF_PERSON = "JOIN person p ON p.name = s.person AND NOT p.disabled"  # whose a secret `s` is
_BYTES = 32  # of randomness
_UNENDED = "s.revoked IS NULL AND s.expires > :now"
# When a row `s` of a table counts at a time `now`, in seconds since 1970.
_LIVE = {
    "session": "s.expires > :now AND s.seen + s.idle > :now",
    "invitation": "s.expires > :now",
    "api_token": "(s.expires IS NULL OR s.expires > :now)",
    "guest": "EXISTS (SELECT 1 FROM guest_link l WHERE l.digest = s.link"
    " AND l.revoked IS NULL AND l.expires > :now)",
    "guest_link": _UNENDED,
    "share": _UNENDED,
}
_OWNER = {"share": "owner", "guest_link": "owner", "api_token": "person"}  # columns


def new_secret() -> str:
    """A secret that nobody can guess, as text for cookies, headers and addresses."""
    return secrets.token_urlsafe(_BYTES)


def digest_of(secret: str) -> str:
    """What the store keeps of a secret, and finds it by: its SHA-256 digest in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def find_live(
    database: Database,
    table: Literal["session", "invitation", "api_token", "guest", "guest_link"],
    secret: str,
    columns: str,
    join: str = "",
) -> Row | None:
    """Columns of the row `s` that a secret names, None if there is none that counts."""
    return database.row(
        f"SELECT {columns} FROM {table} s {join}"  # noqa: S608 (constants)
        f" WHERE s.digest = :digest AND {_LIVE[table]}",
        {"digest": digest_of(secret), "now": time.time()},
    )


def is_old(seen: float | None) -> bool:
    """Whether it is to be written down again that somebody was here."""
    return seen is None or abs(time.time() - seen) > SEEN_EVERY_S


def require_room(
    connection: Connection, table: Literal["share", "guest_link", "api_token"], owner: str
) -> None:
    """Inside a transaction: raise `AccountError` if an owner has as many that work as they may."""
    (n,) = connection.execute(
        f"SELECT count(*) FROM {table} s WHERE s.{_OWNER[table]} = :owner AND {_LIVE[table]}",  # noqa: S608 (constants)
        {"owner": owner, "now": time.time()},
    ).fetchone()
    if n >= MOST_LIVE:
        raise AccountError("too-many-live", name=owner, most=MOST_LIVE)


def network_of(address: str) -> str:
    """An address; of IPv6 the network, all of whose addresses one person may use."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a socket of the machine has none
        return address
    return str(ip_network((parsed, 64), False)) if isinstance(parsed, IPv6Address) else str(parsed)
