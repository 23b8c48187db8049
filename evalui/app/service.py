"""What every use case works with: settings, the store, the uploads, and the person of a call."""

from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Callable,
    Generator,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Self

from evalui.access import (
    ANONYMOUS,
    DEEDS_WITH_A_THING,
    LOCAL_PERSON,
    Deed,
    Person,
    may,
    require,
)
from evalui.accounts.uploads import check_may_upload, forget_upload, record_upload
from evalui.app.column_memory import ColumnMemory
from evalui.app.exports import ExportProcesses, estimate_sizes, export_command
from evalui.app.files.reader import FileReader
from evalui.app.files.runners import FileRunner, FilesHere
from evalui.app.files.views import KnownModels, LogChoices, PlannedRun, UploadView
from evalui.app.models_service import ModelsService
from evalui.app.moments import MomentaryRuns
from evalui.app.permissions import checks, requires
from evalui.app.run_labels import LIVE_STATES, file_name
from evalui.app.samples import open_sample_run, sample_run
from evalui.app.uploads import (
    UploadStore,
    open_sample,
    sample_archive,
)
from evalui.datasets.base import Layout
from evalui.errors import UnknownRun
from evalui.local_runs import bundle_of
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState, describe
from evalui.report.analyses.base import Report
from evalui.report.compile import compile_report, with_votes
from evalui.report.export.formats import BUNDLE, require_installed
from evalui.runs.database import usage
from evalui.runs.database.connection import Database
from evalui.runs.database.datasets import read_dataset
from evalui.runs.database.records import CellRow, RunRow
from evalui.runs.database.runs import (
    count_runs,
    read_cells,
    read_left_out,
    read_revision,
    read_run,
)
from evalui.runs.database.trials import read_result, read_results
from evalui.runs.database.voting.ballots import VotingPairsCache
from evalui.runs.database.voting.closing import is_voting_open
from evalui.runs.database.voting.plans import VoterPairs
from evalui.runs.database.voting.votes import read_run_verdicts
from evalui.runs.fair_queue.limits import check_may_queue, usual_limits
from evalui.runs.harnesses.importing import ImportedRun, import_run
from evalui.runs.kept_summaries import summary_source
from evalui.runs.request_key import RequestKey
from evalui.runs.results_cache import ResultCache
from evalui.runs.spec import RunSpec, read_spec
from evalui.scoring.arena.cast_votes import CastVote
from evalui.settings import Settings
from evalui.types import CellResult, CellState, Language, Sample

NamedParts = tuple[str, Iterable[bytes]]
# Of each cell: its state, how many trials are done, its error, when it began and when it ended.
_Progress = tuple[tuple[CellState, int, str, float | None, float | None], ...]


# Of uploads, reports and comparisons that stay in memory: with the program itself (some 150 MB),
# its pages and what is computed just now, a server stays below 700 MB.
_CACHE_BYTES = 3 * 2**27
_PAGE_BYTES = 2**26  # bytes of pages that do
_NAMED_FILES = 3  # of an upload, in its name
_AS_IT_IS = LogChoices()


class AppService:
    """One per server; safe to share between threads.

    What it does is done for one person: `acting_for` gives the same service to another one, with
    the same store, files and kept results. The service that a server begins with acts for
    LOCAL_PERSON, on a server with accounts for nobody.
    """

    def __init__(
        self, settings: Settings, database: Database, files: FileRunner | None = None
    ) -> None:
        self.settings = settings
        self.database = database
        self.voting_pairs = VotingPairsCache(database)
        self.voter_pairs = VoterPairs(database, self.voting_pairs)
        self.uploads = UploadStore(
            settings.uploads, settings.max_upload_mb * 2**20, read_only=settings.read_only
        )
        self._receiving_lock = Lock()
        self._receiving: Counter[str] = Counter()  # bytes on their way, by owner
        self.cache = ResultCache(_CACHE_BYTES)
        self.pages = ResultCache(_PAGE_BYTES)
        self.runs = MomentaryRuns(database, self.cache)
        self.exports = ExportProcesses(partial(export_command, database.path, settings.models))
        runner = files or FilesHere(settings, database)
        self.files = FileReader(runner, self.uploads, self.cache, lambda: self.person)
        self._bind(lambda: None)
        # None of what is kept depends on who reads it: `run` has looked before.
        self._report = self.cache.memoize_newest(self._compile)
        self._sizes = self.cache.memoize_newest(self._measure)
        # A vote changes the revision of its run, but nothing of what its models and judges did.
        self._report_without_votes = self.cache.memoize_newest(self._compile_without_votes)
        self._result = self.cache.memoize_newest(self._read_result)
        # Of whoever asks: for use cases that have looked whether the person may see its run.
        self.kept_result = self._newest_result
        self._spec = self.cache.memoize(read_spec)
        # Reports, comparisons and results of one dataset hold the same questions.
        self._questions = self.cache.memoize(self._read_questions)

    def _bind(self, sender: Callable[[], Person | None]) -> None:
        self._sender = sender
        self.models = ModelsService(self.settings, self.database, lambda: self.person)
        self.column_memory = ColumnMemory(
            self.settings.data_dir / "columns",
            lambda: self.owner,
            read_only=self.settings.read_only,
        )
        self.files = self.files.with_sender(lambda: self.person)

    def with_sender(self, sender: Callable[[], Person | None]) -> Self:
        """The same service for whom `sender` names at each call; None is nobody in particular."""
        other = copy(self)
        other._bind(sender)
        return other

    def acting_for(self, person: Person | None) -> Self:
        """The same service for this person; None is nobody in particular."""
        return self.with_sender(lambda: person)

    @property
    def person(self) -> Person:
        """For whom all is done."""
        alone = LOCAL_PERSON if self.settings.auth == "token" else ANONYMOUS
        return self._sender() or alone

    @property
    def owner(self) -> str:
        """The name under which what the person makes is kept."""
        return self.person.name

    @property
    def may_start(self) -> bool:
        """Whether the person may upload and start anything at all."""
        return not self.settings.read_only and may(self.person, "start")

    def require(self, deed: Deed, run_id: str = "") -> None:
        """Make sure that the person may do a deed, at all or with a run.

        Raises:
            NotAllowed: they may not.
            UnknownRun: as `run` does.
        """
        require(self.person, deed, self.run(run_id, deed).owned if run_id else None)

    def deeds(self, run: RunRow) -> frozenset[Deed]:
        """What the person may do with a run."""
        return frozenset(deed for deed in DEEDS_WITH_A_THING if may(self.person, deed, run.owned))

    def may_repeat(self, run: RunRow) -> bool:
        """Whether the person may start a run again whose files are theirs, and still here."""
        own = self.may_start and run.owner == self.owner
        return own and self.files.has_sources(self._spec(run.spec))

    @checks("that the upload is the person's own")
    def load(self, upload: str, layout: Layout) -> UploadView:
        """An upload as a dataset; raises as `FileReader.view`."""
        return self.files.view(upload, layout)

    @checks("that the upload is the person's own")
    def parts(self, upload: str) -> tuple[str, ...]:
        """The datasets of an upload; raises as `FileReader.parts`."""
        return self.files.parts(upload)

    @requires("start")
    def store_upload(self, files: Sequence[tuple[str, bytes]]) -> str:
        """Store uploaded files and return the id of the upload; raises `NotAllowed` to readers."""
        return self._recorded(self.uploads.store(self.owner, files))

    @requires("start")
    @contextmanager
    def receiving(self, size: int) -> Generator[Path]:
        """A folder for files on their way, of `size` bytes together.

        Raises:
            NotAllowed: the person may only read.
            SpecError: they would store more than they may, with what else is on its way.
            DataError: as `UploadStore.receiving`.
        """
        owner, usual = self.owner, usual_limits(self.settings)
        with self._receiving_lock:
            check_may_upload(self.database, owner, usual, size + self._receiving[owner])
            self._receiving[owner] += size
        try:
            with self.uploads.receiving(owner) as folder:
                yield folder
        finally:
            with self._receiving_lock:
                self._receiving[owner] -= size

    @requires("start")
    def keep_upload(self, files: Sequence[tuple[str, Path]]) -> str:
        """Store what that folder received; raises as `UploadStore.keep`."""
        return self._recorded(self.uploads.keep(self.owner, files))

    @requires("start")
    def delete_upload(self, upload: str) -> None:
        """Delete an upload; raises as `UploadStore.delete`."""
        self.uploads.delete(self.owner, upload)
        forget_upload(self.database, self.owner, upload)

    def _recorded(self, upload: str) -> str:
        about = self.uploads.about(self.owner, upload)
        name = ", ".join(Path(file).name for file in about.files[:_NAMED_FILES])
        record_upload(self.database, self.owner, upload, name, about.bytes)
        return upload

    @requires("start")
    def store_sample(self) -> str:
        """Store the shipped sample as if it had been uploaded, in an archive with a name."""
        return self.store_upload([sample_archive()])

    @requires("start")
    def store_open_sample(self) -> str:
        """Store the shipped open questions as if they had been uploaded."""
        return self.store_upload([open_sample()])

    @checks("which models the person may see")
    def catalog(self) -> dict[str, ModelEntry]:
        """The models that the person may use, those added on the page last."""
        return self.models.catalog()

    @checks("which models the person may see")
    def states(self) -> list[ModelState]:
        """Each model with what it can do here."""
        return self.models.states()

    @checks("nothing: names that decide how figures are drawn")
    def baselines(self) -> frozenset[str]:
        """The scripted models, which are drawn grey and never ranked."""
        return frozenset(e.name for e in self.models.all_models().values() if e.baseline)

    @checks("nothing: names that decide how figures are drawn")
    def scripted(self) -> frozenset[str]:
        """The models that follow a rule; a judge among them is marked as one."""
        models = self.models.all_models().values()
        return frozenset(entry.name for entry in models if traits_of(entry).rule_based)

    @requires("start")
    def plan(self, run: RunSpec) -> PlannedRun:
        """What a specification with uploads would start.

        Raises:
            DataError, SpecError: it cannot be done, or it names a path; the message states why.
        """
        return self.files.plan(run, self._known_models(run))

    @requires("start")
    def start(self, run: RunSpec, once: RequestKey | None = None) -> str:
        """Queue the run and return its id, that of an earlier one for the same request; raises as
        `plan` does.
        """
        with self.database.reading() as connection:
            if once and (earlier := once.run_of(connection, self.owner)):
                return earlier
        return self.files.start(run, self._known_models(run), once)

    @requires("start")
    def import_log(self, upload: str, choices: LogChoices = _AS_IT_IS) -> ImportedRun:
        """Keep the finished run of another harness, or a bundle, that the person has uploaded.

        Raises:
            DataError: the files are no log, cannot be read, or there is no such upload.
            SpecError: the choices lack the name of a model, or a file that is no part of the log;
                columns are not there; and as `check_may_queue` does.
        """
        return self.files.import_log(upload, choices)

    @requires("administer")
    def import_log_from(self, path: str, *, name: str = "") -> ImportedRun:
        """The same of a path, which may lead anywhere on this machine; models that no file names
        are called by their folders.
        """
        owner, usual = self.owner, usual_limits(self.settings)
        admit = partial(check_may_queue, owner=owner, usual=usual)
        return import_run(self.database, [Path(path)], name=name, owner=owner, admit=admit)

    def _known_models(self, run: RunSpec) -> KnownModels:
        """Endpoints are known to this process, which has probed them."""
        catalog = self.catalog()
        judges = run.judging.judges if run.judging else []
        named = [name for name in dict.fromkeys((*run.models, *judges)) if name in catalog]
        return KnownModels(catalog, {name: describe(catalog[name]) for name in named})

    @checks("that the person may see the run, or may do the deed")
    def run(self, run_id: str, deed: Deed = "see") -> RunRow:
        """A run that the person may see or do this with; raises `UnknownRun` if there is none."""
        row = self.runs.read(run_id)
        if not may(self.person, "see", row.owned) and not may(self.person, deed, row.owned):
            raise UnknownRun("no-run", run=run_id)
        return row

    @checks("that the person may see the run; of all runs it states nothing")
    def state(self, run_id: str = "") -> tuple[Hashable, Hashable]:
        """For whom a page about a run, or about all a person sees, is the same, and its version.

        Raises:
            UnknownRun: as `run` does.
        """
        if run_id:  # the same page for all who may do the same
            row = self.run(run_id)
            audience: Hashable = self.person.role, self.deeds(row), self.may_repeat(row)
            revision = row.revision
        else:
            audience, revision = self.person, read_revision(self.database)
        # Pages say "today", and tokens cost what the catalog says now.
        today = datetime.now().astimezone().date()
        return audience, (revision, self.models.catalog_stamp(), today)

    @requires("see", "run_id")
    def report(self, run_id: str, language: Language) -> Report:
        """The figures of a run, its cells in order; kept until the run changes."""
        return self._spoken_report(run_id, self.run(run_id).revision, language)

    def _spoken_report(self, run_id: str, revision: int, language: Language) -> Report:
        report = self._report(run_id, revision)
        # Computed anew each time: prices may have changed since the figures were worked out.
        spent = usage.model_usages(self.database, run_id, self.models.all_models())
        counts = usage.reply_counts(self.database, run_id)
        changes = usage.model_changes(self.database, run_id)
        own = replace(report, expenses=tuple(spent), replies=counts, changes=changes)
        return own.in_language(language)

    @checks("that the person may see its run")
    def result(self, row: CellRow) -> CellResult:
        """One cell with all its trials; kept until its run changes."""
        self.run(row.run_id)  # which the person may see
        return self.kept_result(row)

    def _newest_result(self, row: CellRow) -> CellResult:
        return self._result(row.run_id, row.id, self.runs.read(row.run_id).revision)

    @requires("see", "run_id")
    def export(self, run_id: str, extension: str, language: Language) -> NamedParts:
        """The name of a run as a file, and the file piece by piece as it is made.

        Raises:
            SpecError: what writes the format is not installed.
        """
        from evalui.report.export.files import parts  # no page needs it

        require_installed(extension)
        if extension == BUNDLE:
            run = self.run(run_id)
            return file_name(run, extension), bundle_of(self.database, run.id)
        report = self.report(run_id, language)
        return file_name(self.run(run_id), extension), parts(report, extension, language)

    @requires("see", "run_id")
    def export_apart(
        self, run_id: str, extension: str, language: Language
    ) -> AsyncGenerator[bytes]:
        """The same file from a process of its own; raises as `export` does, and `ExportFailed`."""
        require_installed(extension)
        self.catalog()  # raises here what the process would only log
        return self.exports.stream(self.run(run_id).id, extension, language)

    @requires("see", "run_id")
    def export_sizes(self, run_id: str, language: Language) -> Mapping[str, int]:
        """About the bytes of a run in each format; kept until the run changes."""
        return self._sizes(run_id, language, self.run(run_id).revision)

    @checks("nothing: the person's own runs are counted")
    def queued_runs(self) -> int:
        """How many runs would come before a new one."""
        return count_runs(self.database, self.owner, LIVE_STATES)

    @requires("start")
    def start_sample(self) -> str:
        """Queue the shipped sample for the demo models, and return the run's id."""
        return self.start(sample_run(self.store_sample(), self.states()))

    @requires("start")
    def start_open_sample(self) -> str:
        """Queue the shipped open questions for the same models and a judge that follows a rule."""
        return self.start(open_sample_run(self.store_open_sample(), self.states()))

    @requires("see", "run_id")
    def run_to_repeat(self, run_id: str) -> RunSpec:
        """The specification of a run, with the uploads of the person that its files came from.

        Raises:
            DataError: a file is none of theirs, or is no longer here.
        """
        return self.files.unlocated(read_spec(self.run(run_id).spec))

    def _read_result(self, run_id: str, cell_id: int, revision: int) -> CellResult:
        del revision  # part of the key, as for reports
        return read_result(self.database, run_id, cell_id, self._questions_of)

    def _questions_of(self, row: CellRow) -> Mapping[str, Sample]:
        return self._questions(row.dataset_key, self.runs.read(row.run_id).owner, row.questions)

    def _read_questions(self, dataset_key: str, owner: str, n: int) -> Mapping[str, Sample]:
        samples = read_dataset(self.database, dataset_key, owner).samples[:n]
        return {sample.id: sample for sample in samples}

    def _measure(self, run_id: str, language: Language, revision: int) -> Mapping[str, int]:
        report = self._spoken_report(run_id, revision, language)
        return estimate_sizes(self.database, report, run_id, language)

    def _compile(self, run_id: str, revision: int) -> Report:
        del revision  # part of the key: another revision, other figures
        progress: _Progress = tuple(
            (cell.state, cell.done, cell.error, cell.started, cell.finished)
            for cell in read_cells(self.database, run_id)
        )
        return with_votes(self._report_without_votes(run_id, progress), self._votes(run_id))

    def _compile_without_votes(self, run_id: str, progress: _Progress) -> Report:
        del progress  # part of the key, as the revision is of the whole report
        row = read_run(self.database, run_id)
        results = read_results(self.database, run_id, self._questions_of)
        return compile_report(
            row.name,
            results,
            baselines=self.baselines(),
            spec=row.spec,
            left_out=read_left_out(self.database, run_id),
            source=summary_source(self.database, run_id),
        )

    @requires("see", "run_id")
    def votes(self, run_id: str) -> dict[str, tuple[CastVote, ...]]:
        """People's verdicts on each dataset, by its name: none before all have ended, and none of
        multiple choice.
        """
        return self._votes(run_id)

    def _votes(self, run_id: str) -> dict[str, tuple[CastVote, ...]]:
        if is_voting_open(self.database, run_id, self.voter_pairs):
            return {}
        return read_run_verdicts(self.database, run_id)
