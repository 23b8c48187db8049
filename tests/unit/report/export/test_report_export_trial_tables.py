"""Every trial as lines and rows, made from columns a chunk at a time."""

import io
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from export_examples import as_frame
from open_examples import answers_result, judged_run

from evalui.report.export import trial_cells
from evalui.report.export.trial_tables import TRIAL_FILES, every_trial, trials
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


def _lines(results: Iterable[CellResult]) -> list[Any]:
    whole = b"".join(TRIAL_FILES["trials.jsonl"](results))
    return [json.loads(line) for line in whole.splitlines()]


def test_trials_of_several_kinds_stay_in_their_order(mixed: CellResult):
    lines = _lines([mixed])
    assert [line["id"] for line in lines] == [trial.sample_id for trial in mixed.trials]
    kinds = ["scores" if "scores" in one else "probabilities" in one for one in lines]
    assert kinds == [False, True, "scores", False, True, "scores", False, True]


@pytest.mark.parametrize("name", TRIAL_FILES)
def test_the_size_of_a_chunk_changes_nothing(
    mixed: CellResult, monkeypatch: pytest.MonkeyPatch, name: str
):
    whole = _read(name, [mixed])
    monkeypatch.setattr(trial_cells.chunks_of, "__defaults__", (3,))
    assert _read(name, [mixed]) == whole
    assert len(whole) == 8


def _read(name: str, results: Iterable[CellResult]) -> list[Any]:
    data = b"".join(TRIAL_FILES[name](results))
    if name == "trials.parquet":
        return pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    return data.splitlines()[-8:]


@pytest.mark.parametrize(
    ("name", "header"), [("trials.csv", b"\xef\xbb\xbf"), ("trials.parquet", b"")]
)
def test_the_texts_of_a_chunk_are_read_once_and_when_its_turn_comes(
    mixed: CellResult, name: str, header: bytes
):
    read: list[int] = []

    def texts(numbers: Any) -> list[tuple[str, tuple[str, ...]]]:
        read.extend(numbers.tolist())
        return [("reply", ())] * len(numbers)

    many = columns_of(mixed.trials).take(np.tile(np.arange(8), 2000))
    result = replace(mixed, trials=replace(many, texts=texts))
    parts = iter(TRIAL_FILES[name]([result]))
    if header:
        assert (next(parts)[:3], read) == (header, [])
    next(parts)
    assert len(read) == 4096
    assert len(b"".join(parts)) > 4096
    assert len(read) == 16_000


def test_what_is_the_same_for_many_trials_is_converted_once(
    mixed: CellResult, monkeypatch: pytest.MonkeyPatch
):
    converted: list[Any] = []
    monkeypatch.setattr(
        trial_cells.ExportColumn, "map", lambda self, _: (converted.extend(self.values), self)[1]
    )
    list(trials([replace(mixed, trials=mixed.trials[:4])]).chunks())
    assert converted.count(mixed.cell.signature) == 1
    assert converted.count(mixed.samples["q0"].question) == 1


def test_rows_of_choices_and_of_written_answers_stand_in_one_table(mixed: CellResult):
    frame = as_frame(every_trial([mixed, *judged_run()]))
    assert len(frame) == 8 + 36
    assert frame.columns[-1] == "signature"
    assert frame["choice"].notna().sum() == 6
    assert frame["references"].notna().sum() == 36


def test_parquet_has_numbers_as_numbers_and_halves_of_characters_as_text(mixed: CellResult):
    odd = [replace(trial, reply="a\ud800") for trial in mixed.trials]
    data = b"".join(TRIAL_FILES["trials.parquet"]([replace(mixed, trials=odd)]))
    read = pyarrow.parquet.read_table(io.BytesIO(data))
    kinds = {name: read.schema.field(name).type for name in ("correct", "credit", "p_A", "id")}
    assert kinds == {
        "correct": pyarrow.bool_(),
        "credit": pyarrow.float64(),
        "p_A": pyarrow.float64(),
        "id": pyarrow.string(),
    }
    assert read["reply"][0].as_py() == "a\\ud800"


def test_answers_have_their_figures_in_per_cent():
    frame = as_frame(every_trial([answers_result("late")]))
    assert frame.loc[0, "rouge-1-f"] == pytest.approx(90)
    assert frame.loc[0, "truncated"] == False  # noqa: E712 # of numpy
