"""Compare, what its parts share: the contenders, every pair of them, and their questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import answer_pair_sentence
from evalui.report.analyses.open_answers.figures import (
    MAIN,
    RECALL,
    AnswerPair,
    AnswerSummary,
    compare_answers,
    ranking_metric,
    summarise_answers,
)
from evalui.report.analyses.overview.summary import Measure, Summary, pair_summary
from evalui.report.analyses.statistics import (
    MEASURES,
    CellComparison,
    compare_cells,
    holm_corrected,
    pair_sentence,
    shared_measures,
)
from evalui.runs.spec import OPEN
from evalui.types import Cell, CellResult, Sample, Trial
from evalui.ui.services.service import AppService
from evalui.ui.tabs.compare.selection import ComparedCell, incompatibilities

# What written answers are compared by, and the text figure that it is.
FIGURES = {"rouge": MAIN, "recall": RECALL}


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two contenders, the one with the higher mean first."""

    first: ComparedCell
    second: ComparedCell
    result: CellComparison | AnswerPair

    @property
    def key(self) -> str:
        """How addresses name the pair."""
        return f"{self.first.id}-{self.second.id}"

    @property
    def difference(self) -> float:
        """How far the first is ahead, 0..1."""
        return (
            self.result.paired.difference
            if isinstance(self.result, CellComparison)
            else self.result.value
        )


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """A cell that cannot be compared with `other`, and what differs."""

    cell: ComparedCell
    other: ComparedCell
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Contenders on the same questions under one measure, the widest difference first.

    `values` are per cell and question, `trials` in the order of the variants. `rows` are what a
    chart of differences shows: all pairs, or the only one under each measure, seen from one side.
    `answers` are the figures of written answers.
    """

    cells: tuple[ComparedCell, ...]
    measure: str
    measures: tuple[str, ...]
    pairs: tuple[PairComparison, ...]
    results: tuple[CellResult, ...]
    values: Mapping[str, Mapping[str, float]]
    trials: Mapping[str, Mapping[str, Sequence[Trial]]]
    rows: tuple[CellComparison, ...] = ()
    answers: tuple[AnswerSummary, ...] = ()

    @property
    def samples(self) -> Mapping[str, Sample]:
        """The questions by id, in file order."""
        return self.results[0].samples

    @property
    def written(self) -> bool:
        """Whether these are written answers, which are closer or less close, not right or wrong."""
        return self.measure in FIGURES

    def pair(self, key: str) -> PairComparison | None:
        """The pair of a key in either order, else the widest."""
        ids = set(key.split("-"))
        named = (each for each in self.pairs if {each.first.id, each.second.id} == ids)
        return next(named, next(iter(self.pairs), None))

    def address(self, **more: str) -> str:
        """The address of this comparison."""
        cells = ",".join(contender.id for contender in self.cells)
        here = {"tab": "compare", "cells": cells}
        if self.measure != self.measures[0]:
            here["measure"] = self.measure
        return f"?{urlencode(here | more, safe=',')}"


def incompatible_cells(chosen: Sequence[ComparedCell]) -> tuple[Incompatibility, ...]:
    """Those of the chosen that cannot stand beside the first."""
    checked = (
        Incompatibility(each, chosen[0], incompatibilities(chosen[0].row, each.row))
        for each in chosen[1:]
    )
    return tuple(one for one in checked if one.differences)


def compare(
    service: AppService, chosen: Sequence[ComparedCell], preferred_measure: str = ""
) -> Comparison:
    """All pairs of contenders that nothing hinders; a measure not all have gives way to another."""
    label = chosen[0].row.cell.label
    results = [_renamed_result(service.result(each.row), each, label=label) for each in chosen]
    if chosen[0].row.cell.mode == OPEN:
        return _of_answers(chosen, results, preferred_measure)
    return _of_choices(chosen, results, preferred_measure)


def pair_comparison_sentence(t: Messages, versus: PairComparison) -> str:
    """The result of one pair as a sentence, without a full stop."""
    if isinstance(versus.result, CellComparison):
        return pair_sentence(versus.result, t.language)
    return answer_pair_sentence(versus.result, t.language).rstrip("." + "。")


def split_by_winner(
    compared: Comparison, versus: PairComparison
) -> tuple[list[str], list[str], list[str]]:
    """The questions both have: first better, second better, alike; in file order."""
    mine, other = compared.values[versus.first.id], compared.values[versus.second.id]
    whole = compared.measure in ("robust", "accuracy")
    split: tuple[list[str], list[str], list[str]] = ([], [], [])
    for name in compared.samples:
        if name in mine and name in other:
            # A tie that holds the right option is not right, as in McNemar's test.
            one, two = (mine[name] == 1, other[name] == 1) if whole else (mine[name], other[name])
            split[0 if one > two else 1 if two > one else 2].append(name)
    return split


def _of_choices(
    chosen: Sequence[ComparedCell], results: Sequence[CellResult], measure_name: str
) -> Comparison:
    summaries = [pair_summary(result) for result in results]
    measures: tuple[Measure, ...] = shared_measures(summaries) or ("accuracy",)
    known: Mapping[str, Measure] = {name: name for name in measures}
    measure = known.get(measure_name, measures[0])
    comparisons_ = [compare_cells(one, other, measure) for one, other in combinations(summaries, 2)]
    corrected = [each for each in holm_corrected(comparisons_) if isinstance(each, CellComparison)]
    of = {each.name: each for each in chosen}
    pairs = [
        PairComparison(of[each.first.model], of[each.second.model], each) for each in corrected
    ]
    values = [summary.outcomes.get(measure, {}) for summary in summaries]
    whole = _compared(chosen, results, (measure, *measures), pairs, values)
    rows = [each.result for each in whole.pairs if isinstance(each.result, CellComparison)]
    return replace(whole, rows=tuple(_under_each(rows[0], summaries) if len(rows) == 1 else rows))


def _under_each(main: CellComparison, summaries: Sequence[Summary]) -> list[CellComparison]:
    """The only pair under every measure that both have, the same model first."""
    one, other = (each for each in summaries if each.cell in (main.first, main.second))
    others: list[Measure] = [name for name in MEASURES if name != main.measure]
    compared = [compare_cells(one, other, name) for name in others]
    return [
        main,
        *(_reversed(each, main.first) for each in compared if isinstance(each, CellComparison)),
    ]


def _of_answers(
    chosen: Sequence[ComparedCell], results: Sequence[CellResult], figure_name: str
) -> Comparison:
    """By the figure that leads; where that is recall, ROUGE-L can be chosen too."""
    answers = tuple(summarise_answers(result) for result in results)
    measures = ("recall", "rouge") if ranking_metric(answers).figure == RECALL else ("rouge",)
    measure = figure_name if figure_name in measures else measures[0]
    figure = FIGURES[measure]
    of = {each.name: each for each in chosen}
    answer_pairs = [_ahead_first(each) for each in compare_answers(results, figure)]
    pairs = [PairComparison(of[each.first], of[each.second], each) for each in answer_pairs]
    values = [
        {
            trial.sample_id: trial.scores[figure][0]
            for trial in result.trials
            if figure in trial.scores
        }
        for result in results
    ]
    whole = _compared(chosen, results, (measure, *measures), pairs, values)
    return replace(whole, answers=answers)


def _compared(
    chosen: Sequence[ComparedCell],
    results: Sequence[CellResult],
    measures: Sequence[str],  # the one that counts, then all
    pairs: Sequence[PairComparison],
    values: Sequence[Mapping[str, float]],
) -> Comparison:
    return Comparison(
        cells=tuple(chosen),
        measure=measures[0],
        measures=tuple(measures[1:]),
        pairs=tuple(sorted(pairs, key=lambda each: -each.difference)),
        results=tuple(results),
        values={each.id: value for each, value in zip(chosen, values, strict=True)},
        trials={
            each.id: _by_question(result.trials)
            for each, result in zip(chosen, results, strict=True)
        },
    )


def _renamed_result(result: CellResult, contender: ComparedCell, *, label: str) -> CellResult:
    """The result under the contender's name; labels differ from run to run for one mode."""
    return replace(result, cell=replace(result.cell, model=contender.name, label=label))


def _ahead_first(pair: AnswerPair) -> AnswerPair:
    if pair.value >= 0:
        return pair
    first, second, low, high = pair.second, pair.first, -pair.high, -pair.low
    return replace(pair, first=first, second=second, value=-pair.value, low=low, high=high)


def _by_question(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    by_question: dict[str, list[Trial]] = {}
    for trial in trials:
        by_question.setdefault(trial.sample_id, []).append(trial)
    return by_question


def _reversed(pair: CellComparison, first: Cell) -> CellComparison:
    """The pair seen from `first`, even where it is behind."""
    if pair.first == first:
        return pair
    seen = pair.paired
    away = replace(seen, difference=-seen.difference, low=-seen.high, high=-seen.low)
    return replace(
        pair,
        first=pair.second,
        second=pair.first,
        paired=away,
        first_at_chance=pair.second_at_chance,
        second_at_chance=pair.first_at_chance,
    )
