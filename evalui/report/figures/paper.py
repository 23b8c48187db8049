"""Figures as PNG files drawn by matplotlib, where there is no browser.

It knows no chart: it reads heat maps, bars, lines, marks, notes and shapes of a Plotly figure and
puts them where Plotly does. Keys of colours it leaves out, a figure with a legend it refuses. The
same figure gives the same bytes. Only matplotlib's object interface is used: pyplot and rcParams
are shared by all threads of a server. Pixels are those of a page: 96 to the inch.
"""

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any

from evalui.report.figures.base import Part
from evalui.report.figures.theme import (
    COLOURS,
    GRID,
    INK,
    MARKERS,
    SURFACE,
    fonts_for,
    printable_text,
)

_DPI, _INCH = 150, 96  # dots of a picture, and pixels of a page, to the inch
_POINT = 0.75  # points of a pixel
_LINE = 1.3  # of the size of letters: the height of a line
_TICK = 8  # pixels between an axis and its labels
_DASHES = {"solid": "-", "dash": "--", "dot": ":"}
_Z = {"below": 0.5, "above": 3.5}  # shapes beneath and above the marks


def draw_png(figure: Part) -> bytes | None:
    """The figure on paper, 150 dots to the inch; it grows by what texts need beside it.

    None of a figure that has no place of its own for everything: of other kinds of traces, with a
    legend, or with axes whose ends are left to Plotly.
    """
    axes = (each for name, each in figure["layout"].items() if re.match("[xy]axis", name))
    read = {trace["type"] for trace in figure["data"]} <= _TRACES.keys()
    if not read or figure["layout"].get("showlegend") or not all("range" in each for each in axes):
        return None
    from matplotlib.transforms import Bbox

    drawn = picture(figure)
    page = Bbox([[0, 0], drawn.get_size_inches()])
    whole = Bbox.union([page, drawn.get_tightbbox(drawn.canvas.get_renderer())])
    stream = io.BytesIO()
    # Without the version of matplotlib, so that the bytes depend on the drawing alone.
    drawn.savefig(stream, format="png", dpi=_DPI, bbox_inches=whole, metadata={"Software": None})
    return stream.getvalue()


def picture(figure: Part) -> Any:
    """The same as a figure of matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    layout: Part = figure["layout"]
    size = (layout["width"] / _INCH, layout["height"] / _INCH)
    drawn: Any = Figure(figsize=size, dpi=_DPI, facecolor=SURFACE)
    FigureCanvasAgg(drawn)
    plots = {name.replace("axis", ""): _plot(drawn, layout, name) for name in _first_axes(layout)}
    for trace in figure["data"]:
        axes = plots[trace.get("xaxis", "x")]
        _TRACES[trace["type"]](axes, trace)
    for shape in layout.get("shapes") or ():
        _shape(plots[shape["xref"].split()[0]], shape)
    for each in layout.get("annotations") or ():
        _note(plots, drawn, layout, each)
    return drawn


def _first_axes(layout: Part) -> Iterator[str]:
    return (name for name in layout if re.fullmatch(r"xaxis\d*", name))


# ---------------------------------------------------------------- axes


def _plot(drawn: Any, layout: Part, name: str) -> Any:
    """A pair of axes without frame, with its lines and labels."""
    x, y = layout[name], layout[name.replace("x", "y", 1)]
    left, right, low, high = _box(layout, x["domain"], y["domain"])
    axes = drawn.add_axes((left, low, right - left, high - low))
    axes.set_facecolor("none")
    axes.spines[:].set_visible(False)
    axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    axes.set_axisbelow(True)
    for across, axis in ((True, x), (False, y)):
        if is_log := axis.get("type") == "log":
            (axes.set_xscale if across else axes.set_yscale)("log")
        ends = [10**end if is_log else end for end in axis["range"]]
        (axes.set_xlim if across else axes.set_ylim)(*ends)
        _axis(axes, axis, across=across)
    return axes


def _box(layout: Part, across: Sequence[float], up: Sequence[float]) -> tuple[float, ...]:
    """Left, right, lower and upper end of a part of the plot, as shares of the figure."""
    width, height, margin = layout["width"], layout["height"], layout["margin"]
    wide, high = width - margin["l"] - margin["r"], height - margin["t"] - margin["b"]
    xs = ((margin["l"] + share * wide) / width for share in across)
    ys = ((margin["b"] + share * high) / height for share in up)
    return (*xs, *ys)


def _axis(axes: Any, axis: Part, *, across: bool) -> None:
    if axis.get("showgrid") is not False:
        for tick in axis.get("tickvals", ()):
            line = axes.axvline if across else axes.axhline
            line(tick, color=axis.get("gridcolor", GRID), linewidth=_POINT, zorder=0)
    colour = axis.get("tickfont", {}).get("color", INK)
    is_above = axis.get("side") == "top"
    for tick, label in zip(axis.get("tickvals", ()), axis.get("ticktext", ()), strict=True):
        if not across:
            place: Part = {"at": (0, tick), "within": ("axes fraction", "data"), "x": "right"}
            _write(axes, label, shift=(-_TICK, 0), colour=colour, **place)
        else:
            place = {"at": (tick, is_above), "within": ("data", "axes fraction")}
            shift, y = ((0, 6), "bottom") if is_above else ((0, -6), "top")
            _write(axes, label, shift=shift, y=y, colour=colour, **place)
    if title := axis.get("title", {}).get("text"):
        font = axis["title"].get("font", {})
        look = {"size": font.get("size", 13), "colour": font.get("color", INK)}
        if across:
            place = {"at": (0.5, 0), "shift": (0, -40), "within": "axes fraction"}
            _write(axes, title, **place, **look)
        else:
            place = {"at": (0, 0.5), "shift": (-46, 0), "within": "axes fraction", "angle": 90}
            _write(axes, title, **place, **look)


# ---------------------------------------------------------------- traces


def _cells(axes: Any, trace: Part) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    values = trace["z"]
    if not values or not values[0]:
        return
    stops = [(at, _rgba(colour)) for at, colour in trace["colorscale"]]
    axes.pcolormesh(
        [*(x - 0.5 for x in trace["x"]), trace["x"][-1] + 0.5],
        [*(y - 0.5 for y in trace["y"]), trace["y"][-1] + 0.5],
        [[float("nan") if each is None else each for each in row] for row in values],
        cmap=LinearSegmentedColormap.from_list("scale", stops),
        vmin=trace["zmin"],
        vmax=trace["zmax"],
        edgecolors=SURFACE,
        linewidth=trace.get("xgap", 0) * _POINT,
    )
    printed: Sequence[Sequence[str]] = trace.get("text") or ()
    for y, texts, row in zip(trace["y"], printed, values, strict=False):
        for x, text, value in zip(trace["x"], texts, row, strict=True):
            if value is not None:
                _write(axes, text, at=(x, y))


def _rgba(colour: str) -> tuple[float, ...]:
    *channels, opacity = map(float, re.findall(r"[\d.]+", colour))
    return (*(channel / 255 for channel in channels), opacity)


def _bars(axes: Any, trace: Part) -> None:
    marker = trace.get("marker", {})
    colour, opacity = marker.get("color", COLOURS[0]), marker.get("opacity", 1.0)
    axes.bar(trace["x"], trace["y"], trace.get("width", 0.8), color=colour, alpha=opacity)


def _marks(axes: Any, trace: Part) -> None:
    """Areas, lines, marks, and whiskers of their ranges."""
    x, y, mode = trace["x"], trace["y"], trace.get("mode", "lines")
    if colour := trace.get("fillcolor"):
        axes.fill(x, y, facecolor=_rgba(colour), linewidth=0)
    elif "lines" in mode:
        line = trace.get("line", {})
        look: Part = {
            "color": line.get("color", COLOURS[0]),
            "linewidth": line.get("width", 2) * _POINT,
            "linestyle": _DASHES[line.get("dash", "solid")],
            "alpha": trace.get("opacity", 1.0),
            "clip_on": trace.get("cliponaxis", True),
        }
        if look["linestyle"] == "-":
            look["solid_capstyle"] = "butt"
        axes.plot(x, y, **look)
    if "markers" in mode:
        _whiskers(axes, trace)
        for place, at in enumerate(zip(x, y, strict=True)):
            _mark(axes, at, trace.get("marker", {}), place)


def _mark(axes: Any, at: tuple[float, float], marker: Part, place: int) -> None:
    colours = marker.get("color", COLOURS[0])
    edge = marker.get("line", {})
    axes.plot(
        *at,
        marker=MARKERS[marker.get("symbol", "circle")],
        markersize=marker.get("size", 6) * _POINT,
        markerfacecolor=colours if isinstance(colours, str) else colours[place],
        markeredgecolor=edge.get("color", "none"),
        markeredgewidth=edge.get("width", 0) * _POINT,
        linestyle="none",
        clip_on=False,
        zorder=3,
    )


def _whiskers(axes: Any, trace: Part) -> None:
    ends = trace.get("error_y")
    if not ends:
        return
    for x, y, above, below in zip(
        trace["x"], trace["y"], ends["array"], ends["arrayminus"], strict=True
    ):
        axes.plot(
            [x, x],
            [y - below, y + above],
            color=ends.get("color", INK),
            linewidth=ends.get("thickness", 2) * _POINT,
            marker="_",
            markersize=2 * ends.get("width", 4) * _POINT,
            markeredgewidth=ends.get("thickness", 2) * _POINT,
            solid_capstyle="butt",
            clip_on=False,
        )


_TRACES: Mapping[str, Callable[[Any, Part], None]] = {
    "heatmap": _cells,
    "bar": _bars,
    "scatter": _marks,
}


# ---------------------------------------------------------------- shapes and texts


def _shape(axes: Any, shape: Part) -> None:
    """A line or a box, at data or at shares of the plot."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.transforms import blended_transform_factory

    in_shares = [shape[ref].endswith("domain") for ref in ("xref", "yref")]
    x, y = (axes.transAxes if each else axes.transData for each in in_shares)
    line, (x0, x1, y0, y1) = shape.get("line", {}), (shape[end] for end in ("x0", "x1", "y0", "y1"))
    look: Part = {
        "transform": blended_transform_factory(x, y),
        "linewidth": line.get("width", 2) * _POINT,
        "linestyle": _DASHES[line.get("dash", "solid")],
        "zorder": _Z[shape.get("layer", "above")],
        "clip_on": False,
    }
    if shape.get("type") == "line":
        axes.add_artist(Line2D([x0, x1], [y0, y1], color=line.get("color", INK), **look))
        return
    fill = shape.get("fillcolor")
    box = Rectangle(
        (x0, y0),
        x1 - x0,
        y1 - y0,
        facecolor=fill or "none",
        edgecolor=line.get("color", INK),
        alpha=shape.get("opacity"),
        **look,
    )
    axes.add_artist(box)


def _note(plots: Mapping[str, Any], drawn: Any, layout: Part, each: Part) -> None:
    """A text where Plotly has it: at data, or at a share of a plot or of the whole."""
    refs = each["xref"], each["yref"]
    font = each.get("font", {})
    look: Part = {
        "size": font.get("size", 13),
        "colour": font.get("color", INK),
        "strong": font.get("weight", 400) >= 600,
        "shift": (each.get("xshift", 0), each.get("yshift", 0)),
        "angle": -each.get("textangle", 0),
        "x": each.get("xanchor") or _anchor(refs[0], each["x"], ("left", "center", "right")),
        "y": each.get("yanchor") or _anchor(refs[1], each["y"], ("bottom", "middle", "top")),
    }
    if refs == ("paper", "paper"):
        left, _, low, _ = _box(layout, (each["x"], each["x"]), (each["y"], each["y"]))
        # A figure itself has no texts beside a point.
        axes = next(iter(plots.values()), None) or drawn.add_axes((0, 0, 1, 1), frame_on=False)
        _write(axes, each["text"], at=(left, low), within="figure fraction", **look)
        return
    within = tuple("axes fraction" if ref.endswith("domain") else "data" for ref in refs)
    axes, at = plots[refs[0].split()[0]], [each["x"], each["y"]]
    if within[0] == "data" and axes.get_xscale() == "log":
        at[0] = 10 ** at[0]
    _write(axes, each["text"], at=(at[0], at[1]), within=within, **look)


def _anchor(ref: str, share: float, names: tuple[str, str, str]) -> str:
    """Plotly's: at data the middle, else the side that is nearest."""
    if not ref.endswith(("domain", "paper")):
        return names[1]
    return names[0] if share < 1 / 3 else names[2] if share > 2 / 3 else names[1]


def _write(
    axes: Any,
    text: str,
    *,
    at: tuple[float, float],
    shift: tuple[float, float] = (0.0, 0.0),
    within: Any = "data",
    x: str = "center",
    y: str = "middle",
    size: float = 13,
    colour: str = INK,
    strong: bool = False,
    angle: float = 0,
) -> None:
    """The lines of a text below each other, anchored `shift` pixels right of and above a point."""
    lines = text.split("<br>")
    # How many lines the middle of the first one stands above the point.
    rises = {"top": -0.5, "middle": (len(lines) - 1) / 2, "bottom": len(lines) - 0.5}
    for place, line in enumerate(lines):
        shown = printable_text(unescape(re.sub("<[^>]*>", "", line)))
        is_small = "font-size:12px" in line
        up = shift[1] + _LINE * size * (rises[y] - place)
        axes.annotate(
            shown,
            at,
            xycoords=within,
            xytext=(shift[0] * _POINT, up * _POINT),
            textcoords="offset points",
            annotation_clip=False,
            horizontalalignment=x,
            verticalalignment="center" if angle else "center_baseline",
            rotation=angle,
            fontsize=(12 if is_small else size) * _POINT,
            family=fonts_for(shown),
            weight="bold" if strong or "<b>" in line else "normal",
            color=colour,
            parse_math=False,  # a name with dollars is no formula
        )
