"""What administrators decide of the queue while the server runs; it holds until it is changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Literal

from evalui.errors import UnknownRun
from evalui.store.connection import Database
from evalui.store.queue import bump_revision

QueueState = Literal["open", "paused", "draining"]

_STATE = "queue"
PRIORITY_PREFIX = "priority:"  # before the name of a person


@dataclass(frozen=True, slots=True)
class QueueDecisions:
    """Whether runs are taken, and how much sooner those of a person are; 0 is usual.

    "paused": nothing new is taken, what runs goes on to its end. "draining": what runs ends its
    cell in hand, then waits again.
    """

    state: QueueState = "open"
    priorities: Mapping[str, int] = field(default_factory=dict[str, int])


def read_decisions(database: Database) -> QueueDecisions:
    """What holds now."""
    rows = database.rows("SELECT name, value FROM decision")
    values = {row["name"]: json.loads(row["value"]) for row in rows}
    return QueueDecisions(
        values.get(_STATE, "open"),
        {
            name.removeprefix(PRIORITY_PREFIX): value
            for name, value in values.items()
            if name.startswith(PRIORITY_PREFIX)
        },
    )


def queue_state(connection: Connection) -> QueueState:
    """Whether runs are taken."""
    row = connection.execute("SELECT value FROM decision WHERE name = ?", (_STATE,)).fetchone()
    return json.loads(row["value"]) if row else "open"


def set_queue_state(database: Database, state: QueueState) -> None:
    """Take runs ("open"), or take none, see `QueueDecisions`."""
    _decide(database, _STATE, state)


def set_person_priority(database: Database, person: str, priority: int) -> None:
    """Take all runs of a person before those with a lower priority; it adds to a run's own."""
    _decide(database, PRIORITY_PREFIX + person, priority)


def set_run_priority(database: Database, run_id: str, priority: int) -> None:
    """Take a run before those with a lower priority; raises `UnknownRun` if there is none."""
    with database.writing() as connection:
        changed = connection.execute("UPDATE run SET priority = ? WHERE id = ?", (priority, run_id))
        if not changed.rowcount:
            raise UnknownRun("no-run", run=run_id)
        bump_revision(connection, run_id)


def _decide(database: Database, name: str, value: str | int) -> None:
    with database.writing() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO decision VALUES (?, ?)", (name, json.dumps(value))
        )
        connection.execute("UPDATE clock SET revision = revision + 1")
