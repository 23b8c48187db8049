"""One cell of a run in figures: what tables, charts, sentences and files are made from.

Nothing is computed here that belongs into `scoring`; this module asks it the right questions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from evalui.report.analyses.overview.groups import SubjectGroup, subject_groups
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.choice.answer_format import FormatMetrics, ReadingMetrics, format_metrics
from evalui.scoring.choice.circular import (
    CircularIntervals,
    Measure,
    Outcomes,
)
from evalui.scoring.choice.trial_grid import strata
from evalui.scoring.metrics import Figure, compute_figures
from evalui.scoring.position_bias.counts import PositionTable
from evalui.scoring.position_bias.pride import slot_prior
from evalui.scoring.position_bias.significance import N_DRAWS
from evalui.scoring.position_bias.summary import CellBias, StratumBias, measure_bias
from evalui.scoring.statistics.intervals import ClusteredMean, beats_guessing, mean_intervals
from evalui.types import Cell, CellResult, CellState, Interval


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
    `questions` are in the dataset. `figures` has every registered metric of chosen options by name.
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
    figures: Mapping[str, Figure] = field(default_factory=dict[str, Figure])

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
        cell=cell,
        state=result.state,
        error=result.error,
        questions=len(result.samples),
        done=len(trials),
        total=result.total,
    )
    if not trials:
        return replace(summary, figures=compute_figures((), pattern))
    made = CellTrials(trials, pattern)
    intervals, metrics = made.intervals, made.circular
    biased = _bias(result)
    return replace(
        summary,
        figures=compute_figures(made, pattern),
        n=metrics.n_origin,
        accuracy=intervals.origin,
        chance=made.chance,
        readings=format_metrics(made.original).readings if made.original else {},
        robust=intervals.perf,
        chance_robust=made.chance_robust,
        circular=intervals.accuracy and intervals.accuracy.interval,
        order_sensitivity=intervals.gap,
        only_as_written=round(intervals.gap.value * intervals.gap.n) if intervals.gap else 0,
        lost_with_order=_lost(intervals),
        readable=made.readable,
        unreadable=made.unreadable,
        unreadable_origin=sum(trial.unreadable for trial in made.original),
        ties=made.tied,
        format=made.format,
        metrics=metrics.values,
        incomplete=metrics.incomplete,
        naming=metrics.naming,
        positions=tuple(stratum.position for stratum in biased.strata) if biased else (),
        groups=subject_groups(result.samples, trials, pattern),
        duplicates=metrics.duplicates,
        bias=biased,
        clustered=intervals.accuracy,
        priors=_priors(result),
        outcomes=made.outcomes,
    )


def pair_summary(result: CellResult) -> Summary:
    """No more of a summary than pairs need: all its figures would take seconds."""
    trials = result.trials
    made = CellTrials(trials, result.cell.pattern) if trials else None
    return Summary(
        cell=result.cell,
        state=result.state,
        error=result.error,
        questions=len(result.samples),
        done=len(trials),
        total=result.total,
        accuracy=made.intervals.origin if made else None,
        chance=made.chance if made else None,
        outcomes=made.outcomes if made else {"accuracy": {}},
    )


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


def _lost(intervals: CircularIntervals) -> float | None:
    if intervals.gap is None or intervals.perf is None:
        return None
    right = (
        intervals.gap.value + intervals.perf.value
    )  # who is right in every order is so as written
    return intervals.gap.value / right if right else None
