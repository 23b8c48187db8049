"""Frames of whole runs: cells, metrics, what was left out, imported, spent and kept."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import sleep

import pandas as pd
import pytest
from bias_examples import cell_result, halting, right
from open_examples import judged_run, rating_result

from evalui.models.base import ModelUsage, ReplyCount
from evalui.report.compile import compile_report
from evalui.report.frames.base import FrameColumn, frame, records
from evalui.report.frames.metrics import metric_unit
from evalui.report.frames.run import KINDS, FrameKind
from evalui.types import LeftOut, LogSource, PrintedFigure


def test_cells_say_what_failed(make_result):
    failed = replace(make_result({"q0": "right"}), state="failed", error="The disk is full.")
    made = compile_report("Run", [failed, *judged_run()]).frames["cells"]
    assert made.loc[0, ["state", "error"]].tolist() == ["failed", "The disk is full."]
    assert set(made["mode"]) == {failed.cell.label, "question_answer", "judge"}


def test_who_only_gave_marks_has_a_cell_too():
    results = [*judged_run()[:-1], rating_result({"late": [9, 8]})]
    made = compile_report("Run", results).frames["cells"]
    judge = made[made["mode"] == "judge"]
    assert judge["model"].tolist() == ["judge-local"]
    assert judge["orders"].isna().all()


def test_metrics_stand_cell_by_cell_with_their_groups_and_readings():
    results = [cell_result(halting(3), model="less", n=60, subjects=3), cell_result(right)]
    made = compile_report("Run", results).frames["metrics"]
    less = made[made["model"] == "less"]
    whole = less[less["group"] == ""].set_index("metric")
    assert whole.index.is_unique
    assert whole.loc["acc_origin", "low"] < whole.loc["acc_origin", "value"] < 100
    assert (whole.loc["acc_origin", "n"], whole.loc["robust", "n"]) == (60, 60)
    assert whole.loc["tolerant", "value"] == whole.loc["acc_origin", "value"]
    grouped = less[less["kind"] == "all"]
    assert set(grouped["mean"]) == {"micro", "macro", ""}
    macro = grouped[(grouped["mean"] == "macro") & (grouped["metric"] == "acc_origin")]
    assert macro[["low", "high"]].isna().all(axis=None)


def test_a_metric_of_a_plug_in_that_is_not_here_has_no_unit():
    assert metric_unit("elsewhere") == (None, None)
    assert metric_unit("acc_origin") == ("percent", "higher")


def test_pairs_in_chosen_metrics_stand_behind_the_others_in_their_units():
    results = [cell_result(halting(3), model="less", n=60), cell_result(right, model="sure", n=60)]
    spec = '{"metrics": ["readable", "tied"]}'
    made = compile_report("Run", results, spec=spec).frames["pairs"]
    assert made["measure"].tolist() == ["robust", "readable", "tied"]
    assert made["points"].tolist()[1:] == [0, 0]
    assert made["p"].isna().tolist() == [False, True, True]
    assert made["p_holm"].notna().all()


def test_what_is_left_out_is_a_row_each():
    left = (LeftOut("faulty-rows", "law", "law_val.csv", why="line 3", rows=2),)
    made = compile_report("Run", (), left_out=left).frames["left_out"]
    assert made.to_dict("records") == [
        {
            "rule": "faulty-rows",
            "dataset": "law",
            "what": "law_val.csv",
            "mode": "",
            "why": "line 3",
            "rows": 2,
        }
    ]


def test_each_printed_figure_of_a_log_is_a_row(make_result):
    figures = (PrintedFigure("acc", 0.5, n=2, ours=0.5), PrintedFigure("acc_norm", None))
    log = LogSource("lm-eval", "0.4", ("a.json", "b.json"), figures, missing=("prompts",))
    logs = [replace(make_result({"q0": "right"}), log=each) for each in (log, LogSource("helm"))]
    made = compile_report("Run", logs).frames["imported"]
    assert made["harness"].tolist() == ["lm-eval", "lm-eval", "helm"]
    assert made["name"].astype("object").tolist()[:2] == ["acc", "acc_norm"]
    assert made.loc[0, ["files", "missing", "printed"]].tolist() == [
        "a.json, b.json",
        "prompts",
        0.5,
    ]
    assert made.loc[2, ["name", "printed", "n"]].isna().all()


def test_what_nobody_counts_is_missing():
    expenses = (
        ModelUsage("remote", 4, 1_000_000, 0, (2.0, 8.0), 2.0),
        ModelUsage("local", 9, 0, 0, why="It is away."),
    )
    made = compile_report("Run", (), expenses=expenses).frames["expenses"]
    assert made["input_tokens"].dropna().tolist() == [1_000_000]
    assert made.loc[0, "signature"] == "prices:2.0/8.0|per:1000000|model:remote"
    assert made.loc[1, ["dollars", "signature"]].isna().all()
    assert made["waits"].dropna().tolist() == ["It is away."]


def test_replies_say_which_run_requested_them():
    counts = (ReplyCount("m", 4), ReplyCount("m", 2, "r1", 1e9), ReplyCount("m", 1, None))
    made = compile_report("Run", (), replies=counts).frames["reply_counts"]
    assert made["kept"].tolist() == [False, True, True]
    assert made["run"].isna().tolist() == [True, False, True]
    assert made["made"].dropna().tolist() == ["2001-09-09T01:46:40+00:00"]


def test_a_frame_is_made_by_one_thread_alone(monkeypatch: pytest.MonkeyPatch):
    made: list[int] = []

    def rows(_: object):
        made.append(1)
        sleep(0.05)
        yield {"n": 1}

    monkeypatch.setitem(KINDS, "cells", FrameKind({"n": FrameColumn("Int64", "a number")}, rows))
    frames = compile_report("Run", ()).frames
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda _: frames["cells"], range(8)))
    assert len(made) == 1
    assert all(one is got[0] for one in got)


# ------------------------------------------------------------ what a frame is


def test_dates_are_in_utc():
    column = {"created": FrameColumn("datetime64[ms, UTC]", "when")}
    made = frame([{"created": "2026-11-23T19:22:09.283+00:00"}, {"created": None}], column)
    assert made["created"][0] == pd.Timestamp("2026-11-23 19:22:09.283", tz="UTC")
    assert made["created"].isna().tolist() == [False, True]


def test_records_have_the_values_of_python_and_none_for_what_is_missing():
    columns = {
        "name": FrameColumn("category", "its name"),
        "n": FrameColumn("Int64", "how many"),
        "share": FrameColumn("float64", "how much"),
        "known": FrameColumn("boolean", "whether it is known"),
        "signature": FrameColumn("category", "how it is made"),
    }
    rows = [
        {"name": "a", "n": 1, "share": 0.1, "known": True, "signature": "s", "own": 2},
        {"name": None, "n": None, "share": None, "known": None, "signature": "s", "other": 0.5},
    ]
    made = frame(rows, columns, more=True)
    assert [*made] == ["name", "n", "share", "known", "own", "other", "signature"]
    given = dict.fromkeys(made)
    assert [*records(made)] == [given | row for row in rows]
    assert [type(value) for value in next(records(made)).values()][:4] == [str, int, float, bool]
    pd.testing.assert_frame_equal(frame(records(made), columns, more=True), made)
    assert "own" not in frame(rows, columns)


@pytest.mark.parametrize(("values", "dtype"), [([1, None], "Int64"), ([1, 0.5], "float64")])
def test_further_columns_are_whole_numbers_where_all_of_theirs_are(values: list, dtype: str):
    made = frame(({"more": value} for value in values), {}, more=True)
    assert str(made["more"].dtype) == dtype
