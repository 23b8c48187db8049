"""How unevenly the slots are found and chosen: three figures of one position table."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.trial_grid import TIED
from evalui.scoring.position_bias.counts import PositionTable
from evalui.scoring.statistics.bootstrap import INTERVAL_PERCENTILES, resample_counts


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


def recall_spread(table: PositionTable) -> RecallSpread:
    """The figures of a table; ties take no part in it."""
    chosen = np.array(table.slot_counts, dtype=np.float64)
    gold = np.array([sum(row) for row in table.counts], dtype=np.float64) + table.unreadable
    recalls = [recall.value for recall in table.recalls if recall]
    mean = sum(recalls) / len(recalls) if recalls else 0.0
    answered, asked = chosen.sum() > 0, gold.sum() > 0
    return RecallSpread(
        rstd=table.rstd,
        rsd=table.rstd / 100 / mean if table.rstd is not None and mean else None,
        ckld=kl_divergence(gold, chosen) if answered else None,
        ckld_smoothed=kl_divergence(gold, chosen + 0.5) if asked else None,
        never_chosen=tuple(slot for slot, count in enumerate(chosen.tolist()) if not count),
        max_share_deviation=_max_share_deviation(chosen) if answered else None,
    )


@dataclass(frozen=True, slots=True)
class RecallSpreadRange:
    """The 95 % ranges of `rstd` and `ckld_smoothed` over resampled questions.

    An uneven sample of an even model is uneven too, so RStd's range does not reach down to 0:
    whether there is a bias at all is for the permutation test and its noise floor to say.
    """

    rstd: tuple[float, float]
    ckld_smoothed: tuple[float, float]


def recall_spread_range(
    choice: NDArray[np.intp], target: NDArray[np.intp], n_options: int, *, resamples: int, seed: int
) -> RecallSpreadRange | None:
    """Ranges from slots of shape (questions, orders); None where a resample has no answer at all.

    Ties take no part in it, as in `recall_spread`; percentiles of the question bootstrap.
    """
    slots = np.arange(n_options)
    asked = (target[:, :, None] == slots) & (choice != TIED)[:, :, None]
    picked = choice[:, :, None] == slots
    per_question = (asked, asked & picked, picked)
    table = np.concatenate([part.sum(axis=1) for part in per_question], axis=1).astype(np.float64)
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


def _percentile_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(values, INTERVAL_PERCENTILES)
    return float(low), float(high)


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts / counts.sum(axis=1, keepdims=True)


def kl_divergence(gold: NDArray[np.float64], chosen: NDArray[np.float64]) -> float:
    """KL(gold || chosen) of two rows of counts, in nats; `math.inf` if a gold slot has none."""
    p, q = gold / gold.sum(), chosen / chosen.sum()
    wanted = p > 0
    if (q[wanted] == 0).any():
        return math.inf
    return float((p[wanted] * np.log(p[wanted] / q[wanted])).sum())


def _max_share_deviation(chosen: NDArray[np.float64]) -> float:
    return float(np.abs(chosen / chosen.sum() - 1 / len(chosen)).max())
