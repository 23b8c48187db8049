"""Marks of judges of single answers: the sentence on whose are highest, and their table."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from evalui.messages import add_messages, localized
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.judge import is_shown_no_pictures, judge_name, output_sentence
from evalui.report.axes import Axis
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Column,
    Headline,
    Paragraph,
    PlotMark,
    Table,
    TableCell,
    ValueCell,
)
from evalui.report.numbers import count, fixed, format_range, format_value
from evalui.report.words import join_names_shortened, rank_bands
from evalui.scoring.answer_summary import AnswerSummary, JudgeRating, judge_rating
from evalui.scoring.cell_trials import question_clusters, score_values
from evalui.scoring.pairs import LEVEL
from evalui.scoring.statistics.tests import holm, paired_t_test
from evalui.scoring.trial_columns import columns_of
from evalui.types import CellResult, Interval, Language, is_unfinished

add_messages(Path(__file__).with_suffix(".toml"))

_HIGHEST = 10.0  # mark on the scale of ratings; a test wants shares
_AXES: Mapping[str, Axis] = {
    "rating": Axis(1, 10, (1, 2, 4, 6, 8, 10), ("1", "2", "4", "6", "8", "10")),
    "correct": Axis(0, 100, (0, 20, 40, 60, 80, 100), ("0", "20", "40", "60", "80", "100 %")),
}


def rating_title(result: CellResult, context: OpenContext) -> str:
    """Whose marks are highest in one judge's cell, or whose do not differ; "" without marks.

    Two models are compared on the questions on which both have marks, by the paired t test.
    """
    language, judge = context.language, judge_name(result.cell.model, context)
    ratings = _ratings(result)
    means = {name: _mean(marks).value for name, marks in ratings.items()}
    if not means:
        return ""
    best = max(means, key=lambda name: means[name])
    behind = {worse for better, worse in _decided(result) if better == best}
    level = sorted((n for n in means if n not in behind), key=lambda name: -means[name])
    if len(means) > 1 and len(level) > 1:
        names = join_names_shortened(level, language)
        values = _values(ratings[best], ratings[level[-1]], language)
        return localized("marks.level", language, judge=judge, names=names, values=values)
    key = "marks.best" if len(means) > 1 else "marks.alone"
    span = f"{_range(ratings[best])}, n = {count(_mean(ratings[best]).n)}"
    value = localized(f"marks.value-{ratings[best].scale}", language, value=_value(ratings[best]))
    return localized(key, language, judge=judge, model=best, value=value, span=span)


def rated_blocks(result: CellResult, context: OpenContext, suffix: str = "") -> Iterator[Block]:
    """The verdict of one judge of single answers, and the table of its marks.

    `suffix` ends the name of its picture.
    """
    language = context.language
    yield _headline(result, context)
    if is_shown_no_pictures(result.cell.signature, result.samples.values()):
        yield Paragraph(localized("trust.blind-judge", language))
    if rated := _ratings(result):
        yield Card(
            (_table(result, rated, context, suffix), *_below(rated, context)),
            title=localized("marks.by-model", language),
            caption=localized("marks.about", language),
        )


def _headline(result: CellResult, context: OpenContext) -> Headline:
    language, title = context.language, rating_title(result, context)
    if is_unfinished(result):
        fields = {"done": count(len(result.trials)), "total": count(result.total)}
        return Headline(localized("marks.open", language, **fields))
    ruled = result.cell.model in context.rules
    return Headline(
        localized("sentence", language, said=title) if title else localized("marks.none", language),
        localized("trust.rule-said", language) if ruled else "",
        localized("trust.rule-lead", language) if ruled else "",
        "warn" if ruled else None,
    )


def _below(rated: Mapping[str, JudgeRating], context: OpenContext) -> Iterator[Block]:
    """The marks of each criterion, how marks were given, and what was asked for once more."""
    language, given = context.language, list(rated.values())
    if any(one.criteria for one in given):
        yield Paragraph(localized("marks.by-criterion", language), strong=True)
        yield _criteria_table(rated, context)
    as_text, n = sum(one.as_text for one in given), sum(one.n for one in given)
    yield Paragraph(output_sentence(given[0].output, as_text, n, language), small=True)
    if again := sum(one.retried for one in given):
        fields = {"k": count(again), "n": count(sum(one.recovered for one in given))}
        yield Paragraph(localized("marks.retried", language, **fields), small=True)


def rating_cell(summary: AnswerSummary, judge: str, scale: str) -> str:
    """A mean mark with its range and n, for a table of counts; "–" without one."""
    given = (one for one in summary.ratings if (one.judge, one.scale) == (judge, scale))
    rated = next(given, None)
    if rated is None or rated.mean is None:
        return NONE
    ends = f"{fixed(rated.mean.low, 2)}–{fixed(rated.mean.high, 2)}"
    return f"{fixed(rated.mean.value, 2)} ({ends}), n = {count(rated.n)}"


def _ratings(result: CellResult) -> dict[str, JudgeRating]:
    """The marks of each model that has one."""
    return {
        one.name: marks
        for one in result.contestants
        if (marks := judge_rating(one.name, result)) and marks.mean
    }


def _table(
    result: CellResult, rated: Mapping[str, JudgeRating], context: OpenContext, suffix: str
) -> Table:
    language = context.language
    scale = next(iter(rated.values())).scale
    bands = rank_bands(list(rated), _decided(result))
    ordered = sorted(rated, key=lambda name: -_mean(rated[name]).value)
    bare = any(one.unreferenced for one in rated.values())
    keys = ("marked", "unscored", "unreferenced")[: 3 if bare else 2]
    mark = localized("marks.mark", language)
    columns = (
        Column(localized("head-rank", language), rank=True, width=56),
        Column(localized("head-model", language), width=200),
        Column(mark, axis=_AXES[scale]),
        Column(mark, lead=True, width=136),
        *(Column(localized(f"marks.{key}", language), right=True, width=120) for key in keys),
    )
    rows = tuple(_row(name, rated[name], bands[name], context, keys) for name in ordered)
    return Table(columns, rows, lead=True, file=context.file(f"marks{suffix}.png"))


def _criteria_table(rated: Mapping[str, JudgeRating], context: OpenContext) -> Table:
    """The mean mark of each criterion, a row for each model."""
    names = list(dict.fromkeys(name for one in rated.values() for name in one.criteria))
    ordered = sorted(rated, key=lambda name: -_mean(rated[name]).value)
    rows = tuple(
        (context.model(name), *(_criterion_cell(rated[name].criteria.get(each)) for each in names))
        for name in ordered
    )
    heads = (
        Column(localized("head-model", context.language)),
        *(Column(each, right=True) for each in names),
    )
    return Table(heads, rows)


def _criterion_cell(mean: Interval | None) -> TableCell:
    if mean is None:
        return NONE
    return ValueCell(fixed(mean.value, 1), "", _tenths(mean))


def _row(
    name: str, one: JudgeRating, band: str, context: OpenContext, keys: Sequence[str]
) -> tuple[TableCell, ...]:
    mean = _mean(one)
    times, unit = (100.0, "%") if one.scale == "correct" else (1.0, "")
    mark = PlotMark(times * mean.value, times * mean.low, times * mean.high)
    lead = ValueCell(_value(one), unit, _range(one), size="lead")
    counts = {"marked": one.n, "unscored": one.unscored, "unreferenced": one.unreferenced}
    model = context.model(name)
    return (
        band,
        model,
        model.marked(mark, text=f"{lead.value} ({lead.range})"),
        lead,
        *(count(counts[key]) for key in keys),
    )


def _mean(marks: JudgeRating) -> Interval:
    assert marks.mean is not None, "a mark that was given"
    return marks.mean


def _decided(result: CellResult) -> frozenset[tuple[str, str]]:
    """The pairs (better, worse) of models that the test tells apart."""
    shares, clusters = _shares(result), question_clusters(result.samples)
    tested = {
        (one, other): test
        for one, other in combinations(shares, 2)
        if (test := paired_t_test(shares[one], shares[other], clusters))
    }
    adjusted = holm([test.p for test in tested.values()])
    return frozenset(
        pair if test.difference > 0 else (pair[1], pair[0])
        for (pair, test), p in zip(tested.items(), adjusted, strict=True)
        if p < LEVEL
    )


def _shares(result: CellResult) -> Mapping[str, Mapping[str, float]]:
    """Each contestant's marks by question, as shares of the highest."""
    names = [one.name for one in result.contestants]
    shares: dict[str, dict[str, float]] = {name: {} for name in names}
    columns = columns_of(result.trials)
    for scale, highest in (("correct", 1.0), ("rating", _HIGHEST)):
        rows, marks = score_values(columns, scale)
        for row, mark in zip(rows.tolist(), (marks / highest).tolist(), strict=True):
            shown = columns.orders[columns.order[row]].permutation[0]
            shares[names[shown]][columns.ids[columns.sample[row]]] = mark
    return shares


def _value(marks: JudgeRating) -> str:
    """The mean mark: "8.5", or in per cent "75"."""
    mean = _mean(marks)
    return format_value(mean) if marks.scale == "correct" else fixed(mean.value, 1)


def _range(marks: JudgeRating) -> str:
    """The range of the mean mark: "8.2–8.8", or in per cent "52–98"."""
    mean = _mean(marks)
    return format_range(mean) if marks.scale == "correct" else _tenths(mean)


def _tenths(mean: Interval) -> str:
    return f"{fixed(mean.low, 1)}–{fixed(mean.high, 1)}"


def _values(best: JudgeRating, last: JudgeRating, language: Language) -> str:
    """From the highest mark to the lowest, as the names stand; once if they are printed alike."""
    high, low = _value(best), _value(last)
    if high == low:
        return localized(f"marks.value-{best.scale}", language, value=high)
    return localized(f"marks.range-{best.scale}", language, high=high, low=low)
