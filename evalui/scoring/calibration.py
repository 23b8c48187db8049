"""Do the probabilities of a model mean what they say, and are they about the letters at all?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.statistics.intervals import share_interval
from evalui.types import Interval

N_BINS = 10
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class CalibrationBin:
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
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True)
class PooledCalibration:
    """`Calibration`'s figures over several orders of each question: without ranges."""

    ece: float
    brier: float


@dataclass(frozen=True, slots=True)
class LabelMass:
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
    confidence, right = _confidence_and_credit(chances, target)
    return Calibration(
        n=len(target),
        ece=expected_calibration_error(confidence, right),
        brier=brier_score(chances, target),
        bins=tuple(_calibration_bins(confidence, right)),
    )


def pooled_calibration(chances: NDArray[np.float64], target: NDArray[np.intp]) -> PooledCalibration:
    """Of all orders together: probabilities of shape (n, V, K), right slots of shape (n, V)."""
    confidence, right = _confidence_and_credit(
        chances.reshape(-1, chances.shape[-1]), target.ravel()
    )
    return PooledCalibration(
        expected_calibration_error(confidence, right), brier_score(chances, target)
    )


def expected_calibration_error(
    confidence: NDArray[np.float64], right: NDArray[np.float64]
) -> float:
    """ECE with ten equal bins (Naeini et al., AAAI 2015), open below and closed above."""
    bin_of = _bin_indices(confidence)
    differences = np.bincount(bin_of, weights=right - confidence, minlength=N_BINS)
    return float(np.abs(differences).sum() / len(confidence))


def brier_score(chances: NDArray[np.float64], target: NDArray[np.intp]) -> float:
    """Brier's score over all options, 0..2; trials of shape (..., K), targets of shape (...)."""
    of_target = np.take_along_axis(chances, target[..., None], axis=-1)[..., 0]
    return float(((chances**2).sum(axis=-1) - 2 * of_target + 1).mean())


def summarise_label_mass(masses: Sequence[float] | NDArray[np.float64]) -> LabelMass | None:
    """The distribution of label masses; None without any."""
    if not len(masses):
        return None
    values = np.asarray(masses, dtype=np.float64)
    return LabelMass(
        len(values), float(values.mean()), tuple(np.quantile(values, _QUANTILES).tolist())
    )


def _confidence_and_credit(
    chances: NDArray[np.float64], target: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    confidence = chances.max(axis=1)
    best = chances == confidence[:, None]
    return confidence, best[np.arange(len(target)), target] / best.sum(axis=1)


def _bin_indices(confidence: NDArray[np.float64]) -> NDArray[np.intp]:
    # 0.1 + 0.2 is a little more than 0.3, and belongs to the bin that ends there.
    return np.clip(np.ceil(confidence * N_BINS - 1e-12).astype(np.intp) - 1, 0, N_BINS - 1)


def _calibration_bins(
    confidence: NDArray[np.float64], right: NDArray[np.float64]
) -> list[CalibrationBin]:
    bin_of = _bin_indices(confidence)
    sizes = np.bincount(bin_of, minlength=N_BINS).tolist()
    sums = np.bincount(bin_of, weights=confidence, minlength=N_BINS).tolist()
    hits = np.bincount(bin_of, weights=right, minlength=N_BINS).tolist()
    return [
        CalibrationBin(
            i / N_BINS, (i + 1) / N_BINS, sums[i] / n if n else None, share_interval(hits[i], n)
        )
        for i, n in enumerate(sizes)
    ]
