"""A vote of a person, with what is known of it beside its outcome."""

from dataclasses import dataclass

from evalui.types import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class CastVote(Verdict):
    """The verdict of a person, `created` in seconds since 1970, after `seconds` if measured.

    `assigned`: the pair was theirs to vote on. `adjudicated` is the outcome that was decided where
    people differed, seen from the sides of this vote; None if none was.
    """

    created: float = 0.0
    seconds: float | None = None
    assigned: bool = False
    adjudicated: Outcome | None = None
