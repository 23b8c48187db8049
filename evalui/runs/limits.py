"""Which questions of a dataset a run asks."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from evalui.runs.spec import RunSpec
from evalui.types import Dataset, Sample


def limit_dataset(dataset: Dataset, spec: RunSpec) -> Dataset:
    """The dataset with the first `spec.limit` questions of each subject, in its own order.

    Unchanged where the limit counts per dataset: its cells take the head of their dataset.
    To limit a dataset again changes nothing.
    """
    if spec.limit is None or spec.counts_per == "dataset":
        return dataset
    seen: Counter[str] = Counter()
    kept: list[Sample] = []
    for sample in dataset.samples:
        seen[sample.subject] += 1
        if seen[sample.subject] <= spec.limit:
            kept.append(sample)
    return replace(dataset, samples=tuple(kept))


def limit_datasets(datasets: Mapping[str, Dataset], spec: RunSpec) -> dict[str, Dataset]:
    """Each dataset limited, under its key."""
    return {key: limit_dataset(dataset, spec) for key, dataset in datasets.items()}
