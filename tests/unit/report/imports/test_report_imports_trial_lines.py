"""Lines of trials.jsonl become the cells that wrote them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from open_examples import answers_result

from evalui.errors import DataError
from evalui.report.imports.predictions import read_rows
from evalui.report.imports.trial_lines import read_results, rows_of
from evalui.report.write.lines import trial_lines
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


def _written(path: Path, *results: CellResult) -> Path:
    path.write_text("".join(trial_lines(results)), encoding="utf-8")
    return path


def test_trials_come_back_as_they_were(mixed: CellResult, tmp_path: Path):
    written = answers_result("late")
    read = read_results(read_rows(_written(tmp_path / "trials.jsonl", mixed, written)))
    assert [each.cell.model for each in read] == [mixed.cell.model, written.cell.model]
    for before, after in zip((mixed, written), read, strict=True):
        assert after.cell.signature == before.cell.signature
        assert after.cell.label == before.cell.label
        for mine, own in zip(after.trials, before.trials, strict=True):
            assert mine.sample_id == own.sample_id
            assert (mine.choice, mine.correct, mine.reading) == (
                own.choice,
                own.correct,
                own.reading,
            )
            assert (mine.scores, mine.probabilities) == (own.scores, own.probabilities)
            assert (mine.mass, mine.truncated, mine.turns) == (own.mass, own.truncated, own.turns)
        for sample_id, sample in after.samples.items():
            known = before.samples[sample_id]
            assert (sample.question, sample.choices, sample.target) == (
                known.question,
                known.choices,
                known.target,
            )


def test_lines_of_earlier_versions_are_read_alike(mixed: CellResult, tmp_path: Path):
    path = _written(tmp_path / "trials.jsonl", mixed)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    earlier = [
        {name: value for name, value in line.items() if not name.startswith("file_")}
        | {"options": line["file_options"], "answer": line["file_answer"]}
        for line in lines
    ]
    assert read_results(rows_of("server", earlier)) == read_results(rows_of("server", lines))


def test_a_line_that_is_no_trial_is_named(mixed: CellResult, tmp_path: Path):
    path = _written(tmp_path / "trials.jsonl", mixed)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    without = {name: value for name, value in lines[1].items() if name != "readings"}
    with pytest.raises(DataError, match=r"server trial 2: 'readings' is missing"):
        read_results(rows_of("server", [lines[0], without]))
    strange = lines[1] | {"permutation": 3}
    with pytest.raises(DataError, match=r"server trial 2: not a row of trials.jsonl"):
        read_results(rows_of("server", [lines[0], strange]))
