"""The queue, the live matrix, and what a person can do to a run."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from ui_examples import HOSTILE, poll_of

from evalui.access import Person
from evalui.app.run_labels import run_label
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.database import queue
from evalui.runs.database.runs import read_run, read_runs
from evalui.runs.spec import read_spec, write_spec
from evalui.runs.worker.worker import Worker
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.current_person import acting_as
from evalui.ui.run_form import read_run_form
from evalui.ui.shell import AppShell
from evalui.ui.tabs.runs import RunsTab

MakeAct = Callable[..., Action]


@pytest.fixture
def tab(desk: AppService) -> RunsTab:
    return RunsTab(desk, messages("en"))


@pytest.fixture
def queued(desk: AppService, form_for: Callable[..., Form]) -> Callable[..., str]:
    return lambda **fields: desk.start(read_run_form(form_for(**fields)))


def test_an_empty_page_tells_the_next_step(tab: RunsTab):
    assert "Start with a file or try the sample." in tab.render({})


def test_a_reader_is_not_led_to_where_runs_are_started(tab: RunsTab, finished: Callable[..., str]):
    with acting_as(Person("rita", "reader")):
        empty = tab.render({})
    assert "shared with a team of yours" in empty
    run_id = finished()
    with acting_as(Person("rita", "reader", scope="read")):
        pages = [empty, tab.render({"run": run_id})]
    assert "?tab=evaluate" not in "".join(pages)
    assert "?tab=evaluate" in tab.render({})


def test_the_queue_tells_the_place_of_each_run(tab: RunsTab, queued: Callable[..., str]):
    queued(name="first")
    queued(name="second")
    queue = tab.render({}).partition("<h2>Queue</h2>")[2]
    assert queue.index("<td>1</td><td><b>first</b>") < queue.index("<td>2</td><td><b>second</b>")


def test_the_matrix_has_a_cell_for_every_model_and_mode(tab: RunsTab, finished: Callable[..., str]):
    page = tab.render({"run": finished()})
    assert page.count("4 / 4") == 1  # cloze asks each question once
    assert page.count("16 / 16") == 2
    assert "Cannot run" in page
    assert "it gives no probability of a text" in page


def test_a_chinese_page_tells_in_chinese_why_a_cell_cannot_run(
    desk: AppService, finished: Callable[..., str]
):
    assert "always-A 不能用这种方式：它不给出文本的概率。" in RunsTab(desk, messages("zh")).render(
        {"run": finished()}
    )


def test_a_chinese_page_tells_in_chinese_how_a_run_failed(
    desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    Worker(desk.database, dict).run_once()  # a server that has lost its models
    told = "没有名为 &#x27;biased&#x27; 的模型。"
    assert told in RunsTab(desk, messages("zh")).render({"run": run_id})
    figures = desk.report(run_id, "zh").summaries
    assert figures[0].error.startswith("没有名为 'biased' 的模型。")


def test_running_accuracy_has_its_range_and_its_n(tab: RunsTab, finished: Callable[..., str]):
    page = tab.render({"run": finished(models=["always-A"], modes=["multiple_choice"])})
    assert '<b>25 %</b> <span class="meta">5–70 · n 4</span>' in page


def test_a_page_without_news_is_the_same_page(tab: RunsTab, queued: Callable[..., str]):
    run_id = queued()
    assert tab.render({"run": run_id}) == tab.render({"run": run_id})


def test_news_are_shown_and_an_ended_run_is_not_watched(
    tab: RunsTab, desk: AppService, queued: Callable[..., str]
):
    run_id = queued()
    queue.cancel(desk.database, run_id)
    page = tab.render({"run": run_id})
    assert "Stopped by you" in page
    assert "data-watch" not in page


def test_the_page_is_watched_while_a_run_can_change(tab: RunsTab, queued: Callable[..., str]):
    assert "data-watch" not in tab.render({})
    queued()
    assert 'data-watch="1000"' in tab.render({})


def test_a_notice_is_no_part_of_an_address(
    tab: RunsTab, act: MakeAct, queued: Callable[..., str], finished: Callable[..., str]
):
    done, live = finished(), queued()
    asked = tab.act(act("ask", {"run": live}, target=done))
    assert asked
    assert "data-watch" not in asked  # the page of its address would undo the question
    assert poll_of(asked)["confirming"] == done


def test_a_run_without_answers_states_just_that(
    tab: RunsTab, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    page = tab.render({"run": run_id})
    assert "no answers yet" in page
    assert "Running accuracy still moves." not in page
    ended = (tab.act(act("stop", target=run_id)) or "").partition("<h2>Finished</h2>")[2]
    assert "nothing answered" in ended
    assert " kept" not in ended


def test_stop_keeps_the_run_and_resume_queues_it_again(
    tab: RunsTab, desk: AppService, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    tab.act(act("stop", target=run_id))
    assert desk.run(run_id).state == "cancelled"
    tab.act(act("resume", target=run_id))
    assert desk.run(run_id).state == "queued"


def test_delete_asks_once_and_then_deletes(
    tab: RunsTab, desk: AppService, act: MakeAct, finished: Callable[..., str]
):
    run_id = finished()
    page = tab.act(act("ask", target=run_id))
    assert "Delete for good" in (page or "")
    assert read_runs(desk.database)
    tab.act(act("delete", target=run_id))
    assert read_runs(desk.database) == []


def test_where_nothing_can_be_changed_nothing_is_offered(
    tab: RunsTab, desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    desk.settings.read_only = True
    page = tab.render({"run": run_id})
    assert "Read the results" in page
    assert "<button" not in page
    assert "New evaluation" not in page
    assert "Repeat" not in page


def test_a_run_is_repeated_by_its_owner_while_its_files_are_there(
    desk: AppService, finished: Callable[..., str]
):
    run_id, shell = finished(), AppShell(desk, "en")

    def offered() -> list[bool]:
        pages = shell.page({"tab": "runs"}), shell.page({"run": run_id, "tab": "results"})
        return [f"again={run_id}" in page.content for page in pages]

    assert offered() == [True, True]
    with acting_as(Person("eve", "admin")):
        assert offered() == [False, False]
    assert offered() == [True, True]
    desk.delete_upload(desk.uploads.uploaded(desk.owner)[0].id)
    assert offered() == [False, False]


def test_a_run_that_is_not_ours_cannot_be_touched(
    tab: RunsTab,
    desk: AppService,
    act: MakeAct,
    queued: Callable[..., str],
    become: Callable[[str], None],
):
    run_id = queued()
    become("bob")
    page = tab.act(act("stop", target=run_id))
    assert "There is no run" in (page or "")
    assert read_run(desk.database, run_id).state == "queued"


def test_a_name_never_becomes_markup(tab: RunsTab, queued: Callable[..., str]):
    queued(name=HOSTILE[:100])
    page = tab.render({})
    assert "&lt;img" in page
    assert "<img" not in page


def test_a_question_to_the_person_stays_while_the_page_polls(
    tab: RunsTab,
    desk: AppService,
    act: MakeAct,
    queued: Callable[..., str],
    finished: Callable[..., str],
):
    done, live = finished(), queued()
    queued()
    asked = tab.act(act("ask", {"run": live}, target=done))
    assert asked
    queue.cancel(desk.database, live)
    page = tab.act(act("poll", {"run": live}, **poll_of(asked)))
    assert page
    assert f'data-do="delete" data-target="{done}"' in page
    assert tab.act(act("poll", {"run": live}, **poll_of(page))) is None


def test_a_problem_stays_while_the_page_polls(
    tab: RunsTab, desk: AppService, act: MakeAct, queued: Callable[..., str]
):
    first, _ = queued(), queued()
    page = tab.act(act("stop", target="none"))
    assert page
    queue.cancel(desk.database, first)
    page = tab.act(act("poll", **poll_of(page)))
    assert page
    assert "There is no run &#x27;none&#x27;" in page


def test_the_tab_opens_again_without_its_problem(
    tab: RunsTab, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    assert "There is no run" in (tab.act(act("stop", {"run": run_id}, target="none")) or "")
    assert "There is no run" not in tab.render({"run": run_id})


def test_a_resumed_run_is_watched_again(
    tab: RunsTab, desk: AppService, act: MakeAct, queued: Callable[..., str]
):
    run_id = queued()
    queue.cancel(desk.database, run_id)
    assert "data-watch" not in tab.render({})
    assert "data-watch" in (tab.act(act("resume", target=run_id)) or "")


def test_the_run_in_full_is_that_of_the_address(tab: RunsTab, queued: Callable[..., str]):
    first, second = queued(name="first"), queued(name="second")
    page = tab.render({"run": second})
    assert f'data-address="run={second}&amp;tab=runs"' in page
    assert f'href="?run={first}&amp;tab=runs">Show</a>' in page
    assert f'href="?run={second}&amp;tab=runs">Show</a>' not in page
    assert 'data-address="tab=runs"' in tab.render({})


def test_a_run_that_is_not_there_is_said(tab: RunsTab):
    assert "There is no run" in tab.render({"run": "nowhere"})


def test_a_deleted_run_leaves_the_address(tab: RunsTab, act: MakeAct, finished: Callable[..., str]):
    first, second = finished(), finished(name="second")
    page = tab.act(act("delete", {"run": second}, target=first))
    assert f'data-address="run={second}&amp;tab=runs"' in (page or "")
    page = tab.act(act("delete", {"run": second}, target=second))
    assert 'data-address="tab=runs"' in (page or "")


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
        ({"modes": ["generation"], "gen_stop": "END"}, "Stop texts [&quot;END&quot;]"),
        ({"gen_system_prompt": "Be brief."}, "System prompt &quot;Be brief.&quot;"),
    ],
)
def test_runs_that_differ_in_one_setting_differ_in_the_list(
    tab: RunsTab, queued: Callable[..., str], changed: Form, told: str
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


def test_the_run_in_full_tells_its_settings_too(tab: RunsTab, queued: Callable[..., str]):
    page = tab.render({"run": queued(seed="7")})
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
    assert told not in tab.render({})
    (upload,) = form_for()["uploads"]
    queued(**{f"col_duplicates_{upload}": "skip"})
    assert told in tab.render({})
