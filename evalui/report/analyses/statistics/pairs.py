"""Every two models of a comparison, drawn and tested, as a card."""

from collections.abc import Collection, Mapping, Sequence

from evalui.messages import localized
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.statistics import (
    CellComparison,
    ComparisonSet,
    format_points,
    format_points_range,
    pair_sentence,
    refusal_sentence,
)
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Column,
    ModelCell,
    NoteLine,
    Notes,
    PlotCell,
    PlotMark,
    Table,
    TableCell,
    ValueCell,
)
from evalui.report.charts.calibration import difference_subtitle, points_axis
from evalui.report.numbers import count, p_column, p_value
from evalui.types import Language

_FINDINGS = {"steady": "apart"}  # what the tables call a finding by the name of another
_NAME_WIDTH = 184
_FINDING_WIDTH = 136
_WIDTHS = {"n": 84, "only": 88, "mcnemar": 124, "holm": 96}


def pairs_card(
    summaries: Sequence[Summary],
    comparison: ComparisonSet,
    language: Language,
    baselines: Collection[str],
    suffix: str,
) -> Card:
    """Every two models of one comparison: their difference with its range, drawn and tested."""
    pairs = comparison.pairs
    blocks: list[Block] = []
    if pairs:
        places = _places(summaries, baselines)
        blocks.append(_pair_table(pairs, language, places, f"differences{suffix}.png"))
    refused = [refusal_sentence(each, language) for each in comparison.incomparable]
    if refused:
        blocks.append(Notes(tuple(NoteLine("na", text) for text in refused)))
    title = localized("statistics.pairs", language)
    measure = localized(f"measure-{comparison.measure}", language)
    caption = difference_subtitle(pairs, language)
    return Card(tuple(blocks), f"{title} · {measure}", caption)


def _places(summaries: Sequence[Summary], baselines: Collection[str]) -> dict[str, int | None]:
    """The place of each model in the run, None of a baseline."""
    own = list(dict.fromkeys(s.cell.model for s in summaries if s.cell.model not in baselines))
    return dict.fromkeys(baselines) | {model: place for place, model in enumerate(own)}


def _pair_table(
    pairs: Sequence[CellComparison],
    language: Language,
    places: Mapping[str, int | None],
    file: str,
) -> Table:
    """A row for each pair: its difference drawn, and tested."""
    equal = localized("compare.equal", language)
    columns = (
        Column(localized("statistics.pair", language), width=_NAME_WIDTH),
        Column("", axis=points_axis(pairs), rule=(0.0, equal)),
        Column(localized("statistics.difference", language), lead=True, width=_FINDING_WIDTH),
        *(
            Column(localized(f"statistics.{key}", language), right=True, width=width)
            for key, width in _WIDTHS.items()
        ),
        Column(localized("statistics.finding", language), width=_FINDING_WIDTH),
    )
    rows = tuple(_pair(pair, language, places) for pair in pairs)
    return Table(columns, rows, lead=True, file=file)


def _pair(
    pair: CellComparison, language: Language, places: Mapping[str, int | None]
) -> tuple[TableCell, ...]:
    table, tested = pair.mcnemar, pair.finding in ("apart", "level")
    ends = "" if pair.paired.all_equal else format_points_range(pair.paired)
    only = localized(
        "statistics.only_of",
        language,
        first=count(table.first_only) if table else NONE,
        second=count(table.second_only) if table else NONE,
    )
    first, second = pair.first.model, pair.second.model
    place, sign = places.get(first), "+" if pair.paired.difference > 0 else ""
    over = localized("compare.over", language, name=second)
    return (
        ModelCell(first, place or 0, place is None, below=over),
        _mark(pair, place, language),
        ValueCell(f"{sign}{format_points(pair.paired)}", "", ends, size="lead"),
        count(pair.n),
        only if table else NONE,
        _mcnemar(pair, language),
        p_column(pair.adjusted) if tested else NONE,
        localized(f"statistics.{_FINDINGS.get(pair.finding, pair.finding)}", language),
    )


def _mark(pair: CellComparison, place: int | None, language: Language) -> PlotCell:
    """The difference in points with its range; grey is what may be missed."""
    paired, missed = pair.paired, pair.undetected_difference
    ends = (None, None) if paired.all_equal else (100 * paired.low, 100 * paired.high)
    return PlotCell(
        (PlotMark(100 * paired.difference, *ends),),
        place or 0,
        place is None,
        pair_sentence(pair, language),
        grey=(-100 * missed, 100 * missed) if missed else None,
    )


def _mcnemar(pair: CellComparison, language: Language) -> TableCell:
    table = pair.mcnemar
    if pair.too_few_questions or table is None or table.mid is None or table.exact is None:
        return NONE
    exact = localized("statistics.exact", language, p=p_value(table.exact))
    return ValueCell(p_column(table.mid), below=exact, strong=False)
