"""Finished runs of other harnesses among the uploads: what one is, and its way into the store."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from evalui.app.files.views import LogChoices, LoggedRun, LogView, UnnamedModel
from evalui.app.uploads import UploadStore
from evalui.datasets import reader as datasets
from evalui.datasets.model import Limits
from evalui.errors import DataError, EvaluiError
from evalui.harnesses import LogPart, table_reader
from evalui.harnesses.files import opened_files
from evalui.harnesses.importing import ImportedRun, find_parts, import_run
from evalui.store.bundle import is_store, opened_bundle
from evalui.store.connection import Database
from evalui.store.queue import Admit
from evalui.store.runs import read_cells, read_runs

OWN = "evalui"  # the harness of a bundle
_SHOWN_RUNS = 200
_SHOWN_FILES = 5
_TABLES = (".csv", ".tsv", ".xlsx", ".xlsm", ".xls", ".ods", ".parquet")


@dataclass(frozen=True, slots=True)
class LogStore:
    """Where uploads come from, where runs go, and what is too much for either.

    Archives are unpacked within `folder`, which whoever made it removes.
    """

    uploads: UploadStore
    database: Database
    limits: Limits
    folder: Path


def view_log(store: LogStore, owner: str, upload: str) -> LogView | None:
    """What is in an upload if it is a log or a bundle, else None.

    Raises:
        DataError: it is one that cannot be used; the message has the cure.
        StoreError: it is a bundle of another version of evalui.
    """
    paths = store.uploads.paths(owner, upload)
    loose = _loose(paths, store.uploads.about(owner, upload).files)
    others = loose if len(paths) > 1 else ()
    with ExitStack() as stack:
        try:
            opened = opened_files(paths, store.limits, within=store.folder)
            files = stack.enter_context(opened)
        except DataError:
            return None  # what reads it as a dataset opens the same archives, and says why
        stores = [path for path in files if is_store(path)]
        try:
            parts = find_parts(files)
        except DataError:
            if not stores:  # as `import_run` does: else a bundle is meant
                raise
            parts = ()
        if parts:
            in_folders = len(files) > len(paths) or len(loose) < len(paths)
            view = _log_view(store, parts, files, upload, others)
            return replace(view, has_folders=in_folders)
        return _bundle_view(store, stores, files, others) if stores else None


def import_upload(
    store: LogStore,
    owner: str,
    upload: str,
    choices: LogChoices,
    models: Mapping[str, str],
    admit: Admit,
) -> ImportedRun:
    """Keep the run of an upload; `models` are the names of the models that no file states.

    Raises:
        DataError: it is no log, or cannot be read.
        SpecError: columns are not there; and as `admit` does.
        StoreError: it is a bundle that is not whole, or the store cannot be written.
    """
    return import_run(
        store.database,
        store.uploads.paths(owner, upload),
        name=choices.name,
        owner=owner,
        models=models,
        limits=store.limits,
        within=store.folder,
        reader=table_reader(choices.mapping) if choices.mapping else None,
        admit=admit,
        processes=0,  # the memory of this one is limited
    )


def _loose(paths: Sequence[Path], places: Sequence[str]) -> tuple[Path, ...]:
    """The files that were dropped one by one; the store numbers those of the same name."""
    parts = (PurePosixPath(place).parts for place in places)
    return tuple(
        path
        for path, (*above, _) in zip(paths, parts, strict=True)
        if not above or (len(above) == 1 and above[0].isdecimal())
    )


def _log_view(
    store: LogStore,
    parts: Sequence[LogPart],
    files: Sequence[Path],
    upload: str,
    loose: Sequence[Path],
) -> LogView:
    runs = [
        LoggedRun(part.harness, part.version, part.dataset, part.model, part.missing)
        for part in parts[:_SHOWN_RUNS]
    ]
    read = {name for part in parts for name in part.files}
    names = Counter(path.name for path in files)
    # Where several files have the name, one of them may be no part of the log.
    others = [path for path in loose if path.name not in read or names[path.name] > 1]
    apart = tuple(_apart(store, others))
    known = {*apart, *read}
    rest = dict.fromkeys(path.name for path in files if path.name not in known)
    return LogView(
        runs=tuple(runs),
        n_runs=len(parts),
        n_models=len({part.model for part in parts}),
        n_datasets=len({part.dataset for part in parts}),
        unnamed=tuple(_unnamed(parts, upload, store.folder)),
        apart=apart,
        beside=tuple(rest)[:_SHOWN_FILES],
        n_beside=len(rest),
    )


def _unnamed(parts: Sequence[LogPart], upload: str, unpacked: Path) -> Iterator[UnnamedModel]:
    unnamed: dict[str, list[LogPart]] = {}
    for part in parts:
        # A reader of another package may not say what it calls a model after.
        if part.named_after is not None or part.model.startswith(upload):
            unnamed.setdefault(part.model, []).append(part)
    for label, own in unnamed.items():
        folder = own[0].named_after
        guess = _own_name(folder, upload, unpacked) if folder else ""
        files = tuple(name for part in own for name in part.files)
        yield UnnamedModel(label, guess, files)


def _own_name(folder: Path, upload: str, unpacked: Path) -> str:
    """The name of a folder that was dropped; "" of one that was made here.

    That of an upload is called by its digest, those of files of one name by numbers, and that to
    which an archive is unpacked by the archive, whose name may be anything.
    """
    is_number = folder.parent.name == upload and folder.name.isdecimal()
    is_archive = unpacked in folder.parents[:2]
    return "" if is_number or is_archive or folder.name == upload else folder.name


def _apart(store: LogStore, loose: Sequence[Path]) -> Iterator[str]:
    """The names of loose files that somebody would miss: they are no logs, and no mere company."""
    for path in loose:
        if not _has_log(store, path) and _has_questions(store, path):
            yield path.name


def _has_log(store: LogStore, path: Path) -> bool:
    with ExitStack() as stack:
        opened = opened_files([path], store.limits, within=store.folder)
        try:
            return bool(find_parts(stack.enter_context(opened)))
        except DataError:
            return True  # a file of a harness, which lacks others


def _has_questions(store: LogStore, path: Path) -> bool:
    if path.suffix.lower() in _TABLES or is_store(path):
        return True
    try:
        return datasets.has_questions([path], limits=store.limits)
    except EvaluiError:
        return False


def _bundle_view(
    store: LogStore, stores: Sequence[Path], files: Sequence[Path], loose: Sequence[Path]
) -> LogView:
    if len(stores) > 1:
        raise DataError("log-bundles", files=", ".join(path.name for path in stores[:_SHOWN_FILES]))
    (path,) = stores
    with opened_bundle(path) as opened:
        runs = read_runs(opened)
        if len(runs) != 1:
            raise DataError("bundle-runs", file=path.name, n=len(runs))
        cells = [row.cell for row in read_cells(opened, runs[0].id)]
    answered = dict.fromkeys((cell.dataset, cell.model) for cell in cells)
    apart = tuple(
        each.name
        for each in loose
        if each != path and not _has_store(store, each) and _has_questions(store, each)
    )
    rest = dict.fromkeys(each.name for each in files if each.name not in (path.name, *apart))
    return LogView(
        runs=tuple(LoggedRun(OWN, "", *names) for names in answered)[:_SHOWN_RUNS],
        n_runs=len(answered),
        n_models=len({model for _, model in answered}),
        n_datasets=len({dataset for dataset, _ in answered}),
        apart=apart,
        beside=tuple(rest)[:_SHOWN_FILES],
        n_beside=len(rest),
        bundle=runs[0].name,
    )


def _has_store(store: LogStore, path: Path) -> bool:
    """Whether a loose archive is the one that the bundle came in."""
    with opened_files([path], store.limits, within=store.folder) as files:
        return any(map(is_store, files))
