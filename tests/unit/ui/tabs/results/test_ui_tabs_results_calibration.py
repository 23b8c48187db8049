"""The Calibration view: sureness against rightness where there are probabilities, else why not."""

import pytest
from ui_choice_examples import MANY, new_desk, questions, ran
from ui_examples import GOOD, laid_out, shown

from evalui.messages import messages
from evalui.runs.database.runs import read_cells
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.calibration import CalibrationView


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"))


@pytest.fixture(scope="module")
def many(room: AppService) -> str:
    """120 questions, every order, two models."""
    return ran(room, ("many.csv", MANY))


@pytest.fixture(scope="module")
def view(room: AppService) -> CalibrationView:
    return laid_out(CalibrationView(room, messages("en")))


def test_letters_have_both_errors_and_their_mass(view: CalibrationView, many: str):
    parts = shown(view, many)
    assert "Calibration error (ECE), points" in parts["calibration-figures"]
    assert "</svg>98 %</span>" in parts["calibration-below"]
    assert "<tbody><tr>" in parts["calibration-bins"]


def test_the_picker_changes_the_diagram(view: CalibrationView, room: AppService, many: str):
    second = f"{read_cells(room.database, many)[1].id}.4"
    assert "biased is" in shown(view, many)["calibration-title"]
    assert "always-A is" in shown(view, many, {"calibration_cell": second})["calibration-title"]


def test_replies_alone_cannot_be_calibrated(view: CalibrationView, room: AppService):
    run_id = ran(room, ("capitals.csv", GOOD), models=["biased"], modes=["generation"])
    parts = shown(view, run_id)
    assert "No probabilities to judge" in parts["calibration-top"]
    assert "nothing to calibrate: biased" in parts["calibration-below"]


def test_modes_without_probabilities_are_named_with_the_reason(
    view: CalibrationView, room: AppService
):
    modes = ["multiple_choice", "cloze"]
    run_id = ran(room, ("capitals.csv", GOOD), models=["biased"], modes=modes)
    assert "nothing to calibrate: biased · cloze." in shown(view, run_id)["calibration-below"]


def test_each_number_of_options_has_its_own_figures(view: CalibrationView, room: AppService):
    parts = shown(view, ran(room, ("mixed.csv", questions(8, options=(3, 4))), models=["biased"]))
    assert parts["calibration-top"].count("<option") == 2
    assert "never pooled" in parts["calibration-below"]
