"""Frames of runs: declared dtypes also where there is nothing, and what is missing."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from open_examples import answers_result, judged_run, votes

from evalui.errors import SpecError
from evalui.report.compile import compile_report
from evalui.report.export.files import write_json
from evalui.report.export.frame_columns import (
    CELL_COLUMNS,
    QUESTION_COLUMNS,
    TRIAL_COLUMNS,
    VOTE_COLUMNS,
    FrameColumn,
)
from evalui.report.export.frames import (
    cell_frame,
    frame,
    metric_frame,
    pair_frame,
    question_frame,
    standing_frame,
    trial_frame,
)
from evalui.report.export.json import vote_objects
from evalui.report.export.trial_tables import every_trial
from evalui.types import CellResult


def _dtypes(made: pd.DataFrame) -> dict[str, str]:
    return {name: str(made[name].dtype) for name in made}


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
    assert _dtypes(trial_frame([])) == {name: own.dtype for name, own in TRIAL_COLUMNS.items()}
    assert _dtypes(question_frame([])) == {n: own.dtype for n, own in QUESTION_COLUMNS.items()}
    assert _dtypes(frame([], VOTE_COLUMNS)) == {n: own.dtype for n, own in VOTE_COLUMNS.items()}
    with pytest.raises(SpecError, match="no column 'x'; the columns are dataset"):
        trial_frame([], ["x"])


def test_trials_of_cells_with_other_columns_stand_below_each_other(
    make_result: Callable[..., CellResult],
):
    options, written = (
        make_result({"q0": "right", "q1": [0, None, 0, "tie"]}),
        answers_result("late"),
    )
    made = trial_frame([options, written])
    assert len(made) == len(options.trials) + len(written.trials)
    assert made["tolerant_choice"].isna().tolist()[len(options.trials) :] == [True] * len(
        written.trials
    )
    scored = [100 * trial.scores["rouge-l-f"][0] for trial in written.trials if trial.scores]
    assert made["rouge-l-f"].dropna().tolist() == scored
    missing = made["choice"].isna()[: len(options.trials)]
    assert missing.tolist() == [trial.choice is None for trial in options.trials]


def test_each_column_is_that_of_the_exported_table(make_result: Callable[..., CellResult]):
    result = make_result({"q0": "right", "q1": [0, None, 0, "tie"]})
    table = every_trial([result])
    columns: dict[str, list[Any]] = {name: [] for name in table.kinds}
    for chunk in table.chunks():
        for name, column in zip(table.kinds, chunk, strict=True):
            columns[name] += column.listed()
    made = trial_frame([result]).astype("object")
    for name, values in columns.items():
        own = made[name].where(made[name].notna(), None).tolist()
        assert own == values, name


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
