"""Tokens by which scripts act for a person: `Authorization: Bearer`, shown once, revocable."""

import time
from dataclasses import dataclass

from evalui.access import Person, Scope
from evalui.accounts.audit import record_in
from evalui.accounts.people import PERSON_COLUMNS, note_request, person_of, read_account
from evalui.accounts.secrets import (
    DAY_S,
    OF_PERSON,
    digest_of,
    find_live,
    is_old,
    new_secret,
    require_room,
)
from evalui.errors import AccountError
from evalui.store.connection import Database


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token without its secret; times are seconds since 1970, None for never."""

    id: int
    person: str
    scope: Scope
    label: str
    created: float
    used: float | None
    expires: float | None


def add_token(
    database: Database,
    person: str,
    *,
    by: Person,
    scope: Scope = "read",
    label: str = "",
    days: float | None = None,
) -> str:
    """Make a token of a person and return its secret, which is nowhere else.

    `days` is how long it counts, None for ever.

    Raises:
        AccountError: there is no such person, they have `MOST_LIVE`, or the days are none.
    """
    name = read_account(database, person).name
    if days is not None and not days > 0:
        raise AccountError("token-days")
    secret, now = new_secret(), time.time()
    expires = None if days is None else now + days * DAY_S
    with database.writing(durable=True) as connection:
        require_room(connection, "api_token", name)
        token_id = connection.execute(
            "INSERT INTO api_token (digest, person, scope, label, created, expires)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (digest_of(secret), name, scope, label, now, expires),
        ).lastrowid
        record_in(connection, by, "add-token", f"token {token_id}", owner=name, scope=scope)
    return secret


def person_of_token(database: Database, secret: str) -> Person | None:
    """For whom a token acts, with its scope; None if it is unknown, expired, or they disabled."""
    columns = f"{PERSON_COLUMNS}, s.id, s.scope, s.used"
    row = find_live(database, "api_token", secret, columns, OF_PERSON)
    if row is None:
        return None
    if is_old(row["used"]):
        also = "UPDATE api_token SET used = ? WHERE id = ?"
        note_request(database, row["name"], also, (time.time(), row["id"]))
    return person_of(row, row["scope"], by_token=True)


def read_tokens(database: Database, person: str = "") -> tuple[ApiToken, ...]:
    """The tokens of a person, or of all, the oldest first."""
    rows = database.rows(
        "SELECT id, person, scope, label, created, used, expires FROM api_token"
        " WHERE ?1 = '' OR person = ?1 ORDER BY id",
        (person,),
    )
    return tuple(ApiToken(*row) for row in rows)


def revoke_token(database: Database, token_id: int, *, by: Person) -> None:
    """Let a token count no more; raises `AccountError` if there is none with this id."""
    with database.writing(durable=True) as connection:
        row = connection.execute(
            "DELETE FROM api_token WHERE id = ? RETURNING person", (token_id,)
        ).fetchone()
        if row is None:
            raise AccountError("no-token", id=token_id)
        record_in(connection, by, "revoke-token", f"token {token_id}", owner=row["person"])
