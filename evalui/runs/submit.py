"""From the files a specification names to a run in the queue."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from pydantic import BaseModel

from evalui.access import LOCAL, LOCAL_PERSON, Person, may
from evalui.datasets.external_answers import ExternalAnswers
from evalui.datasets.model import COMMAS_RULE, Layout, Limits, LoadResult, with_columns
from evalui.datasets.preview import is_misread, layout_fields, pin, read_choices
from evalui.datasets.sandbox import config_entries, load, read_answers, read_columns
from evalui.datasets.swift_config import EntryFiles
from evalui.errors import FaultyRows, SpecError, UnknownRun
from evalui.models.base import ModelEntry
from evalui.models.catalog import describe
from evalui.modes import MODES, mode_hindrance
from evalui.runs.cells import CellPlan, Describe, Hindrance
from evalui.runs.contest import AnswersSpec, CollectedAnswers
from evalui.runs.fair_queue.limits import UserLimits, check_may_queue
from evalui.runs.plan import limit_datasets, plan_run
from evalui.runs.results import read_result
from evalui.runs.signature import labels
from evalui.runs.spec import DatasetSpec, RunSpec, write_spec
from evalui.store.codec import encode_left_out, encode_sentence
from evalui.store.connection import Database, new_id
from evalui.store.datasets import add_dataset, read_cell_dataset
from evalui.store.queue import Admit, RequestKey, bump_revision
from evalui.store.runs import CellRow, read_cells, read_run
from evalui.types import Dataset, Fault, LeftOut, Sample

# The notes on files that say that something is not read, with their values for `what` and `why`.
_NOTE_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "other-kind": ("file", "kind"),
    "folder-missing": ("name", ""),
    "test-without-answers": ("file", ""),
    "other-split": ("files", "split"),
    "no-scored-file": ("file", "subject"),
    "ignored-files": ("files", ""),
    "other-sheets": ("file", "others"),
    "hidden-sheets": ("file", "sheets"),
    "rows-below": ("file", "text"),
    "json-lists-unread": ("file", "others"),
    "train-unused": ("file", ""),
    "duplicate-options-left-out": ("file", "where"),
    "rotations-left-out": ("file", ""),
}


def expand_entries(
    spec: RunSpec,
    *,
    base: Path = Path(),
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> RunSpec:
    """The specification with a dataset for each entry of a SWIFT configuration it names.

    Entries of one kind stay one dataset in version 1, which meant them so; and so does what a
    specification has chosen by `entry`, `kind` or a digest. Raises `DataError` as `load` does.
    """
    datasets: list[DatasetSpec] = []
    renamed: dict[str, str] = {}
    for source in spec.datasets:
        entries = _entries(spec, source, base, limits)
        parts = [_entry_spec(source, each.name) for each in entries] or [source]
        datasets += parts
        written = [part for part, each in zip(parts, entries, strict=False) if each.is_open_ended]
        if len(written) == 1:
            renamed[source.key] = written[0].key
    answers = [
        each.model_copy(update={"dataset": renamed.get(each.dataset, each.dataset)})
        for each in spec.answers
    ]
    return spec.model_copy(update={"datasets": datasets, "answers": answers})


def read_datasets(
    spec: RunSpec,
    *,
    base: Path = Path(),
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    read: Callable[[DatasetSpec], LoadResult] | None = None,
) -> dict[str, LoadResult]:
    """The datasets of a specification by `DatasetSpec.key`; paths are relative to `base`.

    `read` is another way to read one than anew.

    Raises:
        DataError: a file cannot be used.
        FaultyRows: rows are wrong and the specification does not say to skip them.
        SpecError: a file is not the one the specification was written for.
    """

    def read_anew(source: DatasetSpec) -> LoadResult:
        paths = [absolute_path(base, path) for path in source.paths]
        return load(paths, layout=layout_of(source), name=source.name, limits=limits)

    return {
        source.key: _checked(spec, source, base, limits, (read or read_anew)(source))
        for source in spec.datasets
    }


def with_answered_datasets(
    database: Database,
    spec: RunSpec,
    loaded: Mapping[str, LoadResult],
    *,
    person: Person = LOCAL_PERSON,
) -> tuple[RunSpec, Mapping[str, LoadResult]]:
    """The specification with its datasets, and these by `DatasetSpec.key`.

    Where it names none, they are the questions in the store that its answers of earlier runs are
    to: those of an imported run are nowhere else.

    Raises:
        UnknownRun: an earlier run is not there, or not for this person to see.
        SpecError: an earlier run has no written answers of the model.
    """
    if spec.datasets:
        return spec, loaded
    read: dict[str, LoadResult] = {}
    sources: dict[str, DatasetSpec] = {}
    answers: list[AnswersSpec] = []
    for wanted in spec.answers:
        rows = answering_cells(database, wanted, person)
        if not rows:
            raise SpecError("answers-none", model=wanted.model, dataset=wanted.run)
        for row in rows:
            dataset = read_cell_dataset(database, row.id)
            key = dataset.name
            known = read.setdefault(key, LoadResult(dataset, (), len(dataset.samples), ()))
            if known.dataset.sha256 != dataset.sha256:
                raise SpecError("answers-dataset", model=wanted.model, known=key)
            own = {"path": [key], "name": key, "sha256": dataset.sha256}
            sources[key] = DatasetSpec.model_validate(own)
            answers.append(wanted.model_copy(update={"dataset": key}))
    update = {"datasets": list(sources.values()), "answers": answers}
    return spec.model_copy(update=update), read


def collect_answers(
    database: Database,
    spec: RunSpec,
    datasets: Mapping[str, Dataset],
    *,
    base: Path = Path(),
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    person: Person = LOCAL_PERSON,
) -> tuple[CollectedAnswers, ...]:
    """The answers that `spec.answers` names; paths are relative to `base`.

    Raises:
        DataError: a file cannot be used.
        SpecError: an entry names no source, or no dataset of the run, or has no answer to it.
        UnknownRun: the earlier run is not there, or not for this person to see.
    """
    return tuple(
        _collect_one(database, spec, wanted, datasets, base, limits, person)
        for wanted in spec.answers
    )


def answering_cells(database: Database, wanted: AnswersSpec, person: Person) -> tuple[CellRow, ...]:
    """The cells of an earlier run that hold written answers of the model.

    Raises:
        UnknownRun: the run is not there, or not for this person to see.
    """
    if not may(person, "see", read_run(database, wanted.run).owned):
        raise UnknownRun("no-run", run=wanted.run)
    return tuple(
        row
        for row in read_cells(database, wanted.run)
        if row.cell.gives == "answers" and row.cell.model == wanted.model
    )


def submit(
    database: Database,
    spec: RunSpec,
    loaded: Mapping[str, LoadResult],
    catalog: Mapping[str, ModelEntry],
    owner: str = LOCAL,
    *,
    collected: Sequence[CollectedAnswers] = (),
    usual: UserLimits = UserLimits(),  # noqa: B008 (frozen)
    once: RequestKey | None = None,
    describe: Describe = describe,
    mode_hindrance: Hindrance = mode_hindrance,
    worker: str = "",
) -> str:
    """Check a run, keep its datasets, queue it, and return its id.

    `collected` is what `collect_answers` found, `usual` what everybody may queue and store who has
    no limits of their own, `once` the request for the run, `describe` states what is known of a
    model, `mode_hindrance` why a mode cannot run here, `worker` who alone may do the run.

    Raises:
        SpecError, UnknownName: see `plan_run` and `check_may_queue`; nothing is kept then.
    """
    admit = partial(check_may_queue, owner=owner, usual=usual)
    with database.reading() as connection:
        admit(connection)  # before anything is kept; again in the transaction of the run
    datasets = limit_datasets({key: upload.dataset for key, upload in loaded.items()}, spec)
    plans = plan_run(
        spec, datasets, catalog, collected, describe=describe, mode_hindrance=mode_hindrance
    )
    paths = {source.key: source.paths for source in spec.datasets}
    for key, dataset in datasets.items():
        add_dataset(database, dataset, owner, paths[key], loaded[key].n_faults)
    omitted = left_out(spec, loaded, plans, collected)
    return create_run(
        database, spec, plans, owner, left_out=omitted, once=once, admit=admit, worker=worker
    )


def create_run(
    database: Database,
    spec: RunSpec,
    plans: Sequence[CellPlan],
    owner: str = LOCAL,
    *,
    left_out: Sequence[LeftOut] = (),
    once: RequestKey | None = None,
    admit: Admit | None = None,
    worker: str = "",
) -> str:
    """Put a run at the end of the queue and return its id; its datasets are in the store.

    With the name of a `worker` it is that worker's from the beginning, who may `claim` it by its
    id. The run that the same request has started, `once`, is not started again. `admit` raises
    inside the transaction if there is no room for one more.

    Raises:
        RequestKeyUsed: another request has this key.
        SpecError: no cell can run; the message gives the first reason.
    """
    if all(plan.impossible for plan in plans):
        raise SpecError("nothing-possible", why=plans[0].impossible)
    run_id, now = new_id(8)[:10], time.time()
    with database.writing() as connection:
        if once and (earlier := once.run_of(connection, owner)):
            return earlier
        if admit:
            admit(connection)
        connection.execute(
            "INSERT INTO run (id, owner, name, spec, state, created, queued, left_out, worker,"
            " beat) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run_id,
                owner,
                spec.name or ", ".join(dict.fromkeys(plan.cell.dataset for plan in plans)),
                write_spec(spec),
                "running" if worker else "queued",
                now,
                now,
                encode_left_out(left_out),
                worker,
                now,
            ),
        )
        for place, plan in enumerate(plans):
            cell_id = _add_cell(connection, run_id, owner, place, plan)
            # What a contestant brings along is kept for the worker to grade.
            connection.executemany(
                "INSERT INTO answer VALUES (?, ?, ?)",
                ((cell_id, key, json.dumps(turns)) for key, turns in plan.answers.items()),
            )
        if once:
            once.keep(connection, owner, run_id)
        bump_revision(connection, run_id)
    return run_id


def _add_cell(connection: Connection, run_id: str, owner: str, place: int, plan: CellPlan) -> int:
    row = connection.execute(
        "SELECT id FROM dataset WHERE owner = ? AND key = ?", (owner, plan.dataset_key)
    ).fetchone()
    assert row, "a dataset is added to the store before a run that uses it"
    added = connection.execute(
        """
        INSERT INTO cell (run, place, dataset, source, dataset_name, model, mode, gives, label,
            pattern, signature, plan, questions, total, requests, state, error, computes_here)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            run_id,
            place,
            row["id"],
            plan.source,
            plan.cell.dataset,
            plan.cell.model,
            plan.cell.mode,
            plan.cell.gives,
            plan.cell.label,
            plan.cell.pattern,
            plan.cell.signature,
            plan.mode.model_dump_json(),
            plan.questions,
            plan.total,
            plan.requests,
            "impossible" if plan.impossible else "waiting",
            encode_sentence(plan.impossible),
            plan.computes_here,
        ),
    )
    assert added.lastrowid is not None, "a new row has a number"
    return added.lastrowid


def layout_of(source: DatasetSpec) -> Layout:
    """How the specification says to read a dataset."""
    layout = Layout(
        options=tuple(source.options),
        answer=source.answer,
        answer_key=source.answer_key,
        question=source.question,
        sheet=source.sheet,
        kind=source.kind,
        duplicate_options=source.duplicate_options,
        entry=source.entry,
        head_row=source.head_row,
        split=source.split,
        cluster=source.cluster,
        commas_in_text=source.commas_in_text,
    )
    return with_columns(layout, source.columns) if source.columns else layout


def _entries(
    spec: RunSpec, source: DatasetSpec, base: Path, limits: Limits
) -> tuple[EntryFiles, ...]:
    """The entries of a dataset that are datasets of their own; () to take the files as they are."""
    if source.entry or source.kind or source.sha256:
        return ()
    configured = config_entries([absolute_path(base, path) for path in source.paths], limits=limits)
    mixed = len({each.pattern for each in configured}) > 1
    return configured if mixed or (spec.version > 1 and len(configured) > 1) else ()


def _entry_spec(source: DatasetSpec, entry: str) -> DatasetSpec:
    name = f"{source.name}/{entry}" if source.name else ""
    return source.model_copy(update={"entry": entry, "name": name})


def absolute_path(base: Path, path: str) -> Path:
    """A path of a specification, seen from the folder it is in; raises `SpecError`."""
    try:
        return base / Path(path).expanduser()
    except RuntimeError as error:  # "~nobody/..."
        raise SpecError("path-unknown", path=path, reason=str(error)) from error


def _collect_one(
    database: Database,
    spec: RunSpec,
    wanted: AnswersSpec,
    datasets: Mapping[str, Dataset],
    base: Path,
    limits: Limits,
    person: Person,
) -> CollectedAnswers:
    source = _answered_dataset(wanted, datasets)
    samples = datasets[source].samples
    if bool(wanted.path) == bool(wanted.run):
        raise SpecError("answers-source", model=wanted.model)
    if wanted.path:
        answered = read_answers(
            absolute_path(base, wanted.path), samples, model=wanted.model, limits=limits
        )
        _reject_faults(spec, wanted, answered)
        answers, unknown = answered.answers, len(answered.unknown)
    else:
        answers, unknown = _earlier_answers(database, wanted, samples, person), 0
    if not answers:
        raise SpecError("answers-none", model=wanted.model, dataset=datasets[source].name)
    return CollectedAnswers(wanted.model, source, answers, unknown)


def _reject_faults(spec: RunSpec, wanted: AnswersSpec, answered: ExternalAnswers) -> None:
    if (faults := answered.unusable) and not wanted.skip_faulty:
        n = len(faults) + answered.unlisted
        raise _faulty_rows_error(
            Path(wanted.path).name, faults[0], n, "answers", spec.answers, wanted
        )


def _answered_dataset(wanted: AnswersSpec, datasets: Mapping[str, Dataset]) -> str:
    """The key of the dataset that is answered; its name will do as well."""
    open_ = [key for key, dataset in datasets.items() if not dataset.has_options]
    if not wanted.dataset and len(open_) == 1:
        return open_[0]
    if not wanted.dataset and len(datasets) == 1:
        return next(iter(datasets))
    for key, dataset in datasets.items():
        if wanted.dataset in (key, dataset.name):
            return key
    raise SpecError(
        "answers-dataset",
        model=wanted.model,
        known=", ".join(dataset.name for dataset in datasets.values()),
    )


def _earlier_answers(
    database: Database, wanted: AnswersSpec, samples: Sequence[Sample], person: Person
) -> Mapping[str, tuple[str, ...]]:
    """What the model answered in an earlier run, to questions that are the same."""
    questions = {sample.id: _question_key(sample) for sample in samples}
    by_sample: dict[str, tuple[str, ...]] = {}
    for row in answering_cells(database, wanted, person):
        result = read_result(database, wanted.run, row.id)
        answers = {
            trial.sample_id: trial.answers
            for trial in result.trials
            if questions.get(trial.sample_id) == _question_key(result.samples[trial.sample_id])
        }
        if by_sample.keys() & answers.keys():
            raise SpecError("answers-several", model=wanted.model)
        by_sample |= answers
    return by_sample


def _question_key(sample: Sample) -> tuple[object, ...]:
    """What an answer is an answer to."""
    return sample.question, sample.history, sample.follow_ups


def _checked(
    spec: RunSpec, source: DatasetSpec, base: Path, limits: Limits, loaded: LoadResult
) -> LoadResult:
    """A dataset as it was read, if the specification takes it so."""
    name = loaded.dataset.name
    if source.sha256 and source.sha256 != loaded.dataset.sha256:
        raise SpecError(
            "dataset-changed",
            name=name,
            found=loaded.dataset.sha256[:8],
            expected=source.sha256[:8],
        )
    leaves_out = source.skip_faulty and loaded.dataset.samples
    if not leaves_out and is_misread(loaded):
        paths = [absolute_path(base, path) for path in source.paths]
        raise _misread_error(loaded, spec, source, paths, limits)
    if loaded.faults and not leaves_out:
        raise _faulty_rows_error(
            name, loaded.faults[0], loaded.n_faults, "datasets", spec.datasets, source
        )
    return loaded


def _misread_error(
    loaded: LoadResult, spec: RunSpec, source: DatasetSpec, paths: Sequence[Path], limits: Limits
) -> FaultyRows:
    """The error of a file that is read wrongly, with the JSON of what was guessed if that helps."""
    name, n, fault = loaded.dataset.name, loaded.n_faults, str(loaded.faults[0])
    layout = layout_of(source)
    if any(note.rule == COMMAS_RULE for note in loaded.notes):
        layout = replace(layout, commas_in_text=True)
        if not is_misread(load(paths, layout=layout, limits=limits)):
            written = _with_entry(spec.datasets, source, layout_fields(layout))
            return FaultyRows("faults-columns", name=name, n=n, fault=fault, json=written)
    table = read_columns(paths, layout=layout, limits=limits)
    unnamed = Layout(
        kind=layout.kind,
        sheet=layout.sheet,
        head_row=layout.head_row,
        commas_in_text=layout.commas_in_text,
    )
    reading = read_choices(table, unnamed)
    pinned = pin(reading, layout) if reading else layout
    if pinned == layout or is_misread(load(paths, layout=pinned, limits=limits)):
        return FaultyRows("faults-reading", name=name, n=n, fault=fault)
    written = _with_entry(spec.datasets, source, layout_fields(pinned))
    return FaultyRows("faults-columns", name=name, n=n, fault=fault, json=written)


def _faulty_rows_error(
    name: str, first: Fault, n: int, key: str, listed: Sequence[BaseModel], source: BaseModel
) -> FaultyRows:
    """The error of `n` faults in rows of `source`, with the JSON that leaves them out."""
    written = _with_entry(listed, source, {"skip_faulty": True})
    return FaultyRows("faults", name=name, n=n, fault=str(first), key=key, json=written)


def _with_entry(listed: Sequence[BaseModel], source: BaseModel, more: Mapping[str, Any]) -> str:
    """The entries as JSON, one of them with more fields; of an upload no path is written."""
    written = [
        {name: value for name, value in fields.items() if name != "path" or "upload" not in fields}
        | (dict(more) if each is source else {})
        for each in listed
        for fields in [each.model_dump(exclude_defaults=True)]
    ]
    return json.dumps(written, ensure_ascii=False)


def left_out(
    spec: RunSpec,
    loaded: Mapping[str, LoadResult],
    plans: Sequence[CellPlan],
    collected: Sequence[CollectedAnswers] = (),
) -> tuple[LeftOut, ...]:
    """What the plan leaves out, but for cells that cannot run: their state says so."""
    entries: list[LeftOut] = []
    for source in spec.datasets:
        upload = loaded[source.key]
        entries += [*_left_out_files(upload), *_left_out_rows(upload)]
        entries += _left_out_modes(spec, upload.dataset, any(p.source == source.key for p in plans))
    entries += [
        LeftOut("answers", loaded[each.source].dataset.name, each.model, rows=each.unknown)
        for each in collected
        if each.unknown
    ]
    return tuple(dict.fromkeys(entries))


def _left_out_files(upload: LoadResult) -> Iterator[LeftOut]:
    for note in upload.notes:
        if note.rule in _NOTE_PARAMETERS:
            what, why = (note.params.get(name, "") for name in _NOTE_PARAMETERS[note.rule])
            rows = int(note.params.get("n", 0))
            yield LeftOut(note.rule, upload.dataset.name, what, why=why, rows=rows)


def _left_out_rows(upload: LoadResult) -> Iterator[LeftOut]:
    scored = upload.n_rows - len(upload.dataset.samples) - upload.skipped
    for rule, rows in (("rows", scored), ("shot-rows", upload.n_unusable_rows - scored)):
        if rows > 0:
            yield LeftOut(rule, upload.dataset.name, rows=rows)


def _left_out_modes(spec: RunSpec, dataset: Dataset, planned: bool) -> Iterator[LeftOut]:
    named = list(zip(spec.modes, labels(spec.modes), strict=True))
    unfit = [label for mode, label in named if dataset.kind not in MODES[mode.mode].kinds]
    choice = dataset.has_options
    if len(unfit) == len(named):
        yield LeftOut("no-choice-mode" if choice else "no-open-mode", dataset.name)
    elif not planned:
        yield LeftOut("nobody", dataset.name)
    elif unfit and spec.models:
        rule = "open-modes" if choice else "choice-modes"
        yield LeftOut(rule, dataset.name, mode=", ".join(unfit))
