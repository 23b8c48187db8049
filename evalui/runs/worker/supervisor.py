"""The server's own workers: started with it, restarted when they die, ended with it."""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from evalui.errors import StoreError
from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.worker import model_tests
from evalui.runs.worker.main import worker_name

_GRACE_S = 10.0  # for the batch in hand, after which a worker is killed
_RESTART_DELAY_S = 1.0  # before a worker is started again, doubled while it dies young
_MAX_RESTART_DELAY_S = 60.0
_MIN_UPTIME_S = 30.0

_log = logging.getLogger(__name__)


class WorkerSupervisor:
    """A worker process for each device on one store; see `devices.worker_devices`.

    One thread waits for each: a worker that dies leaves a run, which is queued again at once
    instead of after the long silence that marks a lost worker.
    """

    def __init__(
        self, database: Database, models: Path, *, devices: Sequence[str] = ("",), threads: int = 0
    ) -> None:
        self._database = database
        self._devices = devices
        self._command = [
            sys.executable,
            *("-m", "evalui.runs.worker.main"),
            *("--database", str(database.path)),
            *("--models-file", str(models)),
            *("--parent", str(os.getpid())),
        ]
        self._environment = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
        self._stopping = threading.Event()
        # Protects the list of processes, and that none is started once all are being ended.
        self._lock = threading.Lock()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._threads = [
            threading.Thread(
                target=self._supervise, args=(slot,), name=f"worker {slot}", daemon=True
            )
            for slot in range(len(devices))
        ]

    def start(self) -> None:
        """Start all workers."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all workers: each writes the batch in hand and gives its run back to the queue."""
        with self._lock:
            self._stopping.set()
            processes = list(self._processes.values())
            for process in processes:
                process.terminate()
        for process in processes:
            try:
                process.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
        for thread in self._threads:
            thread.join()

    def warm(self) -> None:
        """Have the libraries of local models ready in each worker; see `worker.warming`."""
        with self._lock:
            for process in self._processes.values():
                if process.stdin and process.poll() is None:
                    with suppress(BrokenPipeError):  # it is ending just now
                        process.stdin.write(b"\n")

    def _supervise(self, slot: int) -> None:
        pause = _RESTART_DELAY_S
        while (process := self._start(slot)) is not None:
            born = time.monotonic()
            code = process.wait()
            with self._lock:
                if process.stdin:
                    process.stdin.close()
            self._requeue(process.pid, code)
            pause = _RESTART_DELAY_S if time.monotonic() - born > _MIN_UPTIME_S else 2 * pause
            self._stopping.wait(min(pause, _MAX_RESTART_DELAY_S))

    def _requeue(self, pid: int, code: int) -> None:
        try:
            if self._stopping.is_set():
                self._release(worker_name(pid))
                return
            if queue.requeue_lost(self._database, worker=worker_name(pid)):
                _log.warning("Worker %d died with %d; its run is queued again", pid, code)
            model_tests.requeue_model_tests(self._database, worker=worker_name(pid))
        except StoreError as error:
            # The next worker finds the silent run by itself, a little later.
            _log.warning("Worker %d died with %d: %s", pid, code, error)

    def _release(self, worker: str) -> None:
        """Queue again what a worker was at that was killed by our own end, which is no loss."""
        database = self._database
        queue.release_worker_runs(database, worker)
        if trial := model_tests.model_test_of_worker(database, worker):
            model_tests.release_model_test(database, trial)

    def _start(self, slot: int) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._stopping.is_set():
                return None
            process = subprocess.Popen(
                [*self._command, "--device", self._devices[slot]],
                env=self._environment,
                stdin=subprocess.PIPE,
                bufsize=0,
            )
            self._processes[slot] = process
            return process
