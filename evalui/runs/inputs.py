"""From the files a specification names to a run in the queue."""

from collections.abc import Mapping
from pathlib import Path

from evalui.data.base import Layout, Limits, Loaded
from evalui.data.bundle import load
from evalui.errors import FaultyRows, SpecError
from evalui.models.base import ModelEntry
from evalui.runs.access import LOCAL
from evalui.runs.plan import plan_run
from evalui.runs.spec import DatasetSpec, RunSpec
from evalui.runs.store import Store


def read_datasets(
    spec: RunSpec,
    *,
    base: Path = Path(),
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> dict[str, Loaded]:
    """The datasets of a specification by `DatasetSpec.key`; paths are relative to `base`.

    Raises:
        DataError: a file cannot be used.
        FaultyRows: rows are wrong and the specification does not say to skip them.
        SpecError: a file is not the one the specification was written for.
    """
    return {source.key: _read(source, base, limits) for source in spec.datasets}


def submit(
    store: Store,
    spec: RunSpec,
    loaded: Mapping[str, Loaded],
    catalog: Mapping[str, ModelEntry],
    owner: str = LOCAL,
) -> str:
    """Check a run, keep its datasets, queue it, and return its id.

    Raises:
        SpecError, UnknownName: see `plan_run`; nothing is kept then.
    """
    datasets = {key: upload.dataset for key, upload in loaded.items()}
    plans = plan_run(spec, datasets, catalog)
    paths = {source.key: source.paths for source in spec.datasets}
    for key, upload in loaded.items():
        store.add_dataset(upload.dataset, owner, paths[key], len(upload.faults))
    return store.create_run(spec, plans, owner)


def _located(base: Path, path: str) -> Path:
    try:
        return base / Path(path).expanduser()
    except RuntimeError as error:  # "~nobody/..."
        raise SpecError(
            "The path {path} leads nowhere: {reason}", "path-unknown", path=path, reason=str(error)
        ) from error


def _read(source: DatasetSpec, base: Path, limits: Limits) -> Loaded:
    loaded = load(
        [_located(base, path) for path in source.paths],
        layout=Layout(tuple(source.options), source.answer, source.answer_key, source.question),
        name=source.name,
        limits=limits,
    )
    name = loaded.dataset.name
    if source.sha256 and source.sha256 != loaded.dataset.sha256:
        raise SpecError(
            "{name} has changed since the specification was written: its digest is "
            "{found}, expected {expected}.",
            "dataset-changed",
            name=name,
            found=loaded.dataset.sha256[:8],
            expected=source.sha256[:8],
        )
    if loaded.faults and not source.skip_faulty:
        raise FaultyRows(
            "{name} has {n} faults, the first is {fault}. "
            'Mend them, or leave these rows out with "skip_faulty": true.',
            "faults",
            name=name,
            n=len(loaded.faults),
            fault=str(loaded.faults[0]),
        )
    return loaded
