"""One cell, from its plan to its trials: ask the cache, ask the model, grade, write."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from evalui.errors import ModelError
from evalui.models import Learner, Model
from evalui.modes import MODES
from evalui.runs.cells import setting_of, work
from evalui.runs.rows import CellRow, Lease
from evalui.runs.spec import ModeSpec
from evalui.runs.store import Store
from evalui.runs.window import Window
from evalui.types import Dataset, Response, Sample, Text, Trial, Variant

RECORDED = "recorded"  # stands for the model's fingerprint where none was asked
FLUSH_S = 0.5  # what is answered is on the disk this soon, and a cancel is noticed
_WINDOW_S = 2.0  # a window should keep the model busy so long
_FEWEST, _MOST = 32, 4096  # requests of a window; long enough to be sorted by length
_TIMED = 20  # fewer requests than this tell nothing of a model's speed
_WHOLE = Variant(())  # an open question has no order


class Interrupted(Exception):
    """The worker was asked to end; everything answered is written."""


@dataclass(slots=True)
class _Spent:
    """What the model itself was asked, and how long it took."""

    requests: int = 0
    seconds: float = 0.0


class CellRun:
    """One cell at work. `interrupted` is asked between batches, `on_batch` told after each."""

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
        self._size = _FEWEST
        self._spent = _Spent()

    def run(self, model: Model, dataset: Dataset) -> None:
        """Do what is not done yet of the cell.

        Raises:
            Cancelled: the owner stopped the run.
            Interrupted: the worker was asked to end.
            LostRun: the run was given to another worker, or deleted.
            ModelError: the model failed. Everything answered before is written.
        """
        samples = dataset.samples[: self._row.questions]
        if isinstance(model, Learner):
            model.learn(samples)
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
            self._answer(model, Window(pairs, mode, setting, model.fingerprint))
            asked += len(pairs)
        if asked < self._row.total:
            raise ModelError(
                "{n} of {total} comparisons are missing, because a contestant gave no answer.",
                "missing-answers",
                n=self._row.total - asked,
                total=self._row.total,
            )
        if self._spent.requests >= _TIMED:
            self._store.put_pace(
                model.name,
                spec.mode,
                spec.shots,
                fingerprint=model.fingerprint,
                rate=self._spent.requests / max(1e-3, self._spent.seconds),
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
        return list(islice(pending, max(1, self._size // each)))

    def _answer(self, model: Model, window: Window) -> None:
        try:
            # What is answered may call for more: a further turn, a verdict that must be readable.
            while window.unanswered():
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

    def _ask(self, model: Model, window: Window) -> None:
        asks = window.unanswered()
        if not asks:
            self._size = min(self._size * 2, _MOST)
            return
        began = time.monotonic()
        for index, response in model.answer([window.requests[ask] for ask in asks]):
            key = window.keys[asks[index]]
            if key:
                self._responses.append((key, response))
            self._trials += window.accept(asks[index], response)
            if time.monotonic() - self._flushed > FLUSH_S:
                self._flush()
                self._pause()
        if left := len(set(asks).intersection(window.unanswered())):
            raise ModelError(
                "{model} left {n} of {total} requests unanswered.",
                "unanswered",
                model=model.name,
                n=left,
                total=len(asks),
            )
        self._resize(len(asks), time.monotonic() - began)

    def _resize(self, requests: int, seconds: float) -> None:
        self._spent.requests += requests
        self._spent.seconds += seconds
        fitting = int(requests / max(1e-3, seconds) * _WINDOW_S)
        # At most doubled: one window with long or short questions says little of the next.
        self._size = min(max(fitting, _FEWEST), self._size * 2, _MOST)

    def _flush(self) -> None:
        """Write what is answered. It is forgotten first: what cannot be written is not lost but
        asked again, and an error on the way out must not be met a second time.
        """
        trials, responses = self._trials, self._responses
        self._trials, self._responses = [], []
        self._flushed = time.monotonic()
        if trials or responses:
            self._store.write_trials(self._lease, self._row.id, trials, responses)
            self._on_batch()

    def _pause(self) -> None:
        self._store.check(self._lease)
        if self._interrupted():
            raise Interrupted


def _fitted(turns: tuple[str, ...], sample: Sample) -> tuple[str, ...]:
    """As many turns as there are questions: what was not answered is blank."""
    wanted = 1 + len(sample.follow_ups)
    return (*turns, *[""] * wanted)[:wanted]
