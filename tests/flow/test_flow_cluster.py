"""A machine of a cluster dies in the middle of a run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from flow_examples import Office

from evalui.shipped_files import ASSETS
from evalui.store.runs import read_run
from evalui.types import Trial

ON_A_CLUSTER = Path(__file__).with_name("cluster_examples.py")
QUESTIONS = 24


@pytest.mark.timeout(400)
def test_a_run_outlives_a_machine_and_comes_out_as_on_one(office: Office) -> None:
    with office.models.open("a") as file:
        path = ASSETS / "models" / "demo-late"
        file.write(f'[demo]\nbackend = "transformers"\npath = "{path}"\n')
    alone = office.queue("demo", pattern="all_possible", n=QUESTIONS)
    office.work_here()
    shared = office.queue("demo", pattern="all_possible", n=QUESTIONS)
    _forget_responses(office)
    command = [sys.executable, str(ON_A_CLUSTER)]
    command += [
        str(office.database.path),
        str(office.models),
        shared,
        str(office.folder / "told.json"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads((office.folder / "told.json").read_text())
    assert told["lost"] >= 1
    assert 0 < told["killed_at"][0] < 24 * QUESTIONS
    assert read_run(office.database, shared).state == "done"
    ((one,), (other,)) = office.trials(shared), office.trials(alone)
    assert [_said(trial) for trial in one] == [_said(trial) for trial in other]
    # Which requests share a forward pass decides about the last digits.
    for mine, yours in zip(one, other, strict=True):
        assert mine.probabilities == pytest.approx(yours.probabilities, abs=1e-5)


def _said(trial: Trial) -> tuple[object, ...]:
    return trial.sample_id, trial.variant, trial.choice, trial.correct


def _forget_responses(office: Office) -> None:
    """Nothing is left over from the undisturbed run, so that the cluster must compute it all."""
    with office.database.writing() as connection:
        connection.execute("DELETE FROM response")
