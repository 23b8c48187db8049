"""Is it more than chance that some slots are chosen or found more often than others?

Each question was presented in several orders, so its trials are not independent. The textbook
chi-square test of the slot counts ignores that and hardly ever rejects; it is not offered. Where
questions share a cluster, the answers of a whole cluster change places together.
Ties and unreadable answers are no choice of any slot.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, OptionCountStratum
from evalui.scoring.statistics.intervals import cluster_values

N_DRAWS = 999
_RARE = 0.01  # of the draws: a p-value that so few decide is coarse
_MAX_TABULATED_ORDERS = 5  # up to 5! = 120 arrangements are worth a table
_MAX_CHUNK_ELEMENTS = 200_000  # numbers per work array, which then fit the cache


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """The permutation test of the slot counts, and what RStd does when position has no effect.

    `p` is never 0. `mean_rstd` and `rstd_95` are the mean
    and the 95th percentile of RStd over the draws, in points; None if a recall is unknown.
    """

    p: float
    mean_rstd: float | None
    rstd_95: float | None
    draws: int
    seed: int


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """RStd of one order in points, beside the mean and 95th percentile it has by chance alone.

    `p` is the share of draws that reach the observed one, which is among them.
    """

    rstd: float
    mean: float
    percentile_95: float
    p: float


@dataclass(frozen=True, slots=True)
class StatisticalTest:
    """A test statistic and its p-value."""

    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class BiasTests:
    """The tests of one stratum; None where a test does not exist.

    `cochran_q` is Cochran's Q, which needs each question once with its answer in each slot;
    `wald` the Wald test of the slot counts, missing where their covariance is singular.
    `tied` trials took part in no test.
    """

    permutation: PermutationTest | None
    cochran_q: StatisticalTest | None
    wald: StatisticalTest | None
    tied: int


@dataclass(frozen=True, slots=True)
class SlotCounts:
    """Counts by slot of shape (draws, K): choices, right answers, and undecided trials by gold.

    `targets` counts the trials whose answer stands in the slot, without the ties.
    """

    choices: NDArray[np.int64]
    hits: NDArray[np.int64]
    targets: NDArray[np.int64]


def bias_tests(
    stratum: OptionCountStratum, *, draws: int = N_DRAWS, seed: int = 0, dealt: bool = False
) -> BiasTests:
    """All tests of a stratum; `draws` of 0 leaves the permutation test out."""
    return BiasTests(
        permutation=permutation_test(stratum, draws=draws, seed=seed, dealt=dealt)
        if draws
        else None,
        cochran_q=cochran_q_test(stratum),
        wald=wald_test(stratum),
        tied=stratum.n_tied,
    )


def permutation_test(
    stratum: OptionCountStratum, *, draws: int = N_DRAWS, seed: int = 0, dealt: bool = False
) -> PermutationTest | None:
    """Does position matter? None with one order, or if no trial chose a slot.

    If it does not, the answers of a question, as options, may change places among its orders, and
    among the repeats of them. Where keys are `dealt`, all repeats of an order have the same keys
    and the same places, so that their answers change places together.
    The statistic is the sum of squared slot counts, which orders draws as chi-square does;
    p = (1 + draws that reach the observed one) / (draws + 1). Where under 1 % reach it, p is the
    tail of a gamma distribution with the mean and the variance of the draws (Winkler et al.,
    *Faster permutation inference in brain imaging*, NeuroImage 2016): a correction for many models
    would find nothing with p-values that end at 1 / (draws + 1).
    """
    seen = observed_counts(stratum)
    if stratum.n_orders < 2 or not seen.choices.any():
        return None
    moved = _with_whole_orders(stratum) if dealt and stratum.n_repeats > 1 else stratum
    drawn = permuted_counts(moved, draws, np.random.default_rng(seed))
    statistics = (drawn.choices**2).sum(axis=1)
    observed = int((seen.choices**2).sum())
    reached = int((statistics >= observed).sum())
    p = (1 + reached) / (1 + draws)
    if reached < _RARE * draws and np.ptp(statistics):
        # The distance from equal counts, which is 0 at least.
        least = int(seen.choices.sum()) ** 2 / stratum.n_options
        p = _gamma_tail(observed - least, statistics - least)
    spreads = _rstd_of_draws(drawn)
    return PermutationTest(
        p=p,
        mean_rstd=float(spreads.mean()) if len(spreads) else None,
        rstd_95=float(np.percentile(spreads, 95)) if len(spreads) else None,
        draws=draws,
        seed=seed,
    )


def _gamma_tail(observed: float, draws: NDArray[np.float64]) -> float:
    from scipy.special import gammaincc

    mean, variance = float(draws.mean()), float(draws.var(ddof=1))
    p = float(gammaincc(mean**2 / variance, observed * mean / variance))
    return max(p, float(np.finfo(np.float64).tiny))


def noise_floor(
    stratum: OptionCountStratum, *, draws: int = N_DRAWS, seed: int = 0
) -> NoiseFloor | None:
    """RStd of the original order where the slot of the answer has no effect on being right.

    Right and wrong then belong to the questions whatever slot the answer has: the number right in
    each slot is hypergeometric. None if a slot never holds the answer. Ties are left out. Of
    several repeats it looks at the first.
    """
    decided = stratum.choice[:, 0] != TIED
    target, right = stratum.target[decided, 0], stratum.correct[decided, 0]
    targets = np.bincount(target, minlength=stratum.n_options)
    if not targets.all():
        return None
    recalls = np.bincount(target[right], minlength=len(targets)) / targets
    seen = float(np.std(recalls) * 100)
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_hypergeometric(targets, int(right.sum()), size=draws)
    hits = np.asarray(drawn, dtype=np.float64)
    spreads = np.asarray(np.std(hits / targets, axis=1) * 100, dtype=np.float64)
    return NoiseFloor(
        rstd=seen,
        mean=float(spreads.mean()),
        percentile_95=float(np.percentile(spreads, 95)),
        p=(1 + int((spreads >= seen - 1e-9).sum())) / (1 + draws),
    )


def cochran_q_test(stratum: OptionCountStratum) -> StatisticalTest | None:
    """Cochran's Q (Biometrika 1950): are the recalls of all slots equal? K - 1 degrees of freedom.

    None unless every question was presented once with its answer in each slot. Questions with a tie
    are left out. Where no question tells slots apart Q is 0 and p is 1. Nor is there one where
    questions are no independent evidence.
    """
    n_options = stratum.n_options
    if (
        stratum.cluster is not None
        or stratum.n_shown != n_options
        or (np.diff(np.sort(stratum.target)) != 1).any()
    ):
        return None
    decided = (stratum.choice != TIED).all(axis=1)
    if not decided.any():
        return None
    by_slot = np.take_along_axis(stratum.correct, np.argsort(stratum.target, axis=1), axis=1)
    table = by_slot[decided].astype(np.float64)
    columns, rows, total = table.sum(axis=0), table.sum(axis=1), table.sum()
    spread_in_rows = n_options * total - (rows**2).sum()
    if not spread_in_rows:
        return StatisticalTest(0.0, 1.0)
    from scipy.special import chdtrc

    q = (n_options - 1) * (n_options * (columns**2).sum() - total**2) / spread_in_rows
    return StatisticalTest(float(q), float(chdtrc(n_options - 1, q)))


def wald_test(stratum: OptionCountStratum) -> StatisticalTest | None:
    """Are all slots chosen equally often? Hotelling's T2 of the slot counts of each question.

    F = T2 (n - K + 1) / ((K - 1)(n - 1)) on K - 1 and n - K + 1 degrees of freedom. None where
    the covariance is singular, as for a model that never changes its mind, with n < K, and with
    one order, where unequal choices may be right because the answers are unequal.
    """
    n, n_options = stratum.n, stratum.n_options
    if stratum.n_orders < 2 or n < n_options:
        return None
    slots = [(stratum.choice == slot).sum(axis=1) for slot in range(n_options)]
    counts = np.stack(slots, axis=1).astype(np.float64)
    apart = counts[:, :-1] - counts.sum(axis=1, keepdims=True) / n_options
    apart = cluster_values(apart, stratum.cluster)
    if (n := len(apart)) < n_options:
        return None
    mean = apart.mean(axis=0)
    covariance = (apart - mean).T @ (apart - mean) / (n - 1)
    if np.linalg.matrix_rank(covariance) < n_options - 1:
        return None
    from scipy.special import fdtrc

    solved = np.asarray(np.linalg.solve(covariance, mean), dtype=np.float64)
    t2 = n * float((mean * solved).sum())
    f = t2 * (n - n_options + 1) / ((n_options - 1) * (n - 1))
    return StatisticalTest(t2, float(fdtrc(n_options - 1, n - n_options + 1, f)))


def gold_balance(target: NDArray[np.intp], n_options: int) -> tuple[tuple[int, ...], float]:
    """How often each slot holds the answer in the original order, and chi-square's p for "equally".

    Questions are independent there, so the plain test is right. p is 1 without questions.
    """
    counts = np.bincount(target, minlength=n_options)
    expected = len(target) / n_options
    if not expected:
        return tuple(counts.tolist()), 1.0
    from scipy.special import chdtrc

    chi2 = float(((counts - expected) ** 2).sum()) / expected
    p = float(chdtrc(n_options - 1, chi2))
    assert not math.isnan(p), "a chi-square of counts has a p-value"
    return tuple(counts.tolist()), p


def observed_counts(stratum: OptionCountStratum) -> SlotCounts:
    """The counts of the answers as they are: one draw."""
    return _to_slot_counts(
        stratum, _tallies(stratum, stratum.content, stratum.gold).sum(axis=0)[None]
    )


def permuted_counts(
    stratum: OptionCountStratum, n_draws: int, rng: np.random.Generator
) -> SlotCounts:
    """The counts of `n_draws` shuffles in which each question's options change places."""
    by_table = stratum.n_shown <= _MAX_TABULATED_ORDERS and not stratum.own_orders
    return _to_slot_counts(
        stratum, (_permute_by_table if by_table else _permute_by_sorting)(stratum, n_draws, rng)
    )


def _with_whole_orders(stratum: OptionCountStratum) -> OptionCountStratum:
    """A row for each repeat, of which those of a question, or a cluster, take the same draws."""
    unit = np.arange(stratum.n) if stratum.cluster is None else stratum.cluster
    return replace(stratum.each_repeat, cluster=np.repeat(unit, stratum.n_repeats))


def _rstd_of_draws(drawn: SlotCounts) -> NDArray[np.float64]:
    """RStd of the draws in which every recall is known; ties count for no slot."""
    known = (drawn.targets > 0).all(axis=1)
    recalls = drawn.hits[known] / drawn.targets[known]
    return np.std(recalls, axis=1) * 100


def _to_slot_counts(stratum: OptionCountStratum, tallies: NDArray[np.int64]) -> SlotCounts:
    slots, hits, ties = np.split(tallies, 3, axis=1)
    targets = np.bincount(stratum.target.ravel(), minlength=stratum.n_options)
    return SlotCounts(slots, hits, targets - ties)


def _permute_by_table(
    stratum: OptionCountStratum, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Questions with the same options chosen and the same answer are one type.

    For each type the counts of all V! arrangements are listed once. A draw then picks an
    arrangement for every question, and only how often each was picked matters.
    """
    kinds, kind_of = np.unique(_question_rows(stratum), axis=0, return_inverse=True)
    arrangements = np.array(list(itertools.permutations(range(stratum.n_shown))))
    n_ways = len(arrangements)
    arranged = kinds[:, :-1][:, arrangements].reshape(-1, stratum.n_shown)
    table = _tallies(stratum, arranged, np.repeat(kinds[:, -1], n_ways)).astype(np.float64)
    # A question that gave one option throughout has one arrangement: it is no draw.
    fixed = (kinds[:, :-1] == kinds[:, :1]).all(axis=1)[kind_of]
    constant = np.bincount(kind_of[fixed] * n_ways, minlength=len(table)) @ table
    starts = (kind_of[~fixed] * n_ways).astype(np.int32)
    unit, n_units = _drawn_together(stratum, ~fixed)
    drawn = np.empty((n_draws, table.shape[1]))
    at_once = max(1, _MAX_CHUNK_ELEMENTS // max(len(starts), len(table)))
    for start in range(0, n_draws, at_once):
        rows = min(at_once, n_draws - start)
        ways = rng.integers(n_ways, size=(rows, n_units), dtype=np.uint8)[:, unit]
        picked = np.stack([np.bincount(starts + row, minlength=len(table)) for row in ways])
        drawn[start : start + rows] = picked @ table
    return np.rint(drawn + constant).astype(np.int64)


def _permute_by_sorting(
    stratum: OptionCountStratum, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Shuffles by sorting random numbers: for more arrangements than a table could list."""
    rows, n_options = _question_rows(stratum), stratum.n_options
    content, gold = rows[:, :-1], rows[:, -1:]
    # One number for all that counts of an answer: wrong or right and the option, tied and the gold.
    kinds = np.where(content == TIED, 2 * n_options + gold, content + n_options * (content == gold))
    kinds[content == UNREADABLE] = 3 * n_options
    fixed = (content == content[:, :1]).all(axis=1)
    counts = _kind_counter(stratum, ~fixed)
    constant = _kind_counter(stratum, fixed)(kinds[fixed])
    moved = kinds[~fixed].astype(np.uint32)
    draws = np.empty((n_draws, len(constant)), dtype=np.int64)
    unit, n_units = _drawn_together(stratum, ~fixed)
    for drawn in draws:
        numbers = rng.random((n_units, moved.shape[1]), dtype=np.float32)[unit]
        drawn[:] = constant + counts(_sort_by_numbers(moved, numbers, 3 * n_options))
    return draws


def _sort_by_numbers(
    kinds: NDArray[np.uint32], numbers: NDArray[np.float32], last: int
) -> NDArray[np.uint32]:
    """Each row of kinds, up to the last one, in the order of its random numbers.

    Whole numbers with the kind in their last bits are sorted several times as fast as places are.
    The random ones are multiples of 2 ** -24, of which all bits are compared where they decide.
    """
    bits = max(8, last.bit_length())
    keys = (numbers * 2 ** (32 - bits)).astype(np.uint32) << np.uint32(bits) | kinds
    keys.sort(axis=1)
    ordered = keys & np.uint32(2**bits - 1)
    # Among equal random numbers the kinds would decide, not chance.
    alike = np.flatnonzero((keys[:, 1:] ^ keys[:, :-1]) < 2**bits) // (keys.shape[1] - 1)
    ordered[alike] = np.take_along_axis(kinds[alike], numbers[alike].argsort(axis=1), axis=1)
    return ordered


_Kinds = NDArray[np.integer[Any]]


def _kind_counter(
    stratum: OptionCountStratum, questions: NDArray[np.bool_]
) -> Callable[[_Kinds], NDArray[np.int64]]:
    """What gives the sum of `_tallies` over the rows of some questions, from kinds of options."""
    if not stratum.own_orders:
        return partial(_count_kinds, stratum)
    slots, n_options = stratum.slot_of[questions], stratum.n_options
    # By question, order and kind, where the last kind, unreadable, stands in no slot.
    codes = np.concatenate([slots + part * n_options for part in range(4)], axis=2, dtype=np.int16)
    starts = np.arange(slots[..., 0].size).reshape(slots.shape[:2]) * (4 * n_options)
    return partial(_count_own_kinds, codes.ravel(), starts, n_options)


def _count_own_kinds(
    codes: NDArray[np.int16], starts: NDArray[np.intp], n_options: int, kinds: _Kinds
) -> NDArray[np.int64]:
    counts = np.bincount(codes[starts + kinds].ravel(), minlength=4 * n_options)
    wrong, right, tied, _ = counts.reshape(4, n_options)
    return np.concatenate([wrong + right, right, tied])


def _count_kinds(stratum: OptionCountStratum, kinds: _Kinds) -> NDArray[np.int64]:
    n_shown, n_options = stratum.orders.shape
    n_kinds = 3 * n_options + 1
    starts: NDArray[np.intp] = np.arange(n_shown, dtype=np.intp) * n_kinds
    codes: NDArray[np.intp] = kinds.astype(np.intp) + starts
    counts = np.bincount(codes.ravel(), minlength=n_shown * n_kinds).reshape(n_shown, n_kinds)
    by_option = counts[:, :-1].reshape(n_shown, 3, n_options)
    wrong, right, tied = np.take_along_axis(by_option, stratum.orders[:, None], axis=2).sum(axis=0)
    return np.concatenate([wrong + right, right, tied])


def _drawn_together(
    stratum: OptionCountStratum, moved: NDArray[np.bool_]
) -> tuple[NDArray[np.intp] | slice, int]:
    """Which draw each of the questions that are moved takes, and how many draws there are."""
    if stratum.cluster is None:
        return slice(None), int(moved.sum())
    _, unit = np.unique(stratum.cluster[moved], return_inverse=True)
    return unit, int(unit.max(initial=-1)) + 1


def _question_rows(stratum: OptionCountStratum) -> NDArray[np.intp]:
    """The chosen options of each question, sorted, and its answer; the rows sorted, too.

    So the same seed gives the same draws in whatever order the questions come. Of clusters, whose
    questions take one draw, and of orders of each question, all stands as it came.
    """
    if stratum.cluster is not None or stratum.own_orders:
        return np.column_stack([stratum.content, stratum.gold])
    rows = np.column_stack([np.sort(stratum.content, axis=1), stratum.gold])
    return rows[np.lexsort(rows.T)]


def _tallies(
    stratum: OptionCountStratum, content: NDArray[np.intp], gold: NDArray[np.intp]
) -> NDArray[np.int64]:
    """For each row of options by order: choices, hits and ties by slot; shape (rows, 3 K)."""
    options = range(stratum.n_options)
    slots = np.where(content >= 0, stratum.slots_of(np.maximum(content, 0)), -1)
    gold_slots = stratum.slots_of(np.broadcast_to(gold[:, None], content.shape))
    marks = [
        *[slots == slot for slot in options],
        *[(slots == slot) & (gold_slots == slot) for slot in options],
        *[(content == TIED) & (gold_slots == slot) for slot in options],
    ]
    return np.stack([mark.sum(axis=1) for mark in marks], axis=1)
