"""Whether people still vote on a run: until they have ended, nobody is shown what they prefer.

A look at others' votes, or at the names behind one's own, would unblind whoever votes on.
"""

import time

from evalui.store.connection import Database
from evalui.store.queue import bump_revision
from evalui.store.runs import read_run
from evalui.store.voting.plans import VoterPairs

# Who voted on this server, on how many pairs, and whether they have ended; imported votes are over.
_VOTERS_SQL = """
SELECT v.owner AS name, count(*) AS done,
    EXISTS (SELECT 1 FROM voter e WHERE e.run = v.run AND e.owner = v.owner) AS ended
FROM vote v WHERE v.run = ?1 AND NOT v.imported GROUP BY v.owner
"""
_VOTES_BY_PAIR_SQL = "SELECT pair, count(*) AS n FROM vote WHERE run = ? GROUP BY pair"


def is_voting_open(database: Database, run_id: str, voter_pairs: VoterPairs) -> bool:
    """Whether votes that were cast here are followed by others.

    With a plan: until each pair has as many votes as the plan asks for, or all whom it names have
    ended. Without one: until everybody who voted has ended, or has voted on every pair. Either
    ends when who leads the run closes the vote.
    """
    voters = database.rows(_VOTERS_SQL, (run_id,))
    if not voters or is_closed(database, run_id):
        return False
    assigned = voter_pairs.assignment(run_id)
    if assigned is None:
        return any(
            not voter["ended"] and voter["done"] < len(voter_pairs.of_voter(run_id, voter["name"]))
            for voter in voters
        )
    ended = {
        row["owner"] for row in database.rows("SELECT owner FROM voter WHERE run = ?", (run_id,))
    }
    cast = {row["pair"]: row["n"] for row in database.rows(_VOTES_BY_PAIR_SQL, (run_id,))}
    return any(
        cast.get(pair, 0) < len(people) and not ended.issuperset(people)
        for pair, people in assigned.items()
    )


def is_closed(database: Database, run_id: str) -> bool:
    """Whether who leads the run has closed the vote."""
    return database.row("SELECT 1 FROM closed_vote WHERE run = ?", (run_id,)) is not None


def close_voting(database: Database, run_id: str, person: str) -> None:
    """End the vote of all on a run, for good; raises `UnknownRun`."""
    read_run(database, run_id)
    with database.writing(durable=True) as connection:
        connection.execute(
            "INSERT INTO closed_vote VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (run_id, person, time.time()),
        )
        bump_revision(connection, run_id)
