"""Every reading of every mode in one table, and what the rules change."""

from dataclasses import replace

from bias_examples import as_sure, decided, fond, halting, right
from overview_examples import BASE, EARLY, LATE, RUNS, blind, summary, with_strict

from evalui.report.analyses.readings import every_rule
from evalui.report.analyses.verdict import DatasetStanding, standings
from evalui.report.blocks import NONE, ModelCell, Table, ValueCell
from evalui.scoring.cell_summary import summarise
from evalui.types import Decision


def standing(name: str) -> DatasetStanding:
    return standings(RUNS[name], baselines={BASE})[0]


def test_each_rule_reads_the_same_answers():
    made = every_rule(standing("with rules"), "en")
    assert made is not None
    finding, (table, _) = made
    assert (
        finding == "Another order under “exactly one letter”; accuracy moves by up to 100 points."
    )
    assert isinstance(table, Table)
    assert table.head == ("Model", "tolerant reading (headline)", "exactly one letter")
    assert table.rows[0][2] == ValueCell("0.0", "%", "0.0–0.0", "100.0 % unreadable")
    assert table.rows[1][2] == ValueCell("100.0", "%", "100.0–100.0")


def test_every_reading_of_every_mode_stands_in_one_table_of_a_dataset():
    cloze = [summary(right, model, mode="cloze") for model in (LATE, "third")]
    read = [with_strict(each, 0.5) for each in (summary(right, LATE), summary(fond, EARLY))]
    made = every_rule(standings([*read, *cloze])[0], "en")
    assert made is not None
    _, (table, _) = made
    assert isinstance(table, Table)
    assert [(column.group, column.head) for column in table.columns] == [
        ("", "Model"),
        ("Multiple choice, reply", "tolerant reading (headline)"),
        ("Multiple choice, reply", "exactly one letter"),
        ("Cloze", "tolerant reading (headline)"),
    ]
    rows = {row[0].name: row[1:] for row in table.rows if isinstance(row[0], ModelCell)}
    assert sorted(rows) == sorted((LATE, EARLY, "third"))
    assert [cell == NONE for cell in rows[EARLY]] == [False, False, True]
    assert [cell == NONE for cell in rows["third"]] == [True, True, False]


def test_a_finding_on_rules_looks_at_every_mode_of_its_fold():
    replies = [with_strict(each, 0.25) for each in RUNS["nobody"]]
    cloze = [
        with_strict(summary(blind(shift), model, mode="cloze"), share)
        for shift, (model, share) in enumerate(((LATE, 0.25), (EARLY, 0.5)))
    ]
    made = every_rule(standings([*replies, *cloze], baselines={BASE})[0], "en")
    assert made is not None
    assert made[0] == f"Under “exactly one letter” {EARLY} beats guessing."

    level = [with_strict(summary(halting(n), m), 0.8) for n, m in ((5, LATE), (6, EARLY))]
    moved = [
        with_strict(summary(halting(n), m, mode="cloze"), 0.8) for n, m in ((2, LATE), (3, EARLY))
    ]
    made = every_rule(standings([*level, *moved])[0], "en")
    assert made is not None
    assert made[0].endswith("modes; no accuracy moves by more than 30 points.")
    same = [with_strict(summary(halting(n), m), 1 - 1 / n) for n, m in ((3, LATE), (2, EARLY))]
    both = [replace(each, cell=replace(each.cell, mode="cloze", label="cloze")) for each in same]
    made = every_rule(standings([*same, *both])[0], "en")
    assert made is not None
    assert made[0] == "Same order under all rules of each of 2 modes; no accuracy moves."


def test_a_finding_says_that_scripts_are_not_counted_where_they_would_change_it():
    cells = [with_strict(each, 1.0 if each.cell.model == BASE else 0.25) for each in RUNS["nobody"]]
    made = every_rule(standings(cells, baselines={BASE})[0], "en")
    assert made is not None
    assert made[0] == "No rule lifts a model above guessing. Scripted models are not counted."


def test_a_decision_is_read_by_its_probabilities_and_by_the_option_it_names():
    def at_odds(question: int, order: int, target: int) -> Decision:
        del order
        named = target if question % 2 else (target + 1) % 4
        return replace(as_sure(0.7, target), choice=named)

    made = every_rule(standings([summarise(decided(at_odds))])[0], "en")
    assert made is not None
    finding, (table, _) = made
    assert finding == "Accuracy moves by at most 50 points."
    assert isinstance(table, Table)
    assert table.head == ("Model", "most probable option (headline)", "option it named")
    assert {column.group for column in table.columns[1:]} == {"Multiple choice, decisions"}
