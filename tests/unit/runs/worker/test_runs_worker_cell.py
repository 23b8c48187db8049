from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from runs_examples import RESPONSE, add_run, dataset, spec

from evalui.errors import Cancelled, ModelError, RunLeaseLost
from evalui.models import ModelEntry, open_model
from evalui.runs.database.records import Lease
from evalui.runs.database.store import Store
from evalui.runs.database.throughput import throughputs
from evalui.runs.worker.cell import CellRun, Interrupted
from evalui.types import LabelProbs, Request, Response


class Scripted:
    """A model that gives one response, `answers` times, and then runs dry or breaks."""

    name = "perfect"
    fingerprint = "f"
    abilities = frozenset({"next_token"})

    def __init__(self, answers: int = 10**9, error: Exception | None = None) -> None:
        self.asked = 0
        self._answers = answers
        self._error = error

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index, _ in reversed(list(enumerate(requests))):
            if self.asked == self._answers:
                if self._error:
                    raise self._error
                return
            self.asked += 1
            yield index, RESPONSE

    def close(self) -> None:
        pass


def work(store: Store, lease: Lease, model: object, *, interrupt_after: int = 10**9) -> list[int]:
    """Do the first cell; the number of trials written after each batch."""
    batches: list[int] = []
    cell = CellRun(
        store,
        lease,
        store.cells(lease.run_id)[0],
        interrupted=lambda: len(batches) >= interrupt_after,
        on_batch=lambda: batches.append(store.cells(lease.run_id)[0].done),
    )
    cell.run(model, dataset(200))  # pyright: ignore[reportArgumentType]
    return batches


@pytest.fixture
def held(store: Store) -> Lease:
    add_run(store, spec(pattern="circular"), dataset(200))
    run = store.claim("worker-1")
    assert run
    return run.lease


def test_every_variant_is_asked_and_written_once(store: Store, held: Lease) -> None:
    model = Scripted()
    work(store, held, model)
    assert (model.asked, len(store.trials(1))) == (800, 800)
    assert store.cells(held.run_id)[0].cell.signature.count("perfect@f") == 1


def test_answers_are_written_while_the_cell_is_under_way(store: Store, held: Lease) -> None:
    batches = work(store, held, Scripted())
    assert len(batches) > 3
    assert batches == sorted(set(batches))


def test_answers_in_another_order_meet_their_questions(store: Store, held: Lease) -> None:
    entry = ModelEntry("perfect", "scripted", options={"rule": "perfect"})

    class Backwards(Scripted):
        def __init__(self) -> None:
            super().__init__()
            self._inner = open_model(entry)
            self._inner.learn(dataset(200).samples)  # pyright: ignore

        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            yield from reversed(list(self._inner.answer(requests)))

    work(store, held, Backwards())
    assert all(trial.correct for trial in store.trials(1))


def test_a_request_without_a_response_is_the_models_failure(store: Store, held: Lease) -> None:
    with pytest.raises(ModelError, match=r"perfect left \d+ of \d+ requests unanswered"):
        work(store, held, Scripted(answers=40))
    assert len(store.trials(1)) == 40


def test_what_was_answered_before_a_failure_is_kept(store: Store, held: Lease) -> None:
    with pytest.raises(ZeroDivisionError):
        work(store, held, Scripted(answers=40, error=ZeroDivisionError()))
    assert len(store.trials(1)) == 40
    model = Scripted()
    work(store, held, model)
    assert (model.asked, len(store.trials(1))) == (760, 800)


def test_what_is_done_is_not_asked_again_even_if_the_cache_is_empty(
    store: Store, held: Lease
) -> None:
    with pytest.raises(ModelError):
        work(store, held, Scripted(answers=40))
    with store.database.writing() as connection:
        connection.execute("DELETE FROM response")
    model = Scripted()
    work(store, held, model)
    assert (model.asked, len(store.trials(1))) == (760, 800)


def test_an_interruption_leaves_everything_answered_written(store: Store, held: Lease) -> None:
    model = Scripted()
    with pytest.raises(Interrupted):
        work(store, held, model, interrupt_after=2)
    assert 0 < model.asked == len(store.trials(1)) < 800


def test_a_cancel_stops_after_the_batch(store: Store, held: Lease) -> None:
    store.cancel(held.run_id)
    model = Scripted()
    with pytest.raises(Cancelled):
        work(store, held, model)
    assert 0 < model.asked == len(store.trials(1)) < 800


def test_a_lost_run_is_left_at_once(store: Store, held: Lease) -> None:
    store.requeue_worker("worker-1")
    model = Scripted()
    with pytest.raises(RunLeaseLost):
        work(store, held, model)
    assert (model.asked, store.trials(1)) == (0, ())


def test_a_run_again_asks_the_model_nothing(store: Store, held: Lease) -> None:
    work(store, held, Scripted())
    add_run(store, spec(pattern="circular"), dataset(200))
    again = store.claim("worker-2")
    assert again
    cell = store.cells(again.id)[0]
    model = Scripted()
    CellRun(store, again.lease, cell, interrupted=lambda: False, on_batch=lambda: None).run(
        model, dataset(200)
    )  # pyright: ignore[reportArgumentType]
    assert model.asked == 0
    assert store.trials(cell.id) == store.trials(1)


def test_the_speed_is_remembered(store: Store, held: Lease) -> None:
    work(store, held, Scripted())
    pace = throughputs(store.database)["perfect", "multiple_choice", 0]
    assert pace.rate > 0
    assert pace.size.sent >= pace.size.distinct > 0


def test_a_model_shown_other_answers_does_not_find_the_old_responses(
    store: Store, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    entry = ModelEntry("perfect", "scripted", options={"rule": "perfect", "log": str(log)})
    for target in (0, 1):
        samples = [s for s in dataset(200).samples if s.target == target]
        mended = dataset(samples=samples, name=f"sums{target}")
        add_run(store, spec(), mended)
        run = store.claim("worker-1")
        assert run
        cell = store.cells(run.id)[0]
        CellRun(store, run.lease, cell, interrupted=lambda: False, on_batch=lambda: None).run(
            open_model(entry), mended
        )
        store.finish(run.lease)
    assert len(log.read_text().splitlines()) == 100


def test_responses_are_kept_bit_by_bit(store: Store, held: Lease) -> None:
    work(store, held, Scripted())
    kept = store.database.row("SELECT request FROM response")
    assert kept
    (response,) = store.responses([kept["request"]]).values()
    assert isinstance(response, LabelProbs)
    assert response == RESPONSE
