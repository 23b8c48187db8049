"""The Dataset health view: what the questions of a run give away, with and without a model."""

import pytest
from drawn_page import DrawnPage
from ui_choice_examples import MANY, new_desk, questions, ran
from ui_examples import GOOD

from evalui.app.datasets import store_upload
from evalui.app.service import AppService


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"))


def shown(room: AppService, run_id: str) -> str:
    return DrawnPage("results", room, {"run": run_id, "sub": "health"}).text


def test_the_figures_are_those_of_the_questions(room: AppService):
    page = shown(room, ran(room, ("many.csv", MANY), models=["always-A"]))
    assert "120 questions, as this run asked them" in page
    assert "Always A scores" in page
    assert "Balanced (p = 1.00)." in page


def test_only_the_questions_of_the_run_count(room: AppService):
    page = shown(room, ran(room, ("many.csv", MANY), models=["always-A"], limit="40"))
    assert "40 questions, as this run asked them" in page


def test_a_run_with_the_question_only_shows_what_is_missing(room: AppService):
    page = shown(room, ran(room, ("capitals.csv", GOOD), models=["always-A"]))
    assert "Repeat the run with “Options only”" in page


def test_each_dataset_has_its_own_health(room: AppService):
    one, two = ("one.csv", questions(8)), ("two.csv", questions(12))
    uploads = [store_upload(room, [(name, rows.encode())]) for name, rows in (one, two)]
    page = shown(room, ran(room, one, models=["always-A"], uploads=uploads))
    assert ">one</p>" in page
    assert "12 questions, as this run asked them" in page


def test_a_model_that_fails_without_the_question_says_why(room: AppService):
    modes = ["multiple_choice", "choices_only"]
    page = shown(room, ran(room, ("capitals.csv", GOOD), models=["always-A"], modes=modes))
    assert "Not measured:" in page
