"""Where a run stands in the queue of all, and why it waits."""

import re
import time
from collections.abc import Callable

import pytest
from ui_runs_screen import Screen

from evalui.access import LOCAL_PERSON, Person
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.fair_queue.limits import Spending, add_spending
from evalui.runs.fair_queue.turns import QueuePlace, set_queue_state
from evalui.store import queue
from evalui.store.runs import read_run
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as
from evalui.ui.pages.evaluate.spec import form_to_spec
from evalui.ui.pages.runs.place_text import held_text, place_text


@pytest.fixture
def queued(desk: AppService, form_for: Callable[..., Form]) -> Callable[..., str]:
    return lambda **fields: start_run(desk, form_to_spec(form_for(**fields)))


@pytest.fixture
def of_ada(queued: Callable[..., str]) -> str:
    """A run of another person."""
    with acting_as(Person("ada", "operator")):
        return queued(name="a secret", models=["biased"], modes=["multiple_choice"])


@pytest.mark.usefixtures("of_ada")
def test_a_run_behind_another_persons_states_its_place_and_no_name(
    desk: AppService, queued: Callable[..., str]
):
    run_id = queued(name="mine")
    page = Screen(desk).render({"run": run_id})
    assert re.search(r"<td>2</td>\s*<td><b>mine</b>", page)
    assert "2nd in the queue" in page
    assert "a secret" not in page
    assert "排在第 2 位" in Screen(desk, "zh").render({"run": run_id})


def test_a_held_run_states_why(desk: AppService, queued: Callable[..., str]):
    desk.settings.limit_tokens_day = 1
    run_id = queued(name="mine")
    with desk.database.writing() as connection:
        add_spending(connection, run_id, Spending(tokens=1), time.time())
    page = Screen(desk).render({"run": run_id})
    assert page.count("Your tokens for today are used up.") == 1
    assert re.search(r"<td>–</td>\s*<td><b>mine</b>", page)
    assert "今天的词元额度已用完" in Screen(desk, "zh").render({"run": run_id})


def test_a_paused_queue_says_so(desk: AppService, queued: Callable[..., str]):
    run_id = queued(name="mine")
    set_queue_state(desk.database, "paused")
    page = Screen(desk).render({"run": run_id})
    assert "An administrator has paused the queue." in page
    assert "next in the queue</span>" in page


def test_people_who_share_a_server_take_turns(desk: AppService, queued: Callable[..., str]):
    queued(name="mine")
    assert "first come, first served" in Screen(desk).render({})
    desk.settings.auth = "password"
    with acting_as(LOCAL_PERSON):
        assert "people take turns" in Screen(desk).render({})


def test_a_stopped_run_is_not_queued_again_beyond_the_limit(
    desk: AppService, queued: Callable[..., str]
):
    desk.settings.limit_queued = 1
    first = queued(name="first")
    queue.cancel(desk.database, first)
    queued(name="second")
    page = Screen(desk).act("resume", first)
    assert "1 of your runs wait already" in str(page)
    assert read_run(desk.database, first).state == "cancelled"


@pytest.mark.parametrize(
    ("language", "place", "expected"),
    [
        ("en", QueuePlace(1), "next in the queue"),
        ("en", QueuePlace(3), "3rd in the queue"),
        ("en", QueuePlace(11), "11th in the queue"),
        ("en", QueuePlace(1012), "1,012th in the queue"),
        ("en", QueuePlace(21), "21st in the queue"),
        ("en", QueuePlace(None, "x"), "waits for its turn"),
        ("en", None, "waits for its turn"),
        ("zh", QueuePlace(1), "下一个就是它"),
        ("zh", QueuePlace(22), "排在第 22 位"),
    ],
)
def test_a_place_in_words(language: Language, place: QueuePlace | None, expected: str):
    assert place_text(messages(language), place) == expected


def test_nothing_holds_a_run_that_waits_for_its_turn():
    assert held_text(messages("en"), None) == held_text(messages("en"), QueuePlace(1)) == ""
