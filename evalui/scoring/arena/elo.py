"""Elo ratings: battle after battle in one order, or the median over many orders.

`median_elos` are the figures that OpenCompass's subjective report of 2023 prints, to its digits.

After each battle both ratings move by K (S - E), where S is the point earned (half for a tie
and for neither) and E = 1 / (1 + 10^((R_b - R_a) / 400)) the point expected. The sum of all
ratings never changes. The result depends on the order of the battles, hence the median.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.arena.battles import Battle, Battles, EncodedBattles, encode_battles
from evalui.scoring.statistics.intervals import INTERVAL_PERCENTILES

SCALE = 400.0  # rating points that make the odds of winning BASE to 1
BASE = 10.0
INITIAL_RATING = 1000.0
K_OPENCOMPASS = 32.0
K_FASTCHAT = 4.0
N_ORDERS = 1000
MEDIAN_ELO_RUNS = 10
# Ten thousand shuffles take a second of CPU at this size, and grow with the battles.
MEDIAN_ELO_MAX_BATTLES = 500
POINTS_PER_LOG_ODDS = SCALE / np.log(BASE)  # rating points per unit of log-odds

# 200 MB of permuted kinds, two bytes each: all 1000 orders of 100,000 battles at once.
_MAX_CHUNK_ELEMENTS = 100_000_000
_MAX_SHUFFLED = 1 << 24  # numbers that are shuffled together: 64 MB, and 100 MB of random words
_SPARE_WORDS = 64  # with which one row in a billion needs more words than there are
_STEPS_PER_CHUNK = 32  # their work arrays stay in the processor's cache


@dataclass(frozen=True, slots=True)
class PermutedElo:
    """Ratings over seeded random orders of the same battles.

    `low` and `high` are the 2.5 % and 97.5 % points over the orders: how much the order alone
    moves a rating. They say nothing about the choice of questions.
    """

    median: Mapping[str, float]
    low: Mapping[str, float]
    high: Mapping[str, float]
    k: float
    runs: int
    seed: int


@dataclass(frozen=True, slots=True)
class MedianElo:
    """One model's `elo_score [Mean]` and `[Std]` of OpenCompass's subjective report of 2023.

    `mean` and `std` (of the population) are those of ten medians, each over a thousand orders of
    the same battles. `std` is Monte-Carlo noise: how far a median over a thousand orders is from
    another. It is no error of sampling: neither questions nor verdicts are drawn anew, and more
    orders make it smaller without a model being known any better.
    """

    mean: float
    std: float

    @property
    def printed(self) -> tuple[str, str]:
        """Both as that report prints them."""
        return f"{self.mean:g}", f"{self.std:g}"


@dataclass(frozen=True, slots=True)
class _BattleKinds:
    """The different battles (who met whom with which points), shape (kinds,), and each one's kind.

    Permuting numbers of kinds permutes the battles; they need less memory than the battles.
    """

    side_a: NDArray[np.intp]
    side_b: NDArray[np.intp]
    points: NDArray[np.float64]
    of_battle: NDArray[np.uint16 | np.uint32]


def expected_score(difference: float) -> float:
    """The point expected of a model rated `difference` above the other."""
    return 1 / (1 + BASE ** (-difference / SCALE))


def sequential_elo(battles: Sequence[Battle], k: float) -> dict[str, float]:
    """The ratings after the battles in the order given."""
    ratings: dict[str, float] = {}
    for battle in battles:
        rating_a = ratings.setdefault(battle.model_a, INITIAL_RATING)
        rating_b = ratings.setdefault(battle.model_b, INITIAL_RATING)
        won = k * (battle.points - expected_score(rating_a - rating_b))
        ratings[battle.model_a] = rating_a + won
        ratings[battle.model_b] = rating_b - won
    return ratings


def permuted_elo(
    battles: Battles, *, k: float = K_OPENCOMPASS, runs: int = N_ORDERS, seed: int = 0
) -> PermutedElo:
    """The median rating of each model over `runs` random orders of the battles."""
    if not battles:
        return PermutedElo({}, {}, {}, k=k, runs=runs, seed=seed)
    coded = encode_battles(battles)
    kinds = _battle_kinds(coded)
    rng = np.random.default_rng(seed)
    at_once = max(1, _MAX_CHUNK_ELEMENTS // len(battles))
    parts: list[NDArray[np.float64]] = []
    for first in range(0, runs, at_once):
        rows = min(at_once, runs - first)
        parts.append(_replay(kinds, _random_orders(kinds, rows, rng), len(coded.models), k))
    low, median, high = np.percentile(np.concatenate(parts), (2.5, 50, 97.5), axis=0)
    named = (dict(zip(coded.models, part.tolist(), strict=True)) for part in (median, low, high))
    return PermutedElo(*named, k=k, runs=runs, seed=seed)


def median_elos(
    battles: Battles,
    *,
    k: float = K_OPENCOMPASS,
    orders: int = N_ORDERS,
    runs: int = MEDIAN_ELO_RUNS,
) -> dict[str, MedianElo]:
    """The rows of OpenCompass's report of 2023 (summarizers/subjective.py), to the printed digits.

    Run i takes the median of each model over the orders that Python's `random.shuffle` gives under
    the seeds `orders` * i to `orders` * (i + 1) - 1. The digits depend on the order of `battles`:
    there, folder after folder and row after row.
    """
    if not battles:
        return {}
    coded = encode_battles(battles)
    kinds = _battle_kinds(coded)
    medians = np.array(
        [
            np.median(_replay_seeds(kinds, range(first, first + orders), len(coded.models), k), 0)
            for first in range(0, runs * orders, orders)
        ]
    )
    spread = zip(medians.mean(axis=0).tolist(), medians.std(axis=0).tolist(), strict=True)
    return {
        model: MedianElo(mean, std) for model, (mean, std) in zip(coded.models, spread, strict=True)
    }


def elo_intervals(
    battles: Battles,
    *,
    k: float = K_OPENCOMPASS,
    resamples: int = N_ORDERS,
    seed: int = 0,
) -> dict[str, tuple[float, float]]:
    """The 95 % range of each rating when questions are drawn anew, each draw in a random order.

    It holds both the sampling of the questions and that of the order, so it is a little wider than
    that of the median over orders. Battles that name no question are drawn one by one. {} with
    fewer than two questions: one has no spread.
    """
    coded = encode_battles(battles)
    if not coded.question.any():
        return {}
    kinds = _with_padding_battle(_battle_kinds(coded), len(coded.models))
    rng = np.random.default_rng(seed)
    at_once = max(1, _MAX_CHUNK_ELEMENTS // len(battles))
    parts: list[NDArray[np.float64]] = []
    for first in range(0, resamples, at_once):
        rows = range(first, min(first + at_once, resamples))
        redrawn = [_resample_battles(kinds.of_battle, coded.question, rng) for _ in rows]
        orders = _pad_rows(redrawn, len(kinds.points) - 1)
        parts.append(_replay(kinds, orders, len(coded.models) + 1, k))
    low, high = np.percentile(np.concatenate(parts), INTERVAL_PERCENTILES, axis=0).tolist()
    ends = zip(low[:-1], high[:-1], strict=True)
    return dict(zip(coded.models, ends, strict=True))


def python_shuffles(n: int, seeds: range) -> NDArray[np.uint16 | np.uint32]:
    """The numbers 0 to n-1 as Python shuffles them under each seed, shape (seeds, n).

    Numpy's shuffle draws other orders from the same seeds.
    """
    orders = np.empty((len(seeds), n), _number_type(n))
    at_once = max(1, _MAX_SHUFFLED // n)
    for first in range(0, len(seeds), at_once):
        rows = slice(first, first + at_once)
        orders[rows] = _shuffle_together(n, seeds[rows])
    return orders


def _replay_seeds(kinds: _BattleKinds, seeds: range, size: int, k: float) -> NDArray[np.float64]:
    """The ratings after the battles in the order of each seed, shape (seeds, models)."""
    n = len(kinds.of_battle)
    shuffled = _kept_shuffles if n <= MEDIAN_ELO_MAX_BATTLES else python_shuffles
    at_once = max(1, _MAX_CHUNK_ELEMENTS // n)
    parts = [
        _replay(kinds, kinds.of_battle[shuffled(n, seeds[first : first + at_once])], size, k)
        for first in range(0, len(seeds), at_once)
    ]
    return np.concatenate(parts)


def _number_type(n: int) -> type[np.uint16 | np.uint32]:
    return np.uint16 if n <= np.iinfo(np.uint16).max else np.uint32


def _shuffle_together(n: int, seeds: range) -> NDArray[np.uint16 | np.uint32]:
    """What `random.shuffle` does, for all seeds in one step.

    From the last place down, each number changes places with one that is not behind it. Python
    draws that place from the first bits of a word of 32, and takes the next word where they are
    none of these places. Numpy's older generator has the same words under the same seed, if that
    stands in a list.
    """
    n_words = 8 * n // 5 + _SPARE_WORDS  # up to 1.47 n are needed on the average
    words = np.empty((n_words, len(seeds)), np.uint32)
    generator = np.random.RandomState()
    for column, seed in enumerate(seeds):
        generator.seed([seed])
        words[:, column] = np.frombuffer(generator.bytes(4 * n_words), "<u4")
    unused_bits = np.array([32 - (last + 1).bit_length() for last in range(n)], np.uint32)
    starts = np.arange(len(seeds)) * n
    flat = np.tile(np.arange(n, dtype=_number_type(n)), len(seeds))
    last = np.full(len(seeds), n - 1)
    for drawn in words:
        places = drawn >> unused_bits.take(last)
        is_place = (places <= last) & (last > 0)
        here, there = starts + last, starts + np.where(is_place, places, last)
        moved = flat.take(here)
        flat[here] = flat.take(there)
        flat[there] = moved
        last -= is_place
        if not last.any():
            break
    orders = flat.reshape(len(seeds), n)
    unfinished: list[int] = np.flatnonzero(last).tolist()  # there were too few words
    for row in unfinished:
        places = list(range(n))
        random.Random(seeds[row]).shuffle(places)
        orders[row] = places
    return orders


# Arenas of as many battles have the same orders: those of two sizes take 20 MB at most.
_kept_shuffles = lru_cache(maxsize=2 * MEDIAN_ELO_RUNS)(python_shuffles)


def _battle_kinds(coded: EncodedBattles) -> _BattleKinds:
    size = len(coded.models)
    halves = np.rint(2 * coded.points).astype(np.intp)
    codes = (coded.side_a * size + coded.side_b) * 3 + halves
    distinct, of_battle = np.unique(codes, return_inverse=True)
    pairs = distinct // 3
    small = np.uint16 if len(distinct) <= np.iinfo(np.uint16).max else np.uint32
    return _BattleKinds(pairs // size, pairs % size, distinct % 3 / 2, of_battle.astype(small))


def _with_padding_battle(kinds: _BattleKinds, padding: int) -> _BattleKinds:
    """With one more kind, which pads rows: a model beside all others draws against itself.

    No rating changes by it.
    """
    return _BattleKinds(
        np.append(kinds.side_a, padding),
        np.append(kinds.side_b, padding),
        np.append(kinds.points, 0.5),
        kinds.of_battle,
    )


def _resample_battles(
    of_battle: NDArray[np.uint16 | np.uint32], question: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.uint16 | np.uint32]:
    """The kinds of the battles of as many questions, drawn with replacement; in random order."""
    n = int(question.max()) + 1
    counts = np.bincount(rng.integers(n, size=n), minlength=n)
    redrawn = np.repeat(of_battle, counts[question])
    return _shuffled(redrawn, rng).astype(of_battle.dtype)


def _pad_rows(
    rows: Sequence[NDArray[np.uint16 | np.uint32]], padding: int
) -> NDArray[np.uint16 | np.uint32]:
    """The rows as one array, each filled up to the longest with the padding battle."""
    filled = np.full((len(rows), max(map(len, rows))), padding, dtype=rows[0].dtype)
    for row, kinds in zip(filled, rows, strict=True):
        row[: len(kinds)] = kinds
    return filled


def _random_orders(
    kinds: _BattleKinds, runs: int, rng: np.random.Generator
) -> NDArray[np.uint16 | np.uint32]:
    """The kinds of all battles in random orders, shape (runs, battles)."""
    orders = np.empty((runs, len(kinds.of_battle)), dtype=kinds.of_battle.dtype)
    for row in orders:
        row[:] = _shuffled(kinds.of_battle, rng)
    return orders


def _shuffled(
    of_battle: NDArray[np.uint16 | np.uint32], rng: np.random.Generator
) -> NDArray[np.intp]:
    # Numpy shuffles words of the machine's size faster than short ones, into the same order.
    shuffled = of_battle.astype(np.intp)
    rng.shuffle(shuffled)
    return shuffled


def _replay(
    kinds: _BattleKinds, orders: NDArray[np.uint16 | np.uint32], size: int, k: float
) -> NDArray[np.float64]:
    """All orders at once, one battle of each per step: the ratings, shape (runs, models).

    As E = (1 + tanh(x_a - x_b)) / 2 with ratings x in half log-odds, a move K (S - E) is
    K (S - 1/2) + K/2 tanh(x_b - x_a), which takes fewer calls than the formula with exp.
    """
    runs, n = orders.shape
    # Ratings lie flat, in half log-odds above the start; a row of orders owns `size` of them.
    ratings = np.zeros(runs * size)
    row_start = np.arange(runs, dtype=np.intp) * size
    max_step = k / (4 * POINTS_PER_LOG_ODDS)  # the furthest that a battle of equals moves them
    shifts = (2 * kinds.points - 1) * max_step
    steps = np.empty((_STEPS_PER_CHUNK, runs), dtype=np.intp)
    sides = np.empty((_STEPS_PER_CHUNK, 2, runs), dtype=np.intp)
    earned = np.empty((_STEPS_PER_CHUNK, runs))
    for first in range(0, n, _STEPS_PER_CHUNK):
        now = slice(min(_STEPS_PER_CHUNK, n - first))
        steps[now] = orders[:, first : first + _STEPS_PER_CHUNK].T
        # Mode "clip" spares `take` a buffer; no index is out of range.
        kinds.side_a.take(steps[now], out=sides[now, 0], mode="clip")
        kinds.side_b.take(steps[now], out=sides[now, 1], mode="clip")
        sides[now] += row_start
        shifts.take(steps[now], out=earned[now], mode="clip")
        _update_ratings(ratings, sides[now], earned[now], max_step)
    return INITIAL_RATING + 2 * POINTS_PER_LOG_ODDS * ratings.reshape(runs, size)


def _update_ratings(
    ratings: NDArray[np.float64],
    sides: NDArray[np.intp],
    earned: NDArray[np.float64],
    max_step: float,
) -> None:
    """Move the ratings by some steps: `sides` is (steps, 2, runs), `earned` K (S - 1/2).

    Ten thousand steps of a thousand orders: everything is written in place, and each call costs.
    """
    both = np.empty(sides.shape[1:])
    rating_a, rating_b = both
    won = np.empty(sides.shape[2])
    max_steps = np.full_like(won, max_step)  # a bare number would be made an array at each step
    for indices, points in zip(sides, earned, strict=True):
        ratings.take(indices, out=both, mode="clip")
        np.subtract(rating_b, rating_a, out=won)
        np.tanh(won, out=won)
        won *= max_steps
        won += points
        rating_a += won
        rating_b -= won
        ratings[indices] = both
