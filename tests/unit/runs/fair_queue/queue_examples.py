"""Runs of several owners in one queue, and a worker that takes them by turns."""

from functools import partial

from runs_examples import dataset, plans_of, spec

from evalui.runs.fair_queue.limits import Spending, UserLimits, add_spending
from evalui.runs.fair_queue.turns import take_turn
from evalui.runs.submit import create_run
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import RunRow

MONDAY = 1_795_392_000.0  # 2026-11-23 00:00 UTC
NO_LIMITS = UserLimits()


def add_owned(database: Database, owner: str) -> str:
    add_dataset(database, dataset(), owner)
    return create_run(database, spec(name=f"of {owner}"), plans_of(spec()), owner)


def take(
    database: Database,
    usual: UserLimits = NO_LIMITS,
    *,
    now: float = MONDAY,
    worker: str = "worker-1",
) -> RunRow | None:
    return queue.claim(database, worker, choose=partial(take_turn, usual=usual, now=now))


def take_all(database: Database, usual: UserLimits = NO_LIMITS) -> list[str]:
    """The owners of all runs in the order in which one worker does them."""
    owners: list[str] = []
    while run := take(database, usual):
        owners.append(run.owner)
        queue.finish(database, run.lease)
    return owners


def spend(database: Database, run_id: str, now: float = MONDAY, **spent: float) -> None:
    with database.writing() as connection:
        add_spending(connection, run_id, Spending(**spent), now)  # pyright: ignore[reportArgumentType]


def add_person(database: Database, name: str) -> None:
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO person (name, role, created) VALUES (?, 'annotator', 0)", (name,)
        )
