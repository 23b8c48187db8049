"""The pictures of a report as files, as its Markdown names them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

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
from evalui.report.figures.base import Part, note, on_paper, plain
from evalui.report.figures.browser import draw_by_browser
from evalui.report.figures.paper import draw_png
from evalui.report.figures.plots import strips
from evalui.report.figures.theme import (
    FAINT,
    GRID,
    NEUTRAL,
    SURFACE,
    SeriesStyle,
    matplotlib_installed,
    series_style,
    wrap_text,
)
from evalui.report.words import shorten_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LOG = logging.getLogger(__name__)
_ROW, _MARK, _BAND = 58, 12, 10  # pixels of a model, of its marks and of their ranges
_MIN_WIDE = 560  # pixels of any picture
_EDGE = 12  # pixels around titles
_HEIGHT = 450  # pixels of a chart that states none
_TITLE, _SUBTITLE = 24, 18  # pixels of a line


def pictures(blocks: Iterable[Block], *, browser: bool = False) -> Iterator[tuple[str, bytes]]:
    """Name and PNG of each chart and of each table with a plot.

    A `browser` draws charts if there is one. Everything else, and tables, which are no figures on
    a page, matplotlib draws, if it is installed.
    """
    drawn = tuple(_drawn(blocks))
    charts = {
        block.file: titled(block.draw(), block.title, block.caption)
        for block, _, _ in drawn
        if isinstance(block, ChartBlock)
    }
    made = draw_by_browser(charts) if browser else {}
    missing: list[str] = []
    for block, title, caption in drawn:
        picture = made.get(block.file)
        if picture is None and matplotlib_installed():
            is_chart = isinstance(block, ChartBlock)
            figure = charts[block.file] if is_chart else titled(table_figure(block), title, caption)
            picture = draw_png(figure)
        if picture is None:
            missing.append(block.file)
        else:
            yield block.file, picture
    if missing:
        why = "a browser" if matplotlib_installed() else "matplotlib"
        _LOG.warning("Not drawn without %s: %s", why, ", ".join(missing))


def titled(drawn: go.Figure, title: str = "", subtitle: str = "") -> Part:
    """The figure on paper with title and subtitle above it, as JSON has it."""
    figure = cast("Part", on_paper(drawn).to_dict())
    layout: Part = figure["layout"]
    width = max(_MIN_WIDE, layout.get("width", _MIN_WIDE))
    titles, lines = _wrapped(title, width, 16), _wrapped(subtitle, width, 12)
    below_titles = _EDGE + _TITLE * len(titles)
    above = below_titles + _SUBTITLE * len(lines)
    margin = {"l": 0, "r": 0, "t": 0, "b": 0} | layout.get("margin", {})
    headings = [
        _heading(titles, {"size": 16, "weight": 600}, margin["t"] + above - _EDGE),
        _heading(lines, {"size": 12, "color": FAINT}, margin["t"] + above - below_titles),
    ]
    notes = [*layout.get("annotations", ()), *(each for each in headings if each["text"])]
    wider = {"t": margin["t"] + above, "r": margin["r"] + width - layout.get("width", width)}
    figure["layout"] = layout | {
        "margin": margin | wider,
        "width": width,
        "height": layout.get("height", _HEIGHT) + above,
        "annotations": notes,
    }
    return figure


def _wrapped(text: str, width: float, size: int) -> list[str]:
    lines = wrap_text(text, width - 2 * _EDGE, size=size)
    return [line for line in lines if line]


def _heading(lines: Sequence[str], font: Part, rise: float) -> Part:
    """Lines above the plot, their upper end `rise` pixels above it."""
    place: Part = {"xref": "paper", "x": 0, "xanchor": "left", "xshift": _EDGE}
    place |= {"yref": "paper", "y": 1, "yanchor": "top", "yshift": rise}
    return note(str(plain("\n".join(lines))), faint=False, font=font, **place)


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


def table_figure(table: Table) -> go.Figure:
    """The marks of a table as a figure of their own; its rows are named by their models.

    Ranges are pale bands, the marks of a model are joined by a line.
    """
    place, column = next((at, one) for at, one in enumerate(table.columns) if one.axis)
    assert column.axis is not None, "of the column just found"
    marked = [(y, row[place]) for y, row in enumerate(table.rows)]
    cells = [(y, cell) for y, cell in marked if isinstance(cell, PlotCell)]
    shapes = [
        {
            "x0": cell.grey[0],
            "x1": cell.grey[1],
            "y0": y - 0.5,
            "y1": y + 0.5,
            "fillcolor": GRID,
            "opacity": 0.6,
            "line": {"width": 0},
            "layer": "below",
        }
        for y, cell in cells
        if cell.grey
    ]
    return strips(
        [_name(row) for row in table.rows],
        [trace for y, cell in cells for trace in _traces(y, cell)],
        replace(column.axis, title=""),
        row_height=_ROW,
        rule=column.rule,
        shapes=shapes,
    )


def _traces(y: float, cell: PlotCell) -> Iterator[Part]:
    """Bands, the line that joins the marks, then these: hollow ones first, as they lie below."""
    style = SeriesStyle(NEUTRAL, "diamond") if cell.baseline else series_style(cell.place)
    marks = sorted(cell.marks, key=lambda mark: not mark.hollow)
    line: Part = {"type": "scatter", "mode": "lines", "cliponaxis": False}
    for mark in marks:
        if mark.low is not None and mark.high is not None:
            band = {"color": style.colour, "width": _BAND}
            yield line | {"x": [mark.low, mark.high], "y": [y, y], "line": band, "opacity": 0.18}
    values = [mark.value for mark in marks]
    yield line | {"x": values, "y": [y] * len(values), "line": {"color": style.colour, "width": 2}}
    for mark in marks:
        edge = {"color": style.colour, "width": 2 if mark.hollow else 0}
        fill = SURFACE if mark.hollow else style.colour
        look = {"symbol": style.symbol, "size": _MARK, "color": fill, "line": edge}
        yield {"type": "scatter", "mode": "markers", "x": [mark.value], "y": [y], "marker": look}


def _name(row: Sequence[TableCell]) -> str:
    """The model of the row, else its first cell."""
    models = (shorten_name(cell.name) for cell in row if isinstance(cell, ModelCell))
    first = row[0].text if isinstance(row[0], TextCell) else row[0]
    return next(models, first if isinstance(first, str) else "")
