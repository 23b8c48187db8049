"""Is a model as often right as its probabilities say, and how much can be left to it?

Figures of a small sample differ from 0 by chance alone. Each therefore stands beside its floor:
what it would be if these very probabilities were perfectly calibrated, simulated from them. A
figure within its floor shows nothing. Every question is taken once, in the order as written. A tie
for the best option is shared (1/t of an answer is right); EvalScope takes the option that is first
in the alphabet.

To act on an answer where the model is sure enough is to choose a threshold. One that is chosen and
checked on the same questions looks better than it is, so that one half chooses it and the other
half says what it is worth.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.decisions import HALF_STEP
from evalui.scoring.choice.trial_grid import OptionCountStratum
from evalui.scoring.statistics.intervals import (
    INTERVAL_PERCENTILES,
    RESAMPLES,
    resample_counts,
    share_over_repeats,
    sums_by_code,
)
from evalui.types import Interval

N_BINS = 10
GOALS = (0.9, 0.95, 0.99)  # shares of right answers for which a threshold is sought
GATES = (0.8, 0.9)  # probabilities that every order of a question has to reach
MIN_ACTED = 10  # questions at or above a threshold that is chosen
_MOST_POINTS = 100  # of a curve
LEAST_PROBABILITY = 1e-12  # in the logarithm, as EvalScope has it
_MAX_SIMULATED = 4_000_000  # outcomes of questions in all simulations together
_STEP = 40  # with so many simulations less one, the ends of 95 % are simulations themselves
_MOST_STEPS, _LEAST_STEPS = 25, 5  # 999 simulations, or 199
_CHUNK_ELEMENTS = 200_000  # outcomes at once, which then fit the cache


@dataclass(frozen=True, slots=True)
class Floored:
    """A figure, its 95 % range, and what it would be of a perfectly calibrated model.

    `low` and `high` are percentiles of the bootstrap over questions, or over clusters of them, and
    hold `value`; None with fewer than two of these. `floor` is the mean of the figure over outcomes
    that are drawn from the model's own probabilities, `floor_low` and `floor_high` hold the central
    95 % of it. Questions of a cluster take one draw; the ends also hold 95 % of what they would be
    each by itself, because how much they depend on each other is not known. All are None, as the
    range, where nothing was drawn. An uneven sample of a calibrated model is uneven too, so that
    the range of an ECE does not reach down to 0: whether there is any error is for the floor to
    say.
    """

    value: float
    low: float | None = None
    high: float | None = None
    floor: float | None = None
    floor_low: float | None = None
    floor_high: float | None = None

    @property
    def shows_something(self) -> bool:
        """Whether a perfectly calibrated model would have the figure in fewer than 5 % of samples.

        False where the floor is not known.
        """
        if self.floor_low is None or self.floor_high is None:
            return False
        return not self.floor_low <= self.value <= self.floor_high


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The questions with a confidence from `low` on and below `high`; None where there are none.

    The last bin holds 1 too.
    """

    low: float
    high: float
    confidence: float | None
    accuracy: Interval | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration over `n` questions; `left_out` others have no probabilities.

    `ece` is the mean distance of confidence, the highest probability, and accuracy over ten equal
    bins, weighted by their questions, 0..1 (Naeini et al., AAAI 2015). `brier` is the mean sum of
    squares of probability minus outcome over the options, 0..2. `nll` is the mean of -ln p of the
    right option in nats, p being 1e-12 at least. `aurc` is the area under the curve of risk and
    coverage, 0..1: questions are sorted by confidence, those of equal confidence together, and at
    each coverage the risk is the share of wrong answers among the surest ones (Geifman and
    El-Yaniv, NeurIPS 2017; Geifman et al., ICLR 2019). Lower is better for all four.
    """

    n: int
    left_out: int
    ece: Floored
    brier: Floored
    nll: Floored
    aurc: Floored
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True)
class PooledCalibration:
    """`Calibration`'s figures over several orders of each question: without ranges."""

    ece: float
    brier: float


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Acting on the `n` answers with a confidence of `threshold` or more.

    `coverage` is their share of all questions, `right` the share of them that is right, with a
    95 % range: Wilson's, of as many questions as the answers are worth where these share clusters.
    The range is of each threshold by itself, not of the whole curve.
    """

    threshold: float
    coverage: float
    right: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class ActAbove:
    """From which confidence on at least `goal` of the answers are right.

    `threshold` is the lowest confidence of the `n_choosing` questions for which the share of right
    answers among theirs at or above it reaches the goal, 10 answers at least; None where there is
    none. `coverage` is the share of the other `n_checking` questions that reach it, `right` the
    share of those that is right; both None without a threshold, and `right` where none reaches it.
    """

    goal: float
    threshold: float | None
    coverage: Interval | None
    right: Interval | None
    n_choosing: int
    n_checking: int


@dataclass(frozen=True, slots=True)
class OrderGate:
    """What stays of the answers with a confidence of `gate` or more when options are reordered.

    `acted` questions have one in the order as written, `right` is the share of them that is right.
    Of those that have probabilities in another order, `same` is the share for which the same option
    is the most probable one in every such order, `passed` that for which it has the probability
    `gate` in each, too; `passed_right` is the share of right answers among these. None where there
    is nothing to take a share of.
    """

    gate: float
    acted: int
    right: Interval | None
    same: Interval | None
    passed: Interval | None
    passed_right: Interval | None


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """What is gained by acting on the surest answers to `n` questions, in the order as written.

    `points` are on the curve of risk and coverage, the surest first, at most 100 of them. `act` has
    an entry for each of GOALS, `gates` for each of GATES, or none of one order.
    """

    n: int
    points: tuple[RiskPoint, ...]
    act: tuple[ActAbove, ...]
    gates: tuple[OrderGate, ...]


def calibration(
    chances: NDArray[np.float64],
    target: NDArray[np.intp],
    cluster: NDArray[np.intp] | None = None,
    *,
    draws: int = RESAMPLES,
    seed: int = 0,
) -> Calibration | None:
    """Of probabilities of shape (n, K), the right columns and clusters of shape (n,).

    A row sums to 1, or holds no numbers where the question has no probabilities. `draws`
    resamples make the ranges and as many simulations at most the floors, fewer of many questions;
    0 leaves both out. None without probabilities.
    """
    known = ~np.isnan(chances[:, 0])
    if not known.any():
        return None
    asked = _questions(chances[known], target[known], None if cluster is None else cluster[known])
    values = asked.figures(asked.credit[None], asked.brier[None], asked.nll[None])[0]
    ends = _ends(_resampled(asked, draws, seed), "linear")
    drawn = _simulated(asked, draws, seed)
    band = _ends(drawn, "weibull")
    if asked.cluster is not None and len(drawn):
        alone = _ends(_simulated(replace(asked, cluster=None), draws, seed), "weibull")
        band = [_spanned(*ends) for ends in zip(band, alone, strict=True)]
    means = drawn.mean(axis=0).tolist() if len(drawn) else [None] * len(values)
    ece, brier, nll, aurc = (
        Floored(value, *_around(value, own), mean, *floor)
        for value, own, mean, floor in zip(values.tolist(), ends, means, band, strict=True)
    )
    left_out = len(chances) - len(asked.credit)
    return Calibration(len(asked.credit), left_out, ece, brier, nll, aurc, tuple(_bins(asked)))


def pooled_calibration(
    chances: NDArray[np.float64], target: NDArray[np.intp]
) -> PooledCalibration | None:
    """Of all orders together: probabilities of shape (n, V, K), right slots of shape (n, V).

    None without probabilities.
    """
    rows, right = chances.reshape(-1, chances.shape[-1]), target.ravel()
    known = ~np.isnan(rows[:, 0])
    if not known.any():
        return None
    if not known.all():
        rows, right = rows[known], right[known]
    confidence, credit = confidence_and_credit(rows, right)
    of_right = rows[np.arange(len(rows)), right]
    apart = np.bincount(_bin_of(confidence), weights=credit - confidence, minlength=N_BINS)
    brier = (rows**2).sum() + (1 - 2 * of_right).sum()
    return PooledCalibration(float(np.abs(apart).sum()) / len(rows), float(brier) / len(rows))


def confidence_and_credit(
    chances: NDArray[np.float64], target: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The highest of K probabilities, and what the best option is worth: 1/t of t equal ones.

    Of probabilities of shape (n, K) and right columns of shape (n,); both of shape (n,).
    """
    confidence = chances.max(axis=1)
    best = chances == confidence[:, None]
    return confidence, best[np.arange(len(target)), target] / best.sum(axis=1)


def risk_coverage(stratum: OptionCountStratum, *, seed: int = 0) -> RiskCoverage | None:
    """Of the questions that have probabilities in the order as written; None without any.

    The halves that choose and check a threshold are drawn by the seed, whole clusters each.
    """
    if stratum.chances is None:
        return None
    known = ~np.isnan(stratum.chances[:, 0, 0])
    if not known.any():
        return None
    cluster = None if stratum.cluster is None else stratum.cluster[known]
    asked = _questions(stratum.chances[known, 0], stratum.target[known, 0], cluster)
    return RiskCoverage(
        len(asked.credit),
        tuple(_points(asked)),
        tuple(_act_above(asked, seed)),
        tuple(_gate(stratum, gate) for gate in GATES if stratum.n_orders > 1),
    )


@dataclass(frozen=True, slots=True)
class _Questions:
    """Questions by confidence, the highest first; arrays of shape (n,).

    `ranked` are the probabilities of each from the highest on, (n, K), of which the first `n_best`
    are equal. The numbers alone decide the order, so that the one of the file is nothing.
    """

    ranked: NDArray[np.float64]
    n_best: NDArray[np.intp]
    credit: NDArray[np.float64]
    brier: NDArray[np.float64]
    nll: NDArray[np.float64]
    bins: NDArray[np.intp]
    cluster: NDArray[np.intp] | None

    @property
    def confidence(self) -> NDArray[np.float64]:
        return self.ranked[:, 0]

    @property
    def unit(self) -> NDArray[np.intp]:
        """What each question is drawn with: its cluster, or itself alone."""
        return np.arange(len(self.credit)) if self.cluster is None else self.cluster

    @property
    def in_bin(self) -> NDArray[np.float64]:
        """1 where a question is in a bin, else 0; (n, bins)."""
        return (self.bins[:, None] == np.arange(N_BINS)).astype(np.float64)

    @property
    def group_starts(self) -> NDArray[np.intp]:
        """Where the questions of each confidence begin."""
        return np.flatnonzero(np.diff(self.confidence, prepend=np.inf))

    @property
    def area_weights(self) -> NDArray[np.float64]:
        """What a wrong answer to each question adds to the area of risk and coverage.

        A group of s questions that ends at the e-th adds s/n times the risk there, so that each of
        the first e questions has s / (n e) of it.
        """
        n, starts = len(self.credit), self.group_starts
        ends = np.append(starts[1:], n)
        steps = (ends - starts) / (n * ends)
        return np.repeat(np.cumsum(steps[::-1])[::-1], ends - starts)

    def right(self, rows: NDArray[np.bool_] | slice) -> Interval | None:
        """The share of right answers among some of the questions; None of none."""
        cluster = None if self.cluster is None else self.cluster[rows]
        return share_over_repeats(self.credit[rows, None], cluster)

    def figures(
        self, credit: NDArray[np.float64], brier: NDArray[np.float64], nll: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """ECE, Brier, nll and AURC of outcomes of shape (rows, n); (rows, 4)."""
        apart = credit @ self.in_bin - self.confidence @ self.in_bin
        ece = np.abs(apart).sum(axis=1) / len(self.credit)
        area = (1 - credit) @ self.area_weights
        return np.column_stack([ece, brier.mean(axis=1), nll.mean(axis=1), area])


def _questions(
    chances: NDArray[np.float64], target: NDArray[np.intp], cluster: NDArray[np.intp] | None
) -> _Questions:
    ranked = -np.sort(-chances, axis=1)
    n_best = (ranked == ranked[:, :1]).sum(axis=1)
    of_right = np.take_along_axis(chances, target[:, None], axis=1)[:, 0]
    brier = (chances**2).sum(axis=1) - 2 * of_right + 1
    order = np.lexsort((brier, -of_right, -ranked[:, 0]))
    best = ranked[order, 0]
    return _Questions(
        ranked[order],
        n_best[order],
        credit=(of_right[order] == best) / n_best[order],
        brier=brier[order],
        nll=-np.log(np.maximum(of_right[order], LEAST_PROBABILITY)),
        bins=_bin_of(best),
        cluster=None if cluster is None else np.unique(cluster, return_inverse=True)[1][order],
    )


def _bin_of(confidence: NDArray[np.float64]) -> NDArray[np.intp]:
    """The bins of confidences, as EvalScope has them: closed below and open above."""
    return np.minimum((confidence * N_BINS).astype(np.intp), N_BINS - 1)


def _resampled(asked: _Questions, resamples: int, seed: int) -> NDArray[np.float64]:
    """The four figures of resampled questions, or clusters; (resamples, 4), none of one alone."""
    n, unit = len(asked.credit), asked.unit
    apart = (asked.credit - asked.confidence)[:, None] * asked.in_bin
    table = sums_by_code(np.column_stack([apart, asked.brier, asked.nll, np.ones(n)]), unit)
    made = [np.zeros((0, 4))]
    rng = np.random.default_rng(seed)
    for counts in resample_counts(len(table), resamples, rng) if len(table) > 1 else ():
        sums = counts @ table
        sizes = sums[:, -1]
        ece = np.abs(sums[:, :N_BINS]).sum(axis=1)
        areas = [_areas(counts[rows][:, unit], asked) for rows in _chunks(len(counts), n)]
        columns = (ece, *sums[:, N_BINS:-1].T, np.concatenate(areas))
        made.append(np.column_stack(columns) / sizes[:, None])
    return np.concatenate(made)


def _areas(counts: NDArray[np.float64], asked: _Questions) -> NDArray[np.float64]:
    """AURC times n where each question comes so often, (rows, n); (rows,)."""
    starts, wrong = asked.group_starts, counts * (1 - asked.credit)
    if len(starts) < len(asked.credit):
        counts, wrong = (np.add.reduceat(each, starts, axis=1) for each in (counts, wrong))
    at = np.cumsum(counts, axis=1)
    np.cumsum(wrong, axis=1, out=wrong)
    wrong /= np.maximum(at, 1, out=at)
    return np.einsum("ij,ij->i", counts, wrong)


def _chunks(rows: int, n: int) -> Iterator[slice]:
    """So many rows of n numbers in portions that fit the cache."""
    at_once = max(1, _CHUNK_ELEMENTS // n)
    return (slice(start, min(rows, start + at_once)) for start in range(0, rows, at_once))


def _simulated(asked: _Questions, most: int, seed: int) -> NDArray[np.float64]:
    """The four figures where the probabilities are right, (simulations, 4).

    Each simulation draws the right option of every question by the probabilities of its options.
    Questions of a cluster take one draw: of one question that was asked three times all are right,
    or none. Probabilities that are given as 0 were rounded: they are 0 in every second simulation,
    and in the others as large as they can have been, so that nobody seems too sure whose server
    rounds.
    """
    n, n_options = asked.ranked.shape
    unit = asked.unit
    n_units = int(unit.max()) + 1
    steps = min(_MOST_STEPS, max(_LEAST_STEPS, _MAX_SIMULATED // n // _STEP))
    simulations = min(most, _STEP * steps - 1)
    ends = np.cumsum(asked.ranked, axis=1)[:, :-1].T
    squares = (asked.ranked**2).sum(axis=1, keepdims=True)
    briers = squares - 2 * asked.ranked + 1
    nlls = -np.log(np.maximum(asked.ranked, LEAST_PROBABILITY))
    starts: NDArray[np.intp] = np.arange(n, dtype=np.intp) * n_options
    zeros = (asked.ranked == 0).sum(axis=1)
    rounded = min(HALF_STEP, asked.ranked[asked.ranked > 0].min() / 2)
    rng = np.random.default_rng(seed)
    made = [np.zeros((0, 4))]
    for rows in _chunks(simulations, n):
        numbers = rng.random((rows.stop - rows.start, n_units))[:, unit]
        simulation: NDArray[np.intp] = np.arange(rows.start, rows.stop, dtype=np.intp)
        of_zeros = zeros * (rounded * (simulation % 2))[:, None]
        place = np.zeros(numbers.shape, dtype=np.intp)
        for end in ends:
            place += numbers >= of_zeros + (1 - of_zeros) * end
        lost = numbers < of_zeros
        place[lost] = n_options - 1 - (numbers[lost] / rounded).astype(np.intp)
        credit = (place < asked.n_best) / asked.n_best
        cells: NDArray[np.intp] = starts + place
        made.append(asked.figures(credit, briers.ravel()[cells], nlls.ravel()[cells]))
    return np.concatenate(made)


def _ends(
    drawn: NDArray[np.float64],
    method: Literal["linear", "weibull"],
) -> list[tuple[float, float] | tuple[None, None]]:
    """Both ends of each column of figures; None where none is drawn."""
    if not len(drawn):
        return [(None, None)] * drawn.shape[1]
    lows, highs = np.percentile(drawn, INTERVAL_PERCENTILES, axis=0, method=method).tolist()
    return list(zip(lows, highs, strict=True))


def _spanned(
    one: tuple[float, float] | tuple[None, None], other: tuple[float, float] | tuple[None, None]
) -> tuple[float, float] | tuple[None, None]:
    """From the lower of two low ends to the higher of two high ones."""
    (low, high), (least, most) = one, other
    if low is None or high is None or least is None or most is None:
        return None, None
    return min(low, least), max(high, most)


def _around(
    value: float, ends: tuple[float, float] | tuple[None, None]
) -> tuple[float | None, float | None]:
    low, high = ends
    return (None, None) if low is None or high is None else (min(low, value), max(high, value))


def _bins(asked: _Questions) -> list[CalibrationBin]:
    made: list[CalibrationBin] = []
    for place in range(N_BINS):
        inside = asked.bins == place
        confidence = float(asked.confidence[inside].mean()) if inside.any() else None
        ends = place / N_BINS, (place + 1) / N_BINS
        made.append(CalibrationBin(*ends, confidence, asked.right(inside)))
    return made


# ---------------------------------------------------------------- thresholds


def _points(asked: _Questions) -> list[RiskPoint]:
    n, ends = len(asked.credit), np.append(asked.group_starts[1:], len(asked.credit))
    # Of many thresholds those are taken that reach equal steps of coverage.
    steps: NDArray[np.intp] = np.searchsorted(
        ends, n * np.arange(1, _MOST_POINTS + 1) / _MOST_POINTS
    )
    kept = ends if len(ends) <= _MOST_POINTS else ends[np.unique(steps)]
    made: list[RiskPoint] = []
    for end in kept.tolist():
        right = asked.right(slice(end))
        assert right, "a group has a question"
        threshold = float(asked.confidence[end - 1])
        made.append(RiskPoint(threshold, end / n, right.value, right.low, right.high, right.n))
    return made


def _act_above(asked: _Questions, seed: int) -> list[ActAbove]:
    unit = asked.unit
    n_units = int(unit.max()) + 1
    chooses = (np.random.default_rng(seed).permutation(n_units) < (n_units + 1) // 2)[unit]
    confidence, credit = asked.confidence[chooses], asked.credit[chooses]
    acted = np.arange(1, len(credit) + 1)
    shares = np.cumsum(credit) / acted
    # A threshold takes all questions of its confidence.
    whole = np.append(np.diff(confidence) != 0, True) & (acted >= MIN_ACTED)
    made: list[ActAbove] = []
    for goal in GOALS:
        reached = np.flatnonzero(whole & (shares >= goal - 1e-12))
        n_choosing, checks = len(credit), ~chooses
        n_checking = int(checks.sum())
        if not len(reached):
            made.append(ActAbove(goal, None, None, None, n_choosing, n_checking))
            continue
        threshold = float(confidence[reached[-1]])
        sure = asked.confidence >= threshold
        cluster = None if asked.cluster is None else asked.cluster[checks]
        coverage = share_over_repeats(sure[checks, None], cluster)
        right = asked.right(checks & sure)
        made.append(ActAbove(goal, threshold, coverage, right, n_choosing, n_checking))
    return made


def _gate(stratum: OptionCountStratum, gate: float) -> OrderGate:
    assert stratum.chances is not None, "a gate is one of probabilities"
    chances = stratum.chances[:, : stratum.n_orders]
    # Comparisons with what is no number are false: such a question is not acted on.
    acted = chances[:, 0].max(axis=1) >= gate
    slots = stratum.slot_of[: stratum.n_orders]
    by_option = np.take_along_axis(chances[acted], slots[None], axis=2)
    best = by_option[:, 0].argmax(axis=1)
    of_best = np.take_along_axis(by_option[:, 1:], best[:, None, None], axis=2)
    others = by_option[:, 1:]
    is_first = (others >= of_best).sum(axis=2) == 1
    # What a server leaves out is no work of another order.
    unknown = np.isnan(of_best[:, :, 0])
    reordered: NDArray[np.bool_] = ~np.all(unknown, axis=1)
    same = (is_first | unknown).all(axis=1)
    # More than a half is the most probable, too.
    passed: NDArray[np.bool_] = reordered & np.all((of_best[:, :, 0] >= gate) | unknown, axis=1)
    right = best == stratum.gold[acted]
    cluster = None if stratum.cluster is None else stratum.cluster[acted]

    def share(marks: NDArray[np.bool_], among: NDArray[np.bool_] | slice) -> Interval | None:
        return share_over_repeats(marks[among, None], None if cluster is None else cluster[among])

    every = slice(None)
    return OrderGate(
        gate,
        int(acted.sum()),
        right=share(right, every),
        same=share(same, reordered),
        passed=share(passed, reordered),
        passed_right=share(right, passed),
    )
