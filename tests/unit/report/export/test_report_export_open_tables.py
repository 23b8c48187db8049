"""Open questions as tables."""

import pandas as pd
import pytest
from export_examples import as_frame, framed
from open_examples import answers_result, judge_result, judged_run, rating_result

from evalui.report.export import open_tables as made
from evalui.scoring.answer_summary import answers
from evalui.scoring.arena.figures import arenas
from evalui.scoring.pairs import compare_answers

answer_pairs, answers_table, dimensions, duels, reliability, standings, verdicts, win_matrix = map(
    framed,
    (
        made.answer_pairs,
        made.answers_table,
        made.dimensions,
        made.duels,
        made.reliability,
        made.standings,
        made.verdicts,
        made.win_matrix,
    ),
)

NAMES = [
    "standings",
    "dimensions",
    "win_matrix",
    "reliability",
    "answers",
    "answer_pairs",
    "duels",
    "verdicts",
]


@pytest.fixture(scope="module")
def run():
    results = [*judged_run(), rating_result({"late": [9, None], "weak": [2, 3]})]
    pairs = compare_answers(results, "rouge-l-f")
    return results, answers(results), pairs, arenas(results)


@pytest.fixture(scope="module")
def frames(run) -> dict[str, pd.DataFrame]:
    _, answered, pairs, judged = run
    tables = made.open_tables(answered, pairs, judged)
    return {name: as_frame(table) for name, table in tables.items()}


def test_every_table_is_named_filled_and_signed(frames):
    assert list(frames) == NAMES
    for frame in frames.values():
        assert len(frame)
        assert frame.columns[-1] == "signature"
        assert frame["signature"].str.len().min() > 0


def test_standings_have_a_row_per_model_the_best_first(run):
    *_, judged = run
    frame = standings(judged)
    assert frame["model"].tolist() == ["late", "early", "weak"]
    assert frame["place"].tolist() == [1, 2, 3]
    late = frame.iloc[0]
    counts = ("win", "both", "neither", "contradicted", "lose")
    assert sum(late[name] for name in counts) == late["n"] == 48
    assert late["opencompass_n"] == late["n"] - late["contradicted"] == 42
    assert late["opencompass_score"] == 3 * late["win"] + late["both"] - 3 * late["lose"]
    assert late["win_percent"] == pytest.approx(100 * late["win"] / 48)
    assert late["elo_low"] < late["elo"] < late["elo_high"]
    assert late["bradley_terry_low"] < late["bradley_terry"] < late["bradley_terry_high"]


def test_dimensions_add_up_to_overall(run):
    *_, judged = run
    frame = dimensions(judged)
    late = frame[frame["model"] == "late"].set_index("dimension")
    for part in (["CN", "EN"], ["common", "creation", "reasoning"]):
        assert late.loc[part, "n"].sum() == late.loc["Overall", "n"] == 48


def test_the_win_matrix_has_both_sides_of_each_pair(run):
    *_, judged = run
    frame = win_matrix(judged).set_index(["model", "against"])
    assert len(frame) == 6
    both = frame.loc[("late", "weak"), "share_of_points"]
    assert both + frame.loc[("weak", "late"), "share_of_points"] == pytest.approx(100)
    assert frame.loc[("late", "weak"), "battles"] == 24


def test_reliability_has_a_row_even_before_the_first_verdict():
    frame = reliability(arenas([judge_result(done=0)]))
    row = frame.iloc[0]
    assert (row["judge"], row["showings"], row["planned"]) == ("judge-local", 0, 72)
    assert pd.isna(row["changed_with_order"])
    assert pd.isna(row["lead"])


def test_answers_have_text_figures_and_marks(run):
    _, answered, _, _ = run
    frame = answers_table(answered).set_index("model")
    assert frame.loc["late", "rouge-l-f"] == pytest.approx(90)
    assert frame.loc["late", "rating_by_judge-local"] == 9
    assert frame.loc["late", "rating_by_judge-local_unscored"] == 1
    assert pd.isna(frame.loc["early", "rating_by_judge-local"])


def test_pairs_of_models_have_a_row_per_figure(run):
    _, _, pairs, _ = run
    frame = answer_pairs(pairs)
    assert frame["difference"].tolist() == pytest.approx([20, 40, 20])


def test_a_duel_shows_both_answers_and_both_orders(run):
    *_, judged = run
    frame = duels(judged).set_index(["id", "model_a", "model_b"])
    assert len(frame) == 36
    row = frame.loc[("en-5", "late", "weak")]
    # Here the judge takes what it sees first.
    assert (row["a_first"], row["b_first"], row["counts_as"]) == ("model_a", "model_b", "tie")
    assert row["flipped"]
    assert row["answer_a"].startswith("- 第 5 点")
    assert row["answer_b"] == "OK."
    assert row["capability"] == "reasoning"


def test_verdicts_of_a_panel_are_those_of_its_judges():
    frame = verdicts(arenas(judged_run(judges=("one", "two"))))
    assert len(frame) == 2 * 72
    assert set(frame["judge"]) == {"one", "two"}


def test_a_run_without_open_questions_has_empty_tables():
    assert not any(table.columns for table in made.open_tables((), (), ()).values())


def test_half_done_cells_make_tables():
    results = [answers_result("late", done=0), judge_result(done=1)]
    tables = made.open_tables(answers(results), (), arenas(results))
    frames = {name: as_frame(table) for name, table in tables.items()}
    assert len(frames["standings"]) == 2
    assert len(frames["answers"]) == 1
