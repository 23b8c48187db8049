"""Imported runs in every view: nothing of them was asked here, and everything is shown."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from drawn_page import DrawnPage
from ui_choice_examples import new_desk

from evalui.app.results import may_repeat
from evalui.app.service import AppService
from evalui.harnesses.importing import import_run
from evalui.store.runs import read_cells
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.pages.results import VIEWS

LOGS = Path(__file__).parents[4] / "golden" / "harnesses"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    return new_desk(tmp_path_factory.mktemp("room"))


def second_model(folder: Path) -> Path:
    """The same log, as another model that is right on every question of geography."""
    copytree(LOGS / "lmeval", folder)
    results = next(folder.rglob("results_*.json"))
    results.write_text(results.read_text().replace("qwen2-small-4l256", "rival"))
    samples = next(folder.rglob("samples_letters_geography_*"))
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    for line in lines:
        for slot, score in enumerate(line["filtered_resps"]):
            score[0] = "-0.1" if slot == int(line["target"]) else "-5.0"
        line["acc"] = 1.0
    samples.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return folder


@pytest.fixture(scope="module")
def both(room: AppService, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The log of two models in one run."""
    other = second_model(tmp_path_factory.mktemp("rival") / "log")
    return import_run(room.database, [LOGS / "lmeval", other]).run_id


def shown(room: AppService, run: str, view: str, language: Language = "en", **more: str) -> str:
    return DrawnPage("results", room, {"run": run, "sub": view} | more, language).text


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "log",
    ["lmeval", "inspect", "evalscope", "../evalscope_decisions/kinds", "opencompass", "helm"],
)
def test_every_view_of_every_harness_is_drawn(
    room: AppService, log: str, view: str, language: Language
):
    run = import_run(room.database, [LOGS / log]).run_id
    page = shown(room, run, view, language)
    assert "aria-current" in page
    assert "KeyError" not in page


def test_the_overview_has_the_printed_figures_beside_ours(room: AppService, both: str):
    page = shown(room, both, "overview")
    assert "Imported: figures of the harness and ours" in page
    assert "lm-evaluation-harness 0.4.13" in page
    assert "harness:lm-eval@0.4.13" in page


def test_bias_says_what_one_order_cannot_show(room: AppService, both: str):
    assert "One order alone cannot show whether" in shown(room, both, "bias")


def test_samples_show_a_question_without_a_prompt(room: AppService, both: str):
    (letters, *_) = read_cells(room.database, both)
    form: Form = {"sub": "samples", "cell": str(letters.id), "q": "letters_geography/0"}
    page = DrawnPage("results", room, {"run": both, **form}).text
    assert "What is the capital of France?" in page
    assert "Madrid" in page


def test_two_imported_models_are_compared_on_the_same_questions(room: AppService, both: str):
    cells = [each for each in read_cells(room.database, both) if each.cell.dataset == "letters"]
    assert len({each.dataset_key for each in cells}) == 1
    ids = ",".join(str(each.id) for each in cells)
    page = DrawnPage("compare", room, {"run": both, "cells": ids}).text
    assert "rival" in page
    assert "16" in page


def test_statistics_pair_the_models(room: AppService, both: str):
    page = shown(room, both, "statistics")
    assert "rival" in page


def test_an_imported_run_is_not_repeated(room: AppService, both: str):
    assert may_repeat(room, room.run(both)) is False


def test_a_marked_answer_shows_what_the_harness_read(room: AppService):
    run = import_run(room.database, [LOGS / "evalscope"]).run_id
    cell = next(each for each in read_cells(room.database, run) if each.cell.mode == "generation")
    page = shown(room, run, "samples", cell=str(cell.id), q="geography/geography-0")
    assert "as the harness read it" in page
