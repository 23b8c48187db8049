"""Workers of a server, or one started by hand: restarted when they die or hang, ended together."""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from evalui.errors import StoreError
from evalui.logs import configure_log
from evalui.messages import sentence
from evalui.runs.worker import model_tests
from evalui.runs.worker.devices import visible_device
from evalui.runs.worker.worker import set_by_signals, worker_name
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.queue import MAX_LOSSES

_GRACE_S = 10.0  # for the batch in hand, after which a worker is killed
_WATCH_INTERVAL_S = 2.0  # between two looks at whether a worker hangs
_RESTART_DELAY_S = 1.0  # before a worker is started again, doubled while it dies young
_MAX_RESTART_DELAY_S = 60.0
_MIN_UPTIME_S = 30.0
_RUN_SQL = """
    SELECT r.id, r.attempt, group_concat(c.id) AS cell, max(c.written) AS written,
        (SELECT count(*) FROM cell WHERE run = r.id AND state IN ('done', 'failed')) AS ended,
        (SELECT max(waits) FROM cell WHERE run = r.id) AS waits
    FROM run r LEFT JOIN cell c ON c.run = r.id AND c.state = 'running'
    WHERE r.worker = ? AND r.state = 'running' GROUP BY r.id
"""
_TEST_SQL = "SELECT id FROM trial_of_model WHERE worker = ? AND state = 'running'"

_log = logging.getLogger(__name__)


class WorkerSupervisor:
    """A worker process for each device on one store; see `devices.worker_devices`.

    One that makes no progress for `hang_s` or `loading_s` seconds, see `ProgressWatch`, is ended.
    One thread waits for each: a worker that dies leaves a run, which is queued again at once
    instead of after the long silence that marks a lost worker.
    """

    def __init__(
        self,
        database: Database,
        models: Path,
        *,
        devices: Sequence[str] = ("",),
        threads: int = 0,
        hang_s: float = 0.0,
        loading_s: float = 0.0,
    ) -> None:
        self._database = database
        self._hang_s = hang_s
        self._loading_s = loading_s
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
        """Have the libraries of local models ready in each worker; see `main.Warming`."""
        with self._lock:
            for process in self._processes.values():
                if process.stdin and process.poll() is None:
                    with suppress(BrokenPipeError):  # it is ending just now
                        process.stdin.write(b"\n")

    def _supervise(self, slot: int) -> None:
        pause = _RESTART_DELAY_S
        while (process := self._start(slot)) is not None:
            born = time.monotonic()
            code, error = self._wait(process)
            with self._lock:
                if process.stdin:
                    process.stdin.close()
            self._requeue(process.pid, code, error)
            pause = _RESTART_DELAY_S if time.monotonic() - born > _MIN_UPTIME_S else 2 * pause
            self._stopping.wait(min(pause, _MAX_RESTART_DELAY_S))

    def _wait(self, process: subprocess.Popen[bytes]) -> tuple[int, str]:
        """Wait for a worker to end, or end one that hangs: its exit code and why, "" if it died."""
        watch = ProgressWatch(
            self._database,
            worker_name(process.pid),
            hang_s=self._hang_s,
            loading_s=self._loading_s,
        )
        while True:
            try:
                return process.wait(_WATCH_INTERVAL_S), ""
            except subprocess.TimeoutExpired:
                if seconds := _hung_s(watch):
                    _log.warning("Worker %d makes no progress and is ended", process.pid)
                    minutes = f"{seconds / 60:.3g}"
                    return _end(process), sentence("error.worker-hung", n=minutes, times=MAX_LOSSES)

    def _requeue(self, pid: int, code: int, error: str = "") -> None:
        try:
            if self._stopping.is_set():
                # What it was at, killed by our own end, is no loss.
                queue.release_worker_runs(self._database, worker_name(pid))
                if trial := model_tests.model_test_of_worker(self._database, worker_name(pid)):
                    model_tests.release_model_test(self._database, trial)
                return
            if queue.requeue_lost(self._database, worker=worker_name(pid), error=error):
                _log.warning("Worker %d died with %d; its run is queued again", pid, code)
            model_tests.requeue_model_tests(self._database, worker=worker_name(pid))
        except StoreError as unwritten:
            # The next worker finds the silent run by itself, a little later.
            _log.warning("Worker %d died with %d: %s", pid, code, unwritten)

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


class ProgressWatch:
    """How long one worker has made no progress, though it lives: its heart beats in a thread of its
    own.

    A run progresses with each batch that one of its cells writes; of several runs each has to.
    One whose model is loaded, or tried out, and a worker that starts may take `loading_s` seconds,
    all else `hang_s`; 0 is for ever. A model at an endpoint that is waited for has a patience of
    its own.
    """

    def __init__(
        self,
        database: Database,
        worker: str,
        *,
        hang_s: float,
        loading_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._worker = worker
        self._hang_s = hang_s
        self._loading_s = loading_s
        self._clock = clock
        self._seen: Mapping[Hashable, tuple[Hashable, float]] = {}  # marks, and since when

    def hung_s(self) -> float:
        """How many seconds without progress were too long, 0 if none; raises `StoreError`."""
        now, before, work = self._clock(), self._seen, self._look()
        self._seen = {
            what: before[what] if what in before and before[what][0] == mark else (mark, now)
            for what, (mark, _) in work.items()
        }
        late = [
            patience
            for what, (_, patience) in work.items()
            if patience and now - self._seen[what][1] > patience
        ]
        return max(late, default=0.0)

    def _look(self) -> Mapping[Hashable, tuple[Hashable, float]]:
        """What the worker is at: what changes with its progress, and for how many seconds that may
        stay the same, 0 for ever.
        """
        work: dict[Hashable, tuple[Hashable, float]] = {}
        for run in self._database.rows(_RUN_SQL, (self._worker,)):
            patience = self._hang_s if run["cell"] else self._loading_s
            work[run["id"]] = tuple(run), 0.0 if run["waits"] else patience
        if test := self._database.row(_TEST_SQL, (self._worker,)):
            work["test"] = test["id"], self._loading_s
        if work:
            return work
        if row := self._database.row("SELECT seen FROM worker WHERE name = ?", (self._worker,)):
            return {"idle": (row["seen"], self._hang_s)}
        return {"starting": (None, self._loading_s)}


def supervise(
    settings: Settings, *, database: Path | None, models: Path | None, device: str
) -> None:
    """Run one worker in the foreground until SIGTERM or SIGINT, on the store and the models of the
    settings unless others are given.

    Raises:
        SpecError: there is no such device, see `devices.visible_device`.
        StoreError: the store cannot be opened.
    """
    if device:
        visible_device(device)
    configure_log(logging.INFO, settings.log)
    ending = set_by_signals()
    with closing(Database(database or settings.database)) as store:
        workers = WorkerSupervisor(
            store,
            models or settings.models,
            devices=(device,),
            threads=settings.threads,
            hang_s=settings.hang_s,
            loading_s=settings.loading_s,
        )
        workers.start()
        ending.wait()
        workers.stop()


def _hung_s(watch: ProgressWatch) -> float:
    try:
        return watch.hung_s()
    except StoreError as error:
        _log.warning("Whether a worker hangs cannot be read: %s", error)
        return 0.0


def _end(process: subprocess.Popen[bytes]) -> int:
    """End a worker and the processes of its models, by force if need be; its exit code."""
    import psutil

    try:
        started = psutil.Process(process.pid).children(recursive=True)
    except psutil.Error:  # it has ended just now
        started = []
    process.terminate()
    try:
        code = process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    for child in started:
        with suppress(psutil.Error):  # it has ended with the worker
            child.kill()
    return code
