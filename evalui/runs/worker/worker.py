"""One worker: runs and trials of models from the queue, several runs at a time.

A run beside others asks models at endpoints, while one at most computes here. Several workers may
share a store; each run has a lease of its own, renewed in a thread.
"""

import logging
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import FrameType

from evalui.errors import StoreError, Unreachable
from evalui.models import Model, ModelEntry, open_model
from evalui.runs.cluster.model import is_loading
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.turns import MAX_BESIDE, MAX_BESIDE_OF_OWNER, WaitingRun, take_turn
from evalui.runs.worker import model_tests
from evalui.runs.worker.cell import Interrupted
from evalui.runs.worker.failures import error_text
from evalui.runs.worker.heartbeat import Heartbeat, WorkerStatus
from evalui.runs.worker.model_keeper import ModelKeeper
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.runs.worker.run_at_work import RunAtWork, WorkerParts
from evalui.runs.worker.waiting import Processor
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import RunRow

LOADING_TIMEOUT_S = 300.0  # how long a trial waits for a model that a cluster loads
_MODEL_TEST = "a test of a model"  # has the processor like a run, whose ids have no blanks

_log = logging.getLogger(__name__)


class Worker:
    """Does runs. `catalog` is read anew for each, so a corrected entry counts at once.

    `model_opener` makes a model of its entry; without one it is loaded in this process.
    `stopping` is called between batches: once it returns true, runs go back to the queue; so
    does one when its owner has spent what they may. `device` is the one it was started for, "" if
    for any, `model_idle_s` how long a model is kept for the next run, see `ModelKeeper`.
    `replies` is another store of responses, see `CellRun`. Without `asks_models`, kept responses
    are all that is used of the models that are evaluated; judges are asked all the same. Without
    `uses_kept`, responses of the store's other runs are not used.
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
        device: str = "",
        model_idle_s: float = 0.0,
        usual: UserLimits = UserLimits(),  # noqa: B008 (frozen)
        replies: Database | None = None,
        asks_models: bool = True,
        uses_kept: bool = True,
    ) -> None:
        self.name = name or worker_name(os.getpid())
        self._database = database
        self._stopping = stopping
        self._usual = usual
        self._is_ending = False  # whether the runs at work are to be given back
        self.status = WorkerStatus(database, self.name, device)
        self.models = ModelKeeper(
            database,
            opener or open_model,
            self.status,
            idle_s=model_idle_s,
            own_device=device,
        )
        self._processor = Processor()
        self._parts = WorkerParts(
            database,
            catalog,
            self.status,
            self.models,
            self._processor,
            lambda: self._is_ending or stopping(),
            on_batch,
            usual,
            replies,
            asks_models,
            uses_kept,
        )
        # The owners of the runs that were begun beside others, and the threads of those. The lock
        # protects them: the threads take themselves off.
        self._lock = threading.Lock()
        self._beside: dict[str, str] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._freed = threading.Event()

    @property
    def is_at_work(self) -> bool:
        """Whether runs that were begun beside others are at work."""
        with self._lock:
            return bool(self._threads)

    @property
    def has_room_again(self) -> bool:
        """Whether a run has ended since the last one was begun, so that another may begin."""
        return self._freed.is_set()

    def run_test_once(self) -> bool:
        """Try the oldest model out that waits for it; False if none does, or a run computes."""
        if not self._processor.try_take(_MODEL_TEST):
            return False
        try:
            return self._run_test_once()
        finally:
            self._processor.leave(_MODEL_TEST)

    def run_once(self, run_id: str = "") -> bool:
        """Do the run whose turn it is, or the one named; False if there was none to do."""
        run = self._claim(run_id)
        if run is None:
            return False
        self._do(run)
        return True

    def begin_run(self) -> bool:
        """Begin the run whose turn it is and which may start now, beside those at work; False if
        there is none. See `_may_start`; on a cluster the run is done before this returns.
        """
        if self.models.are_elsewhere:
            return self.run_once()
        self._freed.clear()  # before the queue is read: who ends later is seen the next time
        run = self._claim()
        if run is None:
            return False
        thread = threading.Thread(target=self._do_beside, args=(run,), name=f"run {run.id}")
        with self._lock:
            self._threads[run.id] = thread
        thread.start()
        return True

    def close_unused_models(self) -> None:
        """Close the model that is kept, as `ModelKeeper.close_if_unused`, if nothing computes."""
        if self._processor.try_take(_MODEL_TEST):
            self.models.close_if_unused()
            self._processor.leave(_MODEL_TEST)

    def end(self) -> None:
        """Give back the runs at work, and close the model that is kept."""
        self._is_ending = True
        with self._lock:
            threads = list(self._threads.values())
        for thread in threads:
            thread.join()
        self.models.close()

    def _claim(self, run_id: str = "") -> RunRow | None:
        """Take a run, and the processor with it if it computes here."""
        chosen: list[WaitingRun] = []
        choose = partial(
            take_turn,
            usual=self._usual,
            now=time.time(),
            may_start=self._may_start,
            on_taken=chosen.append,
        )
        run = queue.claim(self._database, self.name, run_id, choose=choose)
        if run is None:
            return None
        if any(waiting.computes_here for waiting in chosen):
            self._processor.try_take(run.id)
        else:
            with self._lock:
                self._beside[run.id] = run.owner
        return run

    def _may_start(self, waiting: WaitingRun) -> bool:
        """Whether a run may begin beside those at work.

        One that computes here needs the processor, and has it until all of its models that do
        are done: as long as it is another run's, it is left to another worker. Of those that only
        ask endpoints a person may have some at work and not all. A run that lost its worker
        works alone until it has progressed, so that the others are not lost with it.
        """
        with self._lock:
            owners = Counter(self._beside.values())
            is_alone = not self._threads
        if is_alone:
            return True
        if waiting.losses or self._has_lost_run():
            return False
        if waiting.computes_here:
            return self._processor.is_free
        return owners.total() < MAX_BESIDE and owners[waiting.owner] < MAX_BESIDE_OF_OWNER

    def _has_lost_run(self) -> bool:
        return bool(
            self._database.row(
                "SELECT 1 FROM run WHERE worker = ? AND state = 'running' AND losses > 0",
                (self.name,),
            )
        )

    def _do(self, run: RunRow) -> None:
        try:
            RunAtWork(self._parts, run).do()
        finally:
            with self._lock:
                self._beside.pop(run.id, None)
            self.models.report_idle()

    def _do_beside(self, run: RunRow) -> None:
        try:
            self._do(run)
        finally:
            with self._lock:
                del self._threads[run.id]
            self._freed.set()

    def _run_test_once(self) -> bool:
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
            self.models.report_idle()
        return True

    def _run_model_test(self, trial: ModelTestRow) -> ModelTestRow:
        where = self.models.device_of(trial.entry)
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
            return replace(trial, error=error_text(error))

    def _open_for_test(self, entry: ModelEntry) -> Model:
        """The model to try out. One that a cluster still loads is waited for, as one that is loaded
        here would be; it is not requested again.
        """
        until = time.monotonic() + LOADING_TIMEOUT_S
        try:
            while True:
                try:
                    return self.models.open_anew(entry)
                except Unreachable as error:
                    if self._stopping():
                        raise Interrupted from error
                    if not is_loading(error) or time.monotonic() > until:
                        raise
        except Exception:  # raised again
            self.models.cancel_loading()
            raise


def worker_name(pid: int) -> str:
    """What the worker with this process id is called."""
    return f"{socket.gethostname()}:{pid}"


def set_by_signals() -> threading.Event:
    """An event that SIGTERM and SIGINT set from now on."""
    ending = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        ending.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    return ending
