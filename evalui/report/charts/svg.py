"""Charts as SVG elements: they need no script, are as sharp on paper, and load nothing.

The same geometry as that of pictures, in a box that scrolls where it is narrower than what can be
read. A cell or point whose questions have an address is a link to them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from evalui.report.charts.kinds import (
    Bars,
    Cells,
    Chart,
    HeatMap,
    Line,
    Lines,
    SmallMultiples,
)
from evalui.report.charts.space import (
    BELOW,
    FOOT,
    PANEL_GAP,
    PANEL_TITLE,
    Paper,
    Space,
    block_width,
    column_count,
    labels_width,
    panel_corners,
    panel_space,
    space_of,
)
from evalui.report.charts.svg_parts import (
    DOTTED,
    PlotArea,
    add_bars,
    hovered,
    line,
    pixels,
    range_line,
    rectangle,
    scale_colour,
    stacked,
    text,
    upward,
    value_axis,
)
from evalui.report.charts.theme import NEUTRAL, browser_text_width, truncate_text
from evalui.report.html import Attribute, Html, div, el, join

PAPER = Paper(wide=640, widest=900, text_width=browser_text_width)
_EDGE = 8  # pixels around everything
_CELL_GAP = 3  # pixels between two cells
_LEAST_SCALE, _MOST_SCALE = 0.9, 1.15  # letters of 13 pixels take 12 to 15
_NO_LINKS: Mapping[str, str] = MappingProxyType({})
_DASHES = {"solid": None, "dash": "7 5", "dot": "2 4"}


def draw_svg(chart: Chart, *, title: str = "", links: Mapping[str, str] = _NO_LINKS) -> Html:
    """The chart in a box as wide as the page allows; `title` is what a screen reader says of it.

    Without a title the chart is hidden from screen readers: the table beside it states the same.
    `links` are addresses by the keys of cells and marks, "0,2".
    """
    space = _space(chart)
    corner = (_EDGE + space.left, _EDGE + space.top)
    width = 2 * _EDGE + space.left + space.width + space.right
    height = 2 * _EDGE + space.top + space.height + space.bottom
    drawing = el(
        "svg",
        *_draw(chart, space, corner, links),
        viewBox=f"0 0 {pixels(width)} {pixels(height)}",
        width="100%",
        style=f"display:block;min-width:{_LEAST_SCALE * width:.0f}px;"
        f"max-width:{_MOST_SCALE * width:.0f}px",
        font_size=13,
        fill="currentColor",
        # An image has no parts, so links within would not be found.
        role="group" if links else "img" if title else None,
        aria_label=title or None,
        aria_hidden=None if title or links else "true",
    )
    return div(drawing, cls="drawn", style="overflow-x:auto", tabindex=0)


def _space(chart: Chart) -> Space:
    """The space of the chart, with what stands right of it in a browser's fonts."""
    space = space_of(chart, PAPER)
    if isinstance(chart, HeatMap):
        return replace(space, right=max(space.right, _below_width(chart, space)))
    return space


def _below_width(chart: HeatMap, space: Space) -> float:
    """The pixels that the texts of lines across the bars below need beyond the cells."""
    if chart.below is None:
        return 0.0
    column = space.width / column_count(chart)
    ends = [
        (level.x + 0.5) * column + 8 + block_width(level.text, PAPER)
        for level in chart.below.levels
    ]
    return max([0.0, *(end - space.width for end in ends)])


def _draw(
    chart: Chart, space: Space, corner: tuple[float, float], links: Mapping[str, str]
) -> Iterator[Html]:
    """The chart with the upper left corner of its plot at `corner`."""
    match chart:
        case HeatMap():
            yield from _heat_map(chart, space, corner, links)
        case Lines():
            yield from _lines(chart, space, corner, links)
        case SmallMultiples():
            yield from _small_multiples(chart, corner, links)


def _small_multiples(
    chart: SmallMultiples, corner: tuple[float, float], links: Mapping[str, str]
) -> Iterator[Html]:
    if not chart.panels:
        return
    one = panel_space(chart, PAPER)
    for column, panel, left, top in panel_corners(chart, one, corner, PAPER):
        room = one.width + PANEL_GAP - 12
        title = truncate_text(panel.title.strong, room, width=browser_text_width)
        shown = stacked(replace(panel.title, strong=title), left, top + 18, anchor="start")
        yield hovered(panel.title.strong, (), shown)
        plot = (left, top + PANEL_TITLE + one.top)
        yield from _heat_map(panel.chart, one, plot, links, named=column == 0)


def _ends(chart: Bars) -> tuple[float, float]:
    return chart.axis.low, chart.axis.high


# ---------------------------------------------------------------- heat maps


def _heat_map(
    chart: HeatMap,
    space: Space,
    corner: tuple[float, float],
    links: Mapping[str, str],
    *,
    named: bool = True,
) -> Iterator[Html]:
    """Cells under the heads of their columns; `named` rows have names."""
    size = max(1, len(chart.rows))
    up = (-0.5, size - 0.5) if chart.counted else (size - 0.5, -0.5)
    across = (-0.5, column_count(chart) - 0.5)
    area = PlotArea(*corner, space.width, space.height, across, up)
    for cells in chart.layers:
        yield from _cells(area, chart, cells, links)
    for row, column in chart.missing:
        yield text(area.x(column), area.y(row), "–", faint=True)
    if chart.diagonal:
        for place in range(size):
            yield _outline(area, chart, place)
    for x, label in zip(chart.places or range(len(chart.columns)), chart.columns, strict=True):
        yield stacked(label, area.x(x), area.top - 14)
    for y, label in enumerate(chart.rows if named else ()):
        yield stacked(label, area.left - 12, area.y(y), anchor="end")
    yield from _notes(area, chart)
    if chart.below:
        below = PlotArea(
            area.left, area.bottom + 8, area.width, BELOW - 24, across, _ends(chart.below)
        )
        yield from add_bars(below, chart.below)


def _cells(
    area: PlotArea, chart: HeatMap, cells: Cells, links: Mapping[str, str]
) -> Iterator[Html]:
    wide = area.x(1) - area.x(0) - _CELL_GAP
    for y, values in enumerate(cells.values):
        for x, value in enumerate(values):
            if value is None:
                continue
            part = (value - cells.low) / (cells.high - cells.low)
            colour, opacity = scale_colour(cells.scale, part)
            at = (area.x(cells.left + x), area.y(y))
            corner = (at[0] - wide / 2, at[1] - (chart.row_height - _CELL_GAP) / 2)
            size = (wide, chart.row_height - _CELL_GAP)
            yield hovered(
                cells.hover[y][x] if cells.hover else "",
                cells.keys[y][x] if cells.keys else (),
                rectangle(*corner, *size, rx=2, fill=colour, fill_opacity=opacity),
                stacked(cells.text[y][x], *at) if chart.printed and cells.text else Html(""),
                links=links,
            )


def _outline(area: PlotArea, chart: HeatMap, place: int) -> Html:
    wide = area.x(1) - area.x(0) - 1
    high = chart.row_height - 1
    corner = (area.x(place) - wide / 2, area.y(place) - high / 2)
    return rectangle(*corner, wide, high, rx=2, fill="none", stroke=NEUTRAL, stroke_width=2)


def _notes(area: PlotArea, chart: HeatMap) -> Iterator[Html]:
    """The titles of the axes, and the notes beside and below the cells."""
    if chart.column_title:
        middle = (area.left + area.right) / 2
        yield text(middle, area.top - 38, chart.column_title, size=12, faint=True)
    if chart.row_title:
        beside = area.left - labels_width(chart.rows, PAPER) - 28
        yield upward(beside, (area.top + area.bottom) / 2, chart.row_title)
    if chart.foot:
        yield text(area.left, area.bottom + 16, chart.foot, anchor="start", size=12, faint=True)
    for row, note in chart.beside:
        yield text(area.right + 8, area.y(row), note, anchor="start", size=12, faint=True)


# ---------------------------------------------------------------- lines


def _lines(
    chart: Lines, space: Space, corner: tuple[float, float], links: Mapping[str, str]
) -> Iterator[Html]:
    across, up = (chart.x.low, chart.x.high), (chart.y.low, chart.y.high)
    area = PlotArea(*corner, space.width, space.height, across, up, chart.x.logarithmic)
    yield from value_axis(area, chart.x, "x")
    yield from value_axis(area, chart.y, "y")
    if chart.marked is not None:
        x = area.x(chart.marked)
        yield line(x, area.top, x, area.bottom, **DOTTED)
    yield _joined(area, chart)
    for each in chart.lines:
        if each.dash == "points":
            yield from _points(area, each, links)
        for x, y, label in zip(each.x, each.y, each.labels, strict=False):
            yield text(area.x(x) + 4, area.y(y) - 10, label, anchor="start", size=12)
    if chart.note:
        x, y, note = chart.note
        yield text(area.x(x), area.y(y) + 8, note, anchor="start", size=12, faint=True)
    if chart.below:
        top = area.bottom + FOOT + 36
        below = PlotArea(area.left, top, area.width, BELOW - 24, across, _ends(chart.below))
        yield from add_bars(below, chart.below)


def _joined(area: PlotArea, chart: Lines) -> Html:
    """The lines, cut off at the edges of the plot, with what the mouse shows at their points."""
    parts: list[Html] = []
    for each in chart.lines:
        at = [(area.x(x), area.y(y)) for x, y in zip(each.x, each.y, strict=True)]
        if each.dash != "points":
            points = " ".join(f"{pixels(x)},{pixels(y)}" for x, y in at)
            look: dict[str, Attribute] = {"stroke_width": each.width}
            look["stroke_dasharray"] = _DASHES[each.dash]
            parts.append(el("polyline", points=points, fill="none", stroke=each.colours[0], **look))
            parts += [
                hovered(hover, (), el("circle", cx=pixels(x), cy=pixels(y), r=8, fill_opacity=0))
                for (x, y), hover in zip(at, each.hover, strict=False)
            ]
    place = {"x": pixels(area.left), "y": pixels(area.top)}
    size = {"width": pixels(area.width), "height": pixels(area.height)}
    box = " ".join(map(pixels, (area.left, area.top, area.width, area.height)))
    return el("svg", join(*parts), **place, **size, viewBox=box)


def _points(area: PlotArea, points: Line, links: Mapping[str, str]) -> Iterator[Html]:
    for place, (x, y) in enumerate(zip(points.x, points.y, strict=True)):
        colour = points.colours[min(place, len(points.colours) - 1)]
        at = (area.x(x), area.y(y))
        low, high = points.ranges[place] if points.ranges else (y, y)
        yield hovered(
            points.hover[place] if points.hover else "",
            points.keys[place] if points.keys else (),
            range_line((area.y(low), area.y(high)), at[0]) if points.ranges else Html(""),
            el("circle", cx=pixels(at[0]), cy=pixels(at[1]), r=5, fill=colour),
            links=links,
        )
