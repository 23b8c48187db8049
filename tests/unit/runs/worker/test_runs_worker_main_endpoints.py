"""A worker and models that do not answer: when they are opened, and from cell to cell."""

from collections.abc import Iterator, Sequence

import pytest
from runs_examples import CATALOG, RESPONSE, add_run, spec

from evalui.errors import Unreachable
from evalui.messages import Sentence
from evalui.models import Model
from evalui.runs.worker import waiting as wait_settings
from evalui.runs.worker.worker import Worker
from evalui.store import queue, usage
from evalui.store.connection import Database
from evalui.store.runs import read_cells, read_run
from evalui.types import Request, Response


class Away:
    """A model that answers, or never does."""

    name = "perfect"
    fingerprint = "f"
    abilities = frozenset({"next_token", "loglik"})

    def __init__(self, *, answers: bool) -> None:
        self.answers = answers
        self.closed = False

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index, _ in enumerate(requests):
            if not self.answers:
                raise silence()
            yield index, RESPONSE

    def close(self) -> None:
        self.closed = True


def silence() -> Unreachable:
    return Unreachable(Sentence("http://a does not answer."))


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_settings, "FIRST_DELAY_S", 0.01)


def test_a_model_that_cannot_be_opened_yet_is_waited_for(database: Database) -> None:
    run_id = add_run(database)
    reasons: list[str] = []
    opening = [silence(), silence()]

    def open_(_: object) -> Model:
        if opening:
            raise opening.pop()
        return Away(answers=True)  # pyright: ignore[reportReturnType] # its abilities are a wider set

    def look() -> None:
        reasons.extend(wait.reason for wait in usage.model_waits(database, run_id).values())

    assert Worker(database, lambda: CATALOG, opener=open_, on_batch=look).run_once(run_id)
    assert reasons == ["http://a does not answer."] * 2
    assert read_run(database, run_id).state == "done"
    assert usage.model_waits(database, run_id) == {}


def test_all_cells_of_a_model_that_stays_away_fail_after_one_wait(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALUI_PATIENCE_S", "0.1")
    run_id = add_run(database, spec(mode=["multiple_choice", "cloze"]))
    model, waited = Away(answers=False), set[int]()

    def look() -> None:
        waited.update(usage.model_waits(database, run_id))

    worker = Worker(database, lambda: CATALOG, opener=lambda _: model, on_batch=look)  # pyright: ignore[reportArgumentType] # as above
    assert worker.run_once(run_id)
    assert waited == {read_cells(database, run_id)[0].id}
    assert [cell.state for cell in read_cells(database, run_id)] == ["failed", "failed"]
    assert all("Given up after" in cell.error for cell in read_cells(database, run_id))
    assert model.closed


def test_a_run_that_is_stopped_while_its_model_is_waited_for_is_stopped(database: Database) -> None:
    run_id = add_run(database)

    def open_(_: object) -> Model:
        raise silence()

    worker = Worker(
        database, lambda: CATALOG, opener=open_, on_batch=lambda: queue.cancel(database, run_id)
    )
    assert worker.run_once(run_id)
    assert read_run(database, run_id).state == "cancelled"


def test_a_worker_that_ends_while_a_model_is_waited_for_gives_the_run_back(
    database: Database,
) -> None:
    run_id = add_run(database)

    def open_(_: object) -> Model:
        raise silence()

    def waiting() -> bool:
        return bool(usage.model_waits(database, run_id))

    assert Worker(database, lambda: CATALOG, opener=open_, stopping=waiting).run_once(run_id)
    assert read_run(database, run_id).state == "queued"
