from dataclasses import replace
from functools import cache

import pytest
from arena_examples import judged, leading, scattered

from evalui.report.charts.arena import rates_chart, win_matrix
from evalui.scoring.arena.question_groups import MAX_GROUPS
from evalui.types import Interval


@pytest.fixture(scope="module")
def three():
    return leading(judged())


@cache
def _many(models: int):
    return judged({f"m{i}": 1100.0 - 20 * i for i in range(models)}, n=3)


# ---------------------------------------------------------------- the win matrix


def test_a_cell_is_the_share_that_the_row_won_with_its_range(three):
    cells = win_matrix(three, "en").layers[0]
    names = [standing.model for standing in three.standings]
    share = three.shares[names[0], names[2]]
    assert cells.values[0][2] == share.value
    assert cells.text[0][2].strong.endswith(" %")
    assert "–" in cells.text[0][2].plain
    assert (cells.values[0][2] or 0) + (cells.values[2][0] or 0) == pytest.approx(1)


def test_all_cells_are_printed_with_the_digits_of_the_widest_range(three):
    first, second, third = (standing.model for standing in three.standings)
    shares = {
        (first, second): Interval(0.6, 0.58, 0.62, 400),
        (second, third): Interval(0.6, 0.4, 0.8, 20),
    }
    label = win_matrix(replace(three, shares=shares), "en").layers[0].text[0][1]
    assert (label.strong, label.plain) == ("60 %", "58–62")
    fine = {(first, second): shares[first, second]}
    label = win_matrix(replace(three, shares=fine), "en").layers[0].text[0][1]
    assert (label.strong, label.plain) == ("60.0 %", "58.0–62.0")


def test_the_scale_is_fixed_around_one_half(three):
    cells = win_matrix(three, "en").layers[0]
    assert (cells.low, cells.high, cells.scale) == (0, 1, "wins")


def test_the_diagonal_is_empty(three):
    cells, grey = win_matrix(three, "en").layers
    assert [cells.values[place][place] for place in range(3)] == [None] * 3
    assert [list(row) for row in grey.values] == [
        [0 if row == column else None for column in range(3)] for row in range(3)
    ]


def test_pairs_that_never_met_have_a_dash(three):
    names = [standing.model for standing in three.standings]
    gone = {tuple(names[:2]), tuple(reversed(names[:2]))}
    shares = {pair: share for pair, share in three.shares.items() if pair not in gone}
    chart = win_matrix(replace(three, shares=shares), "en")
    assert chart.layers[0].values[0][1] is None
    assert chart.missing == [(0, 1), (1, 0)]


def test_many_models_have_numbers_for_heads_and_no_ranges():
    chart = win_matrix(_many(15), "en")
    assert chart.columns[14].strong == "15"
    assert chart.rows[14].strong.endswith("  15")
    assert not any(label.plain for row in chart.layers[0].text for label in row)
    assert chart.row_height == 34


# ---------------------------------------------------------------- groups of questions


def test_each_capability_has_a_panel_of_win_rates(three):
    panels = rates_chart(three, "capability", "en").panels
    assert [panel.title.strong for panel in panels] == ["common", "creation", "reasoning"]
    assert all("n = 1" in panel.title.plain for panel in panels)


def test_languages_are_named_in_words_after_all_of_them(three):
    panels = rates_chart(three, "language", "zh").panels
    assert [panel.title.strong for panel in panels] == ["总体", "中文", "英文"]


def test_of_many_capabilities_the_most_frequent_are_drawn(three):
    many = scattered(three, 30)
    heads = [panel.title.strong for panel in rates_chart(many, "capability", "en").panels]
    assert len(heads) == MAX_GROUPS
    assert heads[-1] == "c029"  # eleven questions, the others have one


def test_questions_without_a_capability_give_an_empty_chart(three):
    samples = {
        key: replace(sample, metadata={**sample.metadata, "capability": ""})
        for key, sample in three.samples.items()
    }
    assert not rates_chart(replace(three, samples=samples), "capability", "en").panels
