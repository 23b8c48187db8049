import math

import pandas as pd
import pytest
from bias_examples import calibrated, cell_result, decided, fond, right, with_probabilities

from evalui.report.compile import compile_report
from evalui.report.frames import choices
from evalui.report.frames.run import KINDS, Frames

_SUBJECTS = {
    "q0": {"subject": "law", "subject_zh": "法学", "file": "law_val.csv", "line": "2"},
    "q1": {"subject": "art"},
    "q2": {"subject": "art"},
}
_OF_CELLS = ("overview", "readings", "rules", "groups", "positions", "confusion", "bias")


@pytest.fixture
def frames(make_result) -> Frames:
    """Of a cell: q0 right in every order, q1 always A, q2 unreadable at first."""
    picks = {"q0": "right", "q1": [0, 0, 0, 0], "q2": [None, 0, 0, 0]}
    return _frames(make_result(picks, subjects=_SUBJECTS, mass=0.5))


@pytest.fixture(scope="module")
def biased() -> Frames:
    """Of two models with 120 questions: one takes A too often, with probabilities; one is right."""
    return _frames(
        with_probabilities(cell_result(fond, model="fond")), cell_result(right, model="right")
    )


def _frames(*results) -> Frames:
    return compile_report("Run", results).frames


def test_a_run_without_cells_has_every_frame_with_its_columns():
    for name, frame in _frames().items():
        assert frame.empty
        assert frame.columns.tolist() == [*KINDS[name].columns]
        assert frame.dtypes.astype("str").tolist() == [
            column.dtype for column in KINDS[name].columns.values()
        ]


@pytest.mark.parametrize("name", _OF_CELLS)
def test_every_row_ends_with_its_signature(frames, name):
    assert frames[name].columns[-1] == "signature"
    assert set(frames[name]["signature"]) == {"d@1|mode:generation|model:m"}


def test_a_frame_is_made_once(frames):
    assert frames["overview"] is frames["overview"]


def test_a_report_has_the_same_frames_in_each_language(make_result):
    report = compile_report("Run", [make_result({"q0": "right"})])
    chinese = report.in_language("zh").in_language("zh")
    assert chinese.frames is report.frames
    assert compile_report("Run", ()).frames is not report.frames


def test_the_overview_has_a_row_per_cell_with_shares_in_per_cent(frames):
    (row,) = frames["overview"].to_dict("records")
    assert row["acc_origin"] == pytest.approx(100 / 3)
    assert row["robust"] == pytest.approx(100 / 3)
    assert row["acc_origin_low"] < row["acc_origin"] < row["acc_origin_high"]
    assert (row["n"], row["trials"], row["unreadable"], row["chance"]) == (3, 12, 1, 25)
    assert row["label_mass_q05"] == row["label_mass_q95"] == 0.5
    assert row["label_mass_trials"] == row["mean_over_orders_trials"] == 12


def test_counts_stay_whole_numbers(frames):
    kinds = frames["overview"].dtypes.astype("str")
    assert kinds["tied"] == kinds["unreadable"] == kinds["n"] == "Int64"
    assert kinds["acc_origin"] == "float64"


def test_the_overview_has_opencompass_figures_by_their_names(make_result):
    report = compile_report("Run", [make_result({"q0": "right", "q1": [0, 0, 0, 0]})])
    (row,) = report.frames["overview"].to_dict("records")
    for name, value in report.summaries[0].metrics.items():
        assert row[name] == pytest.approx(value)


def test_a_cell_without_answers_is_a_row_without_figures(make_result):
    late = make_result({}, model="late", state="failed", error="Out of memory.")
    frame = _frames(late, make_result({"q0": "right"}))["overview"]
    assert frame.loc[0, "error"] == "Out of memory."
    assert pd.isna(frame.loc[0, "acc_origin"])
    assert frame.columns[-2:].tolist() == ["error", "signature"]


def test_each_rule_of_reading_has_its_accuracy(frames):
    frame = frames["readings"].set_index("reading")
    assert frame.loc["tolerant", "accuracy"] == pytest.approx(100 / 3)
    assert frame.loc["tolerant", "unreadable"] == pytest.approx(100 / 3)
    assert frames["rules"]["answers"].sum() == 3 * len(frame)


def test_groups_have_both_means_and_say_which(frames):
    frame = frames["groups"].set_index(["kind", "group", "mean"])
    assert frame.loc[("subject", "law", ""), "acc_origin"] == 100
    assert frame.loc[("subject", "law", ""), "group_zh"] == "法学"
    assert frame.loc[("all", "all", "micro"), "acc_origin"] == pytest.approx(100 / 3)
    assert frame.loc[("all", "all", "macro"), "acc_origin"] == pytest.approx(50)
    assert pd.isna(frame.loc[("all", "all", "macro"), "acc_origin_low"])


def test_groups_have_their_loss_with_order(frames):
    frame = frames["groups"].set_index(["group", "mean"])
    # Of art, q1 is right as written alone, or never; q2 is unreadable as written.
    art = frame.loc[("art", "")]
    assert art["order_sensitivity_low"] <= art["order_sensitivity"] <= art["order_sensitivity_high"]
    assert art["order_sensitivity_n"] == 2
    assert pd.isna(frame.loc[("all", "macro"), "order_sensitivity"])


def test_positions_have_a_row_per_slot(frames):
    frame = frames["positions"].set_index("slot")
    # Each question stands once in each slot; in A all are found but the unreadable one.
    assert frame.loc["A", "recall"] == pytest.approx(100)
    assert frame.loc["B", "recall"] == pytest.approx(100 / 3)
    assert frame["picks"].sum() == 11
    assert frame["gold"].sum() == 3
    assert frame.loc["A", "share_of_picks"] == pytest.approx(100 * 8 / 11)


def test_confusion_counts_every_trial_once(frames):
    frame = frames["confusion"]
    assert frame["trials"].sum() == 12
    cell = frame[(frame["gold"] == "C") & (frame["picked"] == "unreadable")]
    assert cell["trials"].tolist() == [1]
    assert frame.groupby("gold", observed=True)["share"].sum().tolist() == pytest.approx([100] * 4)


def test_confusion_takes_the_orders_of_a_question_for_one(biased):
    frame = biased["confusion"].set_index(["model", "gold", "picked"])
    square = frame.loc[("right", "A", "A")]
    assert (square["trials"], square["answers"], square["questions"]) == (120, 120, 120)
    assert square["share_low"] < 97 < square["share"] == 100


def test_bias_has_a_row_per_cell_and_number_of_options(biased):
    frame = biased["bias"]
    assert frame["permutation_p"].tolist() == pytest.approx([0.0, 1.0])
    assert frame.loc[0, "light_p"] == 2 * frame.loc[0, "permutation_p"]  # corrected for two
    assert frame["content_pairs"].tolist() == pytest.approx([50, 100])
    assert frame["pride_after"].notna().tolist() == [True, False]
    assert frame["light"].tolist() == ["red", "green"]
    assert (frame["rstd_low"] <= frame["rstd"]).all()
    assert (frame["ckld_smoothed"] <= frame["ckld_smoothed_high"]).all()


def test_an_infinite_divergence_is_missing_and_said(make_result):
    frame = _frames(make_result({f"q{i}": [0, 0, 0, 0] for i in range(3)}))["bias"]
    assert frame["ckld_infinite"].tolist() == [True]
    assert pd.isna(frame.loc[0, "ckld"])
    assert math.isfinite(frame.loc[0, "ckld_smoothed"])
    assert frame.loc[0, "never_chosen"] == "B C D"


def test_consistency_has_a_row_per_square_of_the_grid(biased):
    frame = biased["consistency"].set_index(["model", "same_position", "same_option"])
    assert frame.loc[("right", 1, 4), "questions"] == 120
    assert frame.loc[("right", 1, 4), "share"] == 100
    assert frame["questions"].groupby("model", observed=True).sum().tolist() == [120, 120]


def test_priors_are_prides_where_there_are_probabilities(biased):
    frame = biased["priors"].set_index(["model", "slot"])
    assert set(frame.loc["fond", "origin"]) == {"prior"}
    assert set(frame.loc["right", "origin"]) == {"picks"}
    assert frame.loc["fond", "share"].sum() == pytest.approx(100)
    assert frame.loc[("fond", "A"), "share"] > 25 == frame.loc[("right", "A"), "share"]
    assert frame.loc["fond", "mass"].notna().all()
    assert frame.loc["right", "mass"].isna().all()


def test_calibration_has_a_row_per_bin_of_cells_with_probabilities(biased):
    frame = biased["calibration"]
    assert set(frame["model"]) == {"fond"}
    assert frame["n"].sum() == 120
    empty = frame[frame["n"] == 0]
    assert empty["accuracy"].isna().all()
    assert (frame["from"].iloc[0], frame["to"].iloc[-1]) == (0, 1)


def test_each_figure_of_calibration_stands_beside_what_chance_gives(biased):
    frame = biased["calibration_figures"].set_index("figure")
    assert list(frame.index) == ["ece", "brier", "nll", "aurc"]
    assert set(frame["n"]) == {120}
    for name in frame.index:
        low, high = frame.loc[name, ["floor_low", "floor_high"]]
        value = frame.loc[name, "value"]
        assert low < frame.loc[name, "floor"] < high
        assert frame.loc[name, "value_low"] <= value <= frame.loc[name, "value_high"]
        assert frame.loc[name, "shows_something"] == (not low <= value <= high)


@pytest.fixture(scope="module")
def deciding() -> Frames:
    return _frames(decided(calibrated, n=400))


def test_figures_of_a_calibrated_model_show_nothing(deciding):
    assert not deciding["calibration_figures"]["shows_something"].any()


def test_risk_falls_with_coverage_and_ends_at_all_questions(deciding):
    frame = deciding["risk_coverage"]
    assert frame["coverage"].is_monotonic_increasing
    assert frame["threshold"].is_monotonic_decreasing
    assert (frame["coverage"].iloc[-1], frame["n"].iloc[-1]) == (100, 400)
    assert (frame["right_low"] <= frame["right"]).all()


def test_a_threshold_is_chosen_on_one_half_and_checked_on_the_other(deciding):
    frame = deciding["thresholds"].set_index("goal")
    assert list(frame.index) == [90, 95, 99]
    assert (frame["n_choosing"] + frame["n_checking"]).tolist() == [400] * 3
    row = frame.loc[95]
    assert (row["threshold"], row["coverage"], row["acted_on"]) == (pytest.approx(0.9), 22.5, 45)
    assert row["right_low"] < row["right"] == pytest.approx(100 * 42 / 45)


def test_gates_have_a_row_each_of_several_orders(deciding):
    frame = deciding["gates"]
    assert frame["gate"].tolist() == [0.8, 0.9]
    assert frame["acted_on"].tolist() == [160, 80]
    assert frame["same"].tolist() == frame["passed"].tolist() == [100, 100]
    assert frame["passed_right"].tolist() == frame["right"].tolist()


def test_decisions_are_counted_in_a_row_of_their_cell(deciding, biased):
    (row,) = deciding["decisions"].to_dict("records")
    assert (row["n"], row["refused"], row["missing"], row["no_sum"]) == (1600, 0, 0, 0)
    assert biased["decisions"].empty


def test_pairs_have_a_row_each_with_both_signatures():
    frames = _frames(*(cell_result(pick, model=name) for name, pick in (("a", right), ("b", fond))))
    (row,) = frames["pairs"].to_dict("records")
    assert (row["first"], row["second"], row["measure"]) == ("a", "b", "robust")
    assert row["points"] == pytest.approx(50)
    assert row["points_low"] < 50 < row["points_high"]
    assert row["mcnemar_first_only"] == 60
    assert row["signature_second"].endswith("model:b")
    places = frames["ranks"].set_index("model")
    assert places["band"].tolist() == [1, 2]
    assert places["value"].tolist() == pytest.approx([100, 50])


def test_cells_that_cannot_be_compared_say_what_differs():
    one = cell_result(right, model="a", signature="d@1|mode:generation|prompt:p|n:120|model:a")
    other = cell_result(right, model="b", signature="d@1|mode:generation|prompt:q|n:120|model:b")
    frames = _frames(one, other)
    (row,) = frames["incomparable"].to_dict("records")
    assert (row["first"], row["second"], row["differs"]) == ("a", "b", "prompt")
    assert frames["pairs"].empty
    assert frames["ranks"].empty


def test_a_baseline_has_no_place():
    results = [cell_result(right, model="a"), cell_result(fond, model="b")]
    frame = compile_report("Run", results, baselines=frozenset({"b"})).frames["ranks"]
    assert dict(zip(frame["model"], frame["unranked"], strict=True)) == {"b": "baseline"}


def test_one_model_has_no_row_of_pairs(frames):
    assert frames["pairs"].empty


def test_every_column_says_what_it_means():
    for columns in (kind.columns for kind in KINDS.values()):
        assert all(column.meaning for column in columns.values())
    assert choices.POSITIONS["light"].dtype == "category"
