"""Until people have ended nobody is shown what they prefer, with a plan and without."""

import pytest
from voting_examples import open_run

from evalui.errors import StoreError, UnknownRun
from evalui.store.connection import Database
from evalui.store.voting.ballots import VotingPairsCache
from evalui.store.voting.plans import VoterPairs, close_voting, is_voting_open, keep_plan
from evalui.store.voting.votes import (
    VoteInput,
    add_imported_votes,
    cast_vote,
    finish_voting,
    next_ballots,
    undo_vote,
)
from evalui.types import Duel, Verdict


@pytest.fixture
def run_id(database: Database) -> str:
    return open_run(database)


@pytest.fixture
def voter_pairs(database: Database) -> VoterPairs:
    return VoterPairs(database, VotingPairsCache(database))


def vote(database: Database, voter_pairs: VoterPairs, run_id: str, person: str, n: int = 1) -> None:
    """The person says something of the next n pairs of theirs; every second one is skipped."""
    pairs = voter_pairs.of_voter(run_id, person)
    for place in range(n):
        (ballot,) = next_ballots(database, run_id, person, pairs=pairs, count=1)
        choice = "skip" if place % 2 else "tie"
        cast_vote(database, run_id, person, VoteInput(ballot.pair_key, choice), pairs=pairs)


def test_without_votes_there_is_nothing_to_keep_back(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    assert not is_voting_open(database, run_id, voter_pairs)
    keep_plan(database, run_id, ["ann"], 1)
    assert not is_voting_open(database, run_id, voter_pairs)


def test_without_a_plan_all_who_began_have_to_end(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    vote(database, voter_pairs, run_id, "ann", 3)
    vote(database, voter_pairs, run_id, "ben", 20)  # every pair
    assert is_voting_open(database, run_id, voter_pairs)
    finish_voting(database, run_id, "ann")
    assert not is_voting_open(database, run_id, voter_pairs)
    vote(database, voter_pairs, run_id, "cleo")  # somebody came later
    assert is_voting_open(database, run_id, voter_pairs)
    undo_vote(database, run_id, "cleo")
    assert not is_voting_open(database, run_id, voter_pairs)


def test_with_a_plan_each_pair_has_to_have_its_votes(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    keep_plan(database, run_id, ["ann", "ben", "cleo"], 2)
    for person in ("ann", "ben"):
        vote(database, voter_pairs, run_id, person, len(voter_pairs.of_voter(run_id, person)))
        assert is_voting_open(database, run_id, voter_pairs)
    rest = len(voter_pairs.of_voter(run_id, "cleo"))
    vote(database, voter_pairs, run_id, "cleo", rest - 1)
    assert is_voting_open(database, run_id, voter_pairs)
    vote(database, voter_pairs, run_id, "cleo")
    assert not is_voting_open(database, run_id, voter_pairs)


def test_with_a_plan_pairs_of_people_who_ended_are_not_waited_for(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    keep_plan(database, run_id, ["ann", "ben"], 2)
    vote(database, voter_pairs, run_id, "ann")
    finish_voting(database, run_id, "ann")
    assert is_voting_open(database, run_id, voter_pairs)
    finish_voting(database, run_id, "ben")
    assert not is_voting_open(database, run_id, voter_pairs)


def test_who_leads_the_run_closes_the_vote_of_all(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    vote(database, voter_pairs, run_id, "ann")
    close_voting(database, run_id, "olga")
    close_voting(database, run_id, "olga")
    assert not is_voting_open(database, run_id, voter_pairs)
    pairs = voter_pairs.of_voter(run_id, "ben")
    assert next_ballots(database, run_id, "ben", pairs=pairs) == ()
    for person in ("ann", "ben"):
        mark = VoteInput(next(iter(pairs)), "a")
        with pytest.raises(StoreError, match="names"):
            cast_vote(database, run_id, person, mark, pairs=pairs)
    with pytest.raises(UnknownRun):
        close_voting(database, "none", "olga")


def test_votes_that_came_with_a_file_are_over(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    pairs = voter_pairs.of_voter(run_id, "zoe")
    pair = next(iter(pairs.values()))
    duel = Duel(pair.sample_id, pair.first, pair.second)
    assert add_imported_votes(database, run_id, {"": [Verdict(duel, "a", "zoe")]}, pairs=pairs) == 1
    assert not is_voting_open(database, run_id, voter_pairs)
    vote(database, voter_pairs, run_id, "ann")
    assert is_voting_open(database, run_id, voter_pairs)
    finish_voting(database, run_id, "ann")
    assert not is_voting_open(database, run_id, voter_pairs)
