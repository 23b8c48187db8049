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
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_run
from evalui.types import Trial

SERVER = """
import sys, time
from pathlib import Path
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.store.connection import Database
workers = WorkerSupervisor(Database(Path(sys.argv[1])), Path(sys.argv[2]))
workers.start()
time.sleep(600)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def state_and_parent(pid: int) -> tuple[str, int]:
    """Of a process; ("", 0) where there is none."""
    try:
        about = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return "", 0
    state, parent = about.rpartition(")")[2].split()[:2]
    return state, int(parent)


def lives(pid: int) -> bool:
    # A killed server's worker has no parent left here that would collect it.
    return state_and_parent(pid)[0] not in ("", "Z")


def worker_pids(server: int) -> list[int]:
    """The workers of a server that live."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]
    own = [pid for pid in numbers if state_and_parent(pid)[1] == server and lives(pid)]
    return [pid for pid in own if "evalui.runs.worker.main" in command_line(pid)]


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_a_killed_server_leaves_no_worker_and_no_lost_run(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    command = [sys.executable, "-c", SERVER, str(office.database.path), str(office.models)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    office.processes.append(server)
    office.wait_for(run_id, lambda run: run.done > 0)
    (pid,) = worker_pids(server.pid)
    server.send_signal(signal.SIGKILL)
    server.wait()
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
        (first,) = worker_pids(os.getpid())
        os.kill(first, signal.SIGKILL)
        office.pace(0)
        run = office.wait_for(run_id, lambda run: run.state == "done")
        assert run.attempt == 2
        assert worker_pids(os.getpid()) != [first]
    finally:
        workers.stop()


def test_stopping_ends_every_worker_and_gives_its_run_back(office: Office) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    workers = WorkerSupervisor(office.database, office.models, devices=("", ""))
    workers.start()
    try:
        office.wait_for(run_id, lambda run: run.done > 0)
        pids = worker_pids(os.getpid())
    finally:
        workers.stop()
    assert len(pids) == 2
    assert worker_pids(os.getpid()) == []
    assert read_run(office.database, run_id).state == "queued"
    assert len(office.answered()) == read_run(office.database, run_id).done


def test_a_worker_is_replaced_even_if_its_death_cannot_be_noted(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(database: Database, *, worker: str, error: str) -> int:
        assert error == ""
        raise StoreError(Sentence(f"{database.path} is locked; {worker} was not noted."))

    monkeypatch.setattr(queue, "requeue_lost", locked)
    workers = WorkerSupervisor(office.database, office.models)
    workers.start()
    try:
        wait_until(lambda: len(worker_pids(os.getpid())) == 1)
        (first,) = worker_pids(os.getpid())
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: len({*worker_pids(os.getpid())} - {first}) == 1)
    finally:
        workers.stop()


def test_a_worker_imports_libraries_when_the_server_requests_it(office: Office) -> None:
    with office.models.open("a") as file:
        file.write('[demo]\nbackend = "transformers"\npath = "./nowhere"\n')
    workers = WorkerSupervisor(office.database, office.models)
    workers.start()
    try:
        wait_until(lambda: len(worker_pids(os.getpid())) == 1)
        (worker,) = worker_pids(os.getpid())
        maps = Path(f"/proc/{worker}/maps")
        assert "libtorch" not in maps.read_text(encoding="utf-8")
        workers.warm()
        wait_until(lambda: "libtorch" in maps.read_text(encoding="utf-8"))
        assert worker_pids(os.getpid()) == [worker]
    finally:
        workers.stop()
