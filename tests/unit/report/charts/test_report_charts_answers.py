import pytest

from evalui.report.charts.answers import picks_heat_map
from evalui.report.charts.kinds import HeatMap
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.cell_summary import summarise


@pytest.fixture
def table(make_result) -> PositionTable:
    """Four questions that always get A, one that is unreadable twice."""
    picks = {f"q{i}": [0, 0, 0, 0] for i in range(4)} | {"q4": [None, None, 2, 1]}
    (found,) = summarise(make_result(picks)).positions
    return found


def test_each_row_of_the_heat_map_sums_to_one_with_the_unreadable(table):
    letters, others = picks_heat_map(table, "en").layers
    for row, rest in zip(letters.values, others.values, strict=True):
        assert sum(row) + sum(rest) == pytest.approx(1)


def test_rows_are_gold_and_columns_are_picks(table):
    letters, _ = picks_heat_map(table, "en").layers
    assert letters.values[0][0] == pytest.approx(4 / 5)
    assert letters.values[1][0] == pytest.approx(4 / 5)
    assert letters.text[1][0].plain == "80 %"


def test_hover_tells_the_counts(table):
    letters, others = picks_heat_map(table, "en").layers
    assert letters.hover[1][0] == "B → A: 4 of 5, 80 % (38–96)"
    # q4's right option is A: as written it stands in slot A, in the second order in slot B.
    assert others.hover[0][0] == "A → unreadable: 1 of 5, 20 % (4–62)"
    assert picks_heat_map(table, "zh").layers[1].hover[0][0].startswith("A → 无法判读：5 次中 1 次")


def test_a_cell_knows_which_questions_it_counts(table):
    letters, others = picks_heat_map(table, "en").layers
    assert letters.keys[1][2] == (1, 2)
    assert others.keys[3][0] == (3, "unreadable")


def test_rows_of_few_questions_are_grey(make_result, table):
    assert picks_heat_map(table, "en").layers[0].scale == "grey"
    (enough,) = summarise(make_result({f"q{i}": "right" for i in range(30)})).positions
    assert picks_heat_map(enough, "en").layers[0].scale == "share"


def test_in_one_order_each_row_has_its_own_number_of_questions(make_result):
    picks = {f"q{i}": "right" for i in range(60)}
    targets = {f"q{i}": 0 if i < 40 else 1 + i % 3 for i in range(60)}
    (table,) = summarise(make_result(picks, targets=targets, pattern="origin")).positions
    blue, grey, _ = picks_heat_map(table, "en").layers
    assert [row[0] is None for row in blue.values] == [False, True, True, True]
    assert [row[0] is None for row in grey.values] == [True, False, False, False]


def test_many_orders_of_a_question_do_not_narrow_a_range(make_result):
    picks = {f"q{i}": "right" for i in range(40)}
    (table,) = summarise(make_result(picks, pattern="all_possible")).positions
    letters, _ = picks_heat_map(table, "en").layers
    assert letters.hover[0][0] == "A → A: 240 of 240, 100.0 % (91.2–100.0)"


def test_the_scale_is_fixed_so_that_charts_compare(table):
    letters, _ = picks_heat_map(table, "en").layers
    assert (letters.low, letters.high) == (0, 0.75)


def test_the_diagonal_is_outlined(table):
    assert picks_heat_map(table, "en").diagonal


def test_all_picks_stand_below_against_chance(table):
    below = picks_heat_map(table, "en", colour="#D55E00").below
    assert below is not None
    assert [bar.value for bar in below.bars] == pytest.approx([16 / 18, 1 / 18, 1 / 18, 0])
    assert [bar.colour for bar in below.bars][:2] == ["#D55E00", "#80868B"]
    assert [level.value for level in below.levels] == [0.25]


def _heads(chart: HeatMap) -> list[str]:
    return [column.strong or column.plain for column in chart.columns]


def test_ties_get_a_column_only_if_there_are_any(make_result, table):
    assert _heads(picks_heat_map(table, "en"))[-1] == "unreadable"
    (tied,) = summarise(make_result({"q0": ["tie", 0, 0, 0]})).positions
    assert _heads(picks_heat_map(tied, "en"))[-2:] == ["unreadable", "tied"]


def test_three_options_have_three_rows(make_result):
    (three,) = summarise(make_result({"q0": "right"}, options=3)).positions
    assert len(picks_heat_map(three, "en").layers[0].values) == 3


def test_nothing_readable_can_still_be_drawn(make_result):
    (blank,) = summarise(make_result({"q0": [None] * 4})).positions
    letters, others = picks_heat_map(blank, "zh").layers
    assert sum(map(sum, letters.values)) == 0
    assert all(row[0] == 1 for row in others.values)
