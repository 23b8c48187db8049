import hashlib
import json
from pathlib import Path

from runs_examples import add_run, dataset, spec

from evalui.models import ModelEntry
from evalui.runs.database.store import Store
from evalui.runs.worker.main import Worker


def test_the_prompts_shown_are_the_prompts_that_were_sent(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    entry = ModelEntry("perfect", "scripted", options={"rule": "perfect", "log": str(log)})
    run_id = add_run(store, spec(pattern="circular", shots=2), dataset(1))
    Worker(store, lambda: {"perfect": entry}).run_once()
    (cell,) = store.cells(run_id)
    asked = store.prompts(cell, "sums/0")
    shown = [
        hashlib.sha256(repr(request).encode()).hexdigest() for a in asked for request in a.requests
    ]
    assert shown == [json.loads(line)["sha256"] for line in log.read_text().splitlines()]
    assert [a.variant for a in asked] == [trial.variant for trial in store.trials(cell.id)]
