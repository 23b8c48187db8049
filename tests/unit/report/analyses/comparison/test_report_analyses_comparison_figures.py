"""Every pair of a comparison, and the questions that two part on."""

from dataclasses import replace

import pytest
from bias_examples import Pick, cell_result, fond, halting, right
from comparison_examples import CASES, compared, contenders

from evalui.messages import messages
from evalui.report.analyses.comparison import (
    Comparison,
    compare,
    comparison_blocks,
    split_questions,
)
from evalui.report.blocks import Details, Headline, Table
from evalui.scoring.comparisons import CellComparison
from evalui.scoring.pairs import MetricPair
from evalui.types import CellResult, Variant


def test_all_pairs_stand_with_the_widest_difference_first():
    case = CASES["three, one ahead"]
    assert [(each.first.name, each.second.name) for each in case.pairs] == [
        ("sure", "fond"),
        ("sure", "less"),
        ("less", "fond"),
    ]
    assert [each.difference for each in case.pairs] == sorted(
        (each.difference for each in case.pairs), reverse=True
    )


def test_two_are_drawn_under_every_measure_seen_from_the_same_side():
    case = CASES["two apart"]
    measures = [
        each.result.measure for each in case.rows if isinstance(each.result, CellComparison)
    ]
    assert measures == ["robust", "accuracy", "mean_over_orders"]
    assert {each.first.name for each in case.rows} == {"sure"}
    # Every second question: A is right as written on a quarter of those, of which no order counts.
    assert [round(100 * (one - other)) for one, other in (each.means for each in case.rows)] == [
        round(100 * each.difference) for each in case.rows
    ]


def test_the_one_behind_stays_second_where_it_is_ahead():
    other = compared({"less": halting(4), "fond": fond}, measure="accuracy")
    turned = [each for each in other.rows if each.difference < 0]
    assert all(each.first.name == other.rows[0].first.name for each in other.rows)
    assert all(each.means[0] < each.means[1] for each in turned)


def test_an_unknown_measure_gives_way_to_the_first():
    assert compared({"sure": right, "fond": fond}, measure="<b>").measure == "robust"
    assert compared({"sure": right, "fond": fond}, measure="accuracy").measure == "accuracy"


@pytest.mark.parametrize("name", CASES)
def test_the_split_holds_each_question_that_both_have_once(name: str):
    case = CASES[name]
    for pair in case.pairs:
        split = split_questions(case, pair)
        together = [*split.ahead, *split.behind, *split.alike]
        assert len(together) == len(set(together)) == pair.result.n


def test_the_split_is_the_table_of_the_test():
    case = CASES["two apart"]
    (pair,) = case.pairs
    assert isinstance(pair.result, CellComparison)
    assert pair.result.mcnemar
    split = split_questions(case, pair)
    assert len(split.ahead) == pair.result.mcnemar.first_only == 60
    assert len(split.behind) == pair.result.mcnemar.second_only == 0


def test_a_pair_is_named_in_either_order():
    case = CASES["three, one ahead"]
    assert case.pair("3-2") == case.pair("2-3")
    assert case.pair("nothing") == case.pairs[0]


def test_cells_of_one_model_keep_their_own_names():
    results = [cell_result(right), cell_result(fond)]
    named = contenders(results)
    one, other = (
        type(each)(each.id, f"m {each.id}", each.place, False, each.run, each.run_name)
        for each in named
    )
    case = compare((one, other), results)
    assert [(each.first.name, each.second.name) for each in case.pairs] == [("m 1", "m 2")]


def drawn(model: str, *picks: Pick) -> CellResult:
    """The answers of a model that was asked each of 120 questions so often."""
    parts = [cell_result(pick, model=model, pattern="origin") for pick in picks]
    trials = [
        replace(trial, variant=Variant(trial.variant.permutation, repeat))
        for repeat, part in enumerate(parts)
        for trial in part.trials
    ]
    return replace(parts[0], trials=trials, total=len(trials))


@pytest.fixture
def asked_twice() -> Comparison:
    """One model is right twice, the other on every second question only once."""
    results = [drawn("steady", right, right), drawn("loose", right, fond)]
    return compare(contenders(results), results, "repeat_agreement")


def test_options_are_compared_in_any_metric_that_is_a_mean_over_questions(asked_twice: Comparison):
    named = ("accuracy", "majority", "pass_at_2", "repeat_agreement", "same_order")
    assert asked_twice.measures == named
    assert (asked_twice.measure, asked_twice.scored) == ("repeat_agreement", True)
    (pair,) = asked_twice.pairs
    assert isinstance(pair.result, MetricPair)
    assert pair.first.name == "steady"
    assert pair.means == (1, 0.5)
    assert (pair.difference, pair.result.n) == (0.5, 120)
    assert 0 < pair.result.low < 0.5 < pair.result.high
    split = split_questions(asked_twice, pair)
    assert (len(split.ahead), len(split.behind), len(split.alike)) == (60, 0, 60)


def test_a_metric_of_options_is_drawn_as_a_score(asked_twice: Comparison):
    (pair,) = asked_twice.pairs
    head, *rest = comparison_blocks(messages("en"), asked_twice, pair)
    assert isinstance(head, Headline)
    assert head.text == "steady has the higher Agreement of replies: 0.50 above loose."
    tests = next(one for one in rest if isinstance(one, Details) and one.key == "sure")
    table = next(block for block in tests.blocks if isinstance(block, Table))
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_cells_that_cannot_stand_beside_each_other_have_no_pair_in_a_metric():
    results = [drawn("steady", right, right), drawn("loose", right, fond)]
    signature = results[1].cell.signature.replace("prompt:p", "prompt:other")
    results[1] = replace(results[1], cell=replace(results[1].cell, signature=signature))
    assert compare(contenders(results), results, "majority").pairs == ()
