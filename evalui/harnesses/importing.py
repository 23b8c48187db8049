"""From the files of a finished run to a run in the store."""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from evalui.access import LOCAL
from evalui.datasets.model import Limits
from evalui.errors import DataError, joined_reasons
from evalui.harnesses.base import (
    HARNESSES,
    Evidence,
    FlawedAnswer,
    LoggedAnswer,
    LogPart,
    LogReader,
    read_logs,
)
from evalui.harnesses.files import MAX_FILES, opened_files
from evalui.harnesses.grading import (
    NO_ORDER,
    GradedAnswer,
    ReadAnswer,
    grade_logged,
    graded_answers,
    logged_sample,
    numbered,
)
from evalui.harnesses.options import order_of
from evalui.harnesses.orders import join_orders, name_in_log
from evalui.harnesses.reading_ahead import ReadingAhead
from evalui.messages import sentence
from evalui.modes import MODES, grader_of
from evalui.runs.signature import imported_signature
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec, write_spec
from evalui.scoring.calibration import calibration
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.choice.options import pattern_of
from evalui.store.bundle import import_bundle, is_store
from evalui.store.connection import Database
from evalui.store.imported_runs import (
    add_imported_cell,
    add_imported_dataset,
    begin_import,
    complete_imported_cell,
    complete_imported_dataset,
    discard_import,
    drop_imported_dataset,
    finish_import,
    merge_imported_datasets,
    write_imported_samples,
)
from evalui.store.queue import Admit
from evalui.store.runs import Lease, read_left_out, read_run
from evalui.store.trials import read_trials, write_trials
from evalui.types import (
    Cell,
    DatasetKind,
    LeftOut,
    LogSource,
    PrintedFigure,
    Sample,
    Spellings,
    Trial,
    Variant,
)

_BATCH = 1 << 13  # answers in one transaction: as many as a block of columns has when it is full
# Long texts take a millisecond each. What is read is written this soon: a run whose reader has been
# silent for long is taken for one that lost it.
_FLUSH_S = 5.0
# Where one question has more options, only the order in which it came first is kept: the pages of
# a question list all orders of a pattern, and seven options have 5,040.
_MAX_MOVED_OPTIONS = 6
# Processes start in a second. Each takes 100 MB: with the one that writes they fit into a gigabyte.
_MIN_BYTES, _MAX_PROCESSES = 32_000_000, 8
_SPELLINGS: Mapping[Evidence, Spellings] = {"letters": "lm_eval", "decision": "decision"}
# Figures of many answers together, whose names are readings of a part.
_CALIBRATION = ("nll", "brier", "ece", "aurc")
_EQUAL = 1e-9  # a mark that a harness has rounded may differ by this
Progress = Callable[[int], object]  # how many more answers have been read


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """What an import came to: the run, each of its cells with its log, and what it leaves out."""

    run_id: str
    name: str
    sources: tuple[tuple[Cell, LogSource], ...]
    left_out: tuple[LeftOut, ...]


def import_run(
    database: Database,
    paths: Sequence[Path],
    *,
    name: str = "",
    owner: str = LOCAL,
    models: Mapping[str, str] = MappingProxyType({}),
    without: Collection[str] = (),
    limits: Limits = Limits(files=MAX_FILES),  # noqa: B008 (frozen)
    within: Path | None = None,
    reader: LogReader | None = None,
    admit: Admit | None = None,
    progress: Progress = lambda _: None,
    processes: int | None = None,
) -> ImportedRun:
    """Keep the finished run that files hold, and return what it came to.

    A store among them is a bundle of evalui's own, see `bundle.import_bundle`.

    `models` are other names for those that `recognise` gives to models, `without` names of files
    that are passed over. `reader` reads the files in
    place of the registered ones, which recognise them by their contents. Archives are unpacked
    `within` a folder. Large logs are read by so many `processes` beside this one, by one for
    each core if None; what is kept is the same. `admit` raises where the owner may not keep one
    more run.

    Raises:
        DataError: the files are no log, or one that cannot be read; the message has the cure.
        SpecError: as `admit` does.
        StoreError: the store cannot be written. In all three cases nothing is kept.
    """
    with opened_files(paths, limits, within=within) as files:
        if unknown := sorted({*without} - {path.name for path in files}):
            raise DataError("log-not-there", path=unknown[0])
        files = tuple(path for path in files if path.name not in without)
        try:
            parts = recognise(files, reader)
            if models:
                parts = _with_distinct_models(
                    replace(part, model=models.get(part.model, part.model)) for part in parts
                )
        except DataError:
            # A log may have any database beside it; without a log a store is what was meant.
            others = [] if reader else [path for path in files if path != database.path]
            bundle = next(filter(is_store, others), None)
            if bundle is None:
                raise
            return _import_bundle(database, bundle, name, owner, admit)
        title = name or ", ".join(dict.fromkeys(part.dataset for part in parts))
        lease = begin_import(database, title, owner, admit=admit)
        try:
            with _reading_ahead(files, parts, processes) as ahead:
                return _import_parts(database, lease, owner, title, parts, progress, ahead)
        except BaseException:
            discard_import(database, lease)
            raise


def processes_to_read() -> int:
    """How many processes may read a large log on this machine."""
    return min(_MAX_PROCESSES, os.cpu_count() or 1)


def _reading_ahead(
    files: Sequence[Path], parts: Sequence[LogPart], processes: int | None
) -> AbstractContextManager[ReadingAhead | None]:
    """Processes for the parts of large files that are read in blocks, None if there are none."""
    large = [part for part in parts if part.blocks and not part.repeats]
    if not large or sum(path.stat().st_size for path in files) < _MIN_BYTES:
        return nullcontext()
    n = processes_to_read() if processes is None else processes
    return ReadingAhead(large, n) if n else nullcontext()


def recognise(files: Sequence[Path], reader: LogReader | None = None) -> tuple[LogPart, ...]:
    """The parts of all logs among the files; orders of the same questions joined, and names of
    models made distinct.

    Raises:
        DataError: no reader knows any of the files, or one knows what they lack.
    """
    parts = find_parts(files, reader)
    if not parts:
        names = ", ".join(path.name for path in files[:3])
        raise DataError("log-unknown", files=names or "-", known=", ".join(HARNESSES))
    return parts


def find_parts(files: Sequence[Path], reader: LogReader | None = None) -> tuple[LogPart, ...]:
    """The same, () if no reader knows any of the files.

    Raises:
        DataError: a reader knows what they lack, and no other knows any of them.
    """
    readers = [reader] if reader else [HARNESSES[name] for name in HARNESSES]
    return _with_distinct_models(read_logs(partial(read, files) for read in readers))


def _with_distinct_models(parts: Iterable[LogPart]) -> tuple[LogPart, ...]:
    uses: Counter[tuple[str, str, str]] = Counter()
    distinct: list[LogPart] = []
    for part in join_orders(tuple(parts)):
        key = (part.dataset, part.model, part.evidence)
        uses[key] += 1
        again = f"{part.model} ({uses[key]})" if uses[key] > 1 else part.model
        distinct.append(replace(part, model=again))
    return tuple(distinct)


def _import_bundle(
    database: Database, path: Path, name: str, owner: str, admit: Admit | None
) -> ImportedRun:
    run_id = import_bundle(path, database, owner=owner, name=name, admit=admit)
    row = read_run(database, run_id)
    return ImportedRun(run_id, row.name, (), read_left_out(database, run_id))


def _import_parts(
    database: Database,
    lease: Lease,
    owner: str,
    title: str,
    parts: Sequence[LogPart],
    progress: Progress,
    ahead: ReadingAhead | None,
) -> ImportedRun:
    left_out: list[LeftOut] = []
    flaws: Counter[str] = Counter()
    datasets: dict[str, list[_ImportedDataset]] = {}  # those of one name hold other questions
    read: list[tuple[_PartImport, _ImportedDataset]] = []
    n_cells = 0
    for part in parts:
        one = _PartImport(database, lease, owner, part, place=n_cells, progress=progress)
        own = one.run(ahead)
        n_cells += one.n_cells
        left_out += (*part.left_out, *one.left_out)
        flaws += one.flaws
        if own is None:
            continue
        alike = datasets.setdefault(part.dataset, [])
        known = next((each for each in alike if each.takes(database, lease, own)), None)
        if known is None:
            alike.append(own)
        read.append((one, known or own))
    if not read:
        why = joined_reasons(flaws) if flaws else sentence("error.log-flaw-empty")
        files = ", ".join(name for part in parts for name in part.files[:1])
        raise DataError("log-no-answers", files=files, why=why)
    for name, alike in datasets.items():
        for n, dataset in enumerate(alike, start=1):
            dataset.name = name if n == 1 else f"{name} ({n})"
            dataset.complete(database, lease)
    left_out += (
        LeftOut("log-lacks", dataset.name, one.model, rows=lacking)
        for one, dataset in read
        if (lacking := dataset.questions - one.n_questions)
    )
    sources = [each for one, dataset in read for each in one.complete(dataset)]
    spec = RunSpec(
        version=3,
        name=title,
        datasets=[
            DatasetSpec(path=list(source.files), name=cell.dataset)
            for cell, source in {cell.dataset: (cell, source) for cell, source in sources}.values()
        ],
        models=list(dict.fromkeys(cell.model for cell, _ in sources)),
        modes=[ModeSpec(mode=mode) for mode in dict.fromkeys(cell.mode for cell, _ in sources)],
    )
    finish_import(database, lease, title, write_spec(spec), left_out)
    return ImportedRun(lease.run_id, title, tuple(sources), tuple(left_out))


@dataclass(slots=True)
class _ImportedDataset:
    """The questions of one part or more; `digests` are those of the questions of each part."""

    id: int
    name: str
    kind: DatasetKind
    digests: list[str]
    questions: int
    left_out: int

    def takes(self, database: Database, lease: Lease, other: "_ImportedDataset") -> bool:
        """Take the questions of another part if they are the same, or the same where both have
        them.
        """
        n = merge_imported_datasets(database, lease, self.id, other.id)
        if n is None:
            return False
        self.questions = n
        self.digests += [each for each in other.digests if each not in self.digests]
        return True

    @property
    def digest(self) -> str:
        """That of all its questions."""
        first, *others = self.digests
        return hashlib.sha256("|".join(self.digests).encode()).hexdigest() if others else first

    def complete(self, database: Database, lease: Lease) -> None:
        """Give it its name and its key: it becomes an equal dataset if there is one."""
        contents = f"imported|{self.name}|{self.kind}|{self.digest}"
        complete_imported_dataset(
            database,
            lease,
            self.id,
            name=self.name,
            key=hashlib.sha256(contents.encode()).hexdigest(),
            sha256=self.digest,
            questions=self.questions,
            left_out=self.left_out,
        )


@dataclass(slots=True)
class _Tally:
    """What the answers of a part come to in one figure of the harness."""

    n: int = 0
    marked: float = 0.0
    n_ours: int = 0
    ours: float = 0.0
    differing: int = 0
    tied: int = 0
    unread: int = 0

    def figure(self, printed: PrintedFigure, reading: str) -> PrintedFigure:
        """The printed figure with what was counted."""
        return replace(
            printed,
            n=self.n,
            marked=self.marked / self.n if self.n else None,
            reading=reading,
            ours=self.ours / self.n_ours if self.n_ours == self.n > 0 else None,
            differing=self.differing,
            tied=self.tied,
            unread=self.unread,
        )


@dataclass(slots=True)
class _OpenCell:
    """A cell that is being written: answers that were the n-th to one order of their question."""

    id: int
    cell: Cell
    batch: list[Trial] = field(default_factory=list[Trial])
    orders: set[Variant] = field(default_factory=set[Variant])
    last_order: Variant | None = None


class _PartImport:
    """Reads one part of a log into a dataset and its cells: one, and another for each repeat."""

    def __init__(
        self,
        database: Database,
        lease: Lease,
        owner: str,
        part: LogPart,
        *,
        place: int,
        progress: Progress,
    ) -> None:
        self._database, self._lease, self._owner, self._part = database, lease, owner, part
        self._place, self._progress = place, progress
        self._mode = grader_of(part.evidence)
        self._cells: list[_OpenCell] = []
        self._samples: list[Sample] = []
        self._known: dict[str, tuple[Sample, Counter[Variant]]] = {}  # where questions repeat
        self._ids: set[str] = set()  # where they do not: a million ids, and no questions
        self._n_samples = 0
        self._digest = hashlib.sha256()
        self._tallies: dict[tuple[str, str], _Tally] = {}
        # By subject and log, where the part has figures of calibration.
        self._calibrated: dict[tuple[str, int], list[Trial]] = {}
        self._flaws: Counter[str] = Counter()
        self._first_flaw: dict[str, str] = {}
        self._dataset_id = 0

    def run(self, ahead: ReadingAhead | None) -> _ImportedDataset | None:
        """Read the part to its end; `ahead` are other processes, which may have it.

        A part without an answer that can be used leaves nothing but its `flaws`.
        """
        part, read, reported, flushed = self._part, 0, 0, time.monotonic()
        self._dataset_id = add_imported_dataset(
            self._database, self._lease, part.dataset, self._kind, part.files, self._owner
        )
        for read, answer in enumerate(self._answers(ahead), start=1):
            self._take(answer)
            if not read % _BATCH or time.monotonic() - flushed > _FLUSH_S:
                self._flush()
                self._progress(read - reported)
                reported, flushed = read, time.monotonic()
        self._flush()
        self._progress(read - reported)
        if not self._n_samples:
            drop_imported_dataset(self._database, self._lease, self._dataset_id)
            return None
        self._known, self._ids = {}, set()  # other parts are read before this one is complete
        return _ImportedDataset(
            self._dataset_id,
            part.dataset,
            self._kind,
            [self._digest.hexdigest()],
            self._n_samples,
            self._flaws.total(),
        )

    @property
    def model(self) -> str:
        """Whose answers they are."""
        return self._part.model

    @property
    def n_cells(self) -> int:
        """How many cells the part has."""
        return len(self._cells)

    @property
    def n_questions(self) -> int:
        """How many questions it has an answer to."""
        return self._n_samples

    @property
    def left_out(self) -> Iterator[LeftOut]:
        """The answers that cannot be used, by their reason, each with the place of the first."""
        dataset = self._part.dataset
        for flaw, n in self._flaws.items():
            yield LeftOut(f"log-{flaw}", dataset, self._first_flaw[flaw], rows=n)

    @property
    def flaws(self) -> Counter[str]:
        """How many answers cannot be used, by the reason in a few words."""
        words = {sentence(f"error.log-flaw-{flaw}"): n for flaw, n in self._flaws.items()}
        return Counter[str](words)

    @property
    def _kind(self) -> DatasetKind:
        return MODES[self._mode].kinds[0]

    def _answers(self, ahead: ReadingAhead | None) -> Iterator[ReadAnswer]:
        part = self._part
        if part.repeats:
            return part.read()  # the first answer decides the order in which others are graded
        if ahead and ahead.reads(part):
            return ahead.answers()
        return graded_answers(part, part.read())

    def _take(self, answer: ReadAnswer) -> None:
        if isinstance(answer, FlawedAnswer):
            self._leave_out(answer.place, answer.flaw)
        elif isinstance(answer, GradedAnswer):
            self._take_graded(answer)
        elif answer.marks_only:
            self._count(answer.subject, answer.marks, answer.log, None)
        elif placed := self._placed(answer):
            sample, order, repeat = placed
            trial = grade_logged(self._part, MODES[self._mode], answer, sample, order)
            self._keep(trial, repeat)
            self._count(answer.subject, answer.marks, answer.log, trial)
            for reply in answer.more_replies:
                self._take(replace(answer, reply=reply, more_replies=(), extracted=None, marks={}))

    def _take_graded(self, answer: GradedAnswer) -> None:
        """Keep an answer to a question that comes once."""
        sample, trial, marks = answer
        if sample.id in self._ids:
            self._leave_out(sample.id, "again")
            return
        self._ids.add(sample.id)
        self._n_samples += 1
        self._samples.append(numbered(sample, self._n_samples))
        if not _can_be_moved(trial.variant):
            self._leave_out(sample.id, "orders")
            return
        self._keep(trial, 0)
        self._count(sample.subject, marks, 1, trial)

    def _keep(self, trial: Trial, repeat: int) -> None:
        cell = self._cell(repeat)
        if trial.variant is not cell.last_order:  # nearly always the same object
            cell.orders.add(trial.variant)
            cell.last_order = trial.variant
        cell.batch.append(trial)

    def _leave_out(self, place: str, flaw: str) -> None:
        self._flaws[flaw] += 1
        self._first_flaw.setdefault(flaw, place)

    def _placed(self, answer: LoggedAnswer) -> tuple[Sample, Variant, int] | None:
        """The question of an answer of several, the order in which it was shown, and which answer
        to that order this is; None if it cannot be used.
        """
        own = answer.own_options or answer.options
        known = self._known.get(answer.id)
        if known:
            own = known[0].choices
        order = order_of(answer.options, own) if answer.options else NO_ORDER
        if order is None:
            self._leave_out(answer.id, "options")
            return None
        if known is None:
            self._n_samples += 1
            sample, seen = logged_sample(answer, own, self._n_samples), Counter[Variant]()
            self._samples.append(sample)
            self._known[sample.id] = sample, seen
        else:
            sample, seen = known
            if answer.gold is not None and order.permutation[answer.gold] != sample.target:
                # The text that is right in this order is another than in the first.
                self._leave_out(answer.id, "gold")
                return None
        if not _can_be_moved(order):
            self._leave_out(answer.id, "orders")
            return None
        repeat = seen[order]
        seen[order] += 1
        return sample, order, repeat

    def _cell(self, repeat: int) -> _OpenCell:
        while len(self._cells) <= repeat:
            mode = self._mode
            label = f"{mode} {len(self._cells) + 1}" if self._cells else mode
            gives = MODES[mode].gives
            cell = Cell(self._part.dataset, self._part.model, mode, label, "origin", "", gives)
            place = self._place + len(self._cells)
            log = LogSource(self._part.harness, self._part.version)
            plan = ModeSpec(mode=mode, recorded=True, log=log).model_dump_json()
            id_ = add_imported_cell(
                self._database, self._lease, place, self._dataset_id, cell, plan
            )
            self._cells.append(_OpenCell(id_, cell))
        return self._cells[repeat]

    def _count(
        self, subject: str, marks: Mapping[str, float], log: int, trial: Trial | None
    ) -> None:
        if trial and not set(_CALIBRATION).isdisjoint(self._part.readings.values()):
            for each in {"", subject}:
                self._calibrated.setdefault((each, log), []).append(trial)
        for name, mark in marks.items():
            credit = _credit(trial, self._part.readings.get(name, "")) if trial else None
            figure = name_in_log(name, log)
            self._count_one("", figure, mark, credit)
            if subject:
                self._count_one(subject, figure, mark, credit)

    def _count_one(self, subject: str, name: str, mark: float, credit: "_Credit | None") -> None:
        tally = self._tallies.get((subject, name))
        if tally is None:
            tally = self._tallies[subject, name] = _Tally()
        tally.n += 1
        tally.marked += mark
        if credit is None:
            return
        value, tied, unread = credit
        tally.n_ours += 1
        tally.ours += value
        if abs(value - mark) > _EQUAL:
            tally.differing += 1
            tally.tied += tied
            tally.unread += unread

    def _flush(self) -> None:
        """Write what has been read: questions before their answers."""
        first = self._n_samples - len(self._samples)
        if self._samples:
            written = write_imported_samples(
                self._database,
                self._lease,
                self._dataset_id,
                first,
                self._samples,
                pictures=self._part.pictures() if self._part.pictures else "",
            )
            self._digest.update(written + b"\n")
            self._samples = []
        for cell in self._cells:
            if cell.batch:
                write_trials(self._database, self._lease, cell.id, cell.batch)
                cell.batch = []

    def complete(self, dataset: _ImportedDataset) -> list[tuple[Cell, LogSource]]:
        """State what the cells hold, whose questions are in a dataset."""
        part = self._part
        figures = tuple(self._figures())
        completed: list[tuple[Cell, LogSource]] = []
        for repeat, open_cell in enumerate(self._cells, start=1):
            pattern = pattern_of(open_cell.orders)
            source = LogSource(
                part.harness,
                part.version,
                part.files,
                figures if pattern == "origin" else self._with_circular(figures, open_cell),
                part.missing,
                self._flaws.total(),
                repeat,
            )
            plan = ModeSpec(
                mode=open_cell.cell.mode,
                shots=part.shots or 0,
                pattern=pattern,
                recorded=True,
                log=source,
                spellings=_SPELLINGS.get(part.evidence, "common"),
            )
            signed = imported_signature(
                f"{dataset.name}@{dataset.digest[:8]}",
                dataset.questions,
                plan,
                source,
                model=part.model,
                task_version=part.task_version,
                shots=part.shots,
                n_options=sorted({len(order.permutation) for order in open_cell.orders}),
            )
            cell = replace(open_cell.cell, dataset=dataset.name, pattern=pattern, signature=signed)
            complete_imported_cell(
                self._database,
                self._lease,
                open_cell.id,
                cell,
                plan.model_dump_json(),
                questions=dataset.questions,
            )
            completed.append((cell, source))
        return completed

    def _with_circular(
        self, figures: tuple[PrintedFigure, ...], open_cell: _OpenCell
    ) -> tuple[PrintedFigure, ...]:
        """With our value of figures of several orders: those that a reader names as readings, and
        those that OpenCompass prints without marks.
        """
        named = {each.name: each.reading or each.name for each in figures if not each.subject}
        if not named:
            return figures
        trials = read_trials(self._database, open_cell.id)
        ours = CellTrials(trials, pattern_of(open_cell.orders)).circular.values
        return tuple(
            replace(each, ours=ours[named[each.name]] / 100)
            if not each.subject and each.ours is None and named[each.name] in ours
            else each
            for each in figures
        )

    def _figures(self) -> Iterator[PrintedFigure]:
        """What the harness printed, then figures of whole datasets that only its log has."""
        readings, none = self._part.readings, _Tally()
        printed: dict[tuple[str, str], PrintedFigure] = {}
        for figure in self._part.figures:  # none takes the place of another
            name, n = figure.name, 1
            while printed.setdefault((figure.subject, name), figure).printed != figure.printed:
                n += 1
                name = f"{figure.name} #{n}"
        calibrated = {
            (subject, name_in_log(name, log)): value
            for (subject, log), trials in self._calibrated.items()
            for name, value in _calibration_figures(trials).items()
        }
        for subject, name in self._tallies:
            if not subject:
                printed.setdefault((subject, name), PrintedFigure(name, None))
        for (subject, name), figure in printed.items():
            reading = readings.get(name, "")
            tally = self._tallies.get((subject, name), none)
            figure = tally.figure(replace(figure, name=name), reading)
            known = calibrated.get((subject, name)) if reading in _CALIBRATION else figure.ours
            yield replace(figure, ours=known)


def _calibration_figures(trials: Sequence[Trial]) -> dict[str, float]:
    """The figures of calibration of answers, by name; {} if none has probabilities."""
    chances = np.full((len(trials), max(len(each.probabilities) for each in trials) or 1), np.nan)
    for row, trial in zip(chances, trials, strict=True):
        if trial.probabilities:
            row[:] = 0.0
            row[: len(trial.probabilities)] = trial.probabilities
    found = calibration(chances, np.array([each.target for each in trials]), draws=0)
    return {name: getattr(found, name).value for name in _CALIBRATION} if found else {}


def _can_be_moved(order: Variant) -> bool:
    return order.is_origin or len(order.permutation) <= _MAX_MOVED_OPTIONS


class _Credit(NamedTuple):
    """evalui's credit of a trial, whether options tie, and whether nothing could be read."""

    value: float
    tied: bool
    unread: bool


def _credit(trial: Trial, name: str) -> _Credit | None:
    """The credit under a reading or a text figure; None if the trial has no such thing."""
    if reading := trial.readings.get(name):
        unread = reading.choice is None and not reading.tied
        return _Credit(reading.credit, reading.tied, unread)
    if scores := trial.scores.get(name):
        return _Credit(scores[0], tied=False, unread=False)
    return None
