"""The pictures of a report as files, as its Markdown names them."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from evalui.report.blocks import (
    Block,
    Card,
    ChartBlock,
    Details,
    ModelCell,
    PlotCell,
    Table,
    TableCell,
    TextCell,
)
from evalui.report.charts.browser import TitledChart, draw_by_browser
from evalui.report.charts.kinds import Intervals, Label, Mark, Series
from evalui.report.charts.png import draw_png
from evalui.report.charts.theme import (
    NEUTRAL,
    SeriesStyle,
    matplotlib_installed,
    series_style,
    shorten_name,
)

_LOG = logging.getLogger(__name__)
_ROW = 58  # pixels of a model


def pictures(blocks: Iterable[Block], *, browser: bool = False) -> Iterator[tuple[str, bytes]]:
    """Name and PNG of each chart and of each table with a plot.

    Charts are the figures of pages if a `browser` may draw them and there is one. Everything else,
    and tables, which are no figures on a page, matplotlib draws, if it is installed.
    """
    drawn = tuple(_drawn(blocks))
    charts = [block for block, _, _ in drawn if isinstance(block, ChartBlock)]
    made = (
        draw_by_browser(
            {one.file: TitledChart(one.chart, one.title, one.caption) for one in charts}
        )
        if browser
        else {}
    )
    missing: list[str] = []
    for block, title, caption in drawn:
        if block.file in made:
            yield block.file, made[block.file]
        elif not matplotlib_installed():
            missing.append(block.file)
        elif isinstance(block, ChartBlock):
            named = {"title": block.title, "subtitle": block.caption}
            yield block.file, draw_png(block.chart, **named)
        else:
            yield block.file, draw_png(table_chart(block), title=title, subtitle=caption)
    if missing:
        _LOG.warning("Not drawn without matplotlib: %s", ", ".join(missing))


def _drawn(
    blocks: Iterable[Block], title: str = "", caption: str = ""
) -> Iterator[tuple[ChartBlock | Table, str, str]]:
    """What is drawn, with title and caption of the card around it."""
    for block in blocks:
        match block:
            case Card():
                yield from _drawn(block.blocks, block.title or title, block.caption)
            case Details():
                yield from _drawn(block.blocks, block.name)
            case ChartBlock() | Table() if block.file:
                yield block, title, caption
            case _:
                pass


def table_chart(table: Table) -> Intervals:
    """The marks of a table as a chart of their own; its rows are named by their models."""
    place, column = next((at, one) for at, one in enumerate(table.columns) if one.axis)
    assert column.axis is not None, "of the column just found"
    rows = [(_name(row), row[place]) for row in table.rows]
    drawn = [(at, cell) for at, (_, cell) in enumerate(rows) if isinstance(cell, PlotCell)]
    return Intervals(
        rows=[Label(name) for name, _ in rows],
        series=[Series(_style(cell), _marks(at, cell)) for at, cell in drawn],
        axis=replace(column.axis, title=""),
        row_height=_ROW,
        grey=[(at, *cell.grey) for at, cell in drawn if cell.grey],
        rule=column.rule,
    )


def _name(row: Sequence[TableCell]) -> str:
    """The model of the row, else its first cell."""
    models = (shorten_name(cell.name) for cell in row if isinstance(cell, ModelCell))
    first = row[0].text if isinstance(row[0], TextCell) else row[0]
    return next(models, first if isinstance(first, str) else "")


def _style(cell: PlotCell) -> SeriesStyle:
    return SeriesStyle(NEUTRAL, "diamond") if cell.baseline else series_style(cell.place)


def _marks(row: int, cell: PlotCell) -> list[Mark]:
    """Hollow marks first, as they lie below."""
    ordered = sorted(cell.marks, key=lambda mark: not mark.hollow)
    return [Mark(row, mark.value, mark.low, mark.high, hollow=mark.hollow) for mark in ordered]
