"""Two or more models on the same questions: every pair of them, and the questions they part on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from evalui.messages import Messages, add_messages
from evalui.modes import traits_of
from evalui.report.analyses.metrics import metric_head
from evalui.report.analyses.open_answers import recall_reason
from evalui.report.analyses.statistics import (
    finding_text,
    mcnemar_cell,
    pair_plot,
    pairs_caption,
)
from evalui.report.analyses.verdict import (
    format_least_difference,
    format_points,
    format_points_range,
    mcnemar_sentence,
    other_settings,
)
from evalui.report.axes import Axis, points_axis
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Column,
    Details,
    Headline,
    Link,
    Links,
    ModelCell,
    NoteLine,
    Notes,
    Paragraph,
    PlotCell,
    PlotMark,
    Table,
    TableCell,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.numbers import (
    count,
    decimal_places,
    fixed,
    format_fraction,
    format_value,
    p_column,
    p_value,
    percent,
    points_between,
    probability,
    signed_points,
)
from evalui.report.words import join_names_shortened
from evalui.scoring.answer_summary import AnswerSummary, ranking_metric, summarise_answers
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_summary import Measure, Summary, pair_summary
from evalui.scoring.cell_trials import CellTrials, scores_by_question
from evalui.scoring.comparisons import (
    MEASURES,
    CellComparison,
    EqualCoverage,
    at_equal_coverage,
    compare_cells,
    compare_pairs,
    shared_measures,
)
from evalui.scoring.metrics import Metric, is_added, metric_named, metrics_in, question_values
from evalui.scoring.pairs import MetricPair, compare_answers, compare_metric, incompatibilities
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.types import Cell, CellResult, Sample

add_messages(Path(__file__).with_suffix(".toml"))

_DRAWN = 8  # rows of marks, before the others fold
_NAME_WIDTH = 248
_FIGURE_WIDTH = 128
_LEVEL = 0.05

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


# ---------------------------------------------------------------- in sentences


def verdict(t: Messages, compared: Comparison) -> str:
    """The one sentence that answers."""
    pairs = compared.pairs
    if not pairs:
        return t("compare.strangers")
    if len(pairs) == 1:
        return _of_two(t, compared, next(iter(pairs)))
    if not any(map(_won, pairs)):
        tests = (each.result for each in pairs)
        guessing = all(isinstance(e, CellComparison) and e.finding == "guessing" for e in tests)
        key = "nobody" if guessing else "nothing"
        return t(f"compare.verdict.{key}", n=count(len(compared.contenders)))
    leaders = _unbeaten(compared)
    if len(leaders) > 1:
        names = join_names_shortened([each.name for each in leaders], t.language)
        return t("compare.verdict.level_top", names=names)
    return _of_leader(t, compared, leaders[0])


def measure_words(t: Messages, key: str, measure: str) -> str:
    """The words of a measure under its key in the catalogue; its label where there are none."""
    if key in t:
        return t(key)
    metric = metric_named(measure)
    label = metric_head(metric, t.language) if metric else measure
    common = key.removesuffix(measure) + "metric"
    return t(common, metric=label) if common in t else label


def support(t: Messages, compared: Comparison) -> str:
    """What the verdict rests on."""
    if len(compared.pairs) > 1:
        return t("compare.support.several", k=count(len(compared.pairs)))
    return _support_of_two(t, next(iter(compared.pairs))) if compared.pairs else ""


def marks_title(t: Messages, compared: Comparison) -> str:
    """What the marks show together, in a line."""
    won = [each for each in compared.rows if _won(each) and each.difference > 0]
    if len(compared.pairs) > 1 or not won or len(compared.rows) < 2:
        return t(f"compare.card.{'pairs' if len(compared.pairs) > 1 else 'measures'}")
    k, n = count(len(won)), count(len(compared.rows))
    key = "all" if len(won) == len(compared.rows) else "some"
    return t(f"compare.card.{key}", first=won[0].first.name, k=k, n=n)


def sureness(t: Messages, compared: Comparison) -> str:
    """How far the verdict can be trusted, in a line."""
    pairs = compared.pairs
    if len(pairs) > 1:
        return t("statistics.told-apart", k=count(sum(map(_won, pairs))), n=count(len(pairs)))
    pair = next(iter(pairs))
    result = pair.result
    if isinstance(result, MetricPair):
        key = "tested" if result.is_significant else "not"
        return t(f"compare.sure.{key}", n=count(result.n))
    known = {"apart": "apart", "steady": "won", "level": "level"}
    key = known.get(result.finding, "not")
    if key == "level" and (result.paired.low > 0 or result.paired.high < 0):
        key = (
            "untold"  # by the range alone they are apart: the correction or the exact test decides
        )
    fields = {"least": _least(result), "range": range_text(pair), "p": p_value(result.adjusted)}
    return t(f"compare.sure.{key}", n=count(result.n), **fields)


def differing_questions(
    t: Messages, compared: Comparison, pair: PairComparison, split: QuestionSplit
) -> str:
    """On how many questions only one of a pair is right or better."""
    whole = compared.measure in ("robust", "accuracy")
    return t(
        "compare.parting" if whole else "compare.parting_higher",
        first=pair.first.name,
        second=pair.second.name,
        ahead=count(len(split.ahead)),
        behind=count(len(split.behind)),
        alike=count(len(split.alike)),
    )


def difference_text(pair: PairComparison) -> str:
    """How far the first is ahead, in points, or as a part of one for written answers."""
    if isinstance(pair.result, MetricPair):
        # That of the means as they are printed.
        one, other = (float(format_fraction(mean)) for mean in pair.means)
        return format_fraction(one - other).replace("-", "−")
    if figures := pair.result.figures:
        places = decimal_places(pair.result.paired)
        return points_between(pair.difference, *figures, places=places)
    return format_points(pair.result)


def range_text(pair: PairComparison) -> str:
    """The plausible range of the difference."""
    result = pair.result
    if isinstance(result, MetricPair):
        ends = (format_fraction(end).replace("-", "−") for end in (result.low, result.high))
        return "–".join(ends)
    return format_points_range(result.paired)


def _of_two(t: Messages, compared: Comparison, pair: PairComparison) -> str:
    result = pair.result
    fields = {
        "first": pair.first.name,
        "second": pair.second.name,
        "gap": difference_text(pair),
        "n": count(result.n),
    }
    if isinstance(result, MetricPair):
        if _won(pair) and compared.measure not in FIGURES:
            metric = measure_words(t, f"compare.measure_short.{compared.measure}", compared.measure)
            return t("compare.verdict.higher", metric=metric, **fields)
        return t(f"compare.verdict.{'closer' if _won(pair) else 'level'}", **fields)
    finding = result.finding
    if finding == "guessing":
        both = result.first_at_chance and result.second_at_chance
        finding = "guessing" if both else "guessing_first"
    return t(f"compare.verdict.{finding}", **fields)


def _support_of_two(t: Messages, pair: PairComparison) -> str:
    result = pair.result
    fields = {"n": count(result.n), "range": range_text(pair)}
    if isinstance(result, MetricPair):
        return t("compare.support.tested", p=p_value(result.p), **fields)
    match result.finding:
        case "apart":
            key = "guessing" if result.second_at_chance else "tested"
            names = {"second": pair.second.name, "p": p_value(result.adjusted)}
            return t(f"compare.support.{key}", **names, **fields)
        case "level":
            key = "same" if result.detectable is None else "level"
            return t(f"compare.support.{key}", least=_least(result), **fields)
        case _:
            return t("compare.support.same", n=count(result.n))


def _won(pair: PairComparison) -> bool:
    if isinstance(pair.result, CellComparison):
        return pair.result.has_winner
    return pair.result.is_significant


def _unbeaten(compared: Comparison) -> list[Contender]:
    """Those of whom the tests do not say that another is better, the best first."""
    lost = {each.second for each in compared.pairs if _won(each)}
    ordered = dict.fromkeys([each.first for each in compared.pairs])
    return [each for each in dict.fromkeys((*ordered, *compared.contenders)) if each not in lost]


def _of_leader(t: Messages, compared: Comparison, best: Contender) -> str:
    beaten = [each for each in compared.pairs if each.first == best and _won(each)]
    others = len(compared.contenders) - 1
    if len(beaten) < others:
        k, n = count(len(beaten)), count(others)
        return t("compare.verdict.some", first=best.name, k=k, n=n)
    nearest = min(beaten, key=lambda each: each.difference)
    if compared.scored and compared.measure not in FIGURES:
        return t(
            "compare.verdict.all_higher",
            first=best.name,
            second=nearest.second.name,
            gap=difference_text(nearest),
            metric=measure_words(t, f"compare.measure_short.{compared.measure}", compared.measure),
        )
    return t(
        "compare.verdict.all_fraction" if compared.scored else "compare.verdict.all",
        first=best.name,
        second=nearest.second.name,
        gap=difference_text(nearest),
    )


def _least(pair: CellComparison) -> str:
    return format_least_difference(pair.detectable) if pair.detectable is not None else ""


# ---------------------------------------------------------------- as blocks


PairAddress = Callable[[PairComparison], str]


def comparison_blocks(
    t: Messages,
    compared: Comparison,
    chosen: PairComparison | None = None,
    *,
    notes: Sequence[str] = (),
    address: PairAddress | None = None,
    more: Block | None = None,
    coverage_at: str = "",
) -> tuple[Block, ...]:
    """Who is ahead, drawn and tested; `chosen` is the pair whose questions are looked at.

    `notes` are what else must be known, `address` gives the page of the questions of a pair, `more`
    stands below the tests. `coverage_at` is the address of the page that compares at equal
    coverage, which has to read every answer; without it these blocks do.
    """
    head = Headline(verdict(t, compared), support(t, compared))
    asked = other_settings([each.cell for each in compared.results], t.language)
    said = (t("of-model", model=", ".join(who), said=text) for text, who in asked.items())
    notes = [*notes, *said]
    if chosen is None:
        return (head, *_known(t, notes))
    return (
        head,
        Card(
            (_marks(t, compared, compared.rows[:_DRAWN], address),),
            marks_title(t, compared),
            _caption(t, compared),
        ),
        *_more_rows(t, compared, address),
        Details("sure", t("compare.sure.title"), sureness(t, compared), _tests(t, compared, more)),
        _differing_section(t, compared, chosen),
        *_equal_coverage(t, compared, chosen, coverage_at),
        *_each_alone(t, compared),
        *_known(t, notes),
    )


# ---------------------------------------------------------------- the marks


def _caption(t: Messages, compared: Comparison) -> str:
    if compared.measure in FIGURES:
        reason = recall_reason(ranking_metric(compared.answers), t.language)
        return reason or t("statistics.caption")
    tested = [each.result for each in compared.rows if isinstance(each.result, CellComparison)]
    return pairs_caption(tested, t.language)


def _more_rows(t: Messages, compared: Comparison, address: PairAddress | None) -> Iterator[Details]:
    rest = compared.rows[_DRAWN:]
    if rest:
        finding = t("compare.all_pairs_finding", n=count(len(rest)))
        blocks = (_marks(t, compared, rest, address),)
        yield Details("pairs", t("compare.all_pairs"), finding, blocks)


def _marks(
    t: Messages,
    compared: Comparison,
    rows: Sequence[PairComparison],
    address: PairAddress | None,
) -> Table:
    """A row for each pair, or for each measure of the only pair."""
    marks = Column("", axis=_axis(compared), rule=(0.0, t("statistics.equal")))
    difference = Column(t("compare.head.difference"), right=True, lead=True, width=_FIGURE_WIDTH)
    if len(compared.pairs) == 1:
        (pair,) = compared.pairs
        names = (Column(each.name, right=True, width=112) for each in (pair.first, pair.second))
        head = Column(t("compare.measure"), width=_NAME_WIDTH)
        only = Column(t("compare.table.only"), right=True, width=128)
        return Table(
            (head, marks, difference, *names, only),
            tuple(_measure_row(t, compared, each) for each in rows),
            lead=True,
        )
    last = (
        Column(t("compare.table.holm"), right=True, width=104),
        Column(t("compare.head.questions"), width=104),
    )
    return Table(
        (Column(t("compare.pair"), width=_NAME_WIDTH), marks, difference, *last),
        tuple(_pair_row(t, compared, each, address) for each in rows),
        lead=True,
    )


def _measure_row(t: Messages, compared: Comparison, pair: PairComparison) -> tuple[TableCell, ...]:
    result = pair.result
    measure = result.measure if isinstance(result, CellComparison) else compared.measure
    name = TextCell(
        measure_words(t, f"compare.measure_short.{measure}", measure),
        strong=measure == compared.measure,
    )
    figures = result.figures if isinstance(result, CellComparison) else None
    values = (
        [ValueCell(format_value(figure), "%", size="large") for figure in figures]
        if figures
        else [ValueCell(format_fraction(mean), size="large") for mean in pair.means]
    )
    return (
        name,
        _mark(pair),
        _difference(t, pair, lead=measure == compared.measure),
        *values,
        _only(result),
    )


def _pair_row(
    t: Messages, compared: Comparison, pair: PairComparison, address: PairAddress | None
) -> tuple[TableCell, ...]:
    n = _differing(compared, pair)
    questions = TextCell(t("compare.differ", n=count(n)), href=address(pair) if address else "")
    name = ModelCell(
        pair.first.name,
        pair.first.place,
        pair.first.baseline,
        below=t("compare.over", name=pair.second.name),
    )
    return (name, _mark(pair), _difference(t, pair, lead=True), _adjusted(pair.result), questions)


def _differing(compared: Comparison, pair: PairComparison) -> int:
    """On how many questions the two differ, without a look at each where the test counted them."""
    if isinstance(pair.result, CellComparison) and (counts := pair.result.mcnemar):
        return counts.first_only + counts.second_only
    split = split_questions(compared, pair)
    return len(split.ahead) + len(split.behind)


def _mark(pair: PairComparison) -> PlotCell:
    first, result = pair.first, pair.result
    if isinstance(result, CellComparison):
        return pair_plot(result, _model(first))
    mark = PlotMark(100 * pair.difference, 100 * result.low, 100 * result.high)
    text = f"{difference_text(pair)} ({range_text(pair)})"
    return PlotCell((mark,), first.place, first.baseline, text)


def _difference(t: Messages, pair: PairComparison, *, lead: bool) -> ValueCell:
    sign = "+" if pair.difference > 0 else ""
    unit = "" if isinstance(pair.result, MetricPair) else t("compare.points")
    return ValueCell(
        f"{sign}{difference_text(pair)}", unit, range_text(pair), size="lead" if lead else "large"
    )


def _axis(compared: Comparison) -> Axis:
    """In hundredths, as fractions for written answers."""
    results = [each.result for each in compared.rows]
    ends = [
        100 * end
        for each in results
        for end in ((each.low, each.high) if isinstance(each, MetricPair) else each.ends)
    ]
    return (
        points_axis(ends, lambda tick: f"{tick / 100:+.2f}")
        if compared.scored
        else points_axis(ends)
    )


# ---------------------------------------------------------------- what folds


def _tests(t: Messages, compared: Comparison, more: Block | None) -> tuple[Block, ...]:
    """The tests of each pair; their differences and ranges stand beside the marks."""
    keys = ["ahead", "behind"]
    keys += ["holm", "n"] if compared.scored else ["only", "mid", "holm", "n", "least", "finding"]
    sentences = [
        mcnemar_sentence(each.result, t.language)
        for each in compared.pairs[:1]
        if isinstance(each.result, CellComparison)
    ]
    legend = t("compare.table.legend")
    if compared.scored:
        of_references = compared.measure in FIGURES
        legend = t(f"compare.table.{'legend_rouge' if of_references else 'legend_metric'}")
    return (
        *(Paragraph(each) for each in sentences if each),
        text_table(
            [t(f"compare.table.{key}") for key in keys],
            [_test_row(t, each) for each in compared.pairs],
        ),
        Paragraph(legend, small=True),
        *([more] if more else ()),
    )


def _test_row(t: Messages, pair: PairComparison) -> tuple[TableCell, ...]:
    names = tuple(map(_model, (pair.first, pair.second)))
    result = pair.result
    if isinstance(result, MetricPair):
        return (*names, _adjusted(result), count(result.n))
    missed = result.undetected_difference
    return (
        *names,
        _only(result),
        mcnemar_cell(result, t.language),
        _adjusted(result),
        count(result.n),
        format_least_difference(missed) if missed is not None else NONE,
        finding_text(result, t.language),
    )


def _differing_section(t: Messages, compared: Comparison, pair: PairComparison) -> Details:
    split = split_questions(compared, pair)
    heads = ["", t("compare.table.n")]
    words = [t("compare.parts.ahead", name=each.name) for each in (pair.first, pair.second)]
    rows = [*zip(words, (count(len(split.ahead)), count(len(split.behind))), strict=True)]
    rows.append((t("compare.parts.level"), count(len(split.alike))))
    whole = compared.measure in ("robust", "accuracy")
    table = _contingency(t, compared, pair, split) if whole else text_table(heads, rows)
    about = Paragraph(
        measure_words(t, f"compare.parts.{compared.measure}", compared.measure), small=True
    )
    return Details(
        "parts",
        t("compare.parts.title"),
        differing_questions(t, compared, pair, split),
        (about, table),
    )


def _equal_coverage(
    t: Messages, compared: Comparison, pair: PairComparison, address: str
) -> Iterator[Details]:
    """Both acting on the same share of the questions, each on its surest answers; nothing without
    probabilities.
    """
    results = dict(zip(compared.contenders, compared.results, strict=True))
    one, other = (results[each] for each in (pair.first, pair.second))
    if not traits_of(one.cell.mode).spellings:
        return
    if address:
        link = Links((Link(t("compare.coverage.do"), address),))
        yield Details("coverage", t("compare.coverage.title"), t("compare.coverage.ask"), (link,))
        return
    rows = at_equal_coverage(one, other)
    if not rows:
        return
    names = {"first": pair.first.name, "second": pair.second.name}
    heads = [
        t("compare.coverage.share"),
        *(t("compare.coverage.right", name=name) for name in names.values()),
        t("compare.head.difference"),
        t("compare.table.holm"),
    ]
    table = Table(
        tuple(Column(head, right=place > 0) for place, head in enumerate(heads)),
        tuple(_coverage_row(t, row) for row in rows),
    )
    about = Paragraph(t("compare.coverage.about", n=count(rows[0].n)), small=True)
    finding = _coverage_finding(t, rows, names)
    title = t("compare.coverage.title")
    yield Details("coverage", title, finding, (table, about), open=True)


def _coverage_row(t: Messages, row: EqualCoverage) -> tuple[TableCell, ...]:
    sides = ((row.right_a, row.threshold_a), (row.right_b, row.threshold_b))
    values = (
        ValueCell(
            fixed(100 * right, 0), "%", below=t("compare.coverage.above", threshold=probability(at))
        )
        for right, at in sides
    )
    ends = f"{signed_points(row.low, 0)}–{signed_points(row.high, 0)}"
    sign = "+" if row.difference > 0 else ""
    gap = ValueCell(f"{sign}{signed_points(row.difference, 0)}", t("compare.points"), ends)
    return (f"{percent(row.coverage)} %", *values, gap, p_column(row.adjusted))


def _coverage_finding(t: Messages, rows: Sequence[EqualCoverage], names: Mapping[str, str]) -> str:
    """Where one of the two is right more often, if anywhere."""
    few = rows[0].n < HIDDEN_BELOW
    apart = [] if few else [row for row in rows if row.adjusted < _LEVEL]
    if not apart:
        return t(f"compare.coverage.{'few' if few else 'level'}")
    ahead = [row for row in apart if row.difference > 0]
    if ahead and len(ahead) < len(apart):
        return t("compare.coverage.both")
    name = names["first" if ahead else "second"]
    if len(apart) == len(rows):
        return t("compare.coverage.all", name=name)
    shares = t("list.comma").join(percent(row.coverage) for row in apart)
    return t("compare.coverage.apart", name=name, shares=shares)


def _contingency(
    t: Messages, compared: Comparison, pair: PairComparison, split: QuestionSplit
) -> Table:
    mine = compared.values[pair.first.id]
    both = sum(mine[name] == 1 for name in split.alike)
    first, second = pair.first.name, pair.second.name
    heads = ["", t("compare.parts.right", name=second), t("compare.parts.wrong", name=second)]
    rows = [
        (t("compare.parts.right", name=first), count(both), count(len(split.ahead))),
        (
            t("compare.parts.wrong", name=first),
            count(len(split.behind)),
            count(len(split.alike) - both),
        ),
    ]
    return text_table(heads, rows)


def _each_alone(t: Messages, compared: Comparison) -> Iterator[Details]:
    """The figure of each model by itself; of two it stands beside their difference."""
    if len(compared.pairs) < 2:
        return
    means = {each: fmean(compared.values[each.id].values()) for each in compared.contenders}
    ranked = sorted(means, key=lambda each: -means[each])
    figures = {
        each: format_fraction(mean) if compared.scored else f"{fixed(100 * mean, 0)} %"
        for each, mean in means.items()
    }
    finding = t(
        "compare.alone_finding",
        best=ranked[0].name,
        high=figures[ranked[0]],
        last=ranked[-1].name,
        low=figures[ranked[-1]],
    )
    heads = [
        t("compare.head.model"),
        t("compare.head.run"),
        measure_words(t, f"compare.measure_short.{compared.measure}", compared.measure),
        t("compare.table.n"),
    ]
    rows = [
        (_model(each), each.run_name, figures[each], count(len(compared.values[each.id])))
        for each in ranked
    ]
    yield Details("alone", t("compare.alone"), finding, (text_table(heads, rows),))


def _known(t: Messages, notes: Sequence[str]) -> Iterator[Details]:
    if notes:
        lines = Notes(tuple(NoteLine("warn", text) for text in notes))
        name = t("compare.know", n=count(len(notes)))
        yield Details("know", name, notes[0], (lines,), kind="warn")


def _model(contender: Contender) -> ModelCell:
    return ModelCell(contender.name, contender.place, contender.baseline)


def _only(result: CellComparison | MetricPair) -> str:
    counts = None if isinstance(result, MetricPair) else result.mcnemar
    return f"{count(counts.first_only)} : {count(counts.second_only)}" if counts else NONE


def _adjusted(result: CellComparison | MetricPair) -> str:
    if isinstance(result, MetricPair):
        return p_column(result.p)
    return NONE if result.finding == "guessing" else p_column(result.adjusted)
