"""The Statistics view: pairs with their tests, ranks, clustered errors, what may be missed."""

import re

import pytest
from drawn_page import DrawnPage
from ui_choice_examples import MANY, new_desk, ran
from ui_examples import GOOD, MODELS

from evalui.app.service import AppService
from evalui.store.runs import read_cells
from evalui.ui.pages.results import statistics

SECOND = '\n[second]\nbackend = "scripted"\noptions = { rule = "perfect" }\n'


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"), MODELS + SECOND)


@pytest.fixture(scope="module")
def many(room: AppService) -> str:
    """120 questions, every order, two models."""
    return ran(room, ("many.csv", MANY), models=["biased", "second"])


def page(room: AppService, run_id: str, **form: str) -> str:
    return DrawnPage("results", room, {"run": run_id, "sub": "statistics", **form}).text


def test_the_page_opens_with_who_leads_by_how_much(room: AppService, many: str):
    shown = page(room, many)
    assert re.search(r"<h1>second leads biased by \d+ points \(\d+–\d+\)\.</h1>", shown)
    assert "Paired on the same questions, p &lt; .001." in shown


def test_pairs_are_left_to_the_comparison_of_the_same_cells_by_the_same_measure(
    room: AppService, many: str
):
    shown = page(room, many, measure="accuracy")
    assert "1 of 1 pair is told apart after correction." in shown
    ids = ",".join(str(row.id) for row in read_cells(room.database, many))
    assert f'href="compare?cells={ids}&amp;measure=accuracy"' in shown
    assert "exact p" not in shown


def test_more_models_than_can_be_compared_keep_their_table(
    room: AppService, many: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(statistics, "MAX_CELLS", 1)
    shown = page(room, many)
    assert 'class="plot"' in shown  # the difference is drawn in its row
    assert "told apart" in shown
    assert "exact p &lt; .001" in shown


def test_each_figure_has_its_clustered_error_and_design_effect(room: AppService, many: str):
    shown = page(room, many)
    for head in ("Clustered standard error", "Design effect", "Effective answers"):
        assert head in shown
    assert ">480</td>" in shown


def test_few_questions_are_tested_too(room: AppService):
    shown = page(room, ran(room, ("capitals.csv", GOOD), models=["biased", "second"]))
    assert "too few questions" not in shown.partition("When to act")[0]
    assert "p = .250" in shown


def test_another_measure_is_another_address_and_another_difference(room: AppService, many: str):
    robust = DrawnPage("results", room, {"run": many, "sub": "statistics"})
    opened = f"?run={many}&sub=statistics&measure=accuracy"
    assert robust.choose("Compare by", "accuracy") == opened
    written = DrawnPage("results", room, opened[1:])
    assert robust.text.partition("<h1>")[2] != written.text.partition("<h1>")[2]


def test_another_number_of_questions_is_planned_with(room: AppService, many: str):
    assert "With 10,000 questions" in page(room, many, size="10000")
    assert "With 200 questions" in page(room, many, size="nonsense")


def test_a_figure_that_a_mode_lacks_is_not_offered_for_it(room: AppService):
    models, modes = ["biased", "second"], ["multiple_choice", "cloze"]
    run_id = ran(room, ("many.csv", MANY), models=models, modes=modes)
    letters = page(room, run_id, compared="many|multiple_choice")
    cloze = page(room, run_id, compared="many|cloze", measure="robust")
    assert 'value="robust"' in letters
    assert 'value="robust"' not in cloze


def test_one_model_alone_has_errors_and_no_pair(room: AppService):
    shown = page(room, ran(room, ("many.csv", MANY), models=["biased"]))
    assert "Two models are needed for a comparison." in shown
    assert "Design effect" in shown


def test_a_script_has_no_rank_beside_a_real_model(room: AppService):
    run_id = ran(room, ("many.csv", MANY), models=["biased", "second", "always-A"])
    assert "scripted model" in page(room, run_id)
