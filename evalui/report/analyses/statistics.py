"""How sure each figure is, every two models tested, and what could have been seen, as blocks."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt
from pathlib import Path

from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.base import Analysis, Report
from evalui.report.analyses.verdict import (
    DatasetStanding,
    comparison_method,
    format_least_difference,
    format_points,
    format_points_range,
    needed_share,
    refusal_sentence,
    standings,
    sureness,
    tied,
    winner,
    with_question,
)
from evalui.report.axes import points_axis
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    ChartBlock,
    Column,
    Details,
    Heading,
    Headline,
    Link,
    Markers,
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
from evalui.report.figures.statistics import SIZES, questions_of
from evalui.report.numbers import (
    count,
    fixed,
    format_range,
    format_value,
    p_column,
    p_value,
    percent,
)
from evalui.report.words import band_text, join_names_shortened, names
from evalui.scoring.cell_summary import Summary
from evalui.scoring.comparisons import CellComparison, ComparisonSet, comparisons
from evalui.scoring.statistics.tests import minimum_detectable_difference, questions_needed
from evalui.types import Language

add_messages(Path(__file__).with_suffix(".toml"))

_TARGETS = (0.05, 0.02)  # differences for which the number of questions is stated, as shares
_FINDINGS = {"steady": "apart"}  # what the tables call a finding by the name of another
_MOST_PAIRS = 200  # in a chart or table: more would take a browser, and a picture, too long
# Pixels of columns: what they leave is for the marks.
_WIDTHS = {"difference": 128, "n": 88, "only": 100, "mcnemar": 128, "holm": 96}
_NAME_WIDTH, _FINDING_WIDTH = 200, 128
_INFLATED = 1.05  # times by which a range is too narrow before it is worth a word


def statistics_blocks(
    summaries: Sequence[Summary],
    comparison: ComparisonSet,
    language: Language,
    *,
    baselines: Collection[str] = (),
    size: int | None = None,
    suffix: str = "",
    compared_at: str = "",
) -> list[Block]:
    """The pairs of one comparison in a chart and a table, ranks, errors, and what may be missed.

    `size` is the number of questions to plan with, else twice those there are. `suffix` tells the
    files of one comparison from those of others. `compared_at` is the address of a page that
    compares the same pairs, which are then left to it.
    """
    blocks: list[Block] = [
        _pairs_link(comparison, language, compared_at)
        if compared_at
        else _pairs_card(summaries, comparison, language, baselines, suffix),
        *_ranks(summaries, comparison, language, baselines),
        # What stands first of the figures is unfolded.
        replace(errors_section(summaries, language, baselines=baselines), open=bool(compared_at)),
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
    """Who leads by how much, and how it was tested."""
    own = [s for s in summaries if s.cell.dataset == comparison.dataset]
    (standing,) = standings(own, baselines=baselines, mode=comparison.label)
    tested: DatasetStanding = replace(standing, compare=lambda: (comparison,))
    return Headline(comparison_sentence(tested, language), comparison_method(comparison, language))


def comparison_sentence(standing: DatasetStanding, language: Language) -> str:
    """Who leads by how much, or why nobody does, in a sentence that stands alone."""
    if won := winner(standing):
        first, pair = won
        second = pair.opponent_of(first)
        span = "" if pair.paired.all_equal else format_points_range(pair.paired)
        return localized(
            "statistics.leads" if span else "statistics.leads_steady",
            language,
            first=first,
            second=second,
            gap=format_points(pair).lstrip("−"),
            span=span,
        )
    sentence = sureness(standing, language)
    answered = [s for s in standing.real if s.accuracy]
    if not sentence or not answered:
        return sentence or localized("statistics.waits", language)
    if standing.guessing:
        fewest = min(answered, key=lambda s: s.n)
        fields = {"n": count(fewest.n), "needed": needed_share(fewest)}
        return localized("statistics.all_guessing", language, **fields)
    level = tied(standing.comparison) if standing.comparison else ()
    pair = standing.pair(level[0], level[1]) if len(level) > 1 else None
    if pair is None or pair.detectable is None:
        return sentence
    least = format_least_difference(pair.detectable)
    named = join_names_shortened(level, language)
    return localized("statistics.level_top", language, names=named, n=count(pair.n), least=least)


def planned_size(comparison: ComparisonSet) -> int:
    """About twice the questions there are."""
    n = comparison.n
    return min(SIZES, key=lambda size: abs(size - 2 * n))


# ---------------------------------------------------------------- pairs


def _pairs_card(
    summaries: Sequence[Summary],
    comparison: ComparisonSet,
    language: Language,
    baselines: Collection[str],
    suffix: str,
) -> Card:
    pairs = comparison.pairs[:_MOST_PAIRS]
    blocks: list[Block] = []
    if pairs:
        blocks.append(_pair_table(pairs, _markers(summaries, baselines), language, suffix))
    if len(pairs) < len(comparison.pairs):
        total = count(len(comparison.pairs))
        more = localized("verdict.first-pairs", language, n=count(len(pairs)), total=total)
        blocks.append(Notes((NoteLine("na", more),)))
    refused = [refusal_sentence(each, language) for each in comparison.incomparable]
    if refused:
        blocks.append(Notes(tuple(NoteLine("na", text) for text in refused)))
    measure = localized(f"verdict.measure-{comparison.measure}", language)
    title, caption = localized("statistics.pairs", language), pairs_caption(pairs, language)
    return Card(tuple(blocks), title, caption if pairs else "", measure)


def _pairs_link(comparison: ComparisonSet, language: Language, address: str) -> Notes:
    """How many pairs are told apart, which cannot be, and the way to the page of the pairs."""
    pairs = comparison.pairs
    apart = sum(pair.has_winner for pair in pairs)
    told = localized("statistics.told-apart", language, k=count(apart), n=count(len(pairs)))
    compare = Link(localized("statistics.compare", language), address)
    refused = (refusal_sentence(each, language) for each in comparison.incomparable)
    return Notes((NoteLine("na", told, link=compare), *(NoteLine("na", each) for each in refused)))


def pairs_caption(pairs: Sequence[CellComparison], language: Language) -> str:
    """How to read the marks of differences; grey is explained where there is any."""
    grey = any(pair.undetected_difference is not None for pair in pairs)
    return localized("statistics.caption_grey" if grey else "statistics.caption", language)


def _markers(summaries: Sequence[Summary], baselines: Collection[str]) -> Markers:
    return Markers(tuple(dict.fromkeys(s.cell.model for s in summaries)), baselines)


def _pair_table(
    pairs: Sequence[CellComparison],
    markers: Markers,
    language: Language,
    suffix: str,
) -> Table:
    """Each pair with its difference as a mark and in figures."""
    known = messages(language)
    axis = points_axis(100 * end for pair in pairs for end in pair.ends)
    columns = (
        Column(known("statistics.pair"), width=_NAME_WIDTH),
        Column("", axis=axis, rule=(0.0, known("statistics.equal"))),
        *(Column(known(f"statistics.{key}"), right=True, width=w) for key, w in _WIDTHS.items()),
        Column(known("statistics.finding"), width=_FINDING_WIDTH),
    )
    rows = tuple(
        (
            TextCell(_names(pair, language), pair.settings),
            pair_plot(pair, markers.cell(pair.first.model)),
            *_pair(pair, language),
        )
        for pair in pairs
    )
    return Table(columns, rows, lead=True, file=f"differences{suffix}.png")


def pair_plot(pair: CellComparison, first: ModelCell) -> PlotCell:
    """The difference of a pair on an axis of points, with the marker of its first model."""
    paired, missed = pair.paired, pair.undetected_difference
    return PlotCell(
        (PlotMark(100 * paired.difference, 100 * paired.low, 100 * paired.high),),
        first.place,
        first.baseline,
        f"{format_points(pair)} ({format_points_range(paired)})",
        grey=None if missed is None else (-100 * missed, 100 * missed),
    )


def _pair(pair: CellComparison, language: Language) -> tuple[TableCell, ...]:
    table, tested = pair.mcnemar, pair.finding in ("apart", "level")
    only = localized(
        "statistics.only_of",
        language,
        first=count(table.first_only) if table else NONE,
        second=count(table.second_only) if table else NONE,
    )
    return (
        ValueCell(format_points(pair), "", format_points_range(pair.paired), size="large"),
        count(pair.n),
        only if table else NONE,
        mcnemar_cell(pair, language),
        p_column(pair.adjusted) if tested else NONE,
        finding_text(pair, language),
    )


def finding_text(pair: CellComparison, language: Language) -> str:
    """What the tests say of a pair, in a few words."""
    return localized(f"statistics.{_FINDINGS.get(pair.finding, pair.finding)}", language)


def mcnemar_cell(pair: CellComparison, language: Language) -> TableCell:
    """McNemar's mid-p of a pair, and the exact p below."""
    table = pair.mcnemar
    if table is None or table.mid is None or table.exact is None:
        return NONE
    exact = localized("statistics.exact", language, p=p_value(table.exact))
    return ValueCell(p_column(table.mid), below=exact, strong=False)


def _names(pair: CellComparison, language: Language) -> str:
    fields = {"first": pair.first.model, "second": pair.second.model}
    return localized("statistics.minus", language, **fields)


# ---------------------------------------------------------------- ranks


def _ranks(
    summaries: Sequence[Summary],
    comparison: ComparisonSet,
    language: Language,
    baselines: Collection[str],
) -> list[Block]:
    if not (comparison.ranks or set(comparison.unranked.values()) - {"baseline"}):
        return []
    markers = _markers(summaries, baselines)
    rows: list[tuple[TableCell, ...]] = [
        (
            str(each.band),
            markers.cell(each.name),
            f"{fixed(100 * each.value, 1)} %",
            band_text(each.low, each.high),
        )
        for each in comparison.ranks
    ]
    rows += [
        (NONE, markers.cell(cell.model), NONE, localized(f"verdict.unranked-{why}", language))
        for cell, why in comparison.unranked.items()
    ]
    keys = ("statistics.band", "column.model", "statistics.figure", "statistics.ranks")
    finding = " · ".join(
        f"{band_text(one.low, one.high)} {one.name}" for one in comparison.ranks[:3]
    )
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


# ---------------------------------------------------------------- errors


def errors_section(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str] = ()
) -> Details:
    """Each cell over its orders with its clustered error and its design effect."""
    markers = _markers(summaries, baselines)
    called = names(summaries, language)
    keys = ("cell", "kind", "figure", "se", "t", "deff", "n", "trials", "effective")
    answered = [summary for summary in summaries if summary.accuracy]
    rows = [(markers.cell(s.cell.model, called[s.cell][1]), *_error(s, language)) for s in answered]
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
    clustered, n = s.mean_over_orders, count(s.n)
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
    clustered = s.mean_over_orders
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
    chart = partial(questions_of, comparison, known, size=size)
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


def _least(difference: float | None, language: Language) -> str:
    if difference is None:
        return NONE
    value = format_least_difference(difference)
    return localized("statistics.points", language, value=value)


def statistics_document(report: Report, language: Language) -> Iterator[Block]:
    """A heading and the pairs of each comparison; nothing where no two models answered."""
    shown = [summary for summary in with_question(report.summaries) if summary.accuracy]
    made = comparisons(shown, baselines=report.baselines)
    called = names(report.summaries, language)
    for number, comparison in enumerate(made, start=1):
        kind = (comparison.dataset, comparison.label)
        own = [s for s in shown if (s.cell.dataset, s.cell.label) == kind]
        parts = [localized("statistics.pairs-title", language)]
        if len(made) > 1:
            parts.append(called[own[0].cell][1])
        yield Heading(2, " · ".join(parts))
        suffix = f"-{number}" if len(made) > 1 else ""
        yield from statistics_blocks(
            own, comparison, language, baselines=report.baselines, suffix=suffix
        )


STATISTICS = Analysis(lambda report: bool(report.summaries), statistics_document)
