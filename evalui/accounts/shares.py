"""Links to frozen pages: signed, read by who has one, until they expire or are withdrawn.

A link is the id of its row and a signature of id and end with the server's secret, which the store
does not hold: a copy of the store makes no link, and a changed end or another id opens nothing.
"""

import base64
import hashlib
import hmac
import json
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from sqlite3 import Row

from evalui.access import Person
from evalui.accounts.audit import record_in
from evalui.accounts.secrets import DAY_S, require_room
from evalui.errors import AccountError, StoreError
from evalui.models.endpoint.keys import server_secret
from evalui.store.connection import Database, new_id
from evalui.types import Language

SHARE_DAYS = (7, 30, 90)  # that a link may work
DEFAULT_SHARE_DAYS = 30
_EMPTIED = "UPDATE share SET pages = x'', csv = x'' WHERE"  # of what nobody can open any more
_COLUMNS = "id, owner, address, title, created, expires, revoked, opened, last_opened"


@dataclass(frozen=True, slots=True)
class Share:
    """A link without its pages; times are seconds since 1970, None for never.

    `address` is the query of the page that was frozen. Only whole seconds of `expires` count.
    """

    id: str
    owner: str
    address: str
    title: str
    created: float
    expires: float
    revoked: float | None = None
    opened: int = 0
    last_opened: float | None = None

    @property
    def ended(self) -> float | None:
        """Since when the link does not work, None while it does."""
        if self.revoked is not None:
            return self.revoked
        return self.expires if time.time() >= self.expires else None


def new_share(owner: str, address: str, title: str, days: int) -> Share:
    """A link that does not work yet; raises `AccountError` for days that nobody can choose."""
    if days not in SHARE_DAYS:
        raise AccountError("share-days", known=", ".join(map(str, SHARE_DAYS)))
    now = float(int(time.time()))
    return Share(new_id(9), owner, address, title, now, now + days * DAY_S)


def add_share(
    database: Database,
    share: Share,
    pages: Mapping[Language, str],
    tables: Mapping[Language, str],
    *,
    by: Person,
) -> None:
    """Keep the pages of a link, with their tables as CSV; from now on it works.

    Raises:
        AccountError: its owner has `MOST_LIVE` links that work.
    """
    with database.writing(durable=True) as connection:
        require_room(connection, "share", share.owner)
        connection.execute(_EMPTIED + " expires < ?", (share.created,))
        connection.execute(
            "INSERT INTO share (id, owner, address, title, created, expires, pages, csv)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(share.id, share.owner, share.address, share.title, share.created, share.expires),
                *(_packed(pages), _packed(tables)),
            ),
        )
        record_in(connection, by, "share", f"link {share.id}", owner=share.owner, of=share.address)


def list_shares(
    database: Database, owner: str | None = None, *, address: str | None = None
) -> tuple[Share, ...]:
    """The links of an owner, of what is at an address, or all; the newest first."""
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM share WHERE (:owner IS NULL OR owner = :owner)"  # noqa: S608 (ours)
        " AND (:address IS NULL OR address = :address) ORDER BY created DESC, id",
        {"owner": owner, "address": address},
    )
    return tuple(Share(*row) for row in rows)


def revoke_share(database: Database, share_id: str, *, by: Person) -> None:
    """End a link at once; raises `AccountError` if there is none with this id."""
    with database.writing(durable=True) as connection:
        connection.execute(_EMPTIED + " id = ?", (share_id,))
        row = connection.execute(
            "UPDATE share SET revoked = coalesce(revoked, ?) WHERE id = ? RETURNING owner",
            (time.time(), share_id),
        ).fetchone()
        if row is None:
            raise AccountError("no-share", id=share_id[:80])
        record_in(connection, by, "withdraw-share", f"link {share_id}", owner=row["owner"])


def link_of(database: Database, share_id: str, expires: float) -> str:
    """The last part of the address of a link; raises `ModelError` as `server_secret` does."""
    signed = f"evalui share {share_id} {int(expires)}".encode()
    signature = hmac.digest(server_secret(database.path.parent), signed, hashlib.sha256)
    return f"{share_id}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def find_share(database: Database, link: str) -> Share | None:
    """The share of a link, also one that has ended; None if no link of ours is like this."""
    row = database.row(
        f"SELECT {_COLUMNS} FROM share WHERE id = ?",  # noqa: S608 (ours)
        (link.partition(".")[0],),
    )
    if row is None:
        return None
    share = Share(*row)
    expected = link_of(database, share.id, share.expires)
    return (
        share if hmac.compare_digest(link.encode("utf-8", "replace"), expected.encode()) else None
    )


def read_page(database: Database, share: Share, language: Language) -> str:
    """The frozen page, which counts as opened once more if that can be written down."""
    page = _unpacked(database.row("SELECT pages FROM share WHERE id = ?", (share.id,)), language)
    # That a disk is full is reported to those who can do something about it.
    with suppress(StoreError), database.writing() as connection:
        connection.execute(
            "UPDATE share SET opened = opened + 1, last_opened = ? WHERE id = ?",
            (time.time(), share.id),
        )
    return page


def read_table(database: Database, share: Share, language: Language) -> str:
    """The tables of the frozen page as CSV."""
    return _unpacked(database.row("SELECT csv FROM share WHERE id = ?", (share.id,)), language)


def _packed(texts: Mapping[Language, str]) -> bytes:
    return zlib.compress(json.dumps(texts).encode())


def _unpacked(row: Row | None, language: Language) -> str:
    if not row or not row[0]:  # ended or deleted meanwhile
        raise AccountError("no-share", id="")
    return json.loads(zlib.decompress(row[0]))[language]
