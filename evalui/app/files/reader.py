"""The uploads of a person, as pages see them: some kB of each, kept for the next."""

import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeVar

from evalui.access import Person
from evalui.app.files.runners import FileRunner
from evalui.app.files.views import (
    AnswersFile,
    EarlierRun,
    KnownModels,
    LogChoices,
    LogView,
    PlannedRun,
    UploadPart,
    UploadView,
)
from evalui.app.files.work import FileWork
from evalui.app.permissions import checks
from evalui.app.uploads import UploadStore, dataset_ids, part_of, upload_of
from evalui.datasets.base import Layout
from evalui.datasets.columns import ColumnTable
from evalui.datasets.preview import Preview
from evalui.errors import DataError
from evalui.runs.contest import AnswersSpec
from evalui.runs.harnesses.importing import ImportedRun
from evalui.runs.request_key import RequestKey
from evalui.runs.results_cache import ResultCache
from evalui.runs.spec import DatasetSpec, RunSpec
from evalui.types import Verdict

T = TypeVar("T")

# Requests that may wait for files: each takes a thread, of which a server has some 40.
_MAX_WAITING, _MAX_WAITING_OF_ONE = 24, 8
_NO_LAYOUT = Layout()


class FileReader:
    """The files of the person that `person` gives; safe to share between threads."""

    def __init__(
        self,
        runner: FileRunner,
        uploads: UploadStore,
        cache: ResultCache,
        person: Callable[[], Person],
    ) -> None:
        self.runner = runner
        self._uploads = uploads
        self._person = person
        self._lock = threading.Lock()  # protects the next
        self._waiting: Counter[str] = Counter()
        # An upload cannot change. Of requests for the same file, one waits for a process.
        self._ask_once = cache.memoize(self._ask)
        self._view_log_once = cache.memoize(self._view_log)

    def with_sender(self, person: Callable[[], Person]) -> Self:
        """The same reader, with the same turns and kept answers, for another person."""
        other = copy(self)
        other._person = person
        return other

    @checks("that the upload is the person's own")
    def view(self, upload: str, layout: Layout) -> UploadView:
        """An upload as a dataset.

        Raises:
            DataError: it is none, or reading it takes too much time or memory.
        """
        return self._once(FileWork.view, upload, layout)

    @checks("that the upload is the person's own")
    def rows_read(self, upload: str) -> int | None:
        """How many rows of an upload are read by now; None while it waits for its turn."""
        return self.runner.rows_read(self._person(), upload)

    @checks("that the upload is the person's own")
    def columns(self, upload: str, layout: Layout = _NO_LAYOUT) -> ColumnTable | None:
        """The columns of an upload, None if it is no table; raises `DataError` as `view` does."""
        return self._once(FileWork.columns, upload, layout)

    @checks("that the upload is the person's own")
    def preview(self, upload: str, layout: Layout = _NO_LAYOUT, start: int = 0) -> Preview:
        """Questions of an upload, and how it is read; raises as `FileWork.preview`."""
        return self._once(FileWork.preview, upload, layout, start)

    @checks("that the upload is the person's own")
    def parts(self, upload: str) -> tuple[str, ...]:
        """The datasets of an upload, see `dataset_ids`; raises `DataError` if it cannot be read."""
        return dataset_ids(upload, self._once(FileWork.names, upload_of(upload)))

    @checks("that the upload is the person's own")
    def unlocated(self, spec: RunSpec) -> RunSpec:
        """A run of files as one of the uploads that these files came from.

        Raises:
            DataError: one did not come from this person, or is no longer here.
        """
        datasets = [self._of_upload(source) for source in spec.datasets]
        answers = [
            each if each.run else each.model_copy(update={"path": "", "upload": self._file(each)})
            for each in spec.answers
        ]
        return spec.model_copy(update={"datasets": datasets, "answers": answers})

    @checks("that the upload is the person's own")
    def has_sources(self, spec: RunSpec) -> bool:
        """Whether all files of a run are of the person's uploads."""
        try:
            for source in spec.datasets:
                self._upload_of(source)
            for each in spec.answers:
                if not each.run:
                    self._file(each)
        except DataError:
            return False
        return True

    @checks("that the upload is the person's own")
    def model_names(self, upload: str) -> tuple[str, ...]:
        """What the models are called whose answers an upload holds: the files' own names."""
        paths = self._uploads.paths(self._person().name, upload)
        return tuple(path.stem.removeprefix("answers_") or path.stem for path in paths)

    @checks("that the upload is the person's own")
    def answers_file(self, file: str, model: str, parts: Sequence[UploadPart]) -> AnswersFile:
        """What a file of answers holds of a model for the open questions it fits best."""
        given = tuple(parts)
        return self._once(FileWork.answers_file, file, model, given, near=parts[0].upload)

    @checks("that the upload is the person's own")
    def matched(self, run: RunSpec) -> RunSpec:
        """The run whose answers name the dataset that they are to; raises as `FileWork.matched`."""
        return self._anew(FileWork.matched, run, near=_first(run)) if run.answers else run

    @checks("which runs the person may see")
    def earlier_runs(self, parts: Sequence[UploadPart]) -> tuple[EarlierRun, ...]:
        """The runs whose models answered the same questions in writing, newest first."""
        return self._anew(FileWork.earlier_runs, tuple(parts), near=parts[0].upload)

    @checks("that the upload is the person's own")
    def votes(self, upload: str) -> Mapping[str, Sequence[Verdict]]:
        """The votes of an upload by dataset; raises `DataError` if it is no file of votes."""
        return self._anew(FileWork.votes, upload, near=upload)

    @checks("that the upload is the person's own")
    def log(self, upload: str) -> LogView | None:
        """An upload as the finished run of a harness, None if it is none.

        Raises:
            DataError: it is one that cannot be used, or reading it takes too much time or memory.
            StoreError: it is a bundle of another version of evalui.
        """
        with self._turn() as person:
            return self._view_log_once(person, upload)

    @checks("that the upload is the person's own")
    def import_log(self, upload: str, choices: LogChoices) -> ImportedRun:
        """Keep the finished run of an upload.

        Raises:
            DataError, SpecError, StoreError: as `log`, `LogView.named_models`, `import_upload`.
        """
        # Whoever names columns says that it is a table.
        view = None if choices.mapping else self.log(upload)
        models = view.named_models(choices) if view else {}
        with TemporaryDirectory(prefix="evalui-") as folder:
            given = upload, choices, models, Path(folder)
            return self._anew(FileWork.import_log, *given, near=upload)

    @checks("that the upload is the person's own")
    def plan(self, run: RunSpec, models: KnownModels) -> PlannedRun:
        """What a run would start; raises as `FileWork.plan`."""
        return self._anew(FileWork.plan, run, models, near=_first(run))

    @checks("that the upload is the person's own")
    def start(self, run: RunSpec, models: KnownModels, once: RequestKey | None) -> str:
        """Queue a run and return its id; raises as `FileWork.plan`."""
        return self._anew(FileWork.start, run, models, once, near=_first(run))

    def _of_upload(self, source: DatasetSpec) -> DatasetSpec:
        upload = self._upload_of(source)
        if source.entry:
            upload = part_of(upload, source.entry, self._once(FileWork.names, upload))
        return source.model_copy(update={"path": "", "upload": upload})

    def _file(self, answers: AnswersSpec) -> str:
        """The file of an upload that the answers are in."""
        owner, path = self._person().name, Path(answers.path)
        upload = self._uploads.id_of(owner, [path])
        return f"{upload}.{self._uploads.paths(owner, upload).index(path) + 1}"

    def _upload_of(self, source: DatasetSpec) -> str:
        owner = self._person().name
        upload = self._uploads.id_of(owner, [Path(path) for path in source.paths])
        self._uploads.paths(owner, upload)  # raises where the files are gone
        return upload

    def _once(
        self, function: Callable[..., T], upload: str, *arguments: object, near: str = ""
    ) -> T:
        """What was returned before for the same arguments, else as `_anew`."""
        with self._turn() as person:
            return self._ask_once(person, near or upload, function, upload, *arguments)

    def _anew(self, function: Callable[..., T], *arguments: object, near: str) -> T:
        """What a method of `FileWork` returns; `near` is the upload that it reads most."""
        with self._turn() as person:
            return self.runner.ask(person, near, function, *arguments)

    def _ask(self, person: Person, near: str, function: Callable[..., Any], *given: object) -> Any:
        return self.runner.ask(person, near, function, *given)

    def _view_log(self, person: Person, upload: str) -> LogView | None:
        # Removed here: a process that is ended for its time leaves what it has unpacked.
        with TemporaryDirectory(prefix="evalui-") as folder:
            return self.runner.ask(person, upload, FileWork.log, upload, Path(folder))

    @contextmanager
    def _turn(self) -> Generator[Person]:
        """Whoever sends the request, as one of those that wait.

        Raises:
            DataError: too many do.
        """
        person = self._person()
        with self._lock:
            of_one = self._waiting[person.name]
            if self._waiting.total() >= _MAX_WAITING or of_one >= _MAX_WAITING_OF_ONE:
                raise DataError("files-busy")
            self._waiting[person.name] += 1
        try:
            yield person
        finally:
            with self._lock:
                self._waiting[person.name] -= 1


def _first(run: RunSpec) -> str:
    return next((each.upload for each in run.datasets), "")
