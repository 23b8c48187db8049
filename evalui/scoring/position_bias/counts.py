"""Where a model puts its answers: does it favour a slot, whatever is shown there?

Questions with different numbers of options are never pooled: each number has its own table.
Ties are counted apart and take part in nothing else, because resolving them by position would
make the very bias these tables look for. An unreadable answer is a miss of its gold slot.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, TrialGrid
from evalui.scoring.statistics.intervals import (
    INTERVAL_PERCENTILES,
    clustered_mean,
    clustered_ratio,
    resample_counts,
    sums_by_code,
)
from evalui.types import Interval


@dataclass(frozen=True, slots=True)
class PositionTable:
    """Gold slot against chosen slot, over all orders of the questions with `n_options` options.

    `counts[gold][chosen]` counts trials; `unreadable` and `tied` do so by gold slot. `recalls`
    are how often the right answer is chosen when it stands in a slot, `shares` how often a slot
    is chosen among all readable answers; both None where there is nothing to count. `rstd` is
    the standard deviation of the recalls in percentage points, None if one is unknown.
    """

    n_options: int
    n_questions: int
    n_trials: int
    counts: tuple[tuple[int, ...], ...]
    unreadable: tuple[int, ...]
    tied: tuple[int, ...]
    recalls: tuple[Interval | None, ...]
    shares: tuple[Interval | None, ...]
    rstd: float | None

    @property
    def chance(self) -> float:
        """The share and the recall of each slot under blind guessing."""
        return 1 / self.n_options

    @property
    def slot_counts(self) -> tuple[int, ...]:
        """How often each slot was chosen."""
        return tuple(sum(column) for column in zip(*self.counts, strict=True))


@dataclass(frozen=True, slots=True)
class RecallSpread:
    """Unevenness of recalls and choices; 0 is even, None where a part is unknown.

    `rstd` is the population standard deviation of the recalls in points (Zheng et al., arXiv
    2309.03882), `rsd` the same over their mean (Reif & Schwartz, arXiv 2405.02743). `ckld` is
    sum p ln(p / q) in nats over slots, p the share in which a slot holds the answer and q that
    in which it is chosen (Choi et al., arXiv 2409.18857); `math.inf` if a slot in `never_chosen` is
    not chosen at all. `ckld_smoothed` adds half a choice to every slot and is always finite.
    `max_share_deviation` is the greatest distance of a slot's share from 1/K.
    """

    rstd: float | None
    rsd: float | None
    ckld: float | None
    ckld_smoothed: float | None
    never_chosen: tuple[int, ...]
    max_share_deviation: float | None


@dataclass(frozen=True, slots=True)
class RecallSpreadRange:
    """The 95 % ranges of `rstd` and `ckld_smoothed` over resampled questions.

    An uneven sample of an even model is uneven too, so RStd's range does not reach down to 0:
    whether there is a bias at all is for the permutation test and its noise floor to say.
    """

    rstd: tuple[float, float]
    ckld_smoothed: tuple[float, float]


def position_tables_of_grids(made: Sequence[TrialGrid]) -> tuple[PositionTable, ...]:
    """A table per number of options, fewest first, over the questions presented in every order.

    Questions whose options name other options, or have the same text, are left out.
    """
    tables = [grid.subset(grid.reorderable) for grid in made]
    return tuple(_position_table(table) for table in tables if len(table.ids))


def recall_spread(table: PositionTable) -> RecallSpread:
    """The figures of a table; ties take no part in it."""
    chosen = np.array(table.slot_counts, dtype=np.float64)
    gold = np.array([sum(row) for row in table.counts], dtype=np.float64) + table.unreadable
    recalls = [recall.value for recall in table.recalls if recall]
    mean = sum(recalls) / len(recalls) if recalls else 0.0
    answered, has_gold = chosen.sum() > 0, gold.sum() > 0
    return RecallSpread(
        rstd=table.rstd,
        rsd=table.rstd / 100 / mean if table.rstd is not None and mean else None,
        ckld=kl_divergence(gold, chosen) if answered else None,
        ckld_smoothed=kl_divergence(gold, chosen + 0.5) if has_gold else None,
        never_chosen=tuple(slot for slot, count in enumerate(chosen.tolist()) if not count),
        max_share_deviation=_max_share_deviation(chosen) if answered else None,
    )


def recall_spread_range(
    choice: NDArray[np.intp],
    target: NDArray[np.intp],
    n_options: int,
    cluster: NDArray[np.intp] | None = None,
    *,
    resamples: int,
    seed: int,
) -> RecallSpreadRange | None:
    """Ranges from slots of shape (questions, orders); None where a resample has no answer at all.

    Ties take no part in it, as in `recall_spread`; percentiles of the question bootstrap, or of
    that of their clusters.
    """
    slots = np.arange(n_options)
    is_target = (target[:, :, None] == slots) & (choice != TIED)[:, :, None]
    picked = choice[:, :, None] == slots
    per_question = (is_target, is_target & picked, picked)
    table = np.concatenate([part.sum(axis=1) for part in per_question], axis=1).astype(np.float64)
    if cluster is not None:
        table = sums_by_code(table, cluster)[np.unique(cluster)]
    rng = np.random.default_rng(seed)
    drawn = np.concatenate(
        [counts @ table for counts in resample_counts(len(table), resamples, rng)]
    )
    gold, hits, chosen = np.split(drawn, 3, axis=1)
    if len(table) < 2 or (gold == 0).any():
        return None
    p, q = _shares(gold), _shares(chosen + 0.5)
    rstd, ckld = 100 * (hits / gold).std(axis=1), (p * np.log(p / q)).sum(axis=1)
    return RecallSpreadRange(_percentile_interval(rstd), _percentile_interval(ckld))


def kl_divergence(gold: NDArray[np.float64], chosen: NDArray[np.float64]) -> float:
    """KL(gold || chosen) of two rows of counts, in nats; `math.inf` if a gold slot has none."""
    p, q = gold / gold.sum(), chosen / chosen.sum()
    wanted = p > 0
    if (q[wanted] == 0).any():
        return math.inf
    return float((p[wanted] * np.log(p[wanted] / q[wanted])).sum())


def _position_table(grid: TrialGrid) -> PositionTable:
    slots = range(grid.n_options)
    recalls = tuple(_slot_recall(grid, slot) for slot in slots)
    values = [recall.value for recall in recalls if recall]
    return PositionTable(
        n_options=grid.n_options,
        n_questions=len(grid.ids),
        n_trials=grid.target.size,
        counts=tuple(
            tuple(_count_chosen(grid, gold, chosen) for chosen in slots) for gold in slots
        ),
        unreadable=tuple(_count_chosen(grid, gold, UNREADABLE) for gold in slots),
        tied=tuple(_count_chosen(grid, gold, TIED) for gold in slots),
        recalls=recalls,
        shares=tuple(_slot_share(grid, slot) for slot in slots),
        # Over the slots themselves, not a sample of them: n in the denominator.
        rstd=float(np.std(values) * 100) if len(values) == grid.n_options else None,
    )


def _count_chosen(grid: TrialGrid, gold: int, chosen: int) -> int:
    return int(((grid.target == gold) & (grid.choice == chosen)).sum())


def _slot_recall(grid: TrialGrid, slot: int) -> Interval | None:
    targets = _per_question((grid.target == slot) & (grid.choice != TIED))
    hits = _per_question((grid.target == slot) & (grid.choice == slot))
    counted = targets > 0
    if not counted.any():
        return None
    cluster = None if grid.cluster is None else grid.cluster[counted]
    return clustered_mean(hits[counted] / targets[counted], targets[counted], cluster).interval


def _slot_share(grid: TrialGrid, slot: int) -> Interval | None:
    readable = _per_question(grid.choice >= 0)
    chosen = _per_question(grid.choice == slot)
    counted = readable > 0
    if not counted.any():
        return None
    cluster = None if grid.cluster is None else grid.cluster[counted]
    return clustered_ratio(chosen[counted].astype(float), readable[counted].astype(float), cluster)


def _per_question(marks: NDArray[np.bool_]) -> NDArray[np.int_]:
    return marks.sum(axis=1)


def _percentile_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(values, INTERVAL_PERCENTILES)
    return float(low), float(high)


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts / counts.sum(axis=1, keepdims=True)


def _max_share_deviation(chosen: NDArray[np.float64]) -> float:
    return float(np.abs(chosen / chosen.sum() - 1 / len(chosen)).max())
