"""What has not moved to the Results page: samples, in the frame of every view."""

from collections.abc import Callable

import pytest
from ui_examples import HOSTILE

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.database import queue
from evalui.ui.components.form import Form
from evalui.ui.run_form import read_run_form
from evalui.ui.tabs.results import ResultsTab

Finished = Callable[..., str]


@pytest.fixture
def tab(desk: AppService) -> ResultsTab:
    return ResultsTab(desk, messages("en"))


def test_the_samples_stand_in_the_frame_of_the_run(tab: ResultsTab, finished: Finished):
    run_id = finished(name="Midterm")
    page = tab.render({"run": run_id, "sub": "samples"})
    assert "<b>Midterm</b>" in page
    assert f'href="results?run={run_id}&amp;sub=bias">Bias' in page
    assert 'aria-current="page">Samples' in page


def test_a_live_run_fills_in_place(
    tab: ResultsTab, desk: AppService, form_for: Callable[..., Form]
):
    run_id = desk.start(read_run_form(form_for(models=["biased"], modes=["multiple_choice"])))
    assert queue.claim(desk.database, "worker-1")
    assert 'data-watch="500"' in tab.render({"run": run_id, "sub": "samples"})
    samples = ResultsTab(desk, messages("zh")).render({"run": run_id, "sub": "samples"})
    assert "仍在运行：已完成 0 / 16。" in samples


def test_nothing_in_questions_or_replies_becomes_markup(tab: ResultsTab, finished: Finished):
    cell = HOSTILE.replace('"', '""')
    row = f'"1{cell}","Which? {cell}","{cell}",b,c,d,B,"{cell}"'
    hostile = f"id,question,A,B,C,D,answer,explanation\n{row}\n"
    run_id = finished(hostile, modes=["multiple_choice", "generation"], name=HOSTILE[:100])
    page = tab.render({"run": run_id, "sub": "samples"})
    assert "onerror=" in page
    for mark in ("<img", "<script", "<iframe"):
        assert mark not in page


@pytest.mark.parametrize(
    "asked",
    [{"q": "nope"}, {"rows": "9" * 30}, {"order": "77"}, {"find": "x" * 60_000}],
    ids=["unknown question", "endless list", "unknown order", "endless pattern"],
)
def test_an_address_that_asks_for_nonsense_still_shows_the_samples(
    tab: ResultsTab, finished: Finished, asked: dict[str, str]
):
    page = tab.render({"run": finished(), "sub": "samples"} | asked)
    assert " of 4</h2>" in page
