"""Who is to vote on the pairs of a run, as its owner decided: named people, k of them on each."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from evalui.errors import NotAllowed, SpecError
from evalui.store.connection import Database
from evalui.store.queue import bump_revision
from evalui.store.results_cache import ResultCache
from evalui.store.runs import read_run
from evalui.store.voting.assignment import Assignment, assign_pairs
from evalui.store.voting.ballots import VotingPairs, VotingPairsCache, count_answers

MAX_VOTERS = 100  # of one run
_CACHE_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class VotingPlan:
    """Each pair is voted on by `overlap` of the `people`."""

    people: tuple[str, ...]
    overlap: int


class VoterPairs:
    """The pairs that each person votes on: all of them, or of a run with a plan those assigned."""

    def __init__(self, database: Database, pairs: VotingPairsCache) -> None:
        self._database = database
        self._pairs = pairs
        self._assigned = ResultCache(_CACHE_BYTES).memoize(self._assign)

    def of_voter(self, run_id: str, person: str) -> VotingPairs:
        """What a person votes on, in order; nothing if others are named."""
        pairs, assigned = self._pairs.of_run(run_id), self.assignment(run_id)
        if assigned is None:
            return pairs
        return {key: pair for key, pair in pairs.items() if person in assigned.get(key, ())}

    def to_vote_on(self, run_id: str, person: str) -> VotingPairs:
        """The same for somebody who votes; raises `NotAllowed` if others are named."""
        pairs = self.of_voter(run_id, person)
        if not pairs and self._pairs.of_run(run_id):
            raise NotAllowed("not-assigned")
        return pairs

    def assignment(self, run_id: str) -> Assignment | None:
        """The people of each pair, None without a plan."""
        plan = read_plan(self._database, run_id)
        if plan is None:
            return None
        return self._assigned(run_id, plan, count_answers(self._database, run_id))

    def _assign(self, run_id: str, plan: VotingPlan, answers: int) -> Assignment:
        del answers  # part of the key: more answers, more pairs
        pairs = self._pairs.of_run(run_id)
        arrived = sorted(pairs, key=lambda key: (pairs[key].arrival, key))
        return assign_pairs(arrived, plan.people, plan.overlap)


def read_plan(database: Database, run_id: str) -> VotingPlan | None:
    """The plan of a run, None if everybody votes on everything."""
    row = database.row(
        "SELECT overlap, (SELECT json_group_array(person) FROM"
        " (SELECT person FROM assigned_voter v WHERE v.run = p.run ORDER BY place)) AS people"
        " FROM voting_plan p WHERE run = ?",
        (run_id,),
    )
    return None if row is None else VotingPlan(tuple(json.loads(row["people"])), row["overlap"])


def keep_plan(database: Database, run_id: str, people: Sequence[str], overlap: int) -> None:
    """Assign the pairs of a run anew; nobody named ends the plan. Votes that were cast stay.

    Raises:
        SpecError: too many people are named, or fewer than are to vote on each pair.
        UnknownRun: there is no such run.
    """
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in people))))
    if len(names) > MAX_VOTERS:
        raise SpecError("plan-people", n=len(names), most=MAX_VOTERS)
    if names and not 0 < overlap <= len(names):
        raise SpecError("plan-overlap", k=overlap, n=len(names))
    read_run(database, run_id)
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM voting_plan WHERE run = ?", (run_id,))
        if names:
            connection.execute(
                "INSERT INTO voting_plan VALUES (?, ?, ?)", (run_id, overlap, time.time())
            )
        connection.executemany(
            "INSERT INTO assigned_voter VALUES (?, ?, ?)",
            [(run_id, name, place) for place, name in enumerate(names)],
        )
        bump_revision(connection, run_id)


def is_assigned(connection: Connection, run_id: str, person: str) -> bool:
    """Whether a plan names the person, inside the transaction of their vote."""
    row = connection.execute(
        "SELECT 1 FROM assigned_voter WHERE run = ? AND person = ?", (run_id, person)
    ).fetchone()
    return row is not None


def count_pairs(assigned: Mapping[str, Sequence[str]], person: str) -> int:
    """How many pairs are a person's."""
    return sum(person in people for people in assigned.values())
