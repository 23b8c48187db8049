"""What folds below the lead table: its finding is on its closed line, its tables inside."""

from dataclasses import replace

import pytest
from bias_examples import fond, halting, right
from overview_examples import BASE, EARLY, LATE, RUNS, blind, summary, with_strict

from evalui.report.analyses.groups import by_subject
from evalui.report.analyses.overview import how_sure, section
from evalui.report.analyses.readings import every_rule
from evalui.report.analyses.verdict import DatasetStanding, standings
from evalui.report.blocks import NONE, Heading, ModelCell, Paragraph, Table, ValueCell


def standing(name: str) -> DatasetStanding:
    return standings(RUNS[name], baselines={BASE})[0]


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("winner", "Very: 30 points (22–38), and 240 questions show gaps of 12 or more."),
        ("tie", "Not enough to tell: 240 questions show gaps of 10 points or more."),
        ("tie of many", "The first two are equal on each of 240 questions."),
        ("nobody", "Fairly. With 240 questions a model needs 31 % or more to stand out."),
        ("one model in one order", "240 questions leave a range of 12 points."),
        ("few", "Fairly. The gap is 50 points (17–83), p = .031."),
    ],
)
def test_how_sure_the_verdict_is(name: str, finding: str):
    made = how_sure(standing(name), "en")
    assert made is not None
    assert made[0] == finding


def test_nothing_is_sure_while_answers_are_to_come_or_models_were_not_asked_alike():
    assert how_sure(standing("unfinished"), "en") is None
    assert how_sure(standing("other questions"), "en") is None


def test_the_pairs_stand_with_their_ranges_and_corrected_p_values():
    made = how_sure(standing("winner"), "en")
    assert made is not None
    table, caption = made[1]
    assert isinstance(table, Table)
    assert isinstance(caption, Paragraph)
    assert table.head == ("Pair", "Difference", "Plausible range", "p, corrected", "In words")
    assert [row[0] for row in table.rows] == [
        f"{LATE} over {BASE}",
        f"{EARLY} over {BASE}",
        f"{LATE} over {EARLY}",
    ]
    assert table.rows[2][1:] == (
        ValueCell("+30", "points"),
        "22–38",
        "< .001",
        "a real difference",
    )
    assert caption.text.startswith(
        "Robust accuracy, paired on the same 240 questions, Holm over 3 pairs."
    )


def test_the_test_decides_on_few_questions_too():
    made = how_sure(standing("few"), "en")
    assert made is not None
    table = made[1][0]
    assert isinstance(table, Table)
    assert table.rows[0][3:] == (".031", "a real difference")


def test_subjects_are_counted_by_the_figure_that_ranks():
    made = by_subject(standing("winner"), "en")
    assert made is not None
    finding, (table, caption) = made
    assert finding == f"{LATE} is ahead in 2 of 4; 60 questions each cannot rank one."
    assert isinstance(table, Table)
    assert isinstance(caption, Paragraph)
    assert table.head == ("Subject", "n", LATE, EARLY, BASE)
    assert [row[0] for row in table.rows] == [
        "STEM",
        "Other",
        "All subjects",
        "s0",
        "s1",
        "s2",
        "s3",
    ]
    # The even subjects are those that are lost with the order.
    assert [row[3].value for row in table.rows[3:]] == ["0.0", "100.0", "0.0", "100.0"]
    assert table.rows[2][3] == ValueCell("50", "%", "44–56", "mean over subjects 50.0")
    assert caption.text == "Right in every order, with its plausible range."


def test_one_model_that_is_alike_in_all_subjects_has_one_figure():
    cells = [summary(halting(5), LATE, subjects=3, pattern="origin")]
    made = by_subject(standings(cells)[0], "en")
    assert made is not None
    assert made[0] == "80 % in each of 3 subjects."
    assert by_subject(standing("tie"), "en") is None


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


def test_of_several_datasets_each_has_its_tables_under_its_name():
    both = standings(RUNS["two datasets"], baselines={BASE})
    made = section("how-sure", how_sure, both, "en", kind="sure")
    assert made is not None
    assert made.finding == "The first place is certain on 2 of 2 datasets."
    heads = [block.text for block in made.blocks if isinstance(block, Heading)]
    assert heads == ["ceval", "cmmlu"]


def test_what_has_nothing_to_say_is_no_section():
    assert section("by-subject", by_subject, [standing("tie")], "en", kind="subjects") is None


def test_one_model_has_its_best_and_its_worst_subject():
    cells = [summary(halting(7), LATE, subjects=3, pattern="origin")]
    made = by_subject(standings(cells)[0], "en")
    assert made is not None
    assert made[0].startswith("From ")


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


def test_a_finding_on_subjects_looks_at_every_model():
    def weak(question: int, order: int, target: int) -> int:
        del order
        lost = question % 3 == 0 and question // 3 % 5 < 3
        return (target + lost) % 4

    cells = [summary(pick, m, subjects=3) for pick, m in ((halting(5), LATE), (weak, EARLY))]
    made = by_subject(standings(cells)[0], "en")
    assert made is not None
    assert made[0].startswith("From 40 % (s0) to 100")
