from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from arena_examples import judged, leading, scattered, swept

from evalui.report.analyses.arena.categories import MAX_GROUPS, question_groups
from evalui.report.charts.arena import (
    capability_chart,
    elo_chart,
    interval_offsets,
    rating_ticks,
    win_matrix,
)
from evalui.report.charts.theme import COLOURS, NEUTRAL
from evalui.types import Interval


@pytest.fixture(scope="module")
def three():
    return leading(judged())


@cache
def _many(models: int):
    return judged({f"m{i}": 1100.0 - 20 * i for i in range(models)}, n=3)


def _notes(chart: Any) -> list[str]:
    return [note.text for note in chart.layout.annotations]


# ---------------------------------------------------------------- standings


def test_the_best_model_is_on_top_with_its_elo_and_range(three):
    chart = elo_chart(three, "en")
    assert [trace.y[0] for trace in chart.data] == [0, 1, 2]
    assert chart.layout.yaxis.range[0] > chart.layout.yaxis.range[1]
    first, best = chart.data[0], three.standings[0]
    assert first.x[0] == best.elo
    assert first.x[0] + first.error_x.array[0] == pytest.approx(best.elo_high)
    assert first.x[0] - first.error_x.arrayminus[0] == pytest.approx(best.elo_low)
    assert first.text[0] == f"<b>{best.elo:,.0f}</b> {interval_offsets(best)}"


def test_the_deviation_is_printed_upwards_first(three):
    standing = replace(three.standings[0], elo=1148.0, elo_low=1116.2, elo_high=1178.0)
    assert interval_offsets(standing) == "+30 −32"


def test_without_a_range_there_is_no_whisker_and_no_deviation(three):
    bare = tuple(replace(s, elo_low=None, elo_high=None) for s in three.standings)
    chart = elo_chart(replace(three, standings=bare), "en")
    assert not chart.data[0].error_x.visible
    assert chart.data[0].text[0] == f"<b>{bare[0].elo:,.0f}</b>"


def test_models_level_with_the_leader_keep_their_colour_and_shape(three):
    two = leading(three, level=2)
    colours = [trace.marker.color for trace in elo_chart(two, "en").data]
    assert colours == [COLOURS[0], COLOURS[1], COLOURS[2]]
    shapes = [trace.marker.symbol for trace in elo_chart(two, "en").data]
    assert shapes == ["circle", "square", "triangle-up"]


def test_scripted_baselines_are_grey_diamonds(three):
    chart = elo_chart(three, "en", baselines={"weak"})
    assert (chart.data[2].marker.color, chart.data[2].marker.symbol) == (NEUTRAL, "diamond")


def test_the_start_is_marked(three):
    chart = elo_chart(three, "zh")
    assert "起点 1,000" in _notes(chart)
    (line,) = chart.layout.shapes
    assert (line.x0, line.x1, line.line.dash) == (1000, 1000, "dot")


def test_the_ticks_hold_every_range_and_the_start_and_are_few(three):
    far = replace(three.standings[0], elo=1903.0, elo_low=1880.0, elo_high=1960.0)
    for standings in (three.standings, (far,), (*three.standings, far)):
        ticks = rating_ticks(standings)
        ends = [1000, *(s.elo_low for s in standings), *(s.elo_high for s in standings)]
        assert ticks[0] <= min(ends)
        assert ticks[-1] >= max(ends)
        assert 3 <= len(ticks) <= 9
        assert ticks[-1] - ticks[0] >= 800


@pytest.mark.parametrize("models", [2, 15])
def test_the_height_grows_with_the_models(models: int):
    found = _many(models)
    chart = elo_chart(found, "en")
    assert len(chart.data) == models
    assert chart.layout.height == 64 + 52 * models


def test_no_finite_rating_and_no_battle_can_be_drawn():
    sure = swept()
    assert sure.standings[0].rating is None
    assert len(elo_chart(sure, "en").data) == 3
    assert len(elo_chart(replace(sure, standings=(), shares={}), "en").data) == 0


def test_names_of_models_are_no_markup(three):
    hostile = replace(three.standings[0], model="<img src=x>")
    chart = elo_chart(replace(three, standings=(hostile,)), "en")
    assert chart.layout.yaxis.ticktext[0] == "<b>&lt;img src=x&gt;</b>"
    assert "<img" not in chart.data[0].hovertext[0]


# ---------------------------------------------------------------- the win matrix


def test_a_cell_is_the_share_that_the_row_won_with_its_range(three):
    cells = win_matrix(three, "en").data[0]
    names = [standing.model for standing in three.standings]
    share = three.shares[names[0], names[2]]
    assert cells.z[0][2] == share.value
    assert cells.text[0][2].startswith("<b>")
    assert "–" in cells.text[0][2]
    assert cells.z[0][2] + cells.z[2][0] == pytest.approx(1)


def test_all_cells_are_printed_with_the_digits_of_the_widest_range(three):
    first, second, third = (standing.model for standing in three.standings)
    shares = {
        (first, second): Interval(0.6, 0.58, 0.62, 400),
        (second, third): Interval(0.6, 0.4, 0.8, 20),
    }
    texts = win_matrix(replace(three, shares=shares), "en").data[0].text
    assert texts[0][1] == "<b>60 %</b><br>58–62"
    fine = {(first, second): shares[first, second]}
    texts = win_matrix(replace(three, shares=fine), "en").data[0].text
    assert texts[0][1] == "<b>60.0 %</b><br>58.0–62.0"


def test_the_scale_is_fixed_around_one_half(three):
    cells = win_matrix(three, "en").data[0]
    assert (cells.zmin, cells.zmax) == (0, 1)
    colours = dict(cells.colorscale)
    assert colours[0.0].startswith("rgba(213,94,0")
    assert colours[1.0].startswith("rgba(0,114,178")


def test_the_diagonal_is_empty(three):
    cells, grey = win_matrix(three, "en").data
    assert [cells.z[place][place] for place in range(3)] == [None] * 3
    assert [list(row) for row in grey.z] == [
        [0 if row == column else None for column in range(3)] for row in range(3)
    ]


def test_pairs_that_never_met_have_a_dash(three):
    names = [standing.model for standing in three.standings]
    gone = {tuple(names[:2]), tuple(reversed(names[:2]))}
    shares = {pair: share for pair, share in three.shares.items() if pair not in gone}
    chart = win_matrix(replace(three, shares=shares), "en")
    assert chart.data[0].z[0][1] is None
    assert [(note.text, note.x, note.y) for note in chart.layout.annotations] == [
        ("–", 1, 0),
        ("–", 0, 1),
    ]


def test_many_models_have_numbers_for_heads_and_no_ranges():
    chart = win_matrix(_many(15), "en")
    assert chart.layout.xaxis.ticktext[14] == "<b>15</b>"
    assert chart.layout.yaxis.ticktext[14].endswith("  15</b>")
    assert not any("–" in text for row in chart.data[0].text for text in row)
    assert chart.layout.height == 56 + 34 * 15


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
