"""Do the probabilities of a model mean what they say, and are they about the letters at all?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.statistics.intervals import share
from evalui.types import Interval

BINS = 10
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Bin:
    """The trials with a confidence in (`low`, `high`]; None where there are none."""

    low: float
    high: float
    confidence: float | None
    accuracy: Interval | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration over `n` trials, one per question.

    `ece` is the mean distance of confidence and accuracy over the bins, weighted by their trials,
    0..1. `brier` is the mean sum of squares of probability minus outcome over the options, 0..2.
    Lower is better for both. A tie for the best option counts as right by 1/t.
    """

    n: int
    ece: float
    brier: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Overall:
    """`Calibration`'s figures over several orders of each question: without ranges."""

    ece: float
    brier: float


@dataclass(frozen=True, slots=True)
class Mass:
    """The probability of all labels together over `n` trials: its mean and quantiles.

    `quantiles` are those at 5, 25, 50, 75 and 95 %.
    """

    n: int
    mean: float
    quantiles: tuple[float, ...]


def calibration(chances: NDArray[np.float64], target: NDArray[np.intp]) -> Calibration | None:
    """Of probabilities of shape (n, K) that sum to 1 and the right columns; None without trials.

    Give one order only: the ranges of the bins take trials for independent questions.
    """
    if not len(chances):
        return None
    confidence, right = _confidence(chances, target)
    return Calibration(
        n=len(target),
        ece=expected_error(confidence, right),
        brier=brier(chances, target),
        bins=tuple(_bins(confidence, right)),
    )


def over_orders(chances: NDArray[np.float64], target: NDArray[np.intp]) -> Overall:
    """Of all orders together: probabilities of shape (n, V, K), right slots of shape (n, V)."""
    confidence, right = _confidence(chances.reshape(-1, chances.shape[-1]), target.ravel())
    return Overall(expected_error(confidence, right), brier(chances, target))


def expected_error(confidence: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """ECE with ten equal bins (Naeini et al., AAAI 2015), open below and closed above."""
    place = _places(confidence)
    apart = np.bincount(place, weights=right - confidence, minlength=BINS)
    return float(np.abs(apart).sum() / len(confidence))


def brier(chances: NDArray[np.float64], target: NDArray[np.intp]) -> float:
    """Brier's score over all options, 0..2; trials of shape (..., K), targets of shape (...)."""
    of_target = np.take_along_axis(chances, target[..., None], axis=-1)[..., 0]
    return float(((chances**2).sum(axis=-1) - 2 * of_target + 1).mean())


def mass(masses: Sequence[float]) -> Mass | None:
    """The distribution of label masses; None without any."""
    if not len(masses):
        return None
    values = np.asarray(masses, dtype=np.float64)
    return Mass(len(values), float(values.mean()), tuple(np.quantile(values, _SHARES).tolist()))


def _confidence(
    chances: NDArray[np.float64], target: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    confidence = chances.max(axis=1)
    best = chances == confidence[:, None]
    return confidence, best[np.arange(len(target)), target] / best.sum(axis=1)


def _places(confidence: NDArray[np.float64]) -> NDArray[np.intp]:
    # 0.1 + 0.2 is a little more than 0.3, and belongs to the bin that ends there.
    return np.clip(np.ceil(confidence * BINS - 1e-12).astype(np.intp) - 1, 0, BINS - 1)


def _bins(confidence: NDArray[np.float64], right: NDArray[np.float64]) -> list[Bin]:
    place = _places(confidence)
    sizes = np.bincount(place, minlength=BINS).tolist()
    sums = np.bincount(place, weights=confidence, minlength=BINS).tolist()
    hits = np.bincount(place, weights=right, minlength=BINS).tolist()
    return [
        Bin(i / BINS, (i + 1) / BINS, sums[i] / n if n else None, share(hits[i], n))
        for i, n in enumerate(sizes)
    ]
