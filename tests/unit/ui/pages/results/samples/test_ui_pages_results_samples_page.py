"""Samples and duels as parts of the page of a run: its frame, news of a live run, old addresses."""

from collections.abc import Callable

import pytest
from ui_examples import HOSTILE
from ui_results_screen import ResultsScreen

from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec

Finished = Callable[..., str]


@pytest.fixture
def tab(desk: AppService) -> ResultsScreen:
    return ResultsScreen(desk, messages("en"))


def test_the_samples_stand_in_the_frame_of_the_run(tab: ResultsScreen, finished: Finished):
    run_id = finished(name="Midterm")
    page = tab.render({"run": run_id, "sub": "samples"})
    assert "<b>Midterm</b>" in page
    assert f'href="results?run={run_id}&amp;sub=bias">Bias' in page
    assert 'aria-current="page">Samples' in page
    assert "4 of 4</h2>" in page
    assert "4 of 4</h2>" not in tab.render({"run": run_id, "sub": "bias"})


def test_new_answers_of_a_live_run_appear_and_leave_the_search(
    tab: ResultsScreen, desk: AppService, form_for: Callable[..., Form]
):
    run_id = start_run(desk, form_to_spec(form_for(models=["biased"], modes=["multiple_choice"])))
    samples = tab.page.lists["samples"]
    assert "No answer yet." in tab.render({"run": run_id, "sub": "samples"})
    assert tab.is_looking()
    assert not tab.look()
    lines = tab.update(samples.list)["value"]
    Worker(desk.database, desk.models.catalog).run_once(run_id)
    tab.shown.pop(samples.filters.find)
    assert tab.look()
    assert "4 of 4" in tab.around()
    assert tab.update(samples.list)["value"] != lines
    assert samples.filters.find not in tab.shown
    assert not tab.is_looking()


def test_a_run_that_goes_on_says_so_in_chinese(desk: AppService, form_for: Callable[..., Form]):
    run_id = start_run(desk, form_to_spec(form_for(models=["biased"], modes=["multiple_choice"])))
    assert queue.claim(desk.database, "worker-1")
    page = ResultsScreen(desk, messages("zh")).render({"run": run_id, "sub": "samples"})
    assert "仍在运行：已完成 0 / 16。" in page


def test_a_list_that_the_page_has_is_not_sent_again(tab: ResultsScreen, finished: Finished):
    run_id, samples = finished(), tab.page.lists["samples"]
    tab.render({"run": run_id, "sub": "samples", "q": "capitals/1"})
    digest = tab.update(samples.drawn)["value"]
    again = tab.open({"run": run_id, "sub": "samples", "q": "capitals/2"}, samples=digest)
    assert "value" not in again[samples.list]
    assert "capitals/2" in again[samples.list]["steps"]
    assert "Capital of Italy?" in again[samples.reader]


def test_what_is_typed_is_left_as_it_is(tab: ResultsScreen, finished: Finished):
    form: Form = {"run": finished(), "sub": "samples", "find": "nor"}
    find = tab.page.lists["samples"].filters.find
    assert tab.open(form)[find] == "nor"
    assert tab.open(form, own="yes")[find] != "nor"


def test_a_choice_beside_the_list_leads_to_its_address(tab: ResultsScreen, finished: Finished):
    run_id = finished()
    tab.render({"run": run_id, "sub": "samples"})
    assert "outcome=wrong" in str(tab.choose("samples", outcome="wrong"))
    assert "find=norway" in str(tab.find("norway"))
    assert "find" not in str(tab.find(""))  # as the address has it


def test_nothing_in_questions_or_replies_becomes_markup(tab: ResultsScreen, finished: Finished):
    cell = HOSTILE.replace('"', '""') + r" ${x} {{ 7 * 7 }} \underline{x}"
    row = f'"1{cell}","Which? {cell}","{cell}",b,c,d,B,"{cell}"'
    hostile = f"id,question,A,B,C,D,answer,explanation\n{row}\n"
    run_id = finished(hostile, modes=["multiple_choice", "generation"], name=HOSTILE[:100])
    page = tab.render({"run": run_id, "sub": "samples"})
    for part in ("onerror=", "${x} {{ 7 * 7 }}", r"\underline{x}"):
        assert part in page
    for mark in ("<img", "<script", "<iframe"):
        assert mark not in page


@pytest.mark.parametrize(
    "asked",
    [{"q": "nope"}, {"rows": "9" * 30}, {"order": "77"}, {"find": "x" * 60_000}],
    ids=["unknown question", "endless list", "unknown order", "endless pattern"],
)
def test_an_address_that_asks_for_nonsense_still_shows_the_samples(
    tab: ResultsScreen, finished: Finished, asked: dict[str, str]
):
    page = tab.render({"run": finished(), "sub": "samples"} | asked)
    assert " of 4</h2>" in page
