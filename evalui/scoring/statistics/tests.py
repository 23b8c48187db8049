"""Two or more models on the same questions: who is better, by how much, could we have seen it?

Values are means per question over its orders, by question id, because the trials of a question
are not independent. Only questions that both models have count. Where questions share a cluster
(copies, or questions on one passage), clusters are the units of every test. A part of the questions
is tested against the rest by tests that pair nothing.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from evalui.proportions import wilson_interval
from evalui.scoring.statistics.intervals import cluster_codes, cluster_values, t_quantile
from evalui.types import Interval

Decision = Literal["pass", "worse", "undecided"]
# Differences of right and wrong answers are not normal: of few questions the t test finds too much
# (5 of 5 questions but one: p .02 by t, .12 by all signs), so the exact test has to agree.
_EXACT_BELOW = 30


@dataclass(frozen=True, slots=True)
class PairedTTest:
    """The mean of first - second over `n` questions, with a t interval at 95 %, not cut.

    `se` is `omega` / sqrt(n) and `omega` the standard deviation of the differences, or what it is
    worth with clusters of questions, which take the place of questions in all that follows. `p` is
    that of the t test; below 30 questions that of all 2^n signs (Fisher's randomisation test for
    pairs) where it is larger. `all_equal`: the difference is the same on every question, so that
    there is no t test. `p` is then that of all signs, and the range leaves open what Wilson's
    interval of n in n does of the questions outside the sample, which may differ in any way from -1
    to 1.
    """

    difference: float
    se: float
    low: float
    high: float
    p: float
    omega: float
    n: int
    all_equal: bool


@dataclass(frozen=True, slots=True)
class MarginTest:
    """Is a candidate worse than its baseline by more than is allowed? What a gate decides by.

    `difference` is the mean of candidate - baseline over `n` questions with its 95 % range: "pass"
    where the whole range is at or above -margin, "worse" where it is below. `needed` is the
    number of questions with which a difference such as this one is decided (power 80 %), None where
    no number is enough: the difference is that margin. Differences and margin are in the unit of
    the values.
    """

    decision: Decision
    difference: float
    low: float
    high: float
    margin: float
    n: int
    needed: int | None


@dataclass(frozen=True, slots=True)
class McNemar:
    """Questions that only the first or only the second got right, and two p-values.

    None where no question separates the two. `mid` counts half of the observed table's
    probability and is the better sized one (Fagerland et al., 2013).
    """

    first_only: int
    second_only: int
    exact: float | None
    mid: float | None


@dataclass(frozen=True, slots=True)
class RankBand:
    """The place of a model among others; within one `band` none differs from its best.

    `low` to `high` are the ranks it may have: 1 + the models that are significantly better, and
    all models without those that are significantly worse.
    """

    name: str
    value: float
    band: int
    low: int
    high: int


def paired_t_test(
    first: Mapping[str, float],
    second: Mapping[str, float],
    clusters: Mapping[str, int] | None = None,
) -> PairedTTest | None:
    """The paired t test of question means (Miller, arXiv 2411.00640); None without a question.

    `clusters` are those of `cluster_codes`; one cluster alone counts as one question.
    """
    shared = [name for name in first if name in second]
    differences = np.array([[first[name] - second[name] for name in shared]])
    return paired_t_tests(differences, cluster_codes(shared, clusters))[0] if shared else None


def paired_t_tests(
    differences: NDArray[np.float64], cluster: NDArray[np.intp] | None = None
) -> list[PairedTTest]:
    """The same test of each pair; `differences` by question, -1..1, of shape (pairs, n)."""
    from scipy.special import stdtr

    n_questions = differences.shape[1]
    identical = np.ptp(differences, axis=1) < 1e-12
    differences = cluster_values(differences.T, cluster).T
    n = differences.shape[1]
    means = differences.mean(axis=1)
    # Equal differences need not be equal in their last digit: 1/3 - 2/3 and 0 - 1/3.
    alike = np.ptp(differences, axis=1) < 1e-12
    omegas = np.where(alike, 0.0, differences.std(axis=1, ddof=min(1, n - 1)))
    errors = omegas / math.sqrt(n)
    p = 2 * stdtr(max(1, n - 1), -np.abs(means) / np.where(alike, 1.0, errors))
    if n < _EXACT_BELOW:
        p = np.maximum(p, sign_flip_p_values(differences))
    # Only the signs as they are, and all of them turned, reach a difference that all have.
    p = np.where(alike, np.where(np.abs(means) < 1e-12, 1.0, 2.0 ** (1 - n)), p)
    half = t_quantile(max(1, n - 1)) * errors
    unseen = 1 - wilson_interval(n, n).low
    centres = np.where(alike, (1 - unseen) * means, means)
    half = np.where(alike, unseen, half)
    omegas *= math.sqrt(n_questions / n)
    columns = (means, errors, centres - half, centres + half, p, omegas, identical)
    rows = zip(*(each.tolist() for each in columns), strict=True)
    return [
        PairedTTest(mean, se, low, high, own, omega, n_questions, same)
        for mean, se, low, high, own, omega, same in rows
    ]


def compare_with_margin(
    baseline: Mapping[str, float],
    candidate: Mapping[str, float],
    margin: float,
    clusters: Mapping[str, int] | None = None,
) -> MarginTest | None:
    """Compare the values of the questions that both have, by id; None if there is none.

    The range is that of `paired_t_test`: ten equal answers do not say that all are equal.
    `clusters` are those of `cluster_codes`.
    """
    tested = paired_t_test(candidate, baseline, clusters)
    if tested is None:
        return None
    value, low, high, n = tested.difference, tested.low, tested.high, tested.n
    distance = abs(value + margin)
    if not tested.omega:
        needed = _needed_alike(value, margin)
    else:
        needed = questions_needed(tested.omega, distance) if distance > 1e-12 else None
    decision: Decision = "pass" if low >= -margin else "worse" if high < -margin else "undecided"
    if needed is not None and decision == "undecided":
        needed = max(needed, n + 1)
    return MarginTest(decision, value, low, high, margin, n, needed)


def sign_flip_p_values(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fisher's randomisation test of each pair, shape (pairs, n): how many of all 2^n signs of the
    differences reach their sum, on either side.

    Where the differences other than 0 are of one size that is the binomial sign test. Else the sums
    of both halves are sorted and counted against each other, 2^(n/2) in place of 2^n (Horowitz and
    Sahni, J. ACM 1974).
    """
    from scipy.special import bdtr

    sizes = np.abs(differences)
    most = sizes.max(axis=1, keepdims=True)
    of_one_size = ((sizes < 1e-12) | (most - sizes < 1e-12)).all(axis=1)
    ahead = (differences > 1e-12).sum(axis=1)
    behind = (differences < -1e-12).sum(axis=1)
    p = np.minimum(1.0, 2 * bdtr(np.minimum(ahead, behind), ahead + behind, 0.5))
    for place in np.flatnonzero(~of_one_size):
        own = sizes[place]
        ones, others = np.sort(_signed_sums(own[::2])), np.sort(_signed_sums(own[1::2]))
        # A sum in another order may differ in its last digits.
        reached = abs(float(differences[place].sum())) - 1e-9
        above = int((len(others) - np.searchsorted(others, reached - ones)).sum())
        p[place] = min(1.0, 2 * above / 2.0 ** len(own))
    return p


def _signed_sums(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums under every choice of signs."""
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate([sums + size, sums - size])
    return sums


def mcnemar(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> list[McNemar]:
    """McNemar's test of each pair, right or wrong on each question; both of shape (pairs, n)."""
    from scipy.special import bdtr

    alone = (first & ~second).sum(axis=1), (second & ~first).sum(axis=1)
    n, fewer = alone[0] + alone[1], np.minimum(*alone)
    tables: list[tuple[int, int]] = list(zip(*(each.tolist() for each in alone), strict=True))
    below = bdtr(fewer, n, 0.5)
    at = below - np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0), n, 0.5), 0.0)
    exact: list[float] = np.minimum(1.0, 2 * below).tolist()
    mid: list[float] = np.where(alone[0] == alone[1], 1 - at / 2, 2 * below - at).tolist()
    return [
        McNemar(b, c, exact[place], mid[place]) if b + c else McNemar(0, 0, None, None)
        for place, (b, c) in enumerate(tables)
    ]


def welch_p_value(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """Welch's t test of two means over questions; None where their spread is not known."""
    from scipy import stats

    if min(len(one), len(other)) < 2 or not (one.std() or other.std()):
        return None
    tested = cast("Any", stats.ttest_ind(one, other, equal_var=False))  # without types
    return float(tested.pvalue)


def fisher_p_value(part: Interval, whole: Interval) -> float:
    """Fisher's exact p-value of a part against the rest."""
    from scipy import stats

    inside, every = round(part.value * part.n), round(whole.value * whole.n)
    rest, others = every - inside, whole.n - part.n
    table = [[inside, part.n - inside], [rest, others - rest]]
    tested = cast("Any", stats.fisher_exact(table))  # without types
    return float(tested.pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number, in the order given (Holm, Scand. J. Stat. 1979)."""
    adjusted, running = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        running = max(running, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = running
    return adjusted


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """p-values adjusted to bound the share of false findings (J. R. Stat. Soc. B 1995)."""
    adjusted, running, n = [0.0] * len(values), 1.0, len(values)
    falling = sorted(range(n), key=values.__getitem__, reverse=True)
    for above, place in enumerate(falling):
        running = min(running, n / (n - above) * values[place])
        adjusted[place] = running
    return adjusted


def minimum_detectable_difference(
    omega: float, n: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The smallest true difference that `n` paired questions find with this power.

    (z(1 - alpha/2) + z(power)) omega / sqrt(n), 2.80 omega / sqrt(n) as given; Miller, section 5.
    """
    return _power_factor(alpha, power) * omega / math.sqrt(n)


def questions_needed(
    omega: float, difference: float, *, alpha: float = 0.05, power: float = 0.8
) -> int:
    """How many paired questions find a true difference with this power; at least 2."""
    assert difference > 0, "no number of questions finds a difference of nothing"
    return max(2, math.ceil((_power_factor(alpha, power) * omega / difference) ** 2 - 1e-9))


def rank_bands(
    values: Mapping[str, Mapping[str, float]],
    significant_pairs: Collection[tuple[str, str]],
) -> tuple[RankBand, ...]:
    """Models by their mean over the questions that all have, best first, ties by name.

    `significant_pairs` are the pairs (better, worse) with a significant test. A model opens a new
    band if it is significantly worse than the best of the band above it. () without a question
    that all have.
    """
    shared = _shared_questions(values)
    if not shared:
        return ()
    means = {
        name: sum(questions[id_] for id_ in shared) / len(shared)
        for name, questions in values.items()
    }
    names = sorted(means, key=lambda name: (-means[name], name))
    return tuple(_assign_bands(names, means, significant_pairs))


@cache
def _power_factor(alpha: float, power: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - alpha / 2) + ndtri(power))


def _shared_questions(values: Mapping[str, Mapping[str, float]]) -> list[str]:
    by_model = list(values.values())
    return (
        [name for name in by_model[0] if all(name in each for each in by_model)] if by_model else []
    )


def _assign_bands(
    names: Sequence[str], means: Mapping[str, float], significant_pairs: Collection[tuple[str, str]]
) -> list[RankBand]:
    bands: list[RankBand] = []
    band, best = 1, names[0]
    for name in names:
        if (best, name) in significant_pairs:
            band, best = band + 1, name
        better = sum((above, name) in significant_pairs for above in names)
        worse = sum((name, below) in significant_pairs for below in names)
        bands.append(RankBand(name, means[name], band, 1 + better, len(names) - worse))
    return bands


def _needed_alike(value: float, margin: float) -> int | None:
    """With how many questions of this same difference the range is on one side of the margin."""
    # z² of Wilson's interval of n in n, n / (n + z²), from one question.
    z_squared = 1 / wilson_interval(1, 1).low - 1
    passes = value >= -margin
    share = (1 - margin) / (1 + value) if passes else (1 + margin) / (1 - value)
    if not share < 1:
        return None
    return max(2, math.ceil(z_squared * share / (1 - share)))
