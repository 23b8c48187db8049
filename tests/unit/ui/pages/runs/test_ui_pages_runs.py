"""The queue, the run in full, what has ended, and what a person can do to a run."""

import re
from collections.abc import Callable
from types import SimpleNamespace

import gradio as gr
import pytest
from drawn_page import DrawnPage
from ui_examples import HOSTILE

from evalui.access import Person
from evalui.app.datasets import delete_upload
from evalui.app.evaluations import start_run
from evalui.app.results import run_report
from evalui.app.run_labels import run_label
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.spec import read_spec, write_spec
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.store.runs import read_run, read_runs
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as
from evalui.ui.pages.evaluate.spec import form_to_spec


@pytest.fixture
def tab(desk: AppService) -> Callable[..., DrawnPage]:
    return lambda form=None, language="en": DrawnPage("runs", desk, form or {}, language)


@pytest.fixture
def queued(desk: AppService, form_for: Callable[..., Form]) -> Callable[..., str]:
    return lambda **fields: start_run(desk, form_to_spec(form_for(**fields)))


def test_an_empty_page_tells_the_next_step(tab: Callable[..., DrawnPage]):
    assert "Start with a file or try the sample." in tab().text


def test_a_reader_is_not_led_to_where_runs_are_started(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    with acting_as(Person("rita", "reader")):
        empty = tab().text
    assert "their owners show everybody" in empty
    run_id = finished()
    with acting_as(Person("rita", "reader", scope="read")):
        pages = [empty, tab({"run": run_id}).text]
    assert "New evaluation" not in "".join(pages)
    assert "New evaluation" in tab().text


def test_the_queue_tells_the_place_of_each_run(
    tab: Callable[..., DrawnPage], queued: Callable[..., str]
):
    queued(name="first")
    queued(name="second")
    names = re.findall(r"<td>(\d)</td>\s*<td><b>(\w+)</b>", tab().text)
    assert names == [("1", "first"), ("2", "second")]


def test_the_matrix_has_a_cell_for_every_model_and_mode(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    page = tab({"run": finished()}).text
    assert page.count("4 / 4") == 1  # cloze asks each question once
    assert page.count("16 / 16") == 2
    assert "Cannot run" in page
    assert "it gives no probability of a text" in page


def test_a_chinese_page_tells_in_chinese_why_a_cell_cannot_run(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    assert "always-A 不能用这种方式：它不给出文本的概率。" in tab({"run": finished()}, "zh").text


def test_a_chinese_page_tells_in_chinese_how_a_run_failed(
    tab: Callable[..., DrawnPage], desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    Worker(desk.database, dict).run_once()  # a server that has lost its models
    told = "没有名为 &#39;biased&#39; 的模型。"
    assert told in tab({"run": run_id}, "zh").text
    figures = run_report(desk, run_id, "zh").summaries
    assert figures[0].error.startswith("没有名为 'biased' 的模型。")


def test_running_accuracy_has_its_range_and_its_n(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    page = tab({"run": finished(models=["always-A"], modes=["multiple_choice"])}).text
    assert '<b>25 %</b> <span class="meta">5–70 · n 4</span>' in page


def test_a_question_that_is_asked_several_times_is_one_question(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    drawn = {"temperature": "1", "repeats": "3"}
    page = tab({"run": finished(models=["always-A"], modes=["generation"], **drawn)}).text
    assert "· n 4" in page
    assert "n 12" not in page


def test_a_run_without_answers_states_just_that(
    tab: Callable[..., DrawnPage], queued: Callable[..., str]
):
    run_id = queued()
    page = tab({"run": run_id}).text
    assert "no answers yet" in page
    assert "Running accuracy still moves." not in page
    tab().press("Stop")
    ended = tab().text.partition("<h2>Finished</h2>")[2]
    assert "nothing answered" in ended
    assert " kept" not in ended


def test_stop_keeps_the_run_and_resume_queues_it_again(
    tab: Callable[..., DrawnPage], desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    assert tab().press("Stop") == f"?run={run_id}"
    assert desk.run(run_id).state == "cancelled"
    assert tab({"run": run_id}).act("resume", target=run_id) == f"?run={run_id}"
    assert desk.run(run_id).state == "queued"


def test_where_nothing_can_be_changed_nothing_is_offered(
    tab: Callable[..., DrawnPage], desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    desk.settings.read_only = True
    page = tab({"run": run_id}).text
    assert "Read the results" in page
    assert "data-do" not in page
    assert "New evaluation" not in page
    assert "Repeat" not in page


def test_a_run_that_is_not_ours_cannot_be_touched(
    tab: Callable[..., DrawnPage],
    desk: AppService,
    queued: Callable[..., str],
    become: Callable[[str], None],
):
    run_id = queued()
    queued(name="second")
    page = tab()
    become("bob")
    with pytest.raises(gr.Error, match="There is no run"):
        page.act("stop", target=run_id)
    with pytest.raises(gr.Error, match="There is no run"):
        page.press("Stop")
    assert read_run(desk.database, run_id).state == "queued"
    assert "capitals" not in tab().text


def test_a_run_that_is_not_there_is_said(tab: Callable[..., DrawnPage]):
    assert "There is no run" in tab({"run": "nowhere"}).text


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"models": ["always-A"]}, '<div class="meta">always-A · letters'),
        ({"pattern": "all_possible"}, "letters, all orders; cloze"),
        ({"limit": "2"}, "first 2 questions of each subject"),
        ({"limit": "1"}, "first question of each subject only"),
        ({"limit": "2", "limit_per": "dataset"}, "first 2 questions"),
        ({"limit": "1", "limit_per": "dataset"}, "first question only"),
        ({"seed": "7"}, "Seed 7"),
        ({"template": "plain-en.1"}, "prompt plain-en.1"),
        ({"chat": "no"}, "chat template off"),
        ({"modes": ["generation"], "max_tokens": "9"}, "Longest reply 9"),
        ({"modes": ["generation"], "stop": "END"}, "Stop texts [&#34;END&#34;]"),
        ({"system_prompt": "Be brief."}, "System prompt &#34;Be brief.&#34;"),
    ],
)
def test_runs_that_differ_in_one_setting_differ_in_the_list(
    tab: Callable[..., DrawnPage], queued: Callable[..., str], changed: Form, told: str
):
    queued()
    plain = tab().text
    assert (
        '<b>capitals</b><div class="meta">biased, always-A · letters, circular; cloze</div>'
        in plain
    )
    assert told not in plain
    queued(**changed)
    assert told in tab().text


def test_the_run_in_full_tells_its_settings_too(
    tab: Callable[..., DrawnPage], queued: Callable[..., str]
):
    page = tab({"run": queued(seed="7")}).text
    assert page.count("biased, always-A · letters, circular; cloze · Seed 7") == 2


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
        "Longest reply 5",
    ]


def test_a_run_of_another_version_is_listed_without_its_settings():
    assert run_label(messages("en"), SimpleNamespace(spec='{"from": "the future"}')) == ""


def test_a_run_without_rows_with_equal_options_says_so(
    tab: Callable[..., DrawnPage], queued: Callable[..., str], form_for: Callable[..., Form]
):
    told = "without rows with options of the same text"
    queued()
    assert told not in tab().text
    (upload,) = form_for()["uploads"]
    queued(**{f"datasets.{upload}.duplicate_options": "skip"})
    assert told in tab().text


def test_a_run_that_ends_moves_from_the_queue_to_the_list(
    tab: Callable[..., DrawnPage], desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    assert "<h2>Queue</h2>" in tab().text
    queue.cancel(desk.database, run_id)
    page = tab().text
    assert "<h2>Queue</h2>" not in page
    assert "Stopped" in page.partition("<h2>Finished</h2>")[2]


def test_the_run_in_full_is_that_of_the_address(
    tab: Callable[..., DrawnPage], queued: Callable[..., str]
):
    first, second = queued(name="first"), queued(name="second")
    page = tab({"run": second}).text
    assert "<h2>second</h2>" in page
    assert f'href="runs?run={first}">Show</a>' in page
    assert f'href="runs?run={second}">Show</a>' not in page
    assert "<h2>first</h2>" in tab().text


def test_a_run_that_is_done_leads_to_its_results_first(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    run_id = finished()
    page = tab({"run": run_id}).text
    assert f'<a class="btn pri" href="results?run={run_id}">Read the results</a>' in page
    assert '<a class="btn" href="evaluate">New evaluation</a>' in page
    assert '<a class="btn pri" href="evaluate">New evaluation</a>' in tab().text


def test_a_deleted_run_leaves_the_address(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    first, second = finished(), finished(name="second")
    page = tab({"run": second})
    assert page.act("delete", target=first) == f"?run={second}"
    assert page.act("delete", target=second) == "?"
    assert "No runs yet" in tab().text


def test_a_run_is_deleted_after_a_question(
    tab: Callable[..., DrawnPage], desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    page = tab()
    row = page.text.partition(f'<tr data-key="{run_id}">')[2]
    question = row.partition("data-question hidden>")[2]
    assert 'data-do="ask">Delete</button>' in row
    assert f'data-do="delete" data-target="{run_id}">Delete permanently</button>' in question
    assert read_runs(desk.database)
    page.act("delete", target=run_id)
    assert read_runs(desk.database) == []


def test_a_name_never_becomes_markup(tab: Callable[..., DrawnPage], queued: Callable[..., str]):
    queued(name=HOSTILE[:100])
    page = tab().text
    assert "&lt;img" in page
    assert "<img" not in page


def test_a_run_is_repeated_by_its_owner_while_its_files_are_there(
    tab: Callable[..., DrawnPage], desk: AppService, finished: Callable[..., str]
):
    run_id = finished()

    def offered() -> bool:
        return f"again={run_id}" in tab({"run": run_id}).text

    assert offered()
    with acting_as(Person("eve", "admin")):
        assert not offered()
    assert offered()
    delete_upload(desk, desk.uploads.uploaded(desk.owner)[0].id)
    assert not offered()


def test_an_administrator_is_shown_a_run_of_somebody_else(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    run_id = finished(name="theirs")
    with acting_as(Person("eve", "admin")):
        assert "theirs" not in tab().text
        assert "theirs" in tab({"run": run_id}).text
    with acting_as(Person("bob", "annotator")):
        page = tab({"run": run_id}).text
    assert "theirs" not in page
    assert "There is no run" in page


def test_what_has_ended_is_found_by_name_model_id_and_state(
    tab: Callable[..., DrawnPage],
    desk: AppService,
    finished: Callable[..., str],
    queued: Callable[..., str],
):
    one = finished(name="Winter exam", models=["always-A"])
    other = finished(name="Summer exam", models=["biased"])
    stopped = queued(name="Autumn exam", models=["biased"])
    queue.cancel(desk.database, stopped)

    def found(find: str, state: str = "") -> set[str]:
        page = tab({"find": find, "state": state}).text
        return {run for run in (one, other, stopped) if f'data-key="{run}"' in page}

    assert found("") == {one, other, stopped}
    assert found("EXAM winter") == {one}
    assert found("always") == {one}
    assert found(other) == {other}
    assert found("biased", "cancelled") == {stopped}
    assert found("", "done") == {one, other}
    assert found("", "no state") == {one, other, stopped}
    assert found("spring") == set()
    assert "No run matches" in tab({"find": "spring"}).text


def test_a_search_stands_in_the_address(
    tab: Callable[..., DrawnPage], finished: Callable[..., str]
):
    run_id = finished(name="Winter exam")
    assert "data-find" not in tab().text  # one run needs none
    page = tab({"run": run_id, "find": "winter"})
    assert f'data-find="?run={run_id}"' in page.text
    assert page.choose("State", "done") == f"?run={run_id}&find=winter&state=done"
    assert "No run matches" in tab({"find": "summer", "state": "failed"}).text


def test_the_newest_are_listed_and_the_others_are_found(
    tab: Callable[..., DrawnPage], finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.ui.pages.runs._MOST", 1)
    first, second = finished(name="first"), finished(name="second")
    page = tab().text
    assert f'data-key="{second}"' in page
    assert f'data-key="{first}"' not in page
    assert "The newest 1 of 2." in page
    assert f'data-key="{first}"' in tab({"find": "first"}).text
