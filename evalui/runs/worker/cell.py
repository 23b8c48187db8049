"""One cell, from its plan to its trials: ask the cache, ask the model, grade, write."""

import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from evalui.errors import ModelError, Refused, Unreachable
from evalui.models import Learner, Model
from evalui.models.base import Metered
from evalui.modes import MODES, Setting
from evalui.runs.cells import setting_of, work
from evalui.runs.database import usage as charges
from evalui.runs.database.records import CellRow, Lease
from evalui.runs.database.response_cache import lasting
from evalui.runs.database.store import Store
from evalui.runs.database.throughput import Pace, put_pace
from evalui.runs.database.usage import Wait
from evalui.runs.spec import ModeSpec
from evalui.runs.worker.batch_size import Portion
from evalui.runs.worker.in_flight import Window
from evalui.runs.worker.refusals import Refusals
from evalui.runs.worker.waiting import Patience
from evalui.runs.workload import request_size
from evalui.settings import Settings
from evalui.types import Dataset, Response, Sample, Text, Trial, Usage, Variant

RECORDED = "recorded"  # stands for the model's fingerprint where none was asked
FLUSH_S = 0.5  # what is answered is on the disk this soon, and a cancel is noticed
_TIMED = 20  # fewer requests than this tell nothing of a model's speed
_WHOLE = Variant(())  # an open question has no order

_log = logging.getLogger(__name__)


class Interrupted(Exception):
    """The worker was asked to end; everything answered is written."""


@dataclass(slots=True)
class _Spent:
    """What the model itself was asked, and how long it took."""

    requests: int = 0
    seconds: float = 0.0
    written: int = 0  # tokens of replies


class CellRun:
    """One cell at work.

    `interrupted` is asked between batches, `on_batch` told after each and before each wait.
    """

    def __init__(
        self,
        store: Store,
        lease: Lease,
        row: CellRow,
        *,
        interrupted: Callable[[], bool],
        on_batch: Callable[[], None],
    ) -> None:
        self._store = store
        self._lease = lease
        self._row = row
        self._interrupted = interrupted
        self._on_batch = on_batch
        self._trials: list[Trial] = []
        self._responses: list[tuple[bytes, Response]] = []
        self._flushed = time.monotonic()
        self._portion = Portion()
        self._spent = _Spent()
        self._refusals = Refusals()
        self._patience = patience(store, lease, row, interrupted=interrupted, on_wait=on_batch)
        self._spent_by: Metered | None = None
        self._counted = Usage(0, 0)  # what it had spent when tokens were last written

    def run(self, model: Model, dataset: Dataset) -> None:
        """Do what is not done yet of the cell.

        Raises:
            Cancelled: the owner stopped the run.
            Interrupted: the worker was asked to end.
            LostRun: the run was given to another worker, or deleted.
            Unreachable: nobody answered for as long as this server waits.
            ModelError: the model failed, or turned requests down.

        Everything answered before is written.
        """
        samples = dataset.samples[: self._row.questions]
        if isinstance(model, Learner):
            model.learn(samples)
        if isinstance(model, Metered):
            self._spent_by, self._counted = model, model.spent()
        spec = ModeSpec.model_validate_json(self._row.plan)
        contestants = self._store.contestants(self._row) if spec.judging else ()
        mode, setting = MODES[spec.mode], setting_of(spec, dataset.shots, contestants)
        self._store.start_cell(self._lease, self._row.id, model.fingerprint)
        done = self._store.done_keys(self._row.id)
        pending = (
            pair
            for pair in work(spec, self._row.cell.pattern, samples, setting)
            if (pair[0].id, pair[1]) not in done
        )
        each = max(1, self._row.requests // max(1, self._row.total))
        asked = len(done)
        while pairs := self._take(pending, each):
            window = Window(pairs, mode, setting, model.fingerprint, lasting=lasting(model))
            self._answer(model, window)
            asked += len(pairs)
            if self._refusals.hopeless:
                break
        self._check_whole(model, asked)
        if self._spent.requests >= _TIMED:
            self._put_pace(model, spec, samples, setting)

    def _put_pace(
        self, model: Model, spec: ModeSpec, samples: Sequence[Sample], setting: Setting
    ) -> None:
        spent = self._spent
        wrote = spent.written / spent.requests
        size = request_size(spec, self._row.cell.pattern, samples, setting, written=wrote)
        put_pace(
            self._store.database,
            model.name,
            spec.mode,
            spec.shots,
            fingerprint=model.fingerprint,
            pace=Pace(spent.requests / max(1e-3, spent.seconds), size),
        )

    def grade(self, dataset: Dataset) -> None:
        """Grade the answers that the cell has brought along; nobody is asked. Raises as `run`."""
        recorded = self._store.recorded(self._row.id)
        spec = ModeSpec.model_validate_json(self._row.plan)
        mode, setting = MODES[spec.mode], setting_of(spec, ())
        self._store.start_cell(self._lease, self._row.id, RECORDED)
        done = self._store.done_keys(self._row.id)
        assert len(recorded) == self._row.total, "what is planned is what was brought along"
        for sample in dataset.samples[: self._row.questions]:
            if sample.id not in recorded or (sample.id, _WHOLE) in done:
                continue
            turns = [Text(turn) for turn in _fitted(recorded[sample.id], sample)]
            self._trials.append(mode.grade(sample, _WHOLE, turns, setting))
            if time.monotonic() - self._flushed > FLUSH_S:
                self._flush()
                self._pause()
        self._flush()
        self._pause()

    def _take(
        self, pending: Iterator[tuple[Sample, Variant]], each: int
    ) -> list[tuple[Sample, Variant]]:
        return list(islice(pending, max(1, self._portion.size // each)))

    def _check_whole(self, model: Model, asked: int) -> None:
        self._refusals.check(model.name)
        if asked < self._row.total:
            raise ModelError(
                "missing-answers",
                n=self._row.total - asked,
                total=self._row.total,
            )

    def _answer(self, model: Model, window: Window) -> None:
        try:
            # What is answered may call for more: a further turn, a verdict that must be readable.
            while self._open(window):
                self._recall(window)
                self._ask(model, window)
        finally:
            self._flush()
        self._pause()

    def _recall(self, window: Window) -> None:
        open_ = ((window.keys[ask], ask) for ask in window.unanswered())
        places = {key: ask for key, ask in open_ if key}
        for key, response in self._store.responses(list(places)).items():
            self._trials += window.accept(places[key], response)

    def _open(self, window: Window) -> list[int]:
        """The numbers of the requests that are neither answered nor turned down."""
        open_, refused = window.unanswered(), self._refusals.requests
        return [ask for ask in open_ if window.requests[ask] not in refused] if refused else open_

    def _ask(self, model: Model, window: Window) -> None:
        asks = self._open(window)
        if not asks:
            self._portion.skip()
            return
        began = time.monotonic()
        try:
            self._listen(model, window, asks)
        except Unreachable as error:
            self._flush()
            # The time that was lost tells nothing of the speed; the caller asks again.
            self._patience.wait(error)
            return
        except Refused as error:
            self._hear()
            self._refusals.note(error, [window.requests[ask] for ask in _left(window, asks)])
        seconds = time.monotonic() - began
        self._spent.requests += len(asks)
        self._spent.seconds += seconds
        self._portion.learn(len(asks), seconds)

    def _listen(self, model: Model, window: Window, asks: Sequence[int]) -> None:
        answers = model.answer([window.requests[ask] for ask in asks])
        try:
            for index, response in answers:
                self._keep(window, asks[index], response)
        finally:
            # Whatever is still on its way is given up now: the model may be closed next.
            if isinstance(answers, Generator):
                answers.close()
        if left := _left(window, asks):
            raise ModelError(
                "unanswered",
                model=model.name,
                n=len(left),
                total=len(asks),
            )

    def _keep(self, window: Window, ask: int, response: Response) -> None:
        self._hear()
        self._refusals.asked += 1
        if isinstance(response, Text) and response.usage:
            self._spent.written += response.usage.completion_tokens
        key = window.keys[ask]
        if key:
            self._responses.append((key, response))
        self._trials += window.accept(ask, response)
        if time.monotonic() - self._flushed > FLUSH_S:
            self._flush()
            self._pause()

    def _hear(self) -> None:
        """Note that somebody answers."""
        if self._patience.waiting:
            self._patience.answered()
            charges.go_on(self._store.database, self._lease, self._row.id)

    def _flush(self) -> None:
        """Write what is answered. It is forgotten first: what cannot be written is not lost but
        asked again, and an error on the way out must not be met a second time.
        """
        trials, responses = self._trials, self._responses
        self._trials, self._responses = [], []
        self._flushed = time.monotonic()
        self._count()
        if trials or responses:
            self._store.write_trials(self._lease, self._row.id, trials, responses)
            self._on_batch()

    def _count(self) -> None:
        """Write what was spent, before what it was spent on: also lost answers are paid."""
        if self._spent_by is None:
            return
        before, self._counted = self._counted, self._spent_by.spent()
        read = self._counted.prompt_tokens - before.prompt_tokens
        written = self._counted.completion_tokens - before.completion_tokens
        if read or written:
            usage = Usage(read, written)
            charges.count(self._store.database, self._lease, self._row.id, usage)

    def _pause(self) -> None:
        _look(self._store, self._lease, self._interrupted)


def patience(
    store: Store,
    lease: Lease,
    row: CellRow,
    *,
    interrupted: Callable[[], bool],
    on_wait: Callable[[], None],
) -> Patience:
    """The patience of this server with the model of a cell, which says why it waits.

    Whoever waits so raises `Cancelled`, `Interrupted` and `LostRun` as `CellRun.run` does.
    """

    def tell(wait: Wait) -> None:
        _log.warning("%s on %s waits: %s", row.cell.model, row.cell.dataset, wait.why)
        charges.wait(store.database, lease, row.id, wait)
        on_wait()

    return Patience(Settings().patience_s, told=tell, look=lambda: _look(store, lease, interrupted))


def _look(store: Store, lease: Lease, interrupted: Callable[[], bool]) -> None:
    store.check(lease)
    if interrupted():
        raise Interrupted


def _left(window: Window, asks: Sequence[int]) -> list[int]:
    """Those of the requests that have no response."""
    return sorted(set(asks).intersection(window.unanswered()))


def _fitted(turns: tuple[str, ...], sample: Sample) -> tuple[str, ...]:
    """As many turns as there are questions: what was not answered is blank."""
    wanted = 1 + len(sample.follow_ups)
    return (*turns, *[""] * wanted)[:wanted]
