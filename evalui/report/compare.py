"""Cells of one or several runs, paired: may they be compared, and on which questions they part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalui.report.pairs import Measure, Pair, Refusal, pair
from evalui.report.summary import Summary, outcomes
from evalui.scoring.orders import label
from evalui.scoring.pairing import holm
from evalui.types import CellResult, Trial

MEASURES: tuple[Measure, ...] = ("robust", "accuracy", "mean_over_orders")


@dataclass(frozen=True, slots=True)
class Parted:
    """A question on which two cells differ.

    `first` and `second` are their values under the measure. `orders` are the labels of the orders
    either was asked in; `first_right` and `second_right` say for each whether it was right, None
    where it was not asked.
    """

    id: str
    subject: str
    question: str
    first: float
    second: float
    orders: tuple[str, ...]
    first_right: tuple[bool | None, ...]
    second_right: tuple[bool | None, ...]

    @property
    def difference(self) -> float:
        """How far the first is ahead, -1 to 1."""
        return self.first - self.second


@dataclass(frozen=True, slots=True)
class Compared:
    """Two cells under one measure: the pair or why it is refused, and the questions that part them.

    The sides are as they were given, and so is the sign of `Parted.difference`; `pair.first` is
    the one with the higher mean. `counts` are the questions both got right, only the first, only
    the second, and neither; None for a mean over orders. `measures` are those both have.
    """

    measure: Measure
    found: Pair | Refusal
    parted: tuple[Parted, ...]
    counts: tuple[int, int, int, int] | None
    measures: tuple[Measure, ...]


def compare(one: CellResult, other: CellResult, measure: Measure | None = None) -> Compared:
    """Two cells, question by question; `measure` None takes the first that both have.

    The questions on which they differ come by difference: those the second is right on alone
    first, then by id. A pair that may not be compared has none.
    """
    first, second = _outcomes(one), _outcomes(other)
    shared = shared_measures([first, second])
    chosen = measure or (shared[0] if shared else MEASURES[1])
    found = pair(first, second, chosen)
    if isinstance(found, Refusal):
        return Compared(chosen, found, (), None, shared)
    values = first.outcomes[chosen], second.outcomes[chosen]
    counts = None if chosen == "mean_over_orders" else _counts(*values)
    return Compared(chosen, found, _parted(one, other, values), counts, shared)


def compare_all(results: Sequence[CellResult], measure: Measure) -> tuple[Pair | Refusal, ...]:
    """Every cell against the first, with Holm's correction for the pairs that can be tested."""
    summaries = [_outcomes(result) for result in results]
    made = [pair(summaries[0], other, measure) for other in summaries[1:]]
    return corrected(made)


def corrected(made: Sequence[Pair | Refusal]) -> tuple[Pair | Refusal, ...]:
    """The same with p-values adjusted for the number of pairs."""
    adjusted = iter(holm([each.adjusted for each in made if isinstance(each, Pair)]))
    return tuple(
        replace(each, adjusted=next(adjusted)) if isinstance(each, Pair) else each for each in made
    )


def shared_measures(summaries: Sequence[Summary]) -> tuple[Measure, ...]:
    """The measures that all cells have, the one to rank by first."""
    return tuple(measure for measure in MEASURES if all(s.outcomes.get(measure) for s in summaries))


def _outcomes(result: CellResult) -> Summary:
    """As much of a summary as pairing needs."""
    return Summary(
        result.cell,
        result.state,
        result.error,
        questions=len(result.samples),
        done=len(result.trials),
        total=result.total,
        outcomes=outcomes(result.trials, result.cell.pattern),
    )


def _counts(first: Mapping[str, float], second: Mapping[str, float]) -> tuple[int, int, int, int]:
    marks = [(first[name] == 1, second[name] == 1) for name in first if name in second]
    kinds = ((True, True), (True, False), (False, True), (False, False))
    both, one, other, neither = (marks.count(kind) for kind in kinds)
    return both, one, other, neither


def _parted(
    one: CellResult, other: CellResult, values: tuple[Mapping[str, float], Mapping[str, float]]
) -> tuple[Parted, ...]:
    first, second = values
    names = [name for name in first if name in second and first[name] != second[name]]
    trials = _by_question(one, names), _by_question(other, names)
    found = [
        _question(one, name, (first[name], second[name]), (trials[0][name], trials[1][name]))
        for name in names
    ]
    return tuple(sorted(found, key=lambda each: (each.difference, each.id)))


def _by_question(result: CellResult, names: Sequence[str]) -> dict[str, dict[str, Trial]]:
    found: dict[str, dict[str, Trial]] = {name: {} for name in names}
    for trial in result.trials:
        if trial.sample_id in found:
            found[trial.sample_id][label(trial.variant)] = trial
    return found


def _question(
    result: CellResult,
    name: str,
    values: tuple[float, float],
    trials: tuple[Mapping[str, Trial], Mapping[str, Trial]],
) -> Parted:
    sample = result.samples[name]
    first, second = trials
    orders = tuple(dict.fromkeys([*first, *second]))
    return Parted(
        id=name,
        subject=sample.subject,
        question=sample.question,
        first=values[0],
        second=values[1],
        orders=orders,
        first_right=tuple(_right(first.get(order)) for order in orders),
        second_right=tuple(_right(second.get(order)) for order in orders),
    )


def _right(trial: Trial | None) -> bool | None:
    return None if trial is None else trial.reading.credit == 1
