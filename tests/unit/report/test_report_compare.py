from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, halting, right

from evalui.report.compare import compare, compare_all, corrected
from evalui.report.pairs import Pair, Refusal


def test_questions_on_which_they_differ_come_by_difference():
    one = cell_result(halting(40), model="one")
    other = cell_result(lambda q, _, t: 0 if q in (3, 5) else t, model="other")
    found = compare(one, other)
    assert found.measure == "robust"
    assert [(each.id, each.difference) for each in found.parted] == [
        ("q0", -1),
        ("q40", -1),
        ("q80", -1),
        ("q3", 1),
        ("q5", 1),
    ]
    assert found.counts == (115, 2, 3, 0)


def test_each_order_is_right_or_wrong_for_both():
    found = compare(cell_result(right), cell_result(fond, model="fond"))
    first = found.parted[0]
    assert first.orders == ("ABCD", "BCDA", "CDAB", "DABC")
    assert first.first_right == (True, True, True, True)
    assert sum(map(bool, first.second_right)) == 1
    assert (first.id, first.question, first.subject) == ("q1", "question 1", "s0")


def test_an_order_that_was_not_asked_is_unknown():
    one = cell_result(right)
    late = cell_result(fond, model="fond")
    short = replace(late, trials=late.trials[:6], total=late.total)
    (parted,) = compare(one, short, "accuracy").parted
    assert parted.second_right == (False, False, None, None)


def test_the_sides_stay_as_given_and_the_pair_tells_who_is_ahead():
    found = compare(cell_result(fond, model="fond"), cell_result(right, model="sure"))
    assert isinstance(found.found, Pair)
    assert found.found.first.model == "sure"
    assert {each.difference for each in found.parted} == {-1}
    assert found.counts == (60, 0, 60, 0)


def test_cells_made_differently_are_refused_and_part_on_nothing():
    other = cell_result(fond, signature="d@1|mode:generation|prompt:q|rule:tolerant|n:120|model:x")
    found = compare(cell_result(right), other)
    assert isinstance(found.found, Refusal)
    assert (found.found.parts, found.parted, found.counts) == (("prompt",), (), None)


def test_only_shared_measures_are_offered():
    assert compare(cell_result(right), cell_result(fond)).measures == (
        "robust",
        "accuracy",
        "mean_over_orders",
    )
    origin = [cell_result(pick, pattern="origin") for pick in (right, fond)]
    found = compare(*origin)
    assert (found.measure, found.measures) == ("accuracy", ("accuracy",))


def test_a_mean_over_orders_parts_on_degrees():
    found = compare(cell_result(right), cell_result(fond), "mean_over_orders")
    assert found.counts is None
    assert {each.difference for each in found.parted} == {0.75}


def test_several_are_compared_with_the_first_and_corrected():
    results = [cell_result(pick, model=str(n)) for n, pick in enumerate((right, halting(9), fond))]
    alone = compare(results[0], results[1]).found
    two = compare_all(results, "robust")
    assert isinstance(alone, Pair)
    assert two[0].adjusted == pytest.approx(alone.adjusted)  # the larger p keeps its value
    assert two[1].adjusted == pytest.approx(2 * compare(results[0], results[2]).found.adjusted)


def test_what_is_refused_takes_no_part_in_the_correction():
    made = compare_all(
        [cell_result(right), cell_result(fond, signature="other"), cell_result(halting(9))],
        "robust",
    )
    assert isinstance(made[0], Refusal)
    assert made[1] == corrected(made[1:])[0]
