"""One cell, from its plan to its trials: query the cache, query the model, grade, write."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from sqlite3 import Connection

from evalui.errors import DataError, ModelError, Unreachable
from evalui.generation import PICTURE_SIDE
from evalui.models import Model, ModelEntry, NeedsAnswerKey
from evalui.models.base import Rejection, Streaming, Watched, traits_of
from evalui.modes import MODES, mode_hindrance
from evalui.pictures import Picture, fitted, ids
from evalui.replies import with_thoughts, without_thoughts
from evalui.runs.cells import mode_settings, trials_to_run
from evalui.runs.fair_queue.limits import Spending, add_spending
from evalui.runs.kept_summaries import GrowingTexts
from evalui.runs.signature import is_shown_in
from evalui.runs.spec import ModeSpec
from evalui.runs.worker.failures import LabelMassCheck, RejectedRequests, UngradedTrials
from evalui.runs.worker.in_flight import (
    AnswerSource,
    InFlightBatch,
    Pace,
    PortionSource,
    StreamSource,
)
from evalui.runs.worker.pending_trials import (
    Arrivals,
    JudgedTrials,
    KnownTrials,
    PendingTrials,
    TrialPlace,
)
from evalui.runs.worker.waiting import Processor, WaitForModel
from evalui.settings import Settings
from evalui.store import queue, usage
from evalui.store.connection import Database
from evalui.store.pictures import read_cell_picture, require_pictures
from evalui.store.response_cache import (
    KeptResponse,
    ReplySource,
    cacheable_by,
    get_responses,
    put_responses,
)
from evalui.store.runs import CellRow, Lease
from evalui.store.trials import (
    done_keys,
    read_recorded_answers,
    set_width,
    write_trials,
)
from evalui.store.usage import store_throughput
from evalui.types import (
    Dataset,
    GeneratedText,
    LabelProbs,
    Request,
    Response,
    Trial,
    Usage,
    Variant,
    texts_of,
)

RECORDED = "recorded"  # stands for the model's fingerprint where answers were supplied
FLUSH_S = 0.15  # what is answered is on the disk this soon, and a cancel is noticed
IDLE_S = 0.5  # a cancel is noticed this soon while nothing is answered
_KEPT_PICTURES = 64  # that were read last: all orders of a question show the same
MAX_UNSAVED = 2**24  # characters of replies, with their thoughts, that are not written
_STARVED_S = 0.05  # a judge that has too little to do sees new answers this soon
_NO_ORDER = Variant(())  # an open question has no order
_NO_USAGE = Usage(0, 0)

_log = logging.getLogger(__name__)


class Interrupted(Exception):
    """The worker is to end; everything answered is written."""


class Paused(Exception):
    """A judge that computes here has nothing to judge, and another run waits to compute."""


class CellRun:
    """One cell at work.

    `entry` is that of its model, by which its owner's spending is noted; None if answers were
    supplied. `interrupted` is called between batches, `on_batch` after each and before each wait.
    `on_open` is called, often, with how many requests to an endpoint are not answered, and how many
    the endpoint works on at a time; a cell that can send more at once counts as so many.
    `replies` is another store whose responses are used, and which keeps those of this cell, too.
    `arrivals` says what the other cells of the run write: a judge waits for those that are still
    to answer, and only for the answers that it is shown. `processor` is given to a judge that
    computes here: it pauses when others want it.
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
        processor: Processor | None = None,
    ) -> None:
        self._database = database
        self._row = row
        self._on_open = on_open
        self._arrivals = arrivals or Arrivals()
        self._processor = processor
        # What servers do before the first token is not known here; of models on this machine it is
        # known, but for a thought that they begin by themselves.
        remote = entry is not None and traits_of(entry).remote
        # A judge whose labels hold little writes its verdict instead.
        checks = entry is not None and MODES[row.cell.mode].gives != "verdicts"
        self._label_mass = LabelMassCheck(only_thoughts=not remote, is_open=checks)
        self._rejected = RejectedRequests()
        self._ungraded = UngradedTrials()
        self._pace = Pace()
        self._picture = lru_cache(_KEPT_PICTURES)(partial(_picture_to_send, database, row.id))
        self._store = _CellStore(
            database,
            lease,
            row,
            entry,
            interrupted,
            on_batch,
            replies,
            uses_kept,
            self._arrivals,
            self._label_mass,
            GrowingTexts(database, row),
        )
        self._model_wait = wait_for_cell_model(
            database,
            lease,
            row,
            interrupted=interrupted,
            on_wait=on_batch,
            is_early=lambda: row.cell.gives == "verdicts" and self._arrivals.are_coming,
        )

    def run(self, model: Model, dataset: Dataset) -> None:
        """Do what is not done yet of the cell.

        Raises:
            Cancelled: the owner stopped the run.
            Interrupted: the worker is to end.
            RunLeaseLost: the run was given to another worker, or deleted.
            Paused: others want the processor of a judge that has nothing to judge now.
            Unreachable: the model did not answer for as long as this server waits.
            ModelError: the model failed, or rejected requests; or the mode cannot run here.
            StoreError: a picture of a question is not in the store.

        Everything answered before is written.
        """
        row, spec = self._row, ModeSpec.model_validate_json(self._row.plan)
        samples = dataset.samples[: row.questions]
        if reason := mode_hindrance(spec.mode):  # which the server did not have
            raise ModelError(reason)
        if spec.pictures != "none":
            require_pictures(self._database, row.id, samples)
        if isinstance(model, NeedsAnswerKey):
            model.set_answer_key(samples)
        done = self._store.begin(model)

        def is_wanted(place: TrialPlace) -> bool:
            sample, variant = place
            return (sample.id, variant) not in done and is_shown_in(
                sample, variant, row.cell.signature
            )

        if spec.judging:
            pending = JudgedTrials(
                self._database,
                row,
                spec.judging,
                self._arrivals,
                samples=samples,
                is_wanted=is_wanted,
            )
            setting = mode_settings(spec, dataset.shots, pending.contestants)
        else:
            setting = mode_settings(spec, dataset.shots)
            every = trials_to_run(spec, row.cell.pattern, samples, setting)
            pending = KnownTrials(filter(is_wanted, every))
        batch = InFlightBatch(
            (),
            MODES[spec.mode],
            setting,
            model.fingerprint,
            is_cacheable=cacheable_by(model, repeats=spec.repeats),
            on_ungraded=self._ungraded.record,
        )
        try:
            if isinstance(model, Streaming):
                source = StreamSource(model, self._pace)
            else:
                source = PortionSource(model, self._pace, look_s=FLUSH_S)
            planned = len(done) + self._answer_all(source, pending, batch)
        finally:
            pending.close()
        self._label_mass.close(model.name)
        self._store.flush()  # the answers of a cell that has few wait for that
        self._ungraded.check(model.name, row.total)
        self._rejected.check(model.name)
        if planned < row.total:
            raise ModelError("missing-answers", n=row.total - planned, total=row.total)
        if lap := self._pace.total():
            store_throughput(
                self._database,
                model.name,
                spec.mode,
                spec.shots,
                fingerprint=model.fingerprint,
                rate=lap.requests / max(1e-3, lap.seconds),
            )

    def grade(self, dataset: Dataset) -> None:
        """Grade the answers that were supplied with the cell, without a model; raises as `run`."""
        spec = ModeSpec.model_validate_json(self._row.plan)
        if spec.log:  # who imported it was ended amid its log
            raise DataError("import-interrupted")
        recorded = read_recorded_answers(self._database, self._row.id)
        mode, setting = MODES[spec.mode], mode_settings(spec, ())
        done = self._store.begin(None)
        assert len(recorded) == self._row.total, "what is planned is what was supplied"
        for sample in dataset.samples[: self._row.questions]:
            if sample.id not in recorded or (sample.id, _NO_ORDER) in done:
                continue
            # As many turns as there are questions: what was not answered, or was cut off within
            # thoughts, says nothing.
            wanted = 1 + len(sample.follow_ups)
            given = (*recorded[sample.id], *[""] * wanted)[:wanted]
            turns = [without_thoughts(GeneratedText(turn)) or GeneratedText("") for turn in given]
            try:
                graded = mode.grade(sample, _NO_ORDER, turns, setting)
            except Exception as error:  # noqa: BLE001 (counted and logged; the others go on)
                self._ungraded.record(sample, error)
                continue
            self._store.trials.append(with_thoughts(graded, turns))
            if self._store.is_due:
                self._store.save()
        self._store.save()
        self._ungraded.check(self._row.cell.model, self._row.total)

    def _answer_all(
        self, source: AnswerSource, pending: PendingTrials, batch: InFlightBatch
    ) -> int:
        """Have all trials answered, graded and written; the number of those that were planned."""
        planned, requests_each = 0, max(1, self._row.requests // max(1, self._row.total))
        self._store.source = source
        try:
            while True:
                taken: Sequence[TrialPlace] = ()
                is_starved = False
                if (room := source.room(batch.open)) > 0 and not pending.is_over:
                    wanted = max(1, room // requests_each)
                    taken = pending.take(wanted)
                    is_starved = len(taken) < wanted
                    planned += len(taken)
                    if taken and self._processor:
                        self._processor.withdraw(self._row.run_id)
                    batch.add(taken)
                    self._store.trials += batch.take_decided()
                    self._send_new(source, batch)
                has_more, width = not pending.is_over, source.width
                sendable = max(0, batch.open - source.waiting)
                can_fill = has_more and not is_starved
                self._on_open(max(sendable, width * can_fill), width)
                if not (batch.open or has_more):
                    return planned
                if source.takes_more and self._rejected.should_abort(min(batch.open, width)):
                    return planned
                is_starved &= has_more and sendable < width
                if is_starved:
                    self._pace.starve()
                wait_s = self._store.due_s
                if batch.open:
                    wait_s = min(wait_s, _STARVED_S if is_starved else IDLE_S)
                    self._receive(source, batch, wait_s)
                elif not taken:
                    is_wanted = self._processor and self._processor.offer(self._row.run_id)
                    if is_wanted and not pending.is_over:
                        raise Paused
                    pending.wait(wait_s)
                is_portion_over = not (source.takes_more or batch.open)
                if is_portion_over or self._store.is_due:
                    self._store.save()
                if not self._store.responses:  # one would be neither here nor in the store
                    batch.forget()
                if is_portion_over and self._rejected.should_abort():
                    return planned
        finally:
            source.close()
            self._store.flush()

    def _send_new(self, source: AnswerSource, batch: InFlightBatch, *, first: bool = False) -> None:
        """Send what has come up and is not known; `first`: before what waits to be sent."""
        while new := batch.take_new():
            places = {key: index for index in new if (key := batch.keys[index])}
            for key, response in self._store.kept_responses(places).items():
                self._rejected.requested += without_thoughts(response) is None
                self._add_response(batch, places[key], response)
            unknown: list[tuple[int, Request]] = []
            for index in filter(batch.is_open, new):
                if batch.requests[index] in self._rejected.requests:
                    batch.drop(index)
                else:
                    unknown.append((index, self._with_pictures(batch.requests[index])))
            source.send(unknown, first=first)

    def _with_pictures(self, request: Request) -> Request:
        """The request with the pictures of its marks; one that the dataset has not is a text that a
        model wrote.
        """
        if not (named := ids(texts_of(request))):
            return request
        side = request.picture_side or PICTURE_SIDE
        pictures = [self._picture(id_, side) for id_ in named]
        return replace(request, pictures=tuple(filter(None, pictures)))

    def _receive(self, source: AnswerSource, batch: InFlightBatch, wait_s: float) -> None:
        """Take what is answered. A model that does not answer now is waited for."""
        try:
            for outcome in source.receive(wait_s):
                if self._model_wait.is_waiting:  # it answers
                    self._model_wait.reset()
                    self._store.clear_wait()
                if isinstance(outcome, Rejection):
                    self._rejected.record(outcome.reason, batch.requests[outcome.key])
                    batch.drop(outcome.key)
                    continue
                self._rejected.requested += 1
                self._pace.add()
                self._store.add_response(batch.keys[outcome.key], outcome.response)
                self._add_response(batch, outcome.key, outcome.response)
                # Programs are graded by running them, for seconds each.
                if source.takes_more and self._store.is_due:
                    self._store.flush()
        except Unreachable as error:
            self._on_open(source.max_width, source.width)  # no other cell is to wait, too
            source.close()
            self._store.flush()
            self._model_wait.wait(error)
            source.restart()
            batch.renew()
        # What is answered may call for more: a further turn, a verdict that must be readable.
        self._send_new(source, batch, first=True)

    def _add_response(self, batch: InFlightBatch, index: int, response: Response) -> None:
        """Grade what a response completes; one that was cut off within thoughts is no answer."""
        spoken = without_thoughts(response)
        if isinstance(spoken, LabelProbs):
            self._label_mass.add(spoken, self._row.cell.model)
        if spoken is None:
            self._rejected.record_cut(batch.requests[index])
            batch.drop(index)
        else:
            self._store.trials += batch.add_response(index, spoken)


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


@dataclass(slots=True)
class _CellStore:
    """The store as a cell at work uses it: which replies are kept, and what is to be written.

    The fields are as in `CellRun`; `source` is what spends tokens.
    """

    database: Database
    lease: Lease
    row: CellRow
    entry: ModelEntry | None
    interrupted: Callable[[], bool]
    on_batch: Callable[[], None]
    replies: Database | None
    uses_kept: bool
    arrivals: Arrivals
    label_mass: LabelMassCheck
    texts: GrowingTexts
    source: AnswerSource | None = None
    watched: Watched | None = None
    reply_source: ReplySource | None = None  # of what the model replies now
    replies_by_run: Counter[tuple[str | None, float]] = field(
        default_factory=Counter[tuple[str | None, float]]
    )
    trials: list[Trial] = field(default_factory=list[Trial])
    responses: list[KeptResponse] = field(default_factory=list[KeptResponse])
    unsaved: int = 0  # characters of replies and thoughts
    spent: Usage = _NO_USAGE  # by the source, when tokens were last written
    flushed: float = field(default_factory=time.monotonic)

    def begin(self, model: Model | None) -> frozenset[tuple[str, Variant]]:
        """Note that the cell is at work, with supplied answers if there is no model; the samples
        and variants that are done.
        """
        fingerprint = model.fingerprint if model else RECORDED
        queue.start_cell(self.database, self.lease, self.row.id, fingerprint)
        if model:
            self.watched = model if isinstance(model, Watched) else None
            self.reply_source = ReplySource(model.name, fingerprint, self.lease.run_id, time.time())
            self.replies_by_run = usage.cell_replies(self.database, self.row.id)
        return done_keys(self.database, self.row.id)

    def kept_responses(self, places: Mapping[bytes, int]) -> Mapping[bytes, Response]:
        """The responses that are kept under these keys, which the cell rests on from now on."""
        if not self.uses_kept:
            return {}
        known = get_responses(self.database, list(places))
        if self.replies and (missing := [key for key in places if key not in known]):
            elsewhere = get_responses(self.replies, missing)
            self.responses += elsewhere.values()
            known |= elsewhere
        for kept in known.values():
            if kept.source is None:
                self.replies_by_run[None, 0.0] += 1
            elif kept.source.run != self.lease.run_id:  # else it was counted when it came
                self.replies_by_run[kept.source.run, kept.source.made] += 1
        return {key: kept.response for key, kept in known.items()}

    def add_response(self, key: bytes | None, response: Response) -> None:
        """Take a response of the model itself, to be kept if there is a key."""
        if isinstance(response, GeneratedText):
            self.unsaved += len(response.text) + len(response.thoughts)
        self.replies_by_run["", 0.0] += 1
        if key:
            self.responses.append(KeptResponse(key, response, self.reply_source))

    @property
    def due_s(self) -> float:
        """In how many seconds `save` should be called."""
        limit = FLUSH_S if self.trials or self.responses else IDLE_S
        return max(0.0, self.flushed + limit - time.monotonic())

    @property
    def is_due(self) -> bool:
        """Whether `save` should be called now."""
        return self.due_s == 0 or self.unsaved > MAX_UNSAVED

    def save(self) -> None:
        """Write what is answered; raises what ends the cell from outside, see `CellRun.run`."""
        self.flush()
        _check_cancelled(self.database, self.lease, self.interrupted)

    def flush(self) -> None:
        """Write what is answered. It is forgotten first: what cannot be written is not lost but
        requested again, and an error on the way out must not be met a second time.
        """
        trials, responses = self.trials, self.responses
        self.trials, self.responses, self.unsaved = [], [], 0
        if self.label_mass.holds_back:
            trials, self.trials = [], trials
        self.flushed = time.monotonic()
        self._write_usage()
        if trials or responses:
            write_trials(
                self.database,
                self.lease,
                self.row.id,
                trials,
                responses,
                also=self._write_use,
            )
            if self.replies and responses:
                with self.replies.writing() as connection:
                    put_responses(connection, responses)
            if self.row.cell.gives == "answers":
                self.texts.add(trials)
                self.arrivals.add(self.row.id, [trial.sample_id for trial in trials])
            self.on_batch()

    def clear_wait(self) -> None:
        """Note that the model is waited for no more."""
        usage.clear_wait(self.database, self.lease, self.row.id)

    def _write_usage(self) -> None:
        """Write what was spent, before what it was spent on: also lost answers are paid."""
        if self.source is None:
            return
        before, self.spent = self.spent, self.source.usage()
        read = self.spent.prompt_tokens - before.prompt_tokens
        written = self.spent.completion_tokens - before.completion_tokens
        if not (read or written):
            return
        dollars = 0.0
        if entry := self.entry:
            dollars = (read * entry.input_price + written * entry.output_price) / 1e6
        usage.add_usage(
            self.database,
            self.lease,
            self.row.id,
            Usage(read, written),
            also=partial(
                add_spending,
                run_id=self.lease.run_id,
                spent=Spending(tokens=read + written, dollars=dollars),
                now=time.time(),
            ),
        )

    def _write_use(self, connection: Connection) -> None:
        """Note whose replies the cell rests on, what the model's servers say of it, and how many
        requests are sent at a time.
        """
        usage.set_replies(connection, self.row.id, self.replies_by_run)
        if self.watched and (changes := self.watched.changes()):
            usage.set_changes(connection, self.row.id, changes)
        if self.source and self.source.max_width:
            set_width(connection, self.row.id, self.source.width, self.source.max_width)


def _check_cancelled(database: Database, lease: Lease, interrupted: Callable[[], bool]) -> None:
    queue.check_lease(database, lease)
    if interrupted():
        raise Interrupted


def _picture_to_send(database: Database, cell_id: int, id_: str, side: int) -> Picture | None:
    picture = read_cell_picture(database, cell_id, id_)
    return fitted(picture, side) if picture else None
