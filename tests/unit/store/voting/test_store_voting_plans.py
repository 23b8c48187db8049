"""Who votes on which pairs of a run, how far they are, and what is decided where they differ."""

from collections import Counter

import pytest
from voting_examples import growing_run, open_run

from evalui.errors import SpecError, StoreError, UnknownRun
from evalui.store.connection import Database
from evalui.store.runs import read_run
from evalui.store.voting.adjudications import (
    adjudicate,
    contested_pairs,
    outcome_from,
)
from evalui.store.voting.ballots import VotingPairsCache, sides_for
from evalui.store.voting.plans import VoterPairs, VotingPlan, keep_plan, read_plan
from evalui.store.voting.votes import (
    VoteInput,
    cast_vote,
    next_ballots,
    read_verdicts,
    read_votes,
    undo_vote,
    voter_progress,
)

PEOPLE = ("ann", "ben", "cleo")


@pytest.fixture
def run_id(database: Database) -> str:
    """A run of 20 pairs."""
    return open_run(database)


@pytest.fixture
def voter_pairs(database: Database) -> VoterPairs:
    return VoterPairs(database, VotingPairsCache(database))


def vote(
    database: Database, voter_pairs: VoterPairs, run_id: str, person: str, key: str, model: str
):
    """The person prefers the answer of a model, wherever it stands."""
    pairs = voter_pairs.of_voter(run_id, person)
    choice = "a" if sides_for(key, pairs[key], person).left == model else "b"
    cast_vote(database, run_id, person, VoteInput(key, choice, seconds=4.0), pairs=pairs)


def test_without_a_plan_all_vote_on_all_pairs(run_id: str, voter_pairs: VoterPairs):
    assert len(voter_pairs.of_voter(run_id, "anybody")) == 20
    assert voter_pairs.assignment(run_id) is None


def test_with_a_plan_each_votes_on_their_part_and_others_on_nothing(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    keep_plan(database, run_id, PEOPLE, 2)
    assert read_plan(database, run_id) == VotingPlan(PEOPLE, 2)
    parts = {person: voter_pairs.of_voter(run_id, person) for person in PEOPLE}
    assert sorted(map(len, parts.values())) == [13, 13, 14]
    counted = Counter(key for part in parts.values() for key in part)
    assert set(counted.values()) == {2}
    assert len(counted) == 20
    assert voter_pairs.of_voter(run_id, "dora") == {}
    assert list(parts["ann"]) == sorted(parts["ann"])  # in the order drawn for all


def test_answers_that_come_later_move_no_pair(database: Database):
    growing = growing_run(database, (8, 20))
    run_id = next(growing)
    keep_plan(database, run_id, PEOPLE, 2)
    voter_pairs = VoterPairs(database, VotingPairsCache(database))
    before = voter_pairs.assignment(run_id)
    next(growing)
    after = voter_pairs.assignment(run_id)
    assert before
    assert after
    assert (len(before), len(after)) == (24, 60)
    assert list(after) != sorted(after)  # those that came later stand between those before
    assert {key: after[key] for key in before} == before


def test_a_plan_ends_when_nobody_is_named(database: Database, run_id: str, voter_pairs: VoterPairs):
    keep_plan(database, run_id, PEOPLE, 3)
    before = read_run(database, run_id).revision
    keep_plan(database, run_id, [" "], 1)
    assert read_plan(database, run_id) is None
    assert read_run(database, run_id).revision > before
    assert len(voter_pairs.of_voter(run_id, "dora")) == 20


@pytest.mark.parametrize("overlap", [0, 3])
def test_more_votes_on_a_pair_than_people_are_refused_in_words(
    database: Database, run_id: str, overlap: int
):
    with pytest.raises(SpecError, match="2 people"):
        keep_plan(database, run_id, ["ann", "ben", "ann"], overlap)
    with pytest.raises(SpecError, match="100"):
        keep_plan(database, run_id, [f"person {n}" for n in range(101)], 2)
    with pytest.raises(UnknownRun):
        keep_plan(database, "none", PEOPLE, 2)
    assert read_plan(database, run_id) is None


def test_votes_state_whether_they_were_assigned(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    key = next(iter(voter_pairs.of_voter(run_id, "dora")))
    vote(database, voter_pairs, run_id, "dora", key, "perfect")
    keep_plan(database, run_id, PEOPLE, 2)
    with pytest.raises(StoreError, match="pair"):
        cast_vote(
            database,
            run_id,
            "dora",
            VoteInput(key, "a"),
            pairs=voter_pairs.of_voter(run_id, "dora"),
        )
    own = next(iter(voter_pairs.of_voter(run_id, "ann")))
    vote(database, voter_pairs, run_id, "ann", own, "perfect")
    assert [(one.by, one.assigned) for one in read_votes(database, run_id)] == [
        ("dora", False),
        ("ann", True),
    ]
    (shown,) = next_ballots(
        database, run_id, "ann", pairs=voter_pairs.of_voter(run_id, "ann"), count=1
    )
    assert shown.pair_key != own


def test_progress_counts_the_assigned_pairs_of_each(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    keep_plan(database, run_id, PEOPLE, 2)
    assigned = voter_pairs.assignment(run_id)
    own = list(voter_pairs.of_voter(run_id, "ann"))
    vote(database, voter_pairs, run_id, "ann", own[0], "perfect")
    cast_vote(
        database,
        run_id,
        "ann",
        VoteInput(own[1], "skip", seconds=8.0),
        pairs=voter_pairs.of_voter(run_id, "ann"),
    )
    ann, ben, cleo = voter_progress(read_votes(database, run_id), PEOPLE, assigned)
    assert (ann.person, ann.assigned, ann.done, ann.skipped, ann.seconds) == (
        "ann",
        len(own),
        2,
        1,
        6.0,
    )
    assert ann.last == read_votes(database, run_id)[-1].created
    assert (ben.done, ben.seconds, ben.last) == (0, None, None)
    assert sum(one.assigned or 0 for one in (ann, ben, cleo)) == 40
    (alone,) = voter_progress(read_votes(database, run_id), (), None)
    assert (alone.person, alone.assigned, alone.done) == ("ann", None, 2)
    *_, gone = voter_progress(read_votes(database, run_id), ("ben", "cleo"), assigned)
    assert (gone.person, gone.assigned, gone.done) == ("ann", None, 2)  # no longer in the plan


def test_pairs_on_which_people_differ_are_decided_once_for_all(
    database: Database, run_id: str, voter_pairs: VoterPairs
):
    pairs = voter_pairs.of_voter(run_id, "")
    same, differing, *_ = pairs
    for person, preferred in (("ann", "perfect"), ("ben", "position-biased")):
        vote(database, voter_pairs, run_id, person, same, "perfect")
        vote(database, voter_pairs, run_id, person, differing, preferred)
    (contested,) = contested_pairs(database, run_id)
    assert (contested.pair_key, contested.decision) == (differing, None)
    assert [one.by for one in contested.votes] == ["ann", "ben"]
    with pytest.raises(StoreError, match="People agree on this pair"):
        adjudicate(database, run_id, "olga", same, "a", comment="", pairs=pairs)
    with pytest.raises(StoreError, match="pair"):
        adjudicate(database, run_id, "olga", "none", "a", comment="", pairs=pairs)
    before = read_run(database, run_id).revision
    adjudicate(database, run_id, "olga", differing, "a", comment=" it is so ", pairs=pairs)
    assert read_run(database, run_id).revision > before
    (contested,) = contested_pairs(database, run_id)
    decision = contested.decision
    assert decision
    shown = sides_for(differing, pairs[differing], "olga")
    assert (decision.by, decision.left, decision.right) == ("olga", shown.left, shown.right)
    assert (decision.outcome, decision.comment) == ("a", "it is so")
    for one in read_votes(database, run_id):
        if one.pair_key == differing:
            assert one.adjudicated == ("a" if one.left == shown.left else "b")
            assert outcome_from(one.left, one) == one.choice
        else:
            assert one.adjudicated is None
    key = pairs[differing].dataset
    assert [one.adjudicated is not None for one in read_verdicts(database, run_id, key)] == [
        False,
        True,
        False,
        True,
    ]
    adjudicate(database, run_id, "olga", differing, "neither", comment="", pairs=pairs)
    assert {one.adjudicated for one in read_votes(database, run_id)} == {None, "neither"}
    undo_vote(database, run_id, "ben")
    (contested,) = contested_pairs(database, run_id)  # still listed: it was decided
    assert [one.by for one in contested.votes] == ["ann"]


def test_everything_of_voters_is_written_durably(
    database: Database, run_id: str, voter_pairs: VoterPairs, monkeypatch: pytest.MonkeyPatch
):
    seen: list[bool] = []
    writing = Database.writing

    def watched(self: Database, *, durable: bool = False):
        seen.append(durable)
        return writing(self, durable=durable)

    monkeypatch.setattr(Database, "writing", watched)
    pairs = voter_pairs.of_voter(run_id, "")
    key = next(iter(pairs))
    vote(database, voter_pairs, run_id, "ann", key, "perfect")
    vote(database, voter_pairs, run_id, "ben", key, "position-biased")
    adjudicate(database, run_id, "olga", key, "tie", comment="", pairs=pairs)
    undo_vote(database, run_id, "ann")
    keep_plan(database, run_id, PEOPLE, 2)
    assert seen == [True] * 5
