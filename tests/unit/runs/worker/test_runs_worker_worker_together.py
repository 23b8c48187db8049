"""Models at endpoints work at the same time, and beside one that computes here."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from runs_examples import CATALOG, RESPONSE, dataset, spec

from evalui.errors import StoreError
from evalui.models.base import BACKENDS, ModelEntry
from evalui.runs.plan import plan_run
from evalui.runs.submit import create_run
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_cells, read_run
from evalui.types import Request, Response


class Meeting:
    """A model that answers nothing before all that take part are at work."""

    fingerprint, abilities = "f", frozenset({"next_token"})

    def __init__(self, name: str, barrier: threading.Barrier) -> None:
        self.name, self.barrier = name, barrier
        self.thread = ""
        self.stopped = threading.Event()

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        if not self.thread:
            self.thread = threading.current_thread().name
            self.barrier.wait(60)
        yield from ((index, RESPONSE) for index in range(len(requests)))

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        pass


@pytest.fixture
def catalog() -> Mapping[str, ModelEntry]:
    remote = {name: ModelEntry(name, "openai") for name in ("one", "two", "three")}
    return remote | {"here": ModelEntry("here", "scripted", options={"rule": "perfect"})}


def work(
    database: Database, catalog: Mapping[str, ModelEntry], models: Mapping[str, Meeting]
) -> str:
    asked, data = spec(models=list(models)), dataset(8)
    # Planned as models that need no server to be described.
    planned = {name: replace(CATALOG["perfect"], name=name) for name in models}
    add_dataset(database, data)
    run_id = create_run(database, asked, plan_run(asked, {asked.datasets[0].key: data}, planned))
    opener = lambda entry: models[entry.name]  # noqa: E731
    assert Worker(database, lambda: catalog, opener=opener).run_once()  # type: ignore[arg-type]
    return run_id


def test_models_at_endpoints_and_one_here_are_at_work_together(
    database: Database, catalog: Mapping[str, ModelEntry]
):
    barrier = threading.Barrier(4)
    models = {name: Meeting(name, barrier) for name in catalog}
    run_id = work(database, catalog, models)
    assert read_run(database, run_id).state == "done"
    assert [cell.done for cell in read_cells(database, run_id)] == [8] * 4
    assert models["here"].thread == threading.current_thread().name
    assert len({model.thread for model in models.values()}) == 4


def test_one_model_that_fails_leaves_the_others_at_work(
    database: Database, catalog: Mapping[str, ModelEntry]
):
    class Broken(Meeting):
        def answer(self, _: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            self.barrier.wait(60)
            raise ZeroDivisionError

    barrier = threading.Barrier(2)
    run_id = work(
        database, catalog, {"one": Broken("one", barrier), "two": Meeting("two", barrier)}
    )
    assert [cell.state for cell in read_cells(database, run_id)] == ["failed", "done"]


def test_what_ends_the_run_in_one_cell_ends_the_others(
    database: Database, catalog: Mapping[str, ModelEntry]
):
    class Waiting(Meeting):
        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            self.barrier.wait(60)
            assert self.stopped.wait(60)
            yield from ((index, RESPONSE) for index in range(len(requests)))

    class Full(Meeting):
        def answer(self, _: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            self.barrier.wait(60)
            raise StoreError("read-only")

    barrier = threading.Barrier(2)
    run_id = work(database, catalog, {"one": Full("one", barrier), "two": Waiting("two", barrier)})
    assert read_run(database, run_id).state == "failed"


def test_a_cancelled_run_ends_in_all_of_its_cells(
    database: Database, catalog: Mapping[str, ModelEntry]
):
    class Cancelling(Meeting):
        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            self.barrier.wait(60)
            queue.cancel(database, read_cells_run(database))
            yield from ((index, RESPONSE) for index in range(len(requests)))

    barrier = threading.Barrier(2)
    run_id = work(database, catalog, {name: Cancelling(name, barrier) for name in ("one", "two")})
    assert read_run(database, run_id).state == "cancelled"


def read_cells_run(database: Database) -> str:
    row = database.row("SELECT id FROM run")
    assert row
    return row["id"]


def test_the_backend_of_endpoints_is_remote():
    assert BACKENDS["openai"].traits.remote
