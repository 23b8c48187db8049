"""The work on uploaded files: reading them, planning and starting runs on them.

It holds whole datasets, so a server has it done by processes of its own, see `runners`.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from evalui.access import Person
from evalui.app.files.answers import AnswersReader
from evalui.app.files.logs import LogStore, import_upload, view_log
from evalui.app.files.views import (
    AnswersFile,
    EarlierRun,
    KnownModels,
    LogChoices,
    LogView,
    PlannedCell,
    PlannedRun,
    UploadHealth,
    UploadPart,
    UploadView,
)
from evalui.app.uploads import UploadStore, entry_of, is_whole, record_pictures, upload_of
from evalui.datasets import reader
from evalui.datasets.health import (
    ChoiceHealth,
    OpenHealth,
    check_choices,
    check_open_questions,
)
from evalui.datasets.model import ColumnTable, Layout, Limits, LoadResult, shorten
from evalui.datasets.preview import Preview, preview, with_detected_key
from evalui.errors import DataError, SpecError
from evalui.harnesses.importing import ImportedRun
from evalui.imports import uncollected
from evalui.logs import configure_log
from evalui.modes import MODES
from evalui.modes.prompts.rubrics import language_of
from evalui.report.imports.battles import read_votes
from evalui.runs.cells import CellPlan
from evalui.runs.contest import AnswersSpec, CollectedAnswers
from evalui.runs.estimate import Estimate, count_cached, estimate, kept_elsewhere
from evalui.runs.fair_queue.limits import check_may_queue, usual_limits
from evalui.runs.plan import limit_datasets, plan_run
from evalui.runs.spec import MAX_NAME, DatasetSpec, RunSpec
from evalui.runs.submit import (
    collect_answers,
    expand_entries,
    layout_of,
    read_datasets,
    submit,
    with_answered_datasets,
)
from evalui.settings import Settings
from evalui.store import usage
from evalui.store.connection import Database
from evalui.store.queue import RequestKey
from evalui.store.results_cache import ResultCache
from evalui.types import Dataset, Verdict

_NO_LAYOUT = Layout()
_CACHE_BYTES = 3 * 2**27  # of files that were read; the newest stays whatever its size
_MAX_CELL_CHARS = 1000  # of a table that is shown
_SHOWN_GROUPS = 1000  # subjects or capabilities


class FileWork:
    """What is done with the files of all owners; every method is given the person first."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._uploads = UploadStore(settings.uploads, settings.max_upload_mb * 2**20)
        self._limits = Limits(upload=self._uploads.limit)
        cache = ResultCache(_CACHE_BYTES)
        self._answers = AnswersReader(database, self._uploads, cache)
        # Reading a file again for each click would be slow, and it cannot change; but it may be
        # deleted and come again.
        self._loads = cache.memoize_newest(self._read)
        self._tables = cache.memoize_newest(self._read_table)
        self._names = cache.memoize(self._read_names)

    def names(self, person: Person, upload: str) -> tuple[str, ...]:
        """The entries of the configurations in an upload, () without one.

        Raises:
            DataError: it cannot be read, or is not there.
        """
        return self._names(person.name, upload)

    def view(self, person: Person, upload: str, layout: Layout) -> UploadView:
        """What pages show of an upload; raises `DataError` if it is no dataset."""
        return _view(self._load(person.name, upload, layout))

    def columns(
        self, person: Person, upload: str, layout: Layout = _NO_LAYOUT
    ) -> ColumnTable | None:
        """The columns of an upload with the beginnings of its cells, None if it is no table.

        Raises:
            DataError: as `view`.
        """
        table = self._columns(person.name, upload, layout)
        if table is None:
            return None
        rows = (tuple(shorten(cell, _MAX_CELL_CHARS) for cell in row) for row in table.rows)
        return replace(table, rows=tuple(rows))

    def preview(
        self, person: Person, upload: str, layout: Layout = _NO_LAYOUT, start: int = 0
    ) -> Preview:
        """Questions of an upload from `start` on, and how it is read.

        With the `answer_key` "" that which the columns show is taken.

        Raises:
            DataError: it is no dataset, and no table whose columns could be chosen.
        """
        table = self._columns(person.name, upload, layout)
        layout = with_detected_key(layout, table) if table else replace(layout, answer_key="letter")
        try:
            loaded: LoadResult | str = self._load(person.name, upload, layout)
        except DataError as error:
            if table is None:
                raise
            loaded = error.sentence
        return preview(loaded, table, layout, start=start)

    def answers_file(
        self, person: Person, file: str, model: str, parts: Sequence[UploadPart]
    ) -> AnswersFile:
        """What a file of answers holds of a model for the open questions it fits best."""
        return self._answers.file(person.name, file, model, self._datasets(person.name, parts))

    def earlier_runs(self, person: Person, parts: Sequence[UploadPart]) -> tuple[EarlierRun, ...]:
        """The runs whose models answered the same questions in writing, newest first."""
        return self._answers.earlier_runs(person, self._datasets(person.name, parts))

    def votes(self, person: Person, upload: str) -> dict[str, list[Verdict]]:
        """The votes of an upload by dataset; raises `DataError` if it is no file of votes."""
        by_dataset: dict[str, list[Verdict]] = {}
        for path in self._uploads.paths(person.name, upload):
            for dataset, verdicts in read_votes(path).items():
                by_dataset.setdefault(dataset, []).extend(verdicts)
        return by_dataset

    def log(self, person: Person, upload: str, folder: Path) -> LogView | None:
        """What an upload holds of a finished run; raises as `view_log`, with its `folder`."""
        return view_log(self._logs(folder), person.name, upload)

    def import_log(
        self,
        person: Person,
        upload: str,
        choices: LogChoices,
        models: Mapping[str, str],
        folder: Path,
    ) -> ImportedRun:
        """Keep the finished run of an upload; raises as `import_upload`, with its `folder`."""
        owner, usual = person.name, usual_limits(self._settings)
        admit = partial(check_may_queue, owner=owner, usual=usual)
        with uncollected():
            return import_upload(self._logs(folder), owner, upload, choices, models, admit)

    def _logs(self, folder: Path) -> LogStore:
        return LogStore(self._uploads, self._database, self._limits, folder)

    def plan(self, person: Person, run: RunSpec, models: KnownModels) -> PlannedRun:
        """What a specification of uploads would start.

        Raises:
            DataError, SpecError: it cannot be done; the message states why.
        """
        spec, loaded, collected = self._work_out(person, run)
        datasets = limit_datasets({key: one.dataset for key, one in loaded.items()}, spec)
        plans = plan_run(
            spec,
            datasets,
            models.catalog,
            collected,
            describe=models.describe,
            mode_hindrance=models.mode_hindrance,
        )
        cells = tuple(_planned_cell(plan, datasets) for plan in plans)
        computes_here = any(plan.computes_here and not plan.impossible for plan in plans)
        return PlannedRun(cells, self._estimate(plans, datasets), computes_here)

    def start(
        self,
        person: Person,
        run: RunSpec,
        models: KnownModels,
        once: RequestKey | None = None,
    ) -> str:
        """Queue the run and return its id; `once` is the request for it. Raises as `plan` does."""
        spec, loaded, collected = self._work_out(person, run)
        return submit(
            self._database,
            spec,
            loaded,
            models.catalog,
            person.name,
            collected=collected,
            usual=usual_limits(self._settings),
            once=once,
            describe=models.describe,
            mode_hindrance=models.mode_hindrance,
        )

    def matched(self, person: Person, run: RunSpec) -> RunSpec:
        """The run whose answers name the dataset that most of them are to.

        Raises:
            DataError, SpecError: there are no such files, or no open questions.
            UnknownRun: the person may see no such run.
        """
        loaded = {each.key: self._load_source(person.name, each).dataset for each in run.datasets}
        answers = [
            self._answers.matched(person, each, loaded) if not each.dataset else each
            for each in run.answers
        ]
        return run.model_copy(update={"answers": answers})

    def _work_out(
        self, person: Person, run: RunSpec
    ) -> tuple[RunSpec, Mapping[str, LoadResult], tuple[CollectedAnswers, ...]]:
        """The specification of a run, its data by source, and the answers that are there."""
        spec, loaded = self._read_uploads(person.name, self._located(person.name, run))
        spec, loaded = with_answered_datasets(self._database, spec, loaded, person=person)
        datasets = {key: result.dataset for key, result in loaded.items()}
        limits = self._limits
        collected = collect_answers(self._database, spec, datasets, limits=limits, person=person)
        return spec, loaded, collected

    def _located(self, owner: str, spec: RunSpec) -> RunSpec:
        """The specification with the paths of its uploads, and nothing that a client may not say.

        Raises:
            SpecError: it names a path, or neither an upload nor a run, or an upload of several
                files as one file of answers, or a name is too long.
            DataError: the person has no such upload.
        """
        _check_names(spec)
        datasets: list[DatasetSpec] = []
        for place, source in enumerate(spec.datasets):
            _require_upload(f"datasets[{place}]", source)
            paths = [str(path) for path in self._uploads.paths(owner, upload_of(source.upload))]
            entry = self._entry(owner, source.upload) or source.entry
            datasets.append(source.model_copy(update={"path": paths, "entry": entry}))
        answers: list[AnswersSpec] = []
        for place, wanted in enumerate(spec.answers):
            if wanted.run and not (wanted.path or wanted.upload):
                answers.append(wanted)
                continue
            _require_upload(f"answers[{place}]", wanted)
            paths = self._answers.paths(owner, wanted.upload)
            if len(paths) != 1:
                raise SpecError("spec-one-file", place=f"answers[{place}]", n=len(paths))
            answers.append(wanted.model_copy(update={"path": str(paths[0])}))
        return spec.model_copy(update={"datasets": datasets, "answers": answers})

    def _read_uploads(self, owner: str, spec: RunSpec) -> tuple[RunSpec, dict[str, LoadResult]]:
        """What a located specification runs, with names and digests as read; its data by source.

        Raises as `expand_entries` and `read_datasets` do; no sentence names a path.
        """
        if any(self._names(owner, upload_of(each.upload)) for each in spec.datasets):
            spec = expand_entries(spec, limits=self._limits)

        read = partial(self._load_source, owner)
        by_key = read_datasets(spec, limits=self._limits, read=read)
        named = {key: each.dataset.name for key, each in by_key.items()}
        datasets = [_as_read(each, by_key[each.key].dataset) for each in spec.datasets]
        answers = [
            each.model_copy(update={"upload": "", "dataset": named.get(each.dataset, each.dataset)})
            for each in spec.answers
        ]
        read_spec = spec.model_copy(update={"datasets": datasets, "answers": answers})
        return read_spec, {named[key]: each for key, each in by_key.items()}

    def _load_source(self, owner: str, source: DatasetSpec) -> LoadResult:
        # As pages read a part: with no entry, by its place among those of the upload.
        layout = layout_of(source)
        if not is_whole(source.upload):
            layout = replace(layout, entry="")
        loaded = self._load(owner, source.upload, layout)
        name = source.name or loaded.dataset.name
        return replace(loaded, dataset=replace(loaded.dataset, name=name))

    def _estimate(self, plans: Sequence[CellPlan], datasets: Mapping[str, Dataset]) -> Estimate:
        cached = count_cached(self._database, plans, datasets)
        cost = estimate(
            self._database, plans, datasets, cached, usage.mean_reply_tokens(self._database)
        )
        return replace(cost, kept_elsewhere=kept_elsewhere(self._database, plans, datasets, cached))

    def _datasets(self, owner: str, parts: Sequence[UploadPart]) -> list[Dataset]:
        return [self._load(owner, part.upload, part.layout).dataset for part in parts]

    def _entry(self, owner: str, upload: str) -> str:
        return "" if is_whole(upload) else entry_of(upload, self._names(owner, upload_of(upload)))

    def _load(self, owner: str, upload: str, layout: Layout) -> LoadResult:
        return self._loads(owner, upload, layout, self._uploads.came(owner, upload_of(upload)))

    def _read(self, owner: str, upload: str, layout: Layout, _came: int) -> LoadResult:
        layout = replace(layout, entry=self._entry(owner, upload) or layout.entry)
        whole = upload_of(upload)
        paths, pictures = self._uploads.paths(owner, whole), self._picture_folder(owner, whole)
        loaded = reader.load(paths, layout=layout, limits=self._limits, pictures=pictures)
        if loaded.dataset.pictures and not self._database.read_only:
            size = self._uploads.bytes_with_pictures(owner, whole)
            record_pictures(self._database, owner, whole, size)
        return loaded

    def _picture_folder(self, owner: str, upload: str) -> Path:
        folder = self._uploads.pictures(owner, upload)
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def _columns(self, owner: str, upload: str, layout: Layout) -> ColumnTable | None:
        """The table of an upload: neither names of columns nor an answer key change it."""
        placed = Layout(
            sheet=layout.sheet,
            kind=layout.kind,
            head_row=layout.head_row,
            commas_in_text=layout.commas_in_text,
        )
        return self._tables(owner, upload, placed, self._uploads.came(owner, upload_of(upload)))

    def _read_table(
        self, owner: str, upload: str, layout: Layout, _came: int
    ) -> ColumnTable | None:
        layout = replace(layout, entry=self._entry(owner, upload))
        whole = upload_of(upload)
        paths, pictures = self._uploads.paths(owner, whole), self._picture_folder(owner, whole)
        return reader.read_columns(paths, layout=layout, limits=self._limits, pictures=pictures)

    def _read_names(self, owner: str, upload: str) -> tuple[str, ...]:
        paths = self._uploads.paths(owner, upload)
        return tuple(each.name for each in reader.config_entries(paths, limits=self._limits))


def open_work(settings: Settings) -> FileWork:
    """The work of a process of its own: with its log, and the store of the settings."""
    configure_log(logging.WARNING, settings.log)
    return FileWork(settings, Database(settings.database, read_only=settings.read_only))


def _check_names(spec: RunSpec) -> None:
    """Raises `SpecError` if a client names something at a length that no page shows."""
    names = {"name": spec.name}
    names |= {f"datasets[{n}].name": each.name for n, each in enumerate(spec.datasets)}
    names |= {f"answers[{n}].model": each.model for n, each in enumerate(spec.answers)}
    for place, name in names.items():
        if len(name) > MAX_NAME:
            reason = f"String should have at most {MAX_NAME} characters."
            raise SpecError("request-field", place=place, reason=reason)


def _require_upload(place: str, source: DatasetSpec | AnswersSpec) -> None:
    if source.path:
        raise SpecError("spec-path", place=place)
    if not source.upload:
        raise SpecError("spec-no-upload", place=place)


def _as_read(source: DatasetSpec, dataset: Dataset) -> DatasetSpec:
    """A dataset of an upload as a run names it that was read: by its files and their digest."""
    read = {"path": [*source.paths], "name": dataset.name, "sha256": dataset.sha256, "upload": ""}
    return source.model_copy(update=read)


def _view(loaded: LoadResult) -> UploadView:
    dataset = loaded.dataset
    return UploadView(
        name=dataset.name,
        kind=dataset.kind,
        n_questions=len(dataset.samples),
        n_shots=len(dataset.shots),
        n_rows=loaded.n_rows,
        faults=loaded.faults,
        unlisted=loaded.unlisted,
        n_unusable_rows=loaded.n_unusable_rows,
        files=loaded.files,
        notes=loaded.notes,
        sheets=loaded.sheets,
        kinds=loaded.kinds,
        n_chinese=sum(language_of(sample) == "zh" for sample in dataset.samples),
        health=_health(dataset) if dataset.samples else None,
        unused_columns=loaded.unused_columns,
    )


def _health(dataset: Dataset) -> UploadHealth:
    if dataset.has_options:
        return _choice_health(check_choices(dataset.samples))
    figures = check_open_questions(dataset.samples)
    common = sorted(figures.capabilities.items(), key=lambda pair: -pair[1])
    shown = replace(figures, duplicates=(), capabilities=dict(common[:_SHOWN_GROUPS]))
    return UploadHealth(shown, _n_repeated(figures), sum(bool(name) for name, _ in common))


def _choice_health(figures: ChoiceHealth) -> UploadHealth:
    shown = replace(
        figures,
        duplicates=(),
        refers_to_other_options=(),
        duplicate_options=(),
        subjects=dict(islice(figures.subjects.items(), _SHOWN_GROUPS)),
    )
    return UploadHealth(
        shown,
        _n_repeated(figures),
        len(figures.subjects),
        len(figures.refers_to_other_options),
        len(figures.duplicate_options),
    )


def _n_repeated(health: ChoiceHealth | OpenHealth) -> int:
    """How many questions are there already, further up in the file."""
    return sum(len(group) - 1 for group in health.duplicates)


def _planned_cell(plan: CellPlan, datasets: Mapping[str, Dataset]) -> PlannedCell:
    return PlannedCell(
        model=plan.cell.model,
        mode=plan.cell.mode,
        pattern=plan.pattern,
        dataset=plan.cell.dataset,
        dataset_key=plan.dataset_key,
        questions=plan.questions,
        total=plan.total,
        impossible=plan.impossible,
        fits=datasets[plan.source].kind in MODES[plan.mode_name].kinds,
        has_price=bool(plan.entry.input_price or plan.entry.output_price),
    )
