"""Which queued run comes next: turns go round between people, and limits make runs wait."""

from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from evalui.messages import sentence
from evalui.runs.fair_queue.decisions import PRIORITY_PREFIX, queue_state
from evalui.runs.fair_queue.limits import UserLimits, read_limits
from evalui.runs.fair_queue.spending import day_of, monday_of, spent_since

_WAITING_SQL = """
    SELECT r.id, r.owner, r.priority + coalesce(CAST(d.value AS INTEGER), 0) AS priority,
        r.started IS NOT NULL AND r.started >= r.queued AS begun,
        coalesce(t.taken, 0.0) AS taken, r.queued, r.rowid AS number
    FROM run r LEFT JOIN turn t ON t.owner = r.owner
    LEFT JOIN decision d ON d.name = :prefix || r.owner
    WHERE r.state = 'queued'
"""


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A queued run. `priority` is its own and its owner's together, `taken` its owner's last turn.

    `begun`: a worker had it and gave it back, so its turn is not over. Times are seconds since
    1970, 0 for an owner who had no turn yet.
    """

    id: str
    owner: str
    priority: int
    begun: bool
    taken: float
    queued: float
    number: int

    def order(self, taken: float) -> tuple[float, ...]:
        """What sorts it among the others, when its owner's last turn was at `taken`."""
        return (-self.priority, not self.begun, taken, self.queued, self.number)


def waiting_runs(connection: Connection) -> list[WaitingRun]:
    """The queued runs of all owners, in no order."""
    rows = connection.execute(_WAITING_SQL, {"prefix": PRIORITY_PREFIX})
    return [WaitingRun(**{name: row[name] for name in WaitingRun.__slots__}) for row in rows]


def take_turn(connection: Connection, usual: UserLimits, now: float) -> str:
    """Inside a transaction: the id of the run whose turn it is, "" if none may be taken.

    The turn of its owner is noted. `now` is in seconds since 1970.
    """
    if queue_state(connection) != "open":
        return ""
    held: dict[str, bool] = {}
    for run in sorted(waiting_runs(connection), key=lambda run: run.order(run.taken)):
        if run.owner not in held:
            held[run.owner] = bool(hold_reason(connection, run.owner, usual, now))
        if not held[run.owner]:
            # Later than every other turn, also when the clock of the machine was set back.
            connection.execute(
                "INSERT OR REPLACE INTO turn"
                " SELECT ?, max(?, coalesce(max(taken), 0.0) + 1e-3) FROM turn",
                (run.owner, now),
            )
            return run.id
    return ""


def hold_reason(connection: Connection, owner: str, usual: UserLimits, now: float) -> str:
    """Why no further run of an owner may begin now, in a sentence; "" if one may."""
    limits = read_limits(connection, owner, usual)
    if limits == UserLimits():
        return ""
    if spent_up := spent_reason(connection, owner, limits, now):
        return spent_up
    if limits.running is None:
        return ""
    running = running_by_owner(connection).get(owner, 0)
    return sentence("held.running", n=limits.running) if running >= limits.running else ""


def spent_reason(connection: Connection, owner: str, limits: UserLimits, now: float) -> str:
    """Which of an owner's budgets is used up, in a sentence; "" if none is."""
    week = spent_since(connection, owner, monday_of(now))
    today = spent_since(connection, owner, day_of(now))
    used = (
        ("held.gpu", limits.gpu_hours_week, week.device_s / 3600),
        ("held.tokens", limits.tokens_day, today.tokens),
        ("held.dollars", limits.dollars_day, today.dollars),
    )
    return next(
        (sentence(key) for key, limit, spent in used if limit is not None and spent >= limit), ""
    )


def running_by_owner(connection: Connection) -> Mapping[str, int]:
    """How many runs of each owner are at work."""
    rows = connection.execute(
        "SELECT owner, count(*) AS n FROM run WHERE state = 'running' GROUP BY 1"
    )
    return {row["owner"]: row["n"] for row in rows}
