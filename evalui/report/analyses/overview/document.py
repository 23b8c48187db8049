"""The part of a written report that tells of multiple-choice cells."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from evalui.messages import localized
from evalui.report.analyses.overview.groups import SubjectGroup
from evalui.report.analyses.overview.guessing import guessing_lines
from evalui.report.analyses.overview.narrative import group_name, mode_name, names, overview_title
from evalui.report.analyses.overview.summary import Summary, readable_share
from evalui.report.analyses.overview.warnings import notes
from evalui.report.analyses.position_bias import (
    Finding,
    bias_level_sentence,
    cell_summary,
    findings,
    picks_text,
    recall_text,
)
from evalui.report.analyses.statistics.narrative import (
    comparison_method,
    comparison_sentences,
    format_least_difference,
    format_points,
    format_points_range,
    p_column,
    rank_text,
)
from evalui.report.analyses.statistics.pairs import ComparisonSet, comparisons
from evalui.report.blocks import NONE, Block, Bullets, Heading, Paragraph, Picture, ReportTable
from evalui.report.charts.answers import (
    before_after_png,
    heat_map_png,
    picture_problem,
)
from evalui.report.charts.theme import Theme, series_styles
from evalui.report.numbers import count, fixed, format_range, format_value
from evalui.scoring.position_bias.counts import PositionTable
from evalui.types import Interval, Language


def choice_blocks(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str]
) -> Iterator[Block]:
    """A sentence, the table of figures, the pairs, and each cell, with their pictures."""
    found = comparisons(summaries, baselines=baselines)
    answered = [summary for summary in summaries if summary.accuracy]
    problem = picture_problem(answered, language)
    yield from _key_findings(summaries, language, baselines)
    if answered and problem:
        yield Paragraph(localized(problem, language))
    if answered and not problem:
        yield _before_after(summaries, language, baselines)
    yield _figures(summaries, found, language)
    yield Paragraph(localized("ranges-are", language))
    for comparison in found:
        yield from _pairs(comparison, found, language)
    yield Heading(2, localized("each", language))
    titles, drawn = (
        names(summaries, language),
        series_styles([s.cell.model for s in summaries], baselines),
    )
    for place, summary in enumerate(summaries, start=1):
        yield Heading(3, " · ".join(filter(None, titles[summary.cell])))
        yield from _cell(summary, language)
        if not problem:
            colour = drawn[summary.cell.model].colour
            yield from _heat_maps(summary, language, place, colour)
        if summary.groups:
            yield _groups(summary.groups, language)


def _key_findings(
    summaries: Sequence[Summary], language: Language, baselines: Collection[str]
) -> Iterator[Paragraph]:
    """What the figures say; that no model beats guessing stands before all else."""
    verdict, *rest = guessing_lines(summaries, language, baselines=baselines) or (
        overview_title(summaries, language, baselines=baselines),
    )
    yield Paragraph(verdict, strong=True)
    yield from map(Paragraph, rest)


def _before_after(
    summaries: Sequence[Summary], language: Language, baselines: Collection[str]
) -> Picture:
    return Picture(
        "accuracy.png",
        overview_title(summaries, language, baselines=baselines),
        lambda theme: before_after_png(summaries, language, baselines=baselines, theme=theme),
    )


def _heat_maps(summary: Summary, language: Language, place: int, colour: str) -> Iterator[Picture]:
    strata = summary.bias.strata if summary.bias else ()
    for bias in strata:
        options = f"-{bias.n_options}" if len(strata) > 1 else ""
        said = picks_text(bias, language)
        title = localized("picture-heat", language, model=summary.cell.model, said=said)
        draw = partial(_heat_map, bias.position, language, title, colour)
        yield Picture(f"positions-{place}{options}.png", said, draw)


def _heat_map(
    table: PositionTable, language: Language, title: str, colour: str, theme: Theme
) -> bytes:
    return heat_map_png(table, language, title=title, colour=colour, theme=theme)


def _figures(
    summaries: Sequence[Summary], found: Sequence[ComparisonSet], language: Language
) -> ReportTable:
    keys = ("model", "dataset", "mode", "n", "accuracy", "robust", "sensitivity", "rank", "bias")
    rows = tuple(
        (
            summary.cell.model,
            summary.cell.dataset,
            mode_name(summary.cell, language),
            count(summary.n),
            _share(summary.accuracy),
            _share(summary.robust),
            _share(summary.order_sensitivity),
            _rank(summary, found, language),
            bias_level_sentence(bias, language) if (bias := summary.main_bias) else NONE,
            _share(summary.readable),
        )
        for summary in summaries
    )
    return ReportTable(_column_heads((*keys, "readable"), language), rows)


def _rank(summary: Summary, found: Sequence[ComparisonSet], language: Language) -> str:
    for comparison in found:
        if (comparison.dataset, comparison.label) == (summary.cell.dataset, summary.cell.label):
            rank, why = rank_text(comparison, summary.cell, language)
            return localized("with-reason", language, said=rank, reason=why) if why else rank
    return NONE


def _pairs(
    comparison: ComparisonSet, found: Sequence[ComparisonSet], language: Language
) -> Iterator[Block]:
    parts = [localized("pairs-title", language)]
    if len(found) > 1:
        cell = (comparison.pairs or comparison.incomparable)[0].first
        parts += [cell.dataset, mode_name(cell, language)]
    yield Heading(2, " · ".join([*parts, localized(f"measure-{comparison.measure}", language)]))
    sentences = comparison_sentences(comparison, language)
    yield Bullets(tuple(localized("sentence", language, said=said) for said in sentences))
    yield Paragraph(comparison_method(comparison, language))
    if comparison.pairs:
        yield _pair_table(comparison, language)


def _pair_table(comparison: ComparisonSet, language: Language) -> ReportTable:
    keys = ("first", "second", "points", "p", "mcnemar", "least", "n")
    rows = tuple(
        (
            pair.first.model,
            pair.second.model,
            # Of differences that are all alike no range can be computed.
            format_points(pair.paired)
            + ("" if pair.paired.all_equal else f" ({format_points_range(pair.paired)})"),
            p_column(pair.adjusted) if pair.finding in ("apart", "level") else NONE,
            p_column(pair.mcnemar.mid)
            if pair.mcnemar and pair.mcnemar.mid and not pair.too_few_questions
            else NONE,
            NONE
            if pair.undetected_difference is None
            else format_least_difference(pair.undetected_difference),
            count(pair.n),
        )
        for pair in comparison.pairs
    )
    return ReportTable(_column_heads(keys, language, "pair-head"), rows)


def _cell(summary: Summary, language: Language) -> Iterator[Block]:
    if summary.accuracy:
        yield Paragraph(cell_summary(summary, language))
    yield Bullets(tuple(note.text for note in notes(summary, language)))
    if len(summary.readings) > 1:
        yield _readings(summary, language)
    strata = summary.bias.strata if summary.bias else ()
    for bias in strata:
        said = recall_text(bias, language)
        if len(strata) > 1:
            said = localized("with-options", language, k=bias.n_options, said=said)
        yield Paragraph(said)
        yield _tests(findings(summary, bias, language), language)


def _tests(found: Sequence[Finding], language: Language) -> ReportTable:
    rows = tuple((each.question, each.finding, each.how, each.p or NONE) for each in found)
    return ReportTable(
        _column_heads(("question", "finding", "how", "p"), language, "test-head"), rows
    )


def _readings(summary: Summary, language: Language) -> ReportTable:
    rows = tuple(
        (name, _share(found.accuracy), _share(readable_share(found.unreadable)))
        for name, found in summary.readings.items()
    )
    return ReportTable(_column_heads(("rule", "accuracy", "readable"), language), rows)


def _groups(groups: Sequence[SubjectGroup], language: Language) -> ReportTable:
    rows = tuple(
        (group_name(group, language), count(group.n), _share(group.accuracy), _mean(group))
        for group in groups
    )
    return ReportTable(_column_heads(("subject", "n", "by-question", "by-subject"), language), rows)


def _column_heads(keys: Sequence[str], language: Language, kind: str = "head") -> tuple[str, ...]:
    return tuple(localized(f"{kind}-{key}", language) for key in keys)


def _mean(group: SubjectGroup) -> str:
    value = group.macro.get("acc_origin")
    return NONE if group.kind == "subject" or value is None else fixed(value, 1)


def _share(interval: Interval | None) -> str:
    return f"{format_value(interval)} ({format_range(interval)})" if interval else NONE
