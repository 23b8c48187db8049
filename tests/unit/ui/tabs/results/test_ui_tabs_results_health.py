"""The Dataset health view: what the questions give away, with and without a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import pytest
from ui_choice_examples import MANY, new_desk, questions, ran
from ui_examples import GOOD

from evalui.messages import messages
from evalui.report.analyses.overview.summary import Summary, summarise
from evalui.types import Cell, CellResult, Reading, Sample, Trial, Variant
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.health import HealthView, choices_card
from evalui.ui.tabs.results.run_view import RunView


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"))


@pytest.fixture(scope="module")
def view(room: AppService) -> HealthView:
    return HealthView(room, messages("en"))


@dataclass(frozen=True, slots=True)
class Given:
    """What the card on a run without the question looks at."""

    summaries: Mapping[int, Summary]
    baselines: frozenset[str] = frozenset()


def summary(mode: str, right: int, n: int) -> Summary:
    """A cell that got the first `right` of `n` questions, whose answers take turns."""
    samples = {str(i): Sample(str(i), f"Question {i}?", tuple("wxyz"), i % 4) for i in range(n)}
    trials = tuple(
        Trial(
            sample_id=name,
            variant=Variant((0, 1, 2, 3)),
            target=place % 4,
            headline="forced",
            readings={"forced": reading(place, found=place < right)},
        )
        for place, name in enumerate(samples)
    )
    cell = Cell("colours", "small", mode, mode, "origin", f"colours|n:{n}")
    return summarise(CellResult(cell, samples, trials, n))


def reading(place: int, *, found: bool) -> Reading:
    choice = place % 4 if found else (place + 1) % 4
    return Reading(choice, float(found), "forced")


def card(blind: int, whole: int, n: int = 200) -> str:
    cells = {1: summary("multiple_choice", whole, n), 2: summary("choices_only", blind, n)}
    return choices_card(messages("en"), cast(RunView, Given(cells)), "colours")


def test_the_figures_are_those_of_the_evaluate_page(view: HealthView, room: AppService):
    page = view.show(ran(room, ("many.csv", MANY), models=["always-A"]))
    assert "120 questions, as this run asked them" in page
    assert "Always A scores" in page
    assert "Right answers per letter, balanced" in page


def test_only_the_questions_of_the_run_count(view: HealthView, room: AppService):
    page = view.show(ran(room, ("many.csv", MANY), models=["always-A"], limit="40"))
    assert "40 questions, as this run asked them" in page


def test_a_run_with_the_question_only_shows_what_is_missing(view: HealthView, room: AppService):
    page = view.show(ran(room, ("capitals.csv", GOOD), models=["always-A"]))
    assert "Repeat the run with “Options only”" in page


def test_each_dataset_has_its_own_health(view: HealthView, room: AppService):
    one, two = ("one.csv", questions(8)), ("two.csv", questions(12))
    uploads = [room.store_upload([(name, rows.encode())]) for name, rows in (one, two)]
    page = view.show(ran(room, one, models=["always-A"], uploads=uploads))
    assert "<h2>one</h2>" in page
    assert "12 questions, as this run asked them" in page


def test_a_model_that_fails_without_the_question_says_why(view: HealthView, room: AppService):
    modes = ["multiple_choice", "choices_only"]
    page = view.show(ran(room, ("capitals.csv", GOOD), models=["always-A"], modes=modes))
    assert "Not measured:" in page


def test_better_than_guessing_without_the_question_is_reported():
    shown = card(blind=90, whole=150)
    assert "</svg>answerable without the question</span>" in shown
    assert "Answerable without reading the question: 45 % right" in shown


def test_guessing_without_the_question_is_no_finding():
    shown = card(blind=52, whole=150)
    assert "</svg>not above guessing</span>" in shown
    assert "Answerable without reading the question: " not in shown


def test_what_reading_is_worth_is_paired_by_question():
    assert "<b>30</b>" in card(blind=90, whole=150)


def test_few_questions_give_no_verdict():
    assert "</svg>too few questions to tell</span>" in card(blind=15, whole=16, n=20)
