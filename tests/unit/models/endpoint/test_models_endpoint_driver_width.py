"""How many requests are in flight at servers that refuse some of them."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from evalui.models.endpoint.driver import Width


@dataclass
class Server:
    """A server that answers in 1 s and refuses at once, while it is kept as busy as a width allows.

    `refuses` is told how many requests it is at work on.
    """

    refuses: Callable[[int], bool]
    ceiling: int = 64
    refused: int = 0
    answered: int = 0

    def __post_init__(self) -> None:
        self.width = Width(self.ceiling, self.ceiling)
        self.now = 0.0
        self._ends: list[tuple[float, int]] = []

    def work(self, seconds: float) -> list[int]:
        """The widths after each answer."""
        until, widths = self.now + seconds, list[int]()
        while self.now < until:
            while len(self._ends) < self.width.now:
                number = self.width.record_sent()
                if self.refuses(len(self._ends)):
                    self.refused += 1
                    self.width.record_refused(number, len(self._ends), self.now)
                    self.now += 0.001
                else:
                    self._ends.append((self.now + 1.0, number))
            ended, number = self._ends.pop(0)
            self.now = max(self.now, ended)
            self.answered += 1
            self.width.record_answered(number, self.now)
            widths.append(self.width.now)
        return widths


def test_a_server_that_refuses_nothing_is_sent_as_much_as_is_stated():
    server = Server(lambda _: False)
    assert set(server.work(10)) == {64}
    assert server.answered > 64 * 8


def test_refusals_by_chance_leave_the_width():
    for seed in range(5):
        drawn = random.Random(seed)
        server = Server(lambda _, drawn=drawn: drawn.random() < 0.1)
        widths = server.work(100)
        assert sum(widths) / len(widths) > 60
        assert min(widths) > 48


def test_refusals_by_chance_that_come_before_the_answers_leave_the_width():
    """Answers take as long as two widths of requests are sent in; refusals are there at once."""
    for seed in range(5):
        drawn, width = random.Random(seed), Width(64, 64)
        sent: list[int] = []
        for _ in range(100):
            while len(sent) < 2 * 64:
                number = width.record_sent()
                if drawn.random() < 0.1:
                    width.record_refused(number, 40, 0.0)
                else:
                    sent.append(number)
            for number in sent[:64]:
                width.record_answered(number, 0.0)
            del sent[:64]
        assert width.now == 64


@pytest.mark.parametrize("takes", [8, 32, 48])
def test_a_server_that_takes_fewer_gets_about_as_many_as_it_takes(takes: int):
    server = Server(lambda live: live >= takes)
    server.work(10)
    widths = server.work(100)
    assert takes * 0.9 <= sum(widths) / len(widths) <= takes * 1.25
    assert server.refused < server.answered / 4


def test_a_server_that_refuses_everything_is_tried_with_one_request():
    width, now = Width(64, 64), 0.0
    for left in reversed(range(64)):
        width.record_refused(width.record_sent(), left, now)
    for _ in range(20):
        width.record_refused(width.record_sent(), 0, now)
    assert width.now == 1


def test_the_width_comes_back_when_an_outage_is_over():
    server = Server(lambda _: server.now < 3.0)
    server.width.now = 1
    server._ends = []
    assert server.work(200)[-1] == 64


def test_a_second_model_of_a_server_raises_what_it_may_be_sent():
    width = Width(0, 0)
    width.raise_ceiling(8)
    width.raise_ceiling(64)
    width.raise_ceiling(16)
    assert (width.now, width.ceiling) == (64, 64)
    width.now = 3  # it has refused requests
    width.raise_ceiling(128)
    assert (width.now, width.ceiling) == (3, 128)
