"""The part of a written report that tells of written answers."""

from collections.abc import Iterator, Sequence

from evalui.messages import localized
from evalui.report.analyses.arena.narrative import (
    answer_notes,
    join_names_shortened,
    judge_name,
    text_title,
)
from evalui.report.analyses.open_answers.figures import (
    AnswerPair,
    AnswerSummary,
    JudgeRating,
    compare_answers,
)
from evalui.report.analyses.open_answers.rated import rating_titles
from evalui.report.analyses.overview.leading import RECALL, ranking_metric, recall_reason
from evalui.report.blocks import NONE, Block, Bullets, Heading, Paragraph, ReportTable
from evalui.report.numbers import count, fixed, format_figure, signed
from evalui.scoring.metrics import Figure, Metric, metrics_in
from evalui.types import CellResult, Interval, Language

_PLACES = 4  # as SWIFT prints them


def answers_blocks(
    summaries: Sequence[AnswerSummary],
    results: Sequence[CellResult],
    language: Language,
    *,
    rule_based: frozenset[str],
) -> Iterator[Block]:
    """Each dataset: a sentence, what to know, counts, text figures, pairs."""
    for dataset in dict.fromkeys(summary.cell.dataset for summary in summaries):
        own = [summary for summary in summaries if summary.cell.dataset == dataset]
        yield Heading(2, localized("answers-part", language, dataset=dataset))
        leading = ranking_metric(own)
        there = [result for result in results if result.cell.dataset == dataset]
        pairs = compare_answers(there, leading.figure)
        for title in rating_titles(there, language, rule_based=rule_based):
            yield Paragraph(title, strong=True)
        closest = text_title(own, language, pairs=pairs, rule_based=rule_based)
        yield Paragraph(closest, strong=True)
        if reason := recall_reason(leading, language):
            yield Paragraph(reason)
        yield _notes(own, language, rule_based)
        yield _counts(own, language, rule_based)
        if measured := [summary for summary in own if summary.means]:
            yield _text_figures(measured, leading.figure, language)
            yield Paragraph(localized("figures-are", language))
            yield from _corpus(measured, language)
        yield from _pairs(pairs, leading.figure, language)


def _notes(
    summaries: Sequence[AnswerSummary], language: Language, rule_based: frozenset[str]
) -> Bullets:
    told: dict[str, list[str]] = {}
    for summary in summaries:
        for note in answer_notes(summary, language, rule_based=rule_based):
            told.setdefault(note.text, []).append(summary.cell.model)
    return Bullets(
        tuple(
            # What holds of all needs no names.
            text
            if len(models) == len(summaries)
            else localized(
                "of-model", language, model=join_names_shortened(models, language), said=text
            )
            for text, models in told.items()
        )
    )


def _counts(
    summaries: Sequence[AnswerSummary], language: Language, rule_based: frozenset[str]
) -> ReportTable:
    keys = ("model", "n", "answers", "empty", "cut", "length")
    judges = dict.fromkeys(
        (one.judge, one.scale) for summary in summaries for one in summary.ratings
    )
    heads = [localized(f"head-{key}", language) for key in keys]
    for judge, scale in judges:
        name = judge_name(judge, language, rule_based=rule_based)
        heads.append(localized(f"head-{scale}-by", language, judge=name))
    rows = tuple(
        (
            summary.cell.model,
            *map(count, (summary.questions, summary.n, summary.empty, summary.truncated)),
            count(round(summary.length)) if summary.n else NONE,
            *(_rating_cell(summary, judge) for judge in judges),
        )
        for summary in summaries
    )
    return ReportTable(tuple(heads), rows)


def _rating_cell(summary: AnswerSummary, judge: tuple[str, str]) -> str:
    found = next((one for one in summary.ratings if (one.judge, one.scale) == judge), None)
    return _format_rating(found) if found and found.mean else NONE


def _format_rating(rated: JudgeRating) -> str:
    mean = rated.mean
    assert mean is not None, "a mark that was given"
    ends = f"{fixed(mean.low, 2)}–{fixed(mean.high, 2)}"
    return f"{fixed(mean.value, 2)} ({ends}), n = {count(rated.n)}"


def _text_figures(
    summaries: Sequence[AnswerSummary], first: str, language: Language
) -> ReportTable:
    """All figures in SWIFT's order, but recall on top where it leads."""
    metrics = metrics_in("report", "texts")
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
    return ReportTable(head, (counts, *rows))


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
    yield ReportTable(
        (localized("head-model", language), "BLEU", "chrF"),
        tuple((model, fixed(one.bleu, 1), fixed(one.chrf, 1)) for model, one in made),
    )
    signs = dict.fromkeys(
        sign
        for _, one in made
        for sign in (f"BLEU {one.bleu_signature}", f"chrF {one.chrf_signature}")
    )
    yield Bullets(tuple(signs), signatures=True)


def _pairs(pairs: Sequence[AnswerPair], figure: str, language: Language) -> Iterator[Block]:
    if not pairs:
        return
    yield Paragraph(localized("pairs-are", language, metric=figure))
    heads = ("pair", "difference", "range", "p", "n")
    yield ReportTable(
        tuple(localized(f"head-{head}", language) for head in heads),
        tuple(
            (
                localized("versus", language, first=pair.first, second=pair.second),
                signed(pair.value, _PLACES),
                f"{signed(pair.low, _PLACES)} … {signed(pair.high, _PLACES)}",
                "< 0.001" if pair.p < 0.001 else fixed(pair.p, 3),
                count(pair.n),
            )
            for pair in pairs
        ),
    )
