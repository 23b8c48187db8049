"""What several charts on the page have in common: layout, axes, texts, ranges, bars."""

from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from evalui.report.charts.kinds import Axis, Bars, Label
from evalui.report.charts.theme import NEUTRAL, SCALES, Scale

GRID = "rgba(128,134,139,.25)"
DOTTED = {"color": NEUTRAL, "width": 1, "dash": "dot"}
BELOW = 72  # pixels of bars below another chart
_HEIGHT = 320  # pixels of bars that stand alone
_GAP = 0.04  # of the height, on both sides between a chart and the bars below


def layout(figure: go.Figure, height: float, **margin: int) -> None:
    """Give a chart what all have: it is transparent, still and of a fixed height in pixels."""
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 8, "r": 24, "t": 32, "b": 8} | margin,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=False,
        dragmode=False,
        hovermode="closest",
        font={"family": "inherit", "size": 13},
    )
    still: dict[str, Any] = {
        "fixedrange": True,
        "automargin": True,
        "tickangle": 0,
        "ticks": "",
        "zeroline": False,
    }
    figure.update_xaxes(**still, title_font_size=13)
    figure.update_yaxes(**still, title_font_size=13)


def axis_settings(axis: Axis) -> dict[str, Any]:
    """Plotly's own keywords for an axis of values."""
    scale = {"type": "log"} if axis.logarithmic else {"range": [axis.low, axis.high]}
    return scale | {
        "tickvals": list(axis.ticks),
        "ticktext": list(axis.labels),
        "title": {"text": axis.title},
        "gridcolor": GRID,
        "showgrid": True,
    }


def colour_scale(scale: Scale) -> list[tuple[float, str]]:
    """Plotly's form of a scale of colours."""
    return [
        (at, f"rgba({','.join(map(str, bytes.fromhex(colour[1:])))},{opacity:g})")
        for at, colour, opacity in SCALES[scale]
    ]


def annotate(figure: go.Figure, text: str, **place: Any) -> None:  # Plotly's own keywords
    """Write a horizontal text without arrow."""
    figure.add_annotation(text=text, showarrow=False, **({"yanchor": "middle"} | place))


def inline(label: Label) -> str:
    """The parts of a label beside each other, as markup."""
    return " ".join(_parts(label))


def stacked(label: Label) -> str:
    """The parts of a label below each other, as markup."""
    return "<br>".join(_parts(label))


def _parts(label: Label) -> list[str]:
    strong = f"<b>{plain(label.strong)}</b>" if label.strong else ""
    return [part for part in (strong, plain(label.plain)) if part]


def plain(text: str) -> str:
    """A text as markup that shows it as it is."""
    return escape(text).replace("\n", "<br>")


def error_bars(
    values: Sequence[float], ranges: Sequence[tuple[float, float]], colour: str, *, cap: int = 5
) -> dict[str, Any]:
    """Plotly's own keywords for ranges (low, high) around values."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(0.0, high - y) for y, (_, high) in zip(values, ranges, strict=True)],
        "arrayminus": [max(0.0, y - low) for y, (low, _) in zip(values, ranges, strict=True)],
        "color": colour,
        "thickness": 2,
        "width": cap,
    }


def add_bars(figure: go.Figure, chart: Bars) -> None:
    """Draw bars as a chart of their own."""
    _add_bars(figure, chart, "y")
    for level in chart.levels:
        figure.add_hline(y=level.value, line=DOTTED)
        place = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 6}
        annotate(figure, plain(level.text), y=level.value, **place)
    layout(figure, _HEIGHT, r=96)
    figure.update_xaxes(
        range=[-0.5, len(chart.slots) - 0.5],
        tickvals=list(range(len(chart.slots))),
        ticktext=[f"<b>{escape(slot)}</b>" for slot in chart.slots],
        showgrid=False,
    )
    figure.update_yaxes(**axis_settings(chart.axis))


def add_bars_below(figure: go.Figure, bars: Bars, height: float) -> None:
    """Bars under a chart of `height` pixels, above its first axis."""
    _add_bars(figure, bars, "y2")
    for level in bars.levels:
        ends = {"x0": -0.42, "x1": bars.bars[-1].x + 0.42 if bars.bars else 0.0}
        look = {"line": {**DOTTED, "width": 2}, "yref": "y2"}
        figure.add_shape(type="line", **ends, y0=level.value, y1=level.value, **look)
        place = {"x": level.x, "yref": "y2", "xanchor": "left", "align": "left"}
        annotate(figure, plain(level.text), y=level.value, **place)
    part = BELOW / (height + BELOW)
    figure.update_layout(
        yaxis={"domain": [part + _GAP, 1]},
        yaxis2={
            "domain": [0, part - _GAP],
            "range": [bars.axis.low, bars.axis.high],
            "visible": False,
            "fixedrange": True,
        },
    )


def _add_bars(figure: go.Figure, chart: Bars, axis: str) -> None:
    values = [bar.value for bar in chart.bars]
    ends = [(b.low, b.high) for b in chart.bars if b.low is not None and b.high is not None]
    outside = not (ends or chart.foot)
    figure.add_bar(
        x=[bar.x for bar in chart.bars],
        y=values,
        yaxis=axis,
        width=chart.width,
        marker={
            "color": [bar.colour for bar in chart.bars],
            "opacity": chart.opacity,
            "line": {"width": 0},
        },
        error_y=error_bars(values, ends, NEUTRAL) if ends else None,
        text=[inline(bar.label) for bar in chart.bars] if outside else None,
        textposition="outside" if outside else None,
        hovertext=[escape(bar.hover) for bar in chart.bars],
        hoverinfo="text",
        cliponaxis=False,
    )
    if outside:
        return
    foot = {"y": 0, "yanchor": "top"}
    for bar in chart.bars:
        place = foot if chart.foot else {"y": bar.high, "yanchor": "bottom", "yshift": 2}
        annotate(figure, inline(bar.label), x=bar.x, yref=axis, **place)
