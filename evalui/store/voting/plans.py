"""Who is to vote on the pairs of a run, and whether they still do.

Its owner may name people, k of them for each pair. Until the vote has ended nobody is shown what
they prefer: a look at others' votes, or at the names behind one's own, would unblind whoever votes
on.
"""

import json
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from evalui.errors import NotAllowed, SpecError
from evalui.store.connection import Database
from evalui.store.queue import bump_revision
from evalui.store.results_cache import ResultCache
from evalui.store.runs import read_run
from evalui.store.voting.ballots import VotingPairs, VotingPairsCache, count_answers

Assignment = dict[str, tuple[str, ...]]  # the people of each pair, by its key
MAX_VOTERS = 100  # of one run
_CACHE_BYTES = 64 * 2**20
# Who voted on this server, on how many pairs, and whether they have ended; imported votes are over.
_VOTERS_SQL = """
SELECT v.owner AS name, count(*) AS done,
    EXISTS (SELECT 1 FROM voter e WHERE e.run = v.run AND e.owner = v.owner) AS ended
FROM vote v WHERE v.run = ?1 AND NOT v.imported GROUP BY v.owner
"""
_VOTES_BY_PAIR_SQL = "SELECT pair, count(*) AS n FROM vote WHERE run = ? GROUP BY pair"


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


def assign_pairs(keys: Iterable[str], people: Sequence[str], overlap: int) -> Assignment:
    """`overlap` different people for each pair, in the order in which the pairs came.

    Each pair goes to those who have the fewest, among them to those who share the fewest with each
    other, and else by its key, so that nobody gets all pairs of the same two models. So people's
    numbers of pairs differ by one at most, each two people share pairs, and a pair that comes later
    changes nothing of those before it.

    Raises:
        ValueError: there are fewer people than are to vote on each pair.
    """
    n = len(people)
    if not 0 < overlap <= n:
        raise ValueError(f"{overlap} of {n} people cannot vote on a pair")
    load = [0] * n
    shared = [[0] * n for _ in people]
    assigned: Assignment = {}
    for key in keys:
        chosen: list[int] = []
        first = zlib.crc32(key.encode("utf-8", "surrogatepass"))
        for _ in range(overlap):
            rank = min(
                (load[one], sum(shared[one][other] for other in chosen), (one + first) % n, one)
                for one in range(n)
                if one not in chosen
            )
            chosen.append(rank[-1])
        for one in chosen:
            load[one] += 1
            for other in chosen:
                shared[one][other] += one != other
        assigned[key] = tuple(people[one] for one in sorted(chosen))
    return assigned


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
