"""Two or more models on the same questions: every pair of them, and the questions they part on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from evalui.scoring.answer_summary import AnswerSummary, ranking_metric, summarise_answers
from evalui.scoring.cell_summary import Measure, Summary, pair_summary
from evalui.scoring.cell_trials import CellTrials, scores_by_question
from evalui.scoring.comparisons import (
    MEASURES,
    CellComparison,
    compare_cells,
    compare_pairs,
    shared_measures,
)
from evalui.scoring.metrics import Metric, is_added, metrics_in, question_values
from evalui.scoring.pairs import MetricPair, compare_answers, compare_metric, incompatibilities
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.types import Cell, CellResult, Sample

# What written answers are compared by, and the text figure that it is.
FIGURES = {"rouge": MAIN, "recall": RECALL}
# The metrics that measures are, and which are tested with more than a mean.
_MEASURED = frozenset({"acc_origin", "robust", "mean_over_orders"})


@dataclass(frozen=True, slots=True)
class Contender:
    """A cell that is compared, by the `id` that addresses write.

    No other has its `name`; `place` decides its marker. `run` is the id of its run.
    """

    id: str
    name: str
    place: int
    baseline: bool
    run: str
    run_name: str


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two contenders, the one with the higher mean first.

    `means` are theirs over the questions both have, 0..1.
    """

    first: Contender
    second: Contender
    result: CellComparison | MetricPair
    means: tuple[float, float]

    @property
    def key(self) -> str:
        """How addresses name the pair."""
        return f"{self.first.id}-{self.second.id}"

    @property
    def difference(self) -> float:
        """How far the first is ahead, 0..1."""
        if isinstance(self.result, CellComparison):
            return self.result.paired.difference
        return self.result.value


@dataclass(frozen=True, slots=True)
class Comparison:
    """Contenders on the same questions under one measure, the widest difference first.

    `rows` are what is drawn: all pairs, or the only one under each measure, seen from one side.
    `values` are per cell and question. `answers` are the figures of written answers.
    """

    contenders: tuple[Contender, ...]
    measure: str
    measures: tuple[str, ...]
    pairs: tuple[PairComparison, ...]
    rows: tuple[PairComparison, ...]
    results: tuple[CellResult, ...]
    values: Mapping[str, Mapping[str, float]]
    answers: tuple[AnswerSummary, ...] = ()

    @property
    def samples(self) -> Mapping[str, Sample]:
        """The questions by id, in file order."""
        return self.results[0].samples

    @property
    def written(self) -> bool:
        """Whether these are written answers, which are closer or less close, not right or wrong."""
        return self.results[0].cell.gives == "answers"

    @property
    def scored(self) -> bool:
        """Whether the measure is a metric of written answers or of options, in 0..1, compared as a
        mean over questions, and none of the measures that are right or wrong in some orders.
        """
        return self.written or self.measure not in MEASURES

    def pair(self, key: str) -> PairComparison | None:
        """The pair of a key in either order, else the widest."""
        ids = set(key.split("-"))
        named = (each for each in self.pairs if {each.first.id, each.second.id} == ids)
        return next(named, next(iter(self.pairs), None))


@dataclass(frozen=True, slots=True)
class QuestionSplit:
    """The questions both of a pair have, in file order: first better, second better, alike."""

    ahead: tuple[str, ...]
    behind: tuple[str, ...]
    alike: tuple[str, ...]


def compare(
    contenders: Sequence[Contender],
    results: Sequence[CellResult],
    preferred_measure: str = "",
    summaries: Sequence[Summary] = (),
    answers: Sequence[AnswerSummary] = (),
) -> Comparison:
    """All pairs of contenders that nothing hinders; a measure not all have gives way to another.

    `results` are theirs, in the same order, and so are their `summaries`, or those of their
    `answers`, where those are known.
    """
    label = results[0].cell.label  # labels differ from run to run for one mode
    named = [
        replace(result, cell=replace(result.cell, model=each.name, label=label))
        for each, result in zip(contenders, results, strict=True)
    ]
    if results[0].cell.gives == "answers":
        answers = answers or [summarise_answers(each) for each in named]
        return _of_answers(contenders, named, tuple(answers), preferred_measure)
    summaries = [
        replace(summary, cell=each.cell)
        for each, summary in zip(named, summaries or map(pair_summary, named), strict=True)
    ]
    return _of_choices(contenders, named, summaries, preferred_measure)


def split_questions(compared: Comparison, pair: PairComparison) -> QuestionSplit:
    """On which questions the two of a pair part."""
    mine, other = compared.values[pair.first.id], compared.values[pair.second.id]
    whole = compared.measure in ("robust", "accuracy")
    split: tuple[list[str], list[str], list[str]] = ([], [], [])
    for name in compared.samples:
        if name in mine and name in other:
            # A tie that holds the right option is not right, as in McNemar's test.
            one, two = (mine[name] == 1, other[name] == 1) if whole else (mine[name], other[name])
            split[0 if one > two else 1 if two > one else 2].append(name)
    return QuestionSplit(*map(tuple, split))


def _of_choices(
    contenders: Sequence[Contender],
    results: Sequence[CellResult],
    summaries: Sequence[Summary],
    preferred: str,
) -> Comparison:
    measures: tuple[Measure, ...] = shared_measures(summaries) or ("accuracy",)
    known: Mapping[str, Measure] = {name: name for name in measures}
    metrics = _metrics_of_options(results, summaries)
    if preferred in metrics:
        own = [
            question_values(metrics[preferred], CellTrials.of(result)) or {} for result in results
        ]
        pairs = _metric_pairs(contenders, results, metrics[preferred], own)
        return _compared(contenders, results, (preferred, *measures, *metrics), pairs, own)
    measure = known.get(preferred, measures[0])
    tested = compare_pairs(summaries, measure)
    of = {each.name: (each, summary) for each, summary in zip(contenders, summaries, strict=True)}
    pairs = [_pair(of, each) for each in tested if isinstance(each, CellComparison)]
    values = [summary.outcomes.get(measure, {}) for summary in summaries]
    whole = _compared(contenders, results, (measure, *measures, *metrics), pairs, values)
    if len(pairs) != 1:
        return whole
    main = next(each for each in tested if isinstance(each, CellComparison))
    one, other = of[main.first.model][1], of[main.second.model][1]
    return replace(whole, rows=(*pairs, *(_pair(of, each) for each in _others(main, one, other))))


def _metrics_of_options(
    results: Sequence[CellResult], summaries: Sequence[Summary]
) -> dict[str, Metric]:
    """The further metrics that are a mean over questions and that all cells have, by name.

    Which those are is known of summaries that are whole; of others the trials are read.
    """
    metrics = {
        metric.name: metric
        for metric in metrics_in("files")
        if metric.by_question and metric.name not in _MEASURED
    }
    for result, summary in zip(results, summaries, strict=True):
        cell = None if summary.figures or not result.trials else CellTrials.of(result)
        metrics = {
            name: metric
            for name, metric in metrics.items()
            if (question_values(metric, cell) if cell else summary.figures.get(name) is not None)
        }
    return metrics


def _metric_pairs(
    contenders: Sequence[Contender],
    results: Sequence[CellResult],
    metric: Metric,
    values: Sequence[Mapping[str, float]],
) -> list[PairComparison]:
    """Every pair in a metric; none of cells whose settings differ, as under any other measure."""
    of = {each.name: (each, own) for each, own in zip(contenders, values, strict=True)}
    cells = {result.cell.model: result.cell for result in results}
    pairs = [
        _ahead_first(pair)
        for pair in compare_metric(results, metric)
        if not incompatibilities(cells[pair.first], cells[pair.second])
    ]
    return _compared_pairs(of, pairs)


def _compared_pairs(
    of: Mapping[str, tuple[Contender, Mapping[str, float]]], pairs: Iterable[MetricPair]
) -> list[PairComparison]:
    """The pairs with the means of both; `of` has the values of each model's questions."""
    return [
        PairComparison(
            of[each.first][0],
            of[each.second][0],
            each,
            _means(of[each.first][1], of[each.second][1]),
        )
        for each in pairs
    ]


def _pair(of: Mapping[str, tuple[Contender, Summary]], result: CellComparison) -> PairComparison:
    (first, one), (second, other) = of[result.first.model], of[result.second.model]
    means = _means(one.outcomes.get(result.measure, {}), other.outcomes.get(result.measure, {}))
    return PairComparison(first, second, result, means)


def _means(one: Mapping[str, float], other: Mapping[str, float]) -> tuple[float, float]:
    both = one.keys() & other.keys()
    return fmean(one[name] for name in both), fmean(other[name] for name in both)


def _others(main: CellComparison, one: Summary, other: Summary) -> Iterator[CellComparison]:
    """The same two under every other measure that both have, in the same order."""
    for measure in MEASURES:
        result = compare_cells(one, other, measure)
        if measure != main.measure and isinstance(result, CellComparison):
            yield _reversed(result, main.first)


def _of_answers(
    contenders: Sequence[Contender],
    results: Sequence[CellResult],
    answers: tuple[AnswerSummary, ...],
    preferred: str,
) -> Comparison:
    """By the figure that leads, by the values of other scorers, or by any that is preferred.

    Where recall leads, ROUGE-L can be chosen too.
    """
    shared = [name for name in answers[0].means if all(name in each.means for each in answers)]
    ours = ("recall", "rouge") if ranking_metric(answers).figure == RECALL else ("rouge",)
    known = [name for name in ours if FIGURES[name] in shared]
    added = {metric.name for metric in metrics_in("files", "texts") if is_added(metric)}
    measures = [*known, *(name for name in shared if name in added or name == preferred)]
    # Scores of a mode of its own, where nothing is compared with references.
    measures = measures or shared or list(ours)
    measure = preferred if preferred in measures else measures[0]
    figure = FIGURES.get(measure, measure)
    values = [scores_by_question(result.trials, figure) for result in results]
    of = {each.name: (each, own) for each, own in zip(contenders, values, strict=True)}
    pairs = _compared_pairs(of, map(_ahead_first, compare_answers(results, figure)))
    whole = _compared(contenders, results, (measure, *measures), pairs, values)
    return replace(whole, answers=answers)


def _compared(
    contenders: Sequence[Contender],
    results: Sequence[CellResult],
    measures: Sequence[str],  # the one that counts, then all
    pairs: Sequence[PairComparison],
    values: Sequence[Mapping[str, float]],
) -> Comparison:
    widest_first = tuple(sorted(pairs, key=lambda each: -each.difference))
    return Comparison(
        contenders=tuple(contenders),
        measure=measures[0],
        measures=tuple(measures[1:]),
        pairs=widest_first,
        rows=widest_first,
        results=tuple(results),
        values={each.id: value for each, value in zip(contenders, values, strict=True)},
    )


def _ahead_first(pair: MetricPair) -> MetricPair:
    if pair.value >= 0:
        return pair
    first, second, low, high = pair.second, pair.first, -pair.high, -pair.low
    return replace(pair, first=first, second=second, value=-pair.value, low=low, high=high)


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
        figures=pair.figures and (pair.figures[1], pair.figures[0]),
    )
