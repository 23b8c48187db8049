"""What the Results page says of a run, in every view."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from press import Press
from ui_examples import HOSTILE
from ui_open_examples import finish, open_desk, open_form
from ui_results_screen import ResultsScreen

from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.store import queue
from evalui.store.runs import read_cells
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec
from evalui.ui.run_frame import VIEWS, WITHIN

Finished = Callable[..., str]
MakeAct = Callable[..., Press]


@pytest.fixture
def tab(desk: AppService) -> ResultsScreen:
    return ResultsScreen(desk, messages("en"))


def test_the_head_says_what_ran_and_leads_to_each_view(tab: ResultsScreen, finished: Finished):
    run_id = finished(name="Midterm")
    page = tab.render({"run": run_id})
    assert "<b>Midterm</b>" in page
    (dataset,) = {cell.cell.dataset for cell in read_cells(tab.service.database, run_id)}
    assert f">{dataset} · 4 questions · 2 models · today" in page
    assert f"{dataset} · 4 questions" not in tab.render({"run": finished(name=dataset)})
    for view in VIEWS:
        assert f'href="results?run={run_id}&amp;sub={view}"' in page
    assert 'sub=overview" aria-current="page">Overview' in page


@pytest.mark.parametrize("view", [*VIEWS, *WITHIN])
def test_an_address_shows_its_view(tab: ResultsScreen, finished: Finished, view: str):
    asked = tab.render({"run": finished(), "sub": view})
    current = WITHIN.get(view, view).capitalize()
    assert f'aria-current="page">{current}</a>' in asked


def test_an_unknown_view_is_the_overview(tab: ResultsScreen, finished: Finished):
    assert 'aria-current="page">Overview' in tab.render({"run": finished(), "sub": "nonsense"})


def test_a_run_without_answers_has_every_view(
    tab: ResultsScreen, desk: AppService, form_for: Callable[..., Form]
):
    run_id = start_run(desk, form_to_spec(form_for()))
    shown = {view: tab.render({"run": run_id, "sub": view}) for view in (*VIEWS, *WITHIN)}
    assert "Nothing to test yet" in shown["statistics"]
    assert "No probabilities to judge" in shown["calibration"]
    assert "4 questions, as this run asked them" in tab.render({"run": run_id, "sub": "health"})


def test_an_unknown_run_is_reported_and_recent_ones_are_offered(
    tab: ResultsScreen, finished: Finished
):
    run_id = finished()
    page = tab.render({"run": "nothing-here"})
    assert "There is no run" in page
    assert f'href="results?run={run_id}"' in page


def test_no_run_offers_the_recent_ones(tab: ResultsScreen, finished: Finished):
    run_id = finished()
    assert f'href="results?run={run_id}"' in tab.render({})


def test_written_answers_have_their_own_views(tmp_path: Path):
    desk = open_desk(tmp_path)
    run_id = finish(desk, open_form(desk))
    tab = ResultsScreen(desk, messages("en"))
    page = tab.render({"run": run_id, "sub": "bias"})
    assert 'aria-current="page">Overview' in page
    assert f'href="results?run={run_id}&amp;sub=duels">Duels' in page
    assert f'href="annotate?run={run_id}">Annotate' in page
    assert "Statistics" not in page


def test_nothing_in_questions_or_replies_becomes_markup(tab: ResultsScreen, finished: Finished):
    cell = HOSTILE.replace('"', '""')
    row = f'"1{cell}","Which? {cell}","{cell}",b,c,d,B,"{cell}"'
    hostile = f"id,question,A,B,C,D,answer,explanation\n{row}\n"
    run_id = finished(hostile, modes=["multiple_choice", "generation"], name=HOSTILE[:100])
    views = VIEWS
    pages = [tab.render({"run": run_id, "sub": view}) for view in views]
    assert any("onerror=" in page for page in pages)
    for page in pages:
        assert "<img" not in page
        assert "<script" not in page
        assert "<iframe" not in page


def test_a_waiting_run_says_that_it_has_not_begun(
    tab: ResultsScreen, desk: AppService, form_for: Callable[..., Form]
):
    run_id = start_run(desk, form_to_spec(form_for()))
    page = tab.render({"run": run_id})
    assert "Not begun: this run waits for its turn." in page
    assert f'href="runs?run={run_id}"' in page


def test_a_live_run_fills_in_place(
    tab: ResultsScreen, desk: AppService, form_for: Callable[..., Form]
):
    run_id = start_run(desk, form_to_spec(form_for(models=["biased"], modes=["multiple_choice"])))
    assert queue.claim(desk.database, "worker-1")
    page = tab.render({"run": run_id})
    assert "0 of 16 answers are in. The verdict comes with the last one." in page
    follows = json.loads(tab.update(tab.page.news)["value"])
    assert follows["pause_s"] == 0.5  # its first figure is waited for
    # The document is read by an event of its own, before or after: both are shown anew.
    assert tab.look()
    assert not tab.look()
    assert tab.render({"run": run_id}) == page
    bias = ResultsScreen(desk, messages("zh")).render({"run": run_id, "sub": "bias"})
    assert "仍在运行：已完成 0 / 16。" in bias


def test_a_finished_run_is_not_watched(tab: ResultsScreen, finished: Finished):
    tab.render({"run": finished()})
    assert not tab.is_looking()


def test_runs_of_one_file_differ_in_head_and_list(tab: ResultsScreen, finished: Finished):
    plain, seeded = finished(), finished(seed="7")
    assert "Seed 7" in tab.render({"run": seeded})
    assert "Seed 7" not in tab.render({"run": plain}).partition("</nav>")[0]
    listed = tab.render({})
    assert listed.count("biased, always-A · letters, circular; cloze") == 2
    assert listed.count("Seed 7") == 1
