"""Pairs on which people differ, and what was decided on them."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evalui.errors import StoreError
from evalui.scoring.arena.battles import MIRRORED
from evalui.store.connection import Database
from evalui.store.queue import bump_revision
from evalui.store.voting.ballots import VotingPairs, sides_for
from evalui.store.voting.votes import Vote, read_votes
from evalui.types import Outcome


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What `by` decided on a pair, seen from its sides; `created` in seconds since 1970."""

    by: str
    left: str
    right: str
    outcome: Outcome
    comment: str
    created: float


@dataclass(frozen=True, slots=True)
class ContestedPair:
    """A pair on which the votes differ; `decision` is None as long as nobody decided it."""

    pair_key: str
    votes: tuple[Vote, ...]
    decision: Adjudication | None


def contested_pairs(
    database: Database, run_id: str, votes: Sequence[Vote] | None = None
) -> tuple[ContestedPair, ...]:
    """The pairs on which people differ, and those that are decided; first voted on first."""
    cast: dict[str, list[Vote]] = defaultdict(list)
    for vote in read_votes(database, run_id) if votes is None else votes:
        if vote.choice != "skip":
            cast[vote.pair_key].append(vote)
    decided = _read_adjudications(database, run_id)
    return tuple(
        ContestedPair(key, tuple(each), decided.get(key))
        for key, each in cast.items()
        if key in decided or len({outcome_from(each[0].left, vote) for vote in each}) > 1
    )


def outcome_from(left: str, made: Vote | Adjudication) -> Outcome | None:
    """What a vote or decision says where the model `left` stands on the left; None if skipped."""
    outcome = made.outcome if isinstance(made, Adjudication) else made.choice
    if outcome == "skip":
        return None
    return outcome if made.left == left else MIRRORED[outcome]


def adjudicate(
    database: Database,
    run_id: str,
    person: str,
    pair_key: str,
    outcome: Outcome,
    *,
    comment: str,
    pairs: VotingPairs,
) -> None:
    """Decide a pair on which people differ, sides as this person was shown them.

    A second decision replaces the first.

    Raises:
        StoreError: the pair is gone, or nobody differs on it.
    """
    if pair_key not in pairs:
        raise StoreError("pair-gone")
    if all(one.pair_key != pair_key for one in contested_pairs(database, run_id)):
        raise StoreError("pair-agreed")
    at = sides_for(pair_key, pairs[pair_key], person)
    with database.writing(durable=True) as connection:
        connection.execute(
            "INSERT OR REPLACE INTO adjudication (run, pair, person, shown_left, shown_right,"
            " outcome, comment, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (run_id, pair_key, person, at.left, at.right, outcome, comment.strip(), time.time()),
        )
        bump_revision(connection, run_id)


def _read_adjudications(database: Database, run_id: str) -> dict[str, Adjudication]:
    rows = database.rows("SELECT * FROM adjudication WHERE run = ?", (run_id,))
    return {
        row["pair"]: Adjudication(
            row["person"],
            row["shown_left"],
            row["shown_right"],
            row["outcome"],
            row["comment"],
            row["created"],
        )
        for row in rows
    }
