"""The part of a written report on written answers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from evalui.messages import localized
from evalui.report.analyses.arena.narrative import (
    answer_notes,
    join_names_shortened,
    judge_name,
    text_title,
)
from evalui.report.analyses.open_answers.figures import (
    RECALL,
    AnswerPair,
    AnswerSummary,
    JudgeRating,
    compare_answers,
    judge_rating,
    ranking_metric,
    rating_cells,
    recall_reason,
)
from evalui.report.analyses.overview.every import metric_notes
from evalui.report.blocks import NONE, Block, Bullets, Heading, Paragraph, Table, text_table
from evalui.report.numbers import count, fixed, format_figure, format_range, format_value, signed
from evalui.scoring.metrics import Figure, Metric, metrics_in
from evalui.scoring.statistics.paired_tests import holm, paired_bootstrap
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
            yield Bullets(metric_notes(metrics_in("report", "texts"), language))
            yield from _corpus(measured, language)
        yield from _pairs(pairs, leading.figure, language)


def _notes(
    summaries: Sequence[AnswerSummary], language: Language, rule_based: frozenset[str]
) -> Bullets:
    by_text: dict[str, list[str]] = {}
    for summary in summaries:
        for note in answer_notes(summary, language, rule_based=rule_based):
            by_text.setdefault(note.text, []).append(summary.cell.model)
    return Bullets(
        tuple(
            # What holds of all needs no names.
            text
            if len(models) == len(summaries)
            else localized(
                "of-model", language, model=join_names_shortened(models, language), said=text
            )
            for text, models in by_text.items()
        )
    )


def _counts(
    summaries: Sequence[AnswerSummary], language: Language, rule_based: frozenset[str]
) -> Table:
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
    return text_table(tuple(heads), rows)


def _rating_cell(summary: AnswerSummary, judge: tuple[str, str]) -> str:
    rating = next((one for one in summary.ratings if (one.judge, one.scale) == judge), None)
    return _mean_with_range(rating) if rating and rating.mean else NONE


def _mean_with_range(rated: JudgeRating) -> str:
    mean = rated.mean
    assert mean is not None, "a mark that was given"
    ends = f"{fixed(mean.low, 2)}–{fixed(mean.high, 2)}"
    return f"{fixed(mean.value, 2)} ({ends}), n = {count(rated.n)}"


def _text_figures(summaries: Sequence[AnswerSummary], first: str, language: Language) -> Table:
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


def _pairs(pairs: Sequence[AnswerPair], figure: str, language: Language) -> Iterator[Block]:
    if not pairs:
        return
    yield Paragraph(localized("pairs-are", language, metric=figure))
    heads = ("pair", "difference", "range", "p", "n")
    yield text_table(
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


# ---------------------------------------------------------------- marks of single answers

_LEVEL = 0.05  # of the test of two models' marks, corrected for the number of pairs
_HIGHEST = 10.0  # mark on the scale of ratings; a test wants shares


def rating_titles(
    results: Sequence[CellResult], language: Language, *, rule_based: frozenset[str]
) -> tuple[str, ...]:
    """A sentence for each judge that marked single answers of one dataset; none without marks."""
    titles = (rating_title(one, language, rule_based=rule_based) for one in rating_cells(results))
    return tuple(sentence for sentence in titles if sentence)


def rating_title(result: CellResult, language: Language, *, rule_based: frozenset[str]) -> str:
    """Whose marks are highest in one judge's cell, or whose do not differ; "" without marks.

    Two models are compared on the questions on which both have marks, by the sign-flip test.
    """
    judge = judge_name(result.cell.model, language, rule_based=rule_based)
    ratings = {
        one.name: marks
        for one in result.contestants
        if (marks := judge_rating(one.name, result)) and marks.mean
    }
    means = {name: marks.mean.value for name, marks in ratings.items() if marks.mean}
    if not means:
        return ""
    best = max(means, key=lambda name: means[name])
    behind = _significantly_worse(best, _shares(result))
    level = sorted((n for n in means if n not in behind), key=lambda name: -means[name])
    if len(means) > 1 and len(level) > 1:
        ends = {
            "low": _rating_value(ratings[level[-1]], language),
            "high": _rating_value(ratings[best], language),
        }
        return localized(
            "rated-level",
            language,
            judge=judge,
            names=join_names_shortened(level, language),
            **ends,
        )
    key = "rated-best" if len(means) > 1 else "rated-one"
    ends = {"value": _rating_value(ratings[best], language), "span": _range_text(ratings[best])}
    return localized(key, language, judge=judge, model=best, **ends)


def _shares(result: CellResult) -> Mapping[str, Mapping[str, float]]:
    """Each contestant's marks by question, as shares of the highest."""
    names = [one.name for one in result.contestants]
    shares: dict[str, dict[str, float]] = {name: {} for name in names}
    for trial in result.trials:
        own = shares[names[trial.variant.permutation[0]]]
        if "rating" in trial.scores:
            own[trial.sample_id] = trial.scores["rating"][0] / _HIGHEST
        elif "correct" in trial.scores:
            own[trial.sample_id] = trial.scores["correct"][0]
    return shares


def _significantly_worse(best: str, shares: Mapping[str, Mapping[str, float]]) -> frozenset[str]:
    """The models that the test says are behind the best."""
    tested = {
        pair: difference.p
        for pair in combinations(shares, 2)
        if (difference := paired_bootstrap(shares[pair[0]], shares[pair[1]]))
    }
    adjusted = zip(tested, holm(list(tested.values())), strict=True)
    return frozenset(
        second if first == best else first
        for (first, second), p in adjusted
        if best in (first, second) and p < _LEVEL
    )


def _rating_value(marks: JudgeRating, language: Language) -> str:
    assert marks.mean is not None, "a mark that was given"
    value = format_value(marks.mean) if marks.scale == "correct" else fixed(marks.mean.value, 1)
    return localized(f"mark-{marks.scale}", language, value=value)


def _range_text(marks: JudgeRating) -> str:
    mean = marks.mean
    assert mean is not None, "a mark that was given"
    if marks.scale == "correct":
        return f"{format_range(mean)}, n = {count(mean.n)}"
    return f"{fixed(mean.low, 1)}–{fixed(mean.high, 1)}, n = {count(mean.n)}"
