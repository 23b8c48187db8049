"""Bradley-Terry ratings: the exact maximum of the likelihood, and whether there is one.

The model says that a beats b with probability 1 / (1 + 10^((R_b - R_a) / 400)); a tie (of either
kind) is half a win for each. The likelihood has a finite maximum only if every model can be
reached from every other along "beat or tied" (Ford, "Solution of a ranking problem from binary
comparisons", 1957). A model that never lost, or two groups that never met, have no finite rating,
and none is invented for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evalui.scoring.elo import NATURAL, START
from evalui.scoring.pairwise import Battle, models, win_matrix

RESAMPLES = 1000
_TOLERANCE = 1e-9  # in log-odds: a millionth of a rating point and less
_STEPS = 200  # far more than the bounded steps below need; a guard against our own mistakes
_CELLS_AT_ONCE = 4_000_000  # numbers per work array, 32 MB


@dataclass(frozen=True, slots=True)
class Connection:
    """How the models hang together by their results.

    `components`: groups within which each model is reached from each other along "beat or tied".
    `islands`: groups that never met another group. `unbeaten` models earned every point they
    played for, `winless` ones none.
    """

    components: tuple[tuple[str, ...], ...]
    islands: tuple[tuple[str, ...], ...]
    unbeaten: tuple[str, ...]
    winless: tuple[str, ...]

    @property
    def finite(self) -> bool:
        """Whether the battles put all models on one finite scale."""
        return len(self.components) == 1


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating with its 95 % bootstrap interval, None where more than 2.5 % have no end."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """Ratings with a mean of 1000 over the models; empty if they have no finite value.

    `unit` is what was resampled, `units` how many there were. `resamples_finite` of the
    `resamples` had a finite rating and make the intervals.
    """

    ratings: Mapping[str, Rating]
    connection: Connection
    unit: str
    units: int
    resamples: int
    resamples_finite: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Units:
    """What is resampled, equal units merged: shapes (kinds,) for `counts`, (battles,) for the rest.

    Each kind's battles are listed once: the pair that met and what its first model earned.
    """

    counts: NDArray[np.intp]
    kind: NDArray[np.intp]
    pair: NDArray[np.intp]
    points: NDArray[np.float64]


def connect(battles: Sequence[Battle]) -> Connection:
    """The groups of models that the results hold together."""
    met = win_matrix(battles)
    points = np.array(met.wins) + np.array(met.ties) / 2
    beat_or_tied = points > 0
    return Connection(
        components=_groups(met.models, _reach(beat_or_tied)),
        islands=_groups(met.models, _reach(beat_or_tied | beat_or_tied.T)),
        unbeaten=_picked(met.models, points.sum(axis=0) == 0),
        winless=_picked(met.models, points.sum(axis=1) == 0),
    )


def rate(battles: Sequence[Battle], *, resamples: int = RESAMPLES, seed: int = 0) -> BradleyTerry:
    """The ratings, and their interval from resampling questions (battles that name none: each).

    Questions and not battles are drawn, because the battles of one question share its luck.
    """
    names = models(battles)
    connection = connect(battles)
    asked = any(battle.question is not None for battle in battles)
    units = _units(battles, names)
    n_units = int(units.counts.sum())
    ratings: dict[str, Rating] = {}
    n_finite = 0
    if connection.finite:
        best = _fit(*_tables(units, units.counts[None, :], len(names)))
        drawn = _bootstrap(units, best[0], resamples, np.random.default_rng(seed))
        n_finite = len(drawn)
        ratings = dict(zip(names, _ratings(best[0], drawn, resamples), strict=True))
    return BradleyTerry(
        ratings=ratings,
        connection=connection,
        unit="question" if asked else "battle",
        units=n_units,
        resamples=resamples if connection.finite else 0,
        resamples_finite=n_finite,
        seed=seed,
    )


# ---------------------------------------------------------------- resampling


def _units(battles: Sequence[Battle], names: Sequence[str]) -> _Units:
    """Units that hold the same battles are one kind: drawing kinds by their count is the same."""
    place = {name: number for number, name in enumerate(names)}
    held: dict[object, list[tuple[int, float]]] = {}
    for number, battle in enumerate(battles):
        first, second = place[battle.model_a], place[battle.model_b]
        points = battle.points
        if first > second:
            first, second, points = second, first, 1 - points
        # A battle that names no question is a unit of its own.
        key = number if battle.question is None else battle.question
        held.setdefault(key, []).append((first * len(names) + second, points))
    counts: dict[tuple[tuple[int, float], ...], int] = {}
    for content in held.values():
        signature = tuple(sorted(content))
        counts[signature] = counts.get(signature, 0) + 1
    entries = [
        (pair, kind, points) for kind, signature in enumerate(counts) for pair, points in signature
    ]
    pair, kind, points = (np.array(column) for column in zip(*sorted(entries), strict=True))
    # Battles of one pair stand together, so that `reduceat` sums them.
    return _Units(np.array(list(counts.values())), kind, pair, points)


def _bootstrap(
    units: _Units, start: NDArray[np.float64], resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The log-odds of the resamples that have finite ones, shape (finite, models)."""
    size, n_units = len(start), int(units.counts.sum())
    at_once = max(1, _CELLS_AT_ONCE // max(size * size, len(units.pair)))
    found: list[NDArray[np.float64]] = []
    for first in range(0, resamples, at_once):
        rows = min(at_once, resamples - first)
        drawn = rng.multinomial(n_units, units.counts / n_units, size=rows)
        battles, points = _tables(units, drawn, size)
        whole = _one_component(points > 0)
        found.append(_fit(battles[whole], points[whole], start))
    return np.concatenate(found)


def _tables(
    units: _Units, weights: NDArray[np.intp], size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Battles and points of each pair under each row of weights, both (rows, size, size).

    `points[r, i, j]` is what model i earned against model j.
    """
    pairs, starts = np.unique(units.pair, return_index=True)
    weighed = weights[:, units.kind].astype(np.float64)
    met = np.add.reduceat(weighed, starts, axis=1)
    earned = np.add.reduceat(weighed * units.points, starts, axis=1)
    first, second = pairs // size, pairs % size
    battles, points = np.zeros((2, len(weights), size, size))
    battles[:, first, second] = battles[:, second, first] = met
    points[:, first, second] = earned
    points[:, second, first] = met - earned
    return battles, points


def _ratings(best: NDArray[np.float64], drawn: NDArray[np.float64], resamples: int) -> list[Rating]:
    # An endless resample may lie beyond either end: with more than 2.5 % of them no end is known.
    if len(drawn) < 0.975 * resamples or not len(drawn):
        return [Rating(value, None, None) for value in _points(best)]
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    return [Rating(*ends) for ends in zip(*map(_points, (best, low, high)), strict=True)]


def _points(log_odds: NDArray[np.float64]) -> list[float]:
    return (START + NATURAL * log_odds).tolist()


# ---------------------------------------------------------------- the fit


def _fit(
    battles: NDArray[np.float64],
    points: NDArray[np.float64],
    start: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """The log-odds with mean 0 at the maximum, shape (rows, models), by Newton's method.

    A step is shortened to log(1 + d) / d, d being the largest change it makes to a difference of
    two ratings; with that the likelihood rises at every step (Sun and Tran-Dinh, "Generalized
    self-concordant functions", 2019), and near the maximum the steps are full ones.
    """
    rows, size = battles.shape[:2]
    rated: NDArray[np.float64] = np.zeros((rows, size))
    if start is not None:
        rated += start
    diagonal = np.eye(size, dtype=np.bool_)
    # The likelihood does not change when all ratings move together; this holds their mean at 0.
    gauge = battles.sum(axis=(1, 2), keepdims=True) / size**2
    for _ in range(_STEPS if rows else 0):
        won = expit(rated[:, :, None] - rated[:, None, :])
        slope = (points - battles * won).sum(axis=2)
        bend = -battles * won * (1 - won) + gauge
        bend[:, diagonal] -= (bend - gauge).sum(axis=2)
        step = _solved(bend, slope)
        reach: NDArray[np.float64] = np.ptp(step, axis=1, keepdims=True)
        rated += step * np.log1p(reach) / np.where(reach == 0, 1, reach)
        if reach.max() < _TOLERANCE:
            return rated - rated.mean(axis=1, keepdims=True)
    assert not rows, "Newton's method did not end although a maximum exists"
    return rated


def _solved(matrices: NDArray[np.float64], sides: NDArray[np.float64]) -> NDArray[np.float64]:
    """The solutions of one system of equations per row."""
    return np.asarray(np.linalg.solve(matrices, sides[:, :, None])[:, :, 0], dtype=np.float64)


# ---------------------------------------------------------------- the graph


def _reach(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who can be reached from whom, oneself included; shape (models, models)."""
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    while not np.array_equal(further := reach @ reach, reach):
        reach = further
    return reach


def _groups(names: Sequence[str], reach: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    both_ways = reach & reach.T
    return tuple(dict.fromkeys(_picked(names, row) for row in both_ways))


def _picked(names: Sequence[str], chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, taken in zip(names, chosen, strict=True) if taken)


def _one_component(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows hold all models in one component: the first reaches all and is reached by all."""
    return _from_first(edges) & _from_first(edges.transpose(0, 2, 1))


def _from_first(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    reached = np.zeros(edges.shape[:2], dtype=np.bool_)
    reached[:, 0] = True
    while True:
        further = reached | (edges & reached[:, :, None]).any(axis=1)
        if np.array_equal(further, reached):
            return np.asarray(reached.all(axis=1))
        reached = further
