from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, halting, right, with_probabilities

from evalui.report.analyses.position_bias.figures import (
    GridCell,
    comparable,
    gap_rows,
    grid_places,
    low_mass_models,
    prior_rows,
    questions_in,
    subjects_of,
    wrong_picks,
)
from evalui.scoring.cell_summary import subject_groups, summarise


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


def test_wrong_picks_are_counted_by_where_they_went():
    assert wrong_picks(summarise(cell_result(fond)).main_bias) == (180, 0, 0, 0)
    assert sum(wrong_picks(summarise(cell_result(right)).main_bias)) == 0


def test_only_cells_of_one_dataset_and_mode_in_several_orders_compare():
    first, second, other, once = (
        summarise(result)
        for result in (
            cell_result(right, model="first"),
            cell_result(fond, model="second"),
            cell_result(fond, model="first", mode="multiple_choice"),
            cell_result(fond, model="once", pattern="origin"),
        )
    )
    assert comparable([first, second, other, once], first.cell) == [first, second]


def test_models_whose_letters_hold_little_have_no_stated_preference():
    result = with_probabilities(cell_result(fond, model="mute"))
    little = tuple(replace(trial, mass=0.01) for trial in result.trials)
    summaries = [summarise(replace(result, trials=little)), summarise(cell_result(fond))]
    assert low_mass_models(summaries, 4) == ["mute"]
    assert [row.name for row in prior_rows(summaries, 4, "en")] == ["m"]


def test_the_subjects_of_a_category_are_those_of_all_models(by_subject):
    assert subjects_of(by_subject, "stem") == {"s0"}
    assert subjects_of(by_subject, "unknown") == frozenset()


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
