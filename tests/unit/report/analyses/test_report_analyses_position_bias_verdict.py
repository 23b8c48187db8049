from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, halting, right, with_probabilities

from evalui.report.analyses.position_bias import verdict
from evalui.report.blocks import Headline
from evalui.scoring.bias import StratumBias
from evalui.scoring.cell_summary import summarise


def _bias(pick=fond, **given) -> StratumBias:
    bias = summarise(cell_result(pick, **given)).main_bias
    assert bias is not None
    return bias


def _words(headline: Headline) -> str:
    return f"{headline.text} {headline.lead} {headline.support}"


def test_a_clear_bias_is_stated_with_the_fair_share_and_how_it_is_known():
    headline = verdict("m", _bias(), "en")
    assert headline.text == "m picks A 63 % of the time; 25 % is fair."
    assert (headline.lead, headline.kind) == ("Clear.", "bad")
    assert headline.support == "p < .001, 120 questions in 4 orders."
    chinese = verdict("m", _bias(), "zh")
    assert chinese.text == "m 有 63 % 选 A，公平值为 25 %。"
    assert chinese.lead == "明显。"


def test_a_slight_bias_has_its_own_word_and_sign():
    headline = verdict("m", replace(_bias(), level="amber"), "en")
    assert (headline.lead, headline.kind) == ("Slight.", "warn")


def test_one_position_only_is_called_so():
    headline = verdict("m", _bias(lambda *_: 0), "en")
    assert headline.text == "m picks A every time."
    assert headline.lead == "One position only."


def test_a_bias_that_no_test_shows_is_none_found():
    headline = verdict("m", _bias(right), "en")
    assert headline.text == "No position bias is found in m."
    assert (headline.lead, headline.kind) == ("None found.", "ok")


@pytest.mark.parametrize("n", [28, 60, 99])
@pytest.mark.parametrize(("language", "words"), [("en", "no position bias"), ("zh", "未见")])
def test_few_questions_never_mean_that_there_is_no_bias(n: int, language, words: str):
    headline = verdict("m", _bias(right, n=n), language)
    assert words not in _words(headline).lower()
    assert (headline.lead, headline.kind) == ("", "na")


def test_few_questions_have_counts_and_no_p_value():
    headline = verdict("m", _bias(n=28), "en")
    assert headline.text == "28 questions are too few to tell whether m prefers a position."
    assert headline.support == "Picks A in 70 of 112 readable replies."
    assert "p =" not in headline.support


def test_one_order_cannot_tell_and_says_what_would():
    headline = verdict("m", _bias(pattern="origin"), "en")
    assert headline.text == "One order alone cannot show whether m prefers a position."
    assert "Repeat with every position." in headline.support


def test_an_unfinished_cell_is_not_tested_yet():
    headline = verdict("m", _bias(state="running"), "en")
    assert headline.text == "m is tested for position bias when its last answer is in."
    assert headline.support == ""


def test_two_positions_picked_equally_often_have_no_letter():
    bias = _bias(lambda question, _, __: question % 2)
    assert verdict("m", replace(bias, level="red"), "en").text == (
        "m does not pick all positions equally often."
    )


def test_nothing_readable_names_no_position():
    headline = verdict("m", _bias(lambda *_: None), "en")
    assert headline.text == "No answer of m names a position."
    assert headline.support == "Only 0 % of its answers could be read."


def test_that_most_answers_are_unreadable_comes_before_how_it_is_known():
    mostly = _bias(lambda question, *_: None if question % 3 else 0)
    headline = verdict("m", mostly, "en")
    assert headline.support == "Only 33 % of its answers could be read."
    assert headline.kind == "warn"


def test_letters_without_probability_have_no_bias_to_speak_of():
    result = with_probabilities(cell_result(fond))
    little = tuple(replace(trial, mass=0.02) for trial in result.trials)
    bias = summarise(replace(result, trials=little)).main_bias
    assert bias is not None
    assert verdict("m", bias, "en").text == (
        "m gives the letters 2 % of its probability: too little to call a bias."
    )


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("pick", [fond, right, halting(7), lambda *_: 0, lambda *_: None])
@pytest.mark.parametrize("pattern", ["origin", "circular"])
def test_the_verdict_keeps_to_its_number_of_words(pick, pattern, language):
    headline = verdict("north-7b", _bias(pick, pattern=pattern), language)
    for text in (headline.text, f"{headline.lead} {headline.support}"):
        assert len(text.split()) <= 16
        assert "{" not in text
