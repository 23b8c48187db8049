"""What several pictures have in common: a sheet, axes of values, bars.

Only matplotlib's object interface is used: pyplot and rcParams are shared by all threads of a
server. Pixels are those of a page: 96 to the inch.
"""

from collections.abc import Mapping
from typing import Any, Literal

from evalui.report.axes import Axis
from evalui.report.charts.kinds import Bars, Label
from evalui.report.charts.space import Paper
from evalui.report.charts.theme import (
    FAINT,
    GRID,
    INK,
    SURFACE,
    fonts_for,
    printable_text,
    text_width,
)

DPI = 150
POINT = 0.75  # points of a pixel
_INCH = 96  # pixels of an inch
EDGE = 24  # pixels around everything
PAPER = Paper(wide=712, widest=1100, text_width=text_width)
# Coordinates of a text beside a plot: a value of one axis, and the edge of the other.
ON_X, ON_Y = ("data", "axes fraction"), ("axes fraction", "data")
WHISKER: Mapping[str, Any] = {
    "linewidth": 2 * POINT,
    "markersize": 10 * POINT,
    "markeredgewidth": 2 * POINT,
    "solid_capstyle": "butt",
    "clip_on": False,
}


class PngCanvas:
    """A figure of `width` times `height` pixels, and plots on it; y counts from the top."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self._size = (width, height)
        size = (width / _INCH, height / _INCH)
        self.figure: Any = Figure(figsize=size, dpi=DPI, facecolor=SURFACE)

    def plot(self, corner: tuple[float, float], width: float, height: float) -> Any:
        """Axes without frame and ticks; `corner` is the upper left one."""
        left, top = corner
        whole_width, whole_height = self._size
        box = (left / whole_width, 1 - (top + height) / whole_height)
        axes = self.figure.add_axes((*box, width / whole_width, height / whole_height))
        axes.set_facecolor("none")
        axes.spines[:].set_visible(False)
        axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
        axes.set_axisbelow(True)
        return axes

    def text(self, left: float, top: float, text: str, **look: Any) -> None:
        """A line of text whose middle is at height `top`; what no font has becomes "?"."""
        shown = printable_text(text)
        font = self.font(shown, **look)
        x, y = left / self._size[0], 1 - top / self._size[1]
        self.figure.text(x, y, shown, verticalalignment="center_baseline", **font)

    def write(
        self,
        axes: Any,
        text: str,
        at: tuple[float, float],
        *,
        shift: tuple[float, float] = (0.0, 0.0),
        within: Any = "data",
        align: str = "center",
        **look: Any,
    ) -> None:
        """A line of text in a plot, its middle `shift` pixels right of and above a point."""
        shown = printable_text(text)
        axes.annotate(
            shown,
            at,
            xycoords=within,
            xytext=(shift[0] * POINT, shift[1] * POINT),
            textcoords="offset points",
            annotation_clip=False,
            horizontalalignment=align,
            verticalalignment="center_baseline",
            **self.font(shown, **look),
        )

    def write_label(
        self, axes: Any, label: Label, at: tuple[float, float], *, up: float = 0.0, **place: Any
    ) -> None:
        """The parts of a label below each other."""
        both = bool(label.strong and label.plain)
        aside = place.pop("aside", 0.0)
        if label.strong:
            self.write(axes, label.strong, at, shift=(aside, up + 8 * both), bold=True, **place)
        if label.plain:
            size = 12 if both else 13
            self.write(axes, label.plain, at, shift=(aside, up - 9 * both), size=size, **place)

    def font(
        self, text: str, *, size: float = 13, bold: bool = False, faint: bool = False
    ) -> dict[str, Any]:
        """Matplotlib's own keywords for a text."""
        return {
            "fontsize": size * POINT,
            "family": fonts_for(text),
            "weight": "bold" if bold else "normal",
            "color": FAINT if faint else INK,
            "parse_math": False,  # a name with dollars is no formula
        }


def value_axis(sheet: PngCanvas, axes: Any, axis: Axis, name: Literal["x", "y"]) -> None:
    """Lines across the plot at the ticks of an axis, their labels, and its title."""
    across = name == "x"
    (axes.set_xscale if across else axes.set_yscale)("log" if axis.logarithmic else "linear")
    (axes.set_xlim if across else axes.set_ylim)(axis.low, axis.high)
    for tick in axis.ticks:
        line = axes.axvline if across else axes.axhline
        line(tick, color=GRID, linewidth=POINT, zorder=0)
    for tick, label in zip(axis.ticks, axis.labels, strict=True):
        if across:
            sheet.write(axes, label, (tick, 0), within=ON_X, shift=(0, -14), faint=True)
        else:
            look: dict[str, Any] = {
                "within": ON_Y,
                "shift": (-10, 0),
                "align": "right",
                "faint": True,
            }
            sheet.write(axes, label, (0, tick), **look)
    if axis.title:
        font = sheet.font(axis.title, size=12, faint=True)
        set_title = axes.set_xlabel if across else axes.set_ylabel
        set_title(axis.title, labelpad=(28 if across else 40) * POINT, **font)


def add_bars(sheet: PngCanvas, axes: Any, chart: Bars) -> None:
    """Bars with their labels, and lines across them with theirs."""
    axes.set_ylim(chart.axis.low, chart.axis.high)
    for bar in chart.bars:
        axes.bar(bar.x, bar.value, chart.width, color=bar.colour, alpha=chart.opacity)
        at, up = ((bar.x, 0), -14) if chart.foot else ((bar.x, bar.value), 12)
        sheet.write_label(axes, bar.label, at, up=up)
    ends = (chart.bars[0].x - 0.42, chart.bars[-1].x + 0.42) if chart.bars else (0, 0)
    for level in chart.levels:
        line: dict[str, Any] = {"color": INK, "linewidth": POINT, "linestyle": ":"}
        axes.plot(ends, [level.value] * 2, **line)
        texts = level.text.split("\n")
        for place, text in enumerate(texts):
            up = 8 * (len(texts) - 1) - 16 * place
            look: dict[str, Any] = {"within": ON_X, "align": "left", "size": 12, "faint": True}
            sheet.write(axes, text, (level.x, 0.5), shift=(8, up), **look)
