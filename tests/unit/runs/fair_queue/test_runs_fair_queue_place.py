"""Places and estimated starts: the turns are played through."""

import math
from collections.abc import Mapping

import pytest
from queue_examples import NO_LIMITS, add_owned, take

from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.database.throughput import Throughput, store_throughput
from evalui.runs.fair_queue.decisions import set_person_priority, set_queue_state
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.place import (
    QueueAhead,
    QueuedWork,
    QueuePlace,
    RunningWork,
    queue_ahead,
    queue_places,
    starts,
)
from evalui.runs.fair_queue.turns import WaitingRun
from evalui.runs.worker.heartbeat import WorkerStatus

ALL = {"a1": 10.0, "a2": 20.0, "b1": 5.0, "b2": 5.0}


def waiting(*names: str) -> list[WaitingRun]:
    return [WaitingRun(name, name[0], 0, False, 0.0, at, at) for at, name in enumerate(names)]


def test_one_worker_takes_turns_one_after_another() -> None:
    work = QueuedWork(waiting("a1", "a2", "b1", "b2"), [RunningWork("c", 7.0)], 1, ALL)
    assert starts(work) == [("a1", 7.0), ("b1", 17.0), ("a2", 22.0), ("b2", 42.0)]


def test_two_workers_take_what_comes_as_they_become_free() -> None:
    work = QueuedWork(waiting("a1", "a2", "b1", "b2"), [RunningWork("c", 7.0)], 2, ALL)
    assert starts(work) == [("a1", 0.0), ("b1", 7.0), ("a2", 10.0), ("b2", 12.0)]


def test_after_a_run_of_unknown_length_nothing_is_known() -> None:
    seconds: Mapping[str, float | None] = ALL | {"a1": None}
    assert starts(QueuedWork(waiting("a1", "b1"), [], 1, seconds)) == [
        ("a1", 0.0),
        ("b1", math.inf),
    ]
    assert starts(QueuedWork(waiting("a1", "b1", "b2"), [], 2, seconds)) == [
        ("a1", 0.0),
        ("b1", 0.0),
        ("b2", 5.0),
    ]


def test_who_may_have_one_run_at_work_waits_for_its_end() -> None:
    work = QueuedWork(waiting("a1", "a2", "b1", "b2"), [], 2, ALL, {"a": 1})
    assert starts(work) == [("a1", 0.0), ("b1", 0.0), ("b2", 5.0), ("a2", 10.0)]


def test_the_runs_of_a_held_owner_do_not_start() -> None:
    work = QueuedWork(waiting("a1", "b1"), [], 1, ALL, {}, frozenset("a"))
    assert starts(work) == [("b1", 0.0)]
    assert starts(QueuedWork(waiting("a1"), [], 1, ALL, {"a": 0})) == []


@pytest.fixture
def timed(database: Database) -> Database:
    """A store that knows the speed of the model: a run of six requests takes three seconds."""
    store_throughput(
        database, "perfect", "multiple_choice", 0, fingerprint="f", throughput=Throughput(2.0)
    )
    return database


def test_the_places_are_the_order_in_which_runs_are_taken(timed: Database) -> None:
    for owner in ("ada", "ada", "ada", "bob", "cy"):
        add_owned(timed, owner)
    set_person_priority(timed, "cy", 1)
    places = queue_places(timed, NO_LIMITS)
    promised = sorted(places, key=lambda run_id: places[run_id].place or 0)
    assert [places[run_id].starts_in_s for run_id in promised] == [0.0, 3.0, 6.0, 9.0, 12.0]
    taken: list[str] = []
    while run := take(timed):
        taken.append(run.id)
        queue.finish(timed, run.lease)
    assert taken == promised


def test_each_worker_that_is_there_counts(timed: Database) -> None:
    for name in ("one", "two"):
        WorkerStatus(timed, name).update()
    for _ in range(3):
        add_owned(timed, "ada")
    assert [place.starts_in_s for place in queue_places(timed, NO_LIMITS).values()] == [
        0.0,
        0.0,
        3.0,
    ]


def test_a_run_that_was_never_timed_leaves_the_next_without_an_estimate(database: Database) -> None:
    first, second = add_owned(database, "ada"), add_owned(database, "ada")
    places = queue_places(database, NO_LIMITS)
    assert places == {first: QueuePlace(1, 0.0), second: QueuePlace(2, None)}


def test_a_run_of_a_person_who_may_spend_no_more_has_a_reason_and_no_place(
    timed: Database,
) -> None:
    held, other = add_owned(timed, "ada"), add_owned(timed, "bob")
    with timed.writing() as connection:
        connection.execute(
            "INSERT INTO spending (owner, day, device_s) VALUES ('ada', '9999', 4e3)"
        )
    places = queue_places(timed, UserLimits(gpu_hours_week=1))
    assert places[other] == QueuePlace(1, 0.0)
    assert (places[held].place, places[held].starts_in_s) == (None, None)
    assert places[held].held.startswith("Your GPU time is used up until Monday.")


def test_a_paused_queue_keeps_its_places_and_starts_nothing(timed: Database) -> None:
    run_id = add_owned(timed, "ada")
    set_queue_state(timed, "paused")
    place = queue_places(timed, NO_LIMITS)[run_id]
    assert (place.place, place.starts_in_s) == (1, None)
    assert "paused the queue" in place.held


def test_a_new_run_of_a_person_comes_after_the_turns_before_it(timed: Database) -> None:
    assert queue_ahead(timed, "bob", NO_LIMITS) == QueueAhead(0, 0.0)
    for _ in range(10):
        add_owned(timed, "ada")
    take(timed)
    # One of ten runs is at work; its owner had a turn, and the other one had none.
    assert queue_ahead(timed, "bob", NO_LIMITS) == QueueAhead(1, 3.0)
    assert queue_ahead(timed, "ada", NO_LIMITS) == QueueAhead(10, 30.0)


def test_a_new_run_would_wait_for_a_limit(timed: Database) -> None:
    add_owned(timed, "ada")
    take(timed)
    ahead = queue_ahead(timed, "ada", UserLimits(running=1))
    assert (ahead.runs, ahead.seconds) == (1, 3.0)
    assert ahead.held.startswith("You may have 1 run at work at a time.")
