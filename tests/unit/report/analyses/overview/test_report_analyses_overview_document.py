from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, halting, right, with_probabilities

from evalui.report.analyses.overview import document
from evalui.report.analyses.overview.document import choice_blocks
from evalui.report.analyses.overview.summary import summarise
from evalui.report.analyses.position_bias.findings import bias_level_sentence, cell_summary
from evalui.report.analyses.statistics import comparison_method, comparison_sentences, comparisons
from evalui.report.blocks import Heading, Picture, Table
from evalui.report.render.markdown import as_markdown


@pytest.fixture(scope="module")
def three():
    made = [("sure", right), ("less", halting(5)), ("fond", fond)]
    return [
        summarise(with_probabilities(cell_result(pick, model=model, subjects=2)))
        for model, pick in made
    ]


def _blocks(summaries, language="en"):
    return list(choice_blocks(summaries, language, baselines=frozenset()))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_front_pages_sentences_stand_in_the_report(three, language: str):
    text = as_markdown(_blocks(three, language))
    for summary in three:
        assert cell_summary(summary, language) in text
    (found,) = comparisons(three)
    for sentence in comparison_sentences(found, language):
        assert sentence in text
    assert comparison_method(found, language).replace("<", "&lt;") in text


def test_every_cell_has_its_light_and_its_rank_in_the_table(three):
    table = next(block for block in _blocks(three) if isinstance(block, Table))
    assert table.head[7:9] == ("Rank", "Position bias")
    assert [row[7] for row in table.rows] == ["Rank 1", "Rank 2", "Rank 3"]
    assert table.rows[2][8] == bias_level_sentence(three[2].main_bias, "en")


def test_who_has_no_rank_is_told_why(three):
    blind = summarise(cell_result(lambda *_: 0, model="always-A"))
    table = next(block for block in _blocks([*three, blind]) if isinstance(block, Table))
    assert table.rows[3][7] == "– (no better than guessing)"


def test_the_pairs_have_a_table_with_corrected_p_values(three):
    table = next(
        block for block in _blocks(three) if isinstance(block, Table) and "Higher" in block.head
    )
    assert [row[:2] for row in table.rows] == [("sure", "less"), ("sure", "fond"), ("less", "fond")]
    assert {row[3] for row in table.rows} == {"< .001"}
    assert table.rows[0][2] == "20 (13–27)"


def test_of_few_questions_the_table_of_pairs_has_no_p():
    few = [
        summarise(cell_result(pick, model=model, n=20))
        for model, pick in (("a", right), ("b", fond))
    ]
    table = next(
        block for block in _blocks(few) if isinstance(block, Table) and "Higher" in block.head
    )
    assert table.rows[0][3:5] == ("–", "–")


def test_the_measure_is_named_above_the_pairs(three):
    heads = [block.text for block in _blocks(three) if isinstance(block, Heading)]
    assert heads[0] == "Pair by pair · robust accuracy"


@pytest.mark.parametrize(
    ("language", "mode"), [("en", "multiple choice, reply"), ("zh", "选择题（读回复）")]
)
def test_of_several_modes_the_pairs_name_theirs_in_words(three, language: str, mode: str):
    other = [
        replace(summary, cell=replace(summary.cell, label="generation 2-shot")) for summary in three
    ]
    blocks = _blocks([*three, *other], language)
    heads = [block.text for block in blocks if isinstance(block, Heading)]
    assert f" · {mode} · " in heads[0]
    assert f" · {mode} 2-shot · " in heads[1]


def test_one_model_has_no_pairs(three):
    heads = [block.text for block in _blocks(three[:1]) if isinstance(block, Heading)]
    assert heads == ["Each model", "sure"]


def test_every_test_stands_in_words_with_its_p(three):
    tests = [
        block for block in _blocks(three) if isinstance(block, Table) and "Finding" in block.head
    ]
    assert len(tests) == 3
    assert tests[2].rows[0][0] == "Do picks depend on position?"
    assert tests[2].rows[0][3] == ".001"


def test_each_picture_has_a_name_of_its_own_and_says_what_it_shows(three):
    pictures = [block for block in _blocks(three) if isinstance(block, Picture)]
    assert [picture.file for picture in pictures] == [
        "accuracy.png",
        "positions-1.png",
        "positions-2.png",
        "positions-3.png",
    ]
    assert pictures[3].alt == "Picks A 62 % of the time where 25 % is fair"


def test_pictures_can_be_drawn(three):
    pytest.importorskip("matplotlib")
    from evalui.report.charts.theme import DARK, LIGHT

    pictures = [block for block in _blocks(three) if isinstance(block, Picture)]
    for picture in pictures[:2]:
        assert picture.draw(LIGHT) != picture.draw(DARK)


def test_without_pictures_the_report_says_why(three, monkeypatch):
    monkeypatch.setattr(document, "picture_problem", lambda *_: "pictures-need-matplotlib")
    blocks = _blocks(three)
    assert not [block for block in blocks if isinstance(block, Picture)]
    assert "pip install" in as_markdown(blocks)


def test_a_run_without_answers_has_no_picture_and_no_excuse(make_result, monkeypatch):
    monkeypatch.setattr(document, "picture_problem", lambda *_: "pictures-need-matplotlib")
    late = summarise(make_result({}, state="failed", error="Out of memory."))
    blocks = _blocks([late])
    assert not [block for block in blocks if isinstance(block, Picture)]
    text = as_markdown(blocks)
    assert "No answers yet" in text
    assert "pip install" not in text


def test_each_number_of_options_has_its_tests_and_its_picture(make_result):
    four, two = make_result({"q0": "right"}), make_result({"p0": "right"}, options=2)
    both = replace(four, trials=four.trials + two.trials, samples={**four.samples, **two.samples})
    blocks = _blocks([summarise(both)])
    files = [block.file for block in blocks if isinstance(block, Picture)]
    assert files == ["accuracy.png", "positions-1-2.png", "positions-1-4.png"]
    assert "2 options: Right answers are found equally often" in as_markdown(blocks)
