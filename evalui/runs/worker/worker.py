"""One worker: runs and trials of models from the queue.

Models at endpoints work at the same time, and beside one that computes here. Several workers may
share a store; each holds one run at a time and renews its lease in a thread.
"""

import logging
import os
import socket
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial
from itertools import groupby

from evalui.errors import Cancelled, EvaluiError, RunLeaseLost, StoreError, Unreachable
from evalui.messages import sentence
from evalui.models import Model, ModelEntry, open_model
from evalui.models.base import (
    Stoppable,
    Streaming,
    is_instant,
    is_out_of_memory,
    loads_weights,
    traits_of,
)
from evalui.models.catalog import find_entry
from evalui.models.kept_replies import KeptReplies
from evalui.runs.cluster.model import is_loading
from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.database.datasets import read_cell_dataset
from evalui.runs.database.records import CellRow, Lease, RunRow
from evalui.runs.database.runs import is_recorded, read_cells
from evalui.runs.fair_queue.decisions import queue_state
from evalui.runs.fair_queue.limits import UserLimits, read_limits
from evalui.runs.fair_queue.turns import spent_reason, take_turn
from evalui.runs.kept_summaries import summarise_ending
from evalui.runs.worker import model_tests
from evalui.runs.worker.cell import CellRun, Interrupted, wait_for_cell_model
from evalui.runs.worker.heartbeat import Heartbeat, WorkerStatus
from evalui.runs.worker.model_keeper import ModelKeeper
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.types import Dataset

LOADING_TIMEOUT_S = 300.0  # how long a trial waits for a model that a cluster loads
_MAX_REMOTE = 16  # models at endpoints that work at the same time
_MAX_OVERLAPPING = 4  # cells of one of them: the one that sends, and those that wait for replies

_log = logging.getLogger(__name__)


class Worker:
    """Does runs. `catalog` is read anew for each, so a corrected entry counts at once.

    `model_opener` makes a model of its entry; without one it is loaded in this process.
    `stopping` is called between batches: once it returns true, the run goes back to the queue; so
    it does when its owner has spent what they may. `device` is the one it was started for, "" if
    for any, `model_idle_s` how long a model is kept for the next run, see `ModelKeeper`.
    `replies` is another store of responses, see `CellRun`. Without `asks_models`, kept responses
    are all that is used of the models that are evaluated; judges are asked all the same.
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
    ) -> None:
        self._replies = replies
        self._asks_models = asks_models
        self.name = name or worker_name(os.getpid())
        self._database = database
        self._catalog = catalog
        self._stopping = stopping
        self._on_batch = on_batch
        self._usual = usual
        self._is_spent_up = False  # whether the owner of the run in hand may spend no more
        self.status = WorkerStatus(database, self.name, device)
        self.models = ModelKeeper(
            database,
            opener or open_model,
            self.status,
            idle_s=model_idle_s,
            own_device=device,
        )
        # Of the cells at work, in several threads; the heartbeat reads them, too.
        self._active_models: list[Model] = []
        self._has_many = False  # several models at a time
        self._is_given_up = False  # whether the cells at work are to end since one of them has to

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
            self.models.report_idle()
        return True

    def run_once(self, run_id: str = "") -> bool:
        """Do the run whose turn it is, or the one named; False if there was none to do.

        However the run ends is written with the run. If even that cannot be written (a full
        disk), the run falls silent and is queued again in `HEARTBEAT_TIMEOUT_S` seconds.
        """
        choose = partial(take_turn, usual=self._usual, now=time.time())
        run = queue.claim(self._database, self.name, run_id, choose=choose)
        if run is None:
            return False
        try:
            self._is_spent_up = self._is_given_up = False
            self.status.update(run=run.id)
            stop = partial(self._stop_if_unwanted, run)
            with Heartbeat(self._database, run.lease, status=self.status, on_heartbeat=stop):
                self._do_run(run)
        except RunLeaseLost as error:
            _log.warning("%s", error)
        except StoreError:
            _log.exception("Run %s cannot be written", run.id)
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
            return replace(trial, error=_error_text(error))

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
        # Judges come last: they are shown what the others have answered.
        for _, of_stage in groupby(waiting, key=lambda row: row.cell.gives == "verdicts"):
            cells = list(of_stage)
            for row in filter(is_recorded, cells):
                self._do_cell(run.lease, row, lambda job, dataset: job.grade(dataset))
            prompted = [row for row in cells if not is_recorded(row)]
            groups = groupby(prompted, key=lambda row: row.cell.model)
            self._do_models(run, [tuple(rows) for _, rows in groups])

    def _do_models(self, run: RunRow, models: Sequence[Sequence[CellRow]]) -> None:
        """Do the cells of each model; those at endpoints at the same time, beside all others."""
        remote = [cells for cells in models if self._is_remote(cells[0])]
        if len(models) == 1 or not remote or self.models.are_elsewhere:
            for cells in models:
                self._do_model(run, cells)
            return
        entry = self._entry(remote[0][0].cell.model)
        self.status.update(model=entry.name, run=run.id, device=self.models.device_of(entry))
        self._has_many = True
        with ThreadPoolExecutor(min(len(remote), _MAX_REMOTE), "endpoint-cells") as threads:
            # The log names the run in these threads, too.
            started = [
                threads.submit(copy_context().run, self._do_model, run, cells) for cells in remote
            ]
            try:
                for cells in models:
                    if cells not in remote:
                        self._do_model(run, cells)
                for each in as_completed(started):
                    each.result()
            except BaseException:  # raised again; the others end soon
                self._give_up()
                raise
            finally:
                self._has_many = False

    def _is_remote(self, row: CellRow) -> bool:
        try:
            return traits_of(self._entry(row.cell.model)).remote
        except EvaluiError:  # an entry that is gone fails its cells in its turn
            return False

    def _give_up(self) -> None:
        self._is_given_up = True
        for model in tuple(self._active_models):
            if isinstance(model, Stoppable):
                model.stop()

    def _do_model(self, run: RunRow, cells: Sequence[CellRow]) -> None:
        try:
            self._check_draining()
            queue.check_lease(self._database, run.lease)
            self._check_given_up()
            entry = self._entry(cells[0].cell.model)
            model = self._open_for_cell(run.lease, cells[0], entry)
        except (Cancelled, Interrupted, RunLeaseLost, StoreError):
            raise
        except Exception as error:  # noqa: BLE001 (kept with each cell of the model)
            for row in cells:
                self._fail_cell(run.lease, row, error)
            return
        self._use_model(run, cells, entry, model)

    def _use_model(
        self, run: RunRow, cells: Sequence[CellRow], entry: ModelEntry, model: Model
    ) -> None:
        """Do the cells of a model; it is kept if it worked in all of them."""
        works = False
        self._active_models.append(model)
        try:
            works = self._do_cells_of_model(run.lease, cells, entry, model)
        except Cancelled:
            works = True
            raise
        finally:
            self._active_models.remove(model)
            if works:
                self.models.keep(entry, model)
            else:
                model.close()
            if not self._active_models:
                self.status.update(run=run.id)

    def _check_given_up(self) -> None:
        if self._is_given_up:
            raise Interrupted

    def _check_draining(self) -> None:
        """Raise `Interrupted` if runs are to end after the cell in hand."""
        with self._database.reading() as connection:
            if queue_state(connection) == "draining":
                raise Interrupted

    def _is_interrupted(self) -> bool:
        return self._is_spent_up or self._is_given_up or self._stopping()

    def _stop_if_unwanted(self, run: RunRow) -> None:
        """Note whether the owner of the run may still spend, and stop a model that keeps the
        worker waiting for a run that was lost, cancelled or is to wait.
        """
        with self._database.reading() as connection:
            limits = read_limits(connection, run.owner, self._usual)
            self._is_spent_up = bool(spent_reason(connection, run.owner, limits, time.time()))
        models = [each for each in tuple(self._active_models) if isinstance(each, Stoppable)]
        if not models:
            return
        try:
            queue.check_lease(self._database, run.lease)
            unwanted = self._is_interrupted()
        except (Cancelled, RunLeaseLost):
            unwanted = True
        if unwanted:
            for model in models:
                model.stop()

    def _open_for_cell(self, lease: Lease, row: CellRow, entry: ModelEntry) -> Model:
        """The model of a cell, waited for if it does not answer; the cell states so."""
        where = self.models.device_of(entry)
        # One of several at endpoints must not hide that another model is being loaded.
        is_shown = loads_weights(entry) or not self._has_many
        if is_shown:  # without a device it counts as being loaded
            device = "" if loads_weights(entry) else where
            self.status.update(model=entry.name, run=lease.run_id, device=device)
        waiting = wait_for_cell_model(
            self._database, lease, row, interrupted=self._is_interrupted, on_wait=self._on_batch
        )
        try:
            model = waiting.call_until_reachable(lambda: self.models.open(entry, lease.run_id))
        except BaseException:  # raised again; what is loading would hold its resources for ever
            self.models.cancel_loading()
            raise
        if is_shown:
            self.status.update(model=entry.name, run=lease.run_id, device=where)
        return model

    def _do_cells_of_model(
        self, lease: Lease, cells: Sequence[CellRow], entry: ModelEntry, model: Model
    ) -> bool:
        """Whether the model worked in every cell."""
        is_judge = cells[0].cell.gives == "verdicts"
        if not (self._asks_models or is_judge or is_instant(model)):
            model = KeptReplies(model)
        if isinstance(model, Streaming) and len(cells) > 1:
            return self._do_overlapping(lease, cells, entry, model)
        works = True
        for at, row in enumerate(cells):
            if at:
                self._check_draining()
            try:
                works &= self._do_cell(lease, row, partial(_answer, model), entry)
            except Unreachable as error:
                # It did not answer for as long as we wait; the other cells need not wait as long.
                for left in cells[at:]:
                    self._fail_cell(lease, left, error)
                return False
        return works

    def _do_overlapping(
        self, lease: Lease, cells: Sequence[CellRow], entry: ModelEntry, model: Model
    ) -> bool:
        """The same: each cell begins when the last request of the one before is on its way, so
        that no slow reply holds it up.
        """
        begun: list[Future[bool]] = []
        with ThreadPoolExecutor(_MAX_OVERLAPPING, "cells") as threads:
            for row in cells:
                if begun:
                    self._check_draining()
                sent = threading.Event()
                work = partial(_answer, model)
                do = partial(self._do_cell, lease, row, work, entry, on_sent=sent.set)
                begun.append(threads.submit(_run_in, copy_context(), do))
                begun[-1].add_done_callback(lambda _, sent=sent: sent.set())
                try:
                    sent.wait()
                except KeyboardInterrupt:
                    self._give_up()
                    raise
                if begun[-1].done() and begun[-1].exception():
                    break
            return self._end_cells(lease, cells, begun)

    def _end_cells(
        self, lease: Lease, cells: Sequence[CellRow], begun: Sequence["Future[bool]"]
    ) -> bool:
        """Whether the cells that have begun work to their end; those left over fail with them."""
        works, away = True, None
        for row, each in zip(cells, begun, strict=False):
            try:
                works &= each.result()
            except Unreachable as error:
                away = error
                self._fail_cell(lease, row, error)
            except BaseException:  # raised again; the others end soon
                self._give_up()
                raise
        # It did not answer for as long as we wait; the other cells need not wait as long.
        if away:
            for row in cells[len(begun) :]:
                self._fail_cell(lease, row, away)
        return works and not away

    def _do_cell(
        self,
        lease: Lease,
        row: CellRow,
        work: Callable[[CellRun, Dataset], None],
        entry: ModelEntry | None = None,
        *,
        on_sent: Callable[[], None] = lambda: None,
    ) -> bool:
        """Whether it is done; a cell that failed states why."""
        job = CellRun(
            self._database,
            lease,
            row,
            entry,
            interrupted=self._is_interrupted,
            on_batch=self._on_batch,
            on_sent=on_sent,
            replies=self._replies,
        )
        try:
            work(job, read_cell_dataset(self._database, row.id))
        except (Cancelled, Interrupted, RunLeaseLost, StoreError, Unreachable):
            raise
        except Exception as error:  # noqa: BLE001 (kept with the cell; the others go on)
            self._fail_cell(lease, row, error)
            return False
        summarise_ending(self._database, row)
        queue.finish_cell(self._database, lease, row.id)
        return True

    def _fail_cell(self, lease: Lease, row: CellRow, error: Exception) -> None:
        _log.warning("%s on %s failed: %s", row.cell.model, row.cell.dataset, error)
        trace = "".join(traceback.format_exception(error))
        queue.finish_cell(self._database, lease, row.id, _error_text(error), trace)

    def _entry(self, name: str) -> ModelEntry:
        return find_entry(self._catalog(), name)


def worker_name(pid: int) -> str:
    """What the worker with this process id is called."""
    return f"{socket.gethostname()}:{pid}"


def _answer(model: Model, job: CellRun, dataset: Dataset) -> None:
    job.run(model, dataset)


def _run_in(context: Context, work: Callable[[], bool]) -> bool:
    """What work comes to in a thread whose log names the run, too."""
    return context.run(work)


def _error_text(error: Exception) -> str:
    if isinstance(error, EvaluiError):
        return error.sentence
    if is_out_of_memory(error):
        return sentence("error.too-little-memory", reason=str(error).partition("\n")[0])
    return f"{type(error).__name__}: {error}"
