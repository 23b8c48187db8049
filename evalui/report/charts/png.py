"""Charts as PNG files for reports and slides, drawn by matplotlib without a browser.

The same chart gives the same bytes. Pixels are those of a page: 96 to the inch.
"""

import io
from typing import Any

from evalui.report.charts.kinds import (
    Cells,
    Chart,
    HeatMap,
    Intervals,
    Line,
    Lines,
    Mark,
    Series,
    SmallMultiples,
)
from evalui.report.charts.png_parts import (
    DPI,
    EDGE,
    ON_X,
    ON_Y,
    PAPER,
    POINT,
    WHISKER,
    PngCanvas,
    add_bars,
    value_axis,
)
from evalui.report.charts.space import (
    BELOW,
    FOOT,
    PANEL_GAP,
    PANEL_TITLE,
    Space,
    column_count,
    labels_width,
    panel_corners,
    panel_space,
    space_of,
)
from evalui.report.charts.theme import (
    GRID,
    MARKERS,
    NEUTRAL,
    SCALES,
    SURFACE,
    Scale,
    SeriesStyle,
    truncate_text,
    wrap_text,
)

_MIN_WIDE = 560  # pixels of any picture
_MARK = 12  # pixels of a mark of intervals
_CELL_GAP = 3  # pixels between two cells
_TITLE, _SUBTITLE = 24, 18  # pixels of a line
_BAND, _BAND_OPACITY = 10, 0.18  # pixels and opacity of a range
_DASHES = {"solid": "-", "dash": "--", "dot": ":"}


def draw_png(chart: Chart | Intervals, *, title: str = "", subtitle: str = "") -> bytes:
    """The chart under its title as a file of 150 dots per inch."""
    stream = io.BytesIO()
    figure = picture(chart, title=title, subtitle=subtitle)
    # Without the version of matplotlib, so that the bytes depend on the drawing alone.
    figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    return stream.getvalue()


def picture(chart: Chart | Intervals, *, title: str = "", subtitle: str = "") -> Any:
    """The chart under its title as a figure of matplotlib."""
    space = space_of(chart, PAPER)
    width = max(_MIN_WIDE, 2 * EDGE + space.left + space.width + space.right)
    titles = wrap_text(title, width - 2 * EDGE, size=16)
    lines = wrap_text(subtitle, width - 2 * EDGE, size=12)
    top = EDGE + _TITLE * len(titles) + _SUBTITLE * len(lines) + 12
    sheet = PngCanvas(width, top + space.top + space.height + space.bottom + EDGE)
    for place, line in enumerate(titles):
        sheet.text(EDGE, EDGE + 8 + _TITLE * place, line, size=16, bold=True)
    for place, line in enumerate(lines):
        y = EDGE + 6 + _TITLE * len(titles) + _SUBTITLE * place
        sheet.text(EDGE, y, line, size=12, faint=True)
    _draw(sheet, chart, space, (EDGE + space.left, top + space.top))
    return sheet.figure


def _draw(
    sheet: PngCanvas, chart: Chart | Intervals, space: Space, corner: tuple[float, float]
) -> None:
    """The chart with the upper left corner of its plot at `corner`."""
    if isinstance(chart, SmallMultiples):
        _small_multiples(sheet, chart, corner)
        return
    axes = sheet.plot(corner, space.width, space.height)
    match chart:
        case HeatMap():
            _heat_map(sheet, axes, chart)
        case Intervals():
            _intervals(sheet, axes, chart, space)
        case Lines():
            _lines(sheet, axes, chart)
    if isinstance(chart, HeatMap | Lines) and chart.below:
        drop = space.height + (FOOT + 36 if isinstance(chart, Lines) else 8)
        below = sheet.plot((corner[0], corner[1] + drop), space.width, BELOW - 24)
        below.set_xlim(*axes.get_xlim())
        add_bars(sheet, below, chart.below)


def _small_multiples(sheet: PngCanvas, chart: SmallMultiples, corner: tuple[float, float]) -> None:
    if not chart.panels:
        return
    one = panel_space(chart, PAPER)
    for column, panel, left, top in panel_corners(chart, one, corner, PAPER):
        title = truncate_text(panel.title.strong, one.width + PANEL_GAP - 12)
        sheet.text(left, top + 10, title, bold=True)
        sheet.text(left, top + 28, panel.title.plain, size=12, faint=True)
        axes = sheet.plot((left, top + PANEL_TITLE + one.top), one.width, one.height)
        _heat_map(sheet, axes, panel.chart, named=column == 0)


# ---------------------------------------------------------------- heat maps


def _heat_map(sheet: PngCanvas, axes: Any, chart: HeatMap, *, named: bool = True) -> None:
    """Cells under the heads of their columns; `named` rows have names."""
    size = max(1, len(chart.rows))
    axes.set_xlim(-0.5, column_count(chart) - 0.5)
    axes.set_ylim((-0.5, size - 0.5) if chart.counted else (size - 0.5, -0.5))
    for cells in chart.layers:
        _cells(sheet, axes, chart, cells)
    for row, column in chart.missing:
        sheet.write(axes, "–", (column, row), faint=True)
    if chart.diagonal:
        _outlines(axes, size)
    for x, label in zip(chart.places or range(len(chart.columns)), chart.columns, strict=True):
        sheet.write_label(axes, label, (x, 1), within=ON_X, up=14)
    for y, label in enumerate(chart.rows if named else ()):
        sheet.write_label(axes, label, (0, y), within=ON_Y, aside=-12, align="right")
    _notes(sheet, axes, chart)


def _notes(sheet: PngCanvas, axes: Any, chart: HeatMap) -> None:
    """The titles of the axes, and the notes beside and below the cells."""
    faint: dict[str, Any] = {"size": 12, "faint": True}
    if chart.column_title:
        sheet.write(
            axes, chart.column_title, (0.5, 1), within="axes fraction", shift=(0, 38), **faint
        )
    if chart.row_title:
        pad = (labels_width(chart.rows, PAPER) + 22) * POINT
        axes.set_ylabel(chart.row_title, labelpad=pad, **sheet.font(chart.row_title, **faint))
    if chart.foot:
        look: dict[str, Any] = {"within": "axes fraction", "shift": (0, -16), "align": "left"}
        sheet.write(axes, chart.foot, (0, 0), **look, **faint)
    for row, text in chart.beside:
        for place, line in enumerate(text.split("\n")):
            look: dict[str, Any] = {"within": ON_Y, "shift": (8, -16 * place), "align": "left"}
            sheet.write(axes, line, (1, row), **look, **faint)


def _cells(sheet: PngCanvas, axes: Any, chart: HeatMap, cells: Cells) -> None:
    if not cells.values or not cells.values[0]:
        return
    size = (len(cells.values), len(cells.values[0]))
    axes.pcolormesh(
        [cells.left - 0.5 + place for place in range(size[1] + 1)],
        [place - 0.5 for place in range(size[0] + 1)],
        [[float("nan") if each is None else each for each in row] for row in cells.values],
        cmap=_colour_map(cells.scale),
        vmin=cells.low,
        vmax=cells.high,
        edgecolors=SURFACE,
        linewidth=_CELL_GAP * POINT,
    )
    if not chart.printed:
        return
    for y, (row, texts) in enumerate(zip(cells.values, cells.text, strict=False)):
        for x, (value, label) in enumerate(zip(row, texts, strict=True)):
            if value is not None:
                sheet.write_label(axes, label, (cells.left + x, y))


def _colour_map(scale: Scale) -> Any:
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    stops = [(at, to_rgba(colour, opacity)) for at, colour, opacity in SCALES[scale]]
    return LinearSegmentedColormap.from_list(scale, stops)


def _outlines(axes: Any, size: int) -> None:
    from matplotlib.patches import Rectangle

    for place in range(size):
        look: dict[str, Any] = {
            "fill": False,
            "edgecolor": NEUTRAL,
            "linewidth": 2 * POINT,
            "clip_on": False,
        }
        axes.add_patch(Rectangle((place - 0.49, place - 0.48), 0.98, 0.96, **look))


# ---------------------------------------------------------------- intervals and lines


def _intervals(sheet: PngCanvas, axes: Any, chart: Intervals, space: Space) -> None:
    value_axis(sheet, axes, chart.axis, "x")
    axes.set_ylim(max(1, len(chart.rows)) - 0.5, -0.8)
    for row, low, high in chart.grey:
        axes.barh(row, high - low, 1.0, low, color=GRID, alpha=0.6, zorder=0)
    if chart.rule:
        x, text = chart.rule
        axes.plot([x] * 2, (-0.8, len(chart.rows)), ":", color=NEUTRAL, linewidth=POINT, zorder=1)
        sheet.write(axes, text, (x, 1), within=ON_X, shift=(0, 12), size=12, faint=True)
    for series in chart.series:
        _ranges(axes, series)
        for mark in series.marks:
            _mark(axes, series.style, mark)
    for y, label in enumerate(chart.rows):
        look: dict[str, Any] = {"within": ON_Y, "aside": -space.left, "align": "left"}
        sheet.write_label(axes, label, (0, y), **look)


def _ranges(axes: Any, series: Series) -> None:
    """Bands, and the line that joins their marks."""
    colour = series.style.colour
    look: dict[str, Any] = {"color": colour, "solid_capstyle": "butt", "clip_on": False}
    band = look | {"linewidth": _BAND * POINT, "alpha": _BAND_OPACITY}
    for mark in series.marks:
        if mark.low is not None and mark.high is not None:
            axes.plot([mark.low, mark.high], [mark.y] * 2, **band)
    values, heights = [m.value for m in series.marks], [m.y for m in series.marks]
    axes.plot(values, heights, linewidth=2 * POINT, **look)


def _mark(axes: Any, style: SeriesStyle, mark: Mark) -> None:
    axes.plot(
        mark.value,
        mark.y,
        marker=MARKERS[style.symbol],
        markersize=_MARK * POINT,
        markerfacecolor=SURFACE if mark.hollow else style.colour,
        markeredgecolor=style.colour,
        markeredgewidth=2 * POINT if mark.hollow else 0,
        linestyle="none",
        clip_on=False,
        zorder=3,
    )


def _lines(sheet: PngCanvas, axes: Any, chart: Lines) -> None:
    value_axis(sheet, axes, chart.x, "x")
    value_axis(sheet, axes, chart.y, "y")
    for line in chart.lines:
        _line(sheet, axes, line)
    if chart.marked is not None:
        axes.axvline(chart.marked, color=NEUTRAL, linewidth=POINT, linestyle=":")
    if chart.note:
        x, y, text = chart.note
        sheet.write(axes, text, (x, y), shift=(0, -8), align="left", size=12, faint=True)


def _line(sheet: PngCanvas, axes: Any, line: Line) -> None:
    if line.dash != "points":
        look: dict[str, Any] = {"linestyle": _DASHES[line.dash], "linewidth": line.width * POINT}
        axes.plot(line.x, line.y, color=line.colours[0], **look)
    else:
        for x, y, colour in zip(line.x, line.y, line.colours, strict=True):
            axes.plot(x, y, "o", color=colour, markersize=10 * POINT, clip_on=False, zorder=3)
        for x, ends in zip(line.x, line.ranges, strict=False):
            axes.plot([x] * 2, ends, color=NEUTRAL, **WHISKER, marker="_")
    for x, y, label in zip(line.x, line.y, line.labels, strict=False):
        if label:
            sheet.write(axes, label, (x, y), shift=(4, 10), align="left", size=12)
