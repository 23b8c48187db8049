"""What administrators see of a shared box: people and what they use, jobs, failures, bytes."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.accounts.people import Account, read_accounts
from evalui.runs.database.codec import decode_sentence
from evalui.runs.database.connection import Database
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_run
from evalui.runs.fair_queue.limits import UserLimits, limits_of, stored_bytes
from evalui.runs.fair_queue.spending import Spending, spendings_today

_MOST = 20  # failures, and runs by size


@dataclass(frozen=True, slots=True)
class PersonUse:
    """An account with what it has at work, waiting and stored, and may have.

    `running` are names of runs, `stored` is in bytes, `today` counts from 00:00 UTC on.
    """

    account: Account
    limits: UserLimits
    running: Sequence[str]
    waiting: int
    today: Spending
    stored: int

    @property
    def is_new(self) -> bool:
        """Whether nobody has come by this name yet."""
        return self.account.seen is None and not self.account.has_password

    @property
    def used_up(self) -> str:
        """In what the ceiling of the day is reached, "tokens" or "dollars"; "" if it is not."""
        return self.today.used_up(self.limits)


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that waits or is at work; a higher priority is taken earlier, 0 is usual."""

    row: RunRow
    priority: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A run or a cell of one that failed, `model` is "" of a whole run; `at` since 1970."""

    run: str
    run_name: str
    owner: str
    model: str
    error: str
    at: float


def read_people(database: Database, usual: UserLimits) -> list[PersonUse]:
    """Everybody with an account, by name."""
    today = spendings_today(database, time.time())
    live = database.rows(
        "SELECT owner, name, state FROM run WHERE state IN ('queued', 'running') ORDER BY started"
    )
    people: list[PersonUse] = []
    for account in read_accounts(database):
        own = [row for row in live if row["owner"] == account.name]
        with database.reading() as connection:
            stored = stored_bytes(connection, account.name)
        people.append(
            PersonUse(
                account,
                limits_of(database, account.name, usual),
                [row["name"] for row in own if row["state"] == "running"],
                sum(row["state"] == "queued" for row in own),
                today.get(account.name, Spending()),
                stored,
            )
        )
    return people


def read_live_runs(database: Database) -> list[LiveRun]:
    """The runs of all that are at work, then those that wait, the oldest first."""
    rows = database.rows(
        "SELECT id, priority FROM run WHERE state IN ('queued', 'running')"
        " ORDER BY state DESC, queued, rowid"
    )
    return [LiveRun(read_run(database, row["id"]), row["priority"]) for row in rows]


def read_failures(database: Database) -> list[Failure]:
    """The newest failed runs and cells."""
    rows = database.rows(
        """
        SELECT id, name, owner, '' AS model, error, finished AS at FROM run WHERE state = 'failed'
        UNION ALL
        SELECT r.id, r.name, r.owner, c.model, c.error, c.finished FROM cell c
        JOIN run r ON r.id = c.run WHERE c.state = 'failed'
        ORDER BY at DESC LIMIT ?
        """,
        (_MOST,),
    )
    return [
        Failure(*row[:4], error=decode_sentence(row["error"]), at=row["at"] or 0.0) for row in rows
    ]


def read_upload_bytes(database: Database) -> Mapping[str, int]:
    """Bytes of uploads by owner."""
    rows = database.rows("SELECT owner, sum(bytes) AS n FROM upload GROUP BY owner")
    return {row["owner"]: row["n"] for row in rows}


def read_largest_runs(database: Database) -> list[tuple[str, str, str, int]]:
    """Id, name, owner and bytes of the runs with the most bytes of answers."""
    rows = database.rows(
        "SELECT r.id, r.name, r.owner, sum(c.bytes) AS n FROM run r JOIN cell c ON c.run = r.id"
        " GROUP BY r.id HAVING n > 0 ORDER BY n DESC LIMIT ?",
        (_MOST,),
    )
    return [(row["id"], row["name"], row["owner"], row["n"]) for row in rows]


def read_signed_in(database: Database) -> list[str]:
    """The names of all who have a session."""
    rows = database.rows("SELECT DISTINCT person FROM session ORDER BY person")
    return [row["person"] for row in rows]


def count_sessions(database: Database) -> tuple[int, int]:
    """How many browsers are signed in now, and of how many people."""
    row = database.row(
        "SELECT count(*) AS n, count(DISTINCT person) AS people FROM session"
        " WHERE expires > :now AND seen + idle > :now",
        {"now": time.time()},
    )
    return (row["n"], row["people"]) if row else (0, 0)
