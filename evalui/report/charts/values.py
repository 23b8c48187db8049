"""What a chart shows, as tables: for who cannot see it, for paper without a script, and as CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalui.report.charts.kinds import Bars, Chart, HeatMap, Label, Line, Lines, SmallMultiples


@dataclass(frozen=True, slots=True)
class ChartValue:
    """One cell or mark of a chart in words; its `key` may have an address, "0,2"."""

    text: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class ChartTable:
    """The values of a chart, or of a panel of it; the first of the heads stands above the names."""

    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[ChartValue]]]
    title: str = ""


def chart_tables(chart: Chart) -> Iterator[ChartTable]:
    """One table, or one for each of several charts."""
    match chart:
        case HeatMap():
            yield _heat_map_table(chart)
        case Lines():
            yield _line_table(chart)
        case SmallMultiples():
            for panel in chart.panels:
                yield _heat_map_table(panel.chart, _words(panel.title))


def _heat_map_table(chart: HeatMap, title: str = "") -> ChartTable:
    columns = [*map(_words, chart.columns)]
    rows = [[ChartValue("")] * len(columns) for _ in chart.rows]
    places = list(chart.places or range(len(columns)))
    for cells in chart.layers:
        for y, values in enumerate(cells.values):
            for x, value in enumerate(values):
                if value is not None:
                    hover = cells.hover[y][x] if cells.hover else ""
                    words = hover or (_words(cells.text[y][x]) if cells.text else f"{value:.3g}")
                    key = _key(cells.keys[y][x]) if cells.keys else ""
                    rows[y][places.index(cells.left + x)] = ChartValue(_flat(words), key)
    named = [(_words(label), row) for label, row in zip(chart.rows, rows, strict=True)]
    return ChartTable((chart.row_title, *columns), [*named, *_bar_rows(chart.below)], title)


def _line_table(chart: Lines) -> ChartTable:
    rows = [row for line in chart.lines for row in _line_rows(line)]
    return ChartTable((chart.x.title, chart.y.title), [*rows, *_bar_rows(chart.below)])


def _line_rows(line: Line) -> Iterator[tuple[str, Sequence[ChartValue]]]:
    for place, (x, y) in enumerate(zip(line.x, line.y, strict=True)):
        low, high = line.ranges[place] if line.ranges else (y, y)
        words = f"{y:.3g}" + (f" ({low:.3g}–{high:.3g})" if line.ranges else "")
        hover = line.hover[place] if line.hover else ""
        key = _key(line.keys[place]) if line.keys else ""
        yield f"{x:.6g}", [ChartValue(_flat(hover) or words, key)]


def _bar_rows(bars: Bars | None) -> Iterator[tuple[str, Sequence[ChartValue]]]:
    if bars and bars.bars:
        levels = " · ".join(_flat(level.text) for level in bars.levels)
        yield levels, [ChartValue(_flat(bar.hover) or _words(bar.label)) for bar in bars.bars]


def _words(label: Label) -> str:
    return _flat(f"{label.strong} {label.plain}".strip())


def _flat(text: str) -> str:
    return " ".join(text.split("\n"))


def _key(keys: Sequence[object]) -> str:
    return ",".join(map(str, keys))
