"""What several charts as SVG have in common: a plot's scales, texts, axes, bars.

Texts take the colour of the page around them, so that one drawing serves light and dark pages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from types import MappingProxyType
from typing import Literal

from evalui.report.charts.kinds import Axis, Bars, Label
from evalui.report.charts.theme import NEUTRAL, SCALES, Scale
from evalui.report.html import Attribute, Html, el, join

# A page without this variable, such as that of the file alone, shows the second colour.
FAINT = "var(--ink-3, currentColor)"
DOTTED: Mapping[str, Attribute] = {"stroke": NEUTRAL, "stroke_dasharray": "2 3"}
_LEVEL: Mapping[str, Attribute] = {"stroke": "currentColor", "stroke_dasharray": "2 3"}
_LINE = 16  # pixels of a line of text
_CAP = 5  # pixels of half a cap at the end of a range

_NO_LINKS: Mapping[str, str] = MappingProxyType({})

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class PlotArea:
    """Where a plot stands in pixels of the drawing, and the values at its edges.

    `across` are those at the left and right edge, `up` those at the bottom and the top.
    """

    left: float
    top: float
    width: float
    height: float
    across: tuple[float, float]
    up: tuple[float, float]
    logarithmic: bool = False  # along the first axis

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    def x(self, value: float) -> float:
        """The pixel of a value of the first axis."""
        low, high = self.across
        if self.logarithmic:
            low, high, value = log10(low), log10(high), log10(value)
        return self.left + self.width * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """The pixel of a value of the second axis."""
        low, high = self.up
        return self.bottom - self.height * (value - low) / (high - low)


def pixels(value: float) -> str:
    """A coordinate to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: Anchor = "middle",
    bold: bool = False,
    faint: bool = False,
    size: int = 13,
) -> Html:
    """A text whose lines are centred at height `y`."""
    lines = content.split("\n") if content else []
    top = y - _LINE * (len(lines) - 1) / 2
    look: dict[str, Attribute] = {
        "text_anchor": None if anchor == "start" else anchor,
        "font_weight": 600 if bold else None,
        "font_size": None if size == 13 else size,
        "fill": FAINT if faint else None,
        "dy": ".35em",
    }
    return join(
        *(
            el("text", line, x=pixels(x), y=pixels(top + _LINE * place), **look)
            for place, line in enumerate(lines)
        )
    )


def stacked(label: Label, x: float, y: float, *, anchor: Anchor = "middle") -> Html:
    """The parts of a label below each other, centred at height `y`."""
    strong, plain = (part.count("\n") + 1 if part else 0 for part in (label.strong, label.plain))
    size = 12 if strong and plain else 13
    return join(
        text(x, y - _LINE * plain / 2, label.strong, anchor=anchor, bold=True),
        text(x, y + _LINE * strong / 2, label.plain, anchor=anchor, size=size),
    )


def inline(label: Label, x: float, y: float) -> Html:
    """The parts of a label beside each other, centred at `x`."""
    if not (label.strong and label.plain):
        return stacked(label, x, y)
    strong = el("tspan", label.strong, font_weight=600)
    plain = el("tspan", label.plain, fill=FAINT)
    place = {"x": pixels(x), "y": pixels(y), "dy": ".35em"}
    return el("text", join(strong, " ", plain), text_anchor="middle", **place)


def line(x1: float, y1: float, x2: float, y2: float, **look: Attribute) -> Html:
    """A straight line."""
    ends = {"x1": pixels(x1), "y1": pixels(y1), "x2": pixels(x2), "y2": pixels(y2)}
    return el("line", **ends, **look)


def rectangle(x: float, y: float, width: float, height: float, **look: Attribute) -> Html:
    """A rectangle; `x` and `y` are its upper left corner."""
    size = {"width": pixels(max(0.0, width)), "height": pixels(max(0.0, height))}
    return el("rect", x=pixels(x), y=pixels(y), **size, **look)


def hovered(
    hover: str, keys: Sequence[object], *children: Html, links: Mapping[str, str] = _NO_LINKS
) -> Html:
    """Elements with what the mouse shows over them, as a link if their keys have an address."""
    key = ",".join(map(str, keys))
    title = el("title", hover) if hover else None
    if key in links:
        return el("a", title, *children, href=links[key], style="color:inherit")
    return el("g", title, *children)


def range_line(ends: tuple[float, float], x: float) -> Html:
    """An upright line between two pixels with caps."""
    caps = ((x - _CAP, end, x + _CAP, end) for end in ends)
    parts = [(x, ends[0], x, ends[1]), *caps]
    return join(*(line(*each, stroke=NEUTRAL, stroke_width=2) for each in parts))


def value_axis(area: PlotArea, axis: Axis, name: Literal["x", "y"]) -> Iterator[Html]:
    """Lines across the plot at the ticks of an axis, their labels, and its title."""
    grid: dict[str, Attribute] = {"stroke": NEUTRAL, "stroke_opacity": 0.25}
    for tick, label in zip(axis.ticks, axis.labels, strict=True):
        if name == "x":
            x = area.x(tick)
            yield line(x, area.top, x, area.bottom, **grid)
            yield text(x, area.bottom + 14, label, faint=True)
        else:
            y = area.y(tick)
            yield line(area.left, y, area.right, y, **grid)
            yield text(area.left - 10, y, label, anchor="end", faint=True)
    if axis.title and name == "x":
        middle = (area.left + area.right) / 2
        yield text(middle, area.bottom + 36, axis.title, size=12, faint=True)
    elif axis.title:
        yield upward(area.left - 48, (area.top + area.bottom) / 2, axis.title)


def upward(x: float, y: float, content: str) -> Html:
    """A faint text that is read upwards."""
    turn = f"rotate(-90 {pixels(x)} {pixels(y)})"
    return el("g", text(x, y, content, size=12, faint=True), transform=turn)


def add_bars(area: PlotArea, chart: Bars) -> Iterator[Html]:
    """Bars with their labels, and dotted lines across them with theirs."""
    base = area.y(chart.axis.low)
    for bar in chart.bars:
        left, right = (area.x(bar.x + side * chart.width / 2) for side in (-1, 1))
        top = area.y(bar.value)
        look: dict[str, Attribute] = {"fill": bar.colour, "fill_opacity": chart.opacity}
        parts = [rectangle(left, top, right - left, base - top, **look)]
        middle = (left + right) / 2
        parts.append(inline(bar.label, middle, base + 14 if chart.foot else top - 12))
        yield hovered(bar.hover, (), *parts)
    first, last = (chart.bars[0].x, chart.bars[-1].x) if chart.bars else (0.0, 0.0)
    for level in chart.levels:
        y = area.y(level.value)
        yield line(area.x(first - 0.42), y, area.x(last + 0.42), y, **_LEVEL)
        # Of several lines the first does not reach above the bars.
        lowest = area.top + _LINE * level.text.count("\n") / 2
        place = (area.x(level.x) + 8, max(y, lowest))
        yield text(*place, level.text, anchor="start", size=12, faint=True)


def scale_colour(scale: Scale, part: float) -> tuple[str, float]:
    """Colour and opacity of a value at `part` of its scale's limits, 0 to 1."""
    stops = SCALES[scale]
    at = min(1.0, max(0.0, part))
    after = next(place for place in range(1, len(stops)) if at <= stops[place][0])
    (start, first, faint), (end, second, strong) = stops[after - 1], stops[after]
    share = (at - start) / (end - start)
    return (first if share < 0.5 else second), round(faint + share * (strong - faint), 3)
