"""Notes to people that runs of theirs have ended: seen in the browser, and sent on.

A trigger of the store writes them in the transaction that ends the run.
"""

import time
from collections.abc import Collection
from dataclasses import dataclass
from sqlite3 import Row
from typing import Literal

from evalui.runs.database.connection import Database

_PAUSES_S = (60.0, 300.0, 1800.0)  # seconds before a note is sent again
_TRIES = len(_PAUSES_S) + 1
_COLUMNS = "id, person, run, name, state, tries, mailed, posted"


@dataclass(frozen=True, slots=True)
class Notice:
    """That a run is "done" or has "failed".

    `tries` began to send it; one has `mailed` it, and one has `posted` it to a webhook.
    """

    id: int
    person: str
    run: str
    name: str
    state: str
    tries: int = 0
    mailed: bool = False
    posted: bool = False

    @property
    def is_last_try(self) -> bool:
        """Whether it is not sent again."""
        return self.tries >= _TRIES


def read_unseen(database: Database, person: str) -> tuple[Notice, ...]:
    """What a person has not seen yet, the newest first."""
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM notice"  # noqa: S608 (ours)
        " WHERE person = ? AND seen IS NULL ORDER BY id DESC",
        (person,),
    )
    return tuple(map(_notice, rows))


def mark_seen(database: Database, notices: Collection[Notice]) -> None:
    """Show these no more."""
    with database.writing() as connection:
        connection.executemany(
            "UPDATE notice SET seen = ? WHERE id = ?",
            [(time.time(), notice.id) for notice in notices],
        )


def claim_due(database: Database) -> Notice | None:
    """The next note to send, which no other server takes now; None if there is none.

    Notes to people who want none sent are passed over for good.
    """
    now = time.time()
    if not database.row("SELECT 1 FROM notice WHERE sent IS NULL AND due <= ? LIMIT 1", (now,)):
        return None  # an idle server only reads
    with database.writing() as connection:
        connection.execute(
            "UPDATE notice SET sent = ? WHERE sent IS NULL AND person NOT IN (SELECT name"
            " FROM person WHERE NOT disabled AND (coalesce(preferences ->> 'webhook', '') != ''"
            " OR coalesce(preferences ->> 'mail', '') != ''))",
            (now,),
        )
        row: Row | None = connection.execute(
            "SELECT id, tries FROM notice WHERE sent IS NULL AND due <= ? ORDER BY id LIMIT 1",
            (now,),
        ).fetchone()
        if row is None:
            return None
        pause = _PAUSES_S[min(int(row["tries"]), len(_PAUSES_S) - 1)]
        taken: Row = connection.execute(
            "UPDATE notice SET tries = tries + 1, due = ? WHERE id = ?"  # noqa: S608 (ours)
            f" RETURNING {_COLUMNS}",
            (now + pause, int(row["id"])),
        ).fetchone()
    return _notice(taken)


def mark_arrived(database: Database, notice: Notice, way: Literal["mailed", "posted"]) -> None:
    """Send it no more this way."""
    with database.writing() as connection:
        connection.execute(f"UPDATE notice SET {way} = 1 WHERE id = ?", (notice.id,))  # noqa: S608


def mark_sent(database: Database, notice: Notice) -> None:
    """Send it no more."""
    with database.writing() as connection:
        connection.execute("UPDATE notice SET sent = ? WHERE id = ?", (time.time(), notice.id))


def _notice(row: Row) -> Notice:
    return Notice(*row[:6], mailed=bool(row["mailed"]), posted=bool(row["posted"]))
