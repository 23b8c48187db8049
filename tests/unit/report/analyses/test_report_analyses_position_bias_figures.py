import pytest
from bias_examples import cell_result, fond

from evalui.report.analyses.position_bias import GridCell, grid_places, questions_in
from evalui.scoring.cell_summary import subject_groups


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


def test_a_grid_cell_has_its_questions_in_file_order():
    result = cell_result(fond, n=6)
    places = grid_places(result, 4)
    locked = questions_in(result.samples, places, GridCell(4, 1))
    assert [sample.id for sample in locked] == ["q1", "q3", "q5"]
    assert [s.id for s in questions_in(result.samples, places, GridCell(1, 4))] == [
        "q0",
        "q2",
        "q4",
    ]
    assert questions_in(result.samples, places, GridCell(2, 2)) == ()


def test_in_one_order_no_grid_cell_has_questions():
    result = cell_result(fond, pattern="origin")
    places = grid_places(result, 4)
    assert places == {}
    assert questions_in(result.samples, places, GridCell(1, 1)) == ()
