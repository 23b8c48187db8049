"""How long a model that does not answer is waited for; the clock is the test's own."""

import time

import pytest

from evalui.errors import Cancelled, Unreachable
from evalui.messages import Sentence
from evalui.runs.worker import waiting as wait_settings
from evalui.runs.worker.waiting import WaitForModel
from evalui.store.usage import ModelWait


class Clock:
    """Time that passes only in a sleep."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: made.now)
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0 + made.now)
    monkeypatch.setattr(time, "sleep", made.sleep)
    return made


def silence(retry_after_s: float = 0.0) -> Unreachable:
    error = Unreachable(
        Sentence("http://a does not answer.", "error.no-answer", {"url": "http://a"})
    )
    error.retry_after_s = retry_after_s
    return error


def waits(seconds: float, reported: list[ModelWait]) -> WaitForModel:
    return WaitForModel(seconds, on_wait=reported.append, check_cancelled=lambda: None)


def pauses(reported: list[ModelWait], began: list[float]) -> list[float]:
    return [
        round(wait.retry_at - 1_700_000_000 - start, 3)
        for wait, start in zip(reported, began, strict=True)
    ]


def waited(clock: Clock, seconds: float, retry_after_s: float = 0.0) -> list[float]:
    """How long each pause is until the waiting time is over."""
    reported: list[ModelWait] = []
    began: list[float] = []
    waiting = waits(seconds, reported)

    def ask() -> None:
        began.append(clock.now)
        raise silence(retry_after_s)

    with pytest.raises(Unreachable):
        waiting.call_until_reachable(ask)
    return pauses(reported, began[:-1])


def test_pauses_grow_to_a_minute_and_end_with_the_waiting_time(clock: Clock) -> None:
    assert waited(clock, 200) == [1, 2, 4, 8, 16, 32, 60, 60, 17]
    assert clock.now == 1200


def test_the_model_is_not_tried_before_the_server_states(clock: Clock) -> None:
    assert waited(clock, 25, retry_after_s=10) == [10, 10]


def test_without_waiting_time_there_is_no_wait(clock: Clock) -> None:
    assert waited(clock, 0) == []


def test_who_gives_up_says_why_and_after_how_long() -> None:
    reported: list[ModelWait] = []
    waiting = waits(90, reported)
    with pytest.raises(Unreachable) as caught:
        waiting.call_until_reachable(lambda: (_ for _ in ()).throw(silence()))
    assert str(caught.value) == (
        "http://a does not answer. Given up after 1.5 minutes without an answer; "
        "resume the run to go on."
    )
    assert {wait.since for wait in reported} == {1_700_001_000.0}


def test_a_server_that_wants_more_time_than_there_is_ends_it_at_once(clock: Clock) -> None:
    with pytest.raises(
        Unreachable, match=r"asked again at [-0-9 ]*\d\d:\d\d; resume the run then\.$"
    ):
        waits(1800, []).wait(silence(3600))
    with pytest.raises(Unreachable, match=r"again at 20\d\d-\d\d-\d\d \d\d:\d\d; resume"):
        waits(1800, []).wait(silence(86400))
    assert clock.slept == []


def test_an_answer_restarts_the_waiting_time(clock: Clock) -> None:
    reported: list[ModelWait] = []
    waiting = waits(10, reported)
    for _ in range(3):
        waiting.wait(silence())
    assert waiting.is_waiting
    waiting.reset()
    assert not waiting.is_waiting
    began = clock.now
    waiting.wait(silence())
    assert clock.now - began == wait_settings.FIRST_DELAY_S
    assert reported[-1].since == 1_700_000_000.0 + began


def test_it_looks_up_twice_a_second(clock: Clock) -> None:
    looks: list[float] = []

    def look() -> None:
        looks.append(clock.now)
        if clock.now > 1003:
            raise Cancelled(Sentence("The run was stopped."))

    with pytest.raises(Cancelled):
        WaitForModel(100, on_wait=lambda _: None, check_cancelled=look).wait(silence(60))
    assert clock.now <= 1003.5
    assert max(clock.slept) <= wait_settings.CHECK_INTERVAL_S


def test_a_cancel_that_is_there_already_ends_it_at_once(clock: Clock) -> None:
    def look() -> None:
        raise Cancelled(Sentence("The run was stopped."))

    with pytest.raises(Cancelled):
        WaitForModel(100, on_wait=lambda _: None, check_cancelled=look).wait(silence(60))
    assert clock.slept == []


@pytest.mark.parametrize("seconds", [0, 10], ids=["at its end", "asked to wait for longer"])
def test_a_cancelled_wait_has_not_timed_out(seconds: float) -> None:
    def look() -> None:
        raise Cancelled(Sentence("The run was stopped."))

    with pytest.raises(Cancelled):
        WaitForModel(seconds, on_wait=lambda _: None, check_cancelled=look).wait(silence(60))


def test_a_call_is_repeated_until_it_answers(clock: Clock) -> None:
    replies = [silence(), silence(5), "open"]

    def ask() -> str:
        reply = replies.pop(0)
        if isinstance(reply, Unreachable):
            raise reply
        return reply

    reported: list[ModelWait] = []
    waiting = waits(100, reported)
    assert waiting.call_until_reachable(ask) == "open"
    assert (len(reported), waiting.is_waiting, clock.now) == (2, False, 1006)
