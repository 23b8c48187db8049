"""A model breaks; the others go on."""

import json
from pathlib import Path
from typing import Any

import pytest
from flow_examples import TRIALS, Office

from evalui.cli.main import main
from evalui.modes.open_answer import OpenAnswer
from evalui.store import queue
from evalui.store.runs import read_cells, read_run
from evalui.types import Sample, Trial


def test_a_broken_model_fails_its_cell_and_the_others_are_done(office: Office) -> None:
    office.hire("broken", log=str(office.folder / "no" / "folder"))
    office.hire("third", delay=0)
    run_id = office.queue("biased", "broken", "third")
    office.start_worker()
    run = office.wait_for(run_id, lambda run: run.state == "failed")
    first, broken, third = read_cells(office.database, run_id)
    assert (first.state, broken.state, third.state) == ("done", "failed", "done")
    assert broken.error.startswith("An unexpected error ended this: FileNotFoundError: ")
    assert run.error == broken.error
    assert 'File "' in broken.traceback
    assert "in _log_request" in broken.traceback
    assert (first.done, third.done) == (TRIALS, TRIALS)


def test_a_mended_model_does_its_cell_and_no_other_is_asked_again(office: Office) -> None:
    office.hire("broken", delay=0, log=str(office.folder / "no" / "folder"))
    run_id = office.queue("biased", "broken")
    assert office.work_here()
    (office.folder / "no").mkdir()
    queue.resume(office.database, run_id)
    assert office.work_here()
    assert read_run(office.database, run_id).state == "done"
    assert len(office.answered("biased")) == TRIALS
    assert read_run(office.database, run_id).done == 2 * TRIALS


def test_a_supplied_answer_that_cannot_be_graded_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grade = OpenAnswer.grade

    def fail_at_two(mode: OpenAnswer, sample: Sample, *rest: Any) -> Trial:
        if "2 plus 2" in sample.question:
            raise ValueError("no float")
        return grade(mode, sample, *rest)

    monkeypatch.setattr(OpenAnswer, "grade", fail_at_two)
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    rows = [{"query": f"What is {n} plus {n}?", "response": f"{2 * n}"} for n in range(1, 4)]
    for name in ("sums", "given"):
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    answers = [{"model": "mine", "path": "given.jsonl"}]
    spec = {"version": 3, "datasets": ["sums.jsonl"], "models": [], "answers": answers}
    Path("spec.json").write_text(json.dumps(spec))
    assert main(["run", "spec.json", "--out", "out"]) == 1
    assert "evalui failed to grade 1 of 3 replies of mine: ValueError" in capsys.readouterr().err
    assert len((tmp_path / "out" / "trials.jsonl").read_text().splitlines()) == 2
