"""Descriptions of charts as Plotly figures, and as tables of the same values.

Plotly reads a few HTML tags in every text it draws, and the texts of a description may be those of
models: all of them are escaped here. Sizes are pixels, as in `charts.space`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from math import log10
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go

from evalui.report.axes import Axis
from evalui.report.charts.kinds import (
    Bars,
    Cells,
    Chart,
    HeatMap,
    Label,
    Line,
    Lines,
    SmallMultiples,
)
from evalui.report.charts.space import (
    BELOW,
    FOOT,
    KEY,
    PANEL_TITLE,
    Paper,
    Space,
    column_count,
    panel_corners,
    panel_space,
    space_of,
)
from evalui.report.charts.theme import (
    FAINT,
    GRID,
    INK,
    NEUTRAL,
    SCALES,
    SURFACE,
    Scale,
    browser_text_width,
    truncate_text,
)

PAPER = Paper(wide=640, widest=900, text_width=browser_text_width)
_KEY_TICKS = [step / 4 for step in range(5)]  # of a key of colours
_EDGE = 8  # pixels around everything
_BARS = BELOW - 24  # pixels of bars below another chart
_LINE = 16  # pixels of a line of text
_SMALL = 12  # pixels of letters that are not the main thing
_NO_LINKS: Mapping[str, str] = MappingProxyType({})
Part = dict[str, Any]  # of a figure: a trace, an axis, a shape, an annotation


@dataclass(frozen=True, slots=True)
class FigureColours:
    """The colours of everything that is no data."""

    ink: str
    faint: str
    grid: str
    surface: str


PAPER_COLOURS = FigureColours(INK, FAINT, GRID, SURFACE)
# Of a page, which may be light or dark: its script puts in what these stand for.
PAGE_COLOURS = FigureColours("var(--ink)", "var(--ink-3)", "var(--grid)", "var(--surface)")


def plotly_figure(
    chart: Chart,
    *,
    links: Mapping[str, str] = _NO_LINKS,
    colours: FigureColours = PAPER_COLOURS,
) -> go.Figure:
    """The chart at its natural size.

    `links` are addresses by the keys of cells and marks, "0,2"; they are the marks' `customdata`.
    """
    drawing = _Drawing(links, colours)
    space = space_of(chart, PAPER)
    match chart:
        case HeatMap():
            drawing.heat_map(chart, space, _EDGE + space.left, _EDGE + space.top)
        case Lines():
            drawing.lines(chart, space)
        case SmallMultiples():
            drawing.small_multiples(chart)
    width = 2 * _EDGE + space.left + space.width + space.right
    return drawing.figure(width, 2 * _EDGE + space.top + space.height + space.bottom)


class _Drawing:
    """The parts of one figure, at places in pixels from its upper left corner.

    Plotly places axes by shares of the figure, which are known when all parts are: until then
    `_areas` holds pixels.
    """

    def __init__(self, links: Mapping[str, str], colours: FigureColours) -> None:
        self._links = links
        self._colours = colours
        self._traces: list[Part] = []
        self._annotations: list[Part] = []
        self._shapes: list[Part] = []
        self._areas: list[tuple[tuple[float, float, float, float], Part, Part]] = []
        self._keys: list[tuple[Part, float, float]] = []  # of colours: their left and upper ends

    def figure(self, width: float, height: float) -> go.Figure:
        # Plotly looks for a class of pandas wherever something has begun to import it, such as
        # Gradio in another thread: here it waits for the end of that.
        import_module("pandas")
        layout: Part = {"annotations": self._annotations, "shapes": self._shapes}
        for number, ((left, top, wide, high), across, up) in enumerate(self._areas, start=1):
            name = "" if number == 1 else str(number)
            across = {**across, "domain": [left / width, min(1.0, (left + wide) / width)]}
            up = {**up, "domain": [max(0.0, 1 - (top + high) / height), 1 - top / height]}
            layout |= {
                f"xaxis{name}": {**across, "anchor": f"y{name}"},
                f"yaxis{name}": {**up, "anchor": f"x{name}"},
            }
        for key, left, top in self._keys:
            key |= {"x": left / width, "y": 1 - top / height}
        return go.Figure(
            data=self._traces,
            layout={
                **layout,
                "width": round(width),
                "height": round(height),
                "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
                "paper_bgcolor": self._colours.surface,
                "plot_bgcolor": "rgba(0,0,0,0)",
                "font": {"color": self._colours.ink, "size": 13},
                "hoverlabel": {
                    "bgcolor": self._colours.surface,
                    "bordercolor": self._colours.faint,
                    "font": {"color": self._colours.ink, "size": 13},
                    "align": "left",
                    "namelength": 0,
                },
                "template": "none",
                "showlegend": False,
                "dragmode": False,
                "hovermode": "closest",
            },
        )

    # ------------------------------------------------------------ heat maps

    def heat_map(
        self, chart: HeatMap, space: Space, left: float, top: float, *, named: bool = True
    ) -> None:
        """Cells under the heads of their columns; `named` rows have names."""
        size = max(1, len(chart.rows))
        across: Part = {
            **_FIXED,
            "range": [-0.5, column_count(chart) - 0.5],
            "side": "top",
            "tickvals": list(chart.places or range(len(chart.columns))),
            "ticktext": [_stacked(label) for label in chart.columns],
        }
        up: Part = {
            **_FIXED,
            "range": [-0.5, size - 0.5] if chart.counted else [size - 0.5, -0.5],
            "tickvals": list(range(len(chart.rows))) if named else [],
            "ticktext": [_stacked(label) for label in chart.rows] if named else [],
            "ticklabelstandoff": 6,
        }
        number = self._area((left, top, space.width, space.height), across, up)
        for cells in chart.layers:
            self._traces.append(self._cells(chart, cells, number))
        if chart.key:
            key = self._key(chart, space.height)
            self._traces[-len(chart.layers)] |= {"showscale": True, "colorbar": key}
            self._keys.append((key, left + space.width + space.right - KEY + 16, top))
        refs = _refs(number)
        for row, column in chart.missing:
            self._note("–", x=column, y=row, **refs)
        for place in range(size) if chart.diagonal else ():
            corners = {"x0": place - 0.5, "x1": place + 0.5, "y0": place - 0.5, "y1": place + 0.5}
            self._shapes.append(
                {**refs, **corners, "line": {"color": NEUTRAL, "width": 2}, "layer": "above"}
            )
        beside = _refs(number, across=" domain")
        for row, note in chart.beside:
            self._note(_lines(note), x=1, y=row, xanchor="left", xshift=8, **beside)
        domain = _refs(number, across=" domain", up=" domain")
        if chart.column_title:
            self._note(_lines(chart.column_title), x=0.5, y=1, yshift=38, **domain)
        if chart.row_title:
            shift = space.left - 6
            self._note(_lines(chart.row_title), x=0, y=0.5, xshift=-shift, textangle=-90, **domain)
        if chart.foot:
            self._note(_lines(chart.foot), x=0, y=0, xanchor="left", yshift=-16, **domain)
        if chart.below:
            below = (left, top + space.height + 8, space.width, _BARS)
            self._bars(chart.below, below, [-0.5, column_count(chart) - 0.5])

    def _key(self, chart: HeatMap, height: float) -> Part:
        """A key of the colours of the first layer, to be placed."""
        look = {"size": _SMALL, "color": self._colours.faint}
        low, high = chart.layers[0].low, chart.layers[0].high
        ticks = [tick for tick in _KEY_TICKS if low <= tick <= high]
        return {
            "xanchor": "left",
            "yanchor": "top",
            "xpad": 0,
            "ypad": 0,
            "outlinewidth": 0,
            "len": height,
            "lenmode": "pixels",
            "thickness": 10,
            "tickvals": ticks,
            "ticktext": [f"{100 * tick:.0f} %" for tick in ticks],
            "tickfont": look,
            "title": {"text": _lines(chart.key), "side": "right", "font": look},
        }

    def _cells(self, chart: HeatMap, cells: Cells, number: int) -> Part:
        columns = len(cells.values[0]) if cells.values else 0
        printed = chart.printed and bool(cells.text)
        trace: Part = {
            "type": "heatmap",
            **_axes(number),
            "z": [list(row) for row in cells.values],
            "x": [cells.left + place for place in range(columns)],
            "y": list(range(len(cells.values))),
            "zmin": cells.low,
            "zmax": cells.high,
            "colorscale": _colour_scale(cells.scale),
            "showscale": False,
            "xgap": 3,
            "ygap": 3,
            "hoverongaps": False,
        }
        if printed:
            trace |= {
                "text": [[_stacked(label) for label in row] for row in cells.text],
                "texttemplate": "%{text}",
                "textfont": {"color": self._colours.ink, "size": 13},
            }
        if cells.keys:
            trace["customdata"] = [[self._link(keys) for keys in row] for row in cells.keys]
        return trace | _hover([[_lines(hover) for hover in row] for row in cells.hover])

    # ------------------------------------------------------------ lines

    def lines(self, chart: Lines, space: Space) -> None:
        """Lines over two axes of values."""
        left, top = _EDGE + space.left, _EDGE + space.top
        across = self._value_axis(chart.x)
        up = self._value_axis(chart.y)
        number = self._area((left, top, space.width, space.height), across, up)
        for each in chart.lines:
            self._traces.append(self._line(each, number))
        refs = _refs(number)
        place = log10 if chart.x.logarithmic else float
        for each in chart.lines:
            for x, y, label in zip(each.x, each.y, each.labels, strict=False):
                if label:
                    note = {"x": place(x), "y": y, "xanchor": "left", "xshift": 4, "yshift": 10}
                    self._note(_lines(label), faint=False, **note, **refs)
        if chart.marked is not None:
            ends = {"x0": chart.marked, "x1": chart.marked, "y0": 0, "y1": 1}
            self._shapes.append({**_refs(number, up=" domain"), **ends, **_DOTTED})
        if chart.note:
            x, y, note = chart.note
            self._note(_lines(note), x=place(x), y=y, xanchor="left", yshift=-8, **refs)
        if chart.below:
            below = (left, top + space.height + FOOT + 36, space.width, _BARS)
            self._bars(chart.below, below, [chart.x.low, chart.x.high])

    def _line(self, line: Line, number: int) -> Part:
        points = line.dash == "points"
        trace: Part = {
            "type": "scatter",
            **_axes(number),
            "x": list(line.x),
            "y": list(line.y),
            "mode": "markers" if points else "lines",
        }
        if points:
            each = [line.colours[min(at, len(line.colours) - 1)] for at in range(len(line.x))]
            trace["marker"] = {"size": 10, "color": each}
        else:
            trace["line"] = {"color": line.colours[0], "width": line.width, "dash": line.dash}
        if line.ranges:
            ends = list(zip(line.y, line.ranges, strict=True))
            trace["error_y"] = {
                "type": "data",
                "symmetric": False,
                "array": [high - y for y, (_, high) in ends],
                "arrayminus": [y - low for y, (low, _) in ends],
                "color": NEUTRAL,
                "thickness": 2,
                "width": 5,
            }
        if line.keys:
            trace["customdata"] = [self._link(keys) for keys in line.keys]
        return trace | _hover([_lines(hover) for hover in line.hover])

    def _value_axis(self, axis: Axis) -> Part:
        ends = (axis.low, axis.high)
        return {
            "type": "log" if axis.logarithmic else "linear",
            "range": [log10(end) for end in ends] if axis.logarithmic else list(ends),
            "tickvals": list(axis.ticks),
            "ticktext": [escape(label) for label in axis.labels],
            "tickfont": {"color": self._colours.faint},
            "gridcolor": self._colours.grid,
            "zeroline": False,
            "ticklabelstandoff": 4,
            "title": {
                "text": _lines(axis.title),
                "font": {"size": _SMALL, "color": self._colours.faint},
                "standoff": 10,
            },
        }

    # ------------------------------------------------------------ several

    def small_multiples(self, chart: SmallMultiples) -> None:
        """Heat maps side by side, each under its own title."""
        if not chart.panels:
            return
        one = panel_space(chart, PAPER)
        corner = (_EDGE + one.left, _EDGE)
        for column, panel, left, top in panel_corners(chart, one, corner, PAPER):
            strong = truncate_text(panel.title.strong, one.width, width=browser_text_width)
            self.heat_map(panel.chart, one, left, top + PANEL_TITLE + one.top, named=column == 0)
            number = len(self._areas)
            domain = _refs(number, across=" domain", up=" domain")
            title = _stacked(Label(strong, panel.title.plain))
            shift = one.top + PANEL_TITLE - 18
            self._note(title, x=0, y=1, xanchor="left", yshift=shift, faint=False, **domain)

    def _bars(
        self, chart: Bars, area: tuple[float, float, float, float], ends: Sequence[float]
    ) -> None:
        """Bars with their labels, and dotted lines across them with theirs."""
        across: Part = {**_FIXED, "range": list(ends), "showticklabels": False}
        up: Part = {**_FIXED, "range": [chart.axis.low, chart.axis.high], "showticklabels": False}
        number = self._area(area, across, up)
        refs = _refs(number)
        self._traces.append(
            {
                "type": "bar",
                **_axes(number),
                "x": [bar.x for bar in chart.bars],
                "y": [bar.value for bar in chart.bars],
                "width": chart.width,
                "marker": {"color": [bar.colour for bar in chart.bars], "opacity": chart.opacity},
                "cliponaxis": False,
                **_hover([_lines(bar.hover) for bar in chart.bars]),
            }
        )
        for bar in chart.bars:
            label = _inline(bar.label, self._colours.faint)
            at = (chart.axis.low, -12) if chart.foot else (bar.value, 12)
            self._note(label, x=bar.x, y=at[0], yshift=at[1], faint=False, **refs)
        first, last = (chart.bars[0].x, chart.bars[-1].x) if chart.bars else (0.0, 0.0)
        for level in chart.levels:
            line = {"x0": first - 0.42, "x1": last + 0.42, "y0": level.value, "y1": level.value}
            self._shapes.append({**refs, **line, **_DOTTED})
            # Of several lines the first does not reach above the bars.
            above = (chart.axis.high - level.value) / (chart.axis.high - chart.axis.low) * area[3]
            down = max(0.0, _LINE * level.text.count("\n") / 2 - above)
            note: Part = {"x": level.x, "y": level.value, "xanchor": "left", "xshift": 8}
            self._note(_lines(level.text), yshift=-down, **note, **refs)

    # ------------------------------------------------------------ parts

    def _area(self, area: tuple[float, float, float, float], across: Part, up: Part) -> int:
        """A pair of axes at left, top, width and height; the number by which others refer to it."""
        self._areas.append((area, across, up))
        return len(self._areas)

    def _note(self, text: str, *, faint: bool = True, **place: Any) -> None:
        look = {"size": _SMALL, "color": self._colours.faint} if faint else {}
        self._annotations.append(
            {"text": text, "showarrow": False, "align": "left", "font": look, **place}
        )

    def _link(self, keys: Sequence[object]) -> str:
        return self._links.get(",".join(map(str, keys)), "")


_FIXED: Part = {
    "showgrid": False,
    "zeroline": False,
    "fixedrange": True,
    "ticks": "",
}
_DOTTED: Part = {"type": "line", "line": {"color": NEUTRAL, "width": 1, "dash": "dot"}}


def _axes(number: int) -> Part:
    """The axes of a trace: Plotly calls the first ones x and y, and the second x2 and y2."""
    name = "" if number == 1 else str(number)
    return {"xaxis": f"x{name}", "yaxis": f"y{name}"}


def _refs(number: int, *, across: str = "", up: str = "") -> Part:
    """The axes of a shape or an annotation; with " domain" 0 to 1 are the ends of the plot."""
    axes = _axes(number)
    return {"xref": axes["xaxis"] + across, "yref": axes["yaxis"] + up}


def _hover(texts: Sequence[Any]) -> Part:
    return {"hovertext": texts, "hoverinfo": "text"} if texts else {"hoverinfo": "skip"}


def _colour_scale(scale: Scale) -> list[tuple[float, str]]:
    return [(at, _rgba(colour, opacity)) for at, colour, opacity in SCALES[scale]]


def _rgba(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _lines(text: str) -> str:
    return "<br>".join(map(escape, text.split("\n")))


def _stacked(label: Label) -> str:
    """The parts of a label below each other."""
    strong = f"<b>{_lines(label.strong)}</b>" if label.strong else ""
    if not (strong and label.plain):
        return strong or _lines(label.plain)
    return f'{strong}<br><span style="font-size:12px">{_lines(label.plain)}</span>'


def _inline(label: Label, faint: str) -> str:
    """The parts of a label beside each other."""
    if not (label.strong and label.plain):
        return _stacked(label)
    plain = f'<span style="color:{faint}">{_lines(label.plain)}</span>'
    return f"<b>{_lines(label.strong)}</b> {plain}"
