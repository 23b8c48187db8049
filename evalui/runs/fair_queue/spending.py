"""What the runs of each person spent at endpoints today (UTC); it stays when a run is deleted."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from sqlite3 import Connection

from evalui.runs.fair_queue.limits import UserLimits
from evalui.store.connection import Database


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens that endpoints counted, and US dollars at the prices of the catalog."""

    tokens: int = 0
    dollars: float = 0.0

    def used_up(self, limits: UserLimits) -> str:
        """In what the ceiling of a day is reached, "tokens" or "dollars"; "" if it is not."""
        ceilings = {
            "tokens": (limits.tokens_day, self.tokens),
            "dollars": (limits.dollars_day, self.dollars),
        }
        return next(
            (name for name, (most, n) in ceilings.items() if most is not None and n >= most), ""
        )


def add_spending(connection: Connection, run_id: str, spent: Spending, now: float) -> None:
    """Inside a transaction: note what a run spent, with its owner."""
    connection.execute(
        """
        INSERT INTO spending (owner, day, tokens, dollars)
        SELECT owner, ?, ?, ? FROM run WHERE id = ?
        ON CONFLICT (owner, day) DO UPDATE SET
            tokens = tokens + excluded.tokens, dollars = dollars + excluded.dollars
        """,
        (_day_of(now), spent.tokens, spent.dollars, run_id),
    )


def spent_today(connection: Connection, owner: str, now: float) -> Spending:
    """What an owner's runs spent on the day of `now`, in seconds since 1970."""
    row = connection.execute(
        "SELECT tokens, dollars FROM spending WHERE owner = ? AND day = ?", (owner, _day_of(now))
    ).fetchone()
    return Spending(*row) if row else Spending()


def spendings_today(database: Database, now: float) -> Mapping[str, Spending]:
    """What the runs of each owner spent on that day."""
    rows = database.rows(
        "SELECT owner, tokens, dollars FROM spending WHERE day = ? ORDER BY owner", (_day_of(now),)
    )
    return {row["owner"]: Spending(row["tokens"], row["dollars"]) for row in rows}


def _day_of(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).date().isoformat()
