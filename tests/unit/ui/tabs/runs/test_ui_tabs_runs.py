"""The queue, the live matrix, and what a person can do to a run."""

from collections.abc import Callable
from types import SimpleNamespace

import gradio as gr
import pytest
from ui_examples import HOSTILE, built

from evalui.messages import messages
from evalui.runs.database import queue
from evalui.runs.database.runs import read_revision, read_run, read_runs
from evalui.runs.spec import read_spec, write_spec
from evalui.runs.worker.main import Worker
from evalui.ui.components.component_tabs import SKIP
from evalui.ui.components.form import Form, dump_client_state, load_client_state
from evalui.ui.components.fragment import Action
from evalui.ui.services.run_form import read_run_form
from evalui.ui.services.run_labels import run_label
from evalui.ui.services.service import AppService
from evalui.ui.tabs.runs import RunsClientState, RunsNotice, RunsTab

MakeAct = Callable[..., Action]


@pytest.fixture
def tab(desk: AppService) -> RunsTab:
    return RunsTab(desk, messages("en"))


@pytest.fixture
def queued(desk: AppService, form_for: Callable[..., Form]) -> Callable[..., str]:
    return lambda **fields: desk.start(read_run_form(form_for(**fields)))


def test_an_empty_page_tells_the_next_step(tab: RunsTab):
    assert "Start with a file or try the sample." in tab.show("")


def test_the_queue_tells_the_place_of_each_run(tab: RunsTab, queued: Callable[..., str]):
    queued(name="first")
    queued(name="second")
    queue = tab.show("").partition("<h2>Queue</h2>")[2]
    assert queue.index("<td>1</td><td><b>first</b>") < queue.index("<td>2</td><td><b>second</b>")


def test_the_matrix_has_a_cell_for_every_model_and_mode(tab: RunsTab, finished: Callable[..., str]):
    page = tab.show(finished())
    assert page.count("4 / 4") == 1  # cloze asks each question once
    assert page.count("16 / 16") == 2
    assert "Cannot run" in page
    assert "it gives no probability of a text" in page


def test_a_chinese_page_tells_in_chinese_why_a_cell_cannot_run(
    desk: AppService, finished: Callable[..., str]
):
    assert "always-A 不能用这种方式：它不给出文本的概率。" in RunsTab(desk, messages("zh")).show(
        finished()
    )


def test_a_chinese_page_tells_in_chinese_how_a_run_failed(
    desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    Worker(desk.database, dict).run_once()  # a server that has lost its models
    told = "没有名为 &#x27;biased&#x27; 的模型。"
    assert told in RunsTab(desk, messages("zh")).show(run_id)
    figures = desk.report(run_id, "zh").summaries
    assert figures[0].error.startswith("没有名为 'biased' 的模型。")


def test_running_accuracy_has_its_range_and_its_n(tab: RunsTab, finished: Callable[..., str]):
    page = tab.show(finished(models=["always-A"], modes=["multiple_choice"]))
    assert '<b>25 %</b> <span class="meta">5–70 · n 4</span>' in page


def test_a_tick_without_news_changes_nothing(tab: RunsTab, queued: Callable[..., str]):
    run_id = queued()
    _, _, seen, _ = tab.open(run_id)
    page, now, timer = tab.tick(run_id, "", seen)
    assert (page, now, timer.active) == (SKIP, SKIP, True)


def test_a_tick_with_news_shows_them(tab: RunsTab, desk: AppService, queued: Callable[..., str]):
    run_id = queued()
    _, _, seen, _ = tab.open(run_id)
    queue.cancel(desk.database, run_id)
    page, now, _ = tab.tick(run_id, "", seen)
    assert "Stopped by you" in page
    assert now != seen
    page, _, timer = tab.tick(run_id, "", now)
    assert (page, timer.active) == (SKIP, False)


def test_the_timer_runs_while_a_run_can_change(tab: RunsTab, queued: Callable[..., str]):
    assert tab.timer().active is False
    queued()
    assert tab.timer().active is True


def test_stop_keeps_the_run_and_resume_queues_it_again(
    tab: RunsTab, desk: AppService, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    tab.answer("", act("stop", run=run_id))
    assert desk.run(run_id).state == "cancelled"
    tab.answer("", act("resume", run=run_id))
    assert desk.run(run_id).state == "queued"


def test_delete_asks_once_and_then_deletes(
    tab: RunsTab, desk: AppService, act: MakeAct, finished: Callable[..., str]
):
    run_id = finished()
    page, *_ = tab.answer("", act("ask", run=run_id))
    assert "Delete for good" in page
    assert read_runs(desk.database)
    tab.answer("", act("delete", run=run_id))
    assert read_runs(desk.database) == []


def test_a_run_that_is_not_ours_cannot_be_touched(
    tab: RunsTab, desk: AppService, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    desk.owner = "bob"
    page, *_ = tab.answer("", act("stop", run=run_id))
    assert "There is no run" in page
    assert read_run(desk.database, run_id).state == "queued"


def test_a_name_never_becomes_markup(tab: RunsTab, queued: Callable[..., str]):
    queued(name=HOSTILE[:100])
    page = tab.show("")
    assert "&lt;img" in page
    assert "<img" not in page


def test_a_question_to_the_person_stays_while_the_page_polls(
    tab: RunsTab, desk: AppService, queued: Callable[..., str], finished: Callable[..., str]
):
    done, live = finished(), queued()
    said = dump_client_state(RunsNotice("It could not be done.", confirming=done))
    seen = dump_client_state(RunsClientState(read_revision(desk.database), live, said))
    queue.cancel(desk.database, live)
    page, now, _ = tab.tick(live, said, seen)
    assert "It could not be done." in page
    assert f'data-do="delete" data-run="{done}"' in page
    assert load_client_state(RunsClientState, now).notice == said


def test_a_tick_that_was_on_its_way_undoes_no_click(
    tab: RunsTab,
    desk: AppService,
    act: MakeAct,
    queued: Callable[..., str],
    finished: Callable[..., str],
):
    done, live = finished(), queued()
    _, _, seen, _ = tab.open(live)
    queue.cancel(desk.database, live)
    # The tick was sent before the click and is answered after it: it knows nothing of it.
    late = tab.tick(live, "", seen)
    _, chosen, said, _, _ = tab.answer(live, act("ask", run=done))
    assert "Delete for good" not in late[0]
    assert late[2].active is True
    page, now, _ = tab.tick(chosen, said, late[1])
    assert "Delete for good" in page
    assert tab.tick(chosen, said, now)[0] == SKIP


def test_a_tick_that_was_on_its_way_does_not_bring_back_another_run(
    tab: RunsTab, act: MakeAct, queued: Callable[..., str]
):
    first, second = queued(name="first"), queued(name="second")
    late = tab.tick(first, "", "")
    _, chosen, said, _, _ = tab.answer(first, act("show", run=second))
    assert f'data-do="show" data-run="{second}"' in late[0]
    page, *_ = tab.tick(chosen, said, late[1])
    assert f'data-do="show" data-run="{first}"' in page
    assert f'data-do="show" data-run="{second}"' not in page


def test_the_tab_opens_again_without_its_notice(
    tab: RunsTab, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    tab.answer(run_id, act("stop", run="none"))  # its problem is shown, and kept
    page, said, seen, _ = tab.open(run_id)
    assert "There is no run" not in page
    assert tab.tick(run_id, said, seen)[0] == SKIP


def test_a_run_resumed_after_the_last_tick_is_watched_again(
    tab: RunsTab, desk: AppService, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    queue.cancel(desk.database, run_id)
    _, _, seen, _ = tab.open("")
    assert tab.tick("", "", seen)[2].active is False  # answered after the click below
    _, chosen, said, now, _ = tab.answer("", act("resume", run=run_id))
    page, _, timer = tab.tick(chosen, said, now)
    assert (page, timer.active) == (SKIP, True)


def test_the_page_looks_again_after_each_tick(tab: RunsTab):
    def build() -> gr.Blocks:
        with gr.Blocks() as demo:
            tab.build()
        return demo

    ticks = [each for each in built(build).fns.values() if each.fn and each.fn.__name__ == "tick"]
    assert [each.trigger_after for each in ticks] == [None, ticks[0]._id]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"models": ["always-A"]}, '<div class="meta">always-A · letters'),
        ({"pattern": "all_possible"}, "letters, all orders; cloze"),
        ({"limit": "2"}, "first 2 questions of each subject"),
        ({"limit": "1"}, "first question of each subject only"),
        ({"limit": "2", "limit_per": "dataset"}, "first 2 questions"),
        ({"limit": "1", "limit_per": "dataset"}, "first question only"),
        ({"seed": "7"}, "seed 7"),
        ({"template": "plain-en.1"}, "prompt plain-en.1"),
        ({"chat": "no"}, "chat template off"),
        ({"max_tokens": "9"}, "replies up to 9 tokens"),
        ({"col_answer": "answer"}, "columns: answer"),
    ],
)
def test_runs_that_differ_in_one_setting_differ_in_the_list(
    tab: RunsTab, queued: Callable[..., str], changed: Form, told: str
):
    queued()
    plain = tab.show("")
    assert (
        '<b>capitals</b><div class="meta">biased, always-A · letters, circular; cloze</div>'
        in plain
    )
    assert told not in plain
    queued(**changed)
    assert told in tab.show("")


def test_the_run_in_full_tells_its_settings_too(tab: RunsTab, queued: Callable[..., str]):
    page = tab.show(queued(seed="7"))
    assert page.count("biased, always-A · letters, circular; cloze · seed 7") == 2


def test_several_numbers_of_examples_stand_together():
    spec = read_spec(
        '{"datasets": ["a.csv"], "models": ["a", "b", "c", "d", "e"], "modes": ['
        '{"mode": "cloze"}, {"mode": "cloze", "shots": 5}, {"mode": "generation", "shots": 1}]}'
    )
    row = SimpleNamespace(spec=write_spec(spec))
    assert (
        run_label(messages("en"), row)
        == "a, b, c and 2 more · cloze, 0 / 5 examples; reply, 1 example"
    )
    assert run_label(messages("zh"), row).startswith("a、b、c 等，另有 2 个 · ")


def test_a_judged_run_tells_how_it_is_judged():
    spec = read_spec(
        '{"datasets": ["a.jsonl"], "models": ["a", "b"], "judging": {"judges": ["j"], "pairs": '
        '"baseline", "baseline": ["a"], "orders": "single", "sample": 9, "conflict": "half", '
        '"template": "score10-en.1", "max_tokens": 5}}'
    )
    told = run_label(messages("en"), SimpleNamespace(spec=write_spec(spec)))
    assert told.split(" · ")[2:] == [
        "judged by j",
        "pairs with a baseline",
        "a",
        "one order",
        "judged on score10-en.1",
        "at most 9 pairs",
        "both verdicts count if they disagree",
        "verdicts up to 5 tokens",
    ]


def test_a_run_of_another_version_is_listed_without_its_settings():
    assert run_label(messages("en"), SimpleNamespace(spec='{"from": "the future"}')) == ""


def test_a_run_without_rows_with_equal_options_says_so(
    tab: RunsTab, queued: Callable[..., str], form_for: Callable[..., Form]
):
    told = "without rows with options of the same text"
    queued()
    assert told not in tab.show("")
    (upload,) = form_for()["uploads"]
    queued(**{f"col_duplicates_{upload}": "skip"})
    assert told in tab.show("")
