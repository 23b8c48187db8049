"""The worker process: takes runs and trials of models from the queue, one model at a time.

Several workers may share a store; each holds one run at a time and renews its lease in a thread.
"""

import argparse
import logging
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import FileIO
from itertools import groupby
from pathlib import Path
from types import FrameType

from evalui.errors import Cancelled, EvaluiError, RunLeaseLost, StoreError, Unreachable
from evalui.models import Model, ModelEntry, open_model
from evalui.models.base import Stoppable, loads_weights
from evalui.models.catalog import find_entry
from evalui.models.local import import_libraries
from evalui.models.user_catalog import additions_path, read_models
from evalui.runs.cluster.model import ClusterOpener, is_loading, model_opener
from evalui.runs.database import queue
from evalui.runs.database.connection import Database, configure_log
from evalui.runs.database.datasets import read_cell_dataset
from evalui.runs.database.records import CellRow, Lease, RunRow
from evalui.runs.database.runs import is_recorded, read_cells
from evalui.runs.database.throughput import store_loading_time
from evalui.runs.kept_summaries import summarise_ending
from evalui.runs.worker import model_tests
from evalui.runs.worker.cell import CellRun, Interrupted, wait_for_cell_model
from evalui.runs.worker.devices import device_of, use_device
from evalui.runs.worker.heartbeat import Heartbeat, WorkerStatus
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.runs.worker.warming import Warming
from evalui.settings import Settings
from evalui.types import Dataset

HEARTBEAT_TIMEOUT_S = 20.0  # a worker without a heartbeat for so long is dead
IDLE_POLL_S = 0.5  # how often an idle worker polls the queue
STATUS_INTERVAL_S = 5.0  # how often an idle worker reports its status
LOADING_TIMEOUT_S = 300.0  # how long a trial waits for a model that a cluster loads

_log = logging.getLogger(__name__)


class Worker:
    """Does runs. `catalog` is read anew for each, so a corrected entry counts at once.

    `model_opener` makes a model of its entry; without one it is loaded in this process.
    `stopping` is called between batches: once it returns true, the run goes back to the queue.
    """

    def __init__(
        self,
        database: Database,
        catalog: Callable[[], Mapping[str, ModelEntry]],
        *,
        name: str = "",
        opener: Callable[[ModelEntry], Model] | None = None,
        stopping: Callable[[], bool] = lambda: False,
        on_batch: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name or worker_name(os.getpid())
        self._database = database
        self._catalog = catalog
        self._opener = opener or open_model
        self._stopping = stopping
        self._on_batch = on_batch
        self.status = WorkerStatus(database, self.name)
        self._has_loaded_model = False  # whether a model was, so that its libraries are imported
        self._active_model: Model | None = (
            None  # while cells are at work; the heartbeat reads it, too
        )

    def run_test_once(self) -> bool:
        """Try the oldest model out that waits for it; False if none does."""
        # One of our own that still counts as running could not be written at its end.
        model_tests.requeue_model_tests(self._database, worker=self.name)
        trial = model_tests.claim_model_test(self._database, self.name)
        if trial is None:
            return False
        self.status.update(model=trial.model)
        try:
            with Heartbeat(self._database, status=self.status):
                model_tests.finish_model_test(self._database, self._run_model_test(trial))
        except Interrupted:
            model_tests.release_model_test(self._database, trial)
        except KeyboardInterrupt:
            model_tests.release_model_test(self._database, trial)
            raise
        finally:
            self.status.update()
        return True

    def run_once(self, run_id: str = "") -> bool:
        """Do the oldest queued run, or the one named; False if there was none to do.

        However the run ends is written with the run. If even that cannot be written (a full
        disk), the run falls silent and is queued again in `HEARTBEAT_TIMEOUT_S` seconds.
        """
        run = queue.claim(self._database, self.name, run_id)
        if run is None:
            return False
        try:
            self.status.update(run=run.id)
            stop = partial(self._stop_if_unwanted, run.lease)
            with Heartbeat(self._database, run.lease, status=self.status, on_heartbeat=stop):
                self._do_run(run)
        except RunLeaseLost as error:
            _log.warning("%s", error)
        except StoreError:
            _log.exception("Run %s cannot be written", run.id)
        finally:
            self.status.update()
        return True

    def _run_model_test(self, trial: ModelTestRow) -> ModelTestRow:
        where = device_of(trial.entry)
        try:
            return model_tests.run_model_test(
                trial,
                self._open_for_test,
                on_loaded=lambda: self.status.update(model=trial.model, device=where),
            )
        except (StoreError, Interrupted):
            raise
        except Exception as error:  # noqa: BLE001 (kept with the test, for the user who requested it)
            _log.exception("%s cannot be tried out", trial.model)
            return replace(trial, error=_error_text(error))

    def _open_for_test(self, entry: ModelEntry) -> Model:
        """The model to try out. One that a cluster still loads is waited for, as one that is loaded
        here would be; it is not requested again.
        """
        until = time.monotonic() + LOADING_TIMEOUT_S
        try:
            while True:
                try:
                    return self._opener(entry)
                except Unreachable as error:
                    if self._stopping():
                        raise Interrupted from error
                    if not is_loading(error) or time.monotonic() > until:
                        raise
        except Exception:  # raised again
            self._cancel_loading()
            raise

    def _cancel_loading(self) -> None:
        if isinstance(self._opener, ClusterOpener):
            self._opener.cancel_loading()

    def _do_run(self, run: RunRow) -> None:
        try:
            self._do_cells(run)
            queue.finish(self._database, run.lease)
        except Cancelled:
            queue.finish_cancelled(self._database, run.lease)
        except Interrupted:
            queue.release(self._database, run.lease)
        except KeyboardInterrupt:
            queue.release(self._database, run.lease)
            raise
        except RunLeaseLost:
            raise
        except StoreError as error:
            queue.fail(self._database, run.lease, error.sentence)
        except Exception as error:  # noqa: BLE001 (kept with the run, for the user who sees it)
            queue.fail(self._database, run.lease, _error_text(error), traceback.format_exc())

    def _do_cells(self, run: RunRow) -> None:
        waiting = [row for row in read_cells(self._database, run.id) if row.state == "waiting"]
        # A judge may have the name of a contestant whose answers were supplied.
        groups = groupby(waiting, key=lambda row: (row.cell.model, is_recorded(row)))
        for (_, recorded), rows in groups:
            cells = list(rows)
            if recorded:
                for row in cells:
                    self._do_cell(run.lease, row, lambda job, dataset: job.grade(dataset))
                continue
            try:
                queue.check_lease(self._database, run.lease)
                model = self._open_for_cell(run.lease, cells[0])
            except (Cancelled, Interrupted, RunLeaseLost, StoreError):
                raise
            except Exception as error:  # noqa: BLE001 (kept with each cell of the model)
                for row in cells:
                    self._fail_cell(run.lease, row, error)
                continue
            self._active_model = model
            try:
                self._do_cells_of_model(run.lease, cells, model)
            finally:
                self._active_model = None
                model.close()
                self.status.update(run=run.id)

    def _stop_if_unwanted(self, lease: Lease) -> None:
        """Stop a model that keeps the worker waiting for a run that was lost or cancelled."""
        model = self._active_model
        if not isinstance(model, Stoppable):
            return
        try:
            queue.check_lease(self._database, lease)
            unwanted = self._stopping()
        except (Cancelled, RunLeaseLost):
            unwanted = True
        if unwanted:
            model.stop()

    def _open_for_cell(self, lease: Lease, row: CellRow) -> Model:
        """The model of a cell, waited for if it does not answer; the cell states so."""
        entry = self._entry(row.cell.model)
        self.status.update(model=entry.name, run=lease.run_id)
        waiting = wait_for_cell_model(
            self._database, lease, row, interrupted=self._stopping, on_wait=self._on_batch
        )
        try:
            model = waiting.call_until_reachable(lambda: self._open_timed(entry))
        except BaseException:  # raised again; what is loading would hold its resources for ever
            self._cancel_loading()
            raise
        self.status.update(model=entry.name, run=lease.run_id, device=device_of(entry))
        return model

    def _open_timed(self, entry: ModelEntry) -> Model:
        """Open a model and remember how long it took, where it loads here."""
        if not loads_weights(entry):
            return self._opener(entry)
        began, cold = time.monotonic(), not self._has_loaded_model
        model = self._opener(entry)
        self._has_loaded_model = True
        seconds = time.monotonic() - began
        try:
            store_loading_time(
                self._database, entry.name, cold=cold, worker=self.name, seconds=seconds
            )
        except StoreError as error:  # it only serves the next estimate
            _log.warning("How long %s took to load cannot be written: %s", entry.name, error)
        return model

    def _do_cells_of_model(self, lease: Lease, cells: Sequence[CellRow], model: Model) -> None:
        for at, row in enumerate(cells):
            try:
                self._do_cell(lease, row, partial(_answer, model))
            except Unreachable as error:
                # It did not answer for as long as we wait; the other cells need not wait as long.
                for left in cells[at:]:
                    self._fail_cell(lease, left, error)
                return

    def _do_cell(
        self, lease: Lease, row: CellRow, work: Callable[[CellRun, Dataset], None]
    ) -> None:
        job = CellRun(
            self._database, lease, row, interrupted=self._stopping, on_batch=self._on_batch
        )
        try:
            work(job, read_cell_dataset(self._database, row.id))
        except (Cancelled, Interrupted, RunLeaseLost, StoreError, Unreachable):
            raise
        except Exception as error:  # noqa: BLE001 (kept with the cell; the others go on)
            self._fail_cell(lease, row, error)
        else:
            summarise_ending(self._database, row)
            queue.finish_cell(self._database, lease, row.id)

    def _fail_cell(self, lease: Lease, row: CellRow, error: Exception) -> None:
        _log.warning("%s on %s failed: %s", row.cell.model, row.cell.dataset, error)
        trace = "".join(traceback.format_exception(error))
        queue.finish_cell(self._database, lease, row.id, _error_text(error), trace)

    def _entry(self, name: str) -> ModelEntry:
        return find_entry(self._catalog(), name)


def worker_name(pid: int) -> str:
    """What the worker with this process id is called."""
    return f"{socket.gethostname()}:{pid}"


def serve(
    database: Database,
    catalog: Path,
    *,
    ending: threading.Event,
    parent: int = 0,
    opener: Callable[[ModelEntry], Model] | None = None,
    warming: Warming | None = None,
) -> None:
    """Work on whatever is queued until `ending` is set or the process `parent` is gone.

    Models come from `catalog` and from the additions beside the store. Trials of models come
    first: each takes a moment, and a user waits for it. With `warming` it also ends when it has
    held libraries for long without need.
    """

    def stopping() -> bool:
        # A server that was killed cannot stop its workers. A new one brings its own.
        return ending.is_set() or bool(parent and os.getppid() != parent)

    additions = additions_path(database.path)
    worker = Worker(
        database,
        lambda: read_models(catalog, additions, Settings().endpoint_hosts),
        opener=opener,
        stopping=stopping,
    )
    if not stopping():
        worker.status.update()
    reported = time.monotonic()
    while not stopping():
        if time.monotonic() - reported > STATUS_INTERVAL_S:
            worker.status.refresh()
            reported = time.monotonic()
        try:
            queue.requeue_lost(database, silent_s=HEARTBEAT_TIMEOUT_S)
            model_tests.requeue_model_tests(database)
            busy = worker.run_test_once() or worker.run_once()
        except StoreError as error:
            _log.warning("%s", error)
            busy = False
        if not busy:
            ending.wait(IDLE_POLL_S)
        if warming and _is_idle_for_long(warming, busy=busy):
            break
    worker.status.remove()


def _is_idle_for_long(warming: Warming, *, busy: bool) -> bool:
    if busy:
        warming.touch()
    else:
        warming.prepare()
    return warming.is_over


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m evalui.runs.worker.main`: work until SIGTERM or SIGINT; the exit code."""
    settings = Settings()
    parser = argparse.ArgumentParser(prog="evalui worker", description="Work on queued runs.")
    parser.add_argument("--database", type=Path, default=settings.database)
    parser.add_argument("--models-file", type=Path, default=settings.models)
    parser.add_argument("--parent", type=int, default=0, help="end when this process is gone")
    parser.add_argument("--device", default="", help="cpu, or a GPU such as cuda:1")
    given = parser.parse_args(arguments)
    use_device(given.device)
    configure_log(logging.INFO)
    for chatty in ("httpx", "httpx2"):  # a line for every request to the hub
        logging.getLogger(chatty).setLevel(logging.WARNING)
    ending = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        ending.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    database = Database(given.database)
    try:
        models_of = model_opener(settings)
        serve(
            database,
            given.models_file,
            ending=ending,
            parent=given.parent,
            opener=models_of,
            warming=_follow_server(settings) if given.parent else None,
        )
    finally:
        database.close()
    return 0


def _follow_server(settings: Settings) -> Warming:
    """Warming that the server requests over standard input; on a cluster models load elsewhere."""
    warming = Warming(import_libraries if settings.engine == "local" else lambda: None)
    # Not the buffered reader, whose lock the thread would hold when the worker ends; nor its file,
    # which is closed then.
    warming.follow(FileIO(os.dup(sys.stdin.fileno())))
    return warming


def _answer(model: Model, job: CellRun, dataset: Dataset) -> None:
    job.run(model, dataset)


def _error_text(error: Exception) -> str:
    if isinstance(error, EvaluiError):
        return error.sentence
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    raise SystemExit(main())
