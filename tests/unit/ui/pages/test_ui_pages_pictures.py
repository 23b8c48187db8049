"""Questions with pictures on every page that shows questions."""

import json
from collections.abc import Callable, Mapping

import pytest
from annotate_examples import open_run
from drawn_page import DrawnPage
from pictured_runs import BLUE, BLUE_MARK, RED, RED_MARK, asked, give_pictures, uri_of

from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.worker.worker import Worker
from evalui.store.runs import read_cells
from evalui.types import Message, Sample
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.columns_card import choose_columns, column_card
from evalui.ui.pages.evaluate.questions import questions_part
from evalui.ui.pages.evaluate.spec import form_to_spec

QUESTION = asked(RED_MARK, "Which is it?")
ROWS = [
    {
        "id": 7,
        "image": uri_of(RED),
        "question": "Which is it?",
        "A": uri_of(BLUE),
        "B": "rot",
        "answer": "B",
        "explanation": f"As in {uri_of(RED)}.",
    },
    {"id": 8, "question": "Why?", "A": "x", "B": "y", "answer": "A"},
]
FILE = "\n".join(map(json.dumps, ROWS))
SAMPLES = [
    Sample(
        "talk/7",
        QUESTION,
        target=(f"As in {RED_MARK}",),
        history=(Message("user", f"Look at {BLUE_MARK}."),),
        follow_ups=(f"And {BLUE_MARK}?",),
        metadata={"guidance": f"As in {RED_MARK}."},
    )
]


def shows(page: str, address: str) -> dict[str, int]:
    """How often the small red and blue pictures are shown; marks are never."""
    assert "picture:" not in page.replace("&lt;", "<")
    return {
        name: page.count(f'src="{address}/{mark.id}?small" alt="Picture of question 7"')
        for name, mark in (("red", RED_MARK), ("blue", BLUE_MARK))
    }


@pytest.fixture
def run_id(desk: AppService, form_for: Callable[..., Form]) -> str:
    made = start_run(desk, form_to_spec(form_for(FILE, "seven.jsonl")))
    Worker(desk.database, desk.models.catalog).run_once()
    assert desk.run(made).state == "done"
    return made


@pytest.fixture
def judged(desk: AppService) -> str:
    made = open_run(desk, judged=True, samples=SAMPLES, written=lambda _, side: f"No {side}.")
    give_pictures(desk.database, made, RED, BLUE)
    return made


@pytest.mark.parametrize("more", [{}, {"by": "models"}])
def test_samples_show_the_question_its_options_and_its_prompt(
    desk: AppService, run_id: str, more: Mapping[str, str]
):
    form = {"run": run_id, "sub": "samples", **more}
    page = DrawnPage("results", desk, form).text
    # The red one in the question, in its prompt and in its explanation.
    assert shows(page, f"../pictures/{run_id}") == {"red": 3, "blue": 2}
    assert f'src="../pictures/{run_id}/{RED_MARK.id}?small" alt=""' in page  # in the list


@pytest.mark.parametrize("sub", ["samples", "duels"])
@pytest.mark.parametrize(
    ("find", "count"), [("which", 1), ("picture:", 0), (RED_MARK.id[3:9], 0), ("picture", 0)]
)
def test_no_search_finds_a_mark(desk: AppService, judged: str, sub: str, find: str, count: int):
    page = DrawnPage("results", desk, {"run": judged, "sub": sub, "find": find}).text
    assert page.count('<span class="q">') == count


def test_samples_show_written_questions_with_their_turns(desk: AppService, judged: str):
    page = DrawnPage("results", desk, {"run": judged, "sub": "samples"}).text
    assert shows(page, f"../pictures/{judged}")["red"] >= 2  # with the guidance of judges
    assert shows(page, f"../pictures/{judged}")["blue"] >= 1
    assert "As in [picture]" in page.replace("<del>", "").replace("</del>", "")


def test_duels_show_the_question_and_what_was_said_before(desk: AppService, judged: str):
    page = DrawnPage("results", desk, {"run": judged, "sub": "duels"}).text
    assert shows(page, f"../pictures/{judged}") == {"red": 3, "blue": 1}  # with reference, guidance


def test_a_ballot_shows_the_question(desk: AppService, judged: str):
    page = DrawnPage("annotate", desk, {"run": judged, "voter": "ann"}).text
    assert shows(page, f"../pictures/{judged}") == {"red": 3, "blue": 1}


def test_a_comparison_shows_the_question_and_its_options(desk: AppService, run_id: str):
    rows = read_cells(desk.database, run_id)
    cells = [str(row.id) for row in rows if row.cell.mode == "multiple_choice"]
    page = DrawnPage("compare", desk, {"cells": ",".join(cells), "q": "seven/7"}).text
    assert shows(page, f"../pictures/{run_id}")["red"] == 1
    assert shows(page, f"../pictures/{run_id}")["blue"] >= 1


def test_the_preview_of_an_upload_shows_its_pictures(
    desk: AppService, form_for: Callable[..., Form]
):
    (upload,) = form_for(FILE, "seven.jsonl")["uploads"]
    t, columns = messages("en"), choose_columns(desk.files, upload, {})
    assert columns
    preview = questions_part(desk, t, upload, columns.preview)
    assert preview
    assert shows(preview, f"../pictures/upload/{upload}") == {"red": 1, "blue": 1}
    card = column_card(desk, t, columns, {})
    assert '<div class="dim ell">[picture]</div>' in card
    shows(card, "")
