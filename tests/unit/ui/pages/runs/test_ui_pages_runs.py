"""The queue, the run in full, what has ended, and what a person can do to a run."""

import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from ui_examples import HOSTILE
from ui_results_screen import ResultsScreen
from ui_runs_screen import Screen

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
def tab(desk: AppService) -> Screen:
    return Screen(desk)


@pytest.fixture
def queued(desk: AppService, form_for: Callable[..., Form]) -> Callable[..., str]:
    return lambda **fields: start_run(desk, form_to_spec(form_for(**fields)))


def test_an_empty_page_tells_the_next_step(tab: Screen):
    assert "Start with a file or try the sample." in tab.render({})


def test_a_reader_is_not_led_to_where_runs_are_started(tab: Screen, finished: Callable[..., str]):
    with acting_as(Person("rita", "reader")):
        empty = tab.render({})
    assert "their owners show everybody" in empty
    run_id = finished()
    with acting_as(Person("rita", "reader", scope="read")):
        pages = [empty, tab.render({"run": run_id})]
    assert "New evaluation" not in "".join(pages)
    assert "New evaluation" in tab.render({})


def test_the_queue_tells_the_place_of_each_run(tab: Screen, queued: Callable[..., str]):
    queued(name="first")
    queued(name="second")
    names = re.findall(r"<td>(\d)</td>\s*<td><b>(\w+)</b>", tab.render({}))
    assert names == [("1", "first"), ("2", "second")]


def test_the_matrix_has_a_cell_for_every_model_and_mode(tab: Screen, finished: Callable[..., str]):
    page = tab.render({"run": finished()})
    assert page.count("4 / 4") == 1  # cloze asks each question once
    assert page.count("16 / 16") == 2
    assert "Cannot run" in page
    assert "it gives no probability of a text" in page


def test_a_chinese_page_tells_in_chinese_why_a_cell_cannot_run(
    desk: AppService, finished: Callable[..., str]
):
    assert "always-A 不能用这种方式：它不给出文本的概率。" in Screen(desk, "zh").render(
        {"run": finished()}
    )


def test_a_chinese_page_tells_in_chinese_how_a_run_failed(
    desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    Worker(desk.database, dict).run_once()  # a server that has lost its models
    told = "没有名为 &#39;biased&#39; 的模型。"
    assert told in Screen(desk, "zh").render({"run": run_id})
    figures = run_report(desk, run_id, "zh").summaries
    assert figures[0].error.startswith("没有名为 'biased' 的模型。")


def test_running_accuracy_has_its_range_and_its_n(tab: Screen, finished: Callable[..., str]):
    page = tab.render({"run": finished(models=["always-A"], modes=["multiple_choice"])})
    assert "25 %\n5–70 · n 4" in page


def test_a_question_that_is_asked_several_times_is_one_question(
    tab: Screen, finished: Callable[..., str]
):
    drawn = {"temperature": "1", "repeats": "3"}
    page = tab.render({"run": finished(models=["always-A"], modes=["generation"], **drawn)})
    assert "· n 4" in page
    assert "n 12" not in page


def test_a_run_without_answers_states_just_that(tab: Screen, queued: Callable[..., str]):
    run_id = queued()
    page = tab.render({"run": run_id})
    assert "no answers yet" in page
    assert "Running accuracy still moves." not in page
    ended = tab.act("stop", run_id).partition("<h2>Finished</h2>")[2]
    assert "nothing answered" in ended
    assert " kept" not in ended


def test_stop_keeps_the_run_and_resume_queues_it_again(
    tab: Screen, desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    tab.act("stop", run_id)
    assert desk.run(run_id).state == "cancelled"
    tab.act("resume", run_id)
    assert desk.run(run_id).state == "queued"


def test_where_nothing_can_be_changed_nothing_is_offered(
    tab: Screen, desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    desk.settings.read_only = True
    page = tab.render({"run": run_id})
    assert "Read the results" in page
    assert "data-do" not in page
    assert "New evaluation" not in page
    assert "Repeat" not in page


def test_a_run_that_is_not_ours_cannot_be_touched(
    tab: Screen,
    desk: AppService,
    queued: Callable[..., str],
    become: Callable[[str], None],
):
    run_id = queued()
    become("bob")
    page = tab.act("stop", run_id)
    assert "There is no run" in page
    assert read_run(desk.database, run_id).state == "queued"


def test_a_run_that_is_not_there_is_said(tab: Screen):
    assert "There is no run" in tab.render({"run": "nowhere"})


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
    tab: Screen, queued: Callable[..., str], changed: Form, told: str
):
    queued()
    plain = tab.render({})
    assert (
        '<b>capitals</b><div class="meta">biased, always-A · letters, circular; cloze</div>'
        in plain
    )
    assert told not in plain
    queued(**changed)
    assert told in tab.render({})


def test_the_run_in_full_tells_its_settings_too(tab: Screen, queued: Callable[..., str]):
    page = tab.render({"run": queued(seed="7")})
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
    tab: Screen, queued: Callable[..., str], form_for: Callable[..., Form]
):
    told = "without rows with options of the same text"
    queued()
    assert told not in tab.render({})
    (upload,) = form_for()["uploads"]
    queued(**{f"datasets.{upload}.duplicate_options": "skip"})
    assert told in tab.render({})


def test_a_page_without_news_is_the_same_page(tab: Screen, queued: Callable[..., str]):
    run_id = queued()
    page = tab.render({"run": run_id})
    assert tab.follow() == page


def test_a_run_that_ends_moves_from_the_queue_to_the_list(
    tab: Screen, desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    assert "<h2>Queue</h2>" in tab.render({})
    queue.cancel(desk.database, run_id)
    page = tab.follow()
    assert "<h2>Queue</h2>" not in page
    assert "Stopped by you" in page.partition("<h2>Finished</h2>")[2]
    assert not tab.is_live()


def test_the_page_looks_by_itself_while_a_run_can_change(
    tab: Screen, queued: Callable[..., str], finished: Callable[..., str]
):
    done = finished()
    tab.render({"run": done})
    assert not tab.is_live()
    run_id = queued()
    tab.render({"run": done})
    assert tab.is_live()  # another one goes on, which the queue shows
    tab.act("stop", run_id)
    assert not tab.is_live()
    tab.act("resume", run_id)
    assert tab.is_live()
    assert tab.progress()["address"] == f"../progress/{run_id}?lang=en"


def test_a_problem_of_a_click_is_no_part_of_an_address(tab: Screen, queued: Callable[..., str]):
    run_id = queued()
    tab.render({"run": run_id})
    assert "There is no run &#39;none&#39;" in tab.act("stop", "none")
    assert "There is no run" in tab.follow()
    assert "There is no run" not in tab.render({"run": run_id})


def test_the_run_in_full_is_that_of_the_address(tab: Screen, queued: Callable[..., str]):
    first, second = queued(name="first"), queued(name="second")
    page = tab.render({"run": second})
    assert tab.progress()["now"]["run"] == second
    assert f'href="runs?run={first}">Show</a>' in page
    assert f'href="runs?run={second}">Show</a>' not in page
    tab.render({})
    assert tab.progress()["now"]["run"] == first


def test_a_deleted_run_leaves_the_address(tab: Screen, finished: Callable[..., str]):
    first, second = finished(), finished(name="second")
    tab.render({"run": second})
    tab.act("delete", first)
    assert tab.query == f"run={second}"
    tab.act("delete", second)
    assert tab.query == ""
    assert "No runs yet" in tab.html()


def test_a_run_is_deleted_after_a_question(
    tab: Screen, desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    row = tab.render({}).partition(f'<tr data-key="{run_id}">')[2]
    question = row.partition("data-question hidden>")[2]
    assert 'data-do="ask">Delete</button>' in row
    assert f'data-do="delete" data-target="{run_id}">Delete for good</button>' in question
    assert read_runs(desk.database)
    tab.act("delete", run_id)
    assert read_runs(desk.database) == []


def test_a_name_never_becomes_markup(tab: Screen, queued: Callable[..., str]):
    queued(name=HOSTILE[:100])
    page = tab.render({})
    assert "&lt;img" in page
    assert "<img" not in page
    assert tab.progress()["now"]["name"] == HOSTILE[:100]  # which its script makes a text


def test_a_run_is_repeated_by_its_owner_while_its_files_are_there(
    tab: Screen, desk: AppService, finished: Callable[..., str]
):
    run_id, results = finished(), ResultsScreen(desk, messages("en"))

    def offered() -> list[bool]:
        pages = tab.render({"run": run_id}), results.render({"run": run_id})
        return [f"again={run_id}" in page for page in pages]

    assert offered() == [True, True]
    with acting_as(Person("eve", "admin")):
        assert offered() == [False, False]
    assert offered() == [True, True]
    delete_upload(desk, desk.uploads.uploaded(desk.owner)[0].id)
    assert offered() == [False, False]


def test_an_administrator_is_shown_a_run_of_somebody_else(
    tab: Screen, finished: Callable[..., str]
):
    run_id = finished(name="theirs")
    with acting_as(Person("eve", "admin")):
        assert "theirs" not in tab.render({})
        assert "theirs" in tab.render({"run": run_id})
    with acting_as(Person("bob", "annotator")):
        page = tab.render({"run": run_id})
    assert "theirs" not in page
    assert "There is no run" in page


def test_what_has_ended_is_found_by_name_model_id_and_state(
    tab: Screen, desk: AppService, finished: Callable[..., str], queued: Callable[..., str]
):
    one = finished(name="Winter exam", models=["always-A"])
    other = finished(name="Summer exam", models=["biased"])
    stopped = queued(name="Autumn exam", models=["biased"])
    queue.cancel(desk.database, stopped)
    tab.render({})

    def found(find: str, state: str = "") -> set[str]:
        page = tab.search(find, state)
        return {run for run in (one, other, stopped) if f'data-key="{run}"' in page}

    assert found("") == {one, other, stopped}
    assert found("EXAM winter") == {one}
    assert found("always") == {one}
    assert found(other) == {other}
    assert found("biased", "cancelled") == {stopped}
    assert found("", "done") == {one, other}
    assert found("", "no state") == {one, other, stopped}
    assert found("spring") == set()
    assert "No run matches" in tab.html()


def test_a_search_stands_in_the_address(tab: Screen, finished: Callable[..., str]):
    run_id = finished(name="Winter exam")
    assert not (tab.render({}), tab.sees_search())[1]  # one run needs none
    tab.render({"run": run_id})
    tab.search("winter", "done")
    assert tab.query == f"run={run_id}&find=winter&state=done"
    page = tab.render({"find": "summer", "state": "failed"})
    assert tab.sees_search()
    assert "No run matches" in page


def test_the_newest_are_listed_and_the_others_are_found(
    tab: Screen, finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.ui.pages.runs._MOST", 1)
    first, second = finished(name="first"), finished(name="second")
    page = tab.render({})
    assert f'data-key="{second}"' in page
    assert f'data-key="{first}"' not in page
    assert "The newest 1 of 2." in page
    assert f'data-key="{first}"' in tab.search("first")
