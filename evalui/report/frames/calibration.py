"""The frames of calibration: its figures, its bins, and what is gained by acting on the sure ones.

Shares are in per cent, probabilities from 0 to 1, ranges and bands those at 95 %.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from evalui.report.frames.base import (
    HIGH,
    LOW,
    Columns,
    FrameColumn,
    Row,
    interval,
    ranged,
)
from evalui.report.frames.choices import (
    CELL,
    DATASET,
    MODE,
    OPTIONS,
    SIGNATURE,
    cell_names,
    of_cells,
    strata,
)
from evalui.scoring.bias import StratumBias
from evalui.scoring.calibration import Floored
from evalui.scoring.cell_summary import Summary
from evalui.scoring.comparisons import (
    CellComparison,
    ComparisonSet,
    EqualCoverage,
    at_equal_coverage,
)
from evalui.types import CellResult

# The figures in the order of tables, each with what its values are multiplied by.
FIGURES: Mapping[str, float] = {"ece": 100, "brier": 1, "nll": 1, "aurc": 100}
# Models of a dataset and mode whose pairs are resampled: one of ten thousand questions takes 2 s.
_MOST_COMPARED = 5

CALIBRATION: Columns = {
    **CELL,
    "options": OPTIONS,
    "from": FrameColumn("float64", "least probability of the bin, 0 to 1"),
    "to": FrameColumn("float64", "where the next bin begins; the last holds 1, too"),
    "confidence": FrameColumn("float64", "mean probability of the answers in it, 0 to 1"),
    **ranged("accuracy", "share of them that is right"),
    "n": FrameColumn("Int64", "answers in it, one of each question"),
    "signature": SIGNATURE,
}
CALIBRATION_FIGURES: Columns = {
    **CELL,
    "options": OPTIONS,
    "figure": FrameColumn("category", "ece and aurc, in points; brier, 0 to 2; nll, in nats"),
    **ranged("value", "the figure, in the order as written; lower is better"),
    "floor": FrameColumn("float64", "its mean if the same probabilities were perfectly calibrated"),
    "floor_low": FrameColumn("float64", "lower end of 95 % of its values then"),
    "floor_high": FrameColumn("float64", "upper end of 95 % of its values then"),
    "shows_something": FrameColumn("boolean", "whether the value lies outside these ends"),
    "n": FrameColumn("Int64", "questions"),
    "left_out": FrameColumn("Int64", "questions without probabilities"),
    "signature": SIGNATURE,
}
RISK_COVERAGE: Columns = {
    **CELL,
    "options": OPTIONS,
    "threshold": FrameColumn("float64", "least probability on which one acts, 0 to 1"),
    "coverage": FrameColumn("float64", "share of the questions that reach it"),
    **ranged("right", "share of these that is right"),
    "n": FrameColumn("Int64", "how many they are"),
    "signature": SIGNATURE,
}
THRESHOLDS: Columns = {
    **CELL,
    "options": OPTIONS,
    "goal": FrameColumn("float64", "share of right answers that was wanted"),
    "threshold": FrameColumn("float64", "chosen on one half; missing if none reaches the goal"),
    **ranged("coverage", "share of the other half's questions that reach it"),
    **ranged("right", "share of these that is right"),
    "acted_on": FrameColumn("Int64", "how many they are"),
    "n_choosing": FrameColumn("Int64", "questions of the half on which it was chosen"),
    "n_checking": FrameColumn("Int64", "questions of the other half"),
    "signature": SIGNATURE,
}
GATES: Columns = {
    **CELL,
    "options": OPTIONS,
    "gate": FrameColumn("float64", "least probability on which one acts, 0 to 1"),
    "acted_on": FrameColumn("Int64", "questions that reach it in the order as written"),
    **ranged("right", "share of these that is right"),
    **ranged("same", "of these, same most probable option in every order with numbers"),
    **ranged("passed", "of these, that option reaches it in every order with numbers"),
    **ranged("passed_right", "share of right answers among those that do"),
    "signature": SIGNATURE,
}


EQUAL_COVERAGE: Columns = {
    "dataset": DATASET,
    "mode": MODE,
    "first": FrameColumn("category", "the model with the higher mean, as in `pairs`"),
    "second": FrameColumn("category", "the other model"),
    "coverage": FrameColumn("float64", "share of the questions on which both act, the surest"),
    "threshold_first": FrameColumn("float64", "probability from which on the first acts, 0 to 1"),
    "threshold_second": FrameColumn("float64", "the same of the second"),
    "right_first": FrameColumn("float64", "share of right answers among those of the first"),
    "right_second": FrameColumn("float64", "the same of the second"),
    "points": FrameColumn("float64", "the first minus the second, in points"),
    "points_low": LOW,
    "points_high": HIGH,
    "p": FrameColumn("float64", "p of the paired bootstrap"),
    "p_holm": FrameColumn("float64", "p after Holm's correction for the coverages"),
    "n": FrameColumn("Int64", "questions for which both have probabilities"),
    "signature_second": FrameColumn("category", "how the figures of the second are made"),
    "signature": FrameColumn("category", "how those of the first are made"),
}
DECISIONS: Columns = {
    **CELL,
    "n": FrameColumn("Int64", "decisions, of questions in any order"),
    "refused": FrameColumn("Int64", "declined to answer"),
    "missing": FrameColumn("Int64", "others that lack a probability"),
    "no_sum": FrameColumn("Int64", "with probabilities that do not sum to 1"),
    "tied": FrameColumn("Int64", "with several most probable options"),
    "disagreeing": FrameColumn("Int64", "that name an option which is not a most probable one"),
    "truncated": FrameColumn("Int64", "that rest on a part of the request, as the server says"),
    "rounded": FrameColumn("Int64", "decimals of all probabilities; missing beyond four"),
    "signature": SIGNATURE,
}


def calibration(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell, number of options and bin of probability, empty bins too."""
    return of_cells(summaries, strata, _bins)


def _bins(bias: StratumBias) -> Iterator[Row]:
    for each in bias.calibration.bins if bias.calibration else ():
        yield {
            "options": bias.n_options,
            "from": each.low,
            "to": each.high,
            "confidence": each.confidence,
            **interval("accuracy", each.accuracy),
            "n": each.accuracy.n if each.accuracy else 0,
        }


def calibration_figures(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell, number of options and figure, beside what chance gives."""
    return of_cells(summaries, strata, _figures)


def _figures(bias: StratumBias) -> Iterator[Row]:
    fit = bias.calibration
    if fit is None:
        return
    for name, scale in FIGURES.items():
        of: Floored = getattr(fit, name)
        ends = {
            "value": of.value,
            "value_low": of.low,
            "value_high": of.high,
            "floor": of.floor,
            "floor_low": of.floor_low,
            "floor_high": of.floor_high,
        }
        yield {
            "options": bias.n_options,
            "figure": name,
            **{key: None if each is None else scale * each for key, each in ends.items()},
            "shows_something": None if of.floor is None else of.shows_something,
            "n": fit.n,
            "left_out": fit.left_out,
        }


# ---------------------------------------------------------------- acting on the sure ones


def risk_coverage(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell, number of options and threshold, the highest first."""
    return of_cells(summaries, strata, _points)


def _points(bias: StratumBias) -> Iterator[Row]:
    for each in bias.risk.points if bias.risk else ():
        yield {
            "options": bias.n_options,
            "threshold": each.threshold,
            "coverage": 100 * each.coverage,
            "right": 100 * each.right,
            "right_low": 100 * each.low,
            "right_high": 100 * each.high,
            "n": each.n,
        }


def thresholds(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell, number of options and goal: what one half chose, the other half checked."""
    return of_cells(summaries, strata, _chosen)


def _chosen(bias: StratumBias) -> Iterator[Row]:
    for each in bias.risk.act if bias.risk else ():
        yield {
            "options": bias.n_options,
            "goal": 100 * each.goal,
            "threshold": each.threshold,
            **interval("coverage", each.coverage),
            **interval("right", each.right),
            "acted_on": each.right.n if each.right else None,
            "n_choosing": each.n_choosing,
            "n_checking": each.n_checking,
        }


def gates(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell with several orders, number of options and gate."""
    return of_cells(summaries, strata, _gates)


def _gates(bias: StratumBias) -> Iterator[Row]:
    for each in bias.risk.gates if bias.risk else ():
        yield {
            "options": bias.n_options,
            "gate": each.gate,
            "acted_on": each.acted,
            **interval("right", each.right),
            **interval("same", each.same),
            **interval("passed", each.passed),
            **interval("passed_right", each.passed_right),
        }


def equal_coverage(
    compared: Iterable[ComparisonSet], results: Sequence[CellResult]
) -> Iterator[Row]:
    """A row per coverage of every two of the first five models of a dataset and mode."""
    of = {result.cell: result for result in results}
    for each in compared:
        cells = {cell for pair in each.pairs for cell in (pair.first, pair.second)}
        shown = [cell for cell in of if cell in cells][:_MOST_COMPARED]
        for pair in each.pairs:
            if pair.first in shown and pair.second in shown:
                for row in at_equal_coverage(of[pair.first], of[pair.second]):
                    yield {"dataset": each.dataset, "mode": each.label, **_at_coverage(pair, row)}


def _at_coverage(pair: CellComparison, row: EqualCoverage) -> Row:
    return {
        "first": pair.first.model,
        "second": pair.second.model,
        "coverage": 100 * row.coverage,
        "threshold_first": row.threshold_a,
        "threshold_second": row.threshold_b,
        "right_first": 100 * row.right_a,
        "right_second": 100 * row.right_b,
        "points": 100 * row.difference,
        "points_low": 100 * row.low,
        "points_high": 100 * row.high,
        "p": row.p,
        "p_holm": row.adjusted,
        "n": row.n,
        "signature_second": pair.second.signature,
        "signature": pair.first.signature,
    }


# ---------------------------------------------------------------- what servers gave


def decisions(summaries: Iterable[Summary]) -> Iterator[Row]:
    """A row per cell whose options were given as a decision."""
    for each in summaries:
        if each.decided:
            counted = asdict(each.decided)
            yield cell_names(each.cell) | counted | {"signature": each.cell.signature}
