"""What a specification whose files were uploaded runs."""

from typing import Any

from evalui.datasets.base import Limits, LoadResult
from evalui.runs.spec import DatasetSpec, RunSpec
from evalui.runs.submit import expand_entries, read_datasets
from evalui.runs.submitted import SubmittedSpec
from evalui.types import Dataset


def read_submitted(spec: SubmittedSpec, limits: Limits) -> tuple[RunSpec, dict[str, LoadResult]]:
    """What a located specification runs: with names and digests as read, and its data by source.

    Raises as `expand_entries` and `read_datasets` do; no sentence names a path.
    """
    expanded = expand_entries(spec, limits=limits)
    read = read_datasets(expanded, limits=limits)
    named = {key: each.dataset.name for key, each in read.items()}
    datasets = [_read_source(source, read[source.key].dataset) for source in expanded.datasets]
    answers = [
        each.model_dump(exclude={"upload"})
        | {"path": each.path, "dataset": named.get(each.dataset, each.dataset)}
        for each in expanded.answers
    ]
    rest = expanded.model_dump(exclude={"datasets", "answers"})
    plain = RunSpec.model_validate(rest | {"datasets": datasets, "answers": answers})
    return plain, {named[key]: each for key, each in read.items()}


def _read_source(source: DatasetSpec, dataset: Dataset) -> dict[str, Any]:
    """A dataset as it was read, with its paths."""
    pinned = {"path": list(source.paths), "name": dataset.name, "sha256": dataset.sha256}
    return source.model_dump(exclude={"upload"}) | pinned
