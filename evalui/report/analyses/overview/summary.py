"""One cell of a run in figures: what tables, charts, sentences and files are made from.

Nothing is computed here that belongs into `scoring`; this module asks it the right questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evalui.report.analyses.overview.groups import SubjectGroup, subject_groups
from evalui.scoring.choice.answer_format import FormatMetrics, ReadingMetrics, format_metrics
from evalui.scoring.choice.circular import (
    CircularIntervals,
    circular_intervals,
    circular_metrics,
    count_variants,
)
from evalui.scoring.choice.strata import strata
from evalui.scoring.choice.trial_grid import TrialGrid, trial_grids
from evalui.scoring.position_bias.counts import PositionTable
from evalui.scoring.position_bias.pride import slot_prior
from evalui.scoring.position_bias.significance import N_DRAWS
from evalui.scoring.position_bias.summary import CellBias, StratumBias, measure_bias
from evalui.scoring.statistics.bootstrap import mean_intervals
from evalui.scoring.statistics.intervals import ClusteredMean, beats_guessing
from evalui.types import Cell, CellResult, CellState, Interval, Pattern, Trial

Measure = Literal["accuracy", "robust", "mean_over_orders"]
Outcomes = Mapping[Measure, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one cell; what rests on no answer at all is None or empty.

    `done` of `total` planned trials are in. `n` questions were answered in the order as written:
    `accuracy` is theirs, `chance` what guessing gives on them, `readings` compares the rules on
    them. The next figures rest on the questions shown in every order: `robust` right in every
    order (guessing gives `chance_robust`), `circular` the mean over orders, `order_sensitivity`
    right as written but not in every order, `only_as_written` how many those are and
    `lost_with_order` their share of the questions right as written.

    `unreadable` and `ties` count trials in any order, `unreadable_origin` those in the order as
    written; `readable` is the share that could be read and `format` holds more of that kind.
    `metrics` are OpenCompass's figures in percent under its names, `positions` has a table per
    number of options (none if options were not shown), `groups` is empty for a single subject.
    `questions` are in the dataset.
    """

    cell: Cell
    state: CellState
    error: str
    questions: int
    done: int
    total: int
    n: int = 0
    accuracy: Interval | None = None
    chance: float | None = None
    readings: Mapping[str, ReadingMetrics] = field(default_factory=dict[str, ReadingMetrics])
    robust: Interval | None = None
    chance_robust: float | None = None
    circular: Interval | None = None
    order_sensitivity: Interval | None = None
    only_as_written: int = 0
    lost_with_order: float | None = None
    readable: Interval | None = None
    unreadable: int = 0
    unreadable_origin: int = 0
    ties: int = 0
    format: FormatMetrics | None = None
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    incomplete: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    positions: tuple[PositionTable, ...] = ()
    groups: tuple[SubjectGroup, ...] = ()
    duplicates: tuple[str, ...] = ()
    bias: CellBias | None = None
    clustered: ClusteredMean | None = None
    priors: Mapping[int, tuple[Interval, ...]] = field(
        default_factory=dict[int, tuple[Interval, ...]]
    )
    outcomes: Outcomes = field(default_factory=dict[Measure, Mapping[str, float]])

    @property
    def main_positions(self) -> PositionTable | None:
        """The table of the number of options that most answers had."""
        return max(self.positions, key=lambda table: table.n_trials, default=None)

    @property
    def main_bias(self) -> StratumBias | None:
        """The bias figures of the number of options that most questions have."""
        return self.bias.largest_stratum if self.bias else None

    @property
    def above_chance(self) -> bool:
        """Whether the accuracy as written is known to be better than guessing."""
        accuracy, chance = self.accuracy, self.chance
        return accuracy is not None and chance is not None and beats_guessing(accuracy, chance)

    def bias_of(self, n_options: int) -> StratumBias | None:
        """The bias figures of the questions with so many options."""
        strata = self.bias.strata if self.bias else ()
        return next((stratum for stratum in strata if stratum.n_options == n_options), None)


def summarise(result: CellResult) -> Summary:
    """All figures of one cell, from the trials that are in.

    Permutation tests and bootstraps (a second for 13 000 questions in four orders) wait until the
    cell is no longer at work: before, every answer would have them done again.
    """
    cell, trials, pattern = result.cell, result.trials, result.cell.pattern
    summary = Summary(
        cell, result.state, result.error, len(result.samples), len(trials), result.total
    )
    if not trials:
        return summary
    origin = [trial for trial in trials if trial.variant.is_origin]
    intervals, metrics, every = (
        circular_intervals(trials, pattern),
        circular_metrics(trials, pattern),
        format_metrics(trials),
    )
    biased = _bias(result)
    positions = tuple(stratum.position for stratum in biased.strata) if biased else ()
    return replace(
        summary,
        n=metrics.n_origin,
        accuracy=intervals.origin,
        chance=_chance(origin),
        readings=format_metrics(origin).readings if origin else {},
        robust=intervals.perf,
        chance_robust=_chance_robust(positions, pattern),
        circular=intervals.accuracy and intervals.accuracy.interval,
        order_sensitivity=intervals.gap,
        only_as_written=round(intervals.gap.value * intervals.gap.n) if intervals.gap else 0,
        lost_with_order=_lost(intervals),
        readable=readable_share(every.readings[trials[0].headline].unreadable),
        unreadable=sum(trial.unreadable for trial in trials),
        unreadable_origin=sum(trial.unreadable for trial in origin),
        ties=sum(trial.reading.tied for trial in trials),
        format=every,
        metrics=metrics.values,
        incomplete=metrics.incomplete,
        naming=metrics.naming,
        positions=positions,
        groups=subject_groups(result.samples, trials, pattern),
        duplicates=metrics.duplicates,
        bias=biased,
        clustered=intervals.accuracy,
        priors=_priors(result),
        outcomes=outcomes(trials, pattern),
    )


def pair_summary(result: CellResult) -> Summary:
    """No more of a summary than pairs need: all its figures would take seconds."""
    trials = result.trials
    return Summary(
        cell=result.cell,
        state=result.state,
        error=result.error,
        questions=len(result.samples),
        done=len(trials),
        total=result.total,
        accuracy=circular_intervals(trials, "origin").origin if trials else None,
        chance=_chance([trial for trial in trials if trial.variant.is_origin]),
        outcomes=outcomes(trials, result.cell.pattern),
    )


def outcomes(trials: Sequence[Trial], pattern: Pattern) -> Outcomes:
    """The value of each question under each measure that has any, as `Summary.outcomes`."""
    tables = trial_grids(trials, pattern)
    values: dict[Measure, dict[str, float]] = {"accuracy": _credits_as_written(tables)}
    if pattern == "origin":
        return values
    for table in tables:
        moved = table.subset(table.reorderable)
        means = zip(moved.ids.tolist(), moved.credit.mean(axis=1).tolist(), strict=True)
        every = zip(moved.ids.tolist(), (moved.credit == 1).all(axis=1).tolist(), strict=True)
        values.setdefault("robust", {}).update((name, float(right)) for name, right in every)
        values.setdefault("mean_over_orders", {}).update(means)
    return values


def _chance(origin: Sequence[Trial]) -> float | None:
    """What guessing gives on the questions in the order as written."""
    return fmean(1 / len(trial.variant.permutation) for trial in origin) if origin else None


def _credits_as_written(tables: Sequence[TrialGrid]) -> dict[str, float]:
    return {
        name: credit
        for table in tables
        for name, credit, known in zip(
            table.ids.tolist(),
            table.credit[:, 0].tolist(),
            table.present[:, 0].tolist(),
            strict=True,
        )
        if known
    }


def _bias(result: CellResult) -> CellBias | None:
    # Where the options were scored one by one, none was shown and no position was chosen.
    if result.trials[0].scores:
        return None
    return measure_bias(
        result.trials, result.cell.pattern, draws=0 if is_unfinished(result) else N_DRAWS
    )


def is_unfinished(result: "CellResult | Summary") -> bool:
    """Whether more answers are to come."""
    return result.state in ("waiting", "running")


def _priors(result: CellResult) -> dict[int, tuple[Interval, ...]]:
    """PriDe's prior with the range of its mean over questions, where there are probabilities."""
    if (
        result.cell.pattern == "origin"
        or not result.trials[0].probabilities
        or is_unfinished(result)
    ):
        return {}
    return {
        stratum.n_options: tuple(mean_intervals(_by_question(stratum.probabilities)))
        for stratum in strata(result.trials, result.cell.pattern)
        if stratum.probabilities is not None
    }


def _by_question(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The prior that each question alone would give, shape (n, K); their mean is that of all."""
    # With the questions as a further axis between orders and slots, the mean is over one of one.
    return slot_prior(chances.transpose(1, 0, 2)[None])


def _chance_robust(positions: Sequence[PositionTable], pattern: Pattern) -> float | None:
    if pattern == "origin" or not positions:
        return None
    guessed = [
        table.n_questions * table.chance ** count_variants(table.n_options, pattern)
        for table in positions
    ]
    return sum(guessed) / sum(table.n_questions for table in positions)


def _lost(intervals: CircularIntervals) -> float | None:
    if intervals.gap is None or intervals.perf is None:
        return None
    right = (
        intervals.gap.value + intervals.perf.value
    )  # who is right in every order is so as written
    return intervals.gap.value / right if right else None


def readable_share(unreadable: Interval) -> Interval:
    """The share of readable answers, from that of unreadable ones."""
    return Interval(1 - unreadable.value, 1 - unreadable.high, 1 - unreadable.low, unreadable.n)
