from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from runs_examples import RESPONSE, add_run, dataset, spec

from evalui.errors import Cancelled, EvaluiError, ModelError, RunLeaseLost
from evalui.models import ModelEntry, open_model
from evalui.modes.multiple_choice import MultipleChoice
from evalui.runs.worker import cell as engine
from evalui.runs.worker.cell import CellRun, Interrupted
from evalui.runs.worker.in_flight import MAX_SIZE, MIN_SIZE
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.response_cache import KeptResponse, get_responses
from evalui.store.runs import Lease, read_cells
from evalui.store.trials import read_trials
from evalui.store.usage import throughputs
from evalui.types import Request, Response, Sample, Trial


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


def work(
    database: Database, lease: Lease, model: object, *, interrupt_after: int = 10**9
) -> list[int]:
    """Do the first cell; the number of trials written after each batch."""
    batches: list[int] = []
    cell = CellRun(
        database,
        lease,
        read_cells(database, lease.run_id)[0],
        interrupted=lambda: len(batches) >= interrupt_after,
        on_batch=lambda: batches.append(read_cells(database, lease.run_id)[0].done),
    )
    cell.run(model, dataset(200))  # pyright: ignore[reportArgumentType]
    return batches


@pytest.fixture
def held(database: Database) -> Lease:
    add_run(database, spec(pattern="circular"), dataset(200))
    run = queue.claim(database, "worker-1")
    assert run
    return run.lease


def test_every_variant_is_prompted_and_written_once(database: Database, held: Lease) -> None:
    model = Scripted()
    work(database, held, model)
    assert (model.asked, len(read_trials(database, 1))) == (800, 800)
    assert read_cells(database, held.run_id)[0].cell.signature.count("perfect@f") == 1


def test_no_more_prompts_are_held_than_a_portion_has(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[str] = []
    held: list[int] = []

    class Counting(Scripted):
        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            held.append(len(planned) - self.asked)
            return super().answer(requests)

    def plan(mode: MultipleChoice, sample: Sample, *rest: Any) -> tuple[Request, ...]:
        planned.append(sample.id)
        return plan_one(mode, sample, *rest)

    model, plan_one = Counting(), MultipleChoice.plan
    big = dataset(600)
    add_run(database, spec(pattern="all_possible"), big)
    run = queue.claim(database, "worker-1")
    assert run
    (row,) = read_cells(database, run.id)
    monkeypatch.setattr(MultipleChoice, "plan", plan)
    CellRun(database, run.lease, row, interrupted=lambda: False, on_batch=lambda: None).run(
        model, big
    )  # pyright: ignore[reportArgumentType]
    assert model.asked == 600 * 24 > MAX_SIZE
    assert held[0] == MIN_SIZE
    assert max(held) <= MAX_SIZE


def test_answers_are_written_while_the_cell_is_under_way(database: Database, held: Lease) -> None:
    batches = work(database, held, Scripted())
    assert len(batches) > 3
    assert batches == sorted(set(batches))


def test_answers_in_another_order_meet_their_questions(database: Database, held: Lease) -> None:
    entry = ModelEntry("perfect", "scripted", options={"rule": "perfect"})

    class Backwards(Scripted):
        def __init__(self) -> None:
            super().__init__()
            self._inner = open_model(entry)
            self._inner.set_answer_key(dataset(200).samples)  # pyright: ignore

        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            yield from reversed(list(self._inner.answer(requests)))

    work(database, held, Backwards())
    assert all(trial.correct for trial in read_trials(database, 1))


def test_a_request_without_a_response_is_the_models_failure(
    database: Database, held: Lease
) -> None:
    with pytest.raises(ModelError, match=r"perfect left \d+ of \d+ requests unanswered"):
        work(database, held, Scripted(answers=40))
    assert len(read_trials(database, 1)) == 40


def test_what_was_answered_before_a_failure_is_kept(database: Database, held: Lease) -> None:
    with pytest.raises(ZeroDivisionError):
        work(database, held, Scripted(answers=40, error=ZeroDivisionError()))
    assert len(read_trials(database, 1)) == 40
    model = Scripted()
    work(database, held, model)
    assert (model.asked, len(read_trials(database, 1))) == (760, 800)


def test_what_is_done_is_not_requested_again_even_if_the_cache_is_empty(
    database: Database, held: Lease
) -> None:
    with pytest.raises(ModelError):
        work(database, held, Scripted(answers=40))
    with database.writing() as connection:
        connection.execute("DELETE FROM response")
    model = Scripted()
    work(database, held, model)
    assert (model.asked, len(read_trials(database, 1))) == (760, 800)


def test_an_interruption_leaves_everything_answered_written(
    database: Database, held: Lease
) -> None:
    model = Scripted()
    with pytest.raises(Interrupted):
        work(database, held, model, interrupt_after=2)
    assert 0 < model.asked == len(read_trials(database, 1)) < 800


def test_a_cancel_stops_after_the_batch(database: Database, held: Lease) -> None:
    queue.cancel(database, held.run_id)
    model = Scripted()
    with pytest.raises(Cancelled):
        work(database, held, model)
    assert 0 < model.asked == len(read_trials(database, 1)) < 800


def test_a_lost_run_is_left_at_once(database: Database, held: Lease) -> None:
    queue.requeue_lost(database, worker="worker-1")
    model = Scripted()
    with pytest.raises(RunLeaseLost):
        work(database, held, model)
    assert (model.asked, len(read_trials(database, 1))) == (0, 0)


def test_a_run_again_asks_the_model_nothing(
    database: Database, held: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(store: Database, keys: list[bytes]) -> dict[bytes, KeptResponse]:
        looked_up.append(len(keys))
        return get_responses(store, keys)

    looked_up: list[int] = []
    work(database, held, Scripted())
    add_run(database, spec(pattern="circular"), dataset(200))
    again = queue.claim(database, "worker-2")
    assert again
    cell = read_cells(database, again.id)[0]
    model = Scripted()
    monkeypatch.setattr(engine, "get_responses", count)
    CellRun(database, again.lease, cell, interrupted=lambda: False, on_batch=lambda: None).run(
        model, dataset(200)
    )  # pyright: ignore[reportArgumentType]
    assert model.asked == 0
    assert looked_up == [32, 64, 128, 256, 320]  # more at a time while all are known
    assert list(read_trials(database, cell.id)) == list(read_trials(database, 1))


def test_the_speed_is_remembered(database: Database, held: Lease) -> None:
    work(database, held, Scripted())
    assert throughputs(database)["perfect", "multiple_choice", 0] > 0


def test_what_a_model_does_once_is_no_speed(
    database: Database, held: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cold(Scripted):
        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            spent.append(0.01 * len(requests) + (0.0 if self.asked else 60.0))
            return super().answer(requests)

    spent: list[float] = []
    monkeypatch.setattr("evalui.runs.worker.cell.time.monotonic", lambda: sum(spent))
    work(database, held, Cold())
    assert sum(spent) == pytest.approx(68.0)
    assert throughputs(database)["perfect", "multiple_choice", 0] == pytest.approx(100.0)


def test_a_model_shown_other_answers_does_not_find_the_old_responses(
    database: Database, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    entry = ModelEntry("perfect", "scripted", options={"rule": "perfect", "log": str(log)})
    for target in (0, 1):
        samples = [s for s in dataset(200).samples if s.target == target]
        corrected = dataset(samples=samples, name=f"sums{target}")
        add_run(database, spec(), corrected)
        run = queue.claim(database, "worker-1")
        assert run
        cell = read_cells(database, run.id)[0]
        CellRun(database, run.lease, cell, interrupted=lambda: False, on_batch=lambda: None).run(
            open_model(entry), corrected
        )
        queue.finish(database, run.lease)
    assert len(log.read_text().splitlines()) == 100


def test_responses_are_kept_bit_by_bit(database: Database, held: Lease) -> None:
    work(database, held, Scripted())
    kept = database.row("SELECT request FROM response")
    assert kept
    (found,) = get_responses(database, [kept["request"]]).values()
    assert found.response == RESPONSE
    assert found.source
    assert found.source.run == held.run_id


def test_a_row_whose_grading_fails_is_told_and_all_others_stand(
    database: Database,
    held: Lease,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    grade = MultipleChoice.grade

    def fail_at_seven(mode: MultipleChoice, sample: Sample, *rest: Any) -> Trial:
        if sample.id == "sums/7":
            raise ValueError("could not convert string to float: '−7'")
        return grade(mode, sample, *rest)

    monkeypatch.setattr(MultipleChoice, "grade", fail_at_seven)
    model = Scripted()
    with pytest.raises(EvaluiError) as caught:
        work(database, held, model)
    assert str(caught.value).startswith(
        "evalui failed to grade 4 of 800 replies of perfect:"
        " ValueError: could not convert string to float: '−7'. No figure counts them;"
    )
    assert "1 question: sums/7." in str(caught.value)
    assert "in fail_at_seven" in caplog.text
    trials = read_trials(database, 1)
    assert len(trials) == 796
    assert "sums/7" not in trials.ids
    monkeypatch.setattr(MultipleChoice, "grade", grade)
    asked = model.asked
    work(database, held, model)
    assert (model.asked, len(read_trials(database, 1))) == (asked, 800)
