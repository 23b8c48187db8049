"""What came of a run, in the few words of its row."""

from dataclasses import replace

import pytest

from evalui.messages import messages
from evalui.store.runs import CellRow
from evalui.types import Cell
from evalui.ui.pages.runs.outcome import outcome

BLANK = CellRow(
    **dict.fromkeys(CellRow.__slots__, 0)
    | {"cell": Cell("exam", "late", "multiple_choice", "letters", "circular", "")}
)


def cell(model: str, right: int, n: int = 50, **of: str) -> CellRow:
    made = replace(BLANK.cell, model=model, **of)
    return replace(BLANK, cell=made, done=4 * n, origin_n=n, origin_credit=right)


def test_models_stand_with_their_accuracy_and_rules_are_left_out():
    cells = [cell("early", 23), cell("always-A", 50), cell("late", 33)]
    told = outcome(messages("en"), cells, {"always-A"})
    assert told == "As written: late 66 %, early 46 %"
    assert outcome(messages("zh"), cells, {"always-A"}) == "原顺序：late 66 %、early 46 %"


def test_of_several_datasets_and_modes_the_first_counts():
    cells = [
        cell("late", 33),
        cell("late", 10, dataset="other"),
        cell("late", 20, label="cloze"),
    ]
    assert outcome(messages("en"), cells, ()) == "As written: late 66 %"


def test_in_the_files_own_order_nothing_is_added():
    assert outcome(messages("en"), [cell("late", 33, pattern="origin")], ()) == "late 66 %"


def test_rules_alone_are_shown_and_of_many_models_three():
    assert outcome(messages("en"), [cell("always-A", 13)], {"always-A"}).endswith("always-A 26 %")
    many = [cell(f"m{n}", n) for n in range(5)]
    assert outcome(messages("en"), many, ()).endswith("m4 8 %, m3 6 %, m2 4 % and 2 more")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["answers", "verdicts"], "200 verdicts"),
        (["answers"], "200 answers"),
    ],
)
def test_without_options_answers_or_verdicts_are_counted(given: list[str], told: str):
    cells = [cell("late", 0, gives=gives) for gives in given]
    assert outcome(messages("en"), cells, ()) == told


def test_a_run_that_could_ask_nothing_has_no_outcome():
    assert outcome(messages("en"), [cell("late", 0, 0)], ()) == ""
