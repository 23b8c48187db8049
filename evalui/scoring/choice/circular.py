"""Accuracy that does not depend on the order of the options.

The figures and their names are those of OpenCompass's CircularEval, and on complete data so are
the values. They differ on purpose where OpenCompass is undefined or misleads:

- "origin" is the identity permutation, never the order of whichever row came first;
- only the options a question has are moved, so questions may differ in their number of options.
  Each question then weighs the same in `acc_*`, and `more_k_*` needs k right orders of it or
  all it has, whichever is fewer: perf <= more_k <= more_1 always holds;
- a question that lacks an order counts in `acc_origin` and `perf_origin` only, and is listed;
- a question whose options name other options ("A and B"), or have the same text, means something
  else in another order. It counts as in OpenCompass; `*_movable` are the figures without such
  questions, and so are the ranges, and they are listed;
- a question that is asked several times counts once: each figure is taken of each repeat, and the
  question has the mean over its repeats. Ranges are those of means over questions;
- an order in which the best options tie earns its credit (1/t) in `acc_*`, and is not right in
  `more_k_*` and `perf_*`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.options import variants
from evalui.scoring.choice.trial_grid import (
    TrialGrid,
    excluded_ids,
    joined_clusters,
    trial_grids,
)
from evalui.scoring.statistics.intervals import (
    ClusteredMean,
    clustered_mean,
    share_over_repeats,
)
from evalui.types import Interval, Pattern, Trial

Measure = Literal["accuracy", "robust", "mean_over_orders"]
Outcomes = Mapping[Measure, Mapping[str, float]]
MOVABLE = "_movable"  # ends the names of figures without questions that mean something else
_PATTERN_PARTS: Mapping[Pattern, tuple[Pattern, ...]] = {
    "origin": (),
    "circular": ("circular",),
    "all_possible": ("circular", "all_possible"),
}


@dataclass(frozen=True, slots=True)
class CircularMetrics:
    """The figures in percent, by OpenCompass's names and in its order.

    A figure that rests on no question at all is left out of `values`. `n_origin` questions were
    presented in their original order, `n_circular` in every order of the pattern; the ids in
    `incomplete` lack an order, those in `naming` have options that name other options, those in
    `duplicates` options of the same text. Where either are among the `n_circular`, a figure whose
    name ends in `_movable` stands beside each that rests on them; it rests on `n_movable`.
    """

    values: Mapping[str, float]
    n_origin: int
    n_circular: int
    n_movable: int
    incomplete: tuple[str, ...]
    naming: tuple[str, ...]
    duplicates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CircularIntervals:
    """The main figures as shares with their plausible ranges; None where no question counts.

    `accuracy` is acc_origin over all questions. The rest concern the questions presented in
    every order whose options may move: `mean_over_orders` the mean credit over orders, `robust`
    right in every order, `any_order` right in at least one, `order_sensitivity` right in the
    original order but not in every one, `spread` right in some orders but not in every one.
    """

    accuracy: Interval | None
    mean_over_orders: ClusteredMean | None
    robust: Interval | None
    any_order: Interval | None
    order_sensitivity: Interval | None
    spread: Interval | None


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


def circular_metrics(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> CircularMetrics:
    """All figures of a pattern under one reading; None takes each trial's headline."""
    return metrics_of_grids(trial_grids(trials, pattern, reading=reading), pattern)


def metrics_of_grids(tables: Sequence[TrialGrid], pattern: Pattern) -> CircularMetrics:
    """`circular_metrics` of grids of the same pattern."""
    whole = [table.subset(table.complete) for table in tables]
    movable = [table.subset(table.reorderable) for table in tables]
    n_circular, n_movable = (sum(table.n for table in each) for each in (whole, movable))
    written = _written_means(tables)
    credits: dict[str, list[NDArray[np.float64]]] = {"origin": [written.credit[:, None]]}
    for part in _PATTERN_PARTS[pattern]:
        credits[part] = [_pattern_columns(table, pattern, part) for table in whole]
        if n_movable < n_circular:
            columns = [_pattern_columns(table, pattern, part) for table in movable]
            credits[f"{part}{MOVABLE}"] = columns
    known = {name: matrices for name, matrices in credits.items() if sum(map(len, matrices))}
    values = {
        f"acc_{name}": 100 * _question_means(matrices).mean() for name, matrices in known.items()
    }
    for name, matrices in known.items():
        if name == "origin":
            values["perf_origin"] = 100 * written.perfect.mean()
        else:
            values |= _more_and_perfect(name, matrices)
    return CircularMetrics(
        values={name: float(value) for name, value in values.items()},
        n_origin=len(written.credit),
        n_circular=n_circular if _PATTERN_PARTS[pattern] else 0,
        n_movable=n_movable if _PATTERN_PARTS[pattern] else 0,
        incomplete=excluded_ids(tables, ""),
        naming=excluded_ids(tables, "naming"),
        duplicates=excluded_ids(tables, "duplicates"),
    )


def intervals_of_grids(tables: Sequence[TrialGrid], pattern: Pattern) -> CircularIntervals:
    """The main figures with their ranges; for the pattern origin only `accuracy` has a value."""
    written = accuracy_as_written(tables)
    moved = [table.subset(table.reorderable) for table in tables]
    if not sum(table.n for table in moved) or pattern == "origin":
        return CircularIntervals(written, None, None, None, None, None)
    # Of shape (questions, repeats) from here on.
    right = [table.credit_by_repeat == 1 for table in moved]
    first = np.concatenate([marks[:, :, 0] for marks in right])
    every = np.concatenate([marks.all(axis=2) for marks in right])
    some = np.concatenate([marks.any(axis=2) for marks in right])
    cluster = joined_clusters(moved)
    return CircularIntervals(
        accuracy=written,
        mean_over_orders=mean_over_orders(moved),
        robust=share_over_repeats(every, cluster),
        any_order=share_over_repeats(some, cluster),
        order_sensitivity=share_over_repeats(first & ~every, cluster),
        spread=share_over_repeats(some & ~every, cluster),
    )


def mean_over_orders(tables: Sequence[TrialGrid]) -> ClusteredMean | None:
    """The mean credit over orders of questions that have every one; None without questions."""
    matrices = [table.credit for table in tables]
    if not sum(map(len, matrices)):
        return None
    cluster = joined_clusters(tables)
    return clustered_mean(_question_means(matrices), _order_counts(matrices), cluster)


def accuracy_as_written(tables: Sequence[TrialGrid]) -> Interval | None:
    """acc_origin over all questions of some grids, with its range."""
    written = _written_means(tables)
    if not len(written.credit) or int(written.repeats.max()) == 1:
        return share_over_repeats(written.credit[:, None], written.cluster)
    return clustered_mean(written.credit, written.repeats, written.cluster).interval


def outcomes_of_grids(tables: Sequence[TrialGrid], pattern: Pattern) -> Outcomes:
    """The value of each question under each measure that has any, by question id.

    "accuracy" is the credit in the order as written. "robust" (right in every order, 1 or 0) and
    "mean_over_orders" (mean credit) have the questions that were presented in every order and
    name no options. A question that was asked several times has its mean over the repeats.
    """
    outcomes: dict[Measure, dict[str, float]] = {"accuracy": {}}
    for table in tables:
        written = table.subset(table.written.sum(axis=1) > 0)
        means = _written_means([written]).credit
        credits = zip(written.ids.tolist(), means.tolist(), strict=True)
        outcomes["accuracy"].update(credits)
        if pattern == "origin":
            continue
        moved = table.subset(table.reorderable)
        every = (moved.credit_by_repeat == 1).all(axis=2).mean(axis=1)
        means = moved.credit.mean(axis=1)
        robust = zip(moved.ids.tolist(), every.tolist(), strict=True)
        outcomes.setdefault("robust", {}).update(robust)
        outcomes.setdefault("mean_over_orders", {}).update(
            zip(moved.ids.tolist(), means.tolist(), strict=True)
        )
    return outcomes


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


@dataclass(frozen=True, slots=True)
class _WrittenMeans:
    """Of each question that was answered in the order as written: its mean over repeats.

    `credit` is that of its credit, `perfect` that of being right, `repeats` how many there are.
    `cluster` is that of the grids.
    """

    credit: NDArray[np.float64]
    perfect: NDArray[np.float64]
    repeats: NDArray[np.intp]
    cluster: NDArray[np.intp] | None


def _written_means(tables: Sequence[TrialGrid]) -> _WrittenMeans:
    answered = [table.subset(table.written.sum(axis=1) > 0) for table in tables]
    repeats = np.concatenate(
        [np.zeros(0, np.intp), *(each.written.sum(axis=1) for each in answered)]
    )
    # Where a trial is missing the credit is 0, and adds nothing to the sum.
    sums = [np.zeros(0), *(each.written_credit.sum(axis=1) for each in answered)]
    perfect = [np.zeros(0), *((each.written_credit == 1).sum(axis=1) for each in answered)]
    return _WrittenMeans(
        np.concatenate(sums) / repeats,
        np.concatenate(perfect) / repeats,
        repeats,
        joined_clusters(answered),
    )


def _pattern_columns(table: TrialGrid, pattern: Pattern, part: Pattern) -> NDArray[np.float64]:
    """The credits in the orders of a part of the pattern: a row for each repeat of a question.

    Every question has equally many, so that a mean over rows is that over questions of their means.
    """
    credit = table.credit_by_repeat.reshape(-1, table.n_orders)
    if part == pattern:
        return credit
    return credit[:, _places_of_part(table.n_options, pattern, part)]


@cache
def _places_of_part(n_options: int, pattern: Pattern, part: Pattern) -> list[int]:
    wanted = set(variants(n_options, part))
    return [i for i, order in enumerate(variants(n_options, pattern)) if order in wanted]


def _more_and_perfect(name: str, matrices: Sequence[NDArray[np.float64]]) -> dict[str, float]:
    right = np.concatenate([(matrix == 1).sum(axis=1) for matrix in matrices])
    sizes = _order_counts(matrices)
    # A question that is right in all its orders is so in min(k, all it has) of them for every k.
    most = int(sizes.max())
    counts = np.bincount(np.where(right == sizes, most, right), minlength=most + 1)
    shares = 100 * (np.cumsum(counts[::-1])[::-1] / len(right))
    figures = {f"more_{k}_{name}": float(shares[k]) for k in range(1, most)}
    return figures | {f"perf_{name}": float(shares[most])}


def _question_means(matrices: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.zeros(0), *(matrix.mean(axis=1) for matrix in matrices)])


def _order_counts(matrices: Sequence[NDArray[np.float64]]) -> NDArray[np.int_]:
    return np.concatenate([np.full(len(matrix), matrix.shape[1]) for matrix in matrices])


def _mean(values: Sequence[float], weights: Sequence[int]) -> float:
    weighted = (value * weight for value, weight in zip(values, weights, strict=True))
    return sum(weighted) / sum(weights)
