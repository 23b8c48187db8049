"""Places in the queue: the turns are played through."""

from queue_examples import NO_LIMITS, add_owned, spend, take

from evalui.runs.fair_queue import turns
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.turns import (
    QueueAhead,
    QueuePlace,
    WaitingRun,
    queue_ahead,
    queue_places,
    set_person_priority,
    set_queue_state,
    turn_order,
)
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.store import queue
from evalui.store.connection import Database


def waiting(*names: str) -> list[WaitingRun]:
    return [WaitingRun(name, name[0], 0, False, 0.0, at, at) for at, name in enumerate(names)]


def test_people_take_turns() -> None:
    assert turn_order(waiting("a1", "a2", "a3", "b1", "b2")) == ["a1", "b1", "a2", "b2", "a3"]
    assert turn_order([]) == []


def test_the_places_are_the_order_in_which_runs_are_taken(database: Database) -> None:
    for owner in ("ada", "ada", "ada", "bob", "cy"):
        add_owned(database, owner)
    set_person_priority(database, "cy", 1)
    places = queue_places(database, NO_LIMITS)
    promised = sorted(places, key=lambda run_id: places[run_id].place or 0)
    assert [places[run_id].place for run_id in promised] == [1, 2, 3, 4, 5]
    taken: list[str] = []
    while run := take(database):
        taken.append(run.id)
        queue.finish(database, run.lease)
    assert taken == promised


def test_a_run_of_a_person_who_may_spend_no_more_has_a_reason_and_no_place(
    database: Database,
) -> None:
    held, other = add_owned(database, "ada"), add_owned(database, "bob")
    spend(database, held, turns.time.time(), tokens=100)
    places = queue_places(database, UserLimits(tokens_day=100))
    assert places[other] == QueuePlace(1)
    assert places[held].place is None
    assert places[held].held.startswith("Your tokens for today are used up.")


def test_a_paused_queue_keeps_its_places_and_states_why(database: Database) -> None:
    run_id = add_owned(database, "ada")
    set_queue_state(database, "paused")
    place = queue_places(database, NO_LIMITS)[run_id]
    assert place.place == 1
    assert "paused the queue" in place.held


def test_a_new_run_of_a_person_comes_after_the_turns_before_it(database: Database) -> None:
    assert queue_ahead(database, "bob", NO_LIMITS) == QueueAhead(0)
    for _ in range(10):
        add_owned(database, "ada")
    take(database)
    # One of ten runs is at work; its owner had a turn, and the other one had none.
    assert queue_ahead(database, "bob", NO_LIMITS) == QueueAhead(1)
    assert queue_ahead(database, "ada", NO_LIMITS) == QueueAhead(10)
    for name in ("one", "two"):
        WorkerStatus(database, name).update()
    assert queue_ahead(database, "bob", NO_LIMITS) == QueueAhead(0), "a worker is free"


def test_runs_that_ask_endpoints_and_those_that_compute_pass_each_other(
    database: Database,
) -> None:
    run_id = add_owned(database, "ada")
    asks = {1: QueueAhead(0), 0: QueueAhead(1)}
    for computes_here, ahead in asks.items():
        with database.writing() as connection:
            connection.execute(
                "UPDATE cell SET computes_here = ? WHERE run = ?", (computes_here, run_id)
            )
        assert queue_ahead(database, "bob", NO_LIMITS, computes_here=False) == ahead


def test_a_new_run_would_wait_for_a_limit(database: Database) -> None:
    add_owned(database, "ada")
    take(database)
    ahead = queue_ahead(database, "ada", UserLimits(running=1))
    assert ahead.runs == 1
    assert ahead.held.startswith("You may have 1 run in progress at a time.")
