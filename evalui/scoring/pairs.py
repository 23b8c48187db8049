"""Two models compared in any metric, on the questions both answered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.cell_trials import (
    CellTrials,
    by_dataset_and_mode,
    question_clusters,
    scores_by_question,
)
from evalui.scoring.metrics import Metric, can_compute, question_values
from evalui.scoring.repeats import QuestionValues
from evalui.scoring.statistics.intervals import cluster_codes, t_quantile
from evalui.scoring.statistics.tests import PairedTTest, holm, paired_t_test
from evalui.scoring.trial_columns import TrialColumns, columns_of
from evalui.types import Cell, CellResult, Interval, signature_parts

# Of a signature: which questions and their clusters, which model, and what writes the line.
_NO_SETTINGS = frozenset(
    ("n", "limit", "duplicate-options", "cluster", "answers", "model", "fp32", "evalui")
)
_COMPARED_PARTS = ("dataset", "mode", "prompt", "rule", "spell", "shots", "orders", "n", "un")
_GROUPS = 20  # of questions, each of which is left out once
LEVEL = 0.05  # of the tests of pairs, corrected for the number of pairs
_SAME = 1e-12  # sums in another order may differ in the last digits
_Valued = tuple[CellResult, QuestionValues | None]  # with the value of each question, of means


@dataclass(frozen=True, slots=True)
class MetricPair:
    """How far `metric` of one model lies above that of another, in the unit of the metric.

    `low` to `high` is the 95 % range over the `n` questions both have, `p` is adjusted for the
    number of pairs (Holm).
    """

    first: str
    second: str
    metric: str
    value: float
    low: float
    high: float
    p: float
    n: int

    @property
    def is_significant(self) -> bool:
        """Whether the test says that one is ahead; the one place that decides it."""
        return self.p < LEVEL


@dataclass(frozen=True, slots=True)
class AnswerPair(MetricPair):
    """The same of written answers to a dataset in a text figure, whose unit is a share in 0..1."""

    dataset: str = ""
    signature: str = ""


_Pair = TypeVar("_Pair", bound=MetricPair)


def incompatibilities(one: Cell, other: Cell) -> str:
    """What forbids to compare two cells, "" if nothing does: names joined by ", ".

    Of dataset (name or contents), mode, prompt (template), rule (reading), spell (spellings of a
    letter), shots, orders (pattern), n (number of questions) and un (unconditional context), from
    the signatures.
    """
    parts = _compared_parts(one), _compared_parts(other)
    if parts[0] == parts[1]:
        return ""
    both = zip(_COMPARED_PARTS, *parts, strict=True)
    return ", ".join(name for name, mine, theirs in both if mine != theirs)


def differing_settings(one: Cell, other: Cell) -> str:
    """In which settings two cells were asked otherwise, "" if in none: "shots:0/2, top_p:–/0.9".

    Read from the signatures; "–" is what one does not state, most often because it is as usual. How
    answers were asked that somebody brought along is not known.
    """
    mine, theirs = (
        {
            name: value
            for name, value in signature_parts(each.signature).items()
            if name not in _NO_SETTINGS
        }
        for each in (one, other)
    )
    if "recorded" in (mine.get("prompt"), theirs.get("prompt")):
        return ""
    return ", ".join(
        f"{name}:{mine.get(name, '–')}/{theirs.get(name, '–')}"
        for name in mine | theirs
        if mine.get(name) != theirs.get(name)
    )


def compare_metric(results: Sequence[CellResult], metric: Metric) -> tuple[MetricPair, ...]:
    """Every two of the cells of one dataset and mode; none where a cell lacks the metric.

    A metric that is a mean over questions is compared by the paired t test, any other by a
    jackknife over groups of questions: the whole metric is computed without each of them in turn,
    from the same questions of both (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993,
    chapter 11). That is right for means, ratios and sums of them, also of groups, and not for a
    median.
    """
    valued = [
        (result, question_values(metric, CellTrials.of(result)))
        for result in results
        if result.trials
    ]
    clusters = question_clusters(results[0].samples) if valued else {}
    pairs = [
        pair
        for first, second in combinations(valued, 2)
        if (pair := _compare(first, second, metric, clusters))
    ]
    return _adjusted(pairs)


def decided_pairs(pairs: Sequence[MetricPair], metric: Metric) -> Iterator[tuple[str, str]]:
    """The pairs (better, worse) that the test tells apart; none where no value is better."""
    for pair in pairs:
        if pair.is_significant and metric.direction != "none":
            ahead = (pair.value > 0) == (metric.direction == "higher")
            yield (pair.first, pair.second) if ahead else (pair.second, pair.first)


def compare_answers(results: Sequence[CellResult], figure: str) -> tuple[AnswerPair, ...]:
    """Every two models of each dataset compared in one text figure, on the questions both have.

    By the paired t test of question means.
    """
    return tuple(
        pair for group in answer_groups(results) for pair in pairs_of_answers(group, figure)
    )


def answer_groups(results: Sequence[CellResult]) -> list[list[CellResult]]:
    """The cells of written answers that are compared with each other, in the order of the run."""
    return by_dataset_and_mode(one for one in results if one.cell.gives == "answers")


@lru_cache(maxsize=4096)
def _compared_parts(cell: Cell) -> tuple[str | None, ...]:
    stated = signature_parts(cell.signature) | {"dataset": cell.signature.partition("|")[0]}
    return tuple(map(({"mode": cell.mode, "orders": cell.pattern} | stated).get, _COMPARED_PARTS))


def _compare(
    first: _Valued, second: _Valued, metric: Metric, clusters: Mapping[str, int]
) -> MetricPair | None:
    """Two cells, without a correction for other pairs."""
    (one, mine), (other, theirs) = first, second
    if mine is None or theirs is None:
        return _jackknife(one, other, metric, clusters)
    tested = paired_t_test(mine, theirs, clusters)
    models = one.cell.model, other.cell.model
    return tested and MetricPair(*models, metric.name, *_numbers(tested))


def _numbers(tested: PairedTTest) -> tuple[float, float, float, float, int]:
    """The value of a pair with its range, p-value and n."""
    return tested.difference, tested.low, tested.high, tested.p, tested.n


def _adjusted(pairs: Sequence[_Pair]) -> tuple[_Pair, ...]:
    """The same with p-values for so many of them."""
    adjusted = holm([pair.p for pair in pairs])
    return tuple(replace(pair, p=p) for pair, p in zip(pairs, adjusted, strict=True))


def pairs_of_answers(group: Sequence[CellResult], figure: str) -> tuple[AnswerPair, ...]:
    """Every two of some cells of written answers to the same questions, in one text figure."""
    values = {result.cell: scores_by_question(result.trials, figure) for result in group}
    clusters = question_clusters(group[0].samples)
    return _adjusted(
        [
            AnswerPair(
                *(first.model, second.model, figure, *_numbers(tested)),
                dataset=first.dataset,
                signature=f"{first.signature} + {second.signature}",
            )
            for first, second in combinations(values, 2)
            if (tested := paired_t_test(values[first], values[second], clusters))
        ]
    )


def _jackknife(
    first: CellResult, second: CellResult, metric: Metric, clusters: Mapping[str, int]
) -> MetricPair | None:
    columns = columns_of(first.trials), columns_of(second.trials)
    both = columns[0].question_ids & columns[1].question_ids
    shared = [name for name in first.samples if name in both]
    if len(shared) < 2:
        return None
    codes = cluster_codes(shared, clusters)
    unit = np.arange(len(shared)) if codes is None else codes
    n_units = int(unit.max()) + 1
    n_groups = min(_GROUPS, n_units)
    if n_groups < 2:
        return None
    # By chance: questions of a file often follow each other in a pattern. Clusters stay together.
    places = np.random.default_rng(0).permutation(n_units)[unit].tolist()
    group_of = {name: place % n_groups for name, place in zip(shared, places, strict=True)}
    groups = [_groups(own, group_of) for own in columns]
    differences: list[float] = []
    for left_out in range(-1, n_groups):  # -1: nothing is
        values = [
            _value(result, own.take((group >= 0) & (group != left_out)), metric)
            for result, own, group in zip((first, second), columns, groups, strict=True)
        ]
        if values[0] is None or values[1] is None:
            return None
        differences.append(values[0] - values[1])
    value, without = differences[0], np.array(differences[1:])
    spread = float(((without - without.mean()) ** 2).sum()) * (n_groups - 1) / n_groups
    low, high, p = _tested(value, spread**0.5, n_groups - 1)
    models = first.cell.model, second.cell.model
    return MetricPair(*models, metric.name, value, low, high, p, len(shared))


def _groups(columns: TrialColumns, group_of: Mapping[str, int]) -> NDArray[np.intp]:
    """The group of each trial's question; -1 where only one model has it."""
    return np.array([group_of.get(name, -1) for name in columns.ids], dtype=np.intp)[columns.sample]


def _value(result: CellResult, columns: TrialColumns, metric: Metric) -> float | None:
    if not len(columns):
        return None
    cell = CellTrials.of(result, columns)
    figure = metric.compute(cell) if can_compute(metric, cell) else None
    return figure.value if isinstance(figure, Interval) else figure


def _tested(value: float, se: float, degrees: int) -> tuple[float, float, float]:
    """The range of Student's t, and its p-value.

    Where all groups of questions say the same, the p-value is that of a sign test on them.
    """
    from scipy.special import stdtr

    if se < _SAME:
        return value, value, 1.0 if abs(value) < _SAME else 2.0**-degrees
    half = t_quantile(degrees) * se
    return value - half, value + half, 2 * float(stdtr(degrees, -abs(value) / se))
