"""A cell whose model takes further requests while it answers: nothing waits for the slowest."""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import pytest
from runs_examples import RESPONSE, add_run, dataset, sample, spec

from evalui.errors import Cancelled, ModelError
from evalui.models.base import Answer, ModelEntry, Rejection
from evalui.models.endpoint.driver import Job, JobStream, RetryPolicy, ServerPool
from evalui.models.endpoint.protocol import Json, RejectedError, RetryableError, Send
from evalui.models.endpoint.server import HttpServer
from evalui.runs.spec import RunSpec
from evalui.runs.worker import cell as engine
from evalui.runs.worker import waiting as wait_settings
from evalui.runs.worker.cell import CellRun
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import Lease, read_cells
from evalui.store.trials import read_trials
from evalui.types import (
    Dataset,
    Generate,
    GeneratedText,
    Loglik,
    Logprob,
    NextToken,
    Request,
    Response,
    Usage,
)

QUESTIONS = 250
TRIALS = 4 * QUESTIONS
WIDTH = 32
_LONGEST_S = 20  # that anything takes; what is awaited for longer never comes
QUICK = RetryPolicy(initial_delay=0.001, max_delay=0.02, initial_open_time=0.02, max_open_time=0.05)


class Place(HttpServer):
    def __init__(self) -> None:
        super().__init__("one", key="", timeout_s=1.0, total_s=5.0)

    async def send(self, path: str, body: Json) -> Json:
        del path, body
        return {}


class Model:
    """Answers each request by `answering`, which is told how many were answered before it."""

    name = "perfect"
    fingerprint = "f"
    abilities = frozenset({"next_token", "loglik", "generate"})

    def __init__(
        self,
        answering: "Answering",
        reply: Response | None = None,
        policy: RetryPolicy = QUICK,
    ) -> None:
        self.answering = answering
        self.reply = reply
        self.pool = ServerPool([Place()], concurrency=WIDTH, retries=1, retry_policy=policy)
        self.asked: Counter[Request] = Counter()
        self.handed = 0  # requests that a stream was given
        self.in_flight = self.most = self.answered = 0

    def stream(self) -> "Stream":
        return Stream(self, self.pool.stream(self.name))

    def job(self, request: Request) -> Job[Response]:
        async def answer(_: Send) -> Response:
            self.asked[request] += 1
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            try:
                await self.answering(self, request)
            finally:
                self.in_flight -= 1
            self.answered += 1
            return self.reply or _response(request)

        return answer

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        raise NotImplementedError

    def close(self) -> None:
        self.pool.close()


def _response(request: Request) -> Response:
    if isinstance(request, Loglik):
        return Logprob(-1.0, 1, greedy=False)
    return GeneratedText("A") if isinstance(request, Generate) else RESPONSE


Answering = Callable[[Model, Request], Awaitable[None]]


class Stream:
    def __init__(self, model: Model, jobs: JobStream[Response]) -> None:
        self.model = model
        self.jobs = jobs

    @property
    def width(self) -> int:
        return self.jobs.width

    @property
    def max_width(self) -> int:
        return self.jobs.max_width

    @property
    def waiting(self) -> int:
        return self.jobs.waiting

    def send(self, requests: Sequence[tuple[int, Request]], *, first: bool = False) -> None:
        self.model.handed += len(requests)
        self.jobs.send([(key, self.model.job(each)) for key, each in requests], first=first)

    def receive(self, timeout_s: float) -> Sequence[Answer[Response] | Rejection]:
        return self.jobs.receive(timeout_s)

    def usage(self) -> Usage:
        return self.jobs.usage

    def close(self) -> None:
        self.jobs.close()


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_settings, "FIRST_DELAY_S", 0.01)
    monkeypatch.setattr(wait_settings, "MAX_DELAY_S", 0.02)


@pytest.fixture
def held(database: Database) -> Lease:
    add_run(database, spec(pattern="circular"), dataset(QUESTIONS))
    run = queue.claim(database, "worker-1")
    assert run
    return run.lease


def work(
    database: Database,
    lease: Lease,
    answering: Answering,
    given: Dataset | None = None,
    *,
    reply: Response | None = None,
    policy: RetryPolicy = QUICK,
) -> Model:
    model, cell = Model(answering, reply, policy), read_cells(database, lease.run_id)[0]
    try:
        CellRun(database, lease, cell, interrupted=lambda: False, on_batch=lambda: None).run(
            model,  # type: ignore[arg-type]
            given or dataset(QUESTIONS),
        )
    finally:
        model.close()
    return model


def is_question(number: int) -> Callable[[Request], bool]:
    return lambda request: f"What is {number} plus" in str(request)


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(_LONGEST_S):
        while not reached():
            await asyncio.sleep(0.001)


def test_one_slow_reply_costs_one_slot_and_nothing_else(database: Database, held: Lease):
    """It comes when all others are there: with a barrier anywhere it would never."""

    async def answering(model: Model, _request: Request) -> None:
        if sum(model.asked.values()) == 1:
            await until(lambda: model.answered == TRIALS - 1)
            slots.append(model.most)
        else:
            await asyncio.sleep(0.001)

    slots: list[int] = []
    model = work(database, held, answering)
    assert len(read_trials(database, 1)) == TRIALS
    assert set(model.asked.values()) == {1}
    assert (slots, model.most) == ([WIDTH], WIDTH)


def test_what_is_answered_is_saved_while_a_slow_reply_is_awaited(database: Database, held: Lease):
    async def answering(model: Model, _request: Request) -> None:
        if sum(model.asked.values()) == 1:
            await until(lambda: read_cells(database, held.run_id)[0].done == TRIALS - 1)

    work(database, held, answering)
    assert len(read_trials(database, 1)) == TRIALS


@pytest.mark.parametrize("waiting", [0, 10**6], ids=["", "many refused"])
def test_no_more_is_sent_than_is_needed_soon(
    database: Database, held: Lease, monkeypatch: pytest.MonkeyPatch, waiting: int
):
    """A cell of any length keeps a bounded number of requests in hand, however many were refused
    and wait.
    """
    monkeypatch.setattr(JobStream, "waiting", waiting)
    more = min(waiting, 8 * WIDTH)
    handed: list[int] = []

    async def answering(model: Model, _request: Request) -> None:
        if sum(model.asked.values()) == WIDTH:  # the last that can be in flight
            await asyncio.sleep(0.2)
            handed.append(model.handed)
            queue.cancel(database, held.run_id)
        await asyncio.Event().wait()

    with pytest.raises(Cancelled):
        work(database, held, answering)
    assert WIDTH < handed[0] <= 3 * WIDTH + 32 + more < TRIALS


def test_what_is_answered_is_saved_within_a_fifth_of_a_second():
    assert engine.FLUSH_S <= 0.2


@pytest.mark.parametrize(
    "reply",
    [GeneratedText("A" * 1000), GeneratedText("A", thoughts="t" * 1000)],
    ids=["replies", "thoughts"],
)
def test_large_replies_are_saved_before_it_is_time(
    database: Database, monkeypatch: pytest.MonkeyPatch, reply: Response
):
    assert engine.MAX_UNSAVED <= 2**24
    monkeypatch.setattr(engine, "MAX_UNSAVED", 50_000)
    monkeypatch.setattr(engine, "FLUSH_S", 3600)
    monkeypatch.setattr(engine, "IDLE_S", 3600)
    add_run(database, spec(mode="generation"), dataset(QUESTIONS))
    run = queue.claim(database, "worker-1")
    assert run
    saved: list[int] = []

    async def answering(model: Model, _request: Request) -> None:
        if sum(model.asked.values()) == QUESTIONS:
            await until(lambda: model.answered == QUESTIONS - 1)
            await until(lambda: read_cells(database, run.lease.run_id)[0].done > QUESTIONS // 2)
            saved.append(read_cells(database, run.lease.run_id)[0].done)

    work(database, run.lease, answering, reply=reply)
    assert QUESTIONS // 2 < saved[0] < QUESTIONS


def test_refused_requests_that_wait_hold_up_no_others(database: Database, held: Lease):
    """A sixth is refused once, for longer than all others take."""
    patient = RetryPolicy(max_delay=6.0)
    answered: list[int] = []

    async def answering(model: Model, request: Request) -> None:
        if sum(model.asked.values()) == 1:  # a server that answers none of several is paused
            await until(lambda: model.answered == TRIALS - 1)
        elif model.asked[request] == 2:
            answered.append(model.answered)
        elif sum(model.asked.values()) % 6 == 0:
            raise RetryableError("busy", status=429, retry_after_s=6.0)

    work(database, held, answering, policy=patient)
    assert len(read_trials(database, 1)) == TRIALS
    assert answered[0] > 6 * (3 * WIDTH)  # more than if the refused ones counted as in hand


def test_how_many_are_sent_at_a_time_is_saved_with_the_answers(database: Database, held: Lease):
    async def answering(model: Model, _request: Request) -> None:
        width = model.pool.slots[0].limit.width
        width.now, width._hold_until = 12, math.inf  # as after a storm of refusals

    work(database, held, answering)
    (cell,) = read_cells(database, held.run_id)
    assert (cell.width, cell.max_width) == (12, WIDTH)
    queue.start_cell(database, held, cell.id, "f")
    (cell,) = read_cells(database, held.run_id)
    assert (cell.width, cell.max_width) == (0, 0)


def test_requests_that_begin_alike_are_sent_one_after_another(database: Database, held: Lease):
    """The orders of a question follow each other, and questions as in the file, whose subjects
    share worked examples: a server's cache of prefixes finds them.
    """
    sent: list[int] = []

    async def answering(_model: Model, request: Request) -> None:
        sent.append(int(str(request).partition("What is ")[2].split()[0]))
        await asyncio.sleep(0)

    work(database, held, answering)
    assert sent == [number for number in dict.fromkeys(sent) for _ in range(4)]
    assert sent == sorted(sent)


@pytest.mark.parametrize(
    "asked",
    [
        spec(mode="cloze"),
        spec(mode="cloze", shots=2),
        spec(mode="generation", shots=2, pattern="circular"),
    ],
    ids=["cloze", "cloze with examples", "replies with examples"],
)
def test_cloze_texts_and_worked_examples_are_sent_one_after_another(
    database: Database, asked: RunSpec
):
    """Texts of a question follow each other, and so do all questions with the same examples."""
    subjects = {"sums": 0, "more sums": 100}  # and their first numbers
    samples = [sample(at + n, subject=each) for each, at in subjects.items() for n in range(60)]
    shots = [sample(at + n, subject=each) for each, at in subjects.items() for n in (90, 91)]
    given = replace(dataset(samples=samples), shots=tuple(shots))
    add_run(database, asked, given)
    run = queue.claim(database, "worker-1")
    assert run
    sent: list[tuple[str, str]] = []

    async def answering(_model: Model, request: Request) -> None:
        assert not isinstance(request, NextToken)
        text = str(request.context if isinstance(request, Loglik) else request.prompt)
        examples, asks, question = text.rpartition("What is ")
        if asks:  # what is scored without its question shares nothing
            sent.append((examples, question.split()[0]))
        await asyncio.sleep(0)

    work(database, run.lease, answering, given)
    assert len(sent) == 4 * 120
    assert len([each for each, _ in groupby(sent)]) == 120, "no question is left and come back to"
    beginnings = [each for each, _ in groupby(examples for examples, _ in sent)]
    assert len(beginnings) == len(set(beginnings)) == (2 if asked.modes[0].shots else 1)


def test_a_rejected_request_is_told_and_the_others_go_on(database: Database, held: Lease):
    async def answering(_model: Model, request: Request) -> None:
        if is_question(7)(request):
            raise RejectedError("too long")

    with pytest.raises(ModelError, match=f"rejected 4 of {TRIALS} requests: too long"):
        work(database, held, answering)
    assert len(read_trials(database, 1)) == TRIALS - 4


def test_a_model_that_rejects_everything_is_sent_no_more(database: Database, held: Lease):
    async def answering(_model: Model, _request: Request) -> None:
        raise RejectedError("too long")

    with pytest.raises(ModelError, match="too long") as error:
        work(database, held, answering)
    told = int(str(error.value).split(" of ")[1].split()[0])
    assert told < 6 * WIDTH


def test_quick_rejections_do_not_outvote_slow_answers(database: Database, held: Lease):
    async def answering(_model: Model, request: Request) -> None:
        if is_question(1)(request) or is_question(2)(request) or is_question(3)(request):
            raise RejectedError("too long")
        await asyncio.sleep(0.05)

    with pytest.raises(ModelError, match=f"rejected 12 of {TRIALS} requests"):
        work(database, held, answering)
    assert len(read_trials(database, 1)) == TRIALS - 12


def test_after_an_outage_only_what_has_no_answer_is_sent_again(database: Database, held: Lease):
    outage = iter(range(40))  # failures

    async def answering(model: Model, request: Request) -> None:
        if model.answered >= 100 and next(outage, None) is not None:
            model.asked[request] -= 1
            raise RetryableError("gone", blame="server")

    model = work(database, held, answering)
    assert len(read_trials(database, 1)) == TRIALS
    assert model.answered == TRIALS


def test_an_error_that_is_not_foreseen_ends_the_cell_and_keeps_what_is_answered(
    database: Database, held: Lease
):
    async def answering(model: Model, _request: Request) -> None:
        if model.answered == 40:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work(database, held, answering)
    assert len(read_trials(database, 1)) == 40


def run_of_cells(database: Database, cells: int, questions: int) -> str:
    """A queued run of so many datasets, each with so many questions of its own."""
    sets = [
        dataset(name=f"set-{n}", samples=[sample(n * questions + i) for i in range(questions)])
        for n in range(cells)
    ]
    return add_run(database, spec(datasets=[{"path": f"{each.name}.csv"} for each in sets]), *sets)


def work_in_worker(database: Database, answering: Answering) -> Model:
    model = Model(answering)
    catalog = {"perfect": ModelEntry("perfect", "openai")}
    worker = Worker(database, lambda: catalog, opener=lambda _: model)  # type: ignore[arg-type]
    assert worker.run_once()
    return model


def test_slow_replies_of_twelve_cells_do_not_hold_up_the_last(database: Database):
    """The first reply of each cell comes when all others of all cells are there."""
    cells, questions = 12, 20
    run_id = run_of_cells(database, cells, questions)
    slow = [is_question(n * questions) for n in range(cells)]

    async def answering(model: Model, request: Request) -> None:
        if any(each(request) for each in slow):
            await until(lambda: model.answered >= cells * (questions - 1))

    work_in_worker(database, answering)
    assert [cell.state for cell in read_cells(database, run_id)] == ["done"] * cells
    assert [cell.done for cell in read_cells(database, run_id)] == [questions] * cells


def test_small_cells_fill_the_width_together(database: Database):
    """No reply comes before as many requests are on their way as the model works on at a time."""
    run_id = run_of_cells(database, 20, 3)

    async def answering(model: Model, _request: Request) -> None:
        await until(lambda: model.most == WIDTH)

    model = work_in_worker(database, answering)
    assert model.most == WIDTH
    assert [cell.done for cell in read_cells(database, run_id)] == [3] * 20


def test_a_cell_begins_only_when_those_before_it_leave_the_model_something_to_do(
    database: Database,
):
    run_id = run_of_cells(database, 6, 40)
    begun: list[int] = []

    async def answering(model: Model, _request: Request) -> None:
        if model.answered == 0 and sum(model.asked.values()) == WIDTH:
            await asyncio.sleep(0.2)
            begun.append(sum(c.state != "waiting" for c in read_cells(database, run_id)))
        await until(lambda: bool(begun))

    work_in_worker(database, answering)
    assert begun == [1]
