"""The queue, the live matrix, and what a person can do to a run."""

from collections.abc import Callable

import gradio as gr
import pytest
from ui_examples import HOSTILE

from evalui.runs.worker import Worker
from evalui.ui.desk import Desk
from evalui.ui.draft import read_draft
from evalui.ui.pane import SKIP, Form
from evalui.ui.runs import Runs, Seen
from evalui.ui.text import text

MakeAct = Callable[..., gr.EventData]


@pytest.fixture
def tab(desk: Desk) -> Runs:
    return Runs(desk, text("en"))


@pytest.fixture
def queued(desk: Desk, form_for: Callable[..., Form]) -> Callable[..., str]:
    return lambda **fields: desk.start(read_draft(form_for(**fields)))


def test_an_empty_page_tells_the_next_step(tab: Runs):
    assert "Start with a file or try the sample." in tab.show("")


def test_the_queue_tells_the_place_of_each_run(tab: Runs, queued: Callable[..., str]):
    queued(name="first")
    queued(name="second")
    queue = tab.show("").partition("<h2>Queue</h2>")[2]
    assert queue.index("<td>1</td><td><b>first</b>") < queue.index("<td>2</td><td><b>second</b>")


def test_the_matrix_has_a_cell_for_every_model_and_mode(tab: Runs, finished: Callable[..., str]):
    page = tab.show(finished())
    assert page.count("4 / 4") == 1  # cloze asks each question once
    assert page.count("16 / 16") == 2
    assert "Cannot run" in page
    assert "it gives no probability of a text" in page


def test_a_chinese_page_tells_in_chinese_why_a_cell_cannot_run(
    desk: Desk, finished: Callable[..., str]
):
    assert "always-A 不能用这种方式：它不给出文本的概率。" in Runs(desk, text("zh")).show(
        finished()
    )


def test_a_chinese_page_tells_in_chinese_how_a_run_failed(desk: Desk, queued: Callable[..., str]):
    run_id = queued()
    Worker(desk.store, dict).work_once()  # a server that has lost its models
    told = "没有名为 &#x27;biased&#x27; 的模型。"
    assert told in Runs(desk, text("zh")).show(run_id)
    figures = desk.report(run_id, "zh").summaries
    assert figures[0].error.startswith("没有名为 'biased' 的模型。")


def test_running_accuracy_has_its_range_and_its_n(tab: Runs, finished: Callable[..., str]):
    page = tab.show(finished(models=["always-A"], modes=["multiple_choice"]))
    assert '<b>25 %</b> <span class="meta">5–70 · n 4</span>' in page


def test_a_tick_without_news_changes_nothing(tab: Runs, queued: Callable[..., str]):
    run_id = queued()
    _, seen, _ = tab.open(run_id)
    assert tab.tick(run_id, seen) == (SKIP, SKIP, SKIP)


def test_a_tick_with_news_shows_them(tab: Runs, desk: Desk, queued: Callable[..., str]):
    run_id = queued()
    _, seen, _ = tab.open(run_id)
    desk.store.cancel(run_id)
    page, now, timer = tab.tick(run_id, seen)
    assert "Stopped by you" in page
    assert now != seen
    assert timer.active is False


def test_the_timer_runs_while_a_run_can_change(tab: Runs, queued: Callable[..., str]):
    assert tab.timer().active is False
    queued()
    assert tab.timer().active is True


def test_stop_keeps_the_run_and_resume_queues_it_again(
    tab: Runs, desk: Desk, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    tab.answer("", act("stop", run=run_id))
    assert desk.run(run_id).state == "cancelled"
    tab.answer("", act("resume", run=run_id))
    assert desk.run(run_id).state == "queued"


def test_delete_asks_once_and_then_deletes(
    tab: Runs, desk: Desk, act: MakeAct, finished: Callable[..., str]
):
    run_id = finished()
    page, *_ = tab.answer("", act("ask", run=run_id))
    assert "Delete for good" in page
    assert desk.store.runs()
    tab.answer("", act("delete", run=run_id))
    assert desk.store.runs() == []


def test_a_run_that_is_not_ours_cannot_be_touched(
    tab: Runs, desk: Desk, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    desk.owner = "bob"
    page, *_ = tab.answer("", act("stop", run=run_id))
    assert "There is no run" in page
    assert desk.store.run(run_id).state == "queued"


def test_a_name_never_becomes_markup(tab: Runs, queued: Callable[..., str]):
    queued(name=HOSTILE[:100])
    page = tab.show("")
    assert "&lt;img" in page
    assert "<img" not in page


def test_a_question_to_the_person_stays_while_the_page_polls(
    tab: Runs, desk: Desk, queued: Callable[..., str], finished: Callable[..., str]
):
    done, live = finished(), queued()
    seen = Seen(desk.store.revision(), "It could not be done.", asking=done).text()
    desk.store.cancel(live)
    page, now, _ = tab.tick(live, seen)
    assert "It could not be done." in page
    assert f'data-do="delete" data-run="{done}"' in page
    assert Seen.read(now).asking == done
