"""The Calibration view: sureness against rightness where there are probabilities, else why not."""

import pytest
from drawn_page import DrawnPage
from ui_choice_examples import MANY, new_desk, questions, ran
from ui_examples import GOOD

from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.ui.components.form import Form


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"))


@pytest.fixture(scope="module")
def many(room: AppService) -> str:
    """120 questions, every order, two models."""
    return ran(room, ("many.csv", MANY))


def shown(room: AppService, run_id: str, form: Form | None = None) -> str:
    return DrawnPage("results", room, {"run": run_id, "sub": "calibration", **(form or {})}).text


def test_letters_have_both_errors_and_their_mass(room: AppService, many: str):
    page = shown(room, many)
    assert "Calibration error (ECE), points" in page
    assert "98 %</span>" in page


def test_the_address_chooses_the_diagram(room: AppService, many: str):
    page = shown(room, many)
    assert "<h3>biased is" in page
    second = RunView(room, messages("en"), many).cells[1].id
    assert f"calibration={second}.4#calibration" in page
    assert "<h3>always-A is" in shown(room, many, {"calibration": f"{second}.4"})
    for nonsense in ("", "x", "1.2.3", f"{second}", f"{second}.9"):
        assert shown(room, many, {"calibration": nonsense}) == page


def test_replies_alone_cannot_be_calibrated(room: AppService):
    run_id = ran(room, ("capitals.csv", GOOD), models=["biased"], modes=["generation"])
    assert "No probabilities to judge" in shown(room, run_id)


def test_modes_without_probabilities_are_named_with_the_reason(room: AppService):
    modes = ["multiple_choice", "cloze"]
    run_id = ran(room, ("capitals.csv", GOOD), models=["biased"], modes=modes)
    assert "nothing to calibrate: biased · cloze." in shown(room, run_id)


def test_each_number_of_options_has_its_own_figures(room: AppService):
    file = ("mixed.csv", questions(8, options=(3, 4)))
    page = shown(room, ran(room, file, models=["biased"]))
    assert "3 options" in page
    assert "never pooled" in page
