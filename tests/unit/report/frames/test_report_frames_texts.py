"""Frames of written answers: text figures, marks of judges, pairs of models."""

from dataclasses import replace

import pandas as pd
import pytest
from open_examples import answers_result, judge_result, judged_run, rating_result

from evalui.report.compile import compile_report
from evalui.report.frames.run import Frames


@pytest.fixture(scope="module")
def frames() -> Frames:
    results = [*judged_run(), rating_result({"late": [9, None], "weak": [2, 3]})]
    return compile_report("Run", results).frames


def test_answers_have_text_figures_and_marks(frames: Frames):
    frame = frames["answers"].set_index("model")
    assert frame.loc["late", "rouge-l-f"] == pytest.approx(90)
    # Eight answers that are all alike leave room for others: Wilson at 7.2 of 8.
    assert frame.loc["late", ["rouge-l-f_low", "rouge-l-f_high"]].tolist() == pytest.approx(
        [55.5679, 98.4795]
    )
    assert frame.loc["late", ["n", "compared", "empty", "cut"]].tolist() == [12, 8, 0, 0]
    assert frame.loc["late", "corpus_bleu_signature"].startswith("nrefs:")
    assert frame.loc["late", "rating_by_judge-local"] == 9
    assert frame.loc["late", "rating_by_judge-local_unscored"] == 1
    assert pd.isna(frame.loc["early", "rating_by_judge-local"])


def test_marks_stay_on_the_judges_scale(frames: Frames):
    frame = frames["marks"].set_index("model")
    assert frame["mark"].to_dict() == {"late": 9, "weak": 2.5}
    assert frame.loc["late", ["judge", "scale", "n", "unscored"]].tolist() == [
        "judge-local",
        "rating",
        1,
        1,
    ]


def test_each_criterion_is_a_row_behind_the_mark_as_a_whole():
    rated = rating_result({"late": [6, 8]})
    marked = [
        replace(trial, scores={**trial.scores, "criterion:wit": (4.0,)}) for trial in rated.trials
    ]
    frames = compile_report("", [answers_result("late"), replace(rated, trials=marked)]).frames
    assert frames["marks"]["criterion"].tolist() == ["", "wit"]
    assert frames["marks"]["mark"].tolist() == pytest.approx([7, 4])
    assert frames["answers"].loc[0, "rating_by_judge-local_wit"] == 4
    metrics = frames["metrics"].set_index("metric")
    assert metrics.loc["rating_by_judge-local_wit", "value"] == 4
    assert metrics.loc["rating_by_judge-local", "value"] == pytest.approx(7)
    assert metrics.loc["rating_by_judge-local", "judge"] == "judge-local"


def test_pairs_of_models_have_a_row_per_figure(frames: Frames):
    pairs = frames["pairs"]
    assert pairs[pairs["measure"] == "rouge-l-f"]["points"].tolist() == pytest.approx([20, 40, 20])
    assert pairs["p"].isna().all()
    assert pairs["p_holm"].notna().all()
    assert pairs["signature"].str.len().min() > 0


def test_half_done_cells_have_rows():
    frames = compile_report("", [answers_result("late", done=0), judge_result(done=1)]).frames
    assert len(frames["standings"]) == 2
    (row,) = frames["answers"].to_dict("records")
    assert (row["n"], row["corpus_bleu"]) == (0, pytest.approx(float("nan"), nan_ok=True))
    assert "rouge-l-f" not in row
