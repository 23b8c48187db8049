"""The same work done by a peer and by us, in turn."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.clock import Timing, best, median, timed
from benchmarks.environments import PeerMissing
from benchmarks.peer import Missing, Peer
from benchmarks.rows import Goal, Row


@dataclass(frozen=True, slots=True)
class Session:
    """How this run measures.

    Nobody does another round of a row that would then have taken more than `patience` seconds.
    `peers` is the folder of ready environments, None to make them. `sizes` are shares of the
    full size of each row.
    """

    rounds: int
    patience: float
    sizes: tuple[float, ...]
    peers: Path | None

    def scaled(self, full: int) -> list[int]:
        """The sizes of a row whose goal is set for `full` units."""
        return sorted({max(2, round(full * share)) for share in self.sizes})


@dataclass(frozen=True, slots=True)
class Compared:
    """What beside the seconds is told of two results; `equal` is False where they must agree."""

    told: str
    equal: bool = True


@dataclass(frozen=True, slots=True)
class Contest:
    """One row to be: `job` is the peer's name for the work, `ours` one round of our own.

    `compare` is given the peer's result and ours.
    """

    group: str
    work: str
    count: int
    unit: str
    job: str
    ours: Callable[[], object]
    compare: Callable[[Any, Any], Compared]
    goal: Goal | None = None


def meet(contest: Contest, peer: Peer | Missing, session: Session) -> Row:
    """Peer, we, peer, we: the medians of both."""
    theirs: list[Timing] = []
    ours: list[Timing] = []
    result: Any = None
    found: Any = None
    name = peer.name if isinstance(peer, Peer) else f"{peer.name}: not run, {peer.reason}"
    for _ in range(session.rounds):
        if isinstance(peer, Peer) and _goes_on(theirs, session.patience):
            try:
                timing, result = peer.round(contest.job)
                theirs.append(timing)
            except PeerMissing as error:
                name, peer = f"{name}: failed, {error}", Missing(name, str(error))
        if _goes_on(ours, session.patience):
            timing, found = timed(contest.ours)
            ours.append(timing)
    compared = contest.compare(result, found) if theirs else Compared("")
    return _announced(
        Row(
            group=contest.group,
            work=contest.work,
            count=contest.count,
            unit=contest.unit,
            ours=median(ours),
            peer=name,
            built_on=peer.built_on if isinstance(peer, Peer) else (),
            theirs=median(theirs) if theirs else None,
            goal=contest.goal,
            found=compared.told,
            faulty=not compared.equal,
            rounds=(len(theirs), len(ours)),
        )
    )


def alone(
    group: str,
    work: str,
    count: int,
    unit: str,
    action: Callable[[], object],
    session: Session,
    *,
    goal: Goal | None = None,
    found: str = "",
) -> Row:
    """A row without a peer: the median, or for a goal in seconds of the wall the best."""
    timings: list[Timing] = []
    while len(timings) < session.rounds and _goes_on(timings, session.patience):
        timings.append(timed(action)[0])
    kept = best(timings) if goal and goal.kind == "wall" else median(timings)
    return _announced(
        Row(group, work, count, unit, kept, goal=goal, found=found, rounds=(0, len(timings)))
    )


def _goes_on(spent: list[Timing], patience: float) -> bool:
    total = sum(timing.wall for timing in spent)
    return not spent or total + spent[-1].wall <= patience


def _announced(row: Row) -> Row:
    ratio = "" if row.ratio is None else f", {row.ratio:.1f}x"
    print(f"{row.work}, {row.count:,} {row.unit}: {row.ours.cpu:.3f} s{ratio}", file=sys.stderr)
    return row
