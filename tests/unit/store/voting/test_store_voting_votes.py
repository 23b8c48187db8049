"""Votes on pairs of answers: who sees which pair, what is kept, and what survives."""

import secrets
import threading
from collections import Counter
from dataclasses import replace
from statistics import fmean

import pytest
from voting_examples import MODELS, open_run

from evalui.errors import DataError, StoreError, UnknownRun
from evalui.scoring.arena.agreement import (
    PredictionPoweredItem,
    prediction_powered_win_rate,
)
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_cells, read_run
from evalui.store.voting import ballots
from evalui.store.voting.ballots import (
    VotingPair,
    pair_key,
    sides_for,
    voting_order,
    voting_pairs,
)
from evalui.store.voting.votes import (
    VoteChoice,
    VoteInput,
    add_imported_votes,
    cast_vote,
    finish_voting,
    next_ballots,
    read_verdicts,
    read_votes,
    read_voting_progress,
    undo_vote,
)
from evalui.types import CastVote, Duel, Verdict


def vote(
    database: Database, run_id: str, person: str, choice: VoteChoice = "a", comment: str = ""
) -> str:
    """Vote on the person's next pair and return its token."""
    first = next_ballots(database, run_id, person, pairs=voting_pairs(database, run_id))[0].pair_key
    cast_vote(
        database,
        run_id,
        person,
        VoteInput(first, choice, comment, 2.0),
        pairs=voting_pairs(database, run_id),
    )
    return first


def test_every_question_meets_every_two_models_that_replied_to_it_blank_or_not(database: Database):
    run_id = open_run(database, 3, MODELS, blank=["talk/1"])
    with database.writing() as connection:
        connection.execute("DELETE FROM trial WHERE sample = 'talk/2' AND reply LIKE '%always-A%'")
    met = ballots.voting_pairs(database, run_id).values()
    assert Counter(pair.sample_id for pair in met) == {"talk/0": 3, "talk/1": 3, "talk/2": 1}
    assert {pair.models for pair in met if pair.sample_id == "talk/2"} == {frozenset(MODELS[:2])}


def test_a_blank_reply_is_shown_as_one(database: Database):
    run_id = open_run(database, 1, blank=["talk/0"])
    (shown,) = next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id))
    assert {shown.left, shown.right} == {("talk/0 as perfect has it",), ("",)}


def test_people_correct_a_judge_whatever_share_of_the_replies_is_blank(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    # The last model leaves two in five blank and loses there; it wins most of the others, where
    # the judge is fond of the first. 60 votes are a random part of what the judge saw.
    blank = [f"talk/{number}" for number in range(80)]
    # The id of the run draws which ones; one range in twenty misses the truth.
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: "fixed-run1")
    run_id = open_run(database, 200, blank=blank)
    assert run_id == "fixed-run1"
    wins = {f"talk/{number}": float(number < 80 or number % 10 == 0) for number in range(200)}
    fond = {name: float(won or number % 2) for number, (name, won) in enumerate(wins.items())}
    order = [pair.sample_id for pair in ballots.voting_pairs(database, run_id).values()]
    voted = set(order[:60])
    rate = prediction_powered_win_rate(
        [
            PredictionPoweredItem(name, fond[name], won if name in voted else None)
            for name, won in wins.items()
        ]
    )
    assert rate
    assert rate.human
    assert rate.combined
    truth = fmean(wins.values())
    assert rate.judge.low > truth
    assert rate.human.low < truth < rate.human.high
    assert rate.combined.low < truth < rate.combined.high


def test_a_run_without_written_answers_has_no_pairs(database: Database):
    run_id = open_run(database, 3, MODELS[:1])
    assert next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id)) == ()
    assert (
        read_voting_progress(database, run_id, "ann", pairs=voting_pairs(database, run_id)).pairs
        == 0
    )


def test_the_order_is_drawn_per_run_and_the_same_for_every_annotator(database: Database):
    one, other = open_run(database), open_run(database)
    order = [pair.sample_id for pair in ballots.voting_pairs(database, one).values()]
    assert order == [pair.sample_id for pair in ballots.voting_pairs(database, one).values()]
    assert order != [pair.sample_id for pair in ballots.voting_pairs(database, other).values()]
    assert order != sorted(order)


def test_the_first_pairs_are_shared_by_every_annotator(database: Database):
    run_id = open_run(database, 20)
    seen = [[vote(database, run_id, person) for _ in range(10)] for person in ("ann", "bob")]
    assert seen[0] == seen[1]


def test_after_the_shared_part_people_spread(database: Database):
    run_id = open_run(database, 30)
    ann = [vote(database, run_id, "ann") for _ in range(20)]
    bob = [vote(database, run_id, "bob") for _ in range(20)]
    assert ann[:10] == bob[:10]
    assert not set(ann[10:]) & set(bob[10:])


@pytest.mark.parametrize(("n", "shared"), [(5, 5), (40, 10), (100, 20), (101, 21)])
def test_a_fifth_and_at_least_ten_go_to_every_annotator(n: int, shared: int):
    names = [f"{number:03}" for number in range(n)]
    others = {name: n - number for number, name in enumerate(names)}  # the last has the fewest
    order = voting_order(names, (), others)
    assert order[:shared] == tuple(names[:shared])
    assert order[shared:] == tuple(reversed(names[shared:]))


def test_sides_are_drawn_for_each_person_and_pair_and_stay(database: Database):
    run_id = open_run(database, 40)
    drawn = {
        person: [
            sides_for(name, pair, person).left == pair.first
            for name, pair in ballots.voting_pairs(database, run_id).items()
        ]
        for person in ("ann", "bob")
    }
    assert drawn["ann"] != drawn["bob"]
    assert 8 < sum(drawn["ann"]) < 32
    first = next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id))
    assert next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id)) == first


def test_a_vote_is_kept_with_the_sides_as_they_were_shown(database: Database):
    run_id = open_run(database)
    shown = next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id))[0]
    cast_vote(
        database,
        run_id,
        "ann",
        VoteInput(shown.pair_key, "b", " because ", 7.5),
        pairs=voting_pairs(database, run_id),
    )
    (kept,) = read_votes(database, run_id)
    assert (kept.by, kept.choice, kept.comment, kept.seconds) == ("ann", "b", "because", 7.5)
    assert shown.left == (f"{kept.sample_id} as {kept.left} has it",)
    assert shown.right == (f"{kept.sample_id} as {kept.right} has it",)
    key = read_cells(database, run_id)[0].dataset_key
    duel = Duel(kept.sample_id, kept.left, kept.right)
    (verdict,) = read_verdicts(database, run_id, key)
    assert verdict == CastVote(
        duel, "b", "ann", "vote", "because", created=kept.created, seconds=7.5
    )


def test_tokens_tell_nothing_of_the_models(database: Database):
    run_id = open_run(database, 5, MODELS)
    there = VotingPair("k", "talk/1", "x", "y")
    assert pair_key(run_id, there) == pair_key(run_id, replace(there, first="y", second="x"))
    assert not any(name in " ".join(ballots.voting_pairs(database, run_id)) for name in MODELS)


def test_a_skipped_pair_is_done_with_but_says_nothing(database: Database):
    run_id = open_run(database)
    skipped = vote(database, run_id, "ann", "skip")
    assert (
        next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id))[0].pair_key
        != skipped
    )
    assert read_verdicts(database, run_id, read_cells(database, run_id)[0].dataset_key) == ()
    now = read_voting_progress(database, run_id, "ann", pairs=voting_pairs(database, run_id))
    assert (now.own_votes, now.skipped, now.remaining, now.covered, now.people) == (0, 1, 19, 0, 0)


def test_undo_gives_the_pair_back(database: Database):
    run_id = open_run(database)
    first, second = vote(database, run_id, "ann"), vote(database, run_id, "ann")
    assert undo_vote(database, run_id, "ann") == second
    assert (
        next_ballots(
            database, run_id, "ann", preferred=second, pairs=voting_pairs(database, run_id)
        )[0].pair_key
        == second
    )
    assert undo_vote(database, run_id, "ann") == first
    assert undo_vote(database, run_id, "ann") == ""
    assert read_votes(database, run_id) == ()


def test_undo_takes_ones_own_vote_only(database: Database):
    run_id = open_run(database)
    vote(database, run_id, "ann")
    vote(database, run_id, "bob")
    assert undo_vote(database, run_id, "ann")
    assert [one.by for one in read_votes(database, run_id)] == ["bob"]


def test_a_second_vote_on_a_pair_replaces_the_first_and_is_the_latest(database: Database):
    run_id = open_run(database)
    first = vote(database, run_id, "ann", "a")
    vote(database, run_id, "ann", "a")
    cast_vote(
        database, run_id, "ann", VoteInput(first, "tie"), pairs=voting_pairs(database, run_id)
    )
    assert [one.choice for one in read_votes(database, run_id)] == ["a", "tie"]
    assert undo_vote(database, run_id, "ann") == first


def test_the_wished_pair_comes_first_unless_it_is_done(database: Database):
    run_id = open_run(database)
    following = next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id))[
        1
    ].pair_key
    assert (
        next_ballots(
            database, run_id, "ann", preferred=following, pairs=voting_pairs(database, run_id)
        )[0].pair_key
        == following
    )
    done = vote(database, run_id, "ann")
    assert (
        next_ballots(database, run_id, "ann", preferred=done, pairs=voting_pairs(database, run_id))[
            0
        ].pair_key
        == following
    )


def test_after_finishing_an_annotator_neither_votes_nor_undoes(database: Database):
    run_id = open_run(database)
    open_token = vote(database, run_id, "ann")
    finish_voting(database, run_id, "ann")
    assert read_voting_progress(
        database, run_id, "ann", pairs=voting_pairs(database, run_id)
    ).finished
    assert next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id)) == ()
    for act in (
        lambda: cast_vote(
            database,
            run_id,
            "ann",
            VoteInput(open_token, "b"),
            pairs=voting_pairs(database, run_id),
        ),
        lambda: undo_vote(database, run_id, "ann"),
    ):
        with pytest.raises(StoreError, match="has seen the names"):
            act()
    assert [one.choice for one in read_votes(database, run_id)] == ["a"]
    assert vote(database, run_id, "bob")


def test_a_pair_of_another_run_is_refused(database: Database):
    run_id, other = open_run(database), open_run(database)
    foreign = next_ballots(database, other, "ann", pairs=voting_pairs(database, other))[0].pair_key
    with pytest.raises(StoreError, match="no longer in the run"):
        cast_vote(
            database, run_id, "ann", VoteInput(foreign, "a"), pairs=voting_pairs(database, run_id)
        )


def test_a_vote_moves_the_revision_of_its_run(database: Database):
    run_id = open_run(database)
    before = read_run(database, run_id).revision
    vote(database, run_id, "ann")
    voted = read_run(database, run_id).revision
    undo_vote(database, run_id, "ann")
    assert before < voted < read_run(database, run_id).revision


def test_votes_survive_the_process_and_go_with_the_run(database: Database):
    run_id = open_run(database)
    vote(database, run_id, "ann")
    again = Database(database.path)
    assert len(read_votes(again, run_id)) == 1
    finish_voting(database, run_id, "ann")
    queue.delete(database, run_id)
    assert read_votes(again, run_id) == ()
    assert again.row("SELECT * FROM voter") is None
    with pytest.raises(UnknownRun):
        undo_vote(again, run_id, "ann")
    again.close()


def test_people_at_the_same_moment_lose_no_vote(database: Database):
    run_id = open_run(database, 12)

    def all_of(person: str) -> None:
        mine = Database(database.path)  # as another process would
        while next_ballots(mine, run_id, person, pairs=voting_pairs(mine, run_id)):
            vote(mine, run_id, person)
        mine.close()

    threads = [threading.Thread(target=all_of, args=(f"p{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = Counter(one.by for one in read_votes(database, run_id))
    assert kept == {f"p{number}": 12 for number in range(4)}


def test_progress_counts_own_votes_and_all_votes(database: Database):
    run_id = open_run(database, 20)
    for seconds in (2.0, 4.0, 60.0):
        name = next_ballots(database, run_id, "ann", pairs=voting_pairs(database, run_id))[
            0
        ].pair_key
        cast_vote(
            database,
            run_id,
            "ann",
            VoteInput(name, "a", seconds=seconds),
            pairs=voting_pairs(database, run_id),
        )
    vote(database, run_id, "bob")
    now = read_voting_progress(database, run_id, "ann", pairs=voting_pairs(database, run_id))
    assert (now.pairs, now.own_votes, now.remaining, now.seconds) == (20, 3, 17, 4.0)
    assert (now.covered, now.votes, now.people) == (3, 4, 2)
    assert now.last
    assert now.last.seconds == 60.0


def elsewhere(left: str, right: str, *, sample: str = "talk/1", by: str = "carl") -> Verdict:
    return Verdict(Duel(sample, left, right), "a", by, reply="said so")


def test_votes_from_elsewhere_keep_their_names_and_twice_is_harmless(database: Database):
    run_id = open_run(database)
    given = [elsewhere(*MODELS[1::-1]), elsewhere(*MODELS[:2], by="dora")]
    assert (
        add_imported_votes(database, run_id, {"": given}, pairs=voting_pairs(database, run_id)) == 2
    )
    assert (
        add_imported_votes(database, run_id, {"": given}, pairs=voting_pairs(database, run_id)) == 0
    )
    assert [(one.by, one.left, one.comment) for one in read_votes(database, run_id)] == [
        ("carl", MODELS[1], "said so"),
        ("dora", MODELS[0], "said so"),
    ]


def test_a_vote_of_ones_own_is_not_replaced_from_elsewhere(database: Database):
    run_id = open_run(database, 1)
    vote(database, run_id, "carl", "neither")
    assert (
        add_imported_votes(
            database,
            run_id,
            {"": [elsewhere(*MODELS[:2], sample="talk/0")]},
            pairs=voting_pairs(database, run_id),
        )
        == 0
    )
    assert [one.choice for one in read_votes(database, run_id)] == ["neither"]


def test_votes_on_other_models_are_refused_together(database: Database):
    run_id = open_run(database)
    with pytest.raises(DataError, match="no answers of perfect and gpt"):
        add_imported_votes(
            database,
            run_id,
            {"": [elsewhere(*MODELS[:2]), elsewhere("perfect", "gpt")]},
            pairs=voting_pairs(database, run_id),
        )
    assert read_votes(database, run_id) == ()


def test_votes_from_elsewhere_find_their_dataset_by_its_name(database: Database):
    run_id = open_run(database, 2, datasets=["talk", "chat"], sample="q")
    given = [elsewhere(*MODELS[:2], sample="q/1")]
    assert (
        add_imported_votes(
            database, run_id, {"talk": given, "chat": given}, pairs=voting_pairs(database, run_id)
        )
        == 2
    )
    keys = {cell.cell.dataset: cell.dataset_key for cell in read_cells(database, run_id)}
    for name in ("talk", "chat"):
        assert len(read_verdicts(database, run_id, keys[name])) == 1


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [("", r"q/1' is in several datasets \((talk, chat|chat, talk)\)"), ("news", "no answers of")],
)
def test_a_vote_that_fits_several_datasets_or_none_is_refused(
    database: Database, dataset: str, expected: str
):
    run_id = open_run(database, 2, datasets=["talk", "chat"], sample="q")
    with pytest.raises(DataError, match=expected):
        add_imported_votes(
            database,
            run_id,
            {dataset: [elsewhere(*MODELS[:2], sample="q/1")]},
            pairs=voting_pairs(database, run_id),
        )
    assert read_votes(database, run_id) == ()


def test_a_vote_that_fits_one_dataset_needs_no_name(database: Database):
    run_id = open_run(database, 2, datasets=["talk", "chat"])
    assert (
        add_imported_votes(
            database,
            run_id,
            {"": [elsewhere(*MODELS[:2], sample="chat/1")]},
            pairs=voting_pairs(database, run_id),
        )
        == 1
    )


def test_more_answers_make_more_pairs(database: Database):
    run_id = open_run(database, 3)
    assert (
        read_voting_progress(database, run_id, "ann", pairs=voting_pairs(database, run_id)).pairs
        == 3
    )
    with database.writing() as connection:
        connection.execute("DELETE FROM trial WHERE sample = 'talk/0'")
        connection.execute("UPDATE cell SET done = 2")
    assert (
        read_voting_progress(database, run_id, "ann", pairs=voting_pairs(database, run_id)).pairs
        == 2
    )


def test_votes_are_on_the_disk_when_they_are_cast(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = open_run(database)
    pairs = voting_pairs(database, run_id)
    kept: list[bool] = []
    writing = database.writing

    def recorded(*, durable: bool = False):
        kept.append(durable)
        return writing(durable=durable)

    monkeypatch.setattr(database, "writing", recorded)
    cast_vote(database, run_id, "ann", VoteInput(next(iter(pairs)), "a"), pairs=pairs)
    undo_vote(database, run_id, "ann")
    finish_voting(database, run_id, "ann")
    assert kept == [True] * 3
