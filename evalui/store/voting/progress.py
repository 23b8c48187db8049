"""How far each of several people is with the pairs of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from evalui.store.voting.assignment import Assignment
from evalui.store.voting.plans import count_pairs
from evalui.store.voting.votes import Vote


@dataclass(frozen=True, slots=True)
class VoterProgress:
    """One person's part: `done` of the `assigned` pairs, None without a plan that names them.

    `done` counts skipped pairs too. `seconds` is the median time of a vote and `last` when the last
    was cast, in seconds since 1970; None where nothing was measured or cast.
    """

    person: str
    assigned: int | None
    done: int
    skipped: int
    seconds: float | None
    last: float | None


def voter_progress(
    votes: Sequence[Vote], people: Sequence[str], assigned: Assignment | None
) -> tuple[VoterProgress, ...]:
    """The named people in their order, then all others who voted."""
    cast: dict[str, list[Vote]] = {name: [] for name in people}
    for vote in votes:
        cast.setdefault(vote.by, []).append(vote)
    return tuple(
        _progress(name, theirs, assigned if name in people else None)
        for name, theirs in cast.items()
    )


def _progress(person: str, votes: Sequence[Vote], assigned: Assignment | None) -> VoterProgress:
    theirs = [
        vote for vote in votes if assigned is None or person in assigned.get(vote.pair_key, ())
    ]
    timed = [vote.seconds for vote in theirs if vote.seconds is not None]
    return VoterProgress(
        person,
        None if assigned is None else count_pairs(assigned, person),
        len(theirs),
        sum(vote.choice == "skip" for vote in theirs),
        median(timed) if timed else None,
        max((vote.created for vote in votes), default=None),
    )
