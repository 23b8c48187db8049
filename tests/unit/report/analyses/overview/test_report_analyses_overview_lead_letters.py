"""A model whose letters hold too little of the probability to speak of a bias."""

from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, right, with_probabilities

from evalui.report.analyses.overview import overview_blocks
from evalui.report.analyses.position_bias.figures import prior_rows
from evalui.report.analyses.position_bias.findings import (
    findings,
    picks_text,
    recall_text,
)
from evalui.report.analyses.position_bias.verdict import verdict
from evalui.report.frames.choices import bias
from evalui.report.render.markdown import as_markdown
from evalui.scoring.cell_summary import summarise


@pytest.fixture(scope="module")
def muted():
    """A model that likes A, whose letters hold a fiftieth of the probability."""
    given = with_probabilities(cell_result(fond, model="muted", mode="multiple_choice"))
    trials = tuple(replace(trial, mass=0.02) for trial in given.trials)
    return summarise(replace(given, trials=trials))


@pytest.fixture(scope="module")
def loud():
    """The same one, whose letters hold nearly all of it."""
    return summarise(with_probabilities(cell_result(fond, model="loud", mode="multiple_choice")))


LITTLE = {
    "en": "Letters hold 2 % of the probability, too little to speak of a bias",
    "zh": "字母只占 2 % 的概率，太少，不足以判断位置偏差",
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_sentence_claims_a_bias_of_letters_that_hold_too_little(muted, loud, language):
    bias, little = muted.main_bias, LITTLE[language]
    headline = verdict("muted", bias, language)
    assert ("2 %" in headline.text, headline.lead, headline.support) == (True, "", "")
    assert picks_text(bias, language) == little
    assert recall_text(bias, language).endswith(little[0].lower() + little[1:])
    told = {each.rule: each for each in findings(muted, bias, language)}
    for rule in ("picks", "recalls"):
        assert told[rule].finding.startswith(little)
        assert told[rule].p == ""
    assert picks_text(loud.main_bias, language) != little


def test_the_first_page_and_the_files_claim_none_either(muted, loud):
    text = as_markdown(overview_blocks([muted, loud], "en"))
    assert "Not by letters: letters hold 2 %" in text
    assert text.count("Clear: picks A 63 %, fair is 25") == 2
    assert [row["light"] for row in bias([muted])] == ["mass"]


def test_what_is_preferred_whatever_stands_there_is_not_said_of_it(muted, loud):
    assert [row.name for row in prior_rows([muted, loud], 4, "en")] == ["loud"]


def test_replies_have_no_letter_mass_to_doubt():
    found = summarise(cell_result(fond, model="replies"))
    assert (found.main_bias.level, found.main_bias.mass) == ("red", None)
    assert summarise(cell_result(right)).main_bias.level == "green"
