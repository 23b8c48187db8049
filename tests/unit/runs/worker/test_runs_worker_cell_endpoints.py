"""A cell whose model is paid for, cannot be reached for a while, or turns single requests down."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from runs_examples import RESPONSE, add_run, dataset, spec

from evalui.errors import Cancelled, ModelError, RequestRejected, Unreachable
from evalui.messages import Sentence
from evalui.models.base import ReplyCount
from evalui.runs.worker import cell as engine
from evalui.runs.worker import waiting as wait_settings
from evalui.runs.worker.cell import CellRun, Interrupted
from evalui.store import queue, usage
from evalui.store.connection import Database
from evalui.store.runs import Lease, read_cells
from evalui.store.trials import read_trials
from evalui.store.usage import TokenCost, model_changes, reply_counts, throughputs
from evalui.types import Dataset, GeneratedText, Request, Response, Sample, Usage

QUESTIONS = 50


class Endpoint:
    """A model at which, before the request of each number, something may happen.

    Like a real one it yields what it has and raises `RequestRejected` after everything else.
    """

    name = "perfect"
    fingerprint = "f"
    abilities = frozenset({"next_token"})

    def __init__(self, refuses: Callable[[Request], bool] = lambda _: False) -> None:
        self.refuses = refuses
        self.events: dict[int, list[Exception]] = {}
        self.asked: Counter[Request] = Counter()
        self.turned_down: Counter[Request] = Counter()
        self.closed = 0

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        refused = 0
        try:
            for index, request in enumerate(requests):
                if coming := self.events.get(self.asked.total()):
                    raise coming.pop(0)
                if self.refuses(request):
                    self.turned_down[request] += 1
                    refused += 1
                    continue
                self.asked[request] += 1
                yield index, RESPONSE
        finally:
            self.closed += 1
        if refused:
            raise RequestRejected(
                "endpoint-refused",
                model=self.name,
                n=refused,
                reason="HTTP 400, too long",
            )

    def close(self) -> None:
        pass


class Paid(Endpoint):
    """Ten tokens in and one out for each request, answered or not, after a probe for five."""

    def usage(self) -> Usage:
        total = self.asked.total() + self.turned_down.total()
        return Usage(5 + 10 * total, total)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_settings, "FIRST_DELAY_S", 0.01)


@pytest.fixture
def held(database: Database) -> Lease:
    add_run(database, spec(pattern="circular"), dataset(QUESTIONS))
    run = queue.claim(database, "worker-1")
    assert run
    return run.lease


def work(
    database: Database,
    lease: Lease,
    model: Endpoint,
    given: Dataset | None = None,
    *,
    interrupted: Callable[[], bool] = lambda: False,
    on_batch: Callable[[], None] = lambda: None,
) -> None:
    cell = read_cells(database, lease.run_id)[0]
    CellRun(database, lease, cell, interrupted=interrupted, on_batch=on_batch).run(
        model,  # pyright: ignore[reportArgumentType]
        given or dataset(QUESTIONS),
    )


def silence(retry_after_s: float = 0.0) -> Unreachable:
    error = Unreachable(Sentence("http://a does not answer."))
    error.retry_after_s = retry_after_s
    return error


def test_a_model_that_was_away_is_sent_only_what_it_has_not_answered(
    database: Database, held: Lease
) -> None:
    model = Endpoint()
    model.events = {0: [silence(), silence()], 45: [silence()], 150: [silence()]}
    work(database, held, model)
    assert not any(model.events.values())
    assert set(model.asked.values()) == {1}
    assert model.asked.total() == len(read_trials(database, 1)) == 4 * QUESTIONS


def test_after_an_outage_amid_conversations_each_turn_is_asked_once(database: Database) -> None:
    class Talking(Endpoint):
        abilities = frozenset({"generate"})

        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            for index, _ in super().answer(requests):
                yield index, GeneratedText(f"Reply {index}.")

    talks = [
        Sample(f"sums/{n}", f"What is {n}?", target=("1", "2"), follow_ups=("And then?",))
        for n in range(40)
    ]
    given = replace(dataset(samples=talks), kind="general_qa", shots=())
    add_run(database, spec(mode="question_answer"), given)
    run = queue.claim(database, "worker-1")
    assert run
    model = Talking()
    model.events = {20: [silence()], 50: [silence()]}
    work(database, run.lease, model, given)
    assert not any(model.events.values())
    assert set(model.asked.values()) == {1}
    assert model.asked.total() == 2 * len(read_trials(database, 1)) == 80


def test_a_cell_states_why_it_waits_until_the_model_answers(
    database: Database, held: Lease
) -> None:
    model = Endpoint()
    model.events = {40: [silence(0.05), silence(0.05)], 70: [silence()]}
    seen: list[tuple[str, int]] = []

    def look() -> None:
        waiting = usage.model_waits(database, held.run_id)
        seen.append(
            (waiting[1].reason if waiting else "", read_cells(database, held.run_id)[0].done)
        )

    work(database, held, model, on_batch=look)
    done_before = [done for why, done in seen if why == "http://a does not answer."]
    assert done_before == [40, 40, 70]  # everything answered was written before it waited
    assert [why for why, _ in seen][-1] == ""


def test_each_wait_begins_when_the_last_answer_was_given(database: Database, held: Lease) -> None:
    model = Endpoint()
    model.events = {40: [silence(), silence()], 41: [silence()]}
    since: list[float] = []

    def look() -> None:
        since.extend(w.since for w in usage.model_waits(database, held.run_id).values())

    work(database, held, model, on_batch=look)
    assert len(since) == 3
    assert since[0] == since[1] < since[2]


def test_time_spent_waiting_is_no_pace(
    database: Database, held: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock:
        now, began = 0.0, time.time()

        def sleep(self, seconds: float) -> None:
            self.now += seconds

    class Busy(Endpoint):
        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            for answer in super().answer(requests):
                clock.now += 0.01
                yield answer

    clock = Clock()
    monkeypatch.setattr(time, "sleep", clock.sleep)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(time, "time", lambda: clock.began + clock.now)
    queue.start_cell(database, held, 1, "f")
    model = Busy()
    model.events = {40: [silence(100.0)]}
    work(database, held, model)
    (rate,) = throughputs(database).values()
    cell = read_cells(database, held.run_id)[0]
    assert clock.now == pytest.approx(100 + 2, rel=0.01)
    # What was answered just before it stopped answering is not counted.
    assert rate == pytest.approx(100, rel=0.2)
    assert cell.rate == pytest.approx(100, rel=0.2)
    assert cell.seconds == pytest.approx(2, rel=0.2)


def test_a_model_that_stays_away_fails_the_cell_and_what_is_answered_is_kept(
    database: Database, held: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALUI_PATIENCE_S", "0.1")
    model = Endpoint()
    model.events = {40: [silence() for _ in range(100)]}
    with pytest.raises(ModelError, match=r"http://a does not answer\. Given up after"):
        work(database, held, model)
    assert len(read_trials(database, 1)) == 40
    model.events.clear()
    work(database, held, model)
    assert set(model.asked.values()) == {1}
    assert len(read_trials(database, 1)) == 4 * QUESTIONS


def test_a_waiting_cell_stops_when_its_owner_stops_it(database: Database, held: Lease) -> None:
    model = Endpoint()
    model.events = {40: [silence(6000)]}  # no test lasts so long
    with pytest.raises(Cancelled):
        work(database, held, model, on_batch=lambda: queue.cancel(database, held.run_id))
    assert len(read_trials(database, 1)) > 0


def test_a_waiting_cell_ends_with_its_worker(database: Database, held: Lease) -> None:
    model = Endpoint()
    model.events = {40: [silence(60)]}

    def waiting() -> bool:
        return bool(usage.model_waits(database, held.run_id))

    with pytest.raises(Interrupted):
        work(database, held, model, interrupted=waiting)
    assert len(read_trials(database, 1)) == 40


def test_answers_on_their_way_are_given_up_before_the_model_is_closed(
    database: Database, held: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "FLUSH_S", 0.0)  # so that the cancel is met among the answers
    model = Endpoint()
    cell = read_cells(database, held.run_id)[0]
    queue.cancel(database, held.run_id)
    run = CellRun(database, held, cell, interrupted=lambda: False, on_batch=lambda: None)
    with pytest.raises(Cancelled) as caught:
        run.run(model, dataset(QUESTIONS))  # pyright: ignore[reportArgumentType]
    assert caught.tb  # the error still holds on to the frames
    assert (model.asked.total(), model.closed) == (1, 1)


def is_question(number: int) -> Callable[[Request], bool]:
    return lambda request: f"What is {number} plus" in str(request)


def test_refused_requests_fail_the_cell_at_its_end_with_their_count(
    database: Database, held: Lease
) -> None:
    model = Endpoint(refuses=is_question(7))
    with pytest.raises(ModelError) as caught:
        work(database, held, model)
    assert str(caught.value) == ("perfect rejected 4 of 200 requests: HTTP 400, too long.")
    assert len(read_trials(database, 1)) == 196
    assert set(model.turned_down.values()) == {1}


def test_resuming_asks_what_was_refused_and_nothing_else(database: Database, held: Lease) -> None:
    with pytest.raises(ModelError):
        work(database, held, Endpoint(refuses=is_question(7)))
    corrected = Endpoint()
    work(database, held, corrected)
    assert corrected.asked.total() == 4
    assert all(is_question(7)(request) for request in corrected.asked)
    assert len(read_trials(database, 1)) == 200


@pytest.mark.parametrize(("kept", "answered"), [((), 0), ((0, 3, 6), 12)], ids=["all", "most"])
def test_a_model_that_refuses_more_than_it_answers_is_sent_no_more(
    database: Database, held: Lease, kept: tuple[int, ...], answered: int
) -> None:
    model = Endpoint(refuses=lambda request: not any(is_question(n)(request) for n in kept))
    with pytest.raises(ModelError, match=f"rejected {32 - answered} of 32 requests"):
        work(database, held, model)
    assert (model.asked.total(), model.turned_down.total()) == (answered, 32 - answered)
    assert len(read_trials(database, 1)) == answered


def test_a_few_refusals_do_not_stop_a_small_cell(database: Database, held: Lease) -> None:
    model = Endpoint(refuses=lambda request: any(is_question(n)(request) for n in (0, 1, 2)))
    with pytest.raises(ModelError, match="rejected 12 of 200"):
        work(database, held, model)
    assert len(read_trials(database, 1)) == 188


def test_a_wait_and_a_refusal_may_come_together(database: Database, held: Lease) -> None:
    model = Endpoint(refuses=is_question(49))
    # The last ones come when nothing is left but what will be refused: that is an answer, too.
    model.events = {40: [silence()], 196: [silence()]}
    with pytest.raises(ModelError, match="rejected 4 of 200"):
        work(database, held, model)
    assert set(model.asked.values()) == {1}
    assert usage.model_waits(database, held.run_id) == {}


def test_what_a_metered_model_spends_is_kept_with_the_cell(database: Database, held: Lease) -> None:
    work(database, held, Paid())
    assert usage.cell_costs(database, held.run_id, {}) == {1: TokenCost(2000, 200)}


def test_refused_requests_are_paid_and_a_resumed_cell_adds_up(
    database: Database, held: Lease
) -> None:
    with pytest.raises(ModelError):
        work(database, held, Paid(refuses=is_question(7)))
    assert usage.cell_costs(database, held.run_id, {}) == {1: TokenCost(2000, 200)}
    work(database, held, Paid())
    assert usage.cell_costs(database, held.run_id, {}) == {1: TokenCost(2040, 204)}


def test_what_was_spent_before_a_failure_is_kept(database: Database, held: Lease) -> None:
    model = Paid()
    model.events = {33: [ZeroDivisionError()]}
    with pytest.raises(ZeroDivisionError):
        work(database, held, model)
    assert usage.cell_costs(database, held.run_id, {}) == {1: TokenCost(330, 33)}


def test_a_model_that_counts_nothing_leaves_no_charge(database: Database, held: Lease) -> None:
    work(database, held, Endpoint())
    assert usage.cell_costs(database, held.run_id, {}) == {}


class Drifting(Endpoint):
    """Its server says something else of it after the first reply."""

    def changes(self) -> tuple[str, ...]:
        return (Sentence("It changed."),) if self.asked.total() > 1 else ()


def test_what_a_server_says_of_a_change_in_mid_run_is_kept_with_the_run(
    database: Database, held: Lease
) -> None:
    work(database, held, Drifting())
    assert model_changes(database, held.run_id) == ("It changed.",)
    assert reply_counts(database, held.run_id) == (ReplyCount("perfect", 4 * QUESTIONS),)
