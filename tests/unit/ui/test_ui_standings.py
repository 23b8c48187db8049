"""The front page of a run: five figures per model, lights, ranks, pairs, what to know first."""

from pathlib import Path

import pytest
from ui_choice_examples import MANY, new_desk, ran
from ui_examples import GOOD

from evalui.types import Language
from evalui.ui.desk import Desk
from evalui.ui.standings import pairs, top
from evalui.ui.text import text
from evalui.ui.view import Shown


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"))


@pytest.fixture(scope="module")
def many(room: Desk) -> str:
    """120 questions, every order, two models."""
    return ran(room, ("many.csv", MANY))


@pytest.fixture(scope="module")
def few(room: Desk) -> str:
    """Four questions, every order, two models."""
    return ran(room, ("capitals.csv", GOOD))


def page(desk: Desk, run_id: str, language: Language = "en") -> str:
    t = text(language)
    return top(t, Shown(desk, t, run_id))


def said(desk: Desk, run_id: str) -> str:
    t = text("en")
    return pairs(t, Shown(desk, t, run_id))


def test_a_clear_bias_is_told_by_icon_word_and_sentence(room: Desk, many: str):
    shown = page(room, many)
    assert "biased has a clear position bias." in shown
    assert "</svg>Clear bias</span>" in shown
    assert "of the time where 25\u00a0% is fair" in shown
    assert "p = .001, n = 120" in shown


def test_a_model_that_always_picks_a_has_its_own_word(room: Desk, many: str):
    shown = page(room, many)
    assert "</svg>One position only</span>" in shown
    assert "Picks A in all 480 readable replies" in shown


def test_few_questions_give_counts_and_no_verdict(room: Desk, few: str):
    shown = page(room, few)
    assert "Too few questions to tell" in shown
    assert '<small> of 4</small></div><div class="meta">plausible range' in shown
    assert "Clear bias" not in shown
    assert "p = " not in shown


def test_scripted_models_take_no_rank_beside_real_ones(room: Desk, many: str):
    assert '<span class="tag">Baseline</span>' in page(room, many)


def test_every_pair_has_its_sentence_and_says_how_it_was_tested(room: Desk, many: str):
    shown = said(room, many)
    assert "<b>biased beats always-A by" in shown
    assert "Paired on the same questions" in shown
    assert 'data-tab="tab-bias"' in shown


def test_too_few_questions_have_a_sentence_too(room: Desk, few: str):
    assert "biased and always-A: too few questions to tell (4)" in said(room, few)


def test_one_model_has_nobody_to_be_compared_with(room: Desk):
    run_id = ran(room, ("capitals.csv", GOOD), models=["biased"])
    assert "One model only: nothing to compare." in said(room, run_id)


def test_the_light_speaks_chinese(room: Desk, many: str):
    shown = page(room, many, "zh")
    assert "biased 有明显位置偏差。" in shown
    assert "</svg>明显偏差</span>" in shown


def test_answers_without_the_question_stand_beside_no_others(room: Desk):
    modes = ["multiple_choice", "choices_only"]
    run_id = ran(room, ("capitals.csv", GOOD), models=["always-A"], modes=modes)
    assert page(room, run_id).count('class="kpi"') == 1


def test_a_tie_among_few_questions_counts_in_part(tmp_path: Path):
    perfect = '[biased]\nbackend = "scripted"\noptions = { rule = "perfect" }\n'
    desk = new_desk(tmp_path, perfect)
    twice = "5,Capital of Spain?,Rome,Madrid,Madrid,Bern,B\n"
    run_id = ran(desk, ("capitals.csv", GOOD + twice), models=["biased"], modes=["cloze"])
    assert "4.5<small> of 5</small>" in page(desk, run_id)
