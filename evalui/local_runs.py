"""Runs of this process, without a server: what `evalui run` and `evalui.evaluate` both do.

Each function imports what it needs when it is called, so that the help of a command starts at once.
"""

import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalui.errors import Cancelled, ModelError, StoreError

if TYPE_CHECKING:
    from evalui.datasets.model import LoadResult
    from evalui.models.base import ModelEntry
    from evalui.report.analyses.base import Report
    from evalui.runs.estimate import KeptElsewhere
    from evalui.runs.spec import DatasetSpec, RunSpec
    from evalui.scoring.arena.people import Votes
    from evalui.settings import Settings
    from evalui.store.connection import Database

STORE_NAME = "evalui.sqlite"  # in the folder of a run


def load_settings() -> "Settings":
    """The settings of this process; raises `SpecError` where they are wrong."""
    from evalui.settings import read_settings

    return read_settings()


def read_model_entries(
    settings: "Settings", models_file: Path | None = None
) -> "dict[str, ModelEntry]":
    """The models of a file, else those of the settings with what was added on the Models page.

    Raises:
        ModelError: a file cannot be read, or an entry is wrong.
    """
    from evalui.models import read_catalog
    from evalui.models.user_catalog import additions_path, read_models

    if models_file:
        return read_catalog(models_file)
    additions = additions_path(settings.database)
    return read_models(settings.models, additions, settings.endpoint_hosts)


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run whose files were read, not queued yet; paths are relative to `base`.

    `loaded` has each dataset by its key in `spec`, `benchmark_notes` say what differs from the
    published sets that it names.
    """

    spec: "RunSpec"
    base: Path
    loaded: "Mapping[str, LoadResult]"
    benchmark_notes: tuple[str, ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was assumed of the files where they do not say it, a sentence each."""
        from evalui.datasets.model import ASSUMPTION_NOTES

        notes = (note for upload in self.loaded.values() for note in upload.notes)
        return (
            *self.benchmark_notes,
            *(str(note) for note in notes if note.rule in ASSUMPTION_NOTES),
        )

    def with_spec(self, spec: "RunSpec") -> "PreparedRun":
        """The run with the other settings of a specification of the same datasets."""
        return replace(self, spec=spec)

    def kept_elsewhere(
        self, settings: "Settings", catalog: "Mapping[str, ModelEntry]"
    ) -> "tuple[KeptElsewhere, ...]":
        """The replies that are kept in the data folder of models whose addresses have changed."""
        from evalui.runs.estimate import count_cached, has_moved, kept_elsewhere
        from evalui.runs.plan import limit_datasets, plan_run
        from evalui.store.connection import Database

        if not settings.database.exists():
            return ()
        with closing(Database(settings.database)) as database:
            entries = [catalog[name] for name in self.spec.models if name in catalog]
            moved = [entry.name for entry in entries if has_moved(database, entry)]
            if not moved:
                return ()
            alone: dict[str, Any] = {
                "models": moved,
                "answers": [],
                "judging": None,
                "replies_of": {},
            }
            spec = self.spec.model_copy(update=alone)
            loaded = {key: upload.dataset for key, upload in self.loaded.items()}
            datasets = limit_datasets(loaded, spec)
            plans = plan_run(spec, datasets, catalog)
            cached = count_cached(database, plans, datasets)
            found = kept_elsewhere(database, plans, datasets, cached)
        chosen = self.spec.replies_of
        return tuple(each for each in found if chosen.get(each.model) != each.addresses)

    def queue(self, database: "Database", catalog: "Mapping[str, ModelEntry]") -> str:
        """Put the run into a store for this process, with the answers that it names; its id.

        Raises:
            EvaluiError: as `with_answered_datasets`, `collect_answers` and `submit` of
                `runs.submit` do; nothing is kept then.
        """
        import os

        from evalui.runs.submit import collect_answers, submit, with_answered_datasets
        from evalui.runs.worker.worker import worker_name
        from evalui.store.connection import new_id
        from evalui.store.queue import SCRIPT

        spec, loaded = with_answered_datasets(database, self.spec, self.loaded)
        datasets = {key: upload.dataset for key, upload in loaded.items()}
        collected = collect_answers(database, spec, datasets, base=self.base)
        name = f"{SCRIPT}{worker_name(os.getpid())}-{new_id(4)}"
        return submit(database, spec, loaded, catalog, collected=collected, worker=name)


def prepare_run(spec: "RunSpec", base: Path) -> PreparedRun:
    """Read the files of a specification, whose paths are relative to `base`; a path may be the
    name of a published set.

    Raises:
        DataError, SpecError: as `with_benchmarks`, `submit.expand_entries` and
            `submit.read_datasets` do.
    """
    from evalui.runs.submit import expand_entries, read_datasets

    named, notes = with_benchmarks(spec, base)
    expanded = expand_entries(named, base=base)
    return PreparedRun(expanded, base, read_datasets(expanded, base=base), notes)


def wait_for_endpoints(
    spec: "RunSpec",
    catalog: "Mapping[str, ModelEntry]",
    settings: "Settings",
    *,
    warn: Callable[[str], object],
) -> None:
    """Wait for the endpoints of a run that are there and do not answer yet, as long as a cell waits
    for its model; `warn` is called with a sentence. What a run can do depends on what they can.
    """
    from evalui.messages import sentence
    from evalui.models.catalog import describe, open_model, statuses
    from evalui.runs.worker.waiting import WaitForModel

    judges = spec.judging.judges if spec.judging else []
    named = dict.fromkeys((*spec.models, *judges))
    entries = [catalog[name] for name in named if name in catalog]
    statuses(entries, wait_s=0.0)  # all are probed at the same time
    for entry in entries:
        state = describe(entry)
        if not state.is_endpoint_cold:
            continue
        minutes = f"{settings.patience_s / 60:g}"
        warn(sentence("error.endpoint-awaited", model=entry.name, n=minutes, why=state.problem))
        waiting = WaitForModel(
            settings.patience_s, on_wait=lambda _: None, check_cancelled=lambda: None
        )
        with suppress(ModelError):  # that is a reason against the run, which the plan states
            waiting.call_until_reachable(partial(open_model, entry)).close()


def with_benchmarks(spec: "RunSpec", base: Path) -> "tuple[RunSpec, tuple[str, ...]]":
    """The specification with the files of published sets where it names these, and what differs
    from these sets as published; a file or folder of the same name wins.

    Raises:
        DataError: the data of a set are not on this machine, or cannot be read.
    """
    from evalui.benchmarks.preparing import is_benchmark, resolve
    from evalui.runs.submit import absolute_path

    notes: list[str] = []

    def located(source: "DatasetSpec") -> "DatasetSpec":
        name = source.path
        if (
            not isinstance(name, str)
            or not is_benchmark(name)
            or absolute_path(base, name).exists()
        ):
            return source
        prepared = resolve(name, load_settings())
        notes.extend(map(str, prepared.notes))
        own = {"path": [str(path) for path in prepared.paths], "name": source.name or prepared.name}
        # Rows of a published set that cannot be used are counted and named in the report.
        return source.model_copy(update=own | {"skip_faulty": True})

    datasets = [located(each) for each in spec.datasets]
    return spec.model_copy(update={"datasets": datasets}), tuple(notes)


def bundle_of(database: "Database", run_id: str) -> Iterator[bytes]:
    """A run as a file of its own that another evalui imports, piece by piece; as `bundle_parts`."""
    import json

    from evalui.report.write.json import portable_spec
    from evalui.store.bundle import bundle_parts
    from evalui.store.runs import read_run

    spec = read_run(database, run_id).spec
    return bundle_parts(database, run_id, json.dumps(portable_spec(spec), ensure_ascii=False))


def left_out_of(database: "Database", run_id: str) -> tuple[str, ...]:
    """What a queued run leaves out, a sentence each; raises `UnknownRun`."""
    from evalui.report.analyses.left_out import left_out_sentences
    from evalui.store.runs import read_left_out

    return left_out_sentences(read_left_out(database, run_id), "en")


def do_run(
    database: "Database",
    run_id: str,
    catalog: "Mapping[str, ModelEntry]",
    settings: "Settings",
    *,
    reuse: bool,
    bar: Callable[[int], Any],
    warn: Callable[[str], object],
    asks_models: bool = True,
) -> None:
    """Do a queued run in this process; `bar` makes a tqdm over so many trials.

    With `reuse`, replies that other runs of this machine got are used again; `warn` is called with
    a sentence where they cannot be. Without `asks_models` nothing but kept replies is scored, and
    only judges are asked. What fails is kept with the cells of the run.

    Raises:
        StoreError: what came cannot be written.
    """
    # What fails is reported once, when the run has ended, and not by the log as well.
    logging.getLogger("evalui").addHandler(logging.NullHandler())
    if printing := logging.lastResort:  # a choice that cannot be kept is reported nowhere else
        logging.getLogger("evalui.models.local.fp32").addHandler(printing)
    with _replies_of_other_runs(settings, database.path, reuse=reuse, warn=warn) as replies:
        _work_off(
            database,
            run_id,
            catalog,
            settings,
            replies,
            bar,
            asks_models=asks_models,
            uses_kept=reuse or settings.database.absolute() != database.path.absolute(),
        )


@contextmanager
def _replies_of_other_runs(
    settings: "Settings", store: Path, *, reuse: bool, warn: Callable[[str], object]
) -> "Generator[Database | None]":
    """The store of the data folder, whose responses are used again; None where there is none."""
    from evalui.store.connection import Database

    if not reuse or settings.database.absolute() == store.absolute():
        yield None
        return
    try:
        replies = Database(settings.database)
    except StoreError as error:
        warn(f"no replies are used again: {error}")
        yield None
        return
    with closing(replies):
        yield replies


def _work_off(
    database: "Database",
    run_id: str,
    catalog: "Mapping[str, ModelEntry]",
    settings: "Settings",
    replies: "Database | None",
    bar: Callable[[int], Any],
    *,
    asks_models: bool,
    uses_kept: bool,
) -> None:
    from evalui.runs.cluster.model import model_opener
    from evalui.runs.worker.worker import Worker
    from evalui.store.runs import read_run
    from evalui.store.usage import model_waits

    with bar(read_run(database, run_id).total) as shown:

        def move() -> None:
            shown.update(read_run(database, run_id).done - shown.n)
            waiting = [wait.reason for wait in model_waits(database, run_id).values()]
            shown.set_postfix_str("".join(waiting[:1]))

        opener = model_opener(settings)
        worker = Worker(
            database,
            lambda: catalog,
            name=read_run(database, run_id).worker,
            opener=opener,
            on_batch=move,
            replies=replies,
            asks_models=asks_models,
            uses_kept=uses_kept,
        )
        try:
            worker.run_once(run_id)
        except KeyboardInterrupt:
            stop_run(database, run_id)
            raise
        finally:
            worker.status.remove()
        move()
    state = read_run(database, run_id).state
    if state == "cancelled":  # on a page of the server that has the same store
        raise Cancelled("stopped", run=run_id)
    if state not in ("done", "failed"):
        raise StoreError("run-unwritten", path=str(database.path))


def stop_run(database: "Database", run_id: str) -> None:
    """End a run of this process that it will not do; one that has ended stays as it is."""
    from evalui.store import queue
    from evalui.store.runs import read_run

    queue.cancel(database, run_id)
    queue.requeue_lost(database, worker=read_run(database, run_id).worker)


def report_of(database: "Database", run_id: str, catalog: "Mapping[str, ModelEntry]") -> "Report":
    """The figures of a run of a store, each worked out when it is first read.

    People's votes are part of it once the vote has ended: before, they would unblind who votes on.

    Raises:
        UnknownRun: the store has no run with this id.
    """
    from evalui.report.compile import compile_report
    from evalui.runs.kept_summaries import summary_source
    from evalui.runs.results import read_results
    from evalui.store.pictures import small_pictures
    from evalui.store.runs import read_left_out, read_run
    from evalui.store.usage import model_changes, model_usages, reply_counts

    row = read_run(database, run_id)
    return compile_report(
        row.name,
        read_results(database, run_id),
        baselines=frozenset(name for name, entry in catalog.items() if entry.baseline),
        spec=row.spec,
        votes=_votes(database, run_id),
        expenses=model_usages(database, run_id, catalog),
        replies=reply_counts(database, run_id),
        changes=model_changes(database, run_id),
        left_out=read_left_out(database, run_id),
        source=summary_source(database, run_id),
        small_pictures=partial(small_pictures, database, run_id),
    )


def _votes(database: "Database", run_id: str) -> "Votes":
    from evalui.store.voting.ballots import VotingPairsCache
    from evalui.store.voting.plans import VoterPairs, is_voting_open
    from evalui.store.voting.votes import read_run_verdicts

    voter_pairs = VoterPairs(database, VotingPairsCache(database))
    return (
        {} if is_voting_open(database, run_id, voter_pairs) else read_run_verdicts(database, run_id)
    )


def make_folder(path: Path) -> Path:
    """A folder, made if it is not there; raises `StoreError` if it cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError("folder-unmade", path=str(path), reason=str(error.strerror)) from error
    return path
