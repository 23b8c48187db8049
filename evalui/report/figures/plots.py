"""Plots at their natural size: heat maps, small multiples of them, and lines, with bars below.

Sizes are pixels of a page. Rows of a heat map count 0, 1, 2, … from the top.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log10
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from evalui.report.axes import Axis
from evalui.report.figures.base import (
    DOTTED,
    SMALL,
    Part,
    bold,
    figure,
    name_heads,
    note,
    widest,
)
from evalui.report.figures.theme import SCALES, Scale, transparent, truncate_text

if TYPE_CHECKING:
    import plotly.graph_objects as go

T = TypeVar("T")
Grid = Sequence[Sequence[T]]

WIDE, WIDEST = 640, 900  # charts with an axis of values, and small multiples side by side
_EDGE = 8  # around everything
_HEAD, _FOOT = 28, 28  # a line of labels above and below a plot
_MIN_COLUMN, _MIN_SMALL_COLUMN = 44, 24  # of a heat map, with and without text in its cells
_BARS = 32  # of bars below another chart, without their labels
_KEY = 84  # a key of colours beside a heat map, with its numbers and its name
_PANEL_TITLE, _PANEL_GAP = 44, 28  # above a panel, and between two
_PANELS_ACROSS = 3
_LINE = 16  # a line of text
_STRIP, _LEAST_PLOT = 752, 240  # strips with their names, and the plot beside long ones
_FIXED: Mapping[str, Any] = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}


# ---------------------------------------------------------------- plots on one figure


@dataclass(frozen=True, slots=True)
class Bars:
    """Values side by side below another chart, whose first axis they share.

    `labels` stand above the bars, with `foot` below them. `level` is the height of a dotted line
    across them, its text, and from where on that stands.
    """

    x: Sequence[float]
    y: Sequence[float]
    labels: Sequence[str]
    told: Sequence[str]
    top: float
    colours: Sequence[str]
    width: float = 0.5  # in units of the first axis
    opacity: float = 1.0
    foot: bool = False
    level: tuple[float, str, float] | None = None


class _Sheet:
    """Plots at places in pixels from the upper left corner of a figure.

    Plotly places axes by shares of the figure, which are known when all plots are.
    """

    def __init__(self) -> None:
        self.traces: list[Part] = []
        self.notes: list[Part] = []
        self.shapes: list[Part] = []
        self._plots: list[tuple[tuple[float, float, float, float], Part, Part]] = []

    def plot(self, left: float, top: float, width: float, height: float, x: Part, y: Part) -> int:
        """A pair of axes; the number by which others refer to it."""
        self._plots.append(((left, top, width, height), x, y))
        return len(self._plots)

    def figure(self, width: float, height: float) -> go.Figure:
        """Everything on a figure of this size."""
        layout: Part = {"annotations": self.notes, "shapes": self.shapes}
        for number, ((left, top, wide, high), x, y) in enumerate(self._plots, start=1):
            name = "" if number == 1 else str(number)
            x = {**x, "domain": [left / width, min(1.0, (left + wide) / width)]}
            y = {**y, "domain": [max(0.0, 1 - (top + high) / height), 1 - top / height]}
            layout |= {
                f"xaxis{name}": {**x, "anchor": f"y{name}"},
                f"yaxis{name}": {**y, "anchor": f"x{name}"},
            }
        for trace in self.traces:
            if key := trace.get("colorbar"):
                key |= {"x": key["x"] / width, "y": 1 - key["y"] / height}
        size = {"width": round(width), "height": round(height)}
        margin = {"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0}
        return figure(self.traces, **size, margin=margin, **layout)

    def cells(
        self,
        box: tuple[float, float, float, float],
        layers: Sequence[Cells],
        rows: Sequence[str],
        columns: Sequence[str],
        places: Sequence[float],
        *,
        printed: bool = True,
        upwards: bool = False,
        named: bool = True,
    ) -> int:
        """A heat map under the heads of its columns; `named` rows have names."""
        size = max(1, len(rows))
        x: Part = {
            **_FIXED,
            "range": [-0.5, max(1, places[-1] + 1 if places else 1) - 0.5],
            "side": "top",
            "tickvals": list(places),
            "ticktext": list(columns),
        }
        y: Part = {
            **_FIXED,
            "range": [-0.5, size - 0.5] if upwards else [size - 0.5, -0.5],
            "tickvals": list(range(len(rows))) if named else [],
            "ticktext": list(rows) if named else [],
            "ticklabelstandoff": 6,
        }
        number = self.plot(*box, x, y)
        for each in layers:
            trace: Part = {
                "type": "heatmap",
                **_axes(number),
                "z": each.values,
                "x": [each.left + place for place in range(len(each.values[0]))],
                "y": list(range(len(each.values))),
                "zmin": each.limits[0],
                "zmax": each.limits[1],
                "colorscale": _colour_scale(each.scale),
                "showscale": False,
                "xgap": 3,
                "ygap": 3,
                "hoverongaps": False,
                **_hover(each.told),
            }
            if printed and each.texts:
                font = {"color": "var(--ink)", "size": 13}
                trace |= {"text": each.texts, "texttemplate": "%{text}", "textfont": font}
            if each.hrefs:
                trace["customdata"] = each.hrefs
            self.traces.append(trace)
        return number

    def bars(
        self, bars: Bars, area: tuple[float, float, float, float], ends: Sequence[float]
    ) -> None:
        """Bars with their labels, and the dotted line across them."""
        hidden = {**_FIXED, "showticklabels": False}
        number = self.plot(
            *area, {**hidden, "range": list(ends)}, {**hidden, "range": [0, bars.top]}
        )
        self.traces.append(
            {
                "type": "bar",
                **_axes(number),
                "x": list(bars.x),
                "y": list(bars.y),
                "width": bars.width,
                "marker": {"color": list(bars.colours), "opacity": bars.opacity},
                "cliponaxis": False,
                **_hover(bars.told),
            }
        )
        for x, y, label in zip(bars.x, bars.y, bars.labels, strict=True):
            at: Part = {"y": 0, "yshift": -12} if bars.foot else {"y": y, "yshift": 12}
            self.notes.append(note(label, faint=False, x=x, **at, **_refs(number)))
        if bars.level:
            value, text, x = bars.level
            first, last = (bars.x[0], bars.x[-1]) if bars.x else (0.0, 0.0)
            line = {"x0": first - 0.42, "x1": last + 0.42, "y0": value, "y1": value}
            self.shapes.append({"type": "line", "line": DOTTED, **line, **_refs(number)})
            # Of several lines the first does not reach above the bars.
            above = (bars.top - value) / bars.top * area[3]
            down = max(0.0, _LINE * text.count("\n") / 2 - above)
            place: Part = {"x": x, "y": value, "xanchor": "left", "xshift": 8, "yshift": -down}
            self.notes.append(note(text, name="level", **place, **_refs(number)))


def _axes(number: int) -> Part:
    """The axes of a trace: Plotly calls the first ones x and y, and the second x2 and y2."""
    name = "" if number == 1 else str(number)
    return {"xaxis": f"x{name}", "yaxis": f"y{name}"}


def _refs(number: int, *, across: str = "", up: str = "") -> Part:
    """The axes of a shape or a note; with " domain" 0 to 1 are the ends of the plot."""
    axes = _axes(number)
    return {"xref": axes["xaxis"] + across, "yref": axes["yaxis"] + up}


def _hover(texts: Sequence[Any]) -> Part:
    return {"hovertext": texts, "hoverinfo": "text"} if texts else {"hoverinfo": "skip"}


# ---------------------------------------------------------------- heat maps


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a heat map that share a scale of colours, from the column `left` on.

    All grids have one shape: (rows, columns). A value None is no cell. `told` is the hover, `hrefs`
    lead to the questions that a cell counts.
    """

    values: Grid[float | None]
    scale: Scale
    limits: tuple[float, float] = (0.0, 1.0)
    texts: Grid[str] = ()
    told: Grid[str] = ()
    hrefs: Grid[str] = ()
    left: float = 0.0

    def greyed(self, few: Collection[int]) -> list[Cells]:
        """The rows of enough questions in their scale, and those of few in grey, if there are any.

        Each has all rows; those of the other one are empty.
        """
        rows = range(len(self.values))
        parts: list[tuple[Scale, set[int]]] = [(self.scale, {*rows} - {*few}), ("grey", {*few})]
        return [
            replace(
                self,
                scale=scale,
                values=[r if at in kept else [None] * len(r) for at, r in enumerate(self.values)],
                texts=[r if at in kept else [""] * len(r) for at, r in enumerate(self.texts)],
            )
            for scale, kept in parts
            if kept
        ]


def heat_map(
    layers: Sequence[Cells],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    row_height: int,
    places: Sequence[float] = (),
    printed: bool = True,
    upwards: bool = False,
    row_title: str = "",
    column_title: str = "",
    beside: Mapping[int, str] = MappingProxyType({}),
    foot: str = "",
    key: str = "",
    below: Bars | None = None,
    notes: Sequence[Part] = (),
    shapes: Sequence[Part] = (),
) -> go.Figure:
    """Coloured cells under the heads of their columns, which stand at 0, 1, 2, … or at `places`.

    `printed` cells have room for their texts. `beside` are notes right of rows, `foot` is one below
    all. A `key` names the colours of the first layer, unless that is grey. `notes` and `shapes`
    stand at rows and columns.
    """
    sheet, places = _Sheet(), places or range(len(columns))
    key = "" if layers[0].scale == "grey" else key
    top = _EDGE + _HEAD + 22 * bool(column_title)
    left = _EDGE + widest(rows) + 12 + 30 * bool(row_title)
    across = max(1, places[-1] + 1 if places else 1)  # columns, with the gaps between them
    width = _column_width(layers, columns, printed=printed) * across
    height = row_height * max(1, len(rows))
    right = max((8 + widest([text]) for text in beside.values()), default=0.0)
    number = sheet.cells(
        (left, top, width, height), layers, rows, columns, places, printed=printed, upwards=upwards
    )
    if key:
        sheet.traces[0] |= {
            "showscale": True,
            "colorbar": _key(key, layers[0].limits, left + width + right + 16, top, height),
        }
    data, domain = _refs(number), _refs(number, across=" domain", up=" domain")
    edge: Part = {**_refs(number, across=" domain"), "xanchor": "left", "xshift": 8}
    sheet.notes += [{**each, **data} for each in notes]
    sheet.notes += [note(text, x=1, y=row, **edge) for row, text in beside.items()]
    if column_title:
        sheet.notes.append(note(column_title, x=0.5, y=1, yshift=38, **domain))
    if row_title:
        place: Part = {"x": 0, "y": 0.5, "xshift": _EDGE + 6 - left, "textangle": -90, **domain}
        sheet.notes.append(note(row_title, name="rows", **place))
    if foot:
        sheet.notes.append(note(foot, x=0, y=0, xanchor="left", yshift=-16, **domain))
    sheet.shapes += [{**each, **data} for each in shapes]
    bottom = _FOOT if foot else 0
    if below:
        sheet.bars(below, (left, top + height + 8, width, _BARS), [-0.5, across - 0.5])
        bottom += 8 + _BARS + 24
    return sheet.figure(
        left + width + right + _KEY * bool(key) + _EDGE, top + height + bottom + _EDGE
    )


@dataclass(frozen=True, slots=True)
class Panel:
    """A small heat map under its own title; `notes` stand at rows and columns."""

    title: str
    below: str
    layers: Sequence[Cells]
    notes: Sequence[Part] = ()


def small_multiples(
    panels: Sequence[Panel], rows: Sequence[str], columns: Sequence[str], *, row_height: int
) -> go.Figure:
    """Heat maps of the same rows and columns side by side."""
    sheet = _Sheet()
    names, height = widest(rows) + 12, row_height * max(1, len(rows))
    widths = [_column_width(each.layers, columns, printed=True) for each in panels]
    width = max(widths, default=0.0) * max(1, len(columns))
    fitting = int((WIDEST - names) // (width + _PANEL_GAP))
    across = max(1, min(len(panels), _PANELS_ACROSS, fitting))
    step = _PANEL_TITLE + _HEAD + height + _PANEL_GAP
    for place, panel in enumerate(panels):
        down, over = divmod(place, across)
        x, y = _EDGE + names + over * (width + _PANEL_GAP), _EDGE + down * step
        box = (x, y + _PANEL_TITLE + _HEAD, width, height)
        number = sheet.cells(box, panel.layers, rows, columns, range(len(columns)), named=not over)
        sheet.notes += [{**each, **_refs(number)} for each in panel.notes]
        title = bold(truncate_text(panel.title, width), panel.below)
        at: Part = {"x": 0, "y": 1, "xanchor": "left", "yshift": _HEAD + _PANEL_TITLE - 18}
        at |= _refs(number, across=" domain", up=" domain")
        sheet.notes.append(note(title, faint=False, name="title", **at))
    size = (names + across * (width + _PANEL_GAP), -(-len(panels) // across) * step - _PANEL_GAP)
    return sheet.figure(*(2 * _EDGE + (each if panels else 0) for each in size))


def _column_width(layers: Sequence[Cells], columns: Sequence[str], *, printed: bool) -> float:
    heads = widest(columns) + 12
    if not printed:
        return max(_MIN_SMALL_COLUMN, heads)
    texts = widest(text for cells in layers for row in cells.texts for text in row)
    return max(_MIN_COLUMN, heads, texts + 32)


def _key(title: str, limits: tuple[float, float], left: float, top: float, height: float) -> Part:
    """A key of colours, to be placed among the plots."""
    ticks = [step / 4 for step in range(5) if limits[0] <= step / 4 <= limits[1]]
    labels = [f"{100 * tick:.0f} %" for tick in ticks]
    if ticks[-1] < 1:
        labels[-1] = f"≥ {labels[-1]}"  # more has the same colour
    return {
        "x": left,
        "y": top,
        "xanchor": "left",
        "yanchor": "top",
        "xpad": 0,
        "ypad": 0,
        "outlinewidth": 0,
        "len": height,
        "lenmode": "pixels",
        "thickness": 10,
        "tickvals": ticks,
        "ticktext": labels,
        "tickfont": SMALL,
        "title": {"text": title, "side": "right", "font": SMALL},
    }


def _colour_scale(scale: Scale) -> list[tuple[float, str]]:
    return [(at, transparent(colour, opacity)) for at, colour, opacity in SCALES[scale]]


# ---------------------------------------------------------------- lines


def lines(
    traces: Sequence[Part],
    x: Axis,
    y: Axis,
    *,
    height: int,
    notes: Sequence[Part] = (),
    marked: float | None = None,
    below: Bars | None = None,
) -> go.Figure:
    """Traces over two axes of values; `marked` is a place of the first one with a vertical line.

    A note on a logarithmic axis stands at its value, too.
    """
    sheet, left, top = _Sheet(), 2 * _EDGE + 32 + 20 * bool(y.title), 2 * _EDGE
    wide, high = WIDE - left + _EDGE - 48, height - 80
    number = sheet.plot(left, top, wide, high, value_axis(x), value_axis(y))
    place = log10 if x.logarithmic else float
    sheet.traces += [
        {**_hover(each.get("hovertext", ())), **_axes(number), **each} for each in traces
    ]
    sheet.notes += [{**_refs(number), **each, "x": place(each["x"])} for each in notes]
    if marked is not None:
        ends: Part = {"x0": marked, "x1": marked, "y0": 0, "y1": 1, **_refs(number, up=" domain")}
        sheet.shapes.append({"type": "line", "line": DOTTED, **ends})
    bottom = _FOOT + 20 * bool(x.title)
    if below:
        sheet.bars(below, (left, top + high + _FOOT + 36, wide, _BARS), [x.low, x.high])
        bottom += _BARS + 40
    return sheet.figure(left + wide + 48 + _EDGE, top + high + bottom + _EDGE)


def strips(
    rows: Sequence[str],
    traces: Sequence[Part],
    axis: Axis,
    *,
    row_height: int,
    rule: tuple[float, str] | None = None,
    shapes: Sequence[Part] = (),
) -> go.Figure:
    """Traces in rows along one axis; `rule` is a dotted line at a value, its text above all."""
    sheet, names = _Sheet(), name_heads(rows)
    left, top = _EDGE + widest(names) + 16, _EDGE + (24 if rule else 8)
    # Right of a mark at the end of the axis there is room for its number.
    wide, high = max(_LEAST_PLOT, _STRIP - left - 44), row_height * (max(1, len(rows)) + 0.3)
    y: Part = {**_FIXED, "range": [max(1, len(rows)) - 0.5, -0.8], "showticklabels": False}
    number = sheet.plot(left, top, wide, high, value_axis(axis), y)
    sheet.traces += [each | _axes(number) for each in traces]
    sheet.shapes += [{**_refs(number), **each} for each in shapes]
    edge: Part = {"x": 0, "xanchor": "left", "xshift": _EDGE - left}
    edge |= _refs(number, across=" domain")
    sheet.notes += [note(name, faint=False, y=y, **edge) for y, name in enumerate(names)]
    if rule:
        value, text = rule
        up = _refs(number, up=" domain")
        line: Part = {"x0": value, "x1": value, "y0": 0, "y1": 1, "layer": "below", **up}
        sheet.shapes.append({"type": "line", "line": DOTTED, **line})
        sheet.notes.append(note(text, x=value, y=1, yanchor="middle", yshift=12, **up))
    return sheet.figure(left + wide + 44 + _EDGE, top + high + _FOOT + _EDGE)


def value_axis(axis: Axis) -> Part:
    """An axis of values as Plotly has it."""
    ends = (axis.low, axis.high)
    return {
        "type": "log" if axis.logarithmic else "linear",
        "range": [log10(end) for end in ends] if axis.logarithmic else list(ends),
        "tickvals": list(axis.ticks),
        "ticktext": list(axis.labels),
        "tickfont": {"color": "var(--ink-3)"},
        "gridcolor": "var(--grid)",
        "zeroline": False,
        "ticklabelstandoff": 4,
        "title": {"text": axis.title, "font": SMALL, "standoff": 10},
    }
