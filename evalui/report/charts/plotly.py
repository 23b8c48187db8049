"""Charts as Plotly figures for the page. Titles are sentences and belong to the page around them.

Paper and plot are transparent and no text colour is set: the page's style sheet gives the ink, so
that one figure serves the light and the dark theme. Pixels of a chart are pixels of the page.
"""

from collections.abc import Sequence
from html import escape
from math import ceil
from typing import Any

import plotly.graph_objects as go

from evalui.report.charts.kinds import (
    Bars,
    Cells,
    Chart,
    HeatMap,
    Intervals,
    Line,
    Lines,
    Mark,
    Rule,
    Series,
    SmallMultiples,
)
from evalui.report.charts.plotly_parts import (
    BELOW,
    DOTTED,
    GRID,
    add_bars,
    add_bars_below,
    annotate,
    axis_settings,
    colour_scale,
    error_bars,
    inline,
    layout,
    plain,
    stacked,
)
from evalui.report.charts.theme import NEUTRAL

_SIDES = {"left": "top left", "center": "top center", "right": "top right"}
_MARKER_RADIUS = 0.012  # of a mark, as a part of the axis
_MAX_PANELS_ACROSS = 3  # on a phone each is as wide as a thumb
_PANEL_HEAD = 72  # pixels of a panel's title and axis
_FOOT = 56  # pixels below panels where a note stands there
_GUTTER = 0.06  # of the width, between two panels


def draw_plotly(chart: Chart) -> go.Figure:
    """The chart as a figure without title, still and of a fixed height."""
    figure = go.Figure()
    match chart:
        case HeatMap():
            _heat_map(figure, chart)
        case Intervals():
            _intervals(figure, chart)
        case Bars():
            add_bars(figure, chart)
        case Lines():
            _lines(figure, chart)
        case SmallMultiples():
            _small_multiples(figure, chart)
    return figure


# ---------------------------------------------------------------- heat maps


def _heat_map(figure: go.Figure, chart: HeatMap) -> None:
    for cells in chart.layers:
        _cells(figure, chart, cells)
    for row, column in chart.missing:
        annotate(figure, "–", x=column, y=row)
    if chart.diagonal:
        for place in range(len(chart.rows)):
            _outline(figure, place)
    for row, text in chart.beside:
        place = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 8, "align": "left"}
        annotate(figure, plain(text), y=row + chart.counted, **place)
    if chart.foot:
        place = {"x": 0, "xref": "paper", "xanchor": "left", "yref": "paper", "yshift": -16}
        annotate(figure, plain(chart.foot), y=0, **place)
    rows = chart.row_height * max(1, len(chart.rows))
    head = 56 + 40 * bool(chart.column_title) + 40 * bool(chart.foot)
    height = head + rows + (BELOW if chart.below else 0)
    margin = {"b": 32} if chart.foot else {}
    margin |= {"r": 112} if chart.beside else {}
    if chart.counted:
        layout(figure, max(240, height), **margin)
        _counted_axes(figure, chart)
    else:
        margin |= {"t": 56, "b": 24} if chart.column_title else {}
        layout(figure, height, **margin)
        _named_axes(figure, chart)
    if chart.below:
        add_bars_below(figure, chart.below, rows)


def _cells(figure: go.Figure, chart: HeatMap, cells: Cells) -> None:
    figure.add_heatmap(
        **_positions(chart, cells),
        z=[list(row) for row in cells.values],
        zmin=cells.low,
        zmax=cells.high,
        text=[[stacked(label) for label in row] for row in cells.text] or None,
        texttemplate="%{text}" if chart.printed and cells.text else None,
        textfont={"size": 13},
        hovertext=[[escape(text) for text in row] for row in cells.hover] or None,
        hoverinfo="text" if cells.hover else "skip",
        customdata=[[list(key) for key in row] for row in cells.keys] or None,
        colorscale=colour_scale(cells.scale),
        showscale=False,
        xgap=3,
        ygap=3,
        hoverongaps=False,
    )


def _positions(chart: HeatMap, cells: Cells) -> dict[str, list[float]]:
    if chart.counted:
        numbers: list[float] = [*range(1, len(chart.rows) + 1)]
        return {"x": numbers, "y": numbers}
    if not chart.places:
        return {}
    # Edges, not centres: columns with a gap between them do not touch.
    width = len(cells.values[0])
    return {
        "x": [cells.left - 0.5 + place for place in range(width + 1)],
        "y": [place - 0.5 for place in range(len(chart.rows) + 1)],
    }


def _outline(figure: go.Figure, place: int) -> None:
    corners = {"x0": place - 0.48, "x1": place + 0.48, "y0": place - 0.47, "y1": place + 0.47}
    figure.add_shape(type="rect", **corners, line={"color": NEUTRAL, "width": 2})


def _counted_axes(figure: go.Figure, chart: HeatMap) -> None:
    numbers = list(range(1, len(chart.rows) + 1)) if chart.printed else None
    figure.update_xaxes(title={"text": chart.column_title}, tickvals=numbers, showgrid=False)
    figure.update_yaxes(title={"text": chart.row_title}, tickvals=numbers, showgrid=False)


def _named_axes(figure: go.Figure, chart: HeatMap) -> None:
    places = list(chart.places or range(len(chart.columns)))
    figure.update_xaxes(
        range=[-0.5, max(places, default=-1) + 0.5],
        tickvals=places,
        ticktext=[stacked(label) for label in chart.columns],
        title={"text": chart.column_title},
        side="top",
        anchor="y",
        showgrid=False,
    )
    figure.update_yaxes(
        range=[max(1, len(chart.rows)) - 0.5, -0.5],
        tickvals=list(range(len(chart.rows))),
        ticktext=[stacked(label) for label in chart.rows],
        title={"text": chart.row_title},
        ticklabelstandoff=8,
        showgrid=False,
    )


# ---------------------------------------------------------------- intervals


def _intervals(figure: go.Figure, chart: Intervals) -> None:
    for row, low, high in chart.grey:
        corners = {"x0": low, "x1": high, "y0": row - 0.5, "y1": row + 0.5}
        look = {"fillcolor": GRID, "line": {"width": 0}, "layer": "below"}
        figure.add_shape(type="rect", **corners, **look)
    _series_and_rules(figure, chart)
    if chart.note:
        x, y, text = chart.note
        annotate(figure, plain(text), x=x, y=y, yanchor="bottom")
    rows = chart.row_height * max(1, len(chart.rows))
    if chart.ranges == "bands":
        layout(figure, 96 + rows, r=44)  # room for a number right of a mark at 100 %
    else:
        layout(figure, 64 + 24 * bool(chart.axis.title) + rows)
    figure.update_xaxes(**axis_settings(chart.axis))
    figure.update_yaxes(**_row_axis(chart))
    if chart.legend:
        place = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False}
        figure.update_layout(showlegend=True, legend=place, margin={"t": 48})
        for y in range(1, len(chart.rows)):
            figure.add_hline(y=y - 0.5, line={"color": GRID, "width": 1})


def _row_axis(chart: Intervals) -> dict[str, Any]:  # Plotly's own keywords
    # Above the first row there is room for the labels of its marks, and for a note.
    above = 0.8 if chart.note else 0.5 if chart.legend else 0.7
    return {
        "range": [max(1, len(chart.rows)) - 0.5, -above],
        "tickvals": list(range(len(chart.rows))),
        "ticktext": [stacked(label) for label in chart.rows],
        "ticklabelstandoff": 14,  # a mark at the axis is not drawn over its name
        "showgrid": False,
    }


def _series_and_rules(figure: go.Figure, chart: Intervals, place: int = 0) -> None:
    for series in chart.series:
        if chart.ranges == "bands":
            _dumbbell(figure, chart, series)
        else:
            _scatter(figure, chart, series, series.marks, place)
    for rule in chart.rules:
        _rule(figure, rule, place)


def _dumbbell(figure: go.Figure, chart: Intervals, series: Series) -> None:
    """Pale bands, and a hollow mark joined to a solid one, each printed for itself."""
    colour = series.style.colour
    for mark in series.marks:
        if mark.low is not None and mark.high is not None:
            ends = (mark.low, mark.high)
            _segment(figure, ends, mark.y, {"color": colour, "width": 10}, opacity=0.18)
    if len(series.marks) == 2:
        hollow, solid = series.marks
        # The line ends before the hollow mark, whose inside is the page's own surface.
        radius = _MARKER_RADIUS * (chart.axis.high - chart.axis.low)
        ends = (solid.value, max(solid.value, hollow.value - radius))
        _segment(figure, ends, solid.y, {"color": colour, "width": 2})
    for mark in series.marks:
        _scatter(figure, chart, series, [mark], 0)


def _segment(
    figure: go.Figure,
    ends: tuple[float, float],
    y: float,
    line: dict[str, Any],
    *,
    opacity: float = 1.0,
) -> None:
    look = {"line": line, "opacity": opacity, "hoverinfo": "skip", "cliponaxis": False}
    figure.add_scatter(x=ends, y=[y, y], mode="lines", **look)


def _scatter(
    figure: go.Figure, chart: Intervals, series: Series, marks: Sequence[Mark], place: int
) -> None:
    style, printed = series.style, any(inline(mark.label) for mark in marks)
    hollow = marks[0].hollow
    values = [mark.value for mark in marks]
    edge = {"color": style.colour, "width": 2 if chart.ranges == "bands" else 0}
    figure.add_scatter(
        x=values,
        y=[mark.y for mark in marks],
        xaxis=_axis_id("x", place),
        yaxis=_axis_id("y", place),
        name=series.name or None,
        mode="markers+text" if printed else "markers",
        marker={
            "symbol": style.symbol + ("-open" if hollow else ""),
            "size": chart.mark_size,
            "color": style.colour,
            "line": edge,
        },
        error_x=_ranges(chart, values, marks, style.colour),
        text=[inline(mark.label) for mark in marks] if printed else None,
        textposition=_SIDES[marks[0].side],
        textfont={"size": 13 if chart.mark_size > 10 else 11},
        hovertext=[escape(mark.hover) for mark in marks],
        hoverinfo="text",
        customdata=[list(mark.keys) for mark in marks] if marks[0].keys else None,
        cliponaxis=False,
    )


def _ranges(
    chart: Intervals, values: Sequence[float], marks: Sequence[Mark], colour: str
) -> dict[str, Any] | None:  # Plotly's own keywords
    if chart.ranges == "bands":
        return None
    ends = [(m.low, m.high) for m in marks if m.low is not None and m.high is not None]
    if len(ends) < len(marks):
        return {"visible": False}
    return error_bars(values, ends, colour, cap=5 if chart.ranges == "whiskers" else 0)


def _rule(figure: go.Figure, rule: Rule, place: int) -> None:
    line = DOTTED if rule.dotted else {"color": NEUTRAL, "width": 1}
    if rule.row is not None:
        ends = [rule.row - 0.5, rule.row + 0.5]
        figure.add_scatter(x=[rule.value] * 2, y=ends, mode="lines", line=line, hoverinfo="skip")
        return
    x, y = _axis_id("x", place), f"{_axis_id('y', place)} domain"
    where = {"x0": rule.value, "x1": rule.value, "y0": 0, "y1": 1, "xref": x, "yref": y}
    figure.add_shape(type="line", **where, layer="below", line=line)


def _axis_id(letter: str, place: int) -> str:
    """Plotly's name of the axes of a panel: "x", "x2", "x3"."""
    return letter if place == 0 else f"{letter}{place + 1}"


# ---------------------------------------------------------------- lines


def _lines(figure: go.Figure, chart: Lines) -> None:
    for line in chart.lines:
        _line(figure, line)
    if chart.marked is not None:
        figure.add_vline(x=chart.marked, line=DOTTED)
    if chart.note:
        x, y, text = chart.note
        annotate(figure, plain(text), x=x, y=y, xanchor="left", yanchor="top")
    beside = any(any(line.labels) for line in chart.lines)
    layout(figure, chart.height, **({"r": 64} if beside else {}))
    figure.update_xaxes(**axis_settings(chart.x))
    figure.update_yaxes(**axis_settings(chart.y))
    if chart.below:
        figure.update_layout(xaxis={"anchor": "y2"})
        add_bars_below(figure, chart.below, chart.height - 2 * BELOW)


def _line(figure: go.Figure, line: Line) -> None:
    points = line.dash == "points"
    look: dict[str, Any] = {"mode": "lines+text" if line.labels else "lines"}
    look["line"] = {"color": line.colours[0], "width": line.width, "dash": line.dash}
    if points:
        look = {"mode": "markers", "cliponaxis": False}
        look["marker"] = {"size": 10, "color": list(line.colours), "line": {"width": 0}}
    figure.add_scatter(
        x=list(line.x),
        y=list(line.y),
        text=[plain(label) for label in line.labels] or None,
        textposition="top right",
        error_y=error_bars(line.y, line.ranges, NEUTRAL) if line.ranges else None,
        hovertext=[escape(text) for text in line.hover] or None,
        hoverinfo="text" if line.hover else "skip",
        customdata=[list(key) for key in line.keys] or None,
        **look,
    )


# ---------------------------------------------------------------- small multiples


def _small_multiples(figure: go.Figure, chart: SmallMultiples) -> None:
    panels = [panel.chart for panel in chart.panels if isinstance(panel.chart, Intervals)]
    across = max(1, min(_MAX_PANELS_ACROSS, len(panels)))
    down = max(1, ceil(len(panels) / across))
    tall = _PANEL_HEAD + max((p.row_height * max(1, len(p.rows)) for p in panels), default=0)
    for place, (panel, small) in enumerate(zip(chart.panels, panels, strict=True)):
        _series_and_rules(figure, small, place)
        x, y = (f"{_axis_id(letter, place)} domain" for letter in "xy")
        above = {"x": 0, "xref": x, "xanchor": "left", "y": 1, "yref": y, "yanchor": "bottom"}
        annotate(figure, stacked(panel.title), **above, yshift=2, align="left")
    foot = _FOOT if chart.foot else 0
    layout(figure, 24 + tall * down + foot, t=0, b=foot or 8)
    if chart.foot:
        below = {"x": 0, "xref": "paper", "xanchor": "left", "y": 0, "yref": "paper"}
        shift = {"yanchor": "top", "yshift": -24, "align": "left"}
        annotate(figure, plain(chart.foot), **below, **shift)
    for place, small in enumerate(panels):
        _panel_axes(figure, small, place, (across, down, _PANEL_HEAD / tall), len(panels))


def _panel_axes(
    figure: go.Figure,
    chart: Intervals,
    place: int,
    grid: tuple[int, int, float],  # columns, rows, the part of a row above the panel's own area
    total: int,
) -> None:
    across, down, head = grid
    row, column = divmod(place, across)
    wide, high = (1 + _GUTTER) / across, 1 / down
    x, y = _axis_id("x", place), _axis_id("y", place)
    lowest = place + across >= total
    # Where two panels meet, two labels would overlap.
    labels = ["" if column else chart.axis.labels[0], *chart.axis.labels[1:]]
    fixed = {"zeroline": False, "fixedrange": True, "ticks": "", "tickangle": 0}
    across_axis = {
        **axis_settings(chart.axis),
        "ticktext": labels if lowest else [""] * len(labels),
        "domain": [column * wide, min(1.0, (column + 1) * wide - _GUTTER)],
        "anchor": y,
    }
    down_axis = {
        **_row_axis(chart),
        "domain": [1 - (row + 1) * high + high * head * 0.32, 1 - row * high - high * head * 0.58],
        "anchor": x,
        "showticklabels": column == 0,
        "automargin": True,
    }
    names = (x.replace("x", "xaxis"), y.replace("y", "yaxis"))
    figure.update_layout({names[0]: across_axis | fixed, names[1]: down_axis | fixed})
