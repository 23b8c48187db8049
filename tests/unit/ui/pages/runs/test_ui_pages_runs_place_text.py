"""Where a run stands in the queue of all, and why it waits."""

import re
import time
from collections.abc import Callable, Mapping

import gradio as gr
import pytest
from drawn_page import DrawnPage

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


def page(
    desk: AppService, form: Mapping[str, str] | None = None, language: Language = "en"
) -> DrawnPage:
    return DrawnPage("runs", desk, form or {}, language)


@pytest.mark.usefixtures("of_ada")
def test_a_run_behind_another_persons_states_its_place_and_no_name(
    desk: AppService, queued: Callable[..., str]
):
    run_id = queued(name="mine")
    shown = page(desk, {"run": run_id}).text
    assert re.search(r"<td>2</td>\s*<td><b>mine</b>", shown)
    assert "2nd in the queue" in shown
    assert "a secret" not in shown
    assert "排在第 2 位" in page(desk, {"run": run_id}, "zh").text


def test_a_held_run_states_why(desk: AppService, queued: Callable[..., str]):
    desk.settings.limit_tokens_day = 1
    run_id = queued(name="mine")
    with desk.database.writing() as connection:
        add_spending(connection, run_id, Spending(tokens=1), time.time())
    shown = page(desk, {"run": run_id}).text
    assert shown.count("Your tokens for today are used up.") == 1
    assert re.search(r"<td>–</td>\s*<td><b>mine</b>", shown)
    assert "今天的词元额度已用完" in page(desk, {"run": run_id}, "zh").text


def test_a_paused_queue_says_so(desk: AppService, queued: Callable[..., str]):
    run_id = queued(name="mine")
    set_queue_state(desk.database, "paused")
    shown = page(desk, {"run": run_id}).text
    assert "An administrator has paused the queue." in shown
    assert "next in the queue</span>" in shown


def test_people_who_share_a_server_take_turns(desk: AppService, queued: Callable[..., str]):
    queued(name="mine")
    assert "first come, first served" in page(desk).text
    desk.settings.auth = "password"
    with acting_as(LOCAL_PERSON):
        assert "people take turns" in page(desk).text


def test_a_stopped_run_is_not_queued_again_beyond_the_limit(
    desk: AppService, queued: Callable[..., str]
):
    desk.settings.limit_queued = 1
    first = queued(name="first")
    queue.cancel(desk.database, first)
    queued(name="second")
    with pytest.raises(gr.Error, match="1 of your runs are already waiting"):
        page(desk).act("resume", target=first)
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
