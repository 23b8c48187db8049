"""Did the model answer in the requested form? Knowledge is measured elsewhere.

All shares are over trials and clustered by question; pass the trials of the original order only
to compare with acc_origin.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.decisions import REFUSED
from evalui.scoring.choice.trial_grid import first_come
from evalui.scoring.statistics.intervals import cluster_codes, clustered_mean_by_code
from evalui.scoring.trial_columns import ABSENT, ReadingColumns, TrialColumns, columns_of
from evalui.types import Interval, Trial

# How far one log-probability moved at most when bfloat16 was computed in batches of another shape
# (a model of half a billion parameters beside lm-evaluation-harness): letters, and whole options.
_LETTER_TOLERANCE, _TEXT_TOLERANCE = 0.07, 0.40
_MOST_DECIMALS, _DIGITS = 4, 1e-9  # a number with more decimals is not rounded; of one, computed


@dataclass(frozen=True, slots=True)
class ReadingMetrics:
    """One reading's accuracy, the share it cannot read, and how many trials it left tied.

    With the unreadable counted as wrong, the true accuracy of what the model meant lies between
    `accuracy.value` and `accuracy.value + unreadable.value`. `rules` counts the rules that fired.
    """

    accuracy: Interval
    unreadable: Interval
    tied: int
    rules: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FormatMetrics:
    """How well the answers could be read, over `n_trials` trials of `n_questions` questions.

    `format_gap` is the share of trials that are right when read tolerantly and not when read
    strictly: form, not knowledge; None unless both readings exist. `mass` is the mean probability
    of all labels together, None without probabilities. `index_hits` answered by number,
    `label_text_conflicts` named one option's letter with another's text. `near_ties` are decided by
    so little log-probability that a computation in bfloat16 may decide them otherwise.
    """

    n_questions: int
    n_trials: int
    readings: Mapping[str, ReadingMetrics]
    format_gap: Interval | None
    mass: float | None
    index_hits: int
    label_text_conflicts: int
    merged_boundaries: int
    truncated: int
    near_ties: int = 0


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """What the `n` decisions of a cell hold; each count is one of trials in any order.

    `refused` declined to answer. `missing` did not, and lack a probability for some option.
    `no_sum` have probabilities that sum to something else than 1. `tied` have several options that
    are equally the most probable. `disagreeing` name an option that is not, or not among, the most
    probable. `truncated` rest on a part of the request, as the server says. `rounded` is the number
    of decimals of all probabilities, None where they have more than four, or there are none.
    """

    n: int
    refused: int
    missing: int
    no_sum: int
    tied: int
    rounded: int | None
    truncated: int
    disagreeing: int


def decision_counts(trials: Sequence[Trial]) -> DecisionCounts:
    """The counts of trials that `decisions.read_decision` has read.

    Raises:
        KeyError: a trial lacks a reading of a decision.
    """
    columns = columns_of(trials)
    forced, named = columns.reading_named("forced"), columns.reading_named("tolerant")
    refused = named.rule == columns.rule_place(REFUSED)
    apart = (named.choice >= 0) & (forced.choice >= 0) & (named.choice != forced.choice)
    chances, places = columns.probabilities, np.maximum(named.choice, 0)
    for rows, values in chances.by_length():
        of_named = np.take_along_axis(values, places[rows, None].astype(np.intp), axis=1)[:, 0]
        tied = forced.tied[rows] & (named.choice[rows] >= 0)
        apart[rows] |= tied & (of_named < values.max(axis=1))
    return DecisionCounts(
        n=len(columns),
        refused=int(refused.sum()),
        missing=int((~columns.has_mass & ~refused).sum()),
        no_sum=int((columns.has_mass & ~chances.present).sum()),
        tied=int(forced.tied.sum()),
        rounded=_decimals(columns),
        truncated=int(columns.truncated.sum()),
        disagreeing=int(apart.sum()),
    )


def format_metrics(
    trials: Sequence[Trial], clusters: Mapping[str, int] | None = None
) -> FormatMetrics:
    """The figures of trials that share their readings; at least one trial.

    `clusters` are those of `cluster_codes`.

    Raises:
        KeyError: a trial lacks a reading that the first one has.
    """
    assert trials, "no trials, no figures"
    columns = columns_of(trials)
    question, names = _questions(columns)
    cluster = cluster_codes(names, clusters)
    read = {
        name: columns.reading_named(name)
        for name, each in columns.readings.items()
        if each.choice[0] != ABSENT
    }
    metrics = {
        name: _reading_metrics(columns, question, each, cluster) for name, each in read.items()
    }
    rules = metrics["tolerant"].rules if "tolerant" in metrics else dict[str, int]()
    masses: list[float] = columns.mass[columns.has_mass].tolist()
    return FormatMetrics(
        n_questions=int(question.max()) + 1,
        n_trials=len(columns),
        readings=metrics,
        # Whatever is read strictly is read tolerantly as the same option: no trial is negative.
        format_gap=clustered_mean_by_code(
            question, read["tolerant"].credit - read["strict"].credit, cluster
        ).interval
        if "tolerant" in read and "strict" in read
        else None,
        mass=sum(masses) / len(masses) if masses else None,
        index_hits=rules.get("index", 0),
        label_text_conflicts=rules.get("label-text-conflict", 0),
        merged_boundaries=int(columns.merged.sum()),
        truncated=int(columns.truncated.sum()),
        near_ties=_near_ties(columns),
    )


def _decimals(columns: TrialColumns) -> int | None:
    """The most decimals that a probability has as it was given; None beyond four."""
    chances = columns.probabilities
    given = chances.values * np.repeat(columns.mass, np.maximum(chances.lengths, 0))
    if not len(given):
        return None
    within = (np.abs(given - np.round(given, n)).max() < _DIGITS for n in range(_MOST_DECIMALS + 1))
    return next((n for n, is_all in enumerate(within) if is_all), None)


def _questions(columns: TrialColumns) -> tuple[NDArray[np.intp], list[str]]:
    """The number of each trial's question, by the names of those that come: (n,); these names."""
    come = np.flatnonzero(np.bincount(columns.sample))
    place = np.zeros(len(columns.ids), dtype=np.intp)
    named = come[np.argsort(np.array(columns.ids)[come])]
    place[named] = np.arange(len(come))
    return place[columns.sample], [columns.ids[code] for code in named.tolist()]


def _near_ties(columns: TrialColumns) -> int:
    """The trials whose best two differ by less than both may sway; equal ones are ties, not near.

    Those with probabilities are judged by them, the others by their scores of whole options.
    """
    shares, raw = columns.probabilities, columns.scores.get("raw")
    with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf, as it should be
        near = sum(
            _count_near(np.log(_best_two(values)), _LETTER_TOLERANCE)
            for _, values in shares.by_length()
        )
    if raw is not None:
        scored = raw.take(~shares.present)
        near += sum(
            _count_near(_best_two(values), _TEXT_TOLERANCE) for _, values in scored.by_length()
        )
    return near


def _best_two(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The second best and the best of each row, shape (n, 2); (0, 2) where rows have one alone."""
    n_options = values.shape[1]
    if n_options < 2:
        return np.zeros((0, 2))
    return np.partition(values, n_options - 2, axis=1)[:, -2:]


def _count_near(best: NDArray[np.float64], sway: float) -> int:
    # Two of -inf have no difference: they are equal.
    with np.errstate(invalid="ignore"):
        apart = best[:, 1] - best[:, 0]
    return int(((apart > 0) & (apart < 2 * sway)).sum())


def _reading_metrics(
    columns: TrialColumns,
    question: NDArray[np.intp],
    read: ReadingColumns,
    cluster: NDArray[np.intp] | None,
) -> ReadingMetrics:
    unreadable = read.unreadable.astype(np.float64)
    return ReadingMetrics(
        accuracy=clustered_mean_by_code(question, read.credit, cluster).interval,
        unreadable=clustered_mean_by_code(question, unreadable, cluster).interval,
        tied=int(read.tied.sum()),
        rules=_count_rules(columns.rules, read.rule),
    )


def _count_rules(names: Sequence[str], rule: NDArray[np.int32]) -> dict[str, int]:
    """How often each rule fired, the most frequent first, then the one that came first."""
    counts: list[int] = np.bincount(rule, minlength=len(names)).tolist()
    come, _ = first_come(rule, len(names))
    places: list[int] = come.tolist()
    return {names[place]: counts[place] for place in sorted(places, key=lambda at: -counts[at])}
