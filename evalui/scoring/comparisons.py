"""Models against each other, question by question, and the ranks that follow.

Cells are compared within one dataset and mode, over the questions both answered. Everything is
worked out from summaries; the tests are those of `scoring.statistics.tests`.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalui.proportions import wilson_interval
from evalui.scoring.calibration import confidence_and_credit
from evalui.scoring.cell_summary import Measure, Summary
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.pairs import differing_settings, incompatibilities
from evalui.scoring.statistics.intervals import (
    INTERVAL_PERCENTILES,
    RESAMPLES,
    cluster_codes,
    resample_counts,
)
from evalui.scoring.statistics.tests import (
    McNemar,
    PairedTTest,
    RankBand,
    holm,
    mcnemar,
    minimum_detectable_difference,
    paired_t_tests,
    rank_bands,
)
from evalui.scoring.trial_columns import columns_of
from evalui.types import Cell, CellResult, Interval

COVERAGES = (0.5, 0.7, 0.8, 0.9, 1.0)  # at which two models are compared
_LEVEL = 0.05

MEASURES: tuple[Measure, ...] = ("robust", "accuracy", "mean_over_orders")
Unranked = Literal["guessing", "baseline"]
PairFinding = Literal["guessing", "same", "steady", "apart", "level"]


@dataclass(frozen=True, slots=True)
class CellComparison:
    """Two cells on the questions both answered; `first` has the higher mean.

    `paired` is the paired difference of question means with its t interval, `adjusted` its p-value
    after Holm's correction for the pairs shown together. `mcnemar` is McNemar's test, None for the
    mean over orders, which is not right or wrong. `detectable` is a planning figure: the smallest
    true difference that these questions find with 80 % power, None where all differences are
    equal. `first_at_chance`: the accuracy of the first is not known to be better than guessing.
    `figures` are the shares of both on these questions, as tables show them.
    """

    first: Cell
    second: Cell
    measure: Measure
    paired: PairedTTest
    adjusted: float
    mcnemar: McNemar | None
    detectable: float | None
    first_at_chance: bool = False
    second_at_chance: bool = False
    figures: tuple[Interval, Interval] | None = None

    @property
    def n(self) -> int:
        """The questions both answered."""
        return self.paired.n

    @property
    def significant(self) -> bool:
        """Whether the difference is significant, whatever the models know."""
        return self.paired.difference != 0 and self.adjusted < _LEVEL

    @property
    def finding(self) -> PairFinding:
        """The one verdict from which every sentence about the two follows.

        "apart" and "steady" are wins, the latter by the same difference on every question.
        "guessing": both are no better than guessing, or the one that is ahead is not, so that
        neither wins whatever the test says. "level": the difference is not significant.
        """
        if (
            self.leader_at_chance
            if self.significant
            else self.first_at_chance and self.second_at_chance
        ):
            return "guessing"
        if self.significant:
            return "steady" if self.paired.all_equal else "apart"
        return "same" if self.paired.all_equal and not self.paired.difference else "level"

    @property
    def leader(self) -> Cell:
        """The one with the higher mean; of equal ones the first."""
        return self.first if self.paired.difference >= 0 else self.second

    def opponent_of(self, model: str) -> str:
        """The other of the two models."""
        return self.second.model if self.first.model == model else self.first.model

    @property
    def leader_at_chance(self) -> bool:
        """Whether the one with the higher mean is no better than guessing."""
        return self.first_at_chance if self.leader is self.first else self.second_at_chance

    @property
    def settings(self) -> str:
        """In which settings the two were asked otherwise, see `differing_settings`."""
        return differing_settings(self.first, self.second)

    @property
    def has_winner(self) -> bool:
        """Whether one of the two is reported to beat the other."""
        return self.finding in ("apart", "steady")

    @property
    def undetected_difference(self) -> float | None:
        """`detectable` where a difference may have been missed: None for a significant pair."""
        return self.detectable if self.finding == "level" else None

    @property
    def ends(self) -> tuple[float, float, float]:
        """How far the difference reaches on an axis: its range, and what may have been missed."""
        return (self.paired.low, self.paired.high, self.undetected_difference or 0.0)


@dataclass(frozen=True, slots=True)
class IncomparablePair:
    """Two cells that are not compared, and what differs: see `pairs.incompatibilities`.

    `differences` is empty where they share fewer than two questions.
    """

    first: Cell
    second: Cell
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparisonSet:
    """All pairs of one dataset and mode under one measure, in the order of the run.

    `ranks` are the ranks of the cells that can be ranked, best first, named by model; `unranked`
    states why the others have none. No cell has a rank if some cannot be compared. Ranks follow
    from the verdicts on the pairs.
    """

    dataset: str
    label: str
    measure: Measure
    pairs: tuple[CellComparison, ...]
    incomparable: tuple[IncomparablePair, ...]
    ranks: tuple[RankBand, ...]
    unranked: Mapping[Cell, Unranked]

    @property
    def n(self) -> int:
        """The most questions that a pair has in common."""
        return max((pair.n for pair in self.pairs), default=0)

    def rank_of(self, model: str) -> RankBand | None:
        """The rank of a model, None if it has none."""
        return next((place for place in self.ranks if place.name == model), None)


@dataclass(frozen=True, slots=True)
class EqualCoverage:
    """Two models, a and b, that each act on the surest `coverage` of the `n` questions of both.

    `threshold_a` is the confidence that a acts upon at least, `right_a` the share of right answers
    among those that it acts upon. `difference` is that of a minus that of b, from `low` to `high`
    the 95 % percentiles of the bootstrap over questions, or clusters of them, in which each model
    chooses its surest answers anew. `p` is twice the share of resamples on the rarer side of 0,
    the observed one being among them, `adjusted` the same corrected for all coverages (Holm).
    """

    coverage: float
    threshold_a: float
    threshold_b: float
    right_a: float
    right_b: float
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    n: int


def comparisons(
    summaries: Sequence[Summary],
    measure: Measure | None = None,
    *,
    baselines: Collection[str] = (),
) -> tuple[ComparisonSet, ...]:
    """A comparison for each dataset and mode that two or more models of a run answered.

    `measure` None takes the one of `main_measure`.
    Scripted `baselines` are compared, but take no rank beside real models.
    """
    real = any(summary.cell.model not in baselines for summary in summaries)
    scripted = frozenset(baselines) if real else frozenset[str]()
    return tuple(
        _comparison_set(group, measure or main_measure(group), scripted)
        for group in comparable_cells(summaries)
    )


def comparable_cells(summaries: Sequence[Summary]) -> list[list[Summary]]:
    """The answered cells of each dataset and mode that two or more models of a run answered."""
    together: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        if summary.accuracy:
            together.setdefault((summary.cell.dataset, summary.cell.label), []).append(summary)
    return [group for group in together.values() if len(group) > 1]


def main_measure(summaries: Sequence[Summary]) -> Measure:
    """What models are ranked by: the robust accuracy if all have one, or the mean over orders.

    Where replies are drawn, the repeats of one order are not all right either: to ask for every
    order would call that an effect of order.
    """
    if not summaries or not all(summary.robust for summary in summaries):
        return "accuracy"
    return "mean_over_orders" if any(summary.sampled for summary in summaries) else "robust"


def compare_cells(
    one: Summary, other: Summary, measure: Measure
) -> CellComparison | IncomparablePair:
    """Two cells under one measure, without a correction for other pairs."""
    return compare_pairs((one, other), measure)[0]


def compare_pairs(
    summaries: Sequence[Summary], measure: Measure
) -> tuple[CellComparison | IncomparablePair, ...]:
    """Every two cells under one measure, with p-values adjusted for the number of pairs.

    A cell is tested at once against all that follow and have its questions.
    """
    values = [summary.outcomes.get(measure, {}) for summary in summaries]
    shares = [np.fromiter(each.values(), np.float64, len(each)) for each in values]
    known: dict[tuple[str, ...], int] = {}
    sets = [known.setdefault(tuple(each), len(known)) for each in values]
    made: list[_Tested | IncomparablePair] = []
    for place, one in enumerate(summaries):
        later = range(place + 1, len(summaries))
        alike = [at for at in later if sets[at] == sets[place] and len(shares[at]) > 1]
        marked = _has_marks(measure, [one, *(summaries[at] for at in alike)])
        cluster = cluster_codes([*values[place]], one.clusters)
        tested = _tests(shares[place], [shares[at] for at in alike], cluster, marked=marked)
        at_once = dict(zip(alike, tested, strict=bool(tested)))
        for at in later:
            other = summaries[at]
            if at not in at_once or incompatibilities(one.cell, other.cell):
                made.append(_test(one, other, measure))
            else:
                paired, table, behind = at_once[at]
                first, second = (other, one) if behind else (one, other)
                made.append(_Tested(first, second, paired, table))
    adjusted = iter(holm([each.paired.p for each in made if isinstance(each, _Tested)]))
    return tuple(
        _compared(each, measure, next(adjusted)) if isinstance(each, _Tested) else each
        for each in made
    )


def shared_measures(summaries: Sequence[Summary]) -> tuple[Measure, ...]:
    """The measures that all cells have, the one to rank by first."""
    shared: list[Measure] = [
        each for each in MEASURES if all(s.outcomes.get(each) for s in summaries)
    ]
    if "mean_over_orders" in shared and any(summary.sampled for summary in summaries):
        shared.sort(key=lambda each: each != "mean_over_orders")
    return tuple(shared)


def at_equal_coverage(
    a: CellResult,
    b: CellResult,
    coverages: Sequence[float] = COVERAGES,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[EqualCoverage, ...]:
    """Two cells on the questions for which both have probabilities, in the order as written.

    Thresholds of two models mean nothing beside each other: one is surer than the other of
    everything. Of equally sure answers at the cut, as many as are missing count, at their mean:
    what a random choice among them gives on average. `coverages` are above 0 and at most 1. () of
    fewer than two questions, or clusters.
    """
    answers = [_sure_answers(each) for each in (a, b)]
    shared = sorted(answers[0].keys() & answers[1].keys())
    if len(shared) < 2:
        return ()
    codes = cluster_codes(shared, CellTrials.of(a).clusters)
    unit = np.arange(len(shared)) if codes is None else codes
    if not unit.any():
        return ()
    models = [_Surest.of(np.array([own[name] for name in shared])) for own in answers]
    wanted = np.asarray(coverages, dtype=np.float64)
    once = np.ones((1, len(shared)))
    seen = [each.right(once, wanted)[0] for each in models]
    drawn = np.concatenate(
        [
            models[0].right(counts[:, unit], wanted) - models[1].right(counts[:, unit], wanted)
            for counts in resample_counts(
                int(unit.max()) + 1, resamples, np.random.default_rng(seed)
            )
        ]
    )
    lows, highs = np.percentile(drawn, INTERVAL_PERCENTILES, axis=0).tolist()
    rarer = np.minimum((drawn <= 0).sum(axis=0), (drawn >= 0).sum(axis=0))
    p: list[float] = np.minimum(1.0, 2 * (1 + rarer) / (1 + resamples)).tolist()
    rows = zip(coverages, *seen, lows, highs, p, holm(p), strict=True)
    return tuple(
        EqualCoverage(
            coverage,
            models[0].threshold(coverage),
            models[1].threshold(coverage),
            float(one),
            float(other),
            float(one - other),
            low,
            high,
            own,
            adjusted,
            len(shared),
        )
        for coverage, one, other, low, high, own, adjusted in rows
    )


@dataclass(frozen=True, slots=True)
class _Surest:
    """The answers of one model, the surest first; arrays of shape (n,).

    `order` are their places among the shared questions, `starts` where each confidence begins.
    """

    order: NDArray[np.intp]
    confidence: NDArray[np.float64]
    credit: NDArray[np.float64]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, answers: NDArray[np.float64]) -> "_Surest":
        """From confidences and credits, (n, 2)."""
        order = np.argsort(-answers[:, 0], kind="stable")
        confidence, credit = answers[order].T
        starts = np.flatnonzero(np.diff(confidence, prepend=np.inf))
        return cls(order, confidence, credit, starts)

    def threshold(self, coverage: float) -> float:
        """The confidence at the cut."""
        n = len(self.credit)
        return float(self.confidence[min(n - 1, max(0, math.ceil(coverage * n - 1e-9) - 1))])

    def right(
        self, counts: NDArray[np.float64], coverages: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The shares of right answers at each coverage where each question comes so often.

        `counts` by shared question, (rows, n); the result has the shape (rows, coverages).
        """
        drawn = counts[:, self.order]
        groups = np.add.reduceat(drawn, self.starts, axis=1)
        right = np.add.reduceat(drawn * self.credit, self.starts, axis=1)
        ends, sums = np.cumsum(groups, axis=1), np.cumsum(right, axis=1)
        wanted = coverages * ends[:, -1:]
        # The group at the cut is the first that ends there or after it, but for rounding.
        at = np.stack([(ends < each - 1e-9).sum(axis=1) for each in wanted.T[:, :, None]], axis=1)
        size, own, end, total = (
            np.take_along_axis(each, at, axis=1) for each in (groups, right, ends, sums)
        )
        return (total - own * (end - wanted) / size) / wanted


def _sure_answers(result: CellResult) -> dict[str, tuple[float, float]]:
    """The confidence and the credit of each question in the order as written, by its id."""
    columns = columns_of(result.trials)
    first = columns.take(columns.is_origin & (columns.repeat == 0))
    made: dict[str, tuple[float, float]] = {}
    for rows, chances in first.probabilities.by_length():
        confidence, credit = confidence_and_credit(chances, first.target[rows])
        codes: list[int] = first.sample[rows].tolist()
        names = [first.ids[code] for code in codes]
        made |= zip(names, zip(confidence.tolist(), credit.tolist(), strict=True), strict=True)
    return made


def _comparison_set(
    summaries: Sequence[Summary], measure: Measure, scripted: Collection[str]
) -> ComparisonSet:
    made = compare_pairs(summaries, measure)
    tested = tuple(each for each in made if isinstance(each, CellComparison))
    refused = tuple(each for each in made if isinstance(each, IncomparablePair))
    contenders = [s for s in summaries if s.cell.model not in scripted]
    without: dict[Cell, Unranked] = {s.cell: "guessing" for s in contenders if not s.above_chance}
    without |= {s.cell: "baseline" for s in summaries if s.cell.model in scripted}
    won = {(each.first.model, each.second.model) for each in tested if each.has_winner}
    ranked = [s for s in summaries if s.cell not in without]
    if refused or len(contenders) < 2:
        ranked = []  # one model alone has no rank, whatever scripts stand beside it
    return ComparisonSet(
        dataset=summaries[0].cell.dataset,
        label=summaries[0].cell.label,
        measure=measure,
        pairs=tested,
        incomparable=refused,
        ranks=rank_bands({s.cell.model: s.outcomes.get(measure, {}) for s in ranked}, won),
        unranked=without,
    )


class _Tested(NamedTuple):
    """Two cells and their tests; the first has the higher mean."""

    first: Summary
    second: Summary
    paired: PairedTTest
    mcnemar: McNemar | None


def _test(one: Summary, other: Summary, measure: Measure) -> _Tested | IncomparablePair:
    parts = incompatibilities(one.cell, other.cell)
    if parts:
        return IncomparablePair(one.cell, other.cell, tuple(parts.split(", ")))
    first, second = one.outcomes.get(measure, {}), other.outcomes.get(measure, {})
    shared = [name for name in first if name in second]
    if len(shared) < 2:
        return IncomparablePair(one.cell, other.cell, ())
    mine, theirs = (np.array([own[name] for name in shared]) for own in (first, second))
    cluster, marked = cluster_codes(shared, one.clusters), _has_marks(measure, (one, other))
    tested = _tests(mine, [theirs], cluster, marked=marked)
    if not tested:
        return IncomparablePair(one.cell, other.cell, ())
    ((paired, table, behind),) = tested
    return _test(other, one, measure) if behind else _Tested(one, other, paired, table)


def _has_marks(measure: Measure, cells: Iterable[Summary]) -> bool:
    """Whether questions are right or wrong, each for itself.

    A mean over orders or over repeats is a share, and so is that of a cluster.
    """
    return measure != "mean_over_orders" and all(
        cell.n_repeats == 1 and not cell.clusters for cell in cells
    )


def _tests(
    first: NDArray[np.float64],
    others: Sequence[NDArray[np.float64]],
    cluster: NDArray[np.intp] | None,
    *,
    marked: bool,
) -> list[tuple[PairedTTest, McNemar | None, bool]]:
    """The tests of one cell beside each of the others on the same questions; arrays of shape (n,).

    With whether the other has the higher mean: the tests are then of the other beside the first.
    None where there are fewer than two questions, or clusters of them.
    """
    if not others or (cluster is not None and not cluster.any()):
        return []
    stacked = np.stack(others)
    behind = (first - stacked).mean(axis=1) < 0
    better, worse = (np.where(each[:, None], stacked, first) for each in (behind, ~behind))
    tables = mcnemar(better == 1, worse == 1) if marked else [None] * len(others)
    tests = paired_t_tests(better - worse, cluster)
    return list(zip(tests, tables, behind.tolist(), strict=True))


def _compared(tested: _Tested, measure: Measure, adjusted: float) -> CellComparison:
    first, second, paired, table = tested
    least = minimum_detectable_difference(paired.omega, paired.n) if paired.omega else None
    return CellComparison(
        first.cell,
        second.cell,
        measure,
        paired,
        adjusted,
        mcnemar=table,
        detectable=least,
        first_at_chance=not first.above_chance,
        second_at_chance=not second.above_chance,
        figures=_figures(first, second, measure, paired),
    )


def _figures(
    first: Summary, second: Summary, measure: Measure, paired: PairedTTest
) -> tuple[Interval, Interval]:
    """The figures of both cells, or those of the questions that both answered."""
    one, other = first.share(measure), second.share(measure)
    if one and other and abs(one.value - other.value - paired.difference) < 1e-9:
        return one, other
    values = [each.outcomes.get(measure, {}) for each in (first, second)]
    shared = values[0].keys() & values[1].keys()
    mine, theirs = (sum(own[name] for name in shared) for own in values)
    return wilson_interval(mine, paired.n), wilson_interval(theirs, paired.n)
