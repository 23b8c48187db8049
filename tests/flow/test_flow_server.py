"""The server's workers: restarted when they die, ended with it, orphaned by its death."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from flow_examples import SLOW, TRIALS, Office, wait_until

from evalui.errors import StoreError
from evalui.messages import Sentence
from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_run
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.types import Trial

SERVER = """
import sys, time
from pathlib import Path
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.runs.database.connection import Database
workers = WorkerSupervisor(Database(Path(sys.argv[1])), Path(sys.argv[2]))
workers.start()
while not workers.pids():
    time.sleep(0.01)
print(*workers.pids(), flush=True)
time.sleep(600)
"""


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        about = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it ended just now
        return False
    # A killed server's worker has no parent left here that would collect it.
    return about.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_server_leaves_no_worker_and_no_lost_run(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    command = [sys.executable, "-c", SERVER, str(office.database.path), str(office.models)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    office.processes.append(server)
    assert server.stdout
    (pid,) = map(int, server.stdout.readline().split())
    office.wait_for(run_id, lambda run: run.done > 0)
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    wait_until(lambda: not lives(pid))
    assert read_run(office.database, run_id).state == "queued"
    office.pace(0)
    workers = WorkerSupervisor(office.database, office.models)
    workers.start()
    try:
        office.wait_for(run_id, lambda run: run.state == "done")
    finally:
        workers.stop()
    assert office.trials(run_id) == expected
    assert len(office.answered()) == TRIALS


def test_a_worker_that_dies_is_replaced_and_its_run_goes_on(office: Office) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    workers = WorkerSupervisor(office.database, office.models)
    workers.start()
    try:
        office.wait_for(run_id, lambda run: run.done > 0)
        (first,) = workers.pids()
        os.kill(first, signal.SIGKILL)
        office.pace(0)
        run = office.wait_for(run_id, lambda run: run.state == "done")
        assert run.attempt == 2
        assert workers.pids() != [first]
    finally:
        workers.stop()


def test_stopping_ends_every_worker_and_gives_its_run_back(office: Office) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    workers = WorkerSupervisor(office.database, office.models, count=2)
    workers.start()
    try:
        office.wait_for(run_id, lambda run: run.done > 0)
        pids = workers.pids()
    finally:
        workers.stop()
    assert len(pids) == 2
    assert workers.pids() == []
    assert read_run(office.database, run_id).state == "queued"
    assert len(office.answered()) == read_run(office.database, run_id).done


def test_a_worker_is_replaced_even_if_its_death_cannot_be_noted(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(database: Database, *, worker: str) -> int:
        raise StoreError(Sentence(f"{database.path} is locked; {worker} was not noted."))

    monkeypatch.setattr(queue, "requeue_lost", locked)
    workers = WorkerSupervisor(office.database, office.models)
    workers.start()
    try:
        wait_until(lambda: len(workers.pids()) == 1)
        (first,) = workers.pids()
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: len(workers.pids()) == 1 and workers.pids() != [first])
    finally:
        workers.stop()


def test_a_worker_imports_libraries_when_the_server_requests_it(office: Office) -> None:
    workers = WorkerSupervisor(office.database, office.models)
    workers.start()
    try:
        wait_until(lambda: len(workers.pids()) == 1)
        (worker,) = workers.pids()
        maps = Path(f"/proc/{worker}/maps")
        assert "libtorch" not in maps.read_text(encoding="utf-8")
        workers.warm()
        wait_until(lambda: "libtorch" in maps.read_text(encoding="utf-8"))
        assert workers.pids() == [worker]
    finally:
        workers.stop()
