"""One banner on top of a page: the gravest note over all models."""

from dataclasses import replace
from typing import Any

import pytest
from bias_examples import cell_result, fond, right, with_probabilities

from evalui.report.analyses.overview.document import choice_blocks
from evalui.report.analyses.overview.summary import Summary, summarise
from evalui.report.analyses.overview.warnings import BIASED, banner
from evalui.report.analyses.position_bias.figures import prior_rows
from evalui.report.analyses.position_bias.findings import (
    findings,
    picks_text,
    recall_text,
)
from evalui.report.analyses.position_bias.verdict import verdict
from evalui.report.blocks import Picture, Table
from evalui.report.export.choice_names import PublicBias
from evalui.report.export.json import encode
from evalui.report.render.markdown import as_markdown
from evalui.scoring.choice.answer_format import FormatMetrics
from evalui.types import Cell, Interval


def form(**change: Any) -> FormatMetrics:
    plain = FormatMetrics(
        n_questions=240,
        n_trials=960,
        readings={},
        format_gap=None,
        mass=None,
        index_hits=0,
        label_text_conflicts=0,
        merged_boundaries=0,
        truncated=0,
        near_ties=0,
    )
    return replace(plain, **change)


def cell(model: str, *, mode: str = "multiple_choice", **change: Any) -> Summary:
    where = Cell("d", model, mode, mode, "circular", "s")
    accuracy = Interval(0.6, 0.54, 0.66, 240)
    plain = Summary(where, "done", "", 240, 960, 960, n=240, accuracy=accuracy, chance=0.25)
    return replace(plain, format=form(**change.pop("form", {})), **change)


def held(model: str, mass: float) -> Summary:
    return cell(model, form={"mass": mass})


def test_the_lowest_letter_mass_is_told_and_all_models_that_have_one():
    # As it was seen: 7.8 % stood on top, and the other's worse 2.3 % nowhere near.
    found = banner([held("early", 0.078), held("late", 0.023), held("sound", 0.97)], "en")
    assert found is not None
    assert [c.model for c in found.cells] == ["early", "late"]
    assert (found.level, found.most_severe.model) == ("bad", "late")
    assert found.text.startswith("The letters hold only 2.3 % of the probability")


@pytest.mark.parametrize(
    ("summaries", "rule", "gravest"),
    [
        # Level first, whatever the value.
        ([cell("a", done=10), held("b", 0.49)], "mass", "b"),
        ([cell("a", done=400), cell("b", done=300)], "partial", "b"),
        ([held("a", 0.3), cell("b", state="failed", error="No memory.")], "failed", "b"),
        ([cell("a", unreadable=100), cell("b", unreadable=500)], "unreadable-many", "b"),
        ([held("a", 0.8), cell("b", form={"index_hits": 300})], "by-number", "b"),
        ([cell("a", chance=0.62), cell("b", chance=0.56)], "chance", "a"),
        ([cell("a", ties=20), cell("b", ties=30)], "ties", "b"),
        (
            [cell("a", form={"format_gap": Interval(0.3, 0.3, 0.3, 240)}), cell("b", ties=30)],
            "format",
            "a",
        ),
        ([cell("a", n=29), cell("b", n=12)], "fewer-than-30", "b"),
        ([cell("a", incomplete=("q1",)), cell("b", form={"truncated": 200})], "truncated", "b"),
    ],
)
def test_the_gravest_by_level_then_by_value(summaries: list[Summary], rule: str, gravest: str):
    for given in (summaries, summaries[::-1]):
        found = banner(given, "en")
        assert found is not None
        assert (found.rule, found.most_severe.model) == (rule, gravest)


def test_what_is_only_information_makes_no_banner():
    assert banner([cell("a", n=60), cell("b", naming=("q1",))], "en") is None
    assert banner([], "en") is None


def test_what_is_told_elsewhere_is_left_out():
    found = banner([cell("a", chance=0.6), cell("b", ties=30)], "en", unless=("chance",))
    assert found is not None
    assert found.rule == "ties"


def test_of_answers_without_the_question_only_one_note_counts():
    blind = cell("a", mode="choices_only", ties=500)
    found = banner([cell("a"), blind], "en")
    assert found is not None
    assert (found.rule, found.most_severe.mode) == ("choices-only", "choices_only")
    assert banner([blind], "en").rule == "ties"


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


def test_a_bias_is_a_banner_only_where_letters_were_the_answer(muted: Summary, loud: Summary):
    assert banner([loud], "en").rule == BIASED
    found = banner([loud, muted], "en")
    assert (found.rule, [c.model for c in found.cells]) == ("mass", ["muted"])


LITTLE = {
    "en": "Letters hold 2 % of the probability, too little to speak of a bias",
    "zh": "字母只占 2 % 的概率，谈不上位置偏差",
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


def test_the_report_and_its_files_claim_none_either(muted, loud):
    blocks = list(choice_blocks([muted, loud], "en", baselines=()))
    text = as_markdown(blocks)
    assert text.count("Picks A 62 %") == text.count("clear bias") + 1 == 3
    pictures = [block for block in blocks if isinstance(block, Picture)]
    assert pictures[1].alt == LITTLE["en"]
    table = next(block for block in blocks if isinstance(block, Table))
    assert table.rows[0][8] == LITTLE["en"]
    assert encode(PublicBias(muted.main_bias))["light"] == "mass"


def test_what_is_preferred_whatever_stands_there_is_not_said_of_it(muted, loud):
    assert [row.name for row in prior_rows([muted, loud], 4, "en")] == ["loud"]


def test_replies_have_no_letter_mass_to_doubt():
    found = summarise(cell_result(fond, model="replies"))
    assert (found.main_bias.level, found.main_bias.mass) == ("red", None)
    assert summarise(cell_result(right)).main_bias.level == "green"
