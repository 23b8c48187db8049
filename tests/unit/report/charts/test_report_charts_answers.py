from dataclasses import replace
from typing import Any

import pytest
from open_examples import answers_result

from evalui.report.analyses.open_answers.figures import answers
from evalui.report.analyses.overview.summary import summarise
from evalui.report.charts.answers import (
    TEXT_FIGURES,
    picks_heat_map,
    text_figures_chart,
)
from evalui.report.charts.plotly import draw_plotly
from evalui.report.charts.theme import COLOURS
from evalui.scoring.position_bias.counts import PositionTable
from evalui.types import Language

# ---------------------------------------------------------------- accuracy


def _traces(chart: Any, mode: str) -> list[Any]:
    return [trace for trace in chart.data if trace.mode == mode]


@pytest.fixture
def two(make_result):
    """A model right on all of 8 questions in every order, and one right on half as written."""
    sure = make_result({f"q{i}": "right" for i in range(8)}, model="sure")
    fond = make_result({f"q{i}": [0, 0, 0, 0] for i in range(8)}, model="fond")
    return [summarise(sure), summarise(fond)]


# ---------------------------------------------------------------- picks and recall


@pytest.fixture
def table(make_result) -> PositionTable:
    """Four questions that always get A, one that is unreadable twice."""
    picks = {f"q{i}": [0, 0, 0, 0] for i in range(4)} | {"q4": [None, None, 2, 1]}
    (found,) = summarise(make_result(picks)).positions
    return found


def _picks(table: PositionTable, language: Language = "en", **words: str) -> Any:
    return draw_plotly(picks_heat_map(table, language, **words))


def _heat(chart: Any) -> list[Any]:
    return [trace for trace in chart.data if trace.type == "heatmap"]


def test_each_row_of_the_heat_map_sums_to_one_with_the_unreadable(table):
    letters, others = _heat(_picks(table))
    for row, rest in zip(letters.z, others.z, strict=True):
        assert sum(row) + sum(rest) == pytest.approx(1)


def test_rows_are_gold_and_columns_are_picks(table):
    letters, _ = _heat(_picks(table))
    assert letters.z[0][0] == pytest.approx(4 / 5)
    assert letters.z[1][0] == pytest.approx(4 / 5)
    assert letters.text[1][0] == "80 %"


def test_hover_tells_the_counts(table):
    letters, others = _heat(_picks(table))
    assert letters.hovertext[1][0] == "B → A: 4 of 5, 80 % (38–96)"
    # q4's right option is A: as written it stands in slot A, in the second order in slot B.
    assert others.hovertext[0][0] == "A → unreadable: 1 of 5, 20 % (4–62)"
    assert _heat(_picks(table, "zh"))[1].hovertext[0][0].startswith("A → 无法判读：5 次中 1 次")


def test_a_cell_knows_which_questions_it_counts(table):
    letters, others = _heat(_picks(table))
    assert tuple(letters.customdata[1][2]) == (1, 2)
    assert tuple(others.customdata[3][0]) == (3, "unreadable")


def test_rows_of_few_questions_are_grey(make_result, table):
    grey = [scale for _, scale in _heat(_picks(table))[0].colorscale]
    assert len(set(grey)) == 1
    (enough,) = summarise(make_result({f"q{i}": "right" for i in range(30)})).positions
    blue = [scale for _, scale in _heat(_picks(enough))[0].colorscale]
    assert len(set(blue)) == 2


def test_in_one_order_each_row_has_its_own_number_of_questions(make_result):
    picks = {f"q{i}": "right" for i in range(60)}
    targets = {f"q{i}": 0 if i < 40 else 1 + i % 3 for i in range(60)}
    (table,) = summarise(make_result(picks, targets=targets, pattern="origin")).positions
    blue, grey, _ = _heat(_picks(table))
    assert [row[0] is None for row in blue.z] == [False, True, True, True]
    assert [row[0] is None for row in grey.z] == [True, False, False, False]


def test_many_orders_of_a_question_do_not_narrow_a_range(make_result):
    picks = {f"q{i}": "right" for i in range(40)}
    (table,) = summarise(make_result(picks, pattern="all_possible")).positions
    letters, _ = _heat(_picks(table))
    assert letters.hovertext[0][0] == "A → A: 240 of 240, 100.0 % (91.2–100.0)"


def test_the_scale_is_fixed_so_that_charts_compare(table):
    letters, _ = _heat(_picks(table))
    assert (letters.zmin, letters.zmax) == (0, 0.75)


def test_the_diagonal_is_outlined(table):
    boxes = [s for s in _picks(table).layout.shapes if s.type == "rect"]
    assert [((b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2) for b in boxes] == [
        pytest.approx((slot, slot)) for slot in range(4)
    ]


def test_all_picks_stand_below_against_chance(table):
    chart = _picks(table, colour="#D55E00")
    (bars,) = [trace for trace in chart.data if trace.type == "bar"]
    assert list(bars.y) == pytest.approx([16 / 18, 1 / 18, 1 / 18, 0])
    assert list(bars.marker.color)[:2] == ["#D55E00", "#80868B"]
    lines = [s for s in chart.layout.shapes if s.type == "line"]
    assert {(line.y0, line.y1) for line in lines} == {(0.25, 0.25)}


def test_ties_get_a_column_only_if_there_are_any(make_result, table):
    assert list(_picks(table).layout.xaxis.ticktext)[-1] == "unreadable"
    (tied,) = summarise(make_result({"q0": ["tie", 0, 0, 0]})).positions
    assert list(_picks(tied).layout.xaxis.ticktext)[-2:] == ["unreadable", "tied"]


def test_three_options_have_three_rows(make_result):
    (three,) = summarise(make_result({"q0": "right"}, options=3)).positions
    assert len(_heat(_picks(three))[0].z) == 3


def test_nothing_readable_can_still_be_drawn(make_result):
    (blank,) = summarise(make_result({"q0": [None] * 4})).positions
    letters, others = _heat(_picks(blank, "zh"))
    assert sum(map(sum, letters.z)) == 0
    assert all(row[0] == 1 for row in others.z)


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
