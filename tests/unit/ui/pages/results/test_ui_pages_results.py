"""What the Results page says of a run, in every view."""

from collections.abc import Callable
from pathlib import Path

import pytest
from drawn_page import DrawnPage
from ui_examples import HOSTILE
from ui_open_examples import finish, open_desk, open_form

from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.store import queue
from evalui.store.runs import read_cells
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec
from evalui.ui.pages.results import first
from evalui.ui.run_frame import VIEWS, WITHIN

Finished = Callable[..., str]


def shown(desk: AppService, run_id: str = "", **form: str) -> str:
    return DrawnPage("results", desk, {"run": run_id, **form}).text


def test_the_head_says_what_ran_and_leads_to_each_view(desk: AppService, finished: Finished):
    run_id = finished(name="Midterm")
    page = shown(desk, run_id)
    assert "<b>Midterm</b>" in page
    (dataset,) = {cell.cell.dataset for cell in read_cells(desk.database, run_id)}
    assert f">{dataset} · 4 questions · 2 models · today" in page
    assert f"{dataset} · 4 questions" not in shown(desk, finished(name=dataset))
    for view in VIEWS:
        assert f'href="results?run={run_id}&amp;sub={view}"' in page
    assert 'sub=overview" aria-current="page">Overview' in page


@pytest.mark.parametrize("view", [*VIEWS, *WITHIN])
def test_an_address_shows_its_view(desk: AppService, finished: Finished, view: str):
    asked = shown(desk, finished(), sub=view)
    current = WITHIN.get(view, view).capitalize()
    assert f'aria-current="page">{current}</a>' in asked


def test_an_unknown_view_is_the_overview(desk: AppService, finished: Finished):
    assert 'aria-current="page">Overview' in shown(desk, finished(), sub="nonsense")


def test_a_run_without_answers_has_every_view(desk: AppService, form_for: Callable[..., Form]):
    run_id = start_run(desk, form_to_spec(form_for()))
    pages = {view: shown(desk, run_id, sub=view) for view in (*VIEWS, *WITHIN)}
    assert "Nothing to test yet" in pages["statistics"]
    assert "No probabilities to judge" in pages["calibration"]
    assert "4 questions, as this run asked them" in shown(desk, run_id, sub="health")


def test_an_unknown_run_is_reported_and_recent_ones_are_offered(
    desk: AppService, finished: Finished
):
    run_id = finished()
    page = shown(desk, "nothing-here")
    assert "There is no run" in page
    assert f'href="results?run={run_id}"' in page


def test_no_run_offers_the_recent_ones(desk: AppService, finished: Finished):
    run_id = finished()
    assert f'href="results?run={run_id}"' in shown(desk)


def test_written_answers_have_their_own_views(tmp_path: Path):
    desk = open_desk(tmp_path)
    run_id = finish(desk, open_form(desk))
    page = shown(desk, run_id, sub="bias")
    assert 'aria-current="page">Overview' in page
    assert f'href="results?run={run_id}&amp;sub=duels">Duels' in page
    assert f'href="annotate?run={run_id}">Annotate' in page
    assert "Statistics" not in page


def test_nothing_in_questions_or_replies_becomes_markup(desk: AppService, finished: Finished):
    cell = HOSTILE.replace('"', '""')
    row = f'"1{cell}","Which? {cell}","{cell}",b,c,d,B,"{cell}"'
    hostile = f"id,question,A,B,C,D,answer,explanation\n{row}\n"
    run_id = finished(hostile, modes=["multiple_choice", "generation"], name=HOSTILE[:100])
    views = VIEWS
    pages = [shown(desk, run_id, sub=view) for view in views]
    assert any("onerror=" in page for page in pages)
    for page in pages:
        assert "<img" not in page
        assert "<script" not in page
        assert "<iframe" not in page


def test_a_waiting_run_says_that_it_has_not_begun(desk: AppService, form_for: Callable[..., Form]):
    run_id = start_run(desk, form_to_spec(form_for()))
    page = shown(desk, run_id)
    assert "Waiting: this run has not started yet." in page
    assert f'href="runs?run={run_id}"' in page


def test_a_live_run_shows_how_far_it_is_and_is_followed(
    desk: AppService, form_for: Callable[..., Form]
):
    run_id = start_run(desk, form_to_spec(form_for(models=["biased"], modes=["multiple_choice"])))
    assert queue.claim(desk.database, "worker-1")
    page = shown(desk, run_id)
    assert "0 of 16" in page
    assert "<button>Stop</button>" in page
    bias = DrawnPage("results", desk, {"run": run_id, "sub": "bias"}, "zh").text
    assert "仍在运行：已完成 0 / 16。" in bias
    for each in (page, bias):
        assert 'data-state="running"' in each


def test_an_ended_run_is_not_followed(desk: AppService, finished: Finished):
    assert "data-state=" not in shown(desk, finished())


def test_what_stands_there_before_gradio_draws_is_what_it_draws(
    desk: AppService, finished: Finished, form_for: Callable[..., Form]
):
    t, run_id = messages("en"), finished()
    whole, bias = (first(desk, t, {"run": run_id, "sub": sub}) for sub in ("overview", "bias"))
    drawn = shown(desk, run_id)
    for part in ("Views of this run", '<table class="lead">', "Compare"):
        assert part in whole
        assert part in drawn
    assert drawn.partition("<h1>")[2].partition("</h1>")[0] in whole
    assert "Views of this run" in bias
    assert "<h1>" not in bias
    live = first(desk, t, {"run": start_run(desk, form_to_spec(form_for()))})
    assert "Views of this run" in live
    assert "<table" not in live
    assert "Recent runs" in first(desk, t, {})


def test_runs_of_one_file_differ_in_head_and_list(desk: AppService, finished: Finished):
    plain, seeded = finished(), finished(seed="7")
    assert "Seed 7" in shown(desk, seeded)
    assert "Seed 7" not in shown(desk, plain).partition("</nav>")[0]
    listed = shown(desk)
    assert listed.count("biased, always-A · letters, circular; cloze") == 2
    assert listed.count("Seed 7") == 1
