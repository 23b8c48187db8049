"""The lead table: ranks, figures, marks, and what stands below each."""

from overview_examples import BASE, EARLY, LATE, RUNS, first, halting, summary

from evalui.report.analyses.metrics import bias_state, picks
from evalui.report.analyses.overview import lead_card, lead_table
from evalui.report.analyses.verdict import DatasetStanding, standings
from evalui.report.axes import Axis
from evalui.report.blocks import ModelCell, Paragraph, PlotCell, StateCell, TextCell, ValueCell
from evalui.types import Language


def standing(name: str) -> DatasetStanding:
    return standings(RUNS[name], baselines={BASE})[0]


def cells(name: str, model: str, language: Language = "en"):
    table = lead_table(standing(name), language)
    heads = [" · ".join(filter(None, (c.group, c.head))) for c in table.columns]
    row = next(row for row in table.rows if ModelCell in map(type, row) and _name(row) == model)
    return dict(zip(heads, row, strict=True))


def _name(row) -> str:
    return next(cell.name for cell in row if isinstance(cell, ModelCell))


GROUP = "Multiple choice, reply, 4 orders"


def test_a_row_has_rank_model_marks_and_the_figure_that_ranks_first():
    row = cells("winner in two modes", LATE)
    assert list(row) == [
        "Rank",
        "Model",
        "Right answers",
        f"{GROUP} · Right in every order",
        f"{GROUP} · As written",
        f"{GROUP} · Position bias",
        "Cloze · Accuracy",
    ]
    assert row["Rank"] == "1"
    assert row[f"{GROUP} · Right in every order"] == ValueCell("80", "%", "74–85", size="lead")
    assert row["Cloze · Accuracy"] == ValueCell("75", "%", "69–80", size="large")


def test_who_has_no_rank_is_told_why_below_its_name():
    row = cells("winner", BASE)
    assert row["Rank"] == "–"
    assert row["Model"] == ModelCell(BASE, 0, True, "no better than guessing")
    assert cells("unreadable", LATE)["Model"].below == "no better than guessing"


def test_a_rank_is_the_range_of_places_that_the_test_allows():
    assert {cells("tie", model)["Rank"] for model in (LATE, EARLY)} == {"1–2"}


def test_a_mode_that_cannot_run_says_so_in_its_cell():
    assert cells("winner in two modes", BASE)["Cloze · Accuracy"] == TextCell(
        "–", "cannot run here"
    )


def test_marks_stand_on_one_axis_with_the_line_of_guessing():
    table = lead_table(standing("winner"), "en")
    column = next(column for column in table.columns if column.axis)
    assert isinstance(column.axis, Axis)
    assert (column.axis.low, column.axis.high) == (0.0, 1.0)
    assert column.rule == (0.25, "guessing 25 %, solid 0.4 %")
    plot = table.rows[1][2]
    assert isinstance(plot, PlotCell)
    assert [(mark.value, mark.hollow) for mark in plot.marks] == [(0.5, False), (1.0, True)]
    assert plot.text == "50 % (44–56) in every order, 100.0 % (98.4–100.0) as written"


def test_where_all_guess_nobody_is_ranked_and_accuracy_comes_first():
    card = lead_card(standing("nobody"), "en")
    assert card.title == "Every plausible range includes the guessing line"
    row = cells("nobody", LATE)
    assert row["Rank"] == "–"
    assert row["Model"].below == ""
    assert row[f"{GROUP} · As written"].size == "lead"


def test_of_few_questions_the_count_stands_in_place_of_the_share():
    shown = cells("few", EARLY)[f"{GROUP} · Right in every order"]
    assert shown == ValueCell("6", "of 12", "25–75 %", size="lead")


def test_the_title_is_a_finding_or_the_neutral_fact():
    assert lead_card(standing("winner"), "en").title == (
        f"{EARLY} loses about 5 in 10 of its right answers when options move"
    )
    assert lead_card(standing("four modes"), "en").title == "Right answers by model"


def test_of_several_datasets_each_has_its_name_and_its_verdict():
    card = lead_card(standing("two datasets"), "en", named="ceval")
    assert card.title == "ceval"
    assert isinstance(card.blocks[0], Paragraph)
    assert card.blocks[0].text.startswith(f"{LATE} wins")


def test_different_numbers_of_questions_stand_in_the_cells():
    shown = cells("other questions", EARLY)[f"{GROUP} · Right in every order"]
    assert shown.below == "n = 200"
    assert lead_card(standing("other questions"), "en").caption.endswith("n = 200 to 240.")


def test_a_cell_at_work_says_how_far_it_is():
    assert cells("unfinished", LATE)["Model"].below == "660 of 960 so far"
    assert "Rank" not in cells("unfinished", LATE)


def test_four_modes_do_not_stand_beside_each_other():
    heads = [column.head for column in lead_table(standing("four modes"), "en").columns]
    assert heads.count("Accuracy") == 1


def test_the_position_bias_has_a_word_and_the_favourite():
    fixed, sound = summary(first, BASE).main_bias, summary(halting(5), LATE).main_bias
    assert fixed is not None
    assert sound is not None
    assert bias_state(fixed, "en") == ("bad", "One position only")
    assert picks(fixed, "en") == "picks A every time"
    assert bias_state(sound, "zh") == ("ok", "未见")
    leaning = cells("some unreadable", EARLY)[f"{GROUP} · Position bias"]
    assert leaning == StateCell("bad", "Clear", "picks A 63 %, fair is 25")
