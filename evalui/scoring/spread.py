"""How unevenly the slots are found and chosen: three figures of one position table."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.position import PositionTable


@dataclass(frozen=True, slots=True)
class Spread:
    """Unevenness of recalls and choices; 0 is even, None where a part is unknown.

    `rstd` is the population standard deviation of the recalls in points (Zheng et al., arXiv
    2309.03882), `rsd` the same over their mean (Reif & Schwartz, arXiv 2405.02743). `ckld` is
    sum p ln(p / q) in nats over slots, p the share in which a slot holds the answer and q that
    in which it is chosen (Choi et al., arXiv 2409.18857); `math.inf` if a slot in `never` is not
    chosen at all. `ckld_smoothed` adds half a choice to every slot and is always finite.
    `furthest` is the greatest distance of a slot's share from 1/K.
    """

    rstd: float | None
    rsd: float | None
    ckld: float | None
    ckld_smoothed: float | None
    never: tuple[int, ...]
    furthest: float | None


def spread(table: PositionTable) -> Spread:
    """The figures of a table; ties take no part in it."""
    chosen = np.array(table.slot_counts, dtype=np.float64)
    gold = np.array([sum(row) for row in table.counts], dtype=np.float64) + table.unreadable
    recalls = [recall.value for recall in table.recalls if recall]
    mean = sum(recalls) / len(recalls) if recalls else 0.0
    answered, asked = chosen.sum() > 0, gold.sum() > 0
    return Spread(
        rstd=table.rstd,
        rsd=table.rstd / 100 / mean if table.rstd is not None and mean else None,
        ckld=divergence(gold, chosen) if answered else None,
        ckld_smoothed=divergence(gold, chosen + 0.5) if asked else None,
        never=tuple(slot for slot, count in enumerate(chosen.tolist()) if not count),
        furthest=_furthest(chosen) if answered else None,
    )


def divergence(gold: NDArray[np.float64], chosen: NDArray[np.float64]) -> float:
    """KL(gold || chosen) of two rows of counts, in nats; `math.inf` if a gold slot has none."""
    p, q = gold / gold.sum(), chosen / chosen.sum()
    wanted = p > 0
    if (q[wanted] == 0).any():
        return math.inf
    return float((p[wanted] * np.log(p[wanted] / q[wanted])).sum())


def _furthest(chosen: NDArray[np.float64]) -> float:
    return float(np.abs(chosen / chosen.sum() - 1 / len(chosen)).max())
