"""Compare, what its parts share: the contenders, every pair of them, and their questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.comparison import MEASURES, corrected, shared_measures
from evalui.report.analyses.open_answers.figures import (
    AnswerPair,
    AnswerSummary,
    paired,
    summarise_answers,
)
from evalui.report.analyses.overview.leading import MAIN, RECALL, lead
from evalui.report.analyses.overview.summary import Summary, outline
from evalui.report.analyses.statistics.narrative import pair_sentence
from evalui.report.analyses.statistics.pairs import Measure, Pair, pair
from evalui.runs.spec import OPEN
from evalui.types import Cell, CellResult, Sample, Trial
from evalui.ui.services.service import Desk
from evalui.ui.tabs.compare.selection import Contender, obstacles
from evalui.ui.tabs.results.overview.open import pair_sentence as answers_sentence

# What written answers are compared by, and the text figure that it is.
FIGURES = {"rouge": MAIN, "recall": RECALL}


@dataclass(frozen=True, slots=True)
class Versus:
    """Two contenders, the one with the higher mean first."""

    first: Contender
    second: Contender
    found: Pair | AnswerPair

    @property
    def key(self) -> str:
        """How addresses name the pair."""
        return f"{self.first.id}-{self.second.id}"

    @property
    def difference(self) -> float:
        """How far the first is ahead, 0..1."""
        return self.found.found.difference if isinstance(self.found, Pair) else self.found.value


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A contender that cannot be compared with another one `of` those chosen, and what differs."""

    contender: Contender
    of: Contender
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """Contenders on the same questions under one measure, the widest difference first.

    `values` are per cell and question, `trials` in the order of the variants. `rows` are what a
    chart of differences shows: all pairs, or the only one under each measure, seen from one side.
    `answers` are the figures of written answers.
    """

    contenders: tuple[Contender, ...]
    measure: str
    measures: tuple[str, ...]
    pairs: tuple[Versus, ...]
    results: tuple[CellResult, ...]
    values: Mapping[str, Mapping[str, float]]
    trials: Mapping[str, Mapping[str, Sequence[Trial]]]
    rows: tuple[Pair, ...] = ()
    answers: tuple[AnswerSummary, ...] = ()

    @property
    def samples(self) -> Mapping[str, Sample]:
        """The questions by id, in file order."""
        return self.results[0].samples

    @property
    def written(self) -> bool:
        """Whether these are written answers, which are closer or less close, not right or wrong."""
        return self.measure in FIGURES

    def pair(self, key: str) -> Versus | None:
        """The pair of a key in either order, else the widest."""
        ids = set(key.split("-"))
        named = (each for each in self.pairs if {each.first.id, each.second.id} == ids)
        return next(named, next(iter(self.pairs), None))

    def address(self, **more: str) -> str:
        """The address of this comparison."""
        cells = ",".join(contender.id for contender in self.contenders)
        here = {"tab": "compare", "cells": cells}
        if self.measure != self.measures[0]:
            here["measure"] = self.measure
        return f"?{urlencode(here | more, safe=',')}"


def hindered(chosen: Sequence[Contender]) -> tuple[Obstacle, ...]:
    """Those of the chosen that cannot stand beside the first."""
    told = (Obstacle(each, chosen[0], obstacles(chosen[0].row, each.row)) for each in chosen[1:])
    return tuple(one for one in told if one.parts)


def compare(desk: Desk, chosen: Sequence[Contender], wish: str = "") -> Compared:
    """All pairs of contenders that nothing hinders; a measure not all have gives way to another."""
    label = chosen[0].row.cell.label
    results = [_named(desk.result(each.row), each, label=label) for each in chosen]
    if chosen[0].row.cell.mode == OPEN:
        return _of_answers(chosen, results, wish)
    return _of_choices(chosen, results, wish)


def versus_sentence(t: Messages, versus: Versus) -> str:
    """What can be said of one pair, without a full stop."""
    if isinstance(versus.found, Pair):
        return pair_sentence(versus.found, t.language)
    return answers_sentence(t, versus.found).rstrip("." + "。")


def split(compared: Compared, versus: Versus) -> tuple[list[str], list[str], list[str]]:
    """The questions both have: first better, second better, alike; in file order."""
    mine, other = compared.values[versus.first.id], compared.values[versus.second.id]
    whole = compared.measure in ("robust", "accuracy")
    found: tuple[list[str], list[str], list[str]] = ([], [], [])
    for name in compared.samples:
        if name in mine and name in other:
            # A tie that holds the right option is not right, as in McNemar's test.
            one, two = (mine[name] == 1, other[name] == 1) if whole else (mine[name], other[name])
            found[0 if one > two else 1 if two > one else 2].append(name)
    return found


def _of_choices(chosen: Sequence[Contender], results: Sequence[CellResult], wish: str) -> Compared:
    summaries = [outline(result) for result in results]
    measures: tuple[Measure, ...] = shared_measures(summaries) or ("accuracy",)
    known: Mapping[str, Measure] = {name: name for name in measures}
    measure = known.get(wish, measures[0])
    made = [pair(one, other, measure) for one, other in combinations(summaries, 2)]
    found = [each for each in corrected(made) if isinstance(each, Pair)]
    of = {each.name: each for each in chosen}
    pairs = [Versus(of[each.first.model], of[each.second.model], each) for each in found]
    values = [summary.outcomes.get(measure, {}) for summary in summaries]
    whole = _compared(chosen, results, (measure, *measures), pairs, values)
    rows = [each.found for each in whole.pairs if isinstance(each.found, Pair)]
    return replace(whole, rows=tuple(_under_each(rows[0], summaries) if len(rows) == 1 else rows))


def _under_each(main: Pair, summaries: Sequence[Summary]) -> list[Pair]:
    """The only pair under every measure that both have, the same model first."""
    one, other = (each for each in summaries if each.cell in (main.first, main.second))
    others: list[Measure] = [name for name in MEASURES if name != main.measure]
    made = [pair(one, other, name) for name in others]
    return [main, *(_turned(each, main.first) for each in made if isinstance(each, Pair))]


def _of_answers(chosen: Sequence[Contender], results: Sequence[CellResult], wish: str) -> Compared:
    """By the figure that leads; where that is recall, ROUGE-L can be chosen too."""
    answers = tuple(summarise_answers(result) for result in results)
    measures = ("recall", "rouge") if lead(answers).figure == RECALL else ("rouge",)
    measure = wish if wish in measures else measures[0]
    figure = FIGURES[measure]
    of = {each.name: each for each in chosen}
    found = [_ahead_first(each) for each in paired(results, figure)]
    pairs = [Versus(of[each.first], of[each.second], each) for each in found]
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
    chosen: Sequence[Contender],
    results: Sequence[CellResult],
    measures: Sequence[str],  # the one that counts, then all
    pairs: Sequence[Versus],
    values: Sequence[Mapping[str, float]],
) -> Compared:
    return Compared(
        contenders=tuple(chosen),
        measure=measures[0],
        measures=tuple(measures[1:]),
        pairs=tuple(sorted(pairs, key=lambda each: -each.difference)),
        results=tuple(results),
        values={each.id: found for each, found in zip(chosen, values, strict=True)},
        trials={
            each.id: _by_question(result.trials)
            for each, result in zip(chosen, results, strict=True)
        },
    )


def _named(result: CellResult, contender: Contender, *, label: str) -> CellResult:
    """The result under the contender's name; labels differ from run to run for one mode."""
    return replace(result, cell=replace(result.cell, model=contender.name, label=label))


def _ahead_first(found: AnswerPair) -> AnswerPair:
    if found.value >= 0:
        return found
    first, second, low, high = found.second, found.first, -found.high, -found.low
    return replace(found, first=first, second=second, value=-found.value, low=low, high=high)


def _by_question(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.sample_id, []).append(trial)
    return found


def _turned(found: Pair, first: Cell) -> Pair:
    """The pair seen from `first`, even where it is behind."""
    if found.first == first:
        return found
    seen = found.found
    away = replace(seen, difference=-seen.difference, low=-seen.high, high=-seen.low)
    return replace(
        found,
        first=found.second,
        second=found.first,
        found=away,
        first_guesses=found.second_guesses,
        second_guesses=found.first_guesses,
    )
