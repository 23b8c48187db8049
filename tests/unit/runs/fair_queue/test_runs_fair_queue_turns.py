"""Turns go round between people; limits, priorities and decisions make runs wait or go first."""

import random

import pytest
from queue_examples import MONDAY, NO_LIMITS, add_owned, spend, take, take_all

from evalui.errors import UnknownRun
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.turns import (
    hold_reason,
    read_decisions,
    set_person_priority,
    set_queue_state,
    set_run_priority,
)
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_run

DAY = 86_400.0


def test_a_person_with_one_run_does_not_wait_for_ten_of_another(database: Database) -> None:
    for _ in range(10):
        add_owned(database, "ada")
    add_owned(database, "bob")
    assert take_all(database) == ["ada", "bob", *["ada"] * 9]


def test_turns_go_round_and_the_runs_of_a_person_keep_their_order(database: Database) -> None:
    ids = {owner: [add_owned(database, owner) for _ in range(3)] for owner in ("ada", "bob", "cy")}
    taken: list[str] = []
    while run := take(database):
        taken.append(run.id)
        queue.finish(database, run.lease)
    assert taken == [each for group in zip(*ids.values(), strict=True) for each in group]


def test_a_turn_counts_from_when_it_was_taken_and_not_from_when_the_run_ended(
    database: Database,
) -> None:
    for owner in ("ada", "ada", "bob", "bob"):
        add_owned(database, owner)
    first, second = take(database, worker="one"), take(database, worker="two")
    assert first
    assert second
    assert (first.owner, second.owner) == ("ada", "bob")
    queue.finish(database, second.lease)
    third = take(database, worker="two")
    assert third
    assert third.owner == "ada"


def test_turns_keep_their_order_when_the_clock_is_set_back(database: Database) -> None:
    for owner in ("ada", "bob", "ada", "bob"):
        add_owned(database, owner)
    owners = [run.owner for at in (4, 3, 2, 1) if (run := take(database, now=MONDAY + at))]
    assert owners == ["ada", "bob", "ada", "bob"]


def test_the_highest_priority_goes_first_of_a_run_or_of_a_person(database: Database) -> None:
    add_owned(database, "ada")
    urgent = add_owned(database, "ada")
    add_owned(database, "bob")
    set_run_priority(database, urgent, 2)
    set_person_priority(database, "bob", 1)
    taken = take(database)
    assert taken
    assert taken.id == urgent
    assert take_all(database) == ["bob", "ada"]
    assert read_decisions(database).priorities == {"bob": 1}


def test_an_unknown_run_has_no_priority(database: Database) -> None:
    with pytest.raises(UnknownRun):
        set_run_priority(database, "none", 1)


@pytest.mark.parametrize("state", ["paused", "draining"])
def test_nothing_is_taken_while_an_administrator_says_so(database: Database, state: str) -> None:
    run_id = add_owned(database, "ada")
    set_queue_state(database, state)  # pyright: ignore[reportArgumentType]
    assert take(database) is None
    assert read_run(database, run_id).state == "queued"
    set_queue_state(database, "open")
    assert take(database)


def test_a_run_that_was_given_back_goes_on_before_the_next_turn(database: Database) -> None:
    add_owned(database, "ada")
    add_owned(database, "bob")
    begun = take(database)
    assert begun
    queue.release(database, begun.lease)
    again = take(database)
    assert again
    assert again.id == begun.id


def test_a_person_with_as_many_runs_at_work_as_they_may_have_waits(database: Database) -> None:
    for owner in ("ada", "ada", "bob"):
        add_owned(database, owner)
    usual = UserLimits(running=1)
    first, second = take(database, usual), take(database, usual)
    assert first
    assert second
    assert (first.owner, second.owner) == ("ada", "bob")
    assert take(database, usual) is None
    queue.finish(database, first.lease)
    assert take(database, usual)


@pytest.mark.parametrize(
    ("usual", "spent", "why"),
    [
        (UserLimits(tokens_day=100), {"tokens": 100}, "Your tokens for today"),
        (UserLimits(dollars_day=1.5), {"dollars": 1.5}, "Your dollars for today"),
    ],
)
def test_a_run_waits_until_its_owner_may_spend_again(
    database: Database, usual: UserLimits, spent: dict[str, float], why: str
) -> None:
    first = add_owned(database, "ada")
    spend(database, first, **{name: value * 0.99 for name, value in spent.items()})
    with database.reading() as connection:
        assert hold_reason(connection, "ada", usual, MONDAY) == ""
    spend(database, first, **spent)
    last = MONDAY + 24 * 3600 - 1
    with database.reading() as connection:
        assert hold_reason(connection, "ada", usual, last).startswith(why)
    assert take(database, usual, now=last) is None
    add_owned(database, "bob")
    other = take(database, usual, now=last)
    assert other
    assert other.owner == "bob"
    again = take(database, usual, now=last + 1)
    assert again
    assert again.id == first


def test_what_was_spent_the_day_before_does_not_count(database: Database) -> None:
    run_id = add_owned(database, "ada")
    spend(database, run_id, MONDAY - 1, tokens=1e6)
    assert take(database, UserLimits(tokens_day=1))


def test_what_was_spent_stays_when_the_run_is_deleted(database: Database) -> None:
    run_id = add_owned(database, "ada")
    spend(database, run_id, tokens=100)
    queue.delete(database, run_id)
    add_owned(database, "ada")
    assert take(database, UserLimits(tokens_day=100)) is None


@pytest.mark.parametrize("seed", range(20))
def test_no_run_starves(database: Database, seed: int) -> None:
    """However many runs others queue meanwhile, each run is taken after at most as many turns as
    there are people, for each run of its owner before it.
    """
    chance = random.Random(seed)
    people = [f"person-{number}" for number in range(chance.randint(2, 5))]
    before: dict[str, int] = {}
    own: dict[str, int] = dict.fromkeys(people, 0)
    waited: dict[str, int] = {}
    for turn in range(120):
        if turn < 60:
            for _ in range(chance.randint(0, 3)):
                owner = chance.choice(people)
                run_id = add_owned(database, owner)
                before[run_id], waited[run_id] = own[owner], 0
                own[owner] += 1
        run = take(database, NO_LIMITS, now=MONDAY + chance.uniform(-1, 1))
        if run is None:
            continue
        assert waited.pop(run.id) <= (before[run.id] + 1) * len(people)
        for waiting in waited:
            waited[waiting] += 1
        own[run.owner] -= 1
        if chance.random() < 0.1 and run.attempt == 1:  # its worker dies
            assert queue.requeue_lost(database, worker="worker-1") == 1
            again = take(database)
            assert again
            assert again.id == run.id
            run = again
        queue.finish(database, run.lease)
    while run := take(database):
        waited.pop(run.id)
        queue.finish(database, run.lease)
    assert waited == {}
