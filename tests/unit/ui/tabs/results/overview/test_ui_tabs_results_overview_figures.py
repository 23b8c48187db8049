"""The front page of a run: five figures per model, lights, ranks, pairs, what to know first."""

import re
from pathlib import Path

import pytest
from ui_choice_examples import MANY, new_desk, ran
from ui_examples import GOOD, MODELS

from evalui.messages import messages
from evalui.report.analyses.arena.narrative import join_names_shortened
from evalui.report.export.tables import pairs
from evalui.types import Language
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.overview.figures import overview_top
from evalui.ui.tabs.results.run_view import RunView

# Both are real models here: one knows nothing, one puts nearly nothing on letters.
MORE = """
[first-slot]
backend = "scripted"
options = { rule = "always-A" }

[also-first]
backend = "scripted"
options = { rule = "always-A", seed = 1 }

[mute]
backend = "scripted"
options = { rule = "refusing" }

[muddled]
backend = "scripted"
options = { rule = "malformed" }
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"), MODELS + MORE)


@pytest.fixture(scope="module")
def many(room: AppService) -> str:
    """120 questions, every order, two models."""
    return ran(room, ("many.csv", MANY))


@pytest.fixture(scope="module")
def few(room: AppService) -> str:
    """Four questions, every order, two models."""
    return ran(room, ("capitals.csv", GOOD))


def page(desk: AppService, run_id: str, language: Language = "en") -> str:
    t = messages(language)
    return overview_top(t, RunView(desk, t, run_id))


def said(desk: AppService, run_id: str) -> str:
    t = messages("en")
    return pairs(t, RunView(desk, t, run_id))


def test_a_clear_bias_has_icon_word_and_sentence(room: AppService, many: str):
    shown = page(room, many)
    assert "biased has a clear position bias." in shown
    assert "</svg>Clear bias</span>" in shown
    assert "of the time where 25\u00a0% is fair" in shown
    assert "p = .001, n = 120" in shown


def test_a_model_that_always_picks_a_has_its_own_word(room: AppService, many: str):
    shown = page(room, many)
    assert "</svg>One position only</span>" in shown
    assert "Picks A in all 480 readable replies" in shown


def test_few_questions_give_counts_and_no_verdict(room: AppService, few: str):
    shown = page(room, few)
    assert "Too few questions to tell" in shown
    assert '<small> of 4</small></div><div class="meta">plausible range' in shown
    assert "Clear bias" not in shown
    assert "p = " not in shown


def test_scripted_models_take_no_rank_beside_real_ones(room: AppService, many: str):
    assert '<span class="tag">Baseline</span>' in page(room, many)


def test_every_pair_has_its_sentence_and_says_how_it_was_tested(room: AppService, many: str):
    shown = said(room, many)
    assert "<b>biased beats always-A by" in shown
    assert "Paired on the same questions" in shown
    assert 'data-tab="tab-bias"' in shown


def test_too_few_questions_have_a_sentence_too(room: AppService, few: str):
    assert "biased and always-A: too few questions to tell (4)" in said(room, few)


def test_one_model_has_no_comparison(room: AppService):
    run_id = ran(room, ("capitals.csv", GOOD), models=["biased"])
    assert "One model only: nothing to compare." in said(room, run_id)


def test_the_light_speaks_chinese(room: AppService, many: str):
    shown = page(room, many, "zh")
    assert "biased 有明显位置偏差。" in shown
    assert "</svg>明显偏差</span>" in shown


def test_answers_without_the_question_stand_beside_no_others(room: AppService):
    modes = ["multiple_choice", "choices_only"]
    run_id = ran(room, ("capitals.csv", GOOD), models=["always-A"], modes=modes)
    assert page(room, run_id).count('class="kpi"') == 1


def test_a_tie_among_few_questions_counts_in_part(tmp_path: Path):
    perfect = '[biased]\nbackend = "scripted"\noptions = { rule = "perfect" }\n'
    desk = new_desk(tmp_path, perfect)
    twice = "5,Capital of Spain?,Rome,Madrid,Madrid,Bern,B\n"
    run_id = ran(desk, ("capitals.csv", GOOD + twice), models=["biased"], modes=["cloze"])
    assert "4.5<small> of 5</small>" in page(desk, run_id)


@pytest.mark.parametrize(
    ("language", "verdict", "reason"),
    [
        ("en", "No model beats guessing on these questions.", "no better than guessing"),
        ("zh", "在这些题上，没有模型好于乱猜。", "不比乱猜好"),
    ],
)
def test_that_no_model_beats_guessing_stands_before_notes_and_figures(
    room: AppService, language: Language, verdict: str, reason: str
):
    run_id = ran(room, ("many.csv", MANY), models=["first-slot", "also-first", "always-A"])
    shown = page(room, run_id, language)
    first = shown.index(f"<h2>{verdict}</h2>")
    assert first < shown.index('class="note') < shown.index('class="kpi"')
    assert re.sub("<[^>]*>", "", shown).startswith(verdict)
    # Nobody is ranked, and the reason stands beside the dash.
    assert shown.count(f'<span>–</span></div><div class="meta gap-xs">{reason}</div>') == 2
    assert not re.search("Rank \\d|第 \\d 档", shown)
    t = messages(language)
    told = pairs(t, RunView(room, t, run_id))
    assert "beats" not in told
    assert "比 " not in told


def test_one_banner_is_of_the_gravest_note_and_names_all_that_have_it(room: AppService):
    run_id = ran(room, ("many.csv", MANY), models=["muddled", "mute", "biased"])
    shown = page(room, run_id)
    assert shown.count('role="note"') == 1
    assert "<b>muddled and mute</b> Gravest, mute: The letters hold only 2 % of" in shown
    chinese = page(room, run_id, "zh")
    assert "<b>muddled、mute</b> 最严重的是 mute：字母平均只占 2 % 的概率" in chinese


def test_no_bias_is_claimed_of_a_model_that_does_not_answer_with_letters(room: AppService):
    run_id = ran(room, ("many.csv", MANY), models=["mute"])
    shown = page(room, run_id)
    assert "</svg>Not by letters</span>" in shown
    assert "Letters hold 2\u00a0% of the probability, too little to speak of a bias" in shown
    assert "bias</span>" not in shown.replace("speak of a bias", "")
    assert "position bias." not in shown


def test_many_names_are_counted():
    t = messages("en")
    assert join_names_shortened(t, ["a"]) == "a"
    assert join_names_shortened(t, ["a", "b", "c", "d"]) == "a, b, c and d"
    assert join_names_shortened(t, ["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert join_names_shortened(messages("zh"), ["a", "b", "c", "d", "e"]) == "a、b、c、另外 2 个"


def test_what_the_cells_of_a_banner_have_in_common_stands_once(room: AppService):
    modes = ["multiple_choice", "cloze"]
    run_id = ran(room, ("many.csv", MANY), models=["muddled", "mute"], modes=modes)
    assert "<b>muddled and mute · multiple choice, letters</b> Gravest, mute: " in page(
        room, run_id
    )
