"""Who may sign in, and as what: added, changed, disabled, and removed with what is theirs."""

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from sqlite3 import Connection, Row
from typing import Any

from evalui.access import LOCAL, Person, Role, Scope
from evalui.accounts.audit import record_in
from evalui.accounts.belongings import copy_uploads, delete_belongings, delete_files, hand_over
from evalui.accounts.passwords import hash_password
from evalui.accounts.secrets import digest_of
from evalui.errors import AccountError, StoreError
from evalui.models.user_catalog import additions_path, hand_over_models
from evalui.store.connection import Database

# Of a person `p`, as `person_of` reads it.
PERSON_COLUMNS = "p.name, p.role"


@dataclass(frozen=True, slots=True)
class Account:
    """A person as administrators see them; times are seconds since 1970, `seen` None if never.

    `invited`: a link waits for them by which they choose a password.
    """

    name: str
    role: Role
    disabled: bool
    created: float
    seen: float | None
    has_password: bool
    invited: bool


def read_accounts(database: Database) -> tuple[Account, ...]:
    """Everybody who has an account, by name."""
    rows = database.rows(
        f"SELECT {PERSON_COLUMNS}"  # noqa: S608 (constants)
        ", p.disabled, p.created, p.seen, p.password != '' AS has_password,"
        " EXISTS (SELECT 1 FROM invitation i WHERE i.person = p.name AND i.expires > ?) AS invited"
        " FROM person p ORDER BY p.name",
        (time.time(),),
    )
    return tuple(
        Account(
            row["name"],
            row["role"],
            bool(row["disabled"]),
            row["created"],
            row["seen"],
            bool(row["has_password"]),
            bool(row["invited"]),
        )
        for row in rows
    )


def read_account(database: Database, name: str) -> Account:
    """The account of a name; raises `AccountError` if there is none."""
    for account in read_accounts(database):
        if account.name == name.strip().casefold():
            return account
    raise AccountError("no-person", name=name[:80])


def find_person(database: Database, name: str) -> Person | None:
    """Who has a name, None if nobody has, or they are disabled."""
    row = database.row(
        f"SELECT {PERSON_COLUMNS} FROM person p WHERE p.name = ? AND NOT p.disabled",  # noqa: S608 (constants)
        (name,),
    )
    return None if row is None else person_of(row)


def person_of(row: Row, scope: Scope = "write", *, by_token: bool = False) -> Person:
    """The person of a row that has `PERSON_COLUMNS`."""
    return Person(row["name"], row["role"], scope, by_token=by_token)


_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")


def checked_name(name: str) -> str:
    """The name as it is stored, in small letters; raises `AccountError` if it cannot be one."""
    plain = name.strip().casefold()
    if not _NAME.fullmatch(plain) or plain == LOCAL:
        raise AccountError("account-name", name=name[:80])
    return plain


def add_person(
    database: Database, name: str, role: Role, *, by: Person, password: str = ""
) -> Account:
    """Add an account; without a password nobody can sign in to it before they are invited.

    Raises:
        AccountError: nobody can have the name, somebody has it, or the password is too short.
    """
    name = checked_name(name)
    hashed = hash_password(password) if password else ""
    with database.writing(durable=True) as connection:
        added = connection.execute(
            "INSERT INTO person (name, role, password, created) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (name, role, hashed, time.time()),
        )
        if not added.rowcount:
            raise AccountError("person-exists", name=name)
        record_in(connection, by, "add-person", f"person {name}", role=role)
    return read_account(database, name)


def set_role(database: Database, name: str, role: Role, *, by: Person) -> None:
    """Change what a person may do; raises `AccountError`, also for the last administrator."""
    with database.writing(durable=True) as connection:
        before = _require_person(connection, name)
        if role != "admin":
            _require_other_admin(connection, name)
        connection.execute("UPDATE person SET role = ? WHERE name = ?", (role, name))
        record_in(connection, by, "set-role", f"person {name}", role=role, before=before)


def set_password(database: Database, name: str, password: str, *, by: Person) -> None:
    """Give a person a password, which ends their sessions and tokens and voids their invitation.

    Raises:
        AccountError: there is no such person, or the password is too short.
    """
    hashed = hash_password(password)
    with database.writing(durable=True) as connection:
        _require_person(connection, name)
        keep_password(connection, name, hashed)
        record_in(connection, by, "set-password", f"person {name}")


def keep_password(connection: Connection, name: str, hashed: str) -> None:
    """Inside a transaction: give a person the password of a hash."""
    connection.execute("UPDATE person SET password = ? WHERE name = ?", (hashed, name))
    _delete_of_person(connection, name, "session", "invitation", "api_token")


def password_stamp(database: Database, name: str) -> str:
    """What changes with the password of a person and does not give it away; "" for nobody."""
    row = database.row("SELECT password FROM person WHERE name = ?", (name,))
    return digest_of(row["password"]) if row else ""


def set_disabled(database: Database, name: str, *, disabled: bool, by: Person) -> None:
    """Close an account at once, or open it again; raises `AccountError`, as `set_role`.

    Sessions and invitations of a disabled person are ended; their tokens count again when they do.
    """
    with database.writing(durable=True) as connection:
        _require_person(connection, name)
        if disabled:
            _require_other_admin(connection, name)
            _delete_of_person(connection, name, "session", "invitation")
        connection.execute("UPDATE person SET disabled = ? WHERE name = ?", (disabled, name))
        record_in(connection, by, "disable" if disabled else "enable", f"person {name}")


def remove_person(database: Database, name: str, *, heir: str | None, by: Person) -> None:
    """Remove a person; their runs, datasets, uploads, links and models go to an heir, or are
    deleted.

    Raises:
        AccountError: there is no such person or heir, or it is the last administrator.
        OSError: the uploads cannot be handed over; nothing is changed then.
    """
    if heir is not None:
        if heir == name:
            raise AccountError("heir-same", name=name)
        read_account(database, heir)
        copy_uploads(database, name, heir)
    with database.writing(durable=True) as connection:
        _require_person(connection, name)
        _require_other_admin(connection, name)
        if heir is not None:
            _require_person(connection, heir)
            hand_over(connection, name, heir)
        delete_belongings(connection, name)
        connection.execute("DELETE FROM person WHERE name = ?", (name,))
        record_in(connection, by, "remove-person", f"person {name}", heir=heir)
    delete_files(database, name)
    hand_over_models(additions_path(database.path), name, heir)


def note_request(database: Database, name: str, also: str = "", values: Sequence[Any] = ()) -> None:
    """Note that a person was here, and what else follows from that.

    Where the disk is full it is not known, which keeps nobody out.
    """
    with suppress(StoreError), database.writing(durable=True) as connection:
        connection.execute("UPDATE person SET seen = ? WHERE name = ?", (time.time(), name))
        if also:
            connection.execute(also, values)


def _delete_of_person(connection: Connection, name: str, *tables: str) -> None:
    for table in tables:
        connection.execute(f"DELETE FROM {table} WHERE person = ?", (name,))  # noqa: S608 (ours)


def _require_person(connection: Connection, name: str) -> Role:
    row = connection.execute("SELECT role FROM person WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise AccountError("no-person", name=name[:80])
    return row["role"]


def _require_other_admin(connection: Connection, name: str) -> None:
    """Raise `AccountError` if this is the only administrator who is let in."""
    admins = [
        row["name"]
        for row in connection.execute(
            "SELECT name FROM person WHERE role = 'admin' AND NOT disabled"
        )
    ]
    if admins == [name]:
        raise AccountError("last-admin", name=name)
