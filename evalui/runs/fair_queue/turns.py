"""Which queued run comes next: turns go round between people, and limits make runs wait."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from evalui.messages import sentence
from evalui.runs.fair_queue.decisions import PRIORITY_PREFIX, queue_state
from evalui.runs.fair_queue.limits import UserLimits, read_limits
from evalui.runs.fair_queue.spending import day_of, monday_of, spent_since

MAX_BESIDE = 8  # runs that only ask endpoints, in one worker at a time
MAX_BESIDE_OF_OWNER = 4  # of them, so that nobody waits until all of another's have ended

# Whether a model of the run has still to compute where its worker is.
COMPUTES_HERE_SQL = (
    "EXISTS (SELECT 1 FROM cell c WHERE c.run = r.id AND c.computes_here"
    " AND c.state IN ('waiting', 'running'))"
)
_WAITING_SQL = f"""
    SELECT r.id, r.owner, r.priority + coalesce(CAST(d.value AS INTEGER), 0) AS priority,
        r.started IS NOT NULL AND r.started >= r.queued AS begun,
        coalesce(t.taken, 0.0) AS taken, r.queued, r.rowid AS number,
        {COMPUTES_HERE_SQL} AS computes_here, r.losses
    FROM run r LEFT JOIN turn t ON t.owner = r.owner
    LEFT JOIN decision d ON d.name = :prefix || r.owner
    WHERE r.state = 'queued'
"""  # noqa: S608 (a constant)


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A queued run. `priority` is its own and its owner's together, `taken` its owner's last turn.

    `begun`: a worker had it and gave it back, so its turn is not over. Times are seconds since
    1970, 0 for an owner who had no turn yet. `computes_here`: one of its models does, and it needs
    the processor of a worker. `losses` counts workers that died at it without progress.
    """

    id: str
    owner: str
    priority: int
    begun: bool
    taken: float
    queued: float
    number: int
    computes_here: bool = True
    losses: int = 0

    def order(self, taken: float) -> tuple[float, ...]:
        """What sorts it among the others, when its owner's last turn was at `taken`."""
        return (-self.priority, not self.begun, taken, self.queued, self.number)


def waiting_runs(connection: Connection) -> list[WaitingRun]:
    """The queued runs of all owners, in no order."""
    rows = connection.execute(_WAITING_SQL, {"prefix": PRIORITY_PREFIX})
    return [WaitingRun(**{name: row[name] for name in WaitingRun.__slots__}) for row in rows]


def take_turn(
    connection: Connection,
    usual: UserLimits,
    now: float,
    *,
    may_start: Callable[[WaitingRun], bool] = lambda _: True,
    on_taken: Callable[[WaitingRun], None] = lambda _: None,
) -> str:
    """Inside a transaction: the id of the run whose turn it is, "" if none may be taken.

    A run that may not start now lets the next ones go first, and keeps its turn; but one that lost
    its worker and has to work alone lets none, or it might wait for ever. The turn of its owner is
    noted, and `on_taken` called with the run. `now` is in seconds since 1970.
    """
    if queue_state(connection) != "open":
        return ""
    held: dict[str, bool] = {}
    for run in sorted(waiting_runs(connection), key=lambda run: run.order(run.taken)):
        if run.owner not in held:
            held[run.owner] = bool(hold_reason(connection, run.owner, usual, now))
        if held[run.owner]:
            continue
        if may_start(run):
            # Later than every other turn, also when the clock of the machine was set back.
            connection.execute(
                "INSERT OR REPLACE INTO turn"
                " SELECT ?, max(?, coalesce(max(taken), 0.0) + 1e-3) FROM turn",
                (run.owner, now),
            )
            on_taken(run)
            return run.id
        if run.losses:
            return ""
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
