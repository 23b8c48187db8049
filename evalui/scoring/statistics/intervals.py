"""Plausible ranges: Wilson's for shares, clustered and bootstrap ones for means over questions.

All intervals are two-sided at 95 %. Sources: E. Miller, "Adding error bars to evals" (arXiv
2411.00640), appendix A, and Efron and Tibshirani, *An Introduction to the Bootstrap* (1993),
chapter 13 (percentiles). Complete questions are resampled, because the values of one question are
not independent; and complete clusters of questions, where those are not (copies, or questions on
one passage). Measured coverage of the nominal 95 % is in docs/metrics.md.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evalui.proportions import wilson_bounds, wilson_interval
from evalui.types import Interval

RESAMPLES = 1000
INTERVAL_PERCENTILES = (2.5, 97.5)  # per cent
MIN_KNOWN_SHARE = 0.975  # of the resamples: so many must have a value for its range to be known
MAX_CHUNK_ELEMENTS = 4_000_000  # numbers per work array, 32 MB
_MAX_COUNTERS = 8192  # which stay in the processor's cache: six times as fast as all at once
_EQUAL_TOLERANCE = 1e-12  # the digits that sums in another order may differ in
_FEW_APART = 3  # questions: 5 % of the resamples have none of them


@lru_cache(1024)
def t_quantile(degrees: int) -> float:
    """The half-width of a 95 % interval in standard errors: Student's t at 0.975.

    `degrees` of freedom are at least one.
    """
    from scipy.special import stdtrit

    assert degrees > 0, "no degree of freedom, no quantile"
    return float(stdtrit(degrees, 0.975))


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean over questions, each with several trials.

    `interval` is Wilson's with the effective number of trials, `t_interval` the textbook one.
    `se` is the clustered standard error, None with fewer than two questions; `design_effect`
    says how many times the variance exceeds that of independent trials, None where either
    variance is 0. `n_effective` is the number of independent trials that would know as much.
    """

    interval: Interval
    t_interval: Interval
    se: float | None
    design_effect: float | None
    n_effective: float
    n_trials: int


def share_interval(successes: float, n: int) -> Interval | None:
    """`wilson_interval`, or None where there is nothing to take a share of."""
    return wilson_interval(successes, n) if n else None


def beats_guessing(accuracy: Interval, chance: float) -> bool:
    """Whether the whole interval lies above what guessing gives; one that includes it does not."""
    return accuracy.low > chance


def blind_accuracy(guessing: float, positions: Sequence[int]) -> float:
    """What the better of guessing and one position throughout gives in one order.

    `positions` counts the answers at each; [] where they are not known, or no option was shown.
    """
    return max(guessing, max(positions) / sum(positions)) if sum(positions) else guessing


def cluster_codes(
    ids: Sequence[str], clusters: Mapping[str, int] | None
) -> NDArray[np.intp] | None:
    """The number of the cluster of each question; None where no two of them share one.

    `clusters` has those of the questions that share theirs, see `question_clusters`.
    """
    if not clusters:
        return None
    known: dict[str | int, int] = {}
    codes = [known.setdefault(clusters.get(name, name), len(known)) for name in ids]
    return np.array(codes, dtype=np.intp) if len(known) < len(codes) else None


def n_independent(n: int, clusters: Mapping[str, int]) -> int:
    """How many of `n` questions are evidence of their own: those of a cluster count once."""
    return n - len(clusters) + len(set(clusters.values()))


def cluster_values(
    values: NDArray[np.float64], cluster: NDArray[np.intp] | None
) -> NDArray[np.float64]:
    """A value for each cluster, from those of questions of the shape (n, ...), as they are of None.

    With the mean m of all n and the sum s over the k questions of a cluster, of C clusters, it is
    m + C/n (s - k m): their mean is m, and sd / sqrt(C) of them the clustered error of m, so that
    what holds for independent questions (t, signs, resamples) holds for them.
    """
    if (cluster := _shared(cluster)) is None:
        return values
    mean, n_clusters = values.mean(axis=0), int(cluster.max()) + 1
    return mean + n_clusters / len(values) * sums_by_code(values - mean, cluster)


def sums_by_code(values: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """The sum of the rows of each code, of the shape (highest code + 1, ...)."""
    sums = np.zeros((int(codes.max()) + 1, *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums


def clustered_mean(
    means: NDArray[np.float64],
    rows: NDArray[np.int_],
    cluster: NDArray[np.intp] | None = None,
) -> ClusteredMean:
    """The mean of question means in 0..1, each over `rows` trials of that question.

    With sd (n-1 in the denominator) of the n question means, SE = sd / sqrt(n). With equally
    many trials per question that is Miller's clustered error with the finite-cluster factor
    n/(n-1). Wilson's interval takes n_eff = trials / deff, where deff = SE^2 / (p (1-p) / trials)
    is held at 1 or more; where deff has no value n_eff is n, as if each question had one trial.
    With a `cluster` of each question, SE is that of the `cluster_values`, and n their number.
    """
    n, n_trials = len(means), int(rows.sum())
    assert n > 0, "a mean of nothing is undefined"
    value = float(means.mean())
    units = cluster_values(means, cluster)
    n_units = len(units)
    se = float(units.std(ddof=1) / math.sqrt(n_units)) if n_units > 1 else None
    independent = value * (1 - value) / n_trials
    deff = se**2 / independent if se and independent else None
    # One trial per question is the plain case: n of them, without the factor n/(n-1).
    n_effective = n_units if deff is None or n_trials == n_units else n_trials / max(deff, 1.0)
    low, high = wilson_bounds(value, n_effective)
    return ClusteredMean(
        interval=Interval(value, low, high, n),
        t_interval=replace(t_interval(value, se, n_units), n=n),
        se=se,
        design_effect=deff,
        n_effective=float(n_effective),
        n_trials=n_trials,
    )


def share_over_repeats(
    values: NDArray[np.float64] | NDArray[np.bool_], cluster: NDArray[np.intp] | None = None
) -> Interval | None:
    """The mean over questions of their means over repeats, of values of shape (questions, repeats).

    Clustered by question, or by the `cluster` of each; of one repeat of independent questions it is
    `share_interval`. None without questions.
    """
    n, n_repeats = values.shape
    if not n or (n_repeats == 1 and _shared(cluster) is None):
        return share_interval(float(values.sum()), n)
    repeats = np.array([n_repeats] * n, dtype=np.int_)
    return clustered_mean(values.mean(axis=1), repeats, cluster).interval


def clustered_mean_by_code(
    question: NDArray[np.intp],
    values: NDArray[np.float64],
    cluster: NDArray[np.intp] | None = None,
) -> ClusteredMean:
    """`clustered_mean` over values, each with the number of its question: all from 0 on come."""
    rows = np.bincount(question)
    return clustered_mean(np.bincount(question, weights=values) / rows, rows, cluster)


def clustered_share(ids: Sequence[str], hits: Sequence[bool]) -> Interval | None:
    """The plain share of hits, of which those with one id belong to one question; None of nothing.

    Wilson's interval with n_eff = n / deff, where deff = SE^2 / (p (1-p) / n) is held at 1 or
    more and SE is that of `clustered_ratio`. Where there is no such error n_eff is the number
    of questions. With one hit or miss per question it is `wilson_interval`; `n` counts hits and
    misses.
    """
    if not len(hits):
        return None
    _, question = np.unique(np.asarray(ids, dtype=np.str_), return_inverse=True)
    wholes, parts = np.bincount(question), sums_by_code(np.asarray(hits, np.float64), question)
    n, n_questions = len(hits), len(wholes)
    value = float(parts.sum()) / n
    if n == n_questions:
        return wilson_interval(float(parts.sum()), n)
    n_effective = float(n_questions)
    if n_questions > 1 and (variance := _ratio_variance(parts, wholes, value)):
        n_effective = min(n, value * (1 - value) / variance)
    return Interval(value, *wilson_bounds(value, n_effective), n)


def clustered_ratio(
    parts: NDArray[np.float64],
    wholes: NDArray[np.float64],
    cluster: NDArray[np.intp] | None = None,
) -> Interval:
    """The share sum(parts) / sum(wholes), each question, or `cluster`, giving a part and a whole.

    SE = sqrt(sum of (part - share * whole)^2 * n/(n-1)) / sum(wholes), the linearised ratio.
    With equal wholes w it is sd(parts / w) / sqrt(n). Where nothing or everything is a part,
    that error is 0 and says too much: Wilson's interval over the questions takes its place.
    """
    n_questions = len(parts)
    if (shared := _shared(cluster)) is not None:
        parts, wholes = sums_by_code(parts, shared), sums_by_code(wholes, shared)
    total, n = float(wholes.sum()), len(parts)
    assert total > 0, "a share of nothing is undefined"
    value = float(parts.sum()) / total
    if value in (0.0, 1.0):
        return replace(wilson_interval(value * n, n), n=n_questions)
    se = math.sqrt(_ratio_variance(parts, wholes, value)) if n > 1 else None
    return replace(t_interval(value, se, n), n=n_questions)


def t_interval(value: float, se: float | None, n: int) -> Interval:
    """value -+ t(n-1) * SE, cut to 0..1; without a standard error everything is plausible."""
    if se is None:
        return Interval(value, 0.0, 1.0, n)
    half = t_quantile(n - 1) * se
    return Interval(value, max(0.0, value - half), min(1.0, value + half), n)


def mean_intervals(
    matrix: NDArray[np.float64],
    *,
    cluster: NDArray[np.intp] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Interval]:
    """The mean of each column of values in 0..1, shape (questions, figures), with its interval.

    All figures see the same resamples, of whole clusters where questions have a `cluster`. []
    without questions.
    """
    n = len(matrix)
    if not n:
        return []
    if (cluster := _shared(cluster)) is None:
        return _ratio_intervals(matrix, np.ones(n), resamples, seed)
    sizes = sums_by_code(np.ones(n), cluster)
    made = _ratio_intervals(sums_by_code(matrix, cluster), sizes, resamples, seed)
    return [replace(each, n=n) for each in made]


def mean_interval(
    ids: Sequence[str], values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0
) -> Interval | None:
    """The mean of values in 0..1; those with one id belong to one question. None without values."""
    if not len(values):
        return None
    _, question = np.unique(np.asarray(ids, dtype=np.str_), return_inverse=True)
    columns = np.column_stack([np.asarray(values, dtype=np.float64), np.ones(len(values))])
    sums = sums_by_code(columns, question)
    return _ratio_intervals(sums[:, :1], sums[:, 1], resamples, seed)[0]


def resample_counts(
    n: int, resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """How often each of `n` questions was drawn, in portions of the shape (resamples, n)."""
    at_once = max(1, MAX_CHUNK_ELEMENTS // n)
    for done in range(0, resamples, at_once):
        yield resample_count_chunk(n, min(at_once, resamples - done), rng)


def resample_count_chunk(n: int, rows: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each of `n` questions comes in `rows` draws of n with replacement: (rows, n)."""
    counts = np.empty((rows, n))
    at_once = max(1, _MAX_COUNTERS // n)
    for first in range(0, rows, at_once):
        part = counts[first : first + at_once]
        drawn = rng.integers(n, size=part.shape)
        drawn += n * np.arange(len(part))[:, None]
        part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)
    return counts


def _shared(cluster: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """The clusters of some questions numbered from 0; None where no two of these share one."""
    if cluster is None or not len(cluster):
        return None
    _, numbers = np.unique(cluster, return_inverse=True)
    return numbers if int(numbers.max()) + 1 < len(numbers) else None


def _ratio_variance(
    parts: NDArray[np.float64], wholes: NDArray[np.float64] | NDArray[np.int_], value: float
) -> float:
    n = len(parts)
    return float(((parts - value * wholes) ** 2).sum()) * n / (n - 1) / float(wholes.sum()) ** 2


def _ratio_intervals(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], resamples: int, seed: int
) -> list[Interval]:
    """Intervals of sum over size for each column of `sums`, shape (questions, figures)."""
    n = len(sums)
    values: list[float] = (sums.sum(axis=0) / sizes.sum()).tolist()
    if n == 1:
        return [t_interval(value, None, 1) for value in values]
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [
            (counts @ sums) / (counts @ sizes)[:, None]
            for counts in resample_counts(n, resamples, rng)
        ]
    )
    lows, highs = np.percentile(means, INTERVAL_PERCENTILES, axis=0).tolist()
    by_question = sums / sizes[:, None]
    apart = np.abs(by_question - np.median(by_question, axis=0)) > _EQUAL_TOLERANCE
    # Where but a few questions have another value than most, resamples say too much.
    few = (apart.sum(axis=0) <= min(_FEW_APART, (n - 1) // 2)).tolist()
    return [
        wilson_interval(value * n, n) if alike else Interval(value, low, high, n)
        for value, low, high, alike in zip(values, lows, highs, few, strict=True)
    ]
