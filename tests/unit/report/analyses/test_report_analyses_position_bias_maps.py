from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest
from bias_examples import cell_result, fond, halting, right, with_probabilities
from chart_examples import hrefs_of, layout_of, traces_of

from evalui.report.analyses.position_bias import ALL_SUBJECTS, BiasLinks, BiasSubject, model_maps
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
    language = words.pop("language", "en")
    made = model_maps(subject, summaries, language, **({"links": links} | words))
    return {section.key: section for section in made}


def _chart(section: Details) -> go.Figure:
    return next(block for block in section.blocks if isinstance(block, ChartBlock)).draw()


@pytest.fixture(scope="module")
def by_subject() -> list[Summary]:
    moved = cell_result(lost_in_half, subjects=2)
    return _run(moved, replace(moved, cell=replace(moved.cell, model="n")))


def test_of_one_model_there_is_no_map():
    assert _maps(_run(cell_result(fond))) == {}


def test_who_leans_most_is_said_and_each_share_leads_to_what_was_picked():
    section = _maps(_run(cell_result(right, model="even"), cell_result(fond)))["all-models"]
    assert section.finding == "m has the strongest preference: A, 63 %."
    (cells,) = traces_of(_chart(section))
    assert cells["customdata"][1][0] == "results?run=r1&sub=samples&cell=2&picked=0"
    assert len(hrefs_of(_chart(section))) == 8


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
    assert traces_of(_chart(section))[0]["customdata"][1][0] == stem
    everything = section.blocks[-1]
    assert isinstance(everything, Links)
    assert everything.links[0].text == "All subjects"


def test_the_subjects_of_a_category_lead_to_their_questions(by_subject):
    section = _maps(by_subject, group="stem")["by-subject"]
    assert (section.name, section.open) == ("By subject", True)
    title = section.blocks[0]
    assert isinstance(title, Paragraph)
    assert title.text == "Subjects of STEM"
    (first, second), *others = traces_of(_chart(section))[0]["customdata"]
    assert (others, first.replace("cell=1", "cell=2")) == ([], second)
    assert second == "results?run=r1&sub=samples&cell=2&subject=s0&outcome=order_sensitive"
    back = section.blocks[-1]
    assert isinstance(back, Links)
    assert back.links[0].text == "Back to categories"


@pytest.mark.parametrize("group", [ALL_SUBJECTS, "no such category"])
def test_all_subjects_stand_together(by_subject, group: str):
    section = _maps(by_subject, group=group)["by-subject"]
    assert len(traces_of(_chart(section))[0]["customdata"]) == 2


def test_that_nothing_is_lost_is_a_finding():
    section = _maps(_run(cell_result(right, subjects=2)))["by-subject"]
    assert section.finding == "No answer is lost to another order."


def test_groups_of_few_questions_are_listed_and_not_drawn():
    summaries = _run(cell_result(lost_in_half, n=40, subjects=2))
    section = _maps(summaries)["by-subject"]
    assert section.finding == "Every group has fewer than 30 questions."
    few, table, _ = section.blocks
    assert isinstance(few, Paragraph)
    assert isinstance(table, Table)
    figure = table.rows[0][1]
    assert isinstance(figure, TextCell)
    assert figure.text == "100 (84–100)"
    assert "gap_of=other" in figure.href


def test_a_file_has_the_maps_without_links(by_subject):
    section = _maps(by_subject, links=None)["by-subject"]
    assert hrefs_of(_chart(section)) == []
    assert not any(isinstance(block, Links) for block in section.blocks)


def test_only_cells_of_one_dataset_and_mode_in_several_orders_compare():
    other = cell_result(fond, mode="multiple_choice")
    once = cell_result(fond, model="once", pattern="origin")
    assert "all-models" not in _maps(_run(cell_result(right), other, once))
    second = cell_result(fond, model="second")
    section = _maps(_run(cell_result(right), second, other, once))["all-models"]
    assert layout_of(_chart(section))["yaxis"]["ticktext"] == ["<b>m</b>", "<b>second</b>"]


def test_priors_come_from_probabilities_and_else_from_picks():
    letters = with_probabilities(cell_result(fond, model="letters"))
    three = cell_result(right, options=3, model="three")
    section = _maps(_run(letters, cell_result(fond, model="words"), three))["all-models"]
    (cells,) = traces_of(_chart(section))
    assert [row[0].partition(" %")[0] for row in cells["hovertext"]] == [
        "letters: prior of A 47.5",
        "words: A picked 63",
    ]
    assert cells["z"][1][0] == pytest.approx(0.625)


def test_the_gap_map_has_a_row_per_group_and_a_column_per_model(by_subject):
    chart = _chart(_maps(by_subject, group=ALL_SUBJECTS)["by-subject"])
    layout = layout_of(chart)
    assert layout["xaxis"]["ticktext"] == ["<b>m</b>", "<b>n</b>"]
    assert len(layout["yaxis"]["ticktext"]) == 2
    coloured, _ = traces_of(chart)
    assert [row[0] for row in coloured["z"]] == [1, 0]  # the greatest gap first


def test_categories_come_by_their_names(by_subject):
    chart = _chart(_maps(by_subject, language="zh")["by-subject"])
    assert set(layout_of(chart)["yaxis"]["ticktext"]) == {"<b>理工</b>", "<b>其他</b>"}


def test_a_star_marks_what_is_unlike_the_rest(by_subject):
    coloured, _ = traces_of(_chart(_maps(by_subject, group=ALL_SUBJECTS)["by-subject"]))
    assert coloured["text"][0] == ["100*", "100*"]
    even = _maps(_run(cell_result(halting(7), subjects=2)), group=ALL_SUBJECTS)["by-subject"]
    assert "*" not in str(traces_of(_chart(even))[0]["text"])


def test_few_questions_get_no_star():
    # 29 of the one, whose figure stands in the hover, and 30 of the other.
    result = cell_result(lost_in_half, subjects=2, n=59)
    section = _maps(_run(result), group=ALL_SUBJECTS)["by-subject"]
    coloured, grey = traces_of(_chart(section))
    assert (coloured["text"], grey["text"]) == ([[""], ["0*"]], [[""], [""]])
    assert "Unlike" not in grey["hovertext"][0][0]


def test_groups_of_fewer_than_five_questions_are_left_out_and_counted():
    assert "by-subject" not in _maps(_run(cell_result(right, n=8, subjects=4)))
    section = _maps(_run(cell_result(right, n=14, subjects=4)), group=ALL_SUBJECTS)
    assert "by-subject" not in section
    mixed = _maps(_run(cell_result(right, n=14, subjects=4)))["by-subject"]
    texts = [block.text for block in mixed.blocks if isinstance(block, Paragraph)]
    assert "Every group has fewer than 30 questions, too few to compare." in texts[0]
