"""A model that runs out of memory gets fewer requests at a time, and fails with advice."""

from collections.abc import Callable, Iterator, Sequence

import pytest
from runs_examples import CATALOG, RESPONSE, add_run, dataset, spec

from evalui.models.base import Model, is_out_of_memory
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.runs import read_cells, read_run
from evalui.store.trials import read_trials
from evalui.types import Request, Response


class OutOfMemoryError(RuntimeError):
    """Called as torch's."""


FULL = (
    OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
    MemoryError(),
)


class Small:
    """A model whose device holds `room` requests at a time; it answers some before it fails."""

    name, fingerprint, abilities = "perfect", "f", frozenset({"next_token"})

    def __init__(self, room: int, error: BaseException) -> None:
        self.room, self.error = room, error
        self.sizes: list[int] = []
        self.answered = 0

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        self.sizes.append(len(requests))
        for index, _ in enumerate(requests):
            if len(requests) > self.room and index == self.room // 2:
                raise self.error
            self.answered += 1
            yield index, RESPONSE

    def close(self) -> None:
        pass


def work(database: Database, model: object) -> str:
    run_id = add_run(database, spec(pattern="circular"), dataset(50))
    opener: Callable[[object], Model] = lambda _: model  # pyright: ignore # noqa: E731
    assert Worker(database, lambda: CATALOG, opener=opener).run_once()
    return run_id


@pytest.mark.parametrize("error", FULL)
def test_too_many_requests_at_a_time_are_halved_until_they_fit(
    database: Database, error: BaseException
) -> None:
    model = Small(5, error)
    run_id = work(database, model)
    assert read_run(database, run_id).state == "done"
    assert len(read_trials(database, 1)) == 200
    assert model.answered == 200, "what was answered before is not requested again"
    failed = [size for size in model.sizes if size > 5]
    assert failed == [32, 16, 8]
    assert set(model.sizes[len(failed) :]) <= {1, 2, 3, 4}, "and never more again"


def test_a_model_that_does_not_fit_at_all_fails_with_advice(database: Database) -> None:
    model = Small(0, FULL[0])
    run_id = work(database, model)
    (cell,) = read_cells(database, run_id)
    assert cell.state == "failed"
    assert model.sizes == [32, 16, 8, 4, 2, 1]
    for advice in ("EVALUI_TOKEN_BUDGET", "dtype", "another GPU", "Tried to allocate 2.00 GiB"):
        assert advice in cell.error
    assert "OutOfMemoryError" in cell.traceback


def test_a_model_that_cannot_be_loaded_for_lack_of_memory_fails_with_advice(
    database: Database,
) -> None:
    run_id = add_run(database)

    def load(_: object) -> Model:
        raise FULL[0]

    Worker(database, lambda: CATALOG, opener=load).run_once()
    assert "another GPU" in read_cells(database, run_id)[0].error


def test_other_errors_are_not_taken_for_a_lack_of_memory(database: Database) -> None:
    model = Small(5, RuntimeError("The shapes do not fit."))
    run_id = work(database, model)
    assert model.sizes == [32]
    error = read_cells(database, run_id)[0].error
    assert error.startswith("An unexpected error ended this: RuntimeError: The shapes do not fit")
    assert not is_out_of_memory(ValueError("out of memory"))
