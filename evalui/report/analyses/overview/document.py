"""The part of a written report on multiple-choice cells, and on what was left out."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from evalui.messages import localized
from evalui.report.analyses.overview.narrative import (
    group_name,
    guessing_lines,
    mode_name,
    names,
    overview_title,
)
from evalui.report.analyses.overview.summary import SubjectGroup, Summary
from evalui.report.analyses.overview.warnings import notes
from evalui.report.analyses.position_bias import (
    Finding,
    bias_level_sentence,
    cell_summary,
    findings,
    picks_text,
    recall_text,
)
from evalui.report.analyses.statistics import (
    ComparisonSet,
    comparison_method,
    comparison_sentences,
    comparisons,
    format_least_difference,
    format_points,
    format_points_range,
    rank_text,
)
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Heading,
    Paragraph,
    Picture,
    Table,
    text_table,
)
from evalui.report.charts.answers import before_after_png, heat_map_png, picture_problem
from evalui.report.charts.theme import Theme, series_styles
from evalui.report.numbers import count, fixed, format_figure, format_range, format_value, p_column
from evalui.scoring.cell_trials import readable_share
from evalui.scoring.metrics import Metric, is_added, metrics_in
from evalui.scoring.position_bias.counts import PositionTable
from evalui.types import Interval, Language, LeftOut


def choice_blocks(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str]
) -> Iterator[Block]:
    """A sentence, the table of figures, the pairs, and each cell, with their pictures."""
    compared = comparisons(summaries, baselines=baselines)
    answered = [summary for summary in summaries if summary.accuracy]
    problem = picture_problem(answered, language)
    yield from _key_findings(summaries, language, baselines)
    if answered and problem:
        yield Paragraph(localized(problem, language))
    if answered and not problem:
        yield _before_after(summaries, language, baselines)
    yield _figures(summaries, compared, language)
    yield Paragraph(localized("ranges-are", language))
    yield Bullets(metric_notes(metrics_in("report"), language))
    for comparison in compared:
        yield from _pairs(comparison, compared, language)
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
        text = picks_text(bias, language)
        title = localized("picture-heat", language, model=summary.cell.model, said=text)
        draw = partial(_heat_map, bias.position, language, title, colour)
        yield Picture(f"positions-{place}{options}.png", text, draw)


def _heat_map(
    table: PositionTable, language: Language, title: str, colour: str, theme: Theme
) -> bytes:
    return heat_map_png(table, language, title=title, colour=colour, theme=theme)


def _figures(
    summaries: Sequence[Summary], comparisons_made: Sequence[ComparisonSet], language: Language
) -> Table:
    before, after = _split_at_bias(metrics_in("report"))
    heads = (
        *_column_heads(("model", "dataset", "mode"), language),
        *(metric_head(metric, language) for metric in before),
        *_column_heads(("rank", "bias"), language),
        *(metric_head(metric, language) for metric in after),
    )
    rows = tuple(
        (
            summary.cell.model,
            summary.cell.dataset,
            mode_name(summary.cell, language),
            *(_figure(metric, summary) for metric in before),
            _rank(summary, comparisons_made, language),
            bias_level_sentence(bias, language) if (bias := summary.main_bias) else NONE,
            *(_figure(metric, summary) for metric in after),
        )
        for summary in summaries
    )
    return text_table(heads, rows)


def metric_head(metric: Metric, language: Language) -> str:
    """The head of a metric's column."""
    if is_added(metric):
        return metric.own_label(language)
    return localized(f"head-{metric.key}", language)


def metric_notes(metrics: Sequence[Metric], language: Language) -> tuple[str, ...]:
    """What other packages say of their metrics, a line each."""
    return tuple(
        localized("of-model", language, model=metric.own_label(language), said=docs)
        for metric in metrics
        if (docs := metric.own_docs(language))
    )


def _split_at_bias(metrics: Sequence[Metric]) -> tuple[list[Metric], list[Metric]]:
    """The metrics before the rank and the position bias, and those after them."""
    after = [one for one in metrics if one.name == "readable" or is_added(one)]
    return [one for one in metrics if one not in after], after


def _figure(metric: Metric, summary: Summary) -> str:
    return format_figure(metric, summary.figures.get(metric.name)) or NONE


def _rank(summary: Summary, compared: Sequence[ComparisonSet], language: Language) -> str:
    for comparison in compared:
        if (comparison.dataset, comparison.label) == (summary.cell.dataset, summary.cell.label):
            rank, why = rank_text(comparison, summary.cell, language)
            return localized("with-reason", language, said=rank, reason=why) if why else rank
    return NONE


def _pairs(
    comparison: ComparisonSet, compared: Sequence[ComparisonSet], language: Language
) -> Iterator[Block]:
    parts = [localized("pairs-title", language)]
    if len(compared) > 1:
        cell = (comparison.pairs or comparison.incomparable)[0].first
        parts += [cell.dataset, mode_name(cell, language)]
    yield Heading(2, " · ".join([*parts, localized(f"measure-{comparison.measure}", language)]))
    sentences = comparison_sentences(comparison, language)
    yield Bullets(tuple(localized("sentence", language, said=sentence) for sentence in sentences))
    yield Paragraph(comparison_method(comparison, language))
    if comparison.pairs:
        yield _pair_table(comparison, language)


def _pair_table(comparison: ComparisonSet, language: Language) -> Table:
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
    return text_table(_column_heads(keys, language, "pair-head"), rows)


def _cell(summary: Summary, language: Language) -> Iterator[Block]:
    if summary.accuracy:
        yield Paragraph(cell_summary(summary, language))
    yield Bullets(tuple(note.text for note in notes(summary, language)))
    if len(summary.readings) > 1:
        yield _readings(summary, language)
    strata = summary.bias.strata if summary.bias else ()
    for bias in strata:
        text = recall_text(bias, language)
        if len(strata) > 1:
            text = localized("with-options", language, k=bias.n_options, said=text)
        yield Paragraph(text)
        yield _tests(findings(summary, bias, language), language)


def _tests(tests: Sequence[Finding], language: Language) -> Table:
    rows = tuple((each.question, each.finding, each.how, each.p or NONE) for each in tests)
    return text_table(
        _column_heads(("question", "finding", "how", "p"), language, "test-head"), rows
    )


def _readings(summary: Summary, language: Language) -> Table:
    rows = tuple(
        (name, _share(reading.accuracy), _share(readable_share(reading.unreadable)))
        for name, reading in summary.readings.items()
    )
    return text_table(_column_heads(("rule", "accuracy", "readable"), language), rows)


def _groups(groups: Sequence[SubjectGroup], language: Language) -> Table:
    rows = tuple(
        (group_name(group, language), count(group.n), _share(group.accuracy), _mean(group))
        for group in groups
    )
    return text_table(_column_heads(("subject", "n", "by-question", "by-subject"), language), rows)


def _column_heads(keys: Sequence[str], language: Language, kind: str = "head") -> tuple[str, ...]:
    return tuple(localized(f"{kind}-{key}", language) for key in keys)


def _mean(group: SubjectGroup) -> str:
    value = group.macro.get("acc_origin")
    return NONE if group.kind == "subject" or value is None else fixed(value, 1)


def _share(interval: Interval | None) -> str:
    return f"{format_value(interval)} ({format_range(interval)})" if interval else NONE


# ---------------------------------------------------------------- what was left out


def left_out_sentences(left_out: Sequence[LeftOut], language: Language) -> tuple[str, ...]:
    """A sentence for each thing left out, in the order of the run; none twice."""
    sentences = (
        localized(
            f"left-{each.rule}",
            language,
            dataset=each.dataset,
            what=each.what,
            mode=each.mode,
            why=each.why,
            rows=count(each.rows),
        )
        for each in left_out
    )
    return tuple(dict.fromkeys(sentences))


def left_out_blocks(left_out: Sequence[LeftOut], language: Language) -> Iterator[Block]:
    """The part of a report that lists what was left out; nothing if all was evaluated."""
    if sentences := left_out_sentences(left_out, language):
        yield Heading(2, localized("left-title", language))
        yield Bullets(sentences)
