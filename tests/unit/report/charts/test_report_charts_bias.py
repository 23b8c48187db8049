from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, halting, right, with_probabilities

from evalui.report.analyses.overview.summary import subject_groups, summarise
from evalui.report.charts.bias import (
    GapRow,
    PriorRow,
    agreement_map,
    gap_map,
    gap_rows,
    prior_map,
    prior_rows,
)
from evalui.report.charts.plotly import draw_plotly
from evalui.types import Interval


def _share(value: float, n: int = 120, half: float = 0.08) -> Interval:
    return Interval(value, max(0.0, value - half), min(1.0, value + half), n)


def _colours(trace) -> set[str]:
    return {colour for _, colour in trace.colorscale}


@pytest.fixture
def steady():
    """Half of the questions are right in every order, half locked on A."""
    return summarise(cell_result(fond)).main_bias.consistency


def test_the_agreement_map_has_options_across_and_positions_up(steady):
    (cells,) = draw_plotly(agreement_map(steady, "en")).data
    # Locked on A: the same position four times, four options once each.
    assert cells.text[3][0] == "60"
    assert cells.text[0][3] == "60"
    assert cells.text[1][1] == "·"
    assert list(cells.y) == [1, 2, 3, 4]
    assert cells.z[3][0] == pytest.approx(0.5)


def test_an_agreement_cell_knows_its_questions_and_range(steady):
    (cells,) = draw_plotly(agreement_map(steady, "en")).data
    assert tuple(cells.customdata[3][0]) == (4, 1)
    assert cells.hovertext[3][0] == (
        "same position in 4 of 4 orders, same option in 1: 60 of 120 questions, 50 % (41–59)"
    )


def test_an_agreement_map_of_few_questions_is_grey(steady):
    few = summarise(cell_result(fond, n=29)).main_bias.consistency
    assert len(_colours(draw_plotly(agreement_map(few, "en")).data[0])) == 1
    assert len(_colours(draw_plotly(agreement_map(steady, "en")).data[0])) == 2


def test_many_orders_leave_no_room_for_numbers(make_result):
    picks = {f"q{i}": "right" for i in range(3)}
    found = summarise(make_result(picks, pattern="all_possible")).main_bias.consistency
    (cells,) = draw_plotly(agreement_map(found, "zh")).data
    assert cells.texttemplate is None
    assert len(cells.z) == 24


def test_priors_come_from_probabilities_and_else_from_picks():
    summaries = [
        summarise(with_probabilities(cell_result(fond, model="letters"))),
        summarise(cell_result(fond, model="words")),
        summarise(cell_result(right, options=3, model="three")),
    ]
    rows = prior_rows(summaries, 4, "en")
    assert [(row.name, row.origin, row.key) for row in rows] == [
        ("letters", "prior", "0"),
        ("words", "picks", "1"),
    ]
    assert rows[1].shares[0].value == pytest.approx(0.625)
    assert [row.name for row in prior_rows(summaries, 3, "en")] == ["three"]


def test_the_prior_map_diverges_at_the_fair_share():
    rows = [PriorRow("m", "0", "prior", (_share(0.4), _share(0.3), _share(0.2), _share(0.1)))]
    (cells,) = draw_plotly(prior_map(rows, "en")).data
    assert (cells.zmin, cells.zmax) == (0, 0.5)
    two = [PriorRow("m", "0", "prior", (_share(0.4), _share(0.6)))]
    (other,) = draw_plotly(prior_map(two, "en")).data
    assert (other.zmin, other.zmax) == (0.25, 0.75)
    assert list(cells.z[0]) == [0.4, 0.3, 0.2, 0.1]
    assert cells.hovertext[0][0] == "m: prior of A 40 % (32–48), fair 25 %, n = 120"
    assert tuple(cells.customdata[0][2]) == ("0", 2)


def test_the_prior_map_says_where_a_share_is_of_picks():
    rows = [PriorRow("<b>", "0", "picks", (_share(0.4), _share(0.6)))]
    (cells,) = draw_plotly(prior_map(rows, "en")).data
    assert cells.hovertext[0][1] == "&lt;b&gt;: B picked 60 % (52–68), fair 50 %, n = 120"


def test_priors_of_few_questions_are_grey_beside_others():
    rows = [
        PriorRow("many", "0", "picks", (_share(0.4), _share(0.6))),
        PriorRow("few", "1", "picks", (_share(0.4, n=29), _share(0.6, n=29))),
    ]
    enough, few = draw_plotly(prior_map(rows, "en")).data
    assert (enough.z[0][0], enough.z[1][0]) == (0.4, None)
    assert (few.z[0][0], few.z[1][0]) == (None, 0.4)
    assert len(_colours(few)) == 1


def test_nothing_to_prefer_is_an_empty_map():
    assert len(draw_plotly(prior_map([], "en")).data) == 0


@pytest.fixture
def by_subject():
    """Two subjects; in the second every answer is lost when options move."""
    moved = cell_result(lambda q, order, t: t if q % 2 == 0 or order == 0 else 3 - t, subjects=2)
    return [summarise(moved), summarise(replace(moved, cell=replace(moved.cell, model="n")))]


def test_the_gap_map_has_a_row_per_group_and_a_column_per_model(by_subject):
    columns, rows = gap_rows(by_subject, "subject", "en")
    assert columns == ["m", "n"]
    assert [row.key for row in rows] == ["s1", "s0"]  # the greatest gap first
    assert rows[0].gaps[0].value == 1
    assert rows[1].gaps[0].value == 0


def test_categories_come_by_their_names(by_subject):
    _, rows = gap_rows(by_subject, "category", "zh")
    assert {row.name for row in rows} == {"理工", "其他"}


def test_a_star_marks_what_is_unlike_the_rest(by_subject):
    _, rows = gap_rows(by_subject, "subject", "en")
    assert rows[0].significant == (True, True)
    even = summarise(cell_result(halting(7), subjects=2))
    _, rows = gap_rows([even], "subject", "en")
    assert not any(row.significant[0] for row in rows)


def test_few_questions_get_no_star():
    moved = cell_result(
        lambda q, order, t: t if q % 2 == 0 or order == 0 else 3 - t, subjects=2, n=58
    )
    _, rows = gap_rows([summarise(moved)], "subject", "en")
    assert [row.significant for row in rows] == [(False,), (False,)]


def test_a_gap_tells_its_points_questions_and_star():
    row = GapRow("law", "law", (_share(0.21), None), (True, False))
    cells, _ = draw_plotly(gap_map(["m", "n"], [row], "en")).data
    assert list(cells.text[0]) == ["21*", ""]
    assert (
        cells.hovertext[0][0] == "law · m: 21 points (13–29), 25 of 120 questions Unlike the rest."
    )
    assert tuple(cells.customdata[0][1]) == ("law", 1)


def test_a_gap_of_few_questions_is_grey_and_tells_its_value_in_the_hover_only():
    row = GapRow("law", "law", (_share(0.2, n=26),), (False,))
    coloured, grey = draw_plotly(gap_map(["m"], [row], "en")).data
    assert (coloured.z[0][0], grey.z[0][0]) == (None, 0.2)
    assert grey.text[0][0] == ""
    assert "20 points (12–28), 5 of 26 questions" in grey.hovertext[0][0]


def test_a_group_is_tested_against_all_others():
    result = cell_result(
        lambda q, order, t: t if q % 2 == 0 or order == 0 else 3 - t, subjects=2, n=40
    )
    groups = {g.name: g for g in subject_groups(result.samples, result.trials, "circular")}
    # 20 of 20 against 0 of 20: 1 table in C(40, 20), twice.
    assert groups["s1"].gap_p == pytest.approx(2 / 137846528820)
    assert groups["all"].gap_p is None
    assert groups["s1"].gap.n == 20


def test_in_one_order_groups_have_no_gap():
    result = cell_result(fond, subjects=2, pattern="origin")
    found = subject_groups(result.samples, result.trials, "origin")
    assert {(g.gap, g.gap_p) for g in found} == {(None, None)}
