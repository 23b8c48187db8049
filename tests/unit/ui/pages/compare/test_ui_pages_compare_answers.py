"""What the Compare page says of written answers."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from drawn_page import DrawnPage
from ui_open_examples import ANSWERS, finish, given, open_desk, open_form

from evalui.app.service import AppService
from evalui.store.runs import read_cells


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    return open_desk(tmp_path_factory.mktemp("answers"))


@pytest.fixture(scope="module")
def ids(desk: AppService) -> Mapping[str, str]:
    """The cells of two models and of answers that were brought along."""
    run_id = finish(desk, open_form(desk, judging=[], judging__judges=[]) | given(desk))
    return {row.cell.model: str(row.id) for row in read_cells(desk.database, run_id)}


def page(desk: AppService, *chosen: str, **form: str) -> str:
    return DrawnPage("compare", desk, {"cells": ",".join(chosen), **form}).text


def test_answers_are_compared_by_closeness(desk: AppService, ids: Mapping[str, str]):
    said = page(desk, ids["perfect"], ids["noisy"])
    assert "Number of questions by ROUGE-L" in said
    assert "paired t test" in said
    assert "McNemar" not in said


def test_answers_brought_along_stand_beside_those_of_a_model(
    desk: AppService, ids: Mapping[str, str]
):
    said = page(desk, ids["perfect"], ids["handmade"])
    assert "cannot be compared" not in said
    assert "perfect closer 2" in said  # Milan is not Rome, and more than the reference is less


def test_the_widest_difference_comes_first(desk: AppService, ids: Mapping[str, str]):
    said = page(desk, ids["handmade"], ids["perfect"])
    assert said.index("Capital of Italy?") < said.index("中国的首都是哪里？")


def test_both_answers_stand_below_the_reference(desk: AppService, ids: Mapping[str, str]):
    said = page(desk, ids["perfect"], ids["handmade"], q="talk/en-2")
    detail = said.partition('class="qtext"')[2]
    assert detail.index("Reference") < detail.index("Rome") < detail.index(ANSWERS["en-2"])
    assert "<ins>Milan</ins>" in detail
    assert "ROUGE-L 1.00" in detail


def test_an_answer_without_a_reference_takes_no_part(desk: AppService, ids: Mapping[str, str]):
    assert "Say something kind." not in page(desk, ids["perfect"], ids["handmade"])


def test_a_judge_is_not_offered(tmp_path: Path):
    desk = open_desk(tmp_path)
    shown = DrawnPage("compare", desk, {"run": finish(desk, open_form(desk))})
    assert shown.offered("Models") == ["perfect", "noisy"]
