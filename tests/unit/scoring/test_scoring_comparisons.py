from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
from bias_examples import cell_result, fond, halting, right

from evalui.scoring.cell_summary import Measure, Summary, summarise
from evalui.scoring.comparisons import (
    MEASURES,
    CellComparison,
    IncomparablePair,
    compare_cells,
    compare_pairs,
    shared_measures,
)
from evalui.scoring.statistics.tests import holm
from evalui.types import Variant


def test_only_shared_measures_are_offered():
    in_orders = [summarise(cell_result(pick)) for pick in (right, fond)]
    as_written = summarise(cell_result(right, pattern="origin"))
    assert shared_measures(in_orders) == ("robust", "accuracy", "mean_over_orders")
    assert shared_measures([*in_orders, as_written]) == ("accuracy",)


def cells() -> list[Summary]:
    """Three cells on the same questions, one on fewer, one of another dataset, one on others."""
    same = [
        summarise(cell_result(pick, model=model))
        for model, pick in (("one", fond), ("two", right), ("three", halting(9)))
    ]
    few = summarise(cell_result(halting(3), n=30, model="few"))
    few = replace(few, cell=replace(few.cell, signature=same[0].cell.signature))
    refused = summarise(cell_result(right, model="refused", signature="other"))
    strange = replace(same[0], outcomes={"robust": {"else": 1.0}})
    strange = replace(strange, cell=replace(strange.cell, model="strange"))
    return [*same, few, refused, strange]


@pytest.mark.parametrize("measure", MEASURES)
def test_pairs_have_the_figures_of_two_cells_with_p_for_their_number(measure: Measure):
    alone = [compare_cells(one, other, measure) for one, other in combinations(cells(), 2)]
    made = compare_pairs(cells(), measure)
    p = holm([each.adjusted for each in alone if isinstance(each, CellComparison)])
    assert [each.adjusted for each in made if isinstance(each, CellComparison)] == p
    assert sum(isinstance(each, IncomparablePair) for each in made) == 9
    for each, other in zip(made, alone, strict=True):
        if isinstance(each, CellComparison):
            assert replace(each, adjusted=0.0) == replace(other, adjusted=0.0)
        else:
            assert each == other


def test_a_share_of_several_replies_has_no_table_of_right_and_wrong():
    def asked_twice(pick: Callable[..., int | None], name: str) -> Summary:
        once = cell_result(pick, pattern="origin")
        again = [
            replace(each, variant=Variant(each.variant.permutation, repeat))
            for each in once.trials
            for repeat in (0, 1)
        ]
        cell = replace(once.cell, model=name)
        return summarise(replace(once, cell=cell, trials=again, total=len(again)))

    cells = asked_twice(right, "right"), asked_twice(fond, "fond")
    pair = compare_cells(*cells, "accuracy")
    assert isinstance(pair, CellComparison)
    assert pair.mcnemar is None
    assert pair.n == cells[0].n == cells[0].done // 2
