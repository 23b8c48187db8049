"""One run at work: its cells, each with its model, until it is done, stopped or given back.

Models at endpoints work at the same time, and beside one that computes here; a judge begins with
the models that it judges. Where a server would load one model in place of another for each
question, they work one after another.
"""

import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from evalui.errors import Cancelled, EvaluiError, RunLeaseLost, StoreError, Unreachable
from evalui.models import Model, ModelEntry
from evalui.models.base import (
    BACKENDS,
    KeptReplies,
    Stoppable,
    Streaming,
    is_instant,
    is_out_of_memory,
    loads_weights,
    traits_of,
)
from evalui.models.catalog import find_entry, with_replies_of
from evalui.runs.fair_queue.limits import UserLimits, read_limits
from evalui.runs.fair_queue.turns import queue_state, spent_reason
from evalui.runs.kept_summaries import summarise_ending
from evalui.runs.results import is_recorded
from evalui.runs.worker.cell import CellRun, Interrupted, Paused, wait_for_cell_model
from evalui.runs.worker.failures import error_text
from evalui.runs.worker.heartbeat import Heartbeat, WorkerStatus
from evalui.runs.worker.model_keeper import ModelKeeper
from evalui.runs.worker.pending_trials import Arrivals
from evalui.runs.worker.waiting import CHECK_INTERVAL_S, Processor
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.datasets import read_cell_dataset
from evalui.store.runs import CellRow, RunRow, read_cells
from evalui.store.trials import contestant_cells

_MAX_REMOTE = 16  # models at endpoints that work at the same time
_WORTH_LOADING = 64  # answers for which a judge that paused is loaded again
_MAX_OVERLAPPING = 32  # cells of one of them, each with a thread
_MAX_QUESTIONS = 40_000  # of such cells: each holds its dataset

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """What the runs of one worker share; the fields are as in `Worker`.

    `stopping` tells that the worker is to end.
    """

    database: Database
    catalog: Callable[[], Mapping[str, ModelEntry]]
    status: WorkerStatus
    models: ModelKeeper
    processor: Processor
    stopping: Callable[[], bool]
    on_batch: Callable[[], None]
    usual: UserLimits
    replies: Database | None = None
    asks_models: bool = True
    uses_kept: bool = True


class RunAtWork:
    """One run that its worker has claimed, and the processor with it if it computes here.

    However it ends is written with the run. If even that cannot be written (a full disk), the run
    falls silent and is queued again when its heartbeat has been missed for long.
    """

    def __init__(self, parts: WorkerParts, run: RunRow) -> None:
        self._parts = parts
        self._database = parts.database
        self._run = run
        self._replies_of: Mapping[str, str] = json.loads(run.spec or "{}").get("replies_of", {})
        self._lease = run.lease
        self._is_spent_up = False  # whether the owner may spend no more
        self._is_given_up = False  # whether the cells at work are to end since one of them has to
        # Of the cells at work, in several threads; the heartbeat reads them, too.
        self._active_models: list[Model] = []
        self._has_many = False  # several models at a time
        self._arrivals = Arrivals()

    def do(self) -> None:
        """Do what is not done yet of the run."""
        parts, run = self._parts, self._run
        try:
            parts.status.update(run=run.id)
            with Heartbeat(
                self._database,
                self._lease,
                status=parts.status,
                on_heartbeat=self._stop_if_unwanted,
            ):
                self._do_run()
        except RunLeaseLost as error:
            _log.warning("%s", error)
        except StoreError:
            _log.exception("Run %s cannot be written", run.id)
        finally:
            parts.processor.leave(run.id)
            parts.status.end(run.id)

    def _do_run(self) -> None:
        try:
            self._do_cells()
            queue.finish(self._database, self._lease)
        except Cancelled:
            queue.finish_cancelled(self._database, self._lease)
        except Interrupted:
            queue.release(self._database, self._lease)
        except KeyboardInterrupt:
            queue.release(self._database, self._lease)
            raise
        except RunLeaseLost:
            raise
        except StoreError as error:
            queue.fail(self._database, self._lease, error.sentence)
        except Exception as error:  # noqa: BLE001 (kept with the run, for the user who sees it)
            queue.fail(self._database, self._lease, error_text(error), traceback.format_exc())

    def _do_cells(self) -> None:
        waiting = [
            row for row in read_cells(self._database, self._run.id) if row.state == "waiting"
        ]
        for row in filter(is_recorded, waiting):
            self._do_cell(row)
        prompted = [row for row in waiting if not is_recorded(row)]
        answering = [row for row in prompted if row.cell.gives != "verdicts"]
        self._arrivals = Arrivals(row.id for row in answering if row.cell.gives == "answers")
        # Judges come last: one that computes here follows the others that do, and all are shown
        # what the others have answered.
        judging = [row for row in prompted if row.cell.gives == "verdicts"]
        self._do_models([*_by_model(answering), *_by_model(judging)])

    def _do_models(self, models: Sequence[Sequence[CellRow]]) -> None:
        """Do the cells of each model; those at endpoints at the same time, beside all others."""
        remote = [cells for cells in models if self._is_remote(cells[0])]
        here = [cells for cells in models if cells not in remote]
        if len(models) == 1 or not remote or self._parts.models.are_elsewhere:
            self._do_one_by_one(models)
            return
        entry = self._entry(remote[0][0].cell.model)
        device = self._parts.models.device_of(entry)
        self._parts.status.update(model=entry.name, run=self._run.id, device=device)
        self._has_many = True
        turns = _turns(remote, [self._entry(cells[0].cell.model) for cells in remote])
        started: list[Future[None]] = []
        # No cell waits for one behind it: judges, which wait for answers, are begun last.
        with ThreadPoolExecutor(min(len(remote), _MAX_REMOTE), "endpoint-cells") as threads:
            for cells, ahead in turns:
                # The log names the run in these threads, too.
                awaited = [started[place] for place in ahead]
                run = copy_context().run
                started.append(threads.submit(run, self._do_model_or_give_up, cells, awaited))
            try:
                self._do_one_by_one(here)
                wait(started)
            except BaseException as error:  # raised again; the others end soon
                self._give_up()
                if isinstance(error, Interrupted):  # perhaps because one of them had to end
                    _raise_first(started)
                raise
            finally:
                self._has_many = False
        _raise_first(started)

    def _do_one_by_one(self, models: Sequence[Sequence[CellRow]]) -> None:
        """Do models one after the other; those that compute here have the processor."""
        for cells in models:
            if self._is_remote(cells[0]):
                self._do_model(cells)
            else:
                self._do_here(cells)
        self._parts.processor.leave(self._run.id)

    def _do_here(self, cells: Sequence[CellRow]) -> None:
        """Do the cells of a model that computes here. A judge that waits for answers gives the
        processor to others, and goes on with what is left when there is enough to judge.
        """
        left = cells
        while True:
            self._parts.processor.wait(self._run.id, self._check_wanted)
            try:
                self._do_model(left)
            except Paused:
                self._parts.processor.leave(self._run.id)
                ended = {
                    row.id
                    for row in read_cells(self._database, self._run.id)
                    if row.state not in ("waiting", "running")
                }
                left = [row for row in left if row.id not in ended]
                self._wait_for_answers(left[0])
            else:
                return

    def _wait_for_answers(self, judge: CellRow) -> None:
        """Wait until loading a judge again is worth while: for many answers, for a few where
        nobody else computes, or for the last.
        """
        judged = [cell for cell, _ in contestant_cells(self._database, judge)]
        feed, new = self._arrivals.follow(judged), 0
        try:
            while not feed.is_over and new < _WORTH_LOADING:
                if new and self._parts.processor.is_free:
                    return
                feed.wait(CHECK_INTERVAL_S)
                new += sum(map(len, feed.take().values()))
                self._check_wanted()
        finally:
            feed.close()

    def _do_model_or_give_up(self, cells: Sequence[CellRow], ahead: "list[Future[None]]") -> None:
        """Do the cells of a model when those ahead have ended, however that was."""
        wait(ahead)
        try:
            self._do_model(cells)
        except BaseException:  # raised again; the others end soon
            self._give_up()
            raise

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

    def _do_model(self, cells: Sequence[CellRow]) -> None:
        self._check_draining()
        queue.check_lease(self._database, self._lease)
        if self._is_given_up:
            raise Interrupted
        try:
            entry = self._entry(cells[0].cell.model)
            model = self._open_for_cell(cells[0], entry)
        except (Cancelled, Interrupted, RunLeaseLost, StoreError):
            raise
        except Exception as error:  # noqa: BLE001 (kept with each cell of the model)
            for row in cells:
                self._fail_cell(row, error)
            return
        self._use_model(cells, entry, model)

    def _use_model(self, cells: Sequence[CellRow], entry: ModelEntry, model: Model) -> None:
        """Do the cells of a model; it is kept if it worked in all of them."""
        works = False
        self._active_models.append(model)
        try:
            works = self._do_cells_of_model(cells, entry, model)
        except (Cancelled, Paused):
            works = True
            raise
        finally:
            self._active_models.remove(model)
            if works:
                self._parts.models.keep(entry, model)
            else:
                model.close()
            if not self._active_models:
                self._parts.status.update(run=self._run.id)

    def _check_wanted(self) -> None:
        queue.check_lease(self._database, self._lease)
        if self._is_interrupted():
            raise Interrupted

    def _check_draining(self) -> None:
        """Raise `Interrupted` if runs are to end after the cell in hand."""
        with self._database.reading() as connection:
            if queue_state(connection) == "draining":
                raise Interrupted

    def _is_interrupted(self) -> bool:
        return self._is_spent_up or self._is_given_up or self._parts.stopping()

    def _stop_if_unwanted(self) -> None:
        """Note whether the owner of the run may still spend, and stop a model that keeps the
        worker waiting for a run that was lost, cancelled or is to wait.
        """
        owner, usual = self._run.owner, self._parts.usual
        with self._database.reading() as connection:
            limits = read_limits(connection, owner, usual)
            self._is_spent_up = bool(spent_reason(connection, owner, limits, time.time()))
        models = [each for each in tuple(self._active_models) if isinstance(each, Stoppable)]
        if not models:
            return
        try:
            queue.check_lease(self._database, self._lease)
            unwanted = self._is_interrupted()
        except (Cancelled, RunLeaseLost):
            unwanted = True
        if unwanted:
            for model in models:
                model.stop()

    def _open_for_cell(self, row: CellRow, entry: ModelEntry) -> Model:
        """The model of a cell, waited for if it does not answer; the cell states so."""
        where = self._parts.models.device_of(entry)
        # One of several at endpoints must not hide that another model is being loaded.
        is_shown = loads_weights(entry) or not self._has_many
        if is_shown:  # without a device it counts as being loaded
            device = "" if loads_weights(entry) else where
            self._parts.status.update(model=entry.name, run=self._run.id, device=device)
        waiting = wait_for_cell_model(
            self._database,
            self._lease,
            row,
            interrupted=self._is_interrupted,
            on_wait=self._parts.on_batch,
            is_early=lambda: row.cell.gives == "verdicts" and self._arrivals.are_coming,
        )
        try:
            model = waiting.call_until_reachable(lambda: self._parts.models.open(entry))
        except BaseException:  # raised again; what is loading would hold its resources for ever
            self._parts.models.cancel_loading()
            raise
        if is_shown:
            self._parts.status.update(model=entry.name, run=self._run.id, device=where)
        return model

    def _do_cells_of_model(self, cells: Sequence[CellRow], entry: ModelEntry, model: Model) -> bool:
        """Whether the model worked in every cell."""
        is_judge = cells[0].cell.gives == "verdicts"
        if not (self._parts.asks_models or is_judge or is_instant(model)):
            model = KeptReplies(model)
        if isinstance(model, Streaming) and len(cells) > 1:
            return self._do_overlapping(cells, entry, model)
        works, computes_here = True, not traits_of(entry).remote
        for at, row in enumerate(cells):
            if at:
                self._check_draining()
            try:
                works &= self._do_cell(row, entry, model, pauses=is_judge and computes_here)
            except Unreachable as error:
                # It did not answer for as long as we wait; the other cells need not wait as long.
                for left in cells[at:]:
                    self._fail_cell(left, error)
                return False
        return works

    def _do_overlapping(self, cells: Sequence[CellRow], entry: ModelEntry, model: Model) -> bool:
        """The same: each cell begins as soon as those before leave the model something to do, so
        that neither slow replies nor small cells hold it up.
        """
        begun: list[Future[bool]] = []
        outstanding = OutstandingRequests(_MAX_OVERLAPPING, _MAX_QUESTIONS)
        with ThreadPoolExecutor(_MAX_OVERLAPPING, "cells") as threads:
            for row in cells:
                try:
                    outstanding.wait_for_room(row.questions)
                except KeyboardInterrupt:
                    self._give_up()
                    raise
                if any(each.done() and each.exception() for each in begun):
                    break
                if begun:
                    self._check_draining()
                outstanding.begin(row.id, row.questions)
                report = partial(outstanding.record, row.id)
                do = partial(self._do_cell, row, entry, model, on_open=report)
                begun.append(threads.submit(copy_context().run, do))
                begun[-1].add_done_callback(partial(outstanding.end, row.id))
            return self._end_cells(cells, begun)

    def _end_cells(self, cells: Sequence[CellRow], begun: Sequence["Future[bool]"]) -> bool:
        """Whether the cells that have begun work to their end; those left over fail with them."""
        works, away = True, None
        for row, each in zip(cells, begun, strict=False):
            try:
                works &= each.result()
            except Unreachable as error:
                away = error
                self._fail_cell(row, error)
            except BaseException:  # raised again; the others end soon
                self._give_up()
                raise
        # It did not answer for as long as we wait; the other cells need not wait as long.
        if away:
            for row in cells[len(begun) :]:
                self._fail_cell(row, away)
        return works and not away

    def _do_cell(
        self,
        row: CellRow,
        entry: ModelEntry | None = None,
        model: Model | None = None,
        *,
        on_open: Callable[[int, int], None] = lambda _requests, _width: None,
        pauses: bool = False,
    ) -> bool:
        """Whether it is done; a cell that failed states why. No model: answers were supplied."""
        job = CellRun(
            self._database,
            self._lease,
            row,
            entry,
            interrupted=self._is_interrupted,
            on_batch=self._parts.on_batch,
            on_open=on_open,
            replies=self._parts.replies,
            uses_kept=self._parts.uses_kept,
            arrivals=self._arrivals,
            processor=self._parts.processor if pauses else None,
        )
        try:
            dataset = read_cell_dataset(self._database, row.id)
            if model:
                job.run(model, dataset)
            else:
                job.grade(dataset)
        except (Cancelled, Interrupted, Paused, RunLeaseLost, StoreError, Unreachable):
            raise
        except Exception as error:  # noqa: BLE001 (kept with the cell; the others go on)
            self._fail_cell(row, error)
            return False
        summarise_ending(self._database, row)
        queue.finish_cell(self._database, self._lease, row.id)
        self._arrivals.end(row.id)
        return True

    def _fail_cell(self, row: CellRow, error: Exception) -> None:
        is_ours = not (isinstance(error, EvaluiError) or is_out_of_memory(error))
        _log.log(
            logging.ERROR if is_ours else logging.WARNING,
            "%s on %s failed: %s",
            row.cell.model,
            row.cell.dataset,
            error,
            exc_info=error if is_ours else None,
        )
        trace = "".join(traceback.format_exception(error))
        queue.finish_cell(self._database, self._lease, row.id, error_text(error), trace)
        self._arrivals.end(row.id)

    def _entry(self, name: str) -> ModelEntry:
        catalog = self._parts.catalog()
        chosen = {each: of for each, of in self._replies_of.items() if each == name}
        return find_entry(with_replies_of(catalog, chosen), name)


class OutstandingRequests:
    """How many requests of the cells of one model are not answered, and so when its next begins.

    At most `max_cells` are at work, and of several together at most `max_questions` questions.
    """

    def __init__(self, max_cells: int, max_questions: int) -> None:
        self._max_cells = max_cells
        self._max_questions = max_questions
        self._width = 0  # requests that the model works on at a time
        self._open: dict[int, int | None] = {}  # requests by cell; None until they are known
        self._questions: dict[int, int] = {}  # by cell
        # Protects them: cells report from threads of their own.
        self._changed = threading.Condition()

    def begin(self, cell_id: int, questions: int) -> None:
        """Note that a cell is at work; there is no room before it has reported."""
        with self._changed:
            self._open[cell_id], self._questions[cell_id] = None, questions

    def record(self, cell_id: int, requests: int, width: int) -> None:
        """Note how many requests of a cell are not answered; from any thread."""
        with self._changed:
            self._open[cell_id], self._width = requests, width
            if self._leave_something():
                self._changed.notify_all()

    def end(self, cell_id: int, _of: object = None) -> None:
        """Note that a cell has ended, whatever came of it; from any thread."""
        with self._changed:
            del self._open[cell_id], self._questions[cell_id]
            self._changed.notify_all()

    def wait_for_room(self, questions: int) -> None:
        """Wait until the cells at work leave the model something to do, for a further one with so
        many questions. There is room where none is at work.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    not self._open
                    or (
                        self._leave_something()
                        and len(self._open) < self._max_cells
                        and sum(self._questions.values()) + questions <= self._max_questions
                    )
                )
            )

    def _leave_something(self) -> bool:
        known = [requests for requests in self._open.values() if requests is not None]
        return len(known) == len(self._open) and sum(known) < self._width


def _by_model(rows: Sequence[CellRow]) -> list[tuple[CellRow, ...]]:
    return [tuple(cells) for _, cells in groupby(rows, key=lambda row: row.cell.model)]


def _turns(
    models: Sequence[Sequence[CellRow]], entries: Sequence[ModelEntry]
) -> list[tuple[Sequence[CellRow], list[int]]]:
    """Models at endpoints in the order in which they begin, each with the places of those that are
    to end first: they want another model of a server that loads models on demand.

    Judges come last, after the contestants that want the same of such a server.
    """
    swapping = _swapping_addresses(entries)
    if not any(swapping.values()):
        return [(cells, []) for cells in models]
    wanted = [(entry.path, swapping.get(entry.name, frozenset())) for entry in entries]
    is_judge = [cells[0].cell.gives == "verdicts" for cells in models]
    judging = {each for each, judges in zip(wanted, is_judge, strict=True) if judges}
    order = sorted(
        range(len(models)),
        key=lambda at: (is_judge[at], wanted[at] in judging, wanted.index(wanted[at])),
    )
    in_order = [(models[at], *wanted[at]) for at in order]
    return [
        (
            cells,
            [at for at, (_, other, its) in enumerate(in_order[:n]) if other != path and its & urls],
        )
        for n, (cells, path, urls) in enumerate(in_order)
    ]


def _swapping_addresses(entries: Sequence[ModelEntry]) -> Mapping[str, frozenset[str]]:
    """As `Backend.swapping_addresses` has it, of all backends."""
    by_backend: dict[str, list[ModelEntry]] = {}
    for entry in entries:
        by_backend.setdefault(entry.backend, []).append(entry)
    return {
        model: addresses
        for name, own in by_backend.items()
        for model, addresses in BACKENDS[name].swapping_addresses(own).items()
    }


def _raise_first(started: Sequence["Future[Any]"]) -> None:
    """Raise what the first of these ended with that did not end because another had to."""
    wait(started)
    errors = [error for each in started if (error := each.exception())]
    own = [error for error in errors if not isinstance(error, Interrupted)]
    for error in (own or errors)[:1]:
        raise error
