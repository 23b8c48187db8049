"""Written answers against their references: the table that leads or is second, all figures."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from evalui.messages import localized
from evalui.report.analyses.arena.narrative import (
    answer_pair_sentence,
    format_fraction,
    format_interval,
    is_of_references,
    is_significant,
    judge_name,
    metric_name,
    text_title,
)
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.open_answers.notes import know_details
from evalui.report.analyses.open_answers.ranks import rank_bands
from evalui.report.analyses.open_answers.ratings import rating_cell
from evalui.report.analyses.overview.every import has_figure, hidden_notes, metric_notes
from evalui.report.axes import Axis
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Card,
    Column,
    Details,
    Headline,
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
from evalui.report.numbers import count, fixed, format_figure, format_range, format_value, signed
from evalui.report.words import join_sentences
from evalui.scoring.answer_summary import AnswerSummary, RankingMetric, ranking_metric
from evalui.scoring.metrics import (
    Figure,
    Metric,
    is_added,
    metric_named,
    metrics_in,
    metrics_of_texts,
)
from evalui.scoring.pairs import AnswerPair
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.types import Interval, Language, is_unfinished

_PLACES = 4  # as SWIFT prints them
CONTAINMENT = "containment"  # the share of answers that hold their reference; no metric of SWIFT
# What stands beside the figure that leads, and which of it is not to be read then.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    RECALL: (RECALL, CONTAINMENT, MAIN, "bleu-1"),
    MAIN: (MAIN, "bleu-1", "token_f1", "exact_match"),
}
_FAINT: Mapping[str, Collection[str]] = {RECALL: {MAIN, "bleu-1"}, MAIN: ()}
_HEADED = {name for names in _COLUMNS.values() for name in names}  # others go by their own name
_MAX_OWN = 4  # scores of a mode in the table that leads; all of them stand below
_SHARES = {CONTAINMENT, "exact_match"}  # of answers, so printed in per cent


def text_blocks(
    summaries: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    context: OpenContext,
    *,
    file: str,
) -> Iterator[Block]:
    """One dataset without a judge: the text figures lead.

    `pairs` are those of its models in the figure that leads, `file` names the picture of the table.
    """
    language, leading = context.language, ranking_metric(summaries)
    reason = recall_reason(leading, language)
    title = text_title(summaries, language, pairs=pairs, rule_based=context.baselines)
    open_ = any(map(is_unfinished, summaries))
    done, total = (sum(counts) for counts in zip(*_counts_of(summaries), strict=True))
    verdict = localized("sentence", language, said=title)
    if open_ and done < total:
        verdict = localized("answers-open", language, done=count(done), total=count(total))
    yield Headline(verdict, reason, kind="na" if reason else None)
    yield text_card(summaries, pairs, context, lead=True, file=file)
    if pairs:
        yield Details(
            "how-sure",
            localized("how-sure", language),
            answer_pair_sentence(_top_pair(pairs, summaries, leading.figure), language),
            tuple(_pair_blocks(pairs, leading.figure, language)),
        )
    yield Details(
        "every-figure",
        localized("every.name", language),
        figures_finding(summaries, language),
        tuple(text_figures(summaries, (), context)),
    )
    yield from know_details((), summaries, context)


def _top_pair(
    pairs: Sequence[AnswerPair], summaries: Sequence[AnswerSummary], figure: str
) -> AnswerPair:
    """The pair of the two highest means, else the first."""
    means = {s.cell.model: s.means[figure].value for s in summaries if figure in s.means}
    best = set(sorted(means, key=lambda model: -means[model])[:2])
    return next((pair for pair in pairs if {pair.first, pair.second} == best), pairs[0])


def _counts_of(summaries: Sequence[AnswerSummary]) -> list[tuple[int, int]]:
    return [(summary.replies, summary.questions * summary.n_repeats) for summary in summaries]


def text_card(
    summaries: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    context: OpenContext,
    *,
    lead: bool = False,
    file: str = "",
) -> Card:
    """The text figures of each model, with the reason where recall leads.

    A `lead` table has ranks and marks on an axis, and stands below a headline that gives the
    reason; else the title says who is closest.
    """
    language, leading = context.language, ranking_metric(summaries)
    shown = [summary for summary in summaries if summary.state != "impossible"]
    if lead:
        table = _lead_table(shown, pairs, leading.figure, context, file)
        metric = _head(leading.figure, language)
        title = localized("text-lead", language, metric=metric)
        return Card((table,), title=title, caption=_caption(shown, language))
    reason = recall_reason(leading, language)
    return Card(
        (
            *((Notes((NoteLine("na", reason),)),) if reason else ()),
            _plain_table(shown, leading.figure, context),
        ),
        title=text_title(shown, language, pairs=pairs, rule_based=context.baselines),
        aside=_referenced(shown, language),
    )


def figures_finding(summaries: Sequence[AnswerSummary], language: Language) -> str:
    """What the section of all figures holds."""
    names = {name for summary in summaries for name, one in summary.figures.items() if one}
    return localized("figures-text", language, k=count(len(names)))


def text_figures(
    summaries: Sequence[AnswerSummary], pairs: Sequence[AnswerPair], context: OpenContext
) -> Iterator[Block]:
    """Counts, all text figures in SWIFT's order, those of the whole corpus, and `pairs`."""
    language, leading = context.language, ranking_metric(summaries)
    yield _counts(summaries, context)
    if measured := [summary for summary in summaries if summary.means]:
        yield _text_figures(measured, leading.figure, language)
        yield Paragraph(localized("figures-are", language), small=True)
        metrics = metrics_in("report", "texts")
        lacking = [one for one in metrics if not has_figure(one, measured)]
        # What needs repeats has no place where questions were asked once, nor has its absence.
        hidden = [one for one in lacking if is_added(one) and one.needs != "repeats"]
        shown = [metric for metric in metrics if metric not in lacking]
        yield Bullets((*metric_notes(shown, language), *hidden_notes(hidden, language)))
        yield from _corpus(measured, language)
    if pairs:
        yield from _pair_blocks(pairs, leading.figure, language)


def recall_reason(metric: RankingMetric, language: Language) -> str:
    """Why recall leads; "" where it does not."""
    if metric.figure != RECALL:
        return ""
    reference, answer = (round(each) for each in (metric.reference_length, metric.answer_length))
    return localized("brief", language, reference=count(reference), answer=count(answer))


# ---------------------------------------------------------------- the table that is read


def _caption(summaries: Sequence[AnswerSummary], language: Language) -> str:
    counts = _referenced(summaries, language)
    whole = localized("sentence", language, said=counts) if counts else ""
    own = "" if is_of_references(ranking_metric(summaries).figure) else "-own"
    return join_sentences(localized(f"text-caption{own}", language), whole)


def _referenced(summaries: Sequence[AnswerSummary], language: Language) -> str:
    """ "105 of 120 questions have a reference"; "" where the models differ in it."""
    numbers = {(summary.compared, summary.n) for summary in summaries if summary.n}
    if len(numbers) != 1:
        return ""
    ((k, n),) = numbers
    own = "" if is_of_references(ranking_metric(summaries).figure) else "-own"
    return localized(f"referenced{own}", language, k=count(k), n=count(n))


def _plain_table(summaries: Sequence[AnswerSummary], first: str, context: OpenContext) -> Table:
    names = _columns_of(summaries, first)
    columns = (
        Column(localized("lead-model", context.language)),
        *_figure_columns(names, first, context.language),
    )
    ordered = _best_first(summaries, first)
    return Table(
        columns, tuple((context.model(s.cell.model), *_figures(s, names, first)) for s in ordered)
    )


def _best_first(summaries: Sequence[AnswerSummary], figure: str) -> list[AnswerSummary]:
    measured = [summary for summary in summaries if figure in summary.means]
    measured.sort(key=lambda summary: -summary.means[figure].value)
    return [*measured, *(summary for summary in summaries if figure not in summary.means)]


def _lead_table(
    summaries: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    first: str,
    context: OpenContext,
    file: str,
) -> Table:
    names = _columns_of(summaries, first)
    measured = [summary for summary in summaries if first in summary.means]
    if not measured:
        return _plain_table(summaries, first, context)
    bands = _bands(measured, pairs, context)
    name = metric_name(first, context.language)
    columns = (
        Column(localized("lead-rank", context.language), rank=True, width=56),
        Column(localized("lead-model", context.language), width=152),
        Column(name, axis=_axis(measured, first)),
        *_figure_columns(names, first, context.language, wide=True),
    )
    rows = tuple(
        (
            bands.get(one.cell.model, NONE),
            context.model(one.cell.model),
            _mark(one, first, context),
            *_figures(one, names, first, size="lead"),
        )
        for one in _best_first(summaries, first)
    )
    return Table(columns, rows, lead=True, file=file)


def _bands(
    summaries: Sequence[AnswerSummary], pairs: Sequence[AnswerPair], context: OpenContext
) -> dict[str, str]:
    """The places by the tests of pairs; none where the questions differ, and none of a script."""
    own = [s.cell.model for s in summaries if s.cell.model not in context.baselines]
    if not pairs or len({summary.question_ids for summary in summaries}) > 1:
        return {}
    decided = {
        (pair.first, pair.second) if pair.value > 0 else (pair.second, pair.first)
        for pair in pairs
        if is_significant(pair) and {pair.first, pair.second} <= {*own}
    }
    return rank_bands(own, decided)


def _axis(summaries: Sequence[AnswerSummary], figure: str) -> Axis:
    """From 0 to the next fifth above all ranges."""
    highest = max(summary.means[figure].high for summary in summaries)
    fifths = next(k for k in range(2, 6) if k == 5 or highest <= k / 5)
    ticks = [k / 5 for k in range(fifths + 1)]
    return Axis(0, ticks[-1], ticks, [f"{tick:.1f}".removesuffix(".0") for tick in ticks])


def _mark(summary: AnswerSummary, figure: str, context: OpenContext) -> PlotCell:
    mean = summary.means.get(figure)
    marks = (PlotMark(mean.value, mean.low, mean.high),) if mean else ()
    text = f"{format_fraction(mean.value)} ({format_interval(mean)})" if mean else NONE
    name = summary.cell.model
    return PlotCell(marks, context.place(name), name in context.baselines, text)


def _columns_of(summaries: Sequence[AnswerSummary], first: str) -> tuple[str, ...]:
    """The figures of the table, those of the mode where it gives its own; else none."""
    own = dict.fromkeys(name for summary in summaries for name in summary.means)
    if not own:
        return ()
    names = _COLUMNS.get(first, tuple(own)[:_MAX_OWN])
    added = (metric.name for metric in metrics_in("files", "texts") if is_added(metric))
    return tuple(dict.fromkeys((*names, *(name for name in added if name in own))))


def _head(name: str, language: Language) -> str:
    if name in _HEADED:
        return localized(f"text-head-{name}", language)
    metric = metric_named(name)
    return metric.own_label(language) if metric else name


def _figure_columns(
    names: Sequence[str], first: str, language: Language, *, wide: bool = False
) -> Iterator[Column]:
    for name in names:
        head = _head(name, language)
        leads = name == first
        faint = name in _FAINT.get(first, ())
        yield Column(head, right=not wide, lead=leads, faint=faint, width=128 if wide else 0)
    yield Column(localized("text-head-length", language), right=True, width=96 if wide else 0)


def _figures(
    summary: AnswerSummary, names: Sequence[str], first: str, size: str = "row"
) -> Iterator[TableCell]:
    for name in names:
        mean = summary.containment if name == CONTAINMENT else summary.means.get(name)
        yield _figure(name, mean, leads=name == first, large=size == "lead") if mean else NONE
    yield count(round(summary.length)) if summary.n else NONE


def _figure(name: str, mean: Interval, *, leads: bool, large: bool) -> ValueCell:
    value, unit, ends = format_fraction(mean.value), "", format_interval(mean)
    if name in _SHARES:
        value, unit, ends = format_value(mean), "%", format_range(mean)
    if not large:
        return ValueCell(value, unit, ends, strong=leads)
    return ValueCell(value, unit, ends, size="lead" if leads else "large")


# ---------------------------------------------------------------- all figures


def _counts(summaries: Sequence[AnswerSummary], context: OpenContext) -> Table:
    language = context.language
    keys = ("model", "n", "answers", "empty", "cut", "length")
    judges = dict.fromkeys(
        (one.judge, one.scale) for summary in summaries for one in summary.ratings
    )
    heads = [localized(f"head-{key}", language) for key in keys]
    for judge, scale in judges:
        name = judge_name(judge, language, rule_based=context.rules)
        heads.append(localized(f"head-{scale}-by", language, judge=name))
    rows = tuple(
        (
            context.model(summary.cell.model),
            *map(count, (summary.questions, summary.replies, summary.empty, summary.truncated)),
            count(round(summary.length)) if summary.n else NONE,
            *(rating_cell(summary, *judge) for judge in judges),
        )
        for summary in summaries
    )
    return text_table(tuple(heads), rows)


def _text_figures(summaries: Sequence[AnswerSummary], first: str, language: Language) -> Table:
    """All figures in SWIFT's order, but recall on top where it leads."""
    metrics = metrics_of_texts(name for summary in summaries for name in summary.figures)
    if first == RECALL:
        metrics.sort(key=lambda metric: metric.name != RECALL)
    rows = tuple(
        (
            metric.own_label(language),
            *(_format_mean(metric, summary.figures.get(metric.name)) for summary in summaries),
        )
        for metric in metrics
        if any(summary.figures.get(metric.name) is not None for summary in summaries)
    )
    counts = ("n", *(count(summary.compared) for summary in summaries))
    head = (localized("head-figure", language), *(summary.cell.model for summary in summaries))
    return text_table(head, (counts, *rows))


def _format_mean(metric: Metric, figure: Figure) -> str:
    if not isinstance(figure, Interval):
        return format_figure(metric, figure) or NONE
    value, low, high = (fixed(each, _PLACES) for each in (figure.value, figure.low, figure.high))
    return f"{value} ({low}–{high})"


def _corpus(summaries: Sequence[AnswerSummary], language: Language) -> Iterator[Block]:
    made = [(summary.cell.model, summary.corpus) for summary in summaries if summary.corpus]
    if not made:
        return
    yield Paragraph(localized("corpus-are", language))
    yield text_table(
        (localized("head-model", language), "BLEU", "chrF"),
        tuple((model, fixed(one.bleu, 1), fixed(one.chrf, 1)) for model, one in made),
    )
    signs = dict.fromkeys(
        sign
        for _, one in made
        for sign in (f"BLEU {one.bleu_signature}", f"chrF {one.chrf_signature}")
    )
    yield Bullets(tuple(signs), signatures=True)


def _pair_blocks(pairs: Sequence[AnswerPair], figure: str, language: Language) -> Iterator[Block]:
    yield Paragraph(localized("pairs-are", language, metric=metric_name(figure, language)))
    heads = ("pair", "finding", "difference", "range", "p", "n")
    yield text_table(
        tuple(localized(f"head-{head}", language) for head in heads),
        tuple(
            (
                localized("versus", language, first=pair.first, second=pair.second),
                TextCell(answer_pair_sentence(pair, language), strong=is_significant(pair)),
                signed(pair.value, _PLACES),
                f"{signed(pair.low, _PLACES)} … {signed(pair.high, _PLACES)}",
                "< 0.001" if pair.p < 0.001 else fixed(pair.p, 3),
                count(pair.n),
            )
            for pair in pairs
        ),
    )
