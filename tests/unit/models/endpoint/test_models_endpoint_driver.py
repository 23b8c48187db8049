"""Jobs that fail in all the ways there are, without a network."""

import asyncio
import itertools
import random
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial

import pytest

from evalui.errors import ModelError, RequestRejected, Unreachable
from evalui.models.base import Answer
from evalui.models.endpoint import driver as width
from evalui.models.endpoint.driver import Job, JobStream, RetryPolicy, ServerLimits, ServerPool
from evalui.models.endpoint.protocol import Blame, Json, RejectedError, RetryableError, Send
from evalui.models.endpoint.server import LOOP, HttpServer

QUICK = RetryPolicy(initial_delay=0.001, max_delay=0.02, initial_open_time=0.02, max_open_time=0.04)
LONG_OPEN = RetryPolicy(  # no server is tried again while a test lasts
    initial_delay=0.001, max_delay=0.02, initial_open_time=6000, max_open_time=6000
)


class Place(HttpServer):
    """A server that only has a name; jobs recognise it by what `send` returns."""

    def __init__(self, url: str) -> None:
        super().__init__(url, key="", timeout_s=1.0, total_s=5.0)

    async def send(self, path: str, body: Json) -> Json:
        del path, body
        return {"url": self.url}


def pool(
    *urls: str,
    retries: int = 3,
    concurrency: int = 2,
    policy: RetryPolicy = QUICK,
    requests_per_minute: float = 0.0,
    limits: ServerLimits | None = None,
) -> ServerPool:
    servers = [Place(url) for url in urls or ("one",)]
    return ServerPool(
        servers,
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        retries=retries,
        retry_policy=policy,
        limits=limits,
    )


def results(pool: ServerPool, *jobs: Job[str]) -> Mapping[int, str]:
    return dict(pool.run("m", dict(enumerate(jobs))))


async def where(send: Send) -> str:
    return str((await send("", {}))["url"])


class Failing:
    """A job that fails some times before it succeeds, everywhere or at one place."""

    def __init__(self, times: int, blame: Blame = "either", only: str = "") -> None:
        self.times = times
        self.blame: Blame = blame
        self.only = only
        self.places: list[str] = []

    async def __call__(self, send: Send) -> str:
        self.places.append(await where(send))
        if self.only in ("", self.places[-1]) and len(self.places) <= self.times:
            raise RetryableError("no luck", blame=self.blame)
        return self.places[-1]


def test_every_job_is_done_once():
    done: list[int] = []

    async def job(_: Send, n: int) -> str:
        done.append(n)
        return str(n)

    jobs = [partial(job, n=n) for n in range(200)]
    assert results(pool("a", "b", "c"), *jobs) == {n: str(n) for n in range(200)}
    assert sorted(done) == list(range(200))


def test_nothing_to_do_is_done_at_once():
    assert results(pool()) == {}


def test_a_failure_is_tried_again():
    job = Failing(3)
    assert results(pool(), job) == {0: "one"}
    assert len(job.places) == 4


def test_a_failure_is_tried_elsewhere_first():
    """With one attempt more than the first, none may be made in vain."""
    jobs = [Failing(99, "answer", only="a") for _ in range(30)]
    found = results(pool("a", "b", retries=1), *jobs)
    assert found == dict.fromkeys(range(30), "b")


@pytest.mark.parametrize("blame", ["server", "either"])
def test_a_server_without_any_answer_is_unreachable(blame: Blame):
    with pytest.raises(Unreachable, match="no luck") as error:
        results(pool(retries=1), *[Failing(99, blame) for _ in range(3)])
    assert error.value.retry_after_s >= 0


def test_a_request_that_no_server_bears_is_refused_if_others_are_answered():
    bad = Failing(99, "either")
    jobs: dict[int, Job[str]] = dict(enumerate([bad, *[where] * 40]))
    with pytest.raises(RequestRejected, match="to 1 requests"):
        dict(pool(retries=2).run("m", jobs, check=check))


def test_a_server_that_stops_after_some_answers_costs_no_request():
    answered, left = itertools.count(1), 6
    stopped = asyncio.Event()

    async def job(send: Send) -> str:
        if next(answered) <= left:
            return await where(send)
        # All that were sent before the last answer fail after it, twice.
        await stopped.wait()
        raise RetryableError("HTTP 408", status=408)

    never_open = RetryPolicy(initial_delay=0.001, max_delay=0.02, failure_threshold=999)
    stream = pool(retries=1, concurrency=4, policy=never_open).stream("m", check=away)
    stream.send(list(dict.fromkeys(range(20), job).items()))
    received: list[object] = []
    while len(received) < left:
        received += stream.receive()
    LOOP.submit(stopped.set)
    with pytest.raises(Unreachable, match="HTTP 408"):
        received += stream.receive()
    assert [type(outcome) for outcome in received] == [Answer] * left


def test_an_answer_that_is_never_usable_is_refused():
    with pytest.raises(RequestRejected, match="no luck"):
        results(pool(retries=2), Failing(99, "answer"))


def test_answers_that_cannot_be_used_do_not_close_the_server():
    mine = pool(retries=0)
    with pytest.raises(RequestRejected, match="to 20 requests"):
        results(mine, *[Failing(99, "answer") for _ in range(20)])
    assert not mine.slots[0].limit.breaker.is_open


async def declined(_: Send) -> str:
    raise RejectedError("too long")


def test_refusals_are_counted_and_reported_with_their_reason():
    found: dict[int, str] = {}
    with pytest.raises(RequestRejected, match=r"to 2 requests: too long\."):
        found.update(pool().run("m", dict(enumerate([where, declined, where, declined]))))
    assert sorted(found) == [0, 2]


def test_an_error_of_a_job_is_raised_at_once():
    async def locked(_: Send) -> str:
        raise ModelError("endpoint-down", reason="x")

    started: list[int] = []

    async def waiting(_: Send) -> str:
        started.append(1)
        await asyncio.Event().wait()
        return ""

    with pytest.raises(ModelError):
        results(pool(concurrency=2), locked, *[waiting] * 50)
    assert len(started) <= 1


def test_a_dead_server_is_put_aside_and_the_other_does_the_work():
    tried: list[str] = []

    async def job(send: Send) -> str:
        tried.append(await where(send))
        if tried[-1] == "dead":
            raise RetryableError("gone", blame="server")
        return "well"

    found = results(pool("dead", "well", concurrency=4, policy=LONG_OPEN), *[job] * 100)
    assert found == dict.fromkeys(range(100), "well")
    # At most what opens the circuit, and what was on its way by then.
    assert tried.count("dead") < LONG_OPEN.failure_threshold + 4


def test_a_server_that_is_put_aside_stays_so_for_the_next_call():
    mine = pool(retries=0, policy=LONG_OPEN)
    with pytest.raises(Unreachable):
        results(mine, *[Failing(99, "server") for _ in range(9)])
    late = Failing(0)
    with pytest.raises(Unreachable) as error:
        results(mine, late)
    assert late.places == []
    assert 5000 < error.value.retry_after_s <= 6000


def test_what_a_busy_server_requests_is_waited_for_if_it_is_short():
    """Many requests are told the same at once, which is no outage."""
    left = list(range(8))

    async def job(_: Send) -> str:
        if left:
            left.pop()
            raise RetryableError("busy", blame="server", status=429, retry_after_s=0.01)
        return "well"

    mine = pool(concurrency=8, retries=8)
    assert results(mine, *[job] * 8) == dict.fromkeys(range(8), "well")
    assert not mine.slots[0].limit.breaker.is_open


def test_what_a_busy_server_requests_is_passed_on_if_it_is_long():
    async def busy(_: Send) -> str:
        raise RetryableError("busy", blame="server", retry_after_s=3000.0)

    with pytest.raises(Unreachable, match="busy") as error:
        results(pool(), busy, busy)
    assert 2000 < error.value.retry_after_s <= 3000


def test_requests_keep_their_distance_if_there_is_a_limit():
    mine = pool(concurrency=8, requests_per_minute=6000.0)
    began = time.monotonic()
    results(mine, *[where] * 5)
    assert mine.slots[0].limit.next_request_at - began >= 5 * 0.01
    assert time.monotonic() - began >= 4 * 0.01


def test_every_request_of_a_job_keeps_its_distance():
    sent: list[float] = []

    async def job(send: Send) -> str:
        for _ in range(3):
            await send("", {})
            sent.append(time.monotonic())
        return ""

    began = time.monotonic()
    results(pool(concurrency=4, requests_per_minute=6000.0), *[job] * 4)
    assert len(sent) == 12
    assert all(at - began >= place * 0.01 for place, at in enumerate(sorted(sent)))


def test_a_queued_job_ends_when_the_run_is_stopped():
    sent: list[str] = []

    async def job(send: Send) -> str:
        for _ in range(3):
            sent.append(await where(send))
            mine.stop()
        return ""

    mine = pool(requests_per_minute=0.01)
    with pytest.raises(Unreachable, match="told to stop"):
        results(mine, job)
    assert sent == ["one"]
    assert not mine.slots[0].limit.breaker.is_open


def test_waiting_for_a_server_that_hangs_can_be_stopped():
    begun = threading.Barrier(3)

    async def job(send: Send) -> str:
        asyncio.get_running_loop().run_in_executor(None, begun.wait)
        return await endless(send)

    def stop() -> None:
        begun.wait()
        mine.stop()

    mine = pool(concurrency=2)
    threading.Thread(target=stop, daemon=True).start()
    with pytest.raises(Unreachable, match="told to stop"):
        results(mine, where, job, job, where)
    assert results(mine, where) == {0: "one"}


def test_what_is_answered_before_a_stop_is_not_lost():
    mine, found = pool(concurrency=1), []
    done = threading.Event()

    async def last(send: Send) -> str:
        asyncio.get_running_loop().call_soon(done.set)
        return await where(send)

    answers = mine.run("m", {0: where, 1: where, 2: last, 3: endless})
    found.append(next(answers)[0])
    assert done.wait(60)
    mine.stop()
    with pytest.raises(Unreachable, match="told to stop"):
        found.extend(key for key, _ in answers)
    assert found == [0, 1, 2]


async def endless(_: Send) -> str:
    await asyncio.Event().wait()
    return ""


def test_a_trial_under_way_has_no_known_wait():
    mine = pool(retries=0)
    with pytest.raises(Unreachable):
        results(mine, *[Failing(99, "server") for _ in range(9)])
    mine.slots[0].limit.breaker.trial_in_flight = True
    with pytest.raises(Unreachable) as error:
        results(mine, where)
    assert error.value.retry_after_s == 0


def test_as_much_is_requested_at_once_as_is_allowed_and_no_more():
    busy, most = 0, 0

    async def job(_: Send) -> str:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.005)
        busy -= 1
        return ""

    results(pool(concurrency=3), *[job] * 12)
    assert most == 3


def test_closing_the_iterator_ends_what_is_under_way_and_sends_nothing_more():
    ended: list[int] = []

    async def job(send: Send) -> str:
        try:
            if ended:
                await endless(send)
        finally:
            ended.append(0)
        return ""

    mine = pool(concurrency=1)
    answering = mine.run("m", dict.fromkeys(range(99), job))
    next(answering)
    answering.close()  # type: ignore[attr-defined]
    results(mine, where)  # after what was submitted before
    assert len(ended) <= 2
    assert mine.slots[0].in_flight == 0


async def check(send: Send) -> None:
    await send("", {})


async def away(_: Send) -> None:
    raise RetryableError("gone", blame="server")


async def gateway_timeout(_: Send) -> str:
    raise RetryableError("HTTP 504", blame="server", status=504)


def test_a_job_that_always_times_out_at_a_gateway_is_refused_and_ends_no_run():
    found: dict[int, str] = {}
    jobs = dict(enumerate([where, gateway_timeout, where]))
    with pytest.raises(RequestRejected, match="to 1 requests: HTTP 504"):
        found.update(pool(retries=1).run("m", jobs, check=check))
    with pytest.raises(RequestRejected, match="to 1 requests: HTTP 504"):
        found.update(pool(retries=1).run("m", {1: gateway_timeout}, check=check))


def collect(found: dict[int, str], answers: Iterator[tuple[int, str]]) -> None:
    """Keep what is answered before an error is raised."""
    for key, answer in answers:
        found[key] = answer


def test_many_such_jobs_are_refused_though_they_put_the_server_aside():
    jobs = dict(enumerate([gateway_timeout] * 12 + [where] * 12))
    found: dict[int, str] = {}
    with pytest.raises(RequestRejected, match="to 12 requests"):
        collect(found, pool(retries=1).run("m", jobs, check=check))
    assert sorted(found) == list(range(12, 24))


def test_a_server_that_does_not_answer_the_check_is_waited_for():
    with pytest.raises(Unreachable, match="HTTP 504"):
        dict(pool(retries=1).run("m", {0: gateway_timeout}, check=away))


def test_an_outage_that_is_over_by_then_costs_no_answer():
    failing = Failing(2, "server")  # as often as it is tried
    assert dict(pool(retries=1).run("m", {0: failing}, check=check)) == {0: "one"}
    assert len(failing.places) == 3


def test_an_outage_that_begins_again_is_no_fault_of_the_request():
    checks, mine = iter([check, away]), pool(retries=1)
    with pytest.raises(Unreachable, match="HTTP 504"):
        dict(mine.run("m", {0: gateway_timeout}, check=lambda send: next(checks)(send)))


@pytest.mark.parametrize(
    "error",
    [RejectedError("max_tokens is too low"), RetryableError("another model", blame="answer")],
)
def test_a_refused_check_shows_that_the_server_is_well(error: Exception):
    async def refused(_: Send) -> None:
        raise error

    with pytest.raises(RequestRejected, match="HTTP 504"):
        dict(pool(retries=0).run("m", {0: gateway_timeout}, check=refused))


def test_a_server_that_wants_fewer_requests_is_not_checked():
    async def limited(_: Send) -> str:
        raise RetryableError("slow down", blame="server", status=429)

    asked: list[int] = []

    async def noted(_: Send) -> None:
        asked.append(1)

    with pytest.raises(Unreachable, match="slow down"):
        dict(pool(retries=0).run("m", {0: limited}, check=noted))
    assert asked == []


def test_a_check_that_hangs_is_ended_with_the_run():
    mine = pool(retries=0)

    async def hanging(_: Send) -> None:
        mine.stop()
        await asyncio.Event().wait()

    with pytest.raises(Unreachable, match="told to stop"):
        dict(mine.run("m", {0: gateway_timeout}, check=hanging))


def test_all_distinct_reasons_are_reported_the_most_frequent_first():
    async def filtered(_: Send) -> str:
        raise RejectedError("filtered")

    jobs = dict(enumerate([filtered, declined, declined, where]))
    with pytest.raises(RequestRejected) as error:
        dict(pool().run("m", jobs))
    assert str(error.value).endswith("to 3 requests: 2 times: too long; 1 time: filtered.")


def busy_error() -> RetryableError:
    return RetryableError("busy", blame="server", status=429, retry_after_s=0.02)


def test_a_refused_request_waits_alone():
    """All others are answered before it is sent again, and it costs no attempt."""
    done: list[str] = []
    refusals = iter(range(3))  # fewer than a quarter of a cohort, whenever they come

    async def refused(_: Send) -> str:
        # Only while others are under way, however slow the machine is.
        if len(done) < 150 and next(refusals, None) is not None:
            raise busy_error()
        done.append("refused")
        return ""

    async def other(_: Send) -> str:
        await asyncio.sleep(0.001)
        done.append("other")
        return ""

    mine = pool(concurrency=4, retries=0)
    assert len(results(mine, refused, *[other] * 300)) == 301
    assert done.count("refused") == 1
    assert done.count("other") == 300
    assert mine.slots[0].limit.width.now == 4


def test_a_server_that_takes_fewer_at_a_time_is_sent_as_many_as_it_takes(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(width, "_HOLD_S", 6000)  # more is tried after this time
    live, most, refused = 0, 0, 0

    async def job(_: Send) -> str:
        nonlocal live, most, refused
        if live >= 32:
            refused += 1
            raise busy_error()
        live += 1
        most = max(most, live)
        await asyncio.sleep(0.01)
        live -= 1
        return ""

    mine = pool(concurrency=64)
    assert len(results(mine, *[job] * 2000)) == 2000
    assert most == 32
    assert mine.slots[0].limit.width.now == 32
    assert refused < 64


def test_refusals_by_chance_cost_only_those_that_are_refused():
    drawn, sent = random.Random(0), 0

    async def job(_: Send) -> str:
        nonlocal sent
        sent += 1
        await asyncio.sleep(0)
        if drawn.random() < 0.1:
            raise busy_error()
        await asyncio.sleep(0.01)
        return ""

    mine = pool(concurrency=64)
    assert len(results(mine, *[job] * 2000)) == 2000
    assert sent < 2400
    assert mine.slots[0].limit.width.now > 50


def test_models_of_one_server_share_its_limit_and_take_turns():
    limits, live, most = ServerLimits(), 0, 0
    order: list[str] = []

    def job_of(name: str) -> Job[str]:
        async def job(_: Send) -> str:
            nonlocal live, most
            await begin.wait()
            order.append(name)
            live += 1
            most = max(most, live)
            await asyncio.sleep(0.002)
            live -= 1
            return name

        return job

    pools = [
        ServerPool([Place("one")], concurrency=4, retry_policy=QUICK, limits=limits)
        for _ in range(2)
    ]
    streams = [each.stream("m") for each in pools]
    begin = asyncio.Event()
    for name, stream in zip("ab", streams, strict=True):
        stream.send([(key, job_of(name)) for key in range(100)])
    LOOP.submit(begin.set)  # both have sent by then
    for stream in streams:
        receive_all(stream, 100)
    assert most == 4
    assert 40 <= order[:100].count("a") <= 60


def receive_all(stream: JobStream[str], left: int) -> None:
    """Receive so many outcomes, and close the stream."""
    while left:
        left -= len(stream.receive())
    stream.close()


def test_what_is_sent_first_is_done_before_what_waits():
    done: list[int] = []

    def job_of(number: int) -> Job[str]:
        async def job(_: Send) -> str:
            await begin.wait()
            done.append(number)
            return ""

        return job

    stream, begin = pool(concurrency=1).stream("m"), asyncio.Event()
    stream.send([(key, job_of(key)) for key in range(50)])
    stream.send([(50, job_of(50))], first=True)
    LOOP.submit(begin.set)
    receive_all(stream, 51)
    assert done == [0, 50, *range(1, 50)]
