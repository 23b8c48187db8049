"""Bradley-Terry ratings with the length and the Markdown of the answers held equal.

W.-L. Chiang et al., "Does style matter? Disentangling style and substance in Chatbot Arena" (2024):
beside the models' ratings, the log-odds of a battle hold a coefficient for each feature of style.
A judge that likes long answers then rates length and not the model that writes at length.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from evalui.replies import MarkdownCounts, count_markdown
from evalui.scoring.arena.battles import Battle, Battles, EncodedBattles, encode_battles
from evalui.scoring.arena.bradley_terry import (
    MAX_NEWTON_STEPS,
    Connectivity,
    Rating,
    bounded_step,
    connectivity,
    is_strongly_connected,
    solve_rows,
    with_intervals,
)
from evalui.scoring.arena.elo import INITIAL_RATING, POINTS_PER_LOG_ODDS
from evalui.scoring.statistics.intervals import MAX_CHUNK_ELEMENTS, resample_counts
from evalui.types import Contestant

RESAMPLES = 200
RIDGE = 1.0  # of the penalty RIDGE / 2 * sum of squared coefficients; ratings have none
FEATURES: Mapping[str, Callable[[MarkdownCounts], int]] = {
    "length": lambda marks: marks.length,
    "headers": lambda marks: marks.headers,
    "items": lambda marks: marks.items,
    "bold": lambda marks: marks.bold,
}
_TOLERANCE = 1e-8  # in log-odds


@dataclass(frozen=True, slots=True)
class StyleControlledRatings:
    """Ratings with a mean of 1000 and the weight of each feature of style.

    A coefficient is what one typical difference (root mean square over the battles) adds to the
    log-odds; 0.1 is 17 rating points. A feature in which no two answers differ has none. Both are
    empty if the ratings have no finite value. Intervals at 95 % come from resampling questions.
    """

    ratings: Mapping[str, Rating]
    coefficients: Mapping[str, Rating]
    connection: Connectivity
    n: int
    ridge: float
    resamples: int
    resamples_finite: int
    seed: int


@dataclass(frozen=True, slots=True)
class _RegressionDesign:
    """The battles as a regression: `rows` (n, models + features), the other arrays (n,)."""

    rows: NDArray[np.float64]
    points: NDArray[np.float64]
    question: NDArray[np.intp]
    models: tuple[str, ...]
    features: tuple[str, ...]


def fit_style_controlled_ratings(
    battles: Battles,
    contestants: Sequence[Contestant],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> StyleControlledRatings:
    """The ratings these battles of these contestants would give at equal style.

    A feature of a battle is (A - B) / (A + B), in units of its root mean square; an answer that is
    not known differs in nothing.
    """
    coded = encode_battles(battles)
    connection = connectivity(coded)
    if not connection.has_finite_ratings:
        return StyleControlledRatings({}, {}, connection, len(coded), RIDGE, 0, 0, seed)
    design = _build_design(coded, _feature_differences(coded.battles, contestants))
    best = _fit(design, np.ones((1, len(coded))), None)
    drawn, tries = _bootstrap(design, best[0], resamples, seed)
    n_models = len(design.models)
    in_points = np.where(np.arange(len(best[0])) < n_models, POINTS_PER_LOG_ODDS, 1)
    shift = np.where(in_points == POINTS_PER_LOG_ODDS, INITIAL_RATING, 0)
    ratings = with_intervals(best[0] * in_points + shift, drawn * in_points + shift, tries)
    return StyleControlledRatings(
        dict(zip(design.models, ratings[:n_models], strict=True)),
        dict(zip(design.features, ratings[n_models:], strict=True)),
        connection,
        len(coded),
        RIDGE,
        tries,
        len(drawn),
        seed,
    )


# ---------------------------------------------------------------- features


def _feature_differences(
    battles: Sequence[Battle], contestants: Sequence[Contestant]
) -> NDArray[np.float64]:
    """(A - B) / (A + B) of each feature of each battle, 0 for two zeros: (battles, features)."""
    first = _feature_counts([(one.model_a, one.question) for one in battles], contestants)
    second = _feature_counts([(one.model_b, one.question) for one in battles], contestants)
    known = ~np.isnan(first + second)
    total = np.where(known, first + second, 0)
    return np.where(total > 0, (first - second) / np.where(total > 0, total, 1), 0.0)


def _feature_counts(
    keys: Sequence[tuple[str, str | None]], contestants: Sequence[Contestant]
) -> NDArray[np.float64]:
    """The features of the answers with these keys, nan for one that is not known."""
    answers = {one.name: one.answers for one in contestants}
    unknown = [np.nan] * len(FEATURES)
    counts: dict[tuple[str, str | None], list[float]] = {}
    for name, question in set(keys):
        turns = answers.get(name, {}).get(question or "")
        marks = None if turns is None else count_markdown(turns)
        counts[name, question] = (
            unknown if marks is None else [float(count(marks)) for count in FEATURES.values()]
        )
    return np.array([counts[key] for key in keys])


def _build_design(coded: EncodedBattles, differences: NDArray[np.float64]) -> _RegressionDesign:
    # No mean is taken away: exchanging the sides of a battle must only exchange the signs.
    size: NDArray[np.float64] = np.sqrt((differences**2).mean(axis=0))
    used = size > 0
    sides = np.zeros((len(coded), len(coded.models)))
    rows = np.arange(len(coded))
    sides[rows, coded.side_a], sides[rows, coded.side_b] = 1, -1
    return _RegressionDesign(
        np.column_stack([sides, differences[:, used] / size[used]]),
        coded.points,
        coded.question,
        coded.models,
        tuple(name for name, taken in zip(FEATURES, used, strict=True) if taken),
    )


# ---------------------------------------------------------------- the fit


def _fit(
    design: _RegressionDesign, weights: NDArray[np.float64], start: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The parameters at the maximum for each row of weights of the battles: (rows, parameters).

    Newton's method, a step bounded by the largest change of a battle's log-odds. Under the penalty
    a maximum exists wherever plain ratings have one.
    """
    from scipy.sparse import csr_array

    n_models = len(design.models)
    n_all = n_models + len(design.features)
    parameters = np.zeros((len(weights), n_all))
    if start is not None:
        parameters += start
    penalty = np.where(np.arange(n_all) < n_models, 0.0, RIDGE)
    # The likelihood does not change when all ratings move together; this holds their mean.
    ridge = np.diag(penalty)
    ridge[:n_models, :n_models] += len(design.rows) / n_models**2
    first, second = np.triu_indices(n_all)
    # A battle has two models, so nearly all products are 0.
    sparse = csr_array(design.rows)
    products = cast("csr_array", sparse[:, first].multiply(sparse[:, second]).tocsr())
    hessian = np.empty((len(weights), n_all, n_all))
    for _ in range(MAX_NEWTON_STEPS):
        won = _expected_points(parameters, design)
        gradient = (weights * (design.points - won)) @ design.rows - penalty * parameters
        hessian[:, first, second] = hessian[:, second, first] = (
            weights * won * (1 - won)
        ) @ products
        step = solve_rows(hessian + ridge, gradient)
        max_change = np.abs(step @ design.rows.T).max(axis=1, keepdims=True)
        parameters += bounded_step(step, max_change)
        if max_change.max() < _TOLERANCE:
            parameters[:, :n_models] -= parameters[:, :n_models].mean(axis=1, keepdims=True)
            return parameters
    raise AssertionError("Newton's method did not end although a maximum exists")


def _expected_points(
    parameters: NDArray[np.float64], design: _RegressionDesign
) -> NDArray[np.float64]:
    from scipy.special import expit

    return np.asarray(expit(parameters @ design.rows.T), dtype=np.float64)


def _bootstrap(
    design: _RegressionDesign, start: NDArray[np.float64], resamples: int, seed: int
) -> tuple[NDArray[np.float64], int]:
    """The parameters of the resamples that have finite ones, and how many resamples were made."""
    n = int(design.question.max()) + 1
    if n < 2:
        return np.empty((0, len(start))), 0  # one question has no spread
    draws = [np.empty((0, len(start)))]
    for counts in resample_counts(n, resamples, np.random.default_rng(seed)):
        weights = counts[:, design.question]
        kept = weights[_has_finite_maximum(design, weights)]
        at_once = max(1, MAX_CHUNK_ELEMENTS // weights.shape[1])
        for first in range(0, len(kept), at_once):
            draws.append(_fit(design, kept[first : first + at_once], start))
    return np.concatenate(draws), resamples


def _has_finite_maximum(
    design: _RegressionDesign, weights: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which rows of weights hold battles that put all models on one finite scale."""
    size = len(design.models)
    side_a = design.rows[:, :size].argmax(axis=1)
    side_b = design.rows[:, :size].argmin(axis=1)
    edges = np.zeros((len(weights), size, size))
    for row, weight in zip(edges, weights, strict=True):
        np.add.at(row, (side_a, side_b), weight * design.points)
        np.add.at(row, (side_b, side_a), weight * (1 - design.points))
    return is_strongly_connected(edges > 0)
