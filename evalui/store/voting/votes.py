"""Votes of annotators on pairs of answers, stored as they were cast.

A vote names the sides as they were shown. A skipped pair is done with, but says nothing.
"""

import statistics
import time
from dataclasses import dataclass, replace
from sqlite3 import Connection, Row
from typing import Literal

from evalui.errors import StoreError, UnknownRun
from evalui.scoring.arena.battles import MIRRORED
from evalui.scoring.arena.cast_votes import CastVote
from evalui.store.connection import Database
from evalui.store.queue import bump_revision
from evalui.store.runs import read_cells
from evalui.store.voting import ballots
from evalui.store.voting.ballots import Ballot, VotingPairs
from evalui.store.voting.plans import is_assigned
from evalui.types import Duel, Outcome

VoteChoice = Outcome | Literal["skip"]
MAX_COMMENT = 10_000  # characters of what a person writes about a pair

VOTE_VALUES = (  # as `vote_columns` gives them
    "INTO vote (run, owner, pair, dataset, sample, shown_left, shown_right, outcome, comment,"
    " seconds, created, assigned, imported) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# Whether somebody votes no more: they have ended, or the vote was closed.
_ENDED_SQL = (
    "SELECT 1 FROM voter WHERE run = ?1 AND owner = ?2"
    " UNION ALL SELECT 1 FROM closed_vote WHERE run = ?1"
)
# Replaced rather than updated, so that the latest vote has the highest id.
_REPLACE_VOTE_SQL = "INSERT OR REPLACE " + VOTE_VALUES


@dataclass(frozen=True, slots=True)
class VoteInput:
    """The vote of one annotator on the pair named by `pair_key`, as they were shown it."""

    pair_key: str
    choice: VoteChoice
    comment: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    """One annotator's vote on one pair: `left` was shown as A, `right` as B.

    `dataset` is its key. `seconds` were spent on it, None if it was not measured. `assigned` and
    `adjudicated` as in `CastVote`. `imported`: it came with a file.
    """

    by: str
    dataset: str
    sample_id: str
    left: str
    right: str
    choice: VoteChoice
    comment: str = ""
    seconds: float | None = None
    created: float = 0.0
    pair_key: str = ""
    assigned: bool = False
    adjudicated: Outcome | None = None
    imported: bool = False

    @property
    def verdict(self) -> CastVote | None:
        """The vote as a verdict, its comment as the reply; None if the pair was skipped."""
        if self.choice == "skip":
            return None
        duel = Duel(self.sample_id, self.left, self.right)
        return CastVote(
            duel,
            self.choice,
            self.by,
            rule="vote",
            reply=self.comment,
            created=self.created,
            seconds=self.seconds,
            assigned=self.assigned,
            adjudicated=self.adjudicated,
        )


@dataclass(frozen=True, slots=True)
class VotingProgress:
    """How far one annotator and all together are with the pairs of a run.

    `own_votes` counts votes and `skipped` pairs; `remaining` is what this person has still to see.
    `seconds` is the median time of an own vote, None before the first. `covered` pairs have at
    least one vote, `votes` counts them all and `people` who cast them. `last` is the
    latest own.
    """

    pairs: int
    own_votes: int
    skipped: int
    remaining: int
    seconds: float | None
    covered: int
    votes: int
    people: int
    finished: bool
    last: Vote | None


def next_ballots(
    database: Database,
    run_id: str,
    person: str,
    *,
    pairs: VotingPairs,
    preferred: str = "",
    count: int = 2,
) -> tuple[Ballot, ...]:
    """The next pairs of one annotator, the preferred one first if it is still open to them."""
    if has_finished(database, run_id, person):
        return ()
    tokens = _open_pairs(database, run_id, person, pairs)
    if preferred in tokens:
        tokens = (preferred, *(name for name in tokens if name != preferred))
    return tuple(
        ballots.ballot(
            database,
            run_id,
            name,
            pair=pairs[name],
            sides=ballots.sides_for(name, pairs[name], person),
        )
        for name in tokens[:count]
    )


def cast_vote(
    database: Database, run_id: str, person: str, mark: VoteInput, *, pairs: VotingPairs
) -> None:
    """Keep a vote on a pair, sides as this person was shown them; a second one replaces it.

    `pairs` are those that this person votes on, see `VoterPairs`.

    Raises:
        StoreError: the person has seen the names, or the pair is gone.
    """
    pair = pairs.get(mark.pair_key)
    if pair is None:
        raise StoreError("pair-gone")
    at = ballots.sides_for(mark.pair_key, pair, person)
    vote = Vote(
        by=person,
        dataset=pair.dataset,
        sample_id=pair.sample_id,
        left=at.left,
        right=at.right,
        choice=mark.choice,
        comment=mark.comment.strip(),
        seconds=mark.seconds,
        created=time.time(),
    )
    with database.writing(durable=True) as connection:
        _check_blind(connection, run_id, person)
        assigned = is_assigned(connection, run_id, person)
        vote = replace(vote, assigned=assigned)
        connection.execute(_REPLACE_VOTE_SQL, vote_columns(run_id, mark.pair_key, vote))
        bump_revision(connection, run_id)


def undo_vote(database: Database, run_id: str, person: str) -> str:
    """Take back the person's last vote and return its pair, "" if there is none.

    Raises:
        StoreError: the person has seen the names.
    """
    with database.writing(durable=True) as connection:
        _check_blind(connection, run_id, person)
        taken = connection.execute(
            "DELETE FROM vote WHERE id = (SELECT max(id) FROM vote WHERE run = ? AND owner = ?)"
            " RETURNING pair",
            (run_id, person),
        ).fetchone()
        if taken is None:
            return ""
        bump_revision(connection, run_id)
    return taken["pair"]


def finish_voting(database: Database, run_id: str, person: str) -> None:
    """Show the person the names from now on, and take no more votes of theirs."""
    with database.writing(durable=True) as connection:
        connection.execute(
            "INSERT INTO voter VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (run_id, person, time.time()),
        )
        bump_revision(connection, run_id)


def has_finished(database: Database, run_id: str, person: str) -> bool:
    """Whether the person has been shown the names, or the vote was closed for all."""
    row = database.row(_ENDED_SQL, (run_id, person))
    return row is not None


def read_votes(database: Database, run_id: str) -> tuple[Vote, ...]:
    """All votes of a run, skipped pairs too, in the order in which they were cast."""
    rows = database.rows(
        "SELECT v.*, a.outcome AS decided, a.shown_left AS decided_left FROM vote v"
        " LEFT JOIN adjudication a ON a.run = v.run AND a.pair = v.pair"
        " WHERE v.run = ? ORDER BY v.id",
        (run_id,),
    )
    return tuple(_decided(row) for row in rows)


def read_verdicts(database: Database, run_id: str, dataset: str) -> tuple[CastVote, ...]:
    """The verdicts of annotators on one dataset (by its key) of a run, without skipped pairs."""
    cast = (vote.verdict for vote in read_votes(database, run_id) if vote.dataset == dataset)
    return tuple(verdict for verdict in cast if verdict)


def read_run_verdicts(database: Database, run_id: str) -> dict[str, tuple[CastVote, ...]]:
    """People's verdicts on each dataset, by its name; a run of multiple choice has none."""
    rows = read_cells(database, run_id)
    keys = {row.cell.dataset: row.dataset_key for row in rows if row.cell.gives == "answers"}
    verdicts = {name: read_verdicts(database, run_id, key) for name, key in keys.items()}
    return {name: cast for name, cast in verdicts.items() if cast}


def read_voting_progress(
    database: Database, run_id: str, person: str, *, pairs: VotingPairs
) -> VotingProgress:
    """How far one annotator and all together are."""
    row = database.row(
        "SELECT count(*) AS votes, count(DISTINCT pair) AS covered,"
        " count(DISTINCT owner) AS people FROM vote WHERE run = ? AND outcome != 'skip'",
        (run_id,),
    )
    assert row, "a count has a row"
    mine = database.rows(
        "SELECT * FROM vote WHERE run = ? AND owner = ? ORDER BY id", (run_id, person)
    )
    skipped = sum(vote["outcome"] == "skip" for vote in mine)
    timed = [vote["seconds"] for vote in mine if vote["seconds"] is not None]
    done = {vote["pair"] for vote in mine}
    return VotingProgress(
        pairs=len(pairs),
        own_votes=len(mine) - skipped,
        skipped=skipped,
        remaining=len(pairs.keys() - done),
        seconds=statistics.median(timed) if timed else None,
        covered=row["covered"],
        votes=row["votes"],
        people=row["people"],
        finished=has_finished(database, run_id, person),
        last=_vote(mine[-1]) if mine else None,
    )


def _open_pairs(
    database: Database, run_id: str, person: str, known: VotingPairs
) -> tuple[str, ...]:
    rows = database.rows(
        "SELECT pair, sum(owner = :me) AS mine, sum(owner != :me AND outcome != 'skip') AS others"
        " FROM vote WHERE run = :run GROUP BY pair",
        {"run": run_id, "me": person},
    )
    done = {row["pair"] for row in rows if row["mine"]}
    return ballots.voting_order(tuple(known), done, {row["pair"]: row["others"] for row in rows})


def _check_blind(connection: Connection, run_id: str, person: str) -> None:
    if connection.execute("SELECT 1 FROM run WHERE id = ?", (run_id,)).fetchone() is None:
        raise UnknownRun("no-run", run=run_id)
    if connection.execute(_ENDED_SQL, (run_id, person)).fetchone():
        raise StoreError("voter-finished", person=person)


def vote_columns(run_id: str, token: str, vote: Vote) -> tuple[object, ...]:
    """A vote on the pair of a key as the store keeps it."""
    return (
        run_id,
        vote.by,
        token,
        vote.dataset,
        vote.sample_id,
        vote.left,
        vote.right,
        vote.choice,
        vote.comment,
        vote.seconds,
        vote.created,
        vote.assigned,
        vote.imported,
    )


def _decided(row: Row) -> Vote:
    """A vote with what was decided on its pair, seen from its own sides."""
    vote, decided = _vote(row), row["decided"]
    if decided and row["decided_left"] != vote.left:
        decided = MIRRORED[decided]
    return replace(vote, adjudicated=decided)


def _vote(row: Row) -> Vote:
    return Vote(
        by=row["owner"],
        dataset=row["dataset"],
        sample_id=row["sample"],
        left=row["shown_left"],
        right=row["shown_right"],
        choice=row["outcome"],
        comment=row["comment"],
        seconds=row["seconds"],
        created=row["created"],
        pair_key=row["pair"],
        assigned=bool(row["assigned"]),
        imported=bool(row["imported"]),
    )
