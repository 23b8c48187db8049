"""Every trial as lines and rows, made from columns a part at a time."""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from export_examples import as_frame
from open_examples import answers_result, judge_result, judged_run, rating_result

from evalui.errors import SpecError
from evalui.report.frames.trials import (
    QUESTION_COLUMNS,
    TRIAL_COLUMNS,
    questions,
    ratings,
    replies,
    trial_frame,
    trials,
)
from evalui.report.write.formats import TRIAL_FORMATS
from evalui.report.write.trial_files import trial_file
from evalui.scoring.trial_columns import columns_of
from evalui.types import CellResult, Trial


@pytest.fixture
def mixed(make_result: Callable[..., CellResult]) -> CellResult:
    """Trials of all three kinds in one cell: with a reply, with probabilities, with scores."""
    result = make_result({"q0": "right", "q1": [0, None, 0, "tie"]})

    def given(place: int, trial: Trial) -> Trial:
        if place % 3 == 1:
            return replace(trial, probabilities=(0.1, 0.2, 0.3, 0.4), mass=0.5)
        return replace(trial, scores={"raw": (-1.0, -2.0, -3.0, -4.0)}) if place % 3 else trial

    return replace(result, trials=tuple(given(*each) for each in enumerate(result.trials)))


def _lines(results: Sequence[CellResult]) -> list[Any]:
    whole = b"".join(trial_file("trials.jsonl", results))
    return [json.loads(line) for line in whole.splitlines()]


def test_trials_of_several_kinds_stay_in_their_order(mixed: CellResult):
    lines = _lines([mixed])
    assert [line["id"] for line in lines] == [trial.sample_id for trial in mixed.trials]
    kinds = ["scores" if "scores" in one else "probabilities" in one for one in lines]
    assert kinds == [False, True, "scores", False, True, "scores", False, True]


@pytest.mark.parametrize("name", TRIAL_FORMATS)
def test_the_size_of_a_part_changes_nothing(
    mixed: CellResult, monkeypatch: pytest.MonkeyPatch, name: str
):
    whole = _read(name, [mixed])
    monkeypatch.setattr("evalui.report.frames.trials.PART", 3)
    monkeypatch.setattr("evalui.report.write.lines._PART", 3)
    assert _read(name, [mixed]) == whole
    assert len(whole) == 8


def _read(name: str, results: Sequence[CellResult]) -> list[Any]:
    data = b"".join(trial_file(name, results))
    if name == "trials.parquet":
        return pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    return data.splitlines()[-8:]


@pytest.mark.parametrize(
    ("name", "header"), [("trials.csv", b"\xef\xbb\xbf"), ("trials.parquet", b"")]
)
def test_the_texts_of_a_part_are_read_once_and_when_its_turn_comes(
    mixed: CellResult, name: str, header: bytes
):
    read: list[int] = []

    def texts(numbers: Any) -> list[tuple[str, tuple[str, ...]]]:
        read.extend(numbers.tolist())
        return [("reply", ())] * len(numbers)

    many = columns_of(mixed.trials).take(np.tile(np.arange(8), 5000))
    result = replace(mixed, trials=replace(many, texts=texts))
    parts = iter(trial_file(name, [result]))
    if header:
        assert (next(parts)[:3], read) == (header, [])
    next(parts)
    assert len(read) == 16_384
    assert len(b"".join(parts)) > 16_384
    assert len(read) == 40_000


def test_what_is_the_same_for_many_trials_is_made_once(mixed: CellResult):
    (part,) = trials([replace(mixed, trials=mixed.trials[:4])]).parts()
    for name in ("signature", "question", "id", "file", "reply"):
        assert list(part[name].cat.categories) == list(dict.fromkeys(part[name])), name
    assert list(part["signature"].cat.categories) == [mixed.cell.signature]
    assert list(part["question"].cat.categories) == [mixed.samples["q0"].question]


def test_rows_of_choices_and_of_written_answers_stand_in_one_table(mixed: CellResult):
    frame = as_frame(trials([mixed, *judged_run()]))
    assert len(frame) == 8 + 36
    assert frame.columns[-1] == "signature"
    assert frame["choice"].notna().sum() == 6
    assert frame["references"].notna().sum() == 36


def test_parquet_has_numbers_as_numbers_and_halves_of_characters_as_text(mixed: CellResult):
    odd = [replace(trial, reply="a\ud800") for trial in mixed.trials]
    data = b"".join(trial_file("trials.parquet", [replace(mixed, trials=odd)]))
    read = pyarrow.parquet.read_table(io.BytesIO(data))
    kinds = {name: read.schema.field(name).type for name in ("correct", "credit", "p_A", "id")}
    assert kinds == {
        "correct": pyarrow.bool_(),
        "credit": pyarrow.float64(),
        "p_A": pyarrow.float64(),
        "id": pyarrow.string(),
    }
    assert read["reply"][0].as_py() == "a\\ud800"


def test_the_library_writes_halves_of_characters_out(mixed: CellResult):
    odd = [replace(trial, reply="a\ud800 你") for trial in mixed.trials]
    assert set(trial_frame([replace(mixed, trials=odd)])["reply"]) == {"a\\ud800 你"}


def test_answers_have_their_figures_in_per_cent():
    frame = as_frame(trials([answers_result("late")]))
    assert frame.loc[0, "rouge-1-f"] == pytest.approx(90)
    assert frame.loc[0, "truncated"] == False  # noqa: E712 # of numpy


_SUBJECTS = {
    "q0": {"subject": "law", "subject_zh": "法学", "file": "law_val.csv", "line": "2"},
    "q1": {"subject": "art"},
    "q2": {"subject": "art"},
}


@pytest.fixture
def result(make_result: Callable[..., CellResult]) -> CellResult:
    """q0 right in every order, q1 always A, q2 unreadable at first."""
    picks = {"q0": "right", "q1": [0, 0, 0, 0], "q2": [None, 0, 0, 0]}
    return make_result(picks, subjects=_SUBJECTS, mass=0.5)


def test_a_trial_row_shows_the_options_as_the_model_saw_them(result: CellResult):
    frame = as_frame(trials([result]))
    second = frame[(frame["id"] == "q0") & (frame["order"] == "BCDA")].iloc[0]
    assert second["options"] == "A. x\nB. u\nC. v\nD. w"
    assert (second["answer"], second["choice"], second["correct"]) == ("B", "B", True)
    assert (second["subject"], second["file"], second["line"]) == ("law", "law_val.csv", "2")
    assert second["tolerant_choice"] == "B"


def test_an_unreadable_trial_has_no_choice_and_is_not_called_wrong(result: CellResult):
    frame = as_frame(trials([result]))
    row = frame[(frame["id"] == "q2") & (frame["order"] == "ABCD")].iloc[0]
    assert pd.isna(row["choice"])
    assert pd.isna(row["correct"])
    assert row["credit"] == 0


def test_marks_and_replies_have_a_row_each():
    results = [*judged_run(), rating_result({"late": [9, None], "weak": [2, 3]})]
    assert as_frame(ratings(results))["rating"].isna().tolist() == [False, True, False, False]
    frame = as_frame(replies(results))
    assert len(frame) == 36
    assert frame.loc[0, "references"] == "熵是无序的量度。"
    assert frame.loc[0, "bleu-1"] == pytest.approx(90)


def test_a_cell_without_trials_has_no_rows():
    table = replies([answers_result("late", done=0), judge_result(done=1)])
    assert (table.columns, [*table.parts()]) == ((), [])


def _dtypes(made: pd.DataFrame) -> dict[str, str]:
    return {name: str(made[name].dtype) for name in made}


def test_frames_without_rows_have_their_columns():
    assert _dtypes(trial_frame([])) == {name: own.dtype for name, own in TRIAL_COLUMNS.items()}
    assert _dtypes(questions([])) == {n: own.dtype for n, own in QUESTION_COLUMNS.items()}
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
    exported, made = as_frame(trials([result])), trial_frame([result]).astype("object")
    for name in exported:
        values, own = exported[name], made[name]
        assert own.where(own.notna(), None).tolist() == values.where(values.notna(), None).tolist()
