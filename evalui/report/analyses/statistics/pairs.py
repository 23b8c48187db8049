"""Every two models of a dataset and mode, paired by question: marks of their differences."""

from collections.abc import Collection, Mapping, Sequence

from evalui.messages import localized, messages
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.statistics import (
    CellComparison,
    ComparisonSet,
    format_points,
    format_points_range,
    refusal_sentence,
)
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Column,
    NoteLine,
    Notes,
    PlotCell,
    PlotMark,
    Table,
    TableCell,
    ValueCell,
)
from evalui.report.charts.kinds import points_axis
from evalui.report.numbers import count, p_column, p_value
from evalui.types import Language

_FINDINGS = {"steady": "apart"}  # what the tables call a finding by the name of another
_MOST_PAIRS = 200  # in a chart or table: more would take a browser, and a picture, too long
# Pixels of columns: what they leave is for the marks.
_WIDTHS = {"difference": 128, "n": 88, "only": 88, "mcnemar": 128, "holm": 96}
_NAME_WIDTH, _FINDING_WIDTH = 200, 128


def pairs_card(
    summaries: Sequence[Summary],
    comparison: ComparisonSet,
    language: Language,
    baselines: Collection[str],
    suffix: str,
) -> Card:
    """Every pair of a comparison, and those that cannot be compared."""
    pairs = comparison.pairs[:_MOST_PAIRS]
    blocks: list[Block] = []
    if pairs:
        blocks.append(_pair_table(pairs, _marker_places(summaries, baselines), language, suffix))
    if len(pairs) < len(comparison.pairs):
        total = count(len(comparison.pairs))
        more = localized("statistics.first_pairs", language, n=count(len(pairs)), total=total)
        blocks.append(Notes((NoteLine("na", more),)))
    refused = [refusal_sentence(each, language) for each in comparison.incomparable]
    if refused:
        blocks.append(Notes(tuple(NoteLine("na", text) for text in refused)))
    measure = localized(f"measure-{comparison.measure}", language)
    title, caption = localized("statistics.pairs", language), pairs_caption(pairs, language)
    return Card(tuple(blocks), title, caption if pairs else "", measure)


def pairs_caption(pairs: Sequence[CellComparison], language: Language) -> str:
    """How to read the marks of differences; grey is explained where there is any."""
    grey = any(pair.undetected_difference is not None for pair in pairs)
    return localized("compare.caption_grey" if grey else "compare.caption", language)


def _marker_places(
    summaries: Sequence[Summary], baselines: Collection[str]
) -> dict[str, int | None]:
    """The place of each model's marker, None for a scripted one."""
    own = list(dict.fromkeys(s.cell.model for s in summaries if s.cell.model not in baselines))
    return {model: place for place, model in enumerate(own)} | dict.fromkeys(baselines)


def _pair_table(
    pairs: Sequence[CellComparison],
    places: Mapping[str, int | None],
    language: Language,
    suffix: str,
) -> Table:
    """Each pair with its difference as a mark and in figures."""
    known = messages(language)
    axis = points_axis(100 * end for pair in pairs for end in pair.ends)
    columns = (
        Column(known("statistics.pair"), width=_NAME_WIDTH),
        Column("", axis=axis, rule=(0.0, known("compare.equal"))),
        *(Column(known(f"statistics.{key}"), right=True, width=w) for key, w in _WIDTHS.items()),
        Column(known("statistics.finding"), width=_FINDING_WIDTH),
    )
    rows = tuple(
        (_names(pair, language), pair_plot(pair, places[pair.first.model]), *_pair(pair, language))
        for pair in pairs
    )
    return Table(columns, rows, lead=True, file=f"differences{suffix}.png")


def pair_plot(pair: CellComparison, place: int | None) -> PlotCell:
    """The difference of a pair on an axis of points; `place` None is that of a scripted model."""
    paired, missed = pair.paired, pair.undetected_difference
    return PlotCell(
        (PlotMark(100 * paired.difference, 100 * paired.low, 100 * paired.high),),
        place or 0,
        place is None,
        f"{format_points(paired)} ({format_points_range(paired)})",
        grey=None if missed is None else (-100 * missed, 100 * missed),
    )


def _pair(pair: CellComparison, language: Language) -> tuple[TableCell, ...]:
    table, tested = pair.mcnemar, pair.finding in ("apart", "level")
    ends = "" if pair.paired.all_equal else format_points_range(pair.paired)
    only = localized(
        "statistics.only_of",
        language,
        first=count(table.first_only) if table else NONE,
        second=count(table.second_only) if table else NONE,
    )
    return (
        ValueCell(format_points(pair.paired), "", ends),
        count(pair.n),
        only if table else NONE,
        _mcnemar(pair, language),
        p_column(pair.adjusted) if tested else NONE,
        localized(f"statistics.{_FINDINGS.get(pair.finding, pair.finding)}", language),
    )


def _mcnemar(pair: CellComparison, language: Language) -> TableCell:
    table = pair.mcnemar
    if pair.too_few_questions or table is None or table.mid is None or table.exact is None:
        return NONE
    exact = localized("statistics.exact", language, p=p_value(table.exact))
    return ValueCell(p_column(table.mid), below=exact, strong=False)


def _names(pair: CellComparison, language: Language) -> str:
    fields = {"first": pair.first.model, "second": pair.second.model}
    return localized("statistics.minus", language, **fields)
