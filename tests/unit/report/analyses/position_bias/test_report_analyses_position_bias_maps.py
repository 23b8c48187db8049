from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from bias_examples import cell_result, fond, right, with_probabilities

from evalui.report.analyses.position_bias.blocks import BiasLinks, BiasSubject
from evalui.report.analyses.position_bias.maps import ALL_SUBJECTS, model_maps
from evalui.report.blocks import ChartBlock, Details, Links, Paragraph, Places, Table, TextCell
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import CellResult


def lost_in_half(question: int, order: int, target: int) -> int:
    """Right as written, and on every second question not in other orders."""
    return target if question % 2 == 0 or order == 0 else 3 - target


def _run(*results: CellResult) -> list[Summary]:
    return [summarise(result) for result in results]


def _maps(summaries: Sequence[Summary], **words: Any) -> dict[str, Details]:
    first = summaries[0]
    assert first.main_bias is not None
    cells = {summary.cell: place for place, summary in enumerate(summaries, start=1)}
    links = BiasLinks(Places("r1", cells), {"cell": "1"})
    subject = BiasSubject(first, first.main_bias)
    made = model_maps(subject, summaries, "en", **({"links": links} | words))
    return {section.key: section for section in made}


def _chart(section: Details) -> ChartBlock:
    return next(block for block in section.blocks if isinstance(block, ChartBlock))


@pytest.fixture(scope="module")
def by_subject() -> list[Summary]:
    moved = cell_result(lost_in_half, subjects=2)
    return _run(moved, replace(moved, cell=replace(moved.cell, model="n")))


def test_of_one_model_there_is_no_map():
    assert _maps(_run(cell_result(fond))) == {}


def test_who_leans_most_is_said_and_each_share_leads_to_what_was_picked():
    section = _maps(_run(cell_result(right, model="even"), cell_result(fond)))["all-models"]
    assert section.finding == "m has the strongest preference: A, 63 %."
    chart = _chart(section)
    assert chart.links["1,0"] == "results?run=r1&sub=samples&cell=2&picked=0"
    assert len(chart.links) == 8


def test_a_script_is_spoken_of_only_where_there_is_nothing_else():
    summaries = _run(cell_result(right, model="own"), cell_result(lambda *_: 0, model="always-A"))
    sections = _maps(summaries, baselines=["always-A"])
    said = sections["all-models"].finding
    assert said.startswith("own has the strongest preference")
    assert said.endswith("%. Scripted models are not counted.")
    both = _maps(summaries, baselines=["always-A", "own"])
    assert both["all-models"].finding == "always-A has the strongest preference: A, 100.0 %."


def test_models_whose_letters_hold_little_are_named():
    result = with_probabilities(cell_result(fond, model="mute"))
    muted = replace(result, trials=tuple(replace(t, mass=0.01) for t in result.trials))
    others = (cell_result(fond, model="one"), cell_result(right, model="two"))
    section = _maps(_run(*others, muted))["all-models"]
    texts = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert texts == ["Left out, as letters hold under a tenth of the probability: mute."]


def test_categories_come_first_and_lead_to_their_subjects(by_subject):
    section = _maps(by_subject)["by-subject"]
    assert section.name == "By category"
    assert section.finding == "Other costs m most: 100.0 points."
    assert not section.open
    stem = "results?run=r1&sub=bias&cell=1&gap_of=stem#by-subject"
    assert _chart(section).links["stem,0"] == stem
    everything = section.blocks[-1]
    assert isinstance(everything, Links)
    assert everything.links[0].text == "All subjects"


def test_the_subjects_of_a_category_lead_to_their_questions(by_subject):
    section = _maps(by_subject, group="stem")["by-subject"]
    assert (section.name, section.open) == ("By subject", True)
    title = section.blocks[0]
    assert isinstance(title, Paragraph)
    assert title.text == "Subjects of STEM"
    assert set(_chart(section).links) == {"s0,0", "s0,1"}
    assert _chart(section).links["s0,1"] == (
        "results?run=r1&sub=samples&cell=2&subject=s0&outcome=order_sensitive"
    )
    back = section.blocks[-1]
    assert isinstance(back, Links)
    assert back.links[0].text == "Back to categories"


@pytest.mark.parametrize("group", [ALL_SUBJECTS, "no such category"])
def test_all_subjects_stand_together(by_subject, group: str):
    section = _maps(by_subject, group=group)["by-subject"]
    assert len(_chart(section).links) == 4


def test_that_nothing_is_lost_is_a_finding():
    section = _maps(_run(cell_result(right, subjects=2)))["by-subject"]
    assert section.finding == "No answer is lost to another order."


def test_groups_of_few_questions_are_listed_and_not_drawn():
    summaries = _run(cell_result(lost_in_half, n=40, subjects=2))
    section = _maps(summaries)["by-subject"]
    assert section.finding == "No group has 30 questions."
    few, table, _ = section.blocks
    assert isinstance(few, Paragraph)
    assert isinstance(table, Table)
    figure = table.rows[0][1]
    assert isinstance(figure, TextCell)
    assert figure.text == "100 (84–100)"
    assert "gap_of=other" in figure.href


def test_a_file_has_the_maps_without_links(by_subject):
    section = _maps(by_subject, links=None)["by-subject"]
    assert _chart(section).links == {}
    assert not any(isinstance(block, Links) for block in section.blocks)


def test_cells_of_other_modes_are_not_compared():
    other = cell_result(fond, mode="multiple_choice")
    assert "all-models" not in _maps(_run(cell_result(right), other))
