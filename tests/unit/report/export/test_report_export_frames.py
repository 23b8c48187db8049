"""Frames of runs: declared dtypes also where there is nothing, and what is missing."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from open_examples import judged_run, votes

from evalui.report.compile import compile_report
from evalui.report.export.frame_columns import (
    CELL_COLUMNS,
    VOTE_COLUMNS,
)
from evalui.report.export.frames import (
    cell_frame,
    metric_frame,
    pair_frame,
    standing_frame,
)
from evalui.report.frames.base import FrameColumn, frame
from evalui.report.write.files import write_json
from evalui.report.write.lines import vote_objects
from evalui.types import CellResult


def test_pairs_in_chosen_metrics_stand_behind_the_others_in_the_unit_of_metrics():
    pair = {"dataset": "d", "mode": "m", "first": "a", "second": "b", "low": -0.1, "high": 0.3}
    pair |= {"p": 0.04, "n": 9}
    pairs = [pair | {"metric": "readable", "value": 0.1}, pair | {"metric": "tied", "value": 2}]
    figures = {"comparisons": [], "answer_pairs": [], "chosen_metrics": {"pairs": pairs}}
    made = pair_frame(figures)
    assert made["measure"].tolist() == ["readable", "tied"]
    assert made["points"].tolist() == pytest.approx([10, 2])
    assert made["points_high"].tolist() == pytest.approx([30, 0.3])
    assert made["p_holm"].tolist() == [0.04, 0.04]
    assert made["p"].isna().all()


def test_frames_without_rows_have_their_columns():
    assert {n: str(own.dtype) for n, own in frame([], VOTE_COLUMNS).items()} == {
        n: own.dtype for n, own in VOTE_COLUMNS.items()
    }


def _figures(results: list[CellResult], **votes: Any) -> dict[str, Any]:
    return json.loads(write_json(compile_report("Run", results, **votes), "en"))


def test_cells_say_what_failed(make_result: Callable[..., CellResult]):
    failed = replace(make_result({"q0": "right"}), state="failed", error="The disk is full.")
    made = cell_frame(_figures([failed, *judged_run()]))
    assert made.loc[0, ["state", "error"]].tolist() == ["failed", "The disk is full."]
    assert set(made["mode"]) == {failed.cell.label, "question_answer", "judge"}
    assert list(made) == list(CELL_COLUMNS)


def test_people_who_voted_stand_beside_the_judges():
    cast = {"open-qa": (*votes("ann"), *votes("bob"))}
    standings = standing_frame(_figures(judged_run(), votes=cast))
    assert {"people"} < set(standings["judge"])
    rows = frame(vote_objects(cast), VOTE_COLUMNS)
    assert set(rows["by"]) == {"ann", "bob"}
    assert rows["created"].isna().all()  # these votes have no time


def test_a_metric_of_a_plug_in_that_is_not_here_has_no_unit(
    make_result: Callable[..., CellResult],
):
    figures = _figures([make_result({"q0": "right"})])
    figures["cells"][0]["figures"]["elsewhere"] = 0.5
    made = metric_frame(figures).set_index("metric")
    assert made.loc["elsewhere", "value"] == 0.5
    assert made.loc[["elsewhere"], ["unit", "direction"]].isna().all(axis=None)


def test_dates_are_in_utc():
    column = {"created": FrameColumn("datetime64[ms, UTC]", "when")}
    made = frame([{"created": "2026-11-23T19:22:09.283+00:00"}, {"created": None}], column)
    assert made["created"][0] == pd.Timestamp("2026-11-23 19:22:09.283", tz="UTC")
    assert made["created"].isna().tolist() == [False, True]
