"""Bradley-Terry ratings: the exact maximum of the likelihood, and whether there is one.

The model says that a beats b with probability 1 / (1 + 10^((R_b - R_a) / 400)); a tie (of either
kind) is half a win for each. The likelihood has a finite maximum only if every model can be
reached from every other along "beat or tied" (Ford, "Solution of a ranking problem from binary
comparisons", 1957). A model that never lost, or two groups that never met, have no finite rating,
and none is invented for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.arena.battles import Battles, EncodedBattles, encode_battles, win_matrix
from evalui.scoring.arena.elo import INITIAL_RATING, POINTS_PER_LOG_ODDS
from evalui.scoring.statistics.intervals import (
    INTERVAL_PERCENTILES,
    MAX_CHUNK_ELEMENTS,
    MIN_KNOWN_SHARE,
    RESAMPLES,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_NEWTON_STEPS = 200  # far more than bounded steps need; a guard against our own mistakes
_TOLERANCE = 1e-9  # in log-odds: a millionth of a rating point and less
_SINGLE_DRAWS_PER_BINOMIAL = 8  # a binomial draw takes about as long as so many of single units
_RANK_TOLERANCE = 1e-6  # points; ratings no further apart share their rank


@dataclass(frozen=True, slots=True)
class Connectivity:
    """How the models hang together by their results.

    `components`: groups within which each model is reached from each other along "beat or tied".
    `disconnected_groups`: groups that never met another group. `unbeaten` models earned every point
    they played for, `winless` ones none.
    """

    components: tuple[tuple[str, ...], ...]
    disconnected_groups: tuple[tuple[str, ...], ...]
    unbeaten: tuple[str, ...]
    winless: tuple[str, ...]

    @property
    def has_finite_ratings(self) -> bool:
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
    `resamples` had a finite rating and make the intervals; `draws` are theirs, in rating points,
    shape (resamples_finite, models).
    """

    ratings: Mapping[str, Rating]
    connection: Connectivity
    unit: str
    units: int
    resamples: int
    resamples_finite: int
    seed: int
    draws: NDArray[np.float64] = field(
        default_factory=lambda: np.empty((0, 0)), compare=False, repr=False
    )

    @property
    def intervals_known(self) -> bool:
        """Whether enough resamples had a finite rating to say how far the ratings are known."""
        return _enough_finite(self.draws, self.resamples)


@dataclass(frozen=True, slots=True)
class RankInterval:
    """The rank of a model's rating, 1 for the best, and the 95 % range of its rank.

    `tied_with_leader`: the interval of its difference to the best model holds 0, so that the two
    do not differ significantly. All three are None where more than 2.5 % of the resamples have no
    rating.
    """

    rank: int
    low: int | None
    high: int | None
    tied_with_leader: bool | None


@dataclass(frozen=True, slots=True)
class LeaderGap:
    """By how many points the best model leads the second, with the interval of the difference."""

    leader: str
    second: str
    gap: Rating


@dataclass(frozen=True, slots=True)
class _ResamplingUnits:
    """What is resampled, equal units merged. `counts` (kinds,): how many units are of each kind.

    `tables` (kinds, 2 * pairs): battles of each pair, then what their first models earned in them.
    `pairs` (pairs,): first * models + second.
    """

    counts: NDArray[np.intp]
    tables: "csr_array"
    pairs: NDArray[np.intp]


def connectivity(battles: Battles) -> Connectivity:
    """The groups of models that the results hold together."""
    if not battles:
        return Connectivity((), (), (), ())
    met = win_matrix(battles)
    points = np.array(met.wins) + np.array(met.ties) / 2
    beat_or_tied = points > 0
    return Connectivity(
        components=_components(met.models, _reachability(beat_or_tied)),
        disconnected_groups=_components(met.models, _reachability(beat_or_tied | beat_or_tied.T)),
        unbeaten=_select_names(met.models, points.sum(axis=0) == 0),
        winless=_select_names(met.models, points.sum(axis=1) == 0),
    )


def fit_ratings(battles: Battles, *, resamples: int = RESAMPLES, seed: int = 0) -> BradleyTerry:
    """The ratings, and their interval from resampling questions (battles that name none: each).

    Questions and not battles are drawn, because the battles of one question are not independent.
    """
    coded = encode_battles(battles)
    connection = connectivity(coded)
    unit = "question" if coded.names_questions else "battle"
    n_units = len(np.unique(coded.question))
    unrated = BradleyTerry({}, connection, unit, n_units, 0, 0, seed)
    if not connection.has_finite_ratings:
        return unrated
    names = coded.models
    units = _resampling_units(coded)
    best = _fit(*_pair_tables(units, units.counts[None, :], len(names)))[0]
    if n_units < 2:
        resamples = 0  # one question has no spread
    draws = _to_rating_points(_bootstrap(units, best, resamples, np.random.default_rng(seed)))
    ratings = with_intervals(_to_rating_points(best), draws, resamples)
    return replace(
        unrated,
        ratings=dict(zip(names, ratings, strict=True)),
        resamples=resamples,
        resamples_finite=len(draws),
        draws=draws,
    )


def rank_intervals(rated: BradleyTerry) -> dict[str, RankInterval]:
    """Each model's rank and how far it is known, from the resamples of `rated`.

    A rank is 1 + the number of models rated higher, and its range holds the places of all that are
    level: two equally good models are each first or second. {} without ratings.
    """
    if not rated.ratings:
        return {}
    values = np.array([[rating.value for rating in rated.ratings.values()]])
    best = _rank_columns(values)[0].tolist()
    if not rated.intervals_known:
        unknown = [RankInterval(rank, None, None, None) for rank in best]
        return dict(zip(rated.ratings, unknown, strict=True))
    # Who is level with others in a resample has all of their places there.
    places = _rank_columns(rated.draws), 1 + len(best) - _rank_columns(-rated.draws)
    low, high = (
        np.percentile(ranks, end, axis=0, method="inverted_cdf")
        for ranks, end in zip(places, INTERVAL_PERCENTILES, strict=True)
    )
    leader = int(values.argmax())
    behind = np.percentile(rated.draws[:, leader : leader + 1] - rated.draws, 2.5, axis=0)
    parts = (best, low.tolist(), high.tolist(), (behind <= _RANK_TOLERANCE).tolist())
    intervals = [RankInterval(*part) for part in zip(*parts, strict=True)]
    return dict(zip(rated.ratings, intervals, strict=True))


def rating_difference(rated: BradleyTerry, first: str, second: str) -> Rating:
    """The rating of `first` minus that of `second`, with the interval of this difference.

    It does not follow from the ranges of the two ratings: both move with the same questions.
    """
    index = {name: number for number, name in enumerate(rated.ratings)}
    value = rated.ratings[first].value - rated.ratings[second].value
    drawn = rated.draws[:, index[first]] - rated.draws[:, index[second]]
    (difference,) = with_intervals(np.array([value]), drawn[:, None], rated.resamples)
    return difference


def leader_gap(rated: BradleyTerry) -> LeaderGap | None:
    """The best model's lead over the second, None where fewer than two models have a rating."""
    if len(rated.ratings) < 2:
        return None
    first, second = sorted(rated.ratings, key=lambda name: -rated.ratings[name].value)[:2]
    return LeaderGap(first, second, rating_difference(rated, first, second))


def with_intervals(
    best: NDArray[np.float64], draws: NDArray[np.float64], resamples: int
) -> list[Rating]:
    """Each figure of `best` (figures,) with the ends of its draws, shape (finite, figures).

    A resample without finite ratings may lie beyond either end: where more than 2.5 % of the
    `resamples` are missing no end is known.
    """
    if not _enough_finite(draws, resamples):
        return [Rating(value, None, None) for value in best.tolist()]
    low, high = np.percentile(draws, INTERVAL_PERCENTILES, axis=0)
    return [Rating(*ends) for ends in np.column_stack([best, low, high]).tolist()]


def is_strongly_connected(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows hold all models in one component: the first reaches all and is reached by all."""
    return _first_reaches_all(edges) & _first_reaches_all(edges.transpose(0, 2, 1))


# ---------------------------------------------------------------- resampling


def _resampling_units(coded: EncodedBattles) -> _ResamplingUnits:
    """Units that hold the same battles are one kind: drawing kinds by their count is the same."""
    from scipy.sparse import csr_array

    by_question: dict[int, list[tuple[int, float]]] = {}
    arrays = (coded.question, coded.side_a, coded.side_b, coded.points)
    rows = zip(*(array.tolist() for array in arrays), strict=True)
    for number, first, second, points in rows:
        if first > second:
            first, second, points = second, first, 1 - points
        by_question.setdefault(number, []).append((first * len(coded.models) + second, points))
    counts: dict[tuple[tuple[int, float], ...], int] = {}
    for content in by_question.values():
        signature = tuple(sorted(content))
        counts[signature] = counts.get(signature, 0) + 1
    kind = np.repeat(np.arange(len(counts)), [len(signature) for signature in counts])
    entries = np.array([battle for signature in counts for battle in signature]).reshape(-1, 2)
    pairs, column = np.unique(entries[:, 0].astype(np.intp), return_inverse=True)
    cells = np.concatenate([np.ones(len(entries)), entries[:, 1]])
    cells_at = np.concatenate([kind, kind]), np.concatenate([column, column + len(pairs)])
    # Cells given twice are summed.
    tables = csr_array((cells, cells_at), shape=(len(counts), 2 * len(pairs)))
    return _ResamplingUnits(np.array(list(counts.values()), dtype=np.intp), tables, pairs)


def _bootstrap(
    units: _ResamplingUnits, start: NDArray[np.float64], resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The log-odds of the resamples that have finite ones, shape (finite, models)."""
    size, n_units = len(start), int(units.counts.sum())
    at_once = max(1, MAX_CHUNK_ELEMENTS // max(size * size, len(units.counts)))
    draws: list[NDArray[np.float64]] = [np.empty((0, size))]
    for first in range(0, resamples, at_once):
        rows = min(at_once, resamples - first)
        battles, points = _pair_tables(
            units, _draw_unit_counts(units.counts, n_units, rows, rng), size
        )
        whole = is_strongly_connected(points > 0)
        draws.append(_fit(battles[whole], points[whole], start))
    return np.concatenate(draws)


def _draw_unit_counts(
    counts: NDArray[np.intp], n_units: int, rows: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """How often units of each kind come in as many draws as there are units: (rows, kinds)."""
    if len(counts) * _SINGLE_DRAWS_PER_BINOMIAL < n_units:
        return rng.multinomial(n_units, counts / n_units, size=rows)
    kinds = np.repeat(np.arange(len(counts)), counts)
    draws = (kinds[rng.integers(n_units, size=n_units)] for _ in range(rows))
    return np.array([np.bincount(draw, minlength=len(counts)) for draw in draws])


def _pair_tables(
    units: _ResamplingUnits, weights: NDArray[np.intp], size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Battles and points of each pair under each row of weights, both (rows, size, size).

    `points[r, i, j]` is what model i earned against model j.
    """
    # scipy has no types that tell what a dense times a sparse array is.
    sums = cast("NDArray[np.float64]", weights @ units.tables)
    met, earned = np.hsplit(sums, 2)
    first, second = units.pairs // size, units.pairs % size
    battles, points = np.zeros((2, len(weights), size, size))
    battles[:, first, second] = battles[:, second, first] = met
    points[:, first, second] = earned
    points[:, second, first] = met - earned
    return battles, points


def _enough_finite(draws: NDArray[np.float64], resamples: int) -> bool:
    return len(draws) > 0 and len(draws) >= MIN_KNOWN_SHARE * resamples


def _to_rating_points(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return INITIAL_RATING + POINTS_PER_LOG_ODDS * log_odds


def _rank_columns(ratings: NDArray[np.float64]) -> NDArray[np.intp]:
    """The rank of each model in each row of ratings, shape (rows, models)."""
    return np.column_stack(
        [1 + (ratings > column[:, None] + _RANK_TOLERANCE).sum(axis=1) for column in ratings.T]
    )


# ---------------------------------------------------------------- the fit


def _fit(
    battles: NDArray[np.float64],
    points: NDArray[np.float64],
    start: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """The log-odds with mean 0 at the maximum, shape (rows, models), by Newton's method.

    A step is bounded by the largest change it makes to a difference of two ratings.
    """
    from scipy.special import expit

    rows, size = battles.shape[:2]
    rated: NDArray[np.float64] = np.zeros((rows, size))
    if start is not None:
        rated += start
    diagonal = np.eye(size, dtype=np.bool_)
    # The likelihood does not change when all ratings move together; this holds their mean at 0.
    ridge = battles.sum(axis=(1, 2), keepdims=True) / size**2
    for _ in range(MAX_NEWTON_STEPS if rows else 0):
        won = expit(rated[:, :, None] - rated[:, None, :])
        gradient = (points - battles * won).sum(axis=2)
        hessian = -battles * won * (1 - won) + ridge
        hessian[:, diagonal] -= (hessian - ridge).sum(axis=2)
        step = solve_rows(hessian, gradient)
        max_change: NDArray[np.float64] = np.ptp(step, axis=1, keepdims=True)
        rated += bounded_step(step, max_change)
        if max_change.max() < _TOLERANCE:
            return rated - rated.mean(axis=1, keepdims=True)
    assert not rows, "Newton's method did not end although a maximum exists"
    return rated


def bounded_step(step: NDArray[np.float64], max_change: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newton's step times log(1 + d) / d, d being the largest change it makes to log-odds: (n, 1).

    With that the likelihood rises at every step (Sun and Tran-Dinh, "Generalized self-concordant
    functions", 2019), and near the maximum the steps are full ones.
    """
    return step * np.log1p(max_change) / np.where(max_change == 0, 1, max_change)


def solve_rows(matrices: NDArray[np.float64], sides: NDArray[np.float64]) -> NDArray[np.float64]:
    """The solutions of one system of equations per row; shapes (n, k, k) and (n, k) -> (n, k)."""
    return np.asarray(np.linalg.solve(matrices, sides[:, :, None])[:, :, 0], dtype=np.float64)


# ---------------------------------------------------------------- the graph


def _reachability(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who can be reached from whom, oneself included; shape (models, models)."""
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    while not np.array_equal(further := reach @ reach, reach):
        reach = further
    return reach


def _components(names: Sequence[str], reach: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    both_ways = reach & reach.T
    return tuple(dict.fromkeys(_select_names(names, row) for row in both_ways))


def _select_names(names: Sequence[str], chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, taken in zip(names, chosen, strict=True) if taken)


def _first_reaches_all(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    reached = np.zeros(edges.shape[:2], dtype=np.bool_)
    reached[:, 0] = True
    while True:
        further = reached | (edges & reached[:, :, None]).any(axis=1)
        if np.array_equal(further, reached):
            return np.asarray(reached.all(axis=1))
        reached = further
