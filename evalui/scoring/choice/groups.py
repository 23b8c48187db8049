"""Means over several subjects, by subject and by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """The figures of a group of subjects.

    `macro` weighs every subject the same, as OpenCompass's summarizer; `micro` weighs it by its
    number of questions. Both hold the figures that all present members share. `missing` are the
    members without figures: OpenCompass shows no group at all if there is one.
    """

    macro: Mapping[str, float]
    micro: Mapping[str, float]
    present: tuple[str, ...]
    missing: tuple[str, ...]
    n: int


def group_means(
    metrics_by_subject: Mapping[str, Mapping[str, float]],
    sizes: Mapping[str, int],
    members: Sequence[str],
) -> GroupMeans:
    """Means over the members that have figures, `n` questions together.

    `sizes` are the numbers of questions the figures rest on; where circular figures rest on
    fewer questions than acc_origin, call once for each kind.
    """
    present = tuple(member for member in members if member in metrics_by_subject)
    figures = [metrics_by_subject[member] for member in present]
    weights = [sizes[member] for member in present]
    shared = [name for name in (figures[0] if figures else ()) if all(name in f for f in figures)]
    return GroupMeans(
        macro={name: _mean([f[name] for f in figures], [1] * len(figures)) for name in shared},
        micro={name: _mean([f[name] for f in figures], weights) for name in shared},
        present=present,
        missing=tuple(member for member in members if member not in metrics_by_subject),
        n=sum(weights),
    )


def _mean(values: Sequence[float], weights: Sequence[int]) -> float:
    weighted = (value * weight for value, weight in zip(values, weights, strict=True))
    return sum(weighted) / sum(weights)
