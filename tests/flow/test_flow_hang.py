"""A model hangs while the heart of its worker beats: the worker is ended, and the run goes on."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from flow_examples import SLOW, TRIALS, Office, wait_until
from test_flow_server import lives, worker_pids

from evalui.runs.worker import supervisor
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.runs.worker.worker import worker_name
from evalui.store import queue
from evalui.store.queue import MAX_LOSSES
from evalui.store.runs import WorkerRow, read_cells, read_run, read_workers
from evalui.types import Trial

HANG_S = 2.0
FOR_EVER = 3600.0  # seconds a request takes


@pytest.fixture
def workers(office: Office, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(supervisor, "_GRACE_S", 0.5)
    monkeypatch.setattr(supervisor, "_RESTART_DELAY_S", 0.05)
    monkeypatch.setattr(supervisor, "_WATCH_INTERVAL_S", 0.1)
    made = WorkerSupervisor(office.database, office.models, hang_s=HANG_S, loading_s=60.0)
    made.start()
    yield
    made.stop()


def at_work(office: Office, worker: str) -> WorkerRow:
    (row,) = [row for row in read_workers(office.database) if row.name == worker]
    return row


@pytest.mark.usefixtures("workers")
def test_a_run_whose_model_hangs_goes_on_with_what_is_finished(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    office.wait_for(run_id, lambda run: run.done > 0)
    office.pace(FOR_EVER)  # from the next claim on
    (first,) = worker_pids(os.getpid())
    os.kill(first, 9)
    hanging = office.wait_for(run_id, lambda run: run.attempt == 2)
    assert 0 < hanging.done < TRIALS
    wait_until(lambda: at_work(office, hanging.worker).device == "rule")
    assert len(office.answered()) >= hanging.done
    # The one that hangs has opened the model as it was; the next finds it well.
    (second,) = worker_pids(os.getpid())
    office.pace(0)
    done = office.wait_for(run_id, lambda run: run.state == "done")
    assert done.attempt >= 3  # on a busy machine a model that is well may hang for a moment, too
    assert worker_pids(os.getpid()) != [second]
    assert office.trials(run_id) == expected
    assert len(set(office.answered())) == TRIALS


@pytest.mark.usefixtures("workers")
def test_a_model_that_always_hangs_fails_with_a_sentence_and_keeps_the_other_cell(
    office: Office,
) -> None:
    office.hire("stuck", delay=FOR_EVER)
    run_id = office.queue("biased", "stuck")
    failed = office.wait_for(run_id, lambda run: run.state == "failed")
    done, stuck = read_cells(office.database, run_id)
    assert (done.state, done.done, len(office.answered())) == ("done", TRIALS, TRIALS)
    assert (stuck.state, stuck.done) == ("failed", 0)
    assert failed.attempt == MAX_LOSSES
    for said in ("no progress for 0.0333 minutes", "3 times in a row", "EVALUI_HANG_S"):
        assert said in stuck.error
    # The queue is free again.
    other = office.queue("biased", pattern="origin")
    office.wait_for(other, lambda run: run.state == "done")
    assert read_run(office.database, run_id).state == "failed"


BY_HAND = """
import sys
from evalui.cli.main import main
from evalui.runs.worker import supervisor
supervisor._GRACE_S, supervisor._RESTART_DELAY_S, supervisor._WATCH_INTERVAL_S = 0.5, 0.05, 0.1
sys.exit(main(sys.argv[1:]))
"""


def test_a_worker_that_was_started_by_hand_is_ended_as_well(office: Office) -> None:
    office.hire("stuck", delay=FOR_EVER)
    run_id = office.queue("stuck")
    command = [sys.executable, "-c", BY_HAND, "worker", "--device", "cpu"]
    command += ["--database", str(office.database.path), "--models-file", str(office.models)]
    process = subprocess.Popen(
        command, env=os.environ | {"EVALUI_HANG_S": str(HANG_S)}, stderr=subprocess.DEVNULL
    )
    office.processes.append(process)
    again = office.wait_for(run_id, lambda run: run.attempt == 2)
    assert at_work(office, again.worker).own_device == "cpu"
    process.terminate()
    assert process.wait(100) == 0
    assert read_run(office.database, run_id).state == "queued"


ORPHAN = """
import os, sys
from evalui.runs.worker import main
main.ORPHAN_GRACE_S = 0.5
main.main(["--database", sys.argv[1], "--models-file", sys.argv[2], "--parent", str(os.getppid())])
"""
PARENT = """
import subprocess, sys
worker = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE)
print(worker.pid, flush=True)
worker.wait()
"""


def test_a_worker_that_hangs_when_its_server_is_killed_ends_and_frees_its_run(
    office: Office,
) -> None:
    office.hire("stuck", delay=FOR_EVER)
    run_id = office.queue("stuck")
    command = [sys.executable, "-c", PARENT, "-c", ORPHAN]
    command += [str(office.database.path), str(office.models)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    office.processes.append(server)
    assert server.stdout
    with server.stdout as lines:
        worker = int(lines.readline())
    office.wait_for(run_id, lambda run: run.state == "running")
    server.kill()
    wait_until(lambda: not lives(worker))
    assert queue.requeue_lost(office.database, worker=worker_name(worker)) == 1
    assert read_run(office.database, run_id).state == "queued"
