"""The work that comes before a new run."""

from dataclasses import dataclass

from evalui.access import Person
from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_runs
from evalui.runs.database.throughput import remaining_seconds
from evalui.ui.services.run_labels import LIVE_STATES


@dataclass(frozen=True, slots=True)
class QueueAhead:
    """How many runs wait or run, and the seconds they will still take; None if that is unknown."""

    runs: int
    seconds: float | None


def queue_ahead(database: Database, person: Person) -> QueueAhead:
    """The runs of a person that would come before a new one."""
    live = [row for row in read_runs(database, person) if row.state in LIVE_STATES]
    seconds = [remaining_seconds(database, row.id) for row in live]
    timed = [each for each in seconds if each is not None]
    return QueueAhead(len(live), sum(timed) if len(timed) == len(live) else None)
