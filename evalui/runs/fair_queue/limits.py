"""What one person may take of a shared box, by the usual limits of the server or their own.

What their runs spent at endpoints today (UTC) stays when a run is deleted.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from sqlite3 import Connection
from typing import ClassVar

from evalui.errors import SpecError
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_run


@dataclass(frozen=True, slots=True)
class UserLimits:
    """The most a person may have or spend; None is no limit.

    `queued` and `running` count runs. `stored_bytes` are those of uploads, of the answers in runs,
    of the pictures of their questions, and of pages behind links. `tokens_day` or `dollars_day` is
    the ceiling of a day: what endpoints counted, or what that cost, since 00:00 UTC.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}  # where they come as JSON

    queued: int | None = None
    running: int | None = None
    stored_bytes: int | None = None
    tokens_day: int | None = None
    dollars_day: float | None = None


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


def usual_limits(settings: Settings) -> UserLimits:
    """The limits of everybody who has none of their own: `EVALUI_LIMIT_*`."""
    return UserLimits(
        **{each.name: getattr(settings, f"limit_{each.name}") for each in fields(UserLimits)}
    )


def read_limits(connection: Connection, person: str, usual: UserLimits) -> UserLimits:
    """The limits of a person: their own where they have one, else the usual one."""
    row = connection.execute("SELECT limits FROM person WHERE name = ?", (person,)).fetchone()
    own: Mapping[str, int | float | None] = json.loads(row["limits"]) if row else {}
    known = {each.name for each in fields(UserLimits)}
    return replace(usual, **{name: value for name, value in own.items() if name in known})


def limits_of(database: Database, person: str, usual: UserLimits) -> UserLimits:
    """As `read_limits`, for a page."""
    with database.reading() as connection:
        return read_limits(connection, person, usual)


def write_limits(database: Database, person: str, limits: UserLimits, usual: UserLimits) -> None:
    """Give a person these limits; only what differs from the usual ones is stored.

    Raises:
        SpecError: a limit is below 0, or nobody has this name.
    """
    wanted, common = asdict(limits), asdict(usual)
    for name, value in wanted.items():
        if value is not None and not value >= 0:
            raise SpecError("limit-negative", name=name, value=str(value))
    own = {name: value for name, value in wanted.items() if value != common[name]}
    with database.writing(durable=True) as connection:
        changed = connection.execute(
            "UPDATE person SET limits = ? WHERE name = ?", (json.dumps(own), person)
        )
        if not changed.rowcount:
            raise SpecError("limit-unknown-person", person=person)
        connection.execute("UPDATE clock SET revision = revision + 1")


def stored_bytes(connection: Connection, owner: str) -> int:
    """Bytes of an owner's uploads, of the answers in their runs, of the pictures of their datasets,
    and of their frozen pages.
    """
    row = connection.execute(
        "SELECT (SELECT coalesce(sum(bytes), 0) FROM upload WHERE owner = :owner)"
        " + (SELECT coalesce(sum(length(pages) + length(csv)), 0) FROM share WHERE owner = :owner)"
        " + (SELECT coalesce(sum(c.bytes), 0) FROM cell c JOIN run r ON r.id = c.run"
        " WHERE r.owner = :owner)"
        " + (SELECT coalesce(sum(length(body) + length(small)), 0) FROM picture WHERE sha256 IN"
        " (SELECT p.picture FROM dataset_picture p JOIN dataset d ON d.id = p.dataset"
        " WHERE d.owner = :owner)) AS n",
        {"owner": owner},
    ).fetchone()
    return row["n"]


def check_may_queue(connection: Connection, owner: str, usual: UserLimits) -> None:
    """Check that an owner may put one more run into the queue.

    It holds as long as nobody else writes: within one transaction, or as a first answer.

    Raises:
        SpecError: they have as many waiting, or store as much, as they may.
    """
    limits = read_limits(connection, owner, usual)
    waiting = connection.execute(
        "SELECT count(*) AS n FROM run WHERE owner = ? AND state = 'queued'", (owner,)
    ).fetchone()["n"]
    stored = stored_bytes(connection, owner)
    if limits.queued is not None and waiting >= limits.queued:
        raise SpecError("limit-queued", n=waiting, limit=limits.queued)
    check_may_store(stored, limits)


def resume_run(database: Database, run_id: str, usual: UserLimits) -> None:
    """Queue a failed or cancelled run again, within the limits of its owner.

    Raises:
        SpecError: see `check_may_queue`.
        UnknownRun: there is no run with this id.
    """
    owner = read_run(database, run_id).owner
    queue.resume(database, run_id, admit=partial(check_may_queue, owner=owner, usual=usual))


def check_may_store(stored: int, limits: UserLimits, more: int = 0) -> None:
    """Check that `more` bytes may be stored beside those stored; raises `SpecError`."""
    limit = limits.stored_bytes
    if limit is not None and (stored >= limit or stored + more > limit):
        raise SpecError("limit-stored", stored=f"{stored / 1e9:.1f}", limit=f"{limit / 1e9:.1f}")


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
