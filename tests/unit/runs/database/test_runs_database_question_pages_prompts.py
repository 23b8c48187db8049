import hashlib
import json
from pathlib import Path

from runs_examples import add_run, dataset, spec

from evalui.models import ModelEntry
from evalui.runs.database.connection import Database
from evalui.runs.database.question_pages import read_sent_prompts
from evalui.runs.database.runs import read_cells
from evalui.runs.database.trials import read_trials
from evalui.runs.worker.main import Worker


def test_the_prompts_shown_are_the_prompts_that_were_sent(
    database: Database, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    entry = ModelEntry("perfect", "scripted", options={"rule": "perfect", "log": str(log)})
    run_id = add_run(database, spec(pattern="circular", shots=2), dataset(1))
    Worker(database, lambda: {"perfect": entry}).run_once()
    (cell,) = read_cells(database, run_id)
    asked = read_sent_prompts(database, cell, "sums/0")
    shown = [
        hashlib.sha256(repr(request).encode()).hexdigest() for a in asked for request in a.requests
    ]
    assert shown == [json.loads(line)["sha256"] for line in log.read_text().splitlines()]
    assert [a.variant for a in asked] == [trial.variant for trial in read_trials(database, cell.id)]
