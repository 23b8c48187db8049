"""One cell, from its plan to its trials: query the cache, query the model, grade, write."""

import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from sqlite3 import Connection
from typing import Protocol

from evalui.errors import (
    DataError,
    EvaluiError,
    ModelError,
    RequestRejected,
    Unreachable,
    joined_reasons,
)
from evalui.messages import sentence
from evalui.models import Model, ModelEntry, NeedsAnswerKey
from evalui.models.base import (
    Rejection,
    RequestStream,
    Streaming,
    UsageTracking,
    Watched,
    is_out_of_memory,
    traits_of,
)
from evalui.models.thought_marks import begins_with_mark
from evalui.modes import MODES
from evalui.modes.thoughts import with_thoughts, without_thoughts
from evalui.runs.cells import mode_settings, trials_to_run
from evalui.runs.database import queue, usage
from evalui.runs.database.connection import Database
from evalui.runs.database.records import CellRow, Lease
from evalui.runs.database.response_cache import (
    KeptResponse,
    ReplySource,
    cacheable_by,
    get_responses,
    put_responses,
)
from evalui.runs.database.throughput import store_throughput
from evalui.runs.database.trials import (
    done_keys,
    read_recorded_answers,
    set_width,
    write_trials,
)
from evalui.runs.fair_queue.spending import Spending, add_spending
from evalui.runs.kept_summaries import GrowingTexts
from evalui.runs.signature import is_shown_in
from evalui.runs.spec import ModeSpec
from evalui.runs.worker.arrivals import Arrivals
from evalui.runs.worker.in_flight import AdaptiveBatchSize, InFlightBatch
from evalui.runs.worker.pending_trials import (
    JudgedTrials,
    KnownTrials,
    PendingTrials,
    TrialPlace,
)
from evalui.runs.worker.waiting import WaitForModel
from evalui.scoring.cautions import MIN_LABEL_MASS
from evalui.settings import Settings
from evalui.types import (
    Dataset,
    GeneratedText,
    LabelProbs,
    Request,
    Response,
    Sample,
    Trial,
    Usage,
    Variant,
)

RECORDED = "recorded"  # stands for the model's fingerprint where answers were supplied
FLUSH_S = 0.15  # what is answered is on the disk this soon, and a cancel is noticed
_IDLE_S = 0.5  # a cancel is noticed this soon while nothing is answered
_STARVED_S = 0.05  # a judge that has too little to do sees new answers this soon
_MAX_UNSAVED = 2**24  # characters of replies, with their thoughts, that are not written
_QUEUED = 2  # requests that wait to be sent, for each that is in flight
_MIN_QUEUED = 32
_WAITING = 8  # requests beside these that were refused and wait, for each that may be in flight
_MIN_TIMED_REQUESTS = 20  # fewer requests than this do not measure a model's speed
MIN_REQUESTS = 20  # of so many requests, a usable model rejects the smaller part
_MAX_LISTED = 10  # questions that an error lists; the log has them all
_NO_ORDER = Variant(())  # an open question has no order

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class RejectedRequests:
    """The requests that the model rejected permanently, and for how many it gave each reason."""

    requested: int = 0
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])
    requests: set[Request] = field(default_factory=set[Request])  # would be rejected again

    def record(self, error: RequestRejected, requests: Sequence[Request]) -> None:
        """Record requests that were rejected just now."""
        self.requested += len(requests)
        self.rejected += len(requests)
        self.requests.update(requests)
        self.reasons.update(error.reasons or {_reason(error): len(requests)})

    def record_one(self, reason: str, request: Request) -> None:
        """Record a request that was rejected just now, and why."""
        self.requested += 1
        self.rejected += 1
        self.requests.add(request)
        self.reasons[reason] += 1

    def record_cut(self, request: Request) -> None:
        """Record a request, counted already, whose reply was cut off within thoughts."""
        self.rejected += 1
        self.requests.add(request)
        self.reasons[sentence("error.endpoint-only-thoughts")] += 1

    def should_abort(self, in_flight: int = 0) -> bool:
        """Whether to go on would only cost more, even if all that is in flight is answered."""
        requested = self.requested + in_flight
        return self.requested >= MIN_REQUESTS and 2 * self.rejected > requested

    def check(self, model: str) -> None:
        """Raise `ModelError` with the count and all reasons, if anything was refused."""
        if self.rejected:
            raise ModelError(
                "refused",
                model=model,
                n=self.rejected,
                total=self.requested,
                why=joined_reasons(self.reasons),
            )


@dataclass(slots=True)
class UngradedTrials:
    """The trials whose responses evalui failed to read, and why: they are in no figure."""

    trials: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])
    questions: dict[str, None] = field(default_factory=dict[str, None])  # ids, each once
    first: Exception | None = None

    def record(self, sample: Sample, error: Exception) -> None:
        """Record a trial of a question that could not be graded just now, and log the traceback."""
        _log.error("A reply to %s could not be graded", sample.id, exc_info=error)
        self.trials += 1
        self.reasons[_reported(error)] += 1
        self.questions[sample.id] = None
        self.first = self.first or error

    def check(self, model: str, total: int) -> None:
        """Raise an error with the count, the questions and all reasons, if there are any."""
        if self.first:
            raise EvaluiError(
                "ungraded",
                model=model,
                n=self.trials,
                total=total,
                questions=", ".join(islice(self.questions, _MAX_LISTED)),
                n_questions=len(self.questions),
                more=", …" if len(self.questions) > _MAX_LISTED else "",
                why=joined_reasons(self.reasons),
            ) from self.first


def error_text(error: Exception) -> str:
    """What a user is told of an error, whatever it is."""
    if isinstance(error, EvaluiError):
        return error.sentence
    if is_out_of_memory(error):
        return sentence("error.too-little-memory", reason=str(error).partition("\n")[0])
    return sentence("error.unexpected", reason=_reported(error))


def _reported(error: Exception) -> str:
    """An error as a part of a sentence."""
    if isinstance(error, EvaluiError):
        return error.sentence.rstrip(".")
    return traceback.format_exception_only(error)[-1].strip()


def _reason(error: RequestRejected) -> str:
    """Why, without the model's own count, which is of one call."""
    reason = error.sentence.values.get("reason")
    return reason if isinstance(reason, str) else error.sentence.rstrip(".")


@dataclass(slots=True)
class LabelMassCheck:
    """What the labels of the first answers hold of the probability, and what stands first instead.

    A model whose labels hold next to nothing was not answering with one, so no answer is kept
    before that is known. `only_thoughts`: that stops a cell only where a thought stands first.
    """

    only_thoughts: bool = False
    answers: int = 0
    total: float = 0.0
    top_tokens: Counter[str] = field(default_factory=Counter[str])
    is_open: bool = True

    @property
    def holds_back(self) -> bool:
        """Whether answers wait until it is known what they are worth."""
        return self.is_open and self.answers > 0

    def add(self, response: LabelProbs, model: str) -> None:
        """Count an answer; raises as `close` when there are enough of them."""
        self.answers += 1
        self.total += response.mass
        self.top_tokens[response.top_token] += 1
        if self.answers >= MIN_REQUESTS:
            self.close(model)

    def close(self, model: str) -> None:
        """Decide by the answers so far; raises `ModelError` if the labels hold too little."""
        if self.answers and self.total / self.answers < MIN_LABEL_MASS:
            ((token, _),) = self.top_tokens.most_common(1)
            if begins_with_mark(token) or not self.only_thoughts:
                value = f"{100 * self.total / self.answers:.3g}"
                raise ModelError("labels-hold-little", model=model, value=value, token=repr(token))
        self.is_open = False


class Interrupted(Exception):
    """The worker is to end; everything answered is written."""


class Paused(Exception):
    """A judge that computes here has nothing to judge, and another run waits to compute."""


class Turn(Protocol):
    """The turn of a model to compute, which it may give to others while it has nothing to do."""

    def is_wanted(self) -> bool:
        """State that there is nothing to do now; whether others wait for the turn."""
        ...

    def go_on(self) -> None:
        """State that there is something to do again."""
        ...


@dataclass(frozen=True, slots=True)
class _Portion:
    """What was sent to the model itself at a time, and how long it took."""

    requests: int
    seconds: float


_BatchOf = Callable[[Sequence[TrialPlace]], InFlightBatch]


class CellRun:
    """One cell at work.

    `entry` is that of its model, by which its owner's spending is noted; None if answers were
    supplied. `interrupted` is called between batches, `on_batch` after each and before each wait.
    `on_open` is called, often, with how many requests to an endpoint are not answered, and how many
    the endpoint works on at a time; a cell that can send more at once counts as so many.
    `replies` is another store whose responses are used, and which keeps those of this cell, too.
    `arrivals` says what the other cells of the run write: a judge waits for those that are still
    to answer, and only for the answers that it is shown. `turn` is that of a judge that computes
    here: it pauses when others want it.
    """

    def __init__(
        self,
        database: Database,
        lease: Lease,
        row: CellRow,
        entry: ModelEntry | None = None,
        *,
        interrupted: Callable[[], bool],
        on_batch: Callable[[], None],
        on_open: Callable[[int, int], None] = lambda _requests, _width: None,
        replies: Database | None = None,
        uses_kept: bool = True,
        arrivals: Arrivals | None = None,
        turn: Turn | None = None,
    ) -> None:
        self._turn = turn
        self._database = database
        self._replies = replies
        self._uses_kept = uses_kept
        self._arrivals = arrivals or Arrivals()
        self._on_open = on_open
        self._lease = lease
        self._row = row
        self._texts = GrowingTexts(database, row)
        self._interrupted = interrupted
        self._on_batch = on_batch
        self._trials: list[Trial] = []
        self._responses: list[KeptResponse] = []
        self._source: ReplySource | None = None  # of what the model replies now
        self._replies_by_run: Counter[tuple[str | None, float]] = Counter()
        self._entry = entry
        self._flushed = time.monotonic()
        self._batch_size = AdaptiveBatchSize()
        self._portions: list[_Portion] = []
        self._portion_began = 0.0, 0  # when, and what was answered by then
        self._starved = False  # whether the model had too little to do in this portion
        self._answered = 0  # by the model itself
        self._unsaved = 0  # characters of replies and thoughts
        self._requests_each = max(1, row.requests // max(1, row.total))  # of a trial, as planned
        self._rejected = RejectedRequests()
        self._ungraded = UngradedTrials()
        # What servers do before the first token is not known here; of models on this machine it is
        # known, but for a thought that they begin by themselves.
        remote = entry is not None and traits_of(entry).remote
        # A judge whose labels hold little writes its verdict instead.
        checks = entry is not None and MODES[row.cell.mode].gives != "verdicts"
        self._label_mass = LabelMassCheck(only_thoughts=not remote) if checks else None
        self._model_wait = wait_for_cell_model(
            database,
            lease,
            row,
            interrupted=interrupted,
            on_wait=on_batch,
            is_early=lambda: row.cell.gives == "verdicts" and self._arrivals.are_coming,
        )
        self._usage_source: UsageTracking | None = None
        self._watched: Watched | None = None
        self._stream: RequestStream | None = None
        self._recorded_usage = Usage(0, 0)  # what it had spent when tokens were last written

    def run(self, model: Model, dataset: Dataset) -> None:
        """Do what is not done yet of the cell.

        Raises:
            Cancelled: the owner stopped the run.
            Interrupted: the worker is to end.
            RunLeaseLost: the run was given to another worker, or deleted.
            Paused: others want the turn of a judge that has nothing to judge now.
            Unreachable: the model did not answer for as long as this server waits.
            ModelError: the model failed, or rejected requests.

        Everything answered before is written.
        """
        samples = dataset.samples[: self._row.questions]
        if isinstance(model, NeedsAnswerKey):
            model.set_answer_key(samples)
        if isinstance(model, UsageTracking):
            self._usage_source, self._recorded_usage = model, model.usage()
        self._watched = model if isinstance(model, Watched) else None
        spec = ModeSpec.model_validate_json(self._row.plan)
        queue.start_cell(self._database, self._lease, self._row.id, model.fingerprint)
        self._source = ReplySource(model.name, model.fingerprint, self._lease.run_id, time.time())
        self._replies_by_run = usage.cell_replies(self._database, self._row.id)
        done = done_keys(self._database, self._row.id)

        def is_wanted(pair: TrialPlace) -> bool:
            sample, variant = pair
            return (sample.id, variant) not in done and is_shown_in(
                sample, variant, self._row.cell.signature
            )

        mode, pending = MODES[spec.mode], self._judged_trials(spec, samples, is_wanted)
        setting = mode_settings(spec, dataset.shots, pending.contestants if pending else ())
        if pending is None:
            shown = trials_to_run(spec, self._row.cell.pattern, samples, setting)
            pending = KnownTrials(filter(is_wanted, shown))
        batch_of = partial(
            InFlightBatch,
            mode=mode,
            setting=setting,
            fingerprint=model.fingerprint,
            is_cacheable=cacheable_by(model, repeats=spec.repeats),
            on_ungraded=self._ungraded.record,
        )
        try:
            if isinstance(model, Streaming):
                planned = self._run_stream(model, pending, batch_of)
            else:
                planned = self._run_portions(model, pending, batch_of)
        finally:
            pending.close()
        self._close_label_mass(model)
        self._check_complete(model, len(done) + planned)
        self._record_throughput(model, spec)

    def _judged_trials(
        self, spec: ModeSpec, samples: Sequence[Sample], is_wanted: Callable[[TrialPlace], bool]
    ) -> JudgedTrials | None:
        """The trials of a judge; None for another mode."""
        if spec.judging is None:
            return None
        return JudgedTrials(
            self._database,
            self._row,
            spec.judging,
            self._arrivals,
            samples=samples,
            is_wanted=is_wanted,
        )

    def _run_portions(self, model: Model, pending: PendingTrials, batch_of: _BatchOf) -> int:
        """Do trials a portion at a time; the number of those that were planned."""
        planned = 0
        while not (pending.is_over or self._rejected.should_abort()):
            pairs = pending.take(max(1, self._batch_size.size // self._requests_each))
            planned += len(pairs)
            self._go_on(pairs)
            if pairs:
                self._answer(model, batch_of(pairs))
            else:
                self._wait_for_work(pending, _IDLE_S)
                self._check_cancelled()
        return planned

    def _wait_for_work(self, pending: PendingTrials, timeout_s: float) -> None:
        """Wait for trials that can be done; raises `Paused` if others want the turn meanwhile."""
        if self._turn and self._turn.is_wanted() and not pending.is_over:
            raise Paused
        pending.wait(timeout_s)

    def _go_on(self, pairs: Sequence[TrialPlace]) -> None:
        if pairs and self._turn:
            self._turn.go_on()

    def _run_stream(self, model: Streaming, pending: PendingTrials, batch_of: _BatchOf) -> int:
        """Send requests while others are answered, as many as the model works on at a time; the
        number of trials that were planned.
        """
        batch, planned = batch_of(()), 0
        stream = self._open_stream(model)
        self._begin_portion()
        try:
            while True:
                # What was refused waits without a place, and holds up nothing else.
                waiting = min(stream.waiting, _WAITING * stream.max_width)
                room = _QUEUED * stream.width + _MIN_QUEUED - (batch.open - waiting)
                is_starved = False
                if room > 0 and not pending.is_over:
                    wanted = max(1, room // self._requests_each)
                    pairs = pending.take(wanted)
                    planned += len(pairs)
                    self._go_on(pairs)
                    is_starved = len(pairs) < wanted
                    batch.add(pairs)
                    self._trials += batch.take_decided()
                    self._send_new(stream, batch)
                has_more, in_flight = not pending.is_over, min(batch.open, stream.width)
                can_send = has_more and not is_starved
                sendable = max(0, batch.open - waiting)
                self._on_open(max(sendable, stream.width * can_send), stream.width)
                if not (batch.open or has_more) or self._rejected.should_abort(in_flight):
                    return planned
                is_starved &= has_more and batch.open - waiting < stream.width
                self._starved |= is_starved
                wait_s = self._until_flush()
                if batch.open:
                    wait_s = min(wait_s, _STARVED_S if is_starved else _IDLE_S)
                    stream = self._receive_some(model, stream, batch, wait_s)
                else:
                    self._wait_for_work(pending, wait_s)
                self._save_if_due(batch)
        finally:
            stream.close()
            self._flush()
            self._end_portion()

    def _open_stream(self, model: Streaming) -> RequestStream:
        stream = model.stream()
        # Other cells have streams of their own, whose tokens are theirs.
        self._usage_source, self._recorded_usage = stream, Usage(0, 0)
        self._stream = stream
        return stream

    def _receive_some(
        self, model: Streaming, stream: RequestStream, batch: InFlightBatch, wait_s: float
    ) -> RequestStream:
        """Take what is answered; the stream to go on with."""
        try:
            outcomes = stream.receive(wait_s)
        except Unreachable as error:
            self._on_open(stream.max_width, stream.width)  # no other cell is to wait, too
            stream.close()
            self._flush()
            self._end_portion()
            self._model_wait.wait(error)
            self._begin_portion()
            stream = self._open_stream(model)
            stream.send([(index, batch.requests[index]) for index in batch.unanswered()])
            return stream
        for outcome in outcomes:
            if isinstance(outcome, Rejection):
                self._end_wait()
                self._rejected.record_one(outcome.reason, batch.requests[outcome.key])
                batch.drop(outcome.key)
            else:
                self._record_response(batch, outcome.key, outcome.response)
        # What is answered may call for more: a further turn, a verdict that must be readable.
        self._send_new(stream, batch, first=True)
        return stream

    def _send_new(
        self, stream: RequestStream, batch: InFlightBatch, *, first: bool = False
    ) -> None:
        """Send what has come up and is not known; `first`: before what waits to be sent."""
        while new := batch.take_new():
            self._use_cached(batch, new)
            unknown: list[tuple[int, Request]] = []
            for index in filter(batch.is_open, new):
                if batch.requests[index] in self._rejected.requests:
                    batch.drop(index)
                else:
                    unknown.append((index, batch.requests[index]))
            if unknown:
                stream.send(unknown, first=first)

    def _save_if_due(self, batch: InFlightBatch) -> None:
        is_due = time.monotonic() - self._flushed > (FLUSH_S if self._has_unsaved else _IDLE_S)
        if is_due or self._unsaved > _MAX_UNSAVED:
            self._end_portion()
            self._flush()
            self._check_cancelled()
        if not self._responses:  # else a response would be neither here nor in the store
            batch.forget()

    def _until_flush(self) -> float:
        limit = FLUSH_S if self._has_unsaved else _IDLE_S
        return max(0.0, self._flushed + limit - time.monotonic())

    @property
    def _has_unsaved(self) -> bool:
        return bool(self._trials or self._responses)

    def _begin_portion(self) -> None:
        self._portion_began = time.monotonic(), self._answered
        self._starved = False

    def _end_portion(self) -> None:
        """Note how much was answered since a portion began; one without answers goes on.

        One in which the model had too little to do does not measure its speed.
        """
        began, answered = self._portion_began
        if requests := self._answered - answered:
            seconds = time.monotonic() - began
            if not self._starved:
                self._portions.append(_Portion(requests, seconds))
            self._begin_portion()

    def _record_throughput(self, model: Model, spec: ModeSpec) -> None:
        """Note the speed without the first portion, in which a model does what it does once, if
        the others are enough.
        """
        timed = self._portions[1:]
        if sum(each.requests for each in timed) < _MIN_TIMED_REQUESTS:
            timed = self._portions
        requests = sum(each.requests for each in timed)
        if requests < _MIN_TIMED_REQUESTS:
            return
        store_throughput(
            self._database,
            model.name,
            spec.mode,
            spec.shots,
            fingerprint=model.fingerprint,
            rate=requests / max(1e-3, sum(each.seconds for each in timed)),
        )

    def grade(self, dataset: Dataset) -> None:
        """Grade the answers that were supplied with the cell, without a model; raises as `run`."""
        spec = ModeSpec.model_validate_json(self._row.plan)
        if spec.log:  # who imported it was ended amid its log
            raise DataError("import-interrupted")
        recorded = read_recorded_answers(self._database, self._row.id)
        mode, setting = MODES[spec.mode], mode_settings(spec, ())
        queue.start_cell(self._database, self._lease, self._row.id, RECORDED)
        done = done_keys(self._database, self._row.id)
        assert len(recorded) == self._row.total, "what is planned is what was supplied"
        for sample in dataset.samples[: self._row.questions]:
            if sample.id not in recorded or (sample.id, _NO_ORDER) in done:
                continue
            turns = [_spoken(turn) for turn in _padded_turns(recorded[sample.id], sample)]
            try:
                graded = mode.grade(sample, _NO_ORDER, turns, setting)
            except Exception as error:  # noqa: BLE001 (counted and logged; the others go on)
                self._ungraded.record(sample, error)
                continue
            self._trials.append(with_thoughts(graded, turns))
            if time.monotonic() - self._flushed > FLUSH_S:
                self._flush()
                self._check_cancelled()
        self._flush()
        self._check_cancelled()
        self._ungraded.check(self._row.cell.model, self._row.total)

    def _close_label_mass(self, model: Model) -> None:
        """Keep the answers of a cell that has few; raises as `LabelMassCheck.close`."""
        if self._label_mass is not None and self._label_mass.is_open:
            self._label_mass.close(model.name)
            self._flush()

    def _check_complete(self, model: Model, planned: int) -> None:
        self._ungraded.check(model.name, self._row.total)
        self._rejected.check(model.name)
        if planned < self._row.total:
            raise ModelError("missing-answers", n=self._row.total - planned, total=self._row.total)

    def _answer(self, model: Model, batch: InFlightBatch) -> None:
        self._trials += batch.take_decided()
        try:
            # What is answered may call for more: a further turn, a verdict that must be readable.
            while self._open_requests(batch):
                self._use_cached(batch, batch.unanswered())
                self._request_open(model, batch)
        finally:
            self._flush()
        self._check_cancelled()

    def _use_cached(self, batch: InFlightBatch, indices: Sequence[int]) -> None:
        """Answer those of the requests whose response is kept."""
        if not self._uses_kept:
            return
        open_ = ((batch.keys[index], index) for index in indices)
        places = {key: index for key, index in open_ if key}
        known = get_responses(self._database, list(places))
        if self._replies and (missing := [key for key in places if key not in known]):
            elsewhere = get_responses(self._replies, missing)
            self._responses += elsewhere.values()
            known |= elsewhere
        for key, kept in known.items():
            self._rejected.requested += without_thoughts(kept.response) is None
            if kept.source is None:
                self._replies_by_run[None, 0.0] += 1
            elif kept.source.run != self._lease.run_id:  # else it was counted when it came
                self._replies_by_run[kept.source.run, kept.source.made] += 1
            self._add_response(batch, places[key], kept.response)

    def _open_requests(self, batch: InFlightBatch) -> list[int]:
        """The numbers of the requests that are neither answered nor rejected."""
        unanswered, rejected = batch.unanswered(), self._rejected.requests
        if not rejected:
            return unanswered
        return [index for index in unanswered if batch.requests[index] not in rejected]

    def _left_open(self, batch: InFlightBatch, indices: Sequence[int]) -> list[int]:
        """Those of the requests that have neither a response nor a reason why not."""
        return sorted(set(indices).intersection(self._open_requests(batch)))

    def _request_open(self, model: Model, batch: InFlightBatch) -> None:
        indices = self._open_requests(batch)[: self._batch_size.limit]
        if not indices:
            self._batch_size.record_cached()
            return
        began = time.monotonic()
        try:
            self._receive(model, batch, indices)
        except Unreachable as error:
            self._flush()
            # The time that was lost does not measure the speed; the caller tries again.
            self._model_wait.wait(error)
            return
        except RequestRejected as error:
            self._end_wait()
            self._rejected.record(
                error, [batch.requests[index] for index in self._left_open(batch, indices)]
            )
        except Exception as error:  # raised again, unless fewer requests may fit the memory
            if not is_out_of_memory(error) or len(indices) == 1:
                raise
            _log.warning("%d requests at a time are too many for %s", len(indices), model.name)
            self._batch_size.halve(len(indices))
            return
        seconds = time.monotonic() - began
        self._portions.append(_Portion(len(indices), seconds))
        self._batch_size.record(len(indices), seconds)

    def _receive(self, model: Model, batch: InFlightBatch, indices: Sequence[int]) -> None:
        answers = model.answer([batch.requests[index] for index in indices])
        try:
            for index, response in answers:
                self._record_response(batch, indices[index], response)
        finally:
            # Whatever is still on its way is given up now: the model may be closed next.
            if isinstance(answers, Generator):
                answers.close()
        if left := self._left_open(batch, indices):
            raise ModelError("unanswered", model=model.name, n=len(left), total=len(indices))

    def _record_response(self, batch: InFlightBatch, index: int, response: Response) -> None:
        self._end_wait()
        self._rejected.requested += 1
        self._answered += 1
        if isinstance(response, GeneratedText):
            self._unsaved += len(response.text) + len(response.thoughts)
        self._replies_by_run["", 0.0] += 1
        if key := batch.keys[index]:
            self._responses.append(KeptResponse(key, response, self._source))
        self._add_response(batch, index, response)
        if time.monotonic() - self._flushed > FLUSH_S:
            self._flush()
            self._check_cancelled()

    def _add_response(self, batch: InFlightBatch, index: int, response: Response) -> None:
        """Grade what a response completes; one that was cut off within thoughts is no answer."""
        spoken = without_thoughts(response)
        mass = self._label_mass
        if isinstance(spoken, LabelProbs) and mass is not None and mass.is_open:
            mass.add(spoken, self._row.cell.model)
        if spoken is None:
            self._rejected.record_cut(batch.requests[index])
            batch.drop(index)
        else:
            self._trials += batch.add_response(index, spoken)

    def _end_wait(self) -> None:
        """Note that the model answers."""
        if self._model_wait.is_waiting:
            self._model_wait.reset()
            usage.clear_wait(self._database, self._lease, self._row.id)

    def _flush(self) -> None:
        """Write what is answered. It is forgotten first: what cannot be written is not lost but
        requested again, and an error on the way out must not be met a second time.
        """
        trials, responses = self._trials, self._responses
        self._trials, self._responses, self._unsaved = [], [], 0
        if self._label_mass is not None and self._label_mass.holds_back:
            trials, self._trials = [], trials
        self._flushed = time.monotonic()
        self._record_usage()
        if trials or responses:
            write_trials(
                self._database,
                self._lease,
                self._row.id,
                trials,
                responses,
                also=self._record_use,
            )
            if self._replies and responses:
                with self._replies.writing() as connection:
                    put_responses(connection, responses)
            if self._row.cell.gives == "answers":
                self._texts.add(trials)
                self._arrivals.add(self._row.id, [trial.sample_id for trial in trials])
            self._on_batch()

    def _record_use(self, connection: Connection) -> None:
        """Note whose replies the cell rests on, what the model's servers say of it, and how many
        requests are sent at a time.
        """
        usage.set_replies(connection, self._row.id, self._replies_by_run)
        if self._watched and (changes := self._watched.changes()):
            usage.set_changes(connection, self._row.id, changes)
        if stream := self._stream:
            set_width(connection, self._row.id, stream.width, stream.max_width)

    def _record_usage(self) -> None:
        """Write what was spent, before what it was spent on: also lost answers are paid."""
        if self._usage_source is None:
            return
        before, self._recorded_usage = self._recorded_usage, self._usage_source.usage()
        read = self._recorded_usage.prompt_tokens - before.prompt_tokens
        written = self._recorded_usage.completion_tokens - before.completion_tokens
        if not (read or written):
            return
        dollars = 0.0
        if entry := self._entry:
            dollars = (read * entry.input_price + written * entry.output_price) / 1e6
        usage.add_usage(
            self._database,
            self._lease,
            self._row.id,
            Usage(read, written),
            also=partial(
                add_spending,
                run_id=self._lease.run_id,
                spent=Spending(tokens=read + written, dollars=dollars),
                now=time.time(),
            ),
        )

    def _check_cancelled(self) -> None:
        _check_cancelled(self._database, self._lease, self._interrupted)


def wait_for_cell_model(
    database: Database,
    lease: Lease,
    row: CellRow,
    *,
    interrupted: Callable[[], bool],
    on_wait: Callable[[], None],
    is_early: Callable[[], bool] = lambda: False,
) -> WaitForModel:
    """How long this server waits for the model of a cell, which states why it waits.

    The time counts from when `is_early` is false. Waiting raises `Cancelled`, `Interrupted` and
    `RunLeaseLost` as `CellRun.run` does.
    """

    def report(wait: usage.ModelWait) -> None:
        _log.warning("%s on %s waits: %s", row.cell.model, row.cell.dataset, wait.reason)
        usage.set_wait(database, lease, row.id, wait)
        on_wait()

    return WaitForModel(
        Settings().patience_s,
        on_wait=report,
        check_cancelled=lambda: _check_cancelled(database, lease, interrupted),
        is_early=is_early,
    )


def _check_cancelled(database: Database, lease: Lease, interrupted: Callable[[], bool]) -> None:
    queue.check_lease(database, lease)
    if interrupted():
        raise Interrupted


def _spoken(turn: str) -> Response:
    """A supplied answer without thoughts; one that was cut off within them says nothing."""
    return without_thoughts(GeneratedText(turn)) or GeneratedText("")


def _padded_turns(turns: tuple[str, ...], sample: Sample) -> tuple[str, ...]:
    """As many turns as there are questions: what was not answered is blank."""
    wanted = 1 + len(sample.follow_ups)
    return (*turns, *[""] * wanted)[:wanted]
