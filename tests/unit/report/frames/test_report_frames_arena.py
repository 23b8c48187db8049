"""Frames of judges: one arena, a panel, and what was not judged yet."""

import pandas as pd
import pytest
from open_examples import judge_result, judged_run

from evalui.report.compile import compile_report
from evalui.report.frames.run import Frames
from evalui.types import Outcome


def _half(number: int, first: str, second: str) -> Outcome | None:
    """Unreadable on odd questions; else `late` wins."""
    if number % 2:
        return None
    return "a" if first == "late" else "b" if second == "late" else "neither"


@pytest.fixture(scope="module")
def frames() -> Frames:
    return compile_report("Run", judged_run()).frames


def test_standings_have_a_row_per_model_the_best_first(frames: Frames):
    frame = frames["standings"]
    assert frame["model"].tolist() == ["late", "early", "weak"]
    assert frame["place"].tolist() == [1, 2, 3]
    late = frame.iloc[0]
    counts = ("win", "both", "neither", "contradicted", "lose")
    assert sum(late[name] for name in counts) == late["n"] == 48
    assert late["both"] + late["neither"] + late["contradicted"] == late["tie"]
    assert late["opencompass_n"] == late["n"] - late["contradicted"] == 42
    assert late["opencompass_score"] == 3 * late["win"] + late["both"] - 3 * late["lose"]
    assert late["win_percent"] == pytest.approx(100 * late["win"] / 48)
    assert late["elo_low"] < late["elo"] < late["elo_high"]
    assert late["bradley_terry_low"] < late["bradley_terry"] < late["bradley_terry_high"]


def test_dimensions_add_up_to_overall(frames: Frames):
    frame = frames["dimensions"]
    late = frame[frame["model"] == "late"].set_index("dimension")
    for part in (["CN", "EN"], ["common", "creation", "reasoning"]):
        assert late.loc[part, "n"].sum() == late.loc["Overall", "n"] == 48


def test_the_win_matrix_has_both_sides_of_each_pair(frames: Frames):
    frame = frames["win_matrix"].set_index(["model", "against"])
    assert len(frame) == 6
    both = frame.loc[("late", "weak"), "share_of_points"]
    assert both + frame.loc[("weak", "late"), "share_of_points"] == pytest.approx(100)
    assert frame.loc[("late", "weak"), "battles"] == 24
    assert frame.loc[("late", "weak"), "questions"] == 12


def test_reliability_has_a_row_even_before_the_first_verdict():
    (row,) = compile_report("", [judge_result(done=0)]).frames["reliability"].to_dict("records")
    assert (row["judge"], row["showings"], row["planned"]) == ("judge-local", 0, 72)
    assert pd.isna(row["changed_with_order"])
    assert pd.isna(row["lead"])


def test_what_cannot_be_read_and_who_never_lost_is_said():
    frames = compile_report("", [judge_result(decide=_half)]).frames
    (row,) = frames["reliability"].to_dict("records")
    assert (row["showings"], row["planned"], row["battles"]) == (72, 72, 36)
    assert (row["presentations"], row["extracted"], row["extraction_rate"]) == (72, 36, 50)
    assert (row["unreadable"], row["unreadable_n"]) == (50, 72)
    assert (row["changed_with_order"], row["ordered_by"]) == (0, "elo")
    assert not row["finite"]
    assert row["unbeaten"] == "late"
    assert row["components"] == "late; early, weak"
    first = frames["standings"].iloc[0]
    assert (first["model"], first["win"], first["n"]) == ("late", 24, 24)
    shares = [first[f"{name}_percent"] for name in ("win", "tie", "lose", "not_bad")]
    assert shares == [100, 0, 0, 100]
    assert frames["standings"]["bradley_terry"].isna().all()
    # English questions have odd numbers: none could be read.
    assert "EN" not in set(frames["dimensions"]["dimension"])


def test_a_duel_shows_both_answers_and_both_orders(frames: Frames):
    frame = frames["duels"].set_index(["id", "model_a", "model_b"])
    assert len(frame) == 36
    row = frame.loc[("en-5", "late", "weak")]
    # Here the judge takes what it sees first.
    assert (row["a_first"], row["b_first"], row["counts_as"]) == ("model_a", "model_b", "tie")
    assert row["flipped"]
    assert row["answer_a"].startswith("- 第 5 点")
    assert row["answer_b"] == "OK."
    assert row["capability"] == "reasoning"


def test_each_showing_is_a_verdict_readable_or_not():
    frame = compile_report("", [judge_result(decide=_half, injected=(1,))]).frames["verdicts"]
    assert len(frame) == 72
    assert frame["winner"].isna().sum() == 36
    assert set(frame[frame["winner"].isna()]["rule"]) == {"unparsed"}
    assert frame[frame["injected"]]["question"].tolist() == ["en-1"] * 6


def test_verdicts_of_a_panel_are_those_of_its_judges():
    frames = compile_report("", judged_run(judges=("one", "two"))).frames
    assert len(frames["verdicts"]) == 2 * 72
    assert set(frames["verdicts"]["judge"]) == {"one", "two"}
    panel = frames["reliability"].set_index("judge").loc["panel"]
    assert panel["judges"] == "one, two"
    assert (panel["agreement"], panel["agreement_n"]) == (100, 36)


def test_every_row_is_signed(frames: Frames):
    for name in ("standings", "dimensions", "win_matrix", "reliability", "duels", "verdicts"):
        assert frames[name].columns[-1] == "signature"
        assert frames[name]["signature"].str.len().min() > 0
