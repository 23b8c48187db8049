"""The trials of one cell, and the figures that several metrics need of them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from statistics import fmean
from typing import overload

import numpy as np

from evalui.scoring.choice.answer_format import FormatMetrics, format_metrics
from evalui.scoring.choice.circular import (
    CircularIntervals,
    CircularMetrics,
    Outcomes,
    intervals_of_grids,
    metrics_of_grids,
    outcomes_of_grids,
)
from evalui.scoring.choice.permutations import count_variants
from evalui.scoring.choice.trial_grid import TrialGrid, trial_grids
from evalui.scoring.statistics.intervals import mean_intervals
from evalui.types import Interval, Pattern, Trial


class CellTrials(Sequence[Trial]):
    """The trials of one cell, at least one, and what several metrics need of them.

    A metric of another package reads it as a plain sequence of trials.
    """

    def __init__(self, trials: Sequence[Trial], pattern: Pattern) -> None:
        assert trials, "no trials, no figures"
        self.trials = trials
        self.pattern: Pattern = pattern

    @overload
    def __getitem__(self, index: int) -> Trial: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Trial]: ...

    def __getitem__(self, index: int | slice) -> Trial | Sequence[Trial]:
        """A trial, or several."""
        return self.trials[index]

    def __len__(self) -> int:
        """The number of trials."""
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        """The trials in their order."""
        return iter(self.trials)

    @cached_property
    def grids(self) -> tuple[TrialGrid, ...]:
        """The trials as arrays, one per number of options."""
        return trial_grids(self.trials, self.pattern)

    @cached_property
    def intervals(self) -> CircularIntervals:
        """The accuracies with their ranges."""
        return intervals_of_grids(self.grids, self.pattern)

    @cached_property
    def circular(self) -> CircularMetrics:
        """OpenCompass's figures, and the questions left out of them."""
        return metrics_of_grids(self.grids, self.pattern)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The value of each question under each measure that has any."""
        return outcomes_of_grids(self.grids, self.pattern)

    @cached_property
    def format(self) -> FormatMetrics:
        """How well the answers could be read."""
        return format_metrics(self.trials)

    @cached_property
    def original(self) -> tuple[Trial, ...]:
        """The trials in the order as written."""
        return tuple(trial for trial in self.trials if trial.variant.is_origin)

    @cached_property
    def chance(self) -> float | None:
        """What guessing gives on the questions in the order as written."""
        original = self.original
        return fmean(1 / len(one.variant.permutation) for one in original) if original else None

    @cached_property
    def chance_robust(self) -> float | None:
        """What guessing gives in every order; None where the options were scored one by one."""
        if self.pattern == "origin" or self.trials[0].scores:
            return None
        sizes = [(int(grid.reorderable.sum()), grid.n_options) for grid in self.grids]
        n = sum(size for size, _ in sizes)
        guessed = [size * (1 / k) ** count_variants(k, self.pattern) for size, k in sizes if size]
        return sum(guessed) / n if n else None

    @cached_property
    def readable(self) -> Interval:
        """The share of the trials that could be read."""
        return readable_share(self.format.readings[self.trials[0].headline].unreadable)

    @cached_property
    def unreadable(self) -> int:
        """The number of trials without a choice and without a tie."""
        return sum(trial.unreadable for trial in self.trials)

    @cached_property
    def tied(self) -> int:
        """The number of trials whose best options tie."""
        return sum(trial.reading.tied for trial in self.trials)

    @cached_property
    def compared(self) -> tuple[Trial, ...]:
        """The written answers that have a reference."""
        return tuple(trial for trial in self.trials if trial.scores)

    @cached_property
    def text_means(self) -> Mapping[str, Interval]:
        """The mean of each text figure of `compared`, all from the same resamples."""
        if not self.compared:
            return {}
        names = list(self.compared[0].scores)
        rows = [[trial.scores[name][0] for name in names] for trial in self.compared]
        return dict(zip(names, mean_intervals(np.array(rows)), strict=True))


def readable_share(unreadable: Interval) -> Interval:
    """The share of readable answers, from that of unreadable ones."""
    return Interval(1 - unreadable.value, 1 - unreadable.high, 1 - unreadable.low, unreadable.n)
