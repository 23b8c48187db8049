"""One cell of a run in figures: what tables, charts, sentences and files are made from.

Nothing is computed here that belongs into `scoring`; this module asks it the right questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from evalui.report.groups import Group, group
from evalui.scoring.circular import CircularIntervals, count_variants, intervals, score
from evalui.scoring.format import FormatFigures, ReadingFigures, format_figures
from evalui.scoring.position import PositionTable, position_tables
from evalui.types import Cell, CellResult, CellState, Interval, Pattern


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one cell; what rests on no answer at all is None or empty.

    `done` of `total` planned trials are in. `n` questions were answered in the order as written:
    `accuracy` is theirs, `chance` what guessing gives on them, `readings` compares the rules on
    them. The next figures rest on the questions asked in every order: `robust` right in every
    order (guessing gives `chance_robust`), `circular` the mean over orders, `order_sensitivity`
    right as written but not in every order, `only_as_written` how many those are and `lost`
    their share of the questions right as written.

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
    readings: Mapping[str, ReadingFigures] = field(default_factory=dict[str, ReadingFigures])
    robust: Interval | None = None
    chance_robust: float | None = None
    circular: Interval | None = None
    order_sensitivity: Interval | None = None
    only_as_written: int = 0
    lost: float | None = None
    readable: Interval | None = None
    unreadable: int = 0
    unreadable_origin: int = 0
    ties: int = 0
    format: FormatFigures | None = None
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    incomplete: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    positions: tuple[PositionTable, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def main_positions(self) -> PositionTable | None:
        """The table of the number of options that most answers had."""
        return max(self.positions, key=lambda table: table.n_trials, default=None)


def summarise(result: CellResult) -> Summary:
    """All figures of one cell, from the trials that are in."""
    cell, trials, pattern = result.cell, result.trials, result.cell.pattern
    summary = Summary(
        cell, result.state, result.error, len(result.samples), len(trials), result.total
    )
    if not trials:
        return summary
    origin = [trial for trial in trials if trial.variant.is_origin]
    found, metrics, every = (
        intervals(trials, pattern),
        score(trials, pattern),
        format_figures(trials),
    )
    # Where the options were scored one by one, none was shown and no position was chosen.
    positions = () if trials[0].scores else position_tables(trials, pattern)
    return replace(
        summary,
        n=metrics.n_origin,
        accuracy=found.origin,
        chance=fmean(1 / len(t.variant.permutation) for t in origin) if origin else None,
        readings=format_figures(origin).readings if origin else {},
        robust=found.perf,
        chance_robust=_chance_robust(positions, pattern),
        circular=found.accuracy and found.accuracy.interval,
        order_sensitivity=found.gap,
        only_as_written=round(found.gap.value * found.gap.n) if found.gap else 0,
        lost=_lost(found),
        readable=readable_share(every.readings[trials[0].headline].unreadable),
        unreadable=sum(trial.unreadable for trial in trials),
        unreadable_origin=sum(trial.unreadable for trial in origin),
        ties=sum(trial.reading.tied for trial in trials),
        format=every,
        metrics=metrics.values,
        incomplete=metrics.incomplete,
        naming=metrics.naming,
        positions=positions,
        groups=group(result.samples, trials, pattern),
    )


def _chance_robust(positions: Sequence[PositionTable], pattern: Pattern) -> float | None:
    if pattern == "origin" or not positions:
        return None
    guessed = [
        table.n_questions * table.chance ** count_variants(table.n_options, pattern)
        for table in positions
    ]
    return sum(guessed) / sum(table.n_questions for table in positions)


def _lost(found: CircularIntervals) -> float | None:
    if found.gap is None or found.perf is None:
        return None
    right = found.gap.value + found.perf.value  # who is right in every order is so as written
    return found.gap.value / right if right else None


def readable_share(unreadable: Interval) -> Interval:
    """The share of readable answers, from that of unreadable ones."""
    return Interval(1 - unreadable.value, 1 - unreadable.high, 1 - unreadable.low, unreadable.n)
