"""How often watchers are told another version of a run, however many look."""

import pytest

from evalui.ui import published
from evalui.ui.published import PublishedRuns


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Drawer:
    """Draws what is told, each drawing with the same CPU."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.spent = Clock(), 0.0
        monkeypatch.setattr(published.time, "thread_time", lambda: self.spent)
        self.runs = PublishedRuns(self.clock)

    def draw(self, seconds: float) -> None:
        with self.runs.drawing():
            self.spent += seconds


@pytest.fixture
def drawer(monkeypatch: pytest.MonkeyPatch) -> Drawer:
    return Drawer(monkeypatch)


def test_what_costs_nothing_yet_is_told_at_once(drawer: Drawer):
    assert [drawer.runs.tell("run", str(n)) for n in range(100)] == [str(n) for n in range(100)]
    assert drawer.runs.pause_s() == 0


def test_drawings_take_a_share_of_a_core_at_most(drawer: Drawer):
    told, drawn = "", 0
    for at in range(40_000):  # two hundred who look every two seconds, for 400 s
        drawer.clock.now += 0.01
        if (now := drawer.runs.tell("run", str(at))) != told:
            told = now
            for _ in range(6):  # views and languages, each drawn once
                drawn += 1
                drawer.draw(0.05)
    cost = drawn * 0.05 * published._OVERHEAD - published._BURST_S
    assert cost / drawer.clock.now == pytest.approx(published._SHARE, rel=0.2)


def test_a_watcher_alone_sees_the_first_changes_at_once(drawer: Drawer):
    for at in range(16):
        drawer.clock.now += 2.0
        assert drawer.runs.tell("run", str(at)) == str(at)
        drawer.draw(0.08)


def test_the_last_version_is_told_in_the_end_whatever_was_drawn(drawer: Drawer):
    assert drawer.runs.tell("run", "first") == "first"
    drawer.draw(1000.0)
    assert drawer.runs.pause_s() == published._PAUSE_S
    drawer.clock.now += published._LONGEST_S - 0.1
    assert drawer.runs.tell("run", "last") == "first"
    assert drawer.runs.pause_s() == pytest.approx(0.1)
    assert drawer.runs.newest("run") == "first"
    drawer.clock.now += 0.2
    assert drawer.runs.tell("run", "last") == "last"
    assert drawer.runs.newest("run") == "last"
    assert drawer.runs.newest("another") == ""


def test_the_end_of_a_run_is_told_at_once(drawer: Drawer):
    drawer.runs.tell("run", "first")
    drawer.draw(1000.0)
    assert drawer.runs.tell("run", "second") == "first"
    assert drawer.runs.tell("run", "over", at_once=True) == "over"


def test_runs_are_told_apart_and_forgotten_runs_begin_anew(drawer: Drawer):
    drawer.runs.tell("first", "1")
    drawer.draw(1000.0)
    for number in range(published._MOST):
        drawer.runs.tell(f"run {number}", "1")
    assert drawer.runs.tell("first", "2") == "2"  # nobody has looked at it for long


def test_a_drawing_that_fails_is_counted_too(drawer: Drawer):
    def fail() -> None:
        with drawer.runs.drawing():
            drawer.spent += 1000.0
            raise ZeroDivisionError

    drawer.runs.tell("run", "1")
    with pytest.raises(ZeroDivisionError):
        fail()
    assert drawer.runs.tell("run", "2") == "1"
