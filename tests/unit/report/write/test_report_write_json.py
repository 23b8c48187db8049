"""report.json: records by frame, a line each, from which the same frames are read."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from bias_examples import cell_result, fond, right, with_probabilities
from open_examples import DATASET, judged_run, rating_result, votes

from evalui.report.analyses.base import Report
from evalui.report.compile import compile_report
from evalui.report.frames.run import KINDS, ROW_BY_ROW
from evalui.report.write.json import read_frame, write_json


@pytest.fixture(scope="module", params=["choices", "judged", "nothing"])
def report(request: pytest.FixtureRequest) -> Report:
    match request.param:
        case "choices":
            made = [("fond", fond), ("right", right), ("blind", lambda *_: None)]
            results = [cell_result(pick, model=name, subjects=2) for name, pick in made]
            return compile_report("Run", [with_probabilities(results[0]), *results[1:]])
        case "judged":
            results = [*judged_run(judges=("one", "two")), rating_result({"late": [9, None]})]
            return compile_report("Run", results, votes={DATASET: votes("ann")})
        case _:
            return compile_report("Run", ())


def test_each_frame_with_rows_is_a_list_of_records_a_line_each(report: Report):
    text = write_json(report, "en").decode()
    whole = json.loads(text)
    filled = [name for name in KINDS if len(report.frames[name]) and name not in ROW_BY_ROW]
    assert list(whole) == ["evalui", "name", "spec", *filled]
    assert whole["spec"] is None
    lines = text.splitlines()
    for name in filled:
        start = lines.index(f'  "{name}": [')
        rows = lines[start + 1 : start + 1 + len(whole[name])]
        assert [json.loads(row.strip().removesuffix(",")) for row in rows] == whole[name]
        assert set(whole[name][0]) == set(report.frames[name])


def test_the_frames_of_the_file_are_those_of_the_report(report: Report):
    whole = json.loads(write_json(report, "en"))
    for name in KINDS:
        if name not in ROW_BY_ROW:
            pd.testing.assert_frame_equal(read_frame(whole, name), report.frames[name])


def test_a_report_is_the_same_file_each_time(report: Report):
    again = replace(report)
    assert again.frames is not report.frames
    assert write_json(again, "en") == write_json(report, "en") == write_json(report, "zh")


def test_what_is_missing_or_not_finite_is_null():
    report = compile_report("Run", [cell_result(lambda *_: 0, n=30)])
    (bias,) = json.loads(write_json(report, "en"))["bias"]
    assert (bias["ckld"], bias["ckld_infinite"]) == (None, True)
    assert bias["pride_after"] is None


def test_counts_are_whole_numbers_and_truths_are_truths():
    whole = json.loads(write_json(compile_report("Run", judged_run()), "en"))
    first = whole["standings"][0]
    assert isinstance(first["n"], int)
    assert first["with_leader"] is True
