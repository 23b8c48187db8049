"""Who changed what on a shared box, and when: written with each change, and never changed."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from evalui.access import Person
from evalui.store.connection import Database

AuditValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One deed, `at` in seconds since 1970; `thing` is a kind and a name, such as "person ann"."""

    id: int
    at: float
    person: str
    deed: str
    thing: str
    detail: Mapping[str, AuditValue]


def record(database: Database, person: Person, deed: str, thing: str, **detail: AuditValue) -> None:
    """Write down what a person did; `detail` holds no secret.

    Raises:
        StoreError: it cannot be written.
    """
    with database.writing(durable=True) as connection:
        record_in(connection, person, deed, thing, **detail)


def record_in(
    connection: Connection, person: Person, deed: str, thing: str, **detail: AuditValue
) -> None:
    """Inside the transaction of the deed: both happen, or neither."""
    connection.execute(
        "INSERT INTO audit (at, person, deed, thing, detail) VALUES (?, ?, ?, ?, ?)",
        (time.time(), person.name, deed, thing, json.dumps(detail, ensure_ascii=False)),
    )


def read_audit(database: Database, limit: int = 200, before: int = 0) -> tuple[AuditEntry, ...]:
    """The newest entries first, at most `limit`; with `before` those with a smaller id."""
    rows = database.rows(
        "SELECT * FROM audit WHERE :before = 0 OR id < :before ORDER BY id DESC LIMIT :limit",
        {"before": before, "limit": limit},
    )
    return tuple(AuditEntry(**{**dict(row), "detail": json.loads(row["detail"])}) for row in rows)
