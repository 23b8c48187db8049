"""Votes of annotators on pairs of answers, stored as they were cast.

A vote names the sides as they were shown. A skipped pair is done with, but says nothing.
"""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from sqlite3 import Connection, Row
from typing import Literal

from evalui.errors import DataError, StoreError, UnknownRun
from evalui.scoring.arena.battles import MIRRORED
from evalui.store.connection import Database
from evalui.store.queue import bump_revision
from evalui.store.runs import read_cells
from evalui.store.voting import ballots
from evalui.store.voting.ballots import Ballot, VotingPairs
from evalui.store.voting.plans import Assignment, count_pairs, is_assigned
from evalui.types import CastVote, Duel, Outcome, Verdict

VoteChoice = Outcome | Literal["skip"]
MAX_COMMENT = 10_000  # characters of what a person writes about a pair
MAX_PEOPLE = 300  # who voted on one run; everybody is compared with everybody
# Votes by the name of their dataset, "" if they state none.
ImportedVotes = Mapping[str, Sequence[Verdict]]

_VOTE_VALUES = (  # as `_vote_columns` gives them
    "INTO vote (run, owner, pair, dataset, sample, shown_left, shown_right, outcome, comment,"
    " seconds, created, assigned, imported) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# Whether somebody votes no more: they have ended, or the vote was closed.
_ENDED_SQL = (
    "SELECT 1 FROM voter WHERE run = ?1 AND owner = ?2"
    " UNION ALL SELECT 1 FROM closed_vote WHERE run = ?1"
)
# Replaced rather than updated, so that the latest vote has the highest id.
_REPLACE_VOTE_SQL = "INSERT OR REPLACE " + _VOTE_VALUES


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
        connection.execute(_REPLACE_VOTE_SQL, _vote_columns(run_id, mark.pair_key, vote))
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


def add_imported_votes(
    database: Database,
    run_id: str,
    imported: ImportedVotes,
    *,
    pairs: VotingPairs,
    reserved: Callable[[str], bool] = lambda _: False,
) -> int:
    """Keep votes collected elsewhere and return how many are new; what is known stays as it is.

    `reserved` states whether a name is of somebody who votes on this server only.

    Raises:
        DataError: a vote is on a pair that the run does not have, or has in several datasets and
            names none, or is a new one under a reserved name, or more than `MAX_PEOPLE` voted;
            nothing is kept.
    """
    names = {row.dataset_key: row.cell.dataset for row in read_cells(database, run_id)}
    tokens: dict[tuple[str, frozenset[str]], dict[str, str]] = defaultdict(dict)
    for name, pair in pairs.items():
        tokens[pair.sample_id, pair.models][names[pair.dataset]] = name
    now = time.time()
    cast = {(vote.by, vote.pair_key) for vote in read_votes(database, run_id)}
    raters = {verdict.rater for verdicts in imported.values() for verdict in verdicts}
    if raters - {by for by, _ in cast} and len(raters | {by for by, _ in cast}) > MAX_PEOPLE:
        raise DataError("vote-many-people", most=MAX_PEOPLE)
    rows: list[tuple[object, ...]] = []
    for dataset, verdicts in imported.items():
        for verdict in verdicts:
            models = frozenset((verdict.duel.model_a, verdict.duel.model_b))
            token = _imported_pair_key(verdict, dataset, tokens[verdict.duel.sample_id, models])
            if reserved(verdict.rater) and (verdict.rater, token) not in cast:
                raise DataError("vote-reserved", person=verdict.rater)
            if verdict.outcome is not None:
                rows.append(
                    _vote_columns(run_id, token, _imported_vote(verdict, pairs[token].dataset, now))
                )
    with database.writing(durable=True) as connection:
        added = connection.executemany("INSERT OR IGNORE " + _VOTE_VALUES, rows).rowcount
        if added > 0:
            bump_revision(connection, run_id)
    return max(added, 0)


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


def _vote_columns(run_id: str, token: str, vote: Vote) -> tuple[object, ...]:
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
        statistics.median(timed) if timed else None,
        max((vote.created for vote in votes), default=None),
    )


def _imported_pair_key(verdict: Verdict, dataset: str, candidates: Mapping[str, str]) -> str:
    """The pair of a vote; `candidates` are those of its models and question, by dataset."""
    if dataset in candidates:
        return candidates[dataset]
    if dataset or not candidates:
        raise DataError(
            "vote-elsewhere",
            left=verdict.duel.model_a,
            right=verdict.duel.model_b,
            question=verdict.duel.sample_id,
        )
    if len(candidates) > 1:
        raise DataError(
            "vote-dataset", question=verdict.duel.sample_id, datasets=", ".join(candidates)
        )
    return next(iter(candidates.values()))


def _imported_vote(verdict: Verdict, dataset: str, now: float) -> Vote:
    assert verdict.outcome is not None, "an unreadable vote is none"
    return Vote(
        by=verdict.rater,
        dataset=dataset,
        sample_id=verdict.duel.sample_id,
        left=verdict.duel.model_a,
        right=verdict.duel.model_b,
        choice=verdict.outcome,
        comment=verdict.reply,
        created=now,
        imported=True,
    )
