import pytest
from bias_examples import cell_result, fond

from evalui.report.analyses.position_bias.figures import GapRow, PriorRow
from evalui.report.charts.bias import agreement_map, gap_map, prior_map
from evalui.scoring.cell_summary import summarise
from evalui.types import Interval


def _share(value: float, n: int = 120, half: float = 0.08) -> Interval:
    return Interval(value, max(0.0, value - half), min(1.0, value + half), n)


@pytest.fixture
def steady():
    """Half of the questions are right in every order, half locked on A."""
    return summarise(cell_result(fond)).main_bias.consistency


def test_the_agreement_map_has_options_across_and_positions_up(steady):
    chart = agreement_map(steady, "en")
    (cells,) = chart.layers
    # Locked on A: the same position four times, four options once each.
    assert cells.text[3][0].plain == "60"
    assert cells.text[0][3].plain == "60"
    assert cells.text[1][1].plain == "·"
    assert chart.counted
    assert [row.strong for row in chart.rows] == ["1", "2", "3", "4"]
    assert cells.values[3][0] == pytest.approx(0.5)


def test_an_agreement_cell_knows_its_questions_and_range(steady):
    (cells,) = agreement_map(steady, "en").layers
    assert tuple(cells.keys[3][0]) == (4, 1)
    assert cells.hover[3][0] == (
        "same position in 4 of 4 orders, same option in 1: 60 of 120 questions, 50 % (41–59)"
    )


def test_an_agreement_map_of_few_questions_is_grey(steady):
    few = summarise(cell_result(fond, n=29)).main_bias.consistency
    assert agreement_map(few, "en").layers[0].scale == "grey"
    assert agreement_map(steady, "en").layers[0].scale == "share"


def test_many_orders_leave_no_room_for_numbers(make_result):
    picks = {f"q{i}": "right" for i in range(3)}
    found = summarise(make_result(picks, pattern="all_possible")).main_bias.consistency
    chart = agreement_map(found, "zh")
    (cells,) = chart.layers
    assert not chart.printed
    assert len(cells.values) == 24
    # Only the cells with questions are drawn: all three were right in every order.
    drawn = [value for row in cells.values for value in row if value is not None]
    assert drawn == [1.0]


def test_the_prior_map_diverges_at_the_fair_share():
    rows = [PriorRow("m", "0", "prior", (_share(0.4), _share(0.3), _share(0.2), _share(0.1)))]
    (cells,) = prior_map(rows, "en").layers
    assert (cells.low, cells.high) == (0, 0.5)
    two = [PriorRow("m", "0", "prior", (_share(0.4), _share(0.6)))]
    (other,) = prior_map(two, "en").layers
    assert (other.low, other.high) == (0.25, 0.75)
    assert list(cells.values[0]) == [0.4, 0.3, 0.2, 0.1]
    assert cells.hover[0][0] == "m: prior of A 40 % (32–48), fair 25 %, n = 120"
    assert tuple(cells.keys[0][2]) == ("0", 2)


def test_the_prior_map_says_where_a_share_is_of_picks():
    rows = [PriorRow("<b>", "0", "picks", (_share(0.4), _share(0.6)))]
    (cells,) = prior_map(rows, "en").layers
    assert cells.hover[0][1] == "<b>: B picked 60 % (52–68), fair 50 %, n = 120"


def test_priors_of_few_questions_are_grey_beside_others():
    rows = [
        PriorRow("many", "0", "picks", (_share(0.4), _share(0.6))),
        PriorRow("few", "1", "picks", (_share(0.4, n=29), _share(0.6, n=29))),
    ]
    enough, few = prior_map(rows, "en").layers
    assert (enough.values[0][0], enough.values[1][0]) == (0.4, None)
    assert (few.values[0][0], few.values[1][0]) == (None, 0.4)
    assert few.scale == "grey"


def test_nothing_to_prefer_is_an_empty_map():
    assert prior_map([], "en").layers == []


def test_a_gap_tells_its_points_questions_and_star():
    row = GapRow("law", "law", (_share(0.21), None), (True, False))
    cells, _ = gap_map(["m", "n"], [row], "en").layers
    assert [label.plain for label in cells.text[0]] == ["21*", ""]
    assert (
        cells.hover[0][0] == "law · m: 21 points (13–29), 25 of 120 questions "
        "Unlike the rest (Benjamini-Hochberg)."
    )
    assert tuple(cells.keys[0][1]) == ("law", 1)


def test_a_gap_of_few_questions_is_grey_and_tells_its_value_in_the_hover_only():
    row = GapRow("law", "law", (_share(0.2, n=26),), (False,))
    coloured, grey = gap_map(["m"], [row], "en").layers
    assert (coloured.values[0][0], grey.values[0][0]) == (None, 0.2)
    assert grey.text[0][0].plain == ""
    assert "20 points (12–28), 5 of 26 questions" in grey.hover[0][0]
