"""What the probabilities of letters say: of slots, and without the slots.

The prior of the slots and the accuracy without it are PriDe's, by the formulas of Zheng et al.,
*Large language models are not robust multiple choice selectors* (arXiv 2309.03882), with the
constants of the authors' code. A tie for the best option is never given to the first: it earns 1/t
in the accuracies and is left out of the recalls.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.proportions import wilson_interval
from evalui.scoring.choice.trial_grid import OptionCountStratum
from evalui.types import Interval

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_EPSILON = 1e-10  # of the authors' code
_TIE_TOLERANCE = 1e-6  # a tie is one but for rounding and for _EPSILON


@dataclass(frozen=True, slots=True)
class PrideEstimate:
    """Figures of one stratum with probabilities; tuples are by slot.

    `prior` is PriDe's estimate of how probable a slot is whatever stands in it,
    `mean_probabilities` the mean probability of each slot, `soft_recalls` the mean probability of
    the right option where it stands in that slot (None where it never does). `averaged_accuracy` is
    the accuracy of the option with the highest mean probability over all orders,
    `debiased_accuracy` that of the original order with the prior removed, `plain_accuracy` without.
    `rstd_plain` and `rstd_debiased` are the spread of recalls of the original order in points,
    before and after; None if a slot never holds the answer.
    """

    prior: tuple[float, ...]
    mean_probabilities: tuple[float, ...]
    soft_recalls: tuple[float | None, ...]
    averaged_accuracy: Interval
    plain_accuracy: Interval
    debiased_accuracy: Interval
    rstd_plain: float | None
    rstd_debiased: float | None


@dataclass(frozen=True, slots=True)
class LabelMass:
    """The probability of all labels together over `n` trials: its mean and quantiles.

    `quantiles` are those at 5, 25, 50, 75 and 95 %.
    """

    n: int
    mean: float
    quantiles: tuple[float, ...]


def estimate_pride(stratum: OptionCountStratum) -> PrideEstimate | None:
    """The figures of a stratum; None without probabilities or with one order."""
    chances = stratum.probabilities
    if chances is None or stratum.n_orders < 2:
        return None
    shares = slot_prior(chances)
    target = stratum.target[:, 0]
    before, after = np.log(chances[:, 0] + _EPSILON), debias(chances[:, 0], shares)
    means = mean_over_orders(stratum)
    return PrideEstimate(
        prior=_as_floats(shares),
        mean_probabilities=_as_floats(chances.mean(axis=(0, 1))),
        soft_recalls=_soft_recalls(stratum, chances),
        averaged_accuracy=_argmax_accuracy(means, stratum.gold),
        plain_accuracy=_argmax_accuracy(before, target),
        debiased_accuracy=_argmax_accuracy(after, target),
        rstd_plain=_argmax_rstd(before, target),
        rstd_debiased=_argmax_rstd(after, target),
    )


def slot_prior(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """PriDe's prior of the slots, from probabilities of shape (n, V, K) and without any answer.

    For each question the softmax of the mean log-probability over its orders; then their mean.
    """
    rows = chances / (chances.sum(axis=-1, keepdims=True) + _EPSILON)
    logs = np.log(rows + _EPSILON).mean(axis=1)
    powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return (powers / (powers.sum(axis=-1, keepdims=True) + _EPSILON)).mean(axis=0)


def debias(chances: NDArray[np.float64], slots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probabilities of one order, shape (n, K), with the prior of the slots removed."""
    return np.log(chances + _EPSILON) - np.log(slots + _EPSILON)


def mean_over_orders(stratum: OptionCountStratum) -> NDArray[np.float64]:
    """The mean probability of each option over all orders; shape (n, K)."""
    chances = stratum.probabilities
    assert chances is not None, "there is nothing to average"
    rows = chances / (chances.sum(axis=-1, keepdims=True) + _EPSILON)
    slots = stratum.slot_of
    by_option = np.take_along_axis(rows, slots if stratum.own_orders else slots[None], axis=2)
    return by_option.mean(axis=1)


def summarise_label_mass(masses: Sequence[float] | NDArray[np.float64]) -> LabelMass | None:
    """The distribution of label masses; None without any."""
    if not len(masses):
        return None
    values = np.asarray(masses, dtype=np.float64)
    return LabelMass(
        len(values), float(values.mean()), tuple(np.quantile(values, _QUANTILES).tolist())
    )


# ---------------------------------------------------------------- PriDe


def _soft_recalls(
    stratum: OptionCountStratum, chances: NDArray[np.float64]
) -> tuple[float | None, ...]:
    of_gold = np.take_along_axis(chances, stratum.target[:, :, None], axis=2)[:, :, 0]
    where = [stratum.target == slot for slot in range(stratum.n_options)]
    return tuple(float(of_gold[mask].mean()) if mask.any() else None for mask in where)


def _argmax_accuracy(scores: NDArray[np.float64], target: NDArray[np.intp]) -> Interval:
    best = _argmax_mask(scores)
    credit = best[np.arange(len(target)), target] / best.sum(axis=1)
    return wilson_interval(float(credit.sum()), len(target))


def _argmax_rstd(scores: NDArray[np.float64], target: NDArray[np.intp]) -> float | None:
    best = _argmax_mask(scores)
    decided = best.sum(axis=1) == 1
    hits = best[np.arange(len(target)), target] & decided
    n_options = scores.shape[1]
    targets = np.bincount(target[decided], minlength=n_options)
    if not targets.all():
        return None
    return float(np.std(np.bincount(target[hits], minlength=n_options) / targets) * 100)


def _argmax_mask(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    return scores >= scores.max(axis=1, keepdims=True) - _TIE_TOLERANCE


def _as_floats(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(values.tolist())
