"""A gate over cells: what is paired, what it says, and its JUnit file."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from evalui.errors import SpecError
from evalui.report.gate import exit_code, junit_xml, run_gate
from evalui.types import Cell, CellResult, Reading, Sample, Trial, Variant

CHOICES = ("red", "green")


def cell_of(model: str, right: list[bool], *, dataset: str = "colours") -> CellResult:
    """A cell that is right or wrong on each question, in the order as written."""
    samples = {f"q{n}": Sample(f"q{n}", f"Which, {n}?", CHOICES, 0) for n in range(len(right))}
    trials = [
        Trial(name, Variant((0, 1)), 0, "tolerant", {"tolerant": reading(own), "strict": STRICT})
        for name, own in zip(samples, right, strict=True)
    ]
    cell = Cell(dataset, model, "generation", "generation", "origin", f"{dataset}@1|model:{model}")
    return CellResult(cell, samples, trials, len(trials))


def reading(right: bool) -> Reading:
    return Reading(0 if right else 1, float(right), "letter")


STRICT = Reading(None, 0.0, "not-a-letter")


def test_a_candidate_that_is_worse_fails():
    before, after = cell_of("old", [True] * 100), cell_of("new", [False] * 30 + [True] * 70)
    (check,) = run_gate([before], [after], "accuracy", 5)
    assert check.test.decision == "worse"
    assert check.text.startswith("worse: new on colours: accuracy −30.00 points against old")
    assert exit_code([check]) == 1


def test_too_few_questions_are_no_pass_and_say_how_many_would_do():
    checks = run_gate([cell_of("old", [True] * 20)], [cell_of("new", [True] * 20)], "accuracy", 2)
    assert exit_code(checks) == 3
    assert "About 189 questions would tell" in checks[0].text


def test_the_worst_check_decides():
    same = [True] * 400
    before = [cell_of("old", same), cell_of("old", same, dataset="shapes")]
    after = [cell_of("new", same), cell_of("new", [False] * 400, dataset="shapes")]
    checks = run_gate(before, after, "accuracy", 2)
    assert [check.test.decision for check in checks] == ["pass", "worse"]
    assert exit_code(checks) == 1
    assert exit_code(checks[:1]) == 0


def test_a_reading_is_a_metric():
    before, after = cell_of("old", [True] * 200), cell_of("new", [False] * 200)
    (check,) = run_gate([before], [after], "strict", 2)
    assert (check.test.decision, check.test.difference) == ("pass", 0.0)


def test_only_the_same_questions_are_paired_and_the_others_are_counted():
    before, after = cell_of("old", [True] * 10), cell_of("new", [True] * 12)
    changed = replace(after.samples["q3"], question="Another?")
    after = replace(after, samples={**after.samples, "q3": changed})
    (check,) = run_gate([before], [after], "accuracy", 50)
    assert (check.test.n, check.unpaired) == (9, 3)
    assert "Questions that only one of them has: 3." in check.text


@pytest.mark.parametrize(
    ("after", "metric", "words"),
    [
        ([cell_of("new", [True], dataset="other")], "accuracy", "No dataset was answered"),
        ([cell_of("new", [True])], "rouge-l-f", "What they have: accuracy, tolerant, strict"),
        ([cell_of("a", [True]), cell_of("b", [True])], "accuracy", "--candidate-model"),
    ],
)
def test_what_cannot_be_compared_says_why(after: list[CellResult], metric: str, words: str):
    with pytest.raises(SpecError, match=words):
        run_gate([cell_of("old", [True])], after, metric, 2)


def test_the_junit_file_has_a_case_for_each_check():
    before = cell_of("old", [True] * 100)
    checks = [
        *run_gate([before], [cell_of("new", [False] * 100)], "accuracy", 5),
        *run_gate([before], [before], "accuracy", 1),
        *run_gate([before], [before], "accuracy", 10),
    ]
    (suite,) = ElementTree.fromstring(junit_xml(checks))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    kinds = [[child.tag for child in case] for case in suite]
    assert kinds == [["failure"], ["error"], []]
    assert suite[0].get("classname") == "colours.generation"


def test_what_differs_in_how_the_two_were_asked_is_named():
    old, new = (
        "colours@1|shots:0|chat:no|prompt:p|temp:0|n:50",
        "colours@2|shots:2|chat:yes|prompt:q|",
    )
    before, after = cell_of("old", [True] * 50), cell_of("new", [True] * 40)
    (check,) = run_gate(
        [replace(before, cell=replace(before.cell, signature=old + "|model:old|evalui:1"))],
        [replace(after, cell=replace(after.cell, signature=new + "temp:0|n:40|model:new@ab"))],
        "accuracy",
        50,
    )
    assert check.text.endswith(" Settings that differ: shots:0/2, chat:no/yes, prompt:p/q.")
    (check,) = run_gate([before], [cell_of("new", [True] * 50)], "accuracy", 50)
    assert "Settings" not in check.text
