from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from arena_examples import judged, scattered
from open_examples import answers_result

from evalui.report.analyses.arena.categories import MAX_GROUPS, question_groups
from evalui.report.analyses.open_answers.figures import answers
from evalui.report.charts.common import COLOURS, NEUTRAL
from evalui.report.charts.small_multiples import TEXT_FIGURES, capability_chart, text_figures_chart


@pytest.fixture(scope="module")
def three():
    return judged()


def _notes(chart: Any) -> list[str]:
    return [note.text for note in chart.layout.annotations]


# ---------------------------------------------------------------- groups of questions


def test_each_capability_has_a_panel_with_a_row_per_model(three):
    chart = capability_chart(three, "en")
    assert len(chart.data) == 9
    assert [note.split("<br>")[0] for note in _notes(chart)] == [
        "<b>common</b>",
        "<b>creation</b>",
        "<b>reasoning</b>",
    ]
    assert all("n = 1" in note for note in _notes(chart))


def test_a_share_of_points_counts_ties_as_halves_and_both_sides():
    # In one order only: with two, the sides even out whatever is counted.
    three = judged(orders="single")
    (panel, *_) = question_groups(three)
    points = [
        side.points
        for battle in three.battles
        for side in (battle, battle.mirrored)
        if side.model_a == "middle"
        and three.samples[side.question or ""].metadata["capability"] == panel.name
    ]
    assert panel.shares["middle"].value == pytest.approx(sum(points) / len(points))


def test_every_panel_has_the_whole_axis_and_a_line_at_one_half(three):
    chart = capability_chart(three, "en", grouping="language")
    assert tuple(chart.layout.xaxis.range) == tuple(chart.layout.xaxis2.range) == (0, 100)
    assert [(line.x0, line.xref) for line in chart.layout.shapes] == [(50, "x"), (50, "x2")]


def test_languages_are_named_in_words(three):
    notes = _notes(capability_chart(three, "zh", grouping="language"))
    assert [note.split("<br>")[0] for note in notes] == ["<b>中文</b>", "<b>英文</b>"]


def test_panels_of_few_questions_are_grey():
    chart = capability_chart(judged(n=12), "en")
    assert {trace.marker.color for trace in chart.data} == {NEUTRAL}
    assert {trace.marker.symbol for trace in chart.data} == {"circle", "square", "triangle-up"}


def test_twenty_capabilities_make_rows_of_three_that_do_not_overlap(three):
    samples = {
        key: replace(sample, metadata={**sample.metadata, "capability": f"能力{number % 20}"})
        for number, (key, sample) in enumerate(three.samples.items())
    }
    chart = capability_chart(replace(three, samples=samples), "zh")
    boxes = [
        (chart.layout[f"xaxis{n}"].domain, chart.layout[f"yaxis{n}"].domain)
        for n in ("", *range(2, 21))
    ]
    assert len({box[1] for box in boxes}) == 7
    rows = sorted({box[1] for box in boxes})
    assert all(low[1] < high[0] for low, high in pairwise(rows))
    assert all(0 <= x[0] < x[1] <= 1 and 0 <= y[0] < y[1] <= 1 for x, y in boxes)


def test_of_many_capabilities_the_most_frequent_are_drawn(three):
    notes = _notes(capability_chart(scattered(three, 30), "en"))
    heads = [note.split("<br>")[0] for note in notes if "<br>" in note]
    assert len(heads) == MAX_GROUPS
    assert heads[-1] == "<b>c029</b>"  # eleven questions, the others have one
    assert "Shown: the 24 with the most questions. 6 more are in the exported tables." in notes
    assert not any("exported" in note for note in _notes(capability_chart(three, "en")))


def test_questions_without_a_capability_give_an_empty_chart(three):
    samples = {
        key: replace(sample, metadata={**sample.metadata, "capability": ""})
        for key, sample in three.samples.items()
    }
    assert len(capability_chart(replace(three, samples=samples), "en").data) == 0


# ---------------------------------------------------------------- written answers


def test_each_model_has_a_mark_for_each_text_figure():
    found = answers([answers_result(model) for model in ("late", "early")])
    chart = text_figures_chart(found, "en")
    assert [trace.name for trace in chart.data] == ["late", "early"]
    assert len(TEXT_FIGURES) == 7
    assert list(chart.data[0].x) == pytest.approx([0.9] * 7)
    assert chart.data[0].y[0] < chart.data[1].y[0]
    assert tuple(chart.layout.xaxis.range) == (0, 1)


def test_cells_without_references_are_left_out_of_the_text_figures():
    late, early = answers([answers_result(model) for model in ("late", "early")])
    chart = text_figures_chart([replace(late, means={}), early], "zh")
    assert [(trace.name, trace.marker.color) for trace in chart.data] == [("early", COLOURS[1])]
    assert len(text_figures_chart([], "en").data) == 0


def test_a_model_that_could_not_run_takes_no_colour_from_the_others():
    late, early = answers([answers_result(model) for model in ("late", "early")])
    chart = text_figures_chart([replace(late, means={}, state="impossible"), early], "en")
    assert [trace.marker.color for trace in chart.data] == [COLOURS[0]]
