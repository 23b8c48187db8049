"""From a specification whose files were uploaded to a run in the queue."""

from collections.abc import Mapping
from typing import Any

from evalui.access import Person
from evalui.datasets.base import Limits, LoadResult
from evalui.models.base import ModelEntry
from evalui.models.catalog import describe
from evalui.runs.cells import Describe
from evalui.runs.database.connection import Database
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.request_key import RequestKey
from evalui.runs.spec import DatasetSpec, RunSpec
from evalui.runs.submit import collect_answers, expand_entries, read_datasets, submit
from evalui.runs.submitted import SubmittedSpec
from evalui.types import Dataset


def start_submitted(
    database: Database,
    spec: SubmittedSpec,
    catalog: Mapping[str, ModelEntry],
    person: Person,
    *,
    limits: Limits,
    usual: UserLimits,
    once: RequestKey | None = None,
    describe: Describe = describe,
) -> str:
    """Queue the run of a located specification for a person and return its id.

    `once` is the request for it, `describe` states what is known of a model. Raises as
    `read_submitted`, `collect_answers` and `submit` do.
    """
    plain, loaded = read_submitted(spec, limits)
    datasets = {key: result.dataset for key, result in loaded.items()}
    collected = collect_answers(database, plain, datasets, limits=limits, person=person)
    return submit(
        database,
        plain,
        loaded,
        catalog,
        person.name,
        collected=collected,
        usual=usual,
        once=once,
        describe=describe,
    )


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
