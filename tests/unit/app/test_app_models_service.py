"""States that take a network are asked in threads; nobody waits longer than they said."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from drawn_page import DrawnPage

from evalui.app.service import AppService
from evalui.errors import ModelError
from evalui.messages import Sentence
from evalui.models.base import BACKENDS, ModelEntry
from evalui.models.catalog import ModelStatus, probe_again, statuses
from evalui.models.endpoint import backend as status
from evalui.models.endpoint.backend import EndpointStatus, OpenAIBackend
from evalui.models.endpoint.requests import Capabilities
from evalui.models.endpoint.server import HttpServer

FAR = '[far]\nbackend = "slow"\npath = "m"\noptions = { base_url = "http://far/v1" }\n'


class Slow:
    """Endpoints that answer their probes when the test lets them."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.asked = 0
        self.ahead = 0.0  # seconds that the clock of those who ask is ahead
        self.error: Exception | None = None

    def __call__(self, server: HttpServer, model: str) -> Capabilities:
        del server, model
        self.asked += 1
        assert self.open.wait(100), "the test lets every probe end"
        if self.error:
            raise self.error
        return Capabilities(chat=True)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    prober = Slow()
    backend = OpenAIBackend(EndpointStatus(prober, lambda: time.monotonic() + prober.ahead))
    monkeypatch.setitem(BACKENDS._entries, "slow", backend)  # pyright: ignore[reportPrivateUsage]
    yield prober
    prober.open.set()


def entries(count: int = 1) -> list[ModelEntry]:
    return [
        ModelEntry(f"far-{n}", "slow", path="m", options={"base_url": f"http://far-{n}/v1"})
        for n in range(count)
    ]


def wait_for(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


def test_no_caller_waits_longer_than_wait_s(slow: Slow):
    """No probe ends while it waits."""
    states = statuses([*entries(3), ModelEntry("near", "scripted")], wait_s=0.1)
    assert states[:3] == [ModelStatus(None, pending=True)] * 3
    assert states[3].state
    assert not states[3].pending
    wait_for(lambda: slow.asked == 3)


def test_a_second_look_does_not_wait_again(slow: Slow):
    """No probe ends here: whoever waited would wait longer than any test lasts."""
    statuses(entries(), wait_s=0.01)
    slow.ahead = 6000.0
    for _ in range(5):
        statuses(entries(), wait_s=6000.0)
    wait_for(lambda: slow.asked == 1)


def test_one_question_is_requested_once_at_a_time(slow: Slow):
    for _ in range(5):
        statuses(entries(), wait_s=0.01)
    slow.open.set()
    (look,) = statuses(entries(), wait_s=60)
    assert look.state
    assert look.state.abilities == {"generate"}
    assert slow.asked == 1


def test_what_was_known_stays_while_it_is_requested_again(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
):
    slow.open.set()
    statuses(entries(), wait_s=60)
    slow.open.clear()
    monkeypatch.setattr(status, "SUCCESS_TTL_S", 0.0)
    (look,) = statuses(entries(), wait_s=0.01)
    assert look.state
    assert look.pending
    wait_for(lambda: slow.asked == 2)


def test_an_error_of_the_endpoint_is_its_problem(slow: Slow):
    slow.open.set()
    slow.error = ModelError(Sentence("The key is wrong."))
    (look,) = statuses(entries(), wait_s=60)
    assert look.state
    assert look.state.problem == "The key is wrong."


def test_wrong_options_are_known_at_once_and_keep_the_time_of_their_check(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
):
    wrong = ModelEntry("far", "slow", path="m")

    def checked_at(now: float) -> float | None:
        monkeypatch.setattr("evalui.models.endpoint.backend.time.time", lambda: now)
        (look,) = statuses([wrong], wait_s=0.0)
        assert look.state
        assert "options.base_url is missing" in look.state.problem
        assert not look.pending
        return look.checked_at

    assert [checked_at(now) for now in (1000.0, 1029.0, 1031.0)] == [1000.0, 1000.0, 1031.0]
    monkeypatch.setattr("evalui.models.endpoint.backend.time.time", lambda: 1040.0)
    probe_again(wrong)
    assert checked_at(1041.0) == 1040.0
    assert slow.asked == 0


def test_one_that_works_is_left_alone_for_longer(slow: Slow, monkeypatch: pytest.MonkeyPatch):
    slow.open.set()
    monkeypatch.setattr(status, "FAILURE_TTL_S", 0.0)
    for _ in range(2):
        statuses(entries(), wait_s=60)
    assert slow.asked == 1
    slow.error = ModelError(Sentence("Nobody answers."))
    probe_again(*entries())
    wait_for(lambda: bool(statuses(entries(), wait_s=60)) and slow.asked > 2)
    monkeypatch.setattr(status, "FAILURE_TTL_S", 30.0)  # no question may reach the next test
    wait_for(lambda: not statuses(entries(), wait_s=60)[0].pending)


def test_probing_again_does_not_wait_until_the_answer_is_old(slow: Slow):
    (entry,) = entries()
    slow.open.set()
    statuses([entry], wait_s=60)
    slow.open.clear()
    slow.error = ModelError(Sentence("The key is wrong."))
    for _ in range(3):  # clicks while it is asked ask nothing more
        probe_again(entry)
    (look,) = statuses([entry], wait_s=0.01)
    assert look.pending
    assert look.state
    assert not look.state.problem, "what was known is shown meanwhile"
    slow.open.set()
    wait_for(lambda: not statuses([entry], wait_s=60)[0].pending)
    (look,) = statuses([entry], wait_s=60)
    assert look.state
    assert look.state.problem == "The key is wrong."
    assert slow.asked == 2


def test_an_unforeseen_error_does_not_stay(slow: Slow, monkeypatch: pytest.MonkeyPatch):
    slow.open.set()
    slow.error = ZeroDivisionError("half")
    with pytest.raises(ZeroDivisionError):
        statuses(entries(), wait_s=60)
    slow.error = None
    monkeypatch.setattr(status, "FAILURE_TTL_S", 0.0)
    (look,) = statuses(entries(), wait_s=60)
    assert look.state
    assert look.state.abilities == {"generate"}


def test_the_page_shows_a_model_as_being_requested_and_refreshes(slow: Slow, desk: AppService):
    desk.settings.models.write_text(FAR, encoding="utf-8")
    drawn = DrawnPage("models", desk)
    assert "Being checked" in drawn.text
    assert drawn.timer
    slow.open.set()
    wait_for(lambda: not desk.models.current_statuses()["far"].pending)
    assert "Test this model" in DrawnPage("models", desk).text


def test_a_choice_of_models_shows_that_one_is_being_requested(
    slow: Slow, desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.app.models_service._WAIT_S", 0.05)
    desk.settings.models.write_text(FAR, encoding="utf-8")
    (state,) = desk.models.states()
    assert state.problem == "It is still being tested. Look again in a few seconds."
    wait_for(lambda: slow.asked == 1)


def test_a_page_that_is_opened_on_an_old_answer_goes_on_until_it_has_the_new_one(
    slow: Slow, desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    desk.settings.workers = 0
    desk.settings.models.write_text(FAR, encoding="utf-8")
    slow.open.set()
    slow.error = ModelError(Sentence("The key is wrong."))
    desk.models.states()
    slow.open.clear()
    slow.error = None
    monkeypatch.setattr(status, "FAILURE_TTL_S", 0.0)
    drawn = DrawnPage("models", desk)
    assert "Being checked" in drawn.text
    assert drawn.timer
    monkeypatch.setattr(status, "FAILURE_TTL_S", 30.0)
    slow.open.set()
    wait_for(lambda: not desk.models.current_statuses()["far"].pending)
    models, _, timer = drawn.look()
    assert "Test this model" in models
    assert not timer["active"]
