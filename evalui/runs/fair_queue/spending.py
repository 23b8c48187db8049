"""What the runs of each person took, by day (UTC); it stays when a run is deleted.

Models on endpoints take tokens and dollars and no time of a device; models here the reverse.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from sqlite3 import Connection

from evalui.runs.database.connection import Database

_SUMS = (
    "coalesce(sum(device_s), 0.0) AS device_s, coalesce(sum(tokens), 0) AS tokens,"
    " coalesce(sum(dollars), 0.0) AS dollars"
)


@dataclass(frozen=True, slots=True)
class Spending:
    """Seconds in which models held a device, tokens that endpoints counted, and US dollars."""

    device_s: float = 0.0
    tokens: int = 0
    dollars: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.device_s or self.tokens or self.dollars)


def day_of(now: float) -> str:
    """The day (UTC) of a time in seconds since 1970, as 2026-11-22."""
    return _date(now).date().isoformat()


def monday_of(now: float) -> str:
    """The Monday (UTC) with which the week of a time begins, as 2026-11-16."""
    moment = _date(now)
    return (moment - timedelta(days=moment.weekday())).date().isoformat()


def add_spending(connection: Connection, run_id: str, spent: Spending, now: float) -> None:
    """Inside a transaction: note what a run took, with its owner."""
    if not spent:
        return
    connection.execute(
        """
        INSERT INTO spending (owner, day, device_s, tokens, dollars)
        SELECT owner, ?, ?, ?, ? FROM run WHERE id = ?
        ON CONFLICT (owner, day) DO UPDATE SET device_s = device_s + excluded.device_s,
            tokens = tokens + excluded.tokens, dollars = dollars + excluded.dollars
        """,
        (day_of(now), spent.device_s, spent.tokens, spent.dollars, run_id),
    )


def spent_since(connection: Connection, owner: str, day: str) -> Spending:
    """What an owner's runs took on a day and after it."""
    row = connection.execute(
        f"SELECT {_SUMS} FROM spending WHERE owner = ? AND day >= ?",  # noqa: S608 (a constant)
        (owner, day),
    ).fetchone()
    return Spending(row["device_s"], row["tokens"], row["dollars"])


def spendings_since(database: Database, day: str) -> Mapping[str, Spending]:
    """What the runs of each owner took on a day and after it."""
    rows = database.rows(
        f"SELECT owner, {_SUMS} FROM spending WHERE day >= ? GROUP BY owner ORDER BY owner",  # noqa: S608 (a constant)
        (day,),
    )
    return {row["owner"]: Spending(row["device_s"], row["tokens"], row["dollars"]) for row in rows}


def _date(now: float) -> datetime:
    return datetime.fromtimestamp(now, UTC)
