"""How sure each figure is, every two models tested, and what could have been seen, as blocks."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import sqrt

from evalui.messages import localized, messages
from evalui.report.analyses.overview.narrative import names
from evalui.report.analyses.overview.sections import needed_share, sureness
from evalui.report.analyses.overview.standing import DatasetStanding, standings
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.overview.verdict import join_names, tied, winner
from evalui.report.analyses.statistics import (
    CellComparison,
    ComparisonSet,
    comparison_method,
    format_least_difference,
    format_points,
    format_points_range,
    rank_text,
)
from evalui.report.analyses.statistics.pairs import _MOST_PAIRS, _marker_places, pairs_card
from evalui.report.blocks import (
    NONE,
    Block,
    ChartBlock,
    Details,
    Headline,
    ModelCell,
    Paragraph,
    TableCell,
    ValueCell,
    text_table,
)
from evalui.report.charts.calibration import sample_size_lines
from evalui.report.numbers import (
    count,
    fixed,
    format_range,
    format_value,
    percent,
)
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.statistics.paired_tests import minimum_detectable_difference, questions_needed
from evalui.types import Language

# Even steps would spend most of their way on sizes that add no information.
SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000)
_TARGETS = (0.05, 0.02)  # differences for which the number of questions is stated, as shares
_INFLATED = 1.05  # times by which a range is too narrow before it is worth a word


def statistics_blocks(
    summaries: Sequence[Summary],
    comparison: ComparisonSet,
    language: Language,
    *,
    baselines: Collection[str] = (),
    size: int | None = None,
    suffix: str = "",
) -> list[Block]:
    """The pairs of one comparison in a chart and a table, ranks, errors, and what may be missed.

    `size` is the number of questions to plan with, else twice those there are. `suffix` tells the
    files of one comparison from those of others.
    """
    blocks: list[Block] = [
        pairs_card(summaries, comparison, language, baselines, suffix),
        *_ranks(summaries, comparison, language, baselines),
        errors_section(summaries, language, baselines=baselines),
    ]
    if comparison.pairs:
        blocks.append(_power(comparison, language, size or planned_size(comparison), suffix))
    return blocks


def statistics_headline(
    summaries: Sequence[Summary],
    comparison: ComparisonSet,
    language: Language,
    *,
    baselines: Collection[str] = (),
) -> Headline:
    """How sure the comparison is, and how it was tested."""
    own = [s for s in summaries if s.cell.dataset == comparison.dataset]
    (standing,) = standings(own, baselines=baselines, mode=comparison.label)
    compared = {**standing.compared, comparison.label: comparison}
    tested: DatasetStanding = replace(standing, compared=compared)
    return Headline(_answer(tested, language), comparison_method(comparison, language))


def _answer(standing: DatasetStanding, language: Language) -> str:
    """Who leads by how much, or why nobody does, in a sentence that stands alone."""
    if won := winner(standing):
        first, pair = won
        second = pair.second.model if pair.first.model == first else pair.first.model
        span = "" if pair.paired.all_equal else format_points_range(pair.paired)
        return localized(
            "statistics.leads" if span else "statistics.leads_steady",
            language,
            first=first,
            second=second,
            gap=format_points(pair.paired).lstrip("−"),
            span=span,
        )
    sentence = sureness(standing, language)
    answered = [s for s in standing.real if s.accuracy]
    if not sentence or not answered:
        return sentence or localized("statistics.waits", language)
    if standing.guessing:
        fewest = min(answered, key=lambda s: s.n)
        fields = {"n": count(fewest.n), "needed": needed_share(fewest)}
        few = fewest.n < HIDDEN_BELOW
        return sentence if few else localized("statistics.all_guessing", language, **fields)
    level = tied(standing.comparison) if standing.comparison else ()
    pair = standing.pair(level[0], level[1]) if len(level) > 1 else None
    if pair is None or pair.detectable is None:
        return sentence
    least = format_least_difference(pair.detectable)
    named = join_names(level, language)
    return localized("statistics.level_top", language, names=named, n=count(pair.n), least=least)


def planned_size(comparison: ComparisonSet) -> int:
    """About twice the questions there are."""
    return min(SIZES, key=lambda size: abs(size - 2 * comparison.n))


# ---------------------------------------------------------------- ranks


def _ranks(
    summaries: Sequence[Summary],
    comparison: ComparisonSet,
    language: Language,
    baselines: Collection[str],
) -> list[Block]:
    if not (comparison.ranks or set(comparison.unranked.values()) - {"baseline"}):
        return []
    places = _marker_places(summaries, baselines)

    def model(name: str) -> ModelCell:
        return ModelCell(name, places[name] or 0, places[name] is None)

    rows: list[tuple[TableCell, ...]] = [
        (str(each.band), model(each.name), f"{percent(each.value)} %", _range(each.low, each.high))
        for each in comparison.ranks
    ]
    rows += [
        (NONE, model(cell.model), NONE, rank_text(comparison, cell, language)[1])
        for cell in comparison.unranked
    ]
    keys = ("statistics.band", "column.model", "statistics.figure", "statistics.ranks")
    finding = " · ".join(f"{_range(one.low, one.high)} {one.name}" for one in comparison.ranks[:3])
    return [
        Details(
            "ranks",
            localized("statistics.bands", language),
            finding
            or localized(f"statistics.{'none_ranked' if rows[1:] else 'no_rank'}", language),
            (
                text_table([localized(key, language) for key in keys], rows),
                Paragraph(localized("statistics.bands_about", language), small=True),
            ),
        )
    ]


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


# ---------------------------------------------------------------- errors


def errors_section(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str] = ()
) -> Details:
    """Each cell over its orders with its clustered error and its design effect."""
    places = _marker_places(summaries, baselines)
    called = names(summaries, language)
    keys = ("cell", "kind", "figure", "se", "t", "deff", "n", "trials", "effective")
    answered = [summary for summary in summaries if summary.accuracy]
    rows = [
        (
            ModelCell(
                s.cell.model,
                places[s.cell.model] or 0,
                places[s.cell.model] is None,
                called[s.cell][1],
            ),
            *_error(s, language),
        )
        for s in answered
    ]
    most = max(answered, key=_inflation)
    finding = localized("statistics.errors_finding", language)
    if _inflation(most) >= _INFLATED:
        times = fixed(_inflation(most), 1)
        finding = localized("statistics.inflated", language, model=most.cell.model, times=times)
    return Details(
        "errors",
        localized("statistics.errors", language),
        finding,
        (
            text_table([localized(f"statistics.{key}", language) for key in keys], rows),
            Paragraph(localized("statistics.errors_about", language), small=True),
        ),
    )


def _error(s: Summary, language: Language) -> tuple[TableCell, ...]:
    assert s.accuracy is not None, "only cells with answers are listed"
    clustered, n = s.clustered, count(s.n)
    if clustered is None:
        share = ValueCell(format_value(s.accuracy), "%", format_range(s.accuracy))
        return (localized("measure.accuracy", language), share, NONE, NONE, NONE, n, n, n)
    known, mean = clustered.se is not None, clustered.interval
    error = fixed(100 * (clustered.se or 0.0), 2)
    deff = clustered.design_effect
    return (
        localized("measure.mean_over_orders", language),
        ValueCell(format_value(mean), "%", format_range(mean)),
        localized("statistics.points", language, value=error) if known else NONE,
        format_range(clustered.t_interval) if known else NONE,
        NONE if deff is None else fixed(deff, 2),
        count(mean.n),
        count(clustered.n_trials),
        count(round(clustered.n_effective)),
    )


def _inflation(s: Summary) -> float:
    """How many times too narrow the range is if every answer counts as a question."""
    clustered = s.clustered
    return sqrt(max(1.0, clustered.design_effect)) if clustered and clustered.design_effect else 1.0


# ---------------------------------------------------------------- what may have been missed


def _power(comparison: ComparisonSet, language: Language, size: int, suffix: str) -> Details:
    """What difference may have been missed, now and with another number of questions.

    A pair with a shown difference missed nothing.
    """
    known = messages(language)
    missed = [p for p in comparison.pairs if p.undetected_difference is not None]
    planned = [p for p in comparison.pairs if p.detectable is not None and p.finding != "guessing"]
    heads = [
        known("statistics.pair"),
        known("statistics.now", n=count(comparison.n)),
        known("statistics.then", n=count(size)),
        *(known("statistics.needed", points=percent(wanted)) for wanted in _TARGETS),
    ]
    rows = [
        (
            _names(pair, language),
            _least(pair.undetected_difference, language),
            _least(
                pair.undetected_difference
                and minimum_detectable_difference(pair.paired.omega, size),
                language,
            ),
            *(count(questions_needed(pair.paired.omega, wanted)) for wanted in _TARGETS),
        )
        for pair in planned[:_MOST_PAIRS]
    ]
    closest = min(missed, key=lambda pair: pair.paired.omega, default=None)
    chart = sample_size_lines(size, language, omega=closest.paired.omega if closest else None)
    table = text_table(heads, rows) if rows else Paragraph(known("statistics.no_power"))
    widest = max((p.undetected_difference or 0.0 for p in missed), default=0.0)
    finding = known("statistics.nothing_missed" if rows else "statistics.nothing_known")
    if widest:
        least = format_least_difference(widest)
        finding = known("statistics.missed", least=least)
    about = known("statistics.power_about")
    return Details(
        "power",
        known("statistics.power"),
        finding,
        (table, ChartBlock(f"questions{suffix}.png", "", chart, about, finding)),
    )


def _names(pair: CellComparison, language: Language) -> str:
    fields = {"first": pair.first.model, "second": pair.second.model}
    return localized("statistics.minus", language, **fields)


def _least(difference: float | None, language: Language) -> str:
    if difference is None:
        return NONE
    value = format_least_difference(difference)
    return localized("statistics.points", language, value=value)
