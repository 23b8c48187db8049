"""The clock of the machine jumps while a worker has a run.

Only `time.time` jumps, as on a real machine: libfaketime 0.9.10 cannot leave the monotonic clock
alone under Python (`clock_nanosleep` answers EINVAL), so the worker's own start-up shifts it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from flow_examples import TRIALS, Office

from evalui.store.runs import read_run
from evalui.types import Trial

# Python runs a module of this name before all others.
SHIFTED = """
import os, time
_true = time.time
def _shifted():
    with open(os.environ["CLOCK_OFFSET"]) as file:
        return _true() + float(file.read() or 0)
time.time = _shifted
"""


class ShiftedClock:
    """The clock of one worker, which may be set anew while it works."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "offset"
        (folder / "sitecustomize.py").write_text(SHIFTED)
        self.set(0)

    def set(self, seconds: float) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self._file)

    def start_worker(self, office: Office) -> None:
        """A worker that reads this clock."""
        command = [sys.executable, "-m", "evalui.runs.worker.main"]
        command += ["--database", str(office.database.path), "--models-file", str(office.models)]
        path = os.pathsep.join(filter(None, (str(self._folder), os.environ.get("PYTHONPATH"))))
        own = {"CLOCK_OFFSET": str(self._file), "PYTHONPATH": path}
        office.processes.append(
            subprocess.Popen(command, env=os.environ | own, stderr=subprocess.DEVNULL)
        )


@pytest.fixture
def clock(tmp_path: Path) -> ShiftedClock:
    folder = tmp_path / "clock"
    folder.mkdir()
    return ShiftedClock(folder)


HOUR, YEAR = 3600.0, 365 * 24 * 3600.0


@pytest.mark.parametrize("jump", [HOUR, -HOUR, YEAR])
def test_a_jump_between_two_workers_loses_and_doubles_nothing(
    office: Office, expected: list[tuple[Trial, ...]], clock: ShiftedClock, jump: float
):
    office.pace(0.004)
    run_id = office.queue()
    clock.start_worker(office)
    office.wait_for(run_id, lambda run: run.done > TRIALS // 10)
    clock.set(jump)
    # Its clock is right, so one of the two may take the other for dead.
    office.start_worker()
    run = office.wait_for(run_id, lambda run: run.state in ("done", "failed"))
    assert run.state == "done", run.error
    assert office.trials(run_id) == expected
    assert len(set(office.answered())) == TRIALS


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_a_worker_alone_goes_on(
    office: Office, expected: list[tuple[Trial, ...]], clock: ShiftedClock, jump: float
):
    office.pace(0.004)
    run_id = office.queue()
    clock.start_worker(office)
    office.wait_for(run_id, lambda run: run.done > TRIALS // 10)
    clock.set(jump)
    office.wait_for(run_id, lambda run: run.state == "done")
    assert read_run(office.database, run_id).attempt == 1
    assert office.trials(run_id) == expected
    assert len(office.answered()) == TRIALS
