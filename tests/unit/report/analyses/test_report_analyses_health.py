"""Dataset health: what the questions give away, with and without a model."""

from dataclasses import replace

import pytest

from evalui.datasets.health import check_choices
from evalui.report.analyses.health import baseline_blocks, health_blocks, health_findings
from evalui.report.analyses.verdict import with_question
from evalui.report.blocks import (
    BarCell,
    Block,
    Card,
    Details,
    Headline,
    Markers,
    Notes,
    StateCell,
    Table,
    TableCell,
)
from evalui.report.render.text import cell_text
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import Cell, CellResult, Reading, Sample, Trial, Variant

MARKERS = Markers(("small",))


def samples(n: int, *, subjects: int = 1, right: str = "wxyz", gold: int | None = None):
    """Questions whose right answers take turns over four equally long options."""
    return [
        Sample(
            str(i),
            f"Question {i}?",
            tuple(right),
            i % 4 if gold is None else gold,
            {"subject": f"s{i % subjects}"},
        )
        for i in range(n)
    ]


def summary(mode: str, right: int, n: int, *, without: str = "") -> Summary:
    """A cell that got the first `right` of `n` questions, whose answers take turns."""
    trials = tuple(
        Trial(
            sample_id=str(place),
            variant=Variant((0, 1, 2, 3)),
            target=place % 4,
            headline="forced",
            readings={"forced": reading(place, is_right=place < right)},
        )
        for place in range(n)
    )
    cell = Cell("colours", "small", mode, mode, "origin", f"colours|n:{n}{without}|model:small")
    return summarise(CellResult(cell, {each.id: each for each in samples(n)}, trials, n))


def reading(place: int, *, is_right: bool) -> Reading:
    return Reading(place % 4 if is_right else (place + 1) % 4, float(is_right), "forced")


def blind(right: int, whole: int, n: int = 200) -> Details:
    cells = [summary("multiple_choice", whole, n), summary("choices_only", right, n)]
    (section,) = baseline_blocks(cells, "colours", samples(4), "en", markers=MARKERS)
    assert isinstance(section, Details)
    return section


def row(section: Details) -> tuple[TableCell, ...]:
    table = next(block for block in section.blocks if isinstance(block, Table))
    return table.rows[0]


def headline(blocks: list[Block]) -> Headline:
    assert isinstance(blocks[0], Headline)
    return blocks[0]


def figures(blocks: list[Block]) -> dict[str, TableCell]:
    (card,) = (block for block in blocks if isinstance(block, Card))
    (table,) = card.blocks
    assert isinstance(table, Table)
    return {cell_text(name): value for name, value in table.rows}


def test_that_all_is_well_is_said_in_words():
    assert headline(health_blocks(samples(80), "en")) == Headline(
        "Answers balanced over A–D, no duplicates.",
        "80 questions, as this run asked them.",
        kind="ok",
    )
    assert headline(health_blocks(samples(80), "zh")).text == "答案在 A–D 间分布均衡，无重复题。"


def test_the_worst_finding_comes_first_and_there_are_at_most_two():
    told = [*samples(80, gold=0), *samples(1, gold=0)]
    kind, findings = health_findings(check_choices(told), "en")
    assert kind == "warn"
    assert findings == (
        "Always answering A would score 100.0 %.",
        "1 question is a duplicate.",
    )


def test_a_longest_option_that_is_right_gives_it_away():
    told = [Sample(str(i), f"Q {i}", ("a", "b", "longer", "d"), 2) for i in range(80)]
    shown = headline(health_blocks(told, "en"))
    assert shown.text == "Always picking the longest option would score 100.0 %."
    assert shown.support.startswith("Always answering C would score 100.0 %.")
    assert shown.kind == "warn"


def test_duplicates_are_counted():
    told = [*samples(80), Sample("twin", "Question 0?", ("w", "x", "y", "z"), 0)]
    assert headline(health_blocks(told, "en")).text == "1 question is a duplicate."
    shown = figures(health_blocks(told, "en"))["Duplicate questions"]
    assert shown == StateCell("warn", "1")


def test_each_letter_has_its_bar_and_its_count():
    section = next(b for b in health_blocks(samples(81), "en") if isinstance(b, Details))
    assert section.name == "Right answers per letter"
    assert section.finding == "Balanced (p = 1.00)."
    (table,) = section.blocks
    assert isinstance(table, Table)
    assert [cell_text(each[0]) for each in table.rows] == list("ABCD")
    assert table.rows[0][1] == BarCell(1.0, "21")
    assert table.rows[1][1] == BarCell(20 / 21, "20")


def test_the_figures_need_no_model():
    shown = {
        name: cell_text(value) for name, value in figures(health_blocks(samples(80), "en")).items()
    }
    assert shown["Usable questions"] == "80"
    assert shown["Always A scores"] == "25 %"
    assert shown["Always the longest option scores"] == "25 % (17–35): guessing 25 %"
    assert shown["Question length, shortest – median – longest"] == "11 – 12 – 12"


@pytest.mark.parametrize(
    ("n", "subjects", "finding"),
    [(80, 2, "40 questions each."), (81, 2, "40 to 41 questions each.")],
)
def test_the_subjects_are_listed(n: int, subjects: int, finding: str):
    section = health_blocks(samples(n, subjects=subjects), "en")[-1]
    assert isinstance(section, Details)
    assert (section.name, section.finding) == ("Subjects (2)", finding)


@pytest.mark.parametrize("n", [0, 8])
def test_of_few_questions_no_balance_is_stated(n: int):
    assert headline(health_blocks(samples(n), "en")).text == (
        "No duplicates; too few questions to tell whether answers are balanced."
    )


# ---------------------------------------------------------------- without the question


def test_a_run_with_the_question_only_shows_what_is_missing():
    (section,) = baseline_blocks(
        [summary("multiple_choice", 9, 20)], "colours", samples(20), "en", markers=Markers(())
    )
    assert isinstance(section, Details)
    assert section.finding == "Not tested: no model ran with the options alone."
    assert "Repeat the run with “Options only”" in str(section.blocks)


def test_better_than_guessing_without_the_question_is_reported():
    section = blind(right=90, whole=150)
    assert (section.finding, section.kind) == ("Yes, for small.", "warn")
    assert row(section)[-1] == StateCell("warn", "above guessing")
    notes = section.blocks[-1]
    assert isinstance(notes, Notes)
    assert "45 % right from the options alone" in notes.lines[0].text


def test_guessing_without_the_question_is_no_finding():
    section = blind(right=52, whole=150)
    assert section.finding == "No model does better than guessing."
    assert row(section)[-1] == StateCell("ok", "not above guessing")
    assert not any(isinstance(block, Notes) for block in section.blocks)


def test_what_reading_is_worth_is_paired_by_question():
    worth = cell_text(row(blind(right=90, whole=150))[3])
    assert worth.startswith("30 (")


def test_few_questions_give_no_verdict():
    assert row(blind(right=15, whole=16, n=20))[-1] == StateCell("na", "too few questions to tell")


# ---------------------------------------------------------------- without the pictures


def unseen(*cells: Summary) -> Details:
    asked = [
        replace(each, question=f"<picture:{'0' * 32}>\n{each.question}") for each in samples(4)
    ]
    _, section = baseline_blocks(list(cells), "colours", asked, "en", markers=MARKERS)
    assert isinstance(section, Details)
    return section


def test_what_needs_no_picture_is_compared_with_the_same_mode_that_shows_them():
    section = unseen(
        summary("multiple_choice", 150, 200),
        summary("multiple_choice", 90, 200, without='|pictures:"none"'),
    )
    assert (section.finding, section.kind) == ("Some are, for small.", "warn")
    _, blind, seen, gained, verdict = row(section)
    assert cell_text(blind).startswith("45 %")
    assert cell_text(seen).startswith("75 %")
    assert cell_text(gained).startswith("30 (")
    assert cell_text(verdict) == "above guessing"
    assert "45 % right with the pictures left out" in str(section.blocks)


def test_a_run_that_left_out_no_picture_says_how_to():
    section = unseen(summary("multiple_choice", 150, 200))
    assert section.finding == "Not tested: no model ran with the pictures left out."
    assert "shown, and once more without" in str(section.blocks)


def test_a_baseline_is_no_result_of_its_own():
    seen = summary("multiple_choice", 150, 200)
    blind = summary("multiple_choice", 90, 200, without='|pictures:"none"')
    assert with_question([seen, blind]) == [seen]
