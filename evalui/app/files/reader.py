"""The uploads of a person, as pages see them: some kB of each, kept for the next."""

import inspect
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from copy import copy
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from evalui.access import Person
from evalui.app.files.runners import FileRunner
from evalui.app.files.views import LogChoices, LogView, UploadPart
from evalui.app.files.work import FileWork
from evalui.app.permissions import checks
from evalui.app.uploads import UploadStore, dataset_ids, part_of, upload_of
from evalui.errors import DataError
from evalui.harnesses.importing import ImportedRun
from evalui.runs.contest import AnswersSpec
from evalui.runs.spec import DatasetSpec, RunSpec
from evalui.store.results_cache import ResultCache

P = ParamSpec("P")
T = TypeVar("T")

_OWN = "that the upload is the person's own"
# Requests that may wait for files: each takes a thread, of which a server has some 40.
_MAX_WAITING, _MAX_WAITING_OF_ONE = 24, 8


class _Requests:
    """The requests of everybody: who waits, and what was worked out before."""

    def __init__(self, runner: FileRunner, cache: ResultCache) -> None:
        self.runner = runner
        self._lock = threading.Lock()  # protects the next
        self._waiting: Counter[str] = Counter()
        # Of requests for the same file, one waits for a process.
        self._ask_once = cache.memoize_newest(self._ask_of)
        self._view_log_once = cache.memoize(self._view_log)

    def ask(
        self,
        person: Person,
        method: Callable[..., Any],
        *arguments: object,
        came: int | None = None,
    ) -> Any:
        """What a method of `FileWork` returns; of an upload that `came` then, which cannot change,
        it is not worked out again.

        Raises:
            DataError: too many wait; and as `FileProcesses.ask` does.
        """
        with self._turn(person.name):
            given = map(_hashable, arguments)
            if came is None:
                return self._ask(person, method, *given)
            return self._ask_once(person, method, *given, came)

    def view_log(self, person: Person, upload: str) -> LogView | None:
        """As `FileWork.log`, and what it unpacks is removed."""
        with self._turn(person.name):
            return self._view_log_once(person, upload)

    def _ask(self, person: Person, method: Callable[..., Any], *arguments: object) -> Any:
        return self.runner.ask(person, _most_read(arguments), method, *arguments)

    def _ask_of(self, person: Person, method: Callable[..., Any], *arguments: object) -> Any:
        *given, _came = arguments
        return self._ask(person, method, *given)

    def _view_log(self, person: Person, upload: str) -> LogView | None:
        # Removed here: a process that is ended for its time leaves what it has unpacked.
        with TemporaryDirectory(prefix="evalui-") as folder:
            return self._ask(person, FileWork.log, upload, Path(folder))

    @contextmanager
    def _turn(self, owner: str) -> Generator[None]:
        with self._lock:
            of_one = self._waiting[owner]
            if self._waiting.total() >= _MAX_WAITING or of_one >= _MAX_WAITING_OF_ONE:
                raise DataError("files-busy")
            self._waiting[owner] += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting[owner] -= 1


def _by_work(
    method: Callable[Concatenate[FileWork, Person, P], T], *, is_kept: bool, by: str = _OWN
) -> Callable[Concatenate["FileReader", P], T]:
    """The method of `FileWork`, for the person of a reader; as `_Requests.ask`.

    What `is_kept` is of the upload that is its first argument.
    """
    signature = inspect.signature(method)

    @checks(by)
    @wraps(method)
    def ask(self: "FileReader", *arguments: P.args, **named: P.kwargs) -> T:
        bound = signature.bind(None, self.person(), *arguments, **named)
        bound.apply_defaults()
        _, person, *given = bound.args
        came = self.came(str(given[0])) if is_kept else None
        return self.requests.ask(person, method, *given, came=came)

    return ask


class FileReader:
    """The files of the person that `person` gives; safe to share between threads."""

    def __init__(
        self,
        runner: FileRunner,
        uploads: UploadStore,
        cache: ResultCache,
        person: Callable[[], Person],
    ) -> None:
        self.requests = _Requests(runner, cache)
        self.runner = runner
        self.person = person
        self._uploads = uploads

    def with_sender(self, person: Callable[[], Person]) -> Self:
        """The same reader, with the same turns and kept answers, for another person."""
        other = copy(self)
        other.person = person
        return other

    view = _by_work(FileWork.view, is_kept=True)
    columns = _by_work(FileWork.columns, is_kept=True)
    preview = _by_work(FileWork.preview, is_kept=True)
    answers_file = _by_work(FileWork.answers_file, is_kept=True)
    earlier_runs = _by_work(FileWork.earlier_runs, is_kept=False, by="which runs they may see")
    votes = _by_work(FileWork.votes, is_kept=False)
    plan = _by_work(FileWork.plan, is_kept=False)
    start = _by_work(FileWork.start, is_kept=False)
    _names = _by_work(FileWork.names, is_kept=True)
    _matched = _by_work(FileWork.matched, is_kept=False)
    _import_log = _by_work(FileWork.import_log, is_kept=False)

    @checks(_OWN)
    def came(self, upload: str) -> int | None:
        """When the upload of a part came; None if there is none, which the work says itself."""
        try:
            return self._uploads.came(self.person().name, upload_of(upload))
        except DataError:
            return None

    @checks(_OWN)
    def rows_read(self, upload: str) -> int | None:
        """How many rows of an upload are read by now; None while it waits for its turn."""
        return self.runner.rows_read(self.person(), upload)

    @checks(_OWN)
    def parts(self, upload: str) -> tuple[str, ...]:
        """The datasets of an upload, see `dataset_ids`; raises `DataError` if it cannot be read."""
        return dataset_ids(upload, self._names(upload_of(upload)))

    @checks(_OWN)
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

    @checks(_OWN)
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

    @checks(_OWN)
    def model_names(self, upload: str) -> tuple[str, ...]:
        """What the models are called whose answers an upload holds: the files' own names."""
        paths = self._uploads.paths(self.person().name, upload)
        return tuple(path.stem.removeprefix("answers_") or path.stem for path in paths)

    @checks(_OWN)
    def matched(self, run: RunSpec) -> RunSpec:
        """The run whose answers name the dataset that they are to; raises as `FileWork.matched`."""
        return self._matched(run) if run.answers else run

    @checks(_OWN)
    def log(self, upload: str) -> LogView | None:
        """An upload as the finished run of a harness, None if it is none.

        Raises:
            DataError: it is one that cannot be used, or reading it takes too much time or memory.
            StoreError: it is a bundle of another version of evalui.
        """
        return self.requests.view_log(self.person(), upload)

    @checks(_OWN)
    def import_log(self, upload: str, choices: LogChoices) -> ImportedRun:
        """Keep the finished run of an upload.

        Raises:
            DataError, SpecError, StoreError: as `log`, `LogView.named_models`, `import_upload`.
        """
        # Whoever names columns says that it is a table.
        view = None if choices.mapping else self.log(upload)
        models = view.named_models(choices) if view else {}
        with TemporaryDirectory(prefix="evalui-") as folder:
            return self._import_log(upload, choices, models, Path(folder))

    def _of_upload(self, source: DatasetSpec) -> DatasetSpec:
        upload = self._upload_of(source)
        if source.entry:
            upload = part_of(upload, source.entry, self._names(upload))
        return source.model_copy(update={"path": "", "upload": upload})

    def _file(self, answers: AnswersSpec) -> str:
        """The file of an upload that the answers are in."""
        owner, path = self.person().name, Path(answers.path)
        upload = self._uploads.id_of(owner, [path])
        return f"{upload}.{self._uploads.paths(owner, upload).index(path) + 1}"

    def _upload_of(self, source: DatasetSpec) -> str:
        owner = self.person().name
        upload = self._uploads.id_of(owner, [Path(path) for path in source.paths])
        self._uploads.paths(owner, upload)  # raises where the files are gone
        return upload


def _hashable(value: object) -> object:
    return tuple(cast("list[object]", value)) if type(value) is list else value


def _most_read(arguments: tuple[object, ...]) -> str:
    """The upload that a request reads most: that of the questions."""
    first, last = arguments[0], arguments[-1]
    if isinstance(first, RunSpec):
        return next((each.upload for each in first.datasets), "")
    if isinstance(last, tuple):
        return cast("tuple[UploadPart, ...]", last)[0].upload
    return str(first)
