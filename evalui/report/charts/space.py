"""The space that charts take on a paper, the same for pictures and for SVG: pixels of a page."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from evalui.report.axes import Axis
from evalui.report.charts.kinds import (
    Chart,
    HeatMap,
    Intervals,
    Label,
    Lines,
    Panel,
    SmallMultiples,
)
from evalui.report.charts.theme import BOLD

_HEAD, FOOT = 28, 28  # pixels of a line of labels above and below a plot
_MIN_COLUMN, _MIN_SMALL_COLUMN = 44, 24  # pixels of a heat map, with and without text in its cells
BELOW = 56  # pixels of bars below another chart, with their labels
PANEL_TITLE, PANEL_GAP = 44, 28  # pixels above a panel, and between two
_LEAST_PLOT = 240  # pixels of a plot with an axis of values, however long the names beside it are
KEY = 84  # pixels of a key of colours beside a heat map, with its numbers and its name
_MAX_PANELS_ACROSS = 3


@dataclass(frozen=True, slots=True)
class Paper:
    """What charts are drawn on: how wide they may be in pixels, and how wide a text is.

    `wide` is a chart with an axis of values, `widest` small multiples side by side. `text_width`
    gives the pixels of a line of 13 pixels.
    """

    wide: int
    widest: int
    text_width: Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Space:
    """Pixels of a plot and of what stands around it."""

    width: float
    height: float
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0


def space_of(chart: Chart | Intervals, paper: Paper) -> Space:
    """The space that a chart takes."""
    match chart:
        case HeatMap():
            return _heat_map_space(chart, paper)
        case Intervals():
            left = labels_width(chart.rows, paper) + 16
            height = chart.row_height * (max(1, len(chart.rows)) + 0.3)
            top = 24 if chart.rule else 8
            # Right of a mark at the end of the axis there is room for its number.
            return _value_space(paper, left, height, top, chart.axis, 44)
        case Lines():
            space = _value_space(
                paper, 40 + 20 * bool(chart.y.title), chart.height - 80, 8, chart.x, 48
            )
            return replace(space, bottom=space.bottom + (BELOW + 16 if chart.below else 0))
        case SmallMultiples():
            return _panels_space(chart, paper)


def _value_space(
    paper: Paper, left: float, height: float, top: float, axis: Axis, right: float
) -> Space:
    bottom = FOOT + 20 * bool(axis.title)
    width = max(_LEAST_PLOT, paper.wide - left - right)
    return Space(width, height, left, top, right, bottom)


def _heat_map_space(chart: HeatMap, paper: Paper) -> Space:
    bottom = (BELOW + 8 if chart.below else 0) + (FOOT if chart.foot else 0)
    return Space(
        width=_column_width(chart, paper) * column_count(chart),
        height=chart.row_height * max(1, len(chart.rows)),
        left=labels_width(chart.rows, paper) + 12 + 30 * bool(chart.row_title),
        top=_HEAD + 22 * bool(chart.column_title),
        right=max((8 + block_width(text, paper) for _, text in chart.beside), default=0.0)
        + KEY * bool(chart.key),
        bottom=bottom,
    )


def column_count(chart: HeatMap) -> float:
    """The width of all columns, with the gaps between them, in columns."""
    return max(1, chart.places[-1] + 1 if chart.places else len(chart.columns))


def _column_width(chart: HeatMap, paper: Paper) -> float:
    heads = labels_width(chart.columns, paper) + 12
    if not chart.printed:
        return max(_MIN_SMALL_COLUMN, heads)
    texts = [labels_width(row, paper) for cells in chart.layers for row in cells.text]
    return max(_MIN_COLUMN, heads, max(texts, default=0.0) + 32)


def labels_width(labels: Sequence[Label], paper: Paper) -> float:
    """The pixels of the widest label."""
    wide = [
        max(BOLD * block_width(each.strong, paper), block_width(each.plain, paper))
        for each in labels
    ]
    return max(wide, default=0.0)


def block_width(text: str, paper: Paper) -> float:
    """The pixels of the widest line of a text."""
    return max(map(paper.text_width, text.split("\n")))


def _panels_space(chart: SmallMultiples, paper: Paper) -> Space:
    if not chart.panels:
        return Space(0, 0)
    one = panel_space(chart, paper)
    across, down = panel_grid(chart, one, paper)
    return Space(
        width=across * (one.width + PANEL_GAP),
        height=down * (PANEL_TITLE + one.top + one.height + one.bottom + PANEL_GAP) - PANEL_GAP,
        left=one.left,
    )


def panel_space(chart: SmallMultiples, paper: Paper) -> Space:
    """The space of each panel: that of the widest one."""
    spaces = [_heat_map_space(panel.chart, paper) for panel in chart.panels]
    return max(spaces, key=lambda space: space.width)


def panel_grid(chart: SmallMultiples, one: Space, paper: Paper) -> tuple[int, int]:
    """How many panels stand side by side, and below each other."""
    fitting = int((paper.widest - one.left) // (one.width + PANEL_GAP))
    across = max(1, min(len(chart.panels), _MAX_PANELS_ACROSS, fitting))
    return across, -(-len(chart.panels) // across)


def panel_corners(
    chart: SmallMultiples, one: Space, corner: tuple[float, float], paper: Paper
) -> Iterator[tuple[int, Panel, float, float]]:
    """Column, panel and the left and top of each panel, in pixels; `one` is the room of a panel."""
    across, _ = panel_grid(chart, one, paper)
    tall = PANEL_TITLE + one.top + one.height + one.bottom + PANEL_GAP
    for place, panel in enumerate(chart.panels):
        row, column = divmod(place, across)
        yield column, panel, corner[0] + column * (one.width + PANEL_GAP), corner[1] + row * tall
