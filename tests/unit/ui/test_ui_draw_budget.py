"""How many drawings begin, however many ask for one."""

import pytest

from evalui.ui import draw_budget
from evalui.ui.draw_budget import DrawBudget


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_costs_nothing_yet_is_drawn_for_everybody():
    budget = DrawBudget(Clock())
    assert all(budget.take() for _ in range(100))


def test_drawings_take_a_share_of_a_core_at_most(monkeypatch: pytest.MonkeyPatch):
    clock, spent = Clock(), [0.0]
    monkeypatch.setattr(draw_budget.time, "thread_time", lambda: spent[0])
    budget = DrawBudget(clock)
    drawn = 0
    for _ in range(20_000):  # two hundred who look every two seconds, for 200 s
        clock.now += 0.01
        if budget.take():
            drawn += 1
            with budget.drawing():
                spent[0] += 0.05
    assert 0.13 < drawn * 0.05 / clock.now < 0.17


def test_a_single_watcher_sees_every_change(monkeypatch: pytest.MonkeyPatch):
    clock, spent = Clock(), [0.0]
    monkeypatch.setattr(draw_budget.time, "thread_time", lambda: spent[0])
    budget = DrawBudget(clock)
    for _ in range(100):
        clock.now += 2.0
        assert budget.take()
        with budget.drawing():
            spent[0] += 0.1


def test_a_drawing_that_fails_is_counted_too(monkeypatch: pytest.MonkeyPatch):
    spent = [0.0]
    monkeypatch.setattr(draw_budget.time, "thread_time", lambda: spent[0])
    budget = DrawBudget(Clock())

    def fail() -> None:
        with budget.drawing():
            spent[0] += 0.1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert budget.take()
    assert not budget.take()
