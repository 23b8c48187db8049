"""Datasets: uploads of a person, published sets by name, and the columns that are remembered."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evalui.app.column_memory import fitting_layout
from evalui.app.files.views import UploadView
from evalui.app.permissions import checks, requires
from evalui.app.samples import open_sample, sample_archive
from evalui.app.service import AppService
from evalui.app.uploads import UploadedFiles, check_may_upload, forget_upload, record_upload
from evalui.benchmarks.index import Benchmark, search
from evalui.benchmarks.preparing import hindrance, resolve, task_data
from evalui.datasets.model import Layout
from evalui.errors import DataError
from evalui.messages import Sentence
from evalui.runs.fair_queue.limits import usual_limits

_NAMED_FILES = 3  # of an upload, in its name


@dataclass(frozen=True, slots=True)
class OfferedBenchmark:
    """A set of the index; `hindrance` is why it cannot be taken, and what to do, None if it can."""

    benchmark: Benchmark
    hindrance: Sentence | None = None


@dataclass(frozen=True, slots=True)
class TakenBenchmark:
    """A set as a dataset of a person's own; `notes` say what differs from it as published."""

    upload: str
    notes: tuple[Sentence, ...] = ()


@requires("see")
def list_uploads(service: AppService) -> Sequence[UploadedFiles]:
    """What the person has uploaded, the newest first."""
    return service.uploads.uploaded(service.owner)


@requires("see")
def find_upload(service: AppService, upload: str) -> UploadedFiles:
    """One upload of the person's; raises `DataError` if they have none of this id."""
    try:
        return service.uploads.about(service.owner, upload)
    except DataError as error:
        raise DataError("no-upload-id", upload=upload) from error


@checks("that the upload is the person's own")
def read_upload(service: AppService, upload: str, layout: Layout) -> UploadView:
    """An upload as a dataset; raises as `FileReader.view`."""
    return service.files.view(upload, layout)


@checks("that the upload is the person's own")
def upload_parts(service: AppService, upload: str) -> tuple[str, ...]:
    """The datasets of an upload; raises as `FileReader.parts`."""
    return service.files.parts(upload)


@requires("start")
def store_upload(service: AppService, files: Sequence[tuple[str, bytes]]) -> str:
    """Store uploaded files and return the id of the upload; raises `NotAllowed` to readers."""
    return _recorded(service, service.uploads.store(service.owner, files))


@requires("start")
@contextmanager
def receiving_folder(service: AppService, size: int) -> Generator[Path]:
    """A folder for files on their way, of `size` bytes together.

    Raises:
        NotAllowed: the person may only read.
        SpecError: they would store more than they may, with what else is on its way.
        DataError: as `UploadStore.receiving`.
    """
    usual = usual_limits(service.settings)
    admit = partial(check_may_upload, service.database, service.owner, usual)
    with service.uploads.receiving(service.owner, size, admit) as folder:
        yield folder


@requires("start")
def keep_upload(service: AppService, files: Sequence[tuple[str, Path]]) -> str:
    """Store what that folder received; raises as `UploadStore.keep`."""
    return _recorded(service, service.uploads.keep(service.owner, files))


@requires("start")
def delete_upload(service: AppService, upload: str) -> None:
    """Delete the files of an upload; runs that were made of it keep their questions."""
    upload = find_upload(service, upload).id
    service.uploads.delete(service.owner, upload)
    forget_upload(service.database, service.owner, upload)


@requires("start")
def store_sample(service: AppService) -> str:
    """Store the shipped sample as if it had been uploaded, in an archive with a name."""
    return store_upload(service, [sample_archive()])


@requires("start")
def store_open_sample(service: AppService) -> str:
    """Store the shipped open questions as if they had been uploaded."""
    return store_upload(service, [open_sample()])


@requires("see")
def remembered_layout(service: AppService, upload: str) -> Layout | None:
    """The columns that the person chose for files with these headers, None if they do not fit."""
    return fitting_layout(service.column_memory, service.files, upload)


@requires("start")
def remember_columns(service: AppService, headers: Sequence[str], layout: Layout | None) -> None:
    """Keep a choice of columns for other files with these headers; None forgets it."""
    service.column_memory.remember(headers, layout)


@requires("see")
def find_benchmarks(service: AppService, words: str, *, most: int) -> tuple[OfferedBenchmark, ...]:
    """The first sets that all of these words fit, those on this machine first."""
    data = task_data(service.settings)
    offered = (OfferedBenchmark(each, hindrance(each, data)) for each in search(words))
    ranked = sorted(offered, key=lambda each: each.hindrance is not None)
    return tuple(ranked[:most])


@requires("start")
def take_benchmark(service: AppService, name: str) -> TakenBenchmark:
    """Make a set one of the person's datasets; a split may stand behind the name, after a colon.

    Raises:
        DataError: its questions cannot be put to models, or its data are not here or are damaged.
        SpecError: the person would store more than they may.
        UnknownName: there is no such set.
    """
    prepared = resolve(name, service.settings)
    files = [(path.name, path.read_bytes()) for path in prepared.paths]
    return TakenBenchmark(store_upload(service, files), prepared.notes)


def _recorded(service: AppService, upload: str) -> str:
    about = service.uploads.about(service.owner, upload)
    name = ", ".join(Path(file).name for file in about.files[:_NAMED_FILES])
    record_upload(service.database, service.owner, upload, name, about.bytes)
    return upload
