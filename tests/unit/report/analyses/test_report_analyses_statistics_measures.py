import pytest
from bias_examples import cell_result, fond, halting, right

from evalui.report.analyses.statistics import (
    CellComparison,
    IncomparablePair,
    compare_cells,
    holm_corrected,
    shared_measures,
)
from evalui.scoring.cell_summary import summarise


def against_the_first(*results) -> list[CellComparison | IncomparablePair]:
    first, *others = map(summarise, results)
    return [compare_cells(first, other, "robust") for other in others]


def test_only_shared_measures_are_offered():
    in_orders = [summarise(cell_result(pick)) for pick in (right, fond)]
    as_written = summarise(cell_result(right, pattern="origin"))
    assert shared_measures(in_orders) == ("robust", "accuracy", "mean_over_orders")
    assert shared_measures([*in_orders, as_written]) == ("accuracy",)


def test_several_pairs_are_corrected_for_their_number():
    made = against_the_first(cell_result(right), cell_result(halting(9)), cell_result(fond))
    two = holm_corrected(made)
    assert all(isinstance(each, CellComparison) for each in two)
    assert two[0].adjusted == pytest.approx(made[0].adjusted)  # the larger p keeps its value
    assert two[1].adjusted == pytest.approx(2 * made[1].adjusted)


def test_what_is_refused_takes_no_part_in_the_correction():
    refused, found = holm_corrected(
        against_the_first(
            cell_result(right), cell_result(fond, signature="other"), cell_result(halting(9))
        )
    )
    assert isinstance(refused, IncomparablePair)
    assert holm_corrected([found])[0] == found
