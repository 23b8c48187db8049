"""An import is killed at an instant drawn by a seed, and done again."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from fault_examples import check_consistent
from flow_examples import Office, wait_until

from evalui.store import queue
from evalui.store.runs import read_run, read_runs

LINES = 30_000


def log_of_lm_eval(folder: Path) -> Path:
    """A log of one task in which every third answer is wrong."""
    scores = [["-1.0", "True"], ["-3.0", "False"]]
    with (folder / "samples_capitals_2026-01-01T00-00-00.0.jsonl").open("w") as file:
        for number in range(LINES):
            line = {
                "doc_id": number,
                "doc": {"question": f"Capital of France? ({number})"},
                "target": str(int(number % 3 == 0)),
                "arguments": [[f"Q{number}", " Paris"], [f"Q{number}", " Rome"]],
                "resps": [[score] for score in scores],
                "filtered_resps": scores,
                "filter": "none",
                "metrics": ["acc"],
                "acc": float(number % 3 > 0),
            }
            file.write(json.dumps(line) + "\n")
    return folder


def start(log: Path, store: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evalui.cli", "import", str(log), "--database", str(store)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("seed", range(3))
def test_an_import_that_is_killed_leaves_nothing_that_looks_done(office: Office, seed: int):
    log = office.folder / "log"
    log.mkdir()
    log_of_lm_eval(log)
    store = office.database.path
    aim = random.Random(seed).randrange(LINES // 2)

    def written() -> int:
        return int(office.database.rows("SELECT coalesce(sum(n), 0) FROM trial_block")[0][0])

    killed = start(log, store)
    wait_until(lambda: written() >= aim or killed.poll() is not None)
    assert killed.poll() is None, "it was too quick"
    killed.kill()
    killed.wait()
    check_consistent(store)
    (half,) = read_runs(office.database)
    assert half.state == "running"
    assert queue.requeue_lost(office.database, silent_s=-1.0) == 1
    office.work_here()
    half = read_run(office.database, half.id)
    assert half.state == "failed"
    assert "import the log again" in half.error

    assert start(log, store).wait() == 0
    (whole,) = [row for row in read_runs(office.database) if row.id != half.id]
    check_consistent(store)
    ((read, right),) = office.database.rows(
        "SELECT sum(done), sum(origin_credit) FROM cell WHERE run = ?",
        (whole.id,),
    )
    assert (whole.state, read) == ("done", LINES)
    assert right == sum(number % 3 > 0 for number in range(LINES))
