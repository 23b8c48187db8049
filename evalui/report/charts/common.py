"""Plotly figures from plain metrics. Titles are sentences and belong to `narrative`.

Paper and plot are transparent and no text colour is set: the page's style sheet gives the ink, so
that one figure serves the light and the dark theme.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import Any

import plotly.graph_objects as go

from evalui.messages import localized
from evalui.report.analyses.overview.narrative import names
from evalui.report.analyses.overview.summary import Summary
from evalui.report.numbers import format_range, format_value, percent
from evalui.types import Interval, Language

# Okabe and Ito's palette, which the colour-blind can tell apart, in the order of the run.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_SYMBOLS = ("circle", "square", "triangle-up", "pentagon", "star", "hexagon")
# Reaches 3:1 on the light and on the dark surface.
NEUTRAL = "#80868B"
GRID = "rgba(128,134,139,.25)"
MIN_QUESTIONS = 30  # questions, under which a cell is grey and its value belongs into the hover
CONFIG: Mapping[str, bool] = {"displayModeBar": False, "responsive": True}
_ROW = 58  # pixels between two models, as between two lines of a table
_MAX_NAME_LENGTH = 24  # characters of a name beside a chart
_MARKER_RADIUS = 0.012  # of a mark, as a part of the axis
_MIN_LABEL_DISTANCE = 5  # points: nearer marks would print their numbers over each other


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How a model is drawn in every chart of a run: `symbol` is Plotly's name of the shape."""

    colour: str
    symbol: str


def series_styles(models: Sequence[str], baselines: Collection[str] = ()) -> dict[str, SeriesStyle]:
    """A colour and a shape per model, in the order of the run; scripted ones are grey diamonds."""
    drawn: dict[str, SeriesStyle] = {}
    real = [model for model in dict.fromkeys(models) if model not in baselines]
    for place, model in enumerate(real):
        # After six the shapes move on by one against the colours: the pair stays unique.
        shape = (place + place // len(COLOURS)) % len(_SYMBOLS)
        drawn[model] = SeriesStyle(COLOURS[place % len(COLOURS)], _SYMBOLS[shape])
    return drawn | dict.fromkeys(baselines, SeriesStyle(NEUTRAL, "diamond"))


def before_after(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str] = ()
) -> go.Figure:
    """A dumbbell per cell: hollow as written, solid in every order, pale bands as ranges."""
    rows = [summary for summary in summaries if summary.accuracy]
    drawn = series_styles([summary.cell.model for summary in summaries], baselines)
    chart = go.Figure()
    limit = share_limit([_highest_bound(summary) for summary in rows])
    for y, summary in enumerate(rows):
        _dumbbell(chart, y, summary, drawn[summary.cell.model], limit, language)
    _chance(chart, rows, language)
    layout(chart, height=96 + _ROW * len(rows))
    chart.update_xaxes(**share_axis(limit))
    titles = names(summaries, language)
    chart.update_yaxes(
        range=[len(rows) - 0.4, -0.7],
        tickvals=list(range(len(rows))),
        ticktext=[_row_name(titles[summary.cell]) for summary in rows],
        ticklabelstandoff=14,  # a mark at 0 is not drawn over its name
        showgrid=False,
    )
    return chart


def share_limit(highest: Sequence[float]) -> int:
    """The end of an axis of shares in per cent, at least 40: a short axis enlarges differences."""
    return max(40, 20 * ceil(100 * max(highest, default=0.0) / 20))


def share_axis(limit: int) -> dict[str, Any]:  # Plotly's own keywords
    """An axis from 0 to `limit` per cent with a line at every 20."""
    ticks = list(range(0, limit + 1, 20))
    return {
        "range": [0, limit],
        "tickvals": ticks,
        "ticktext": [*map(str, ticks[:-1]), f"{limit} %"],
        "gridcolor": GRID,
        "showgrid": True,
    }


def layout(chart: go.Figure, *, height: int) -> None:
    """What all our charts share: transparent, still, of a fixed height, labels horizontal."""
    chart.update_layout(
        template="none",
        height=height,
        margin={"l": 8, "r": 24, "t": 32, "b": 8},
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
    chart.update_xaxes(**still, title_font_size=13)
    chart.update_yaxes(**still, title_font_size=13)


def _dumbbell(
    chart: go.Figure, y: int, summary: Summary, mark: SeriesStyle, limit: int, language: Language
) -> None:
    accuracy, robust = summary.accuracy, summary.robust
    assert accuracy is not None, "only cells with answers are drawn"
    for interval in filter(None, (accuracy, robust)):
        _line(chart, y, interval.low, interval.high, mark.colour, width=10, opacity=0.18)
    if robust is None:
        _dot(chart, y, accuracy, mark, ("as-written", "-open", "top center"), language)
        return
    # The line ends before the hollow mark, whose inside is the page's own surface.
    end = max(robust.value, accuracy.value - _MARKER_RADIUS * limit / 100)
    _line(chart, y, robust.value, end, mark.colour, width=2, opacity=1.0)
    near = 100 * (accuracy.value - robust.value) < _MIN_LABEL_DISTANCE
    left, right = ("top left", "top right") if near else ("top center", "top center")
    _dot(chart, y, accuracy, mark, ("as-written", "-open", right), language)
    _dot(chart, y, robust, mark, ("every-order", "", left), language)


def _line(
    chart: go.Figure, y: int, low: float, high: float, colour: str, *, width: int, opacity: float
) -> None:
    chart.add_scatter(
        x=[100 * low, 100 * high],
        y=[y, y],
        mode="lines",
        line={"color": colour, "width": width},
        opacity=opacity,
        hoverinfo="skip",
        cliponaxis=False,
    )


def _dot(
    chart: go.Figure,
    y: int,
    interval: Interval,
    mark: SeriesStyle,
    kind: tuple[str, str, str],  # sentence, suffix of the symbol, place of the number
    language: Language,
) -> None:
    key, suffix, place = kind
    printed = format_value(interval)
    chart.add_scatter(
        x=[100 * interval.value],
        y=[y],
        mode="markers+text",
        marker={
            "symbol": mark.symbol + suffix,
            "size": 12,
            "color": mark.colour,
            "line": {"color": mark.colour, "width": 2},
        },
        text=[printed if suffix else f"<b>{printed}</b>"],
        textposition=place,
        hovertemplate=(
            f"{localized(key, language)} {printed} % ({format_range(interval)}), "
            f"n = {interval.n}<extra></extra>"
        ),
        cliponaxis=False,
    )


def _chance(chart: go.Figure, rows: Sequence[Summary], language: Language) -> None:
    for y, summary in enumerate(rows):
        chart.add_scatter(
            x=[100 * _chance_level(summary)] * 2,
            y=[y - 0.5, y + 0.5],
            mode="lines",
            line={"color": NEUTRAL, "width": 1, "dash": "dot"},
            hoverinfo="skip",
        )
    if not rows:
        return
    levels = {
        (percent(_chance_level(s)), s.chance_robust and percent(s.chance_robust)) for s in rows
    }
    text, x = localized("chance-lines", language), 100 * _chance_level(rows[0])
    if len({level for level, _ in levels}) == 1:
        robust = {level for _, level in levels if level}
        value = percent(_chance_level(rows[0]))
        text = localized("chance-line", language, value=value)
        if len(robust) == 1:
            text = localized("chance-line-robust", language, value=value, robust=robust.pop())
    annotate(chart, text, x=x, y=-0.62, yanchor="bottom")


def annotate(chart: go.Figure, text: str, **place: Any) -> None:  # Plotly's own keywords
    """A horizontal note without arrow."""
    chart.add_annotation(text=text, showarrow=False, **({"yanchor": "middle"} | place))


def _chance_level(summary: Summary) -> float:
    assert summary.chance is not None, "what has an accuracy has a chance level"
    return summary.chance


def _highest_bound(summary: Summary) -> float:
    return max(i.high for i in (summary.accuracy, summary.robust) if i)


def _row_name(parts: tuple[str, str]) -> str:
    model, rest = (escape(shorten_name(part)) for part in parts)
    return f"<b>{model}</b>" + (f"<br>{rest}" if rest else "")


def shorten_name(name: str) -> str:
    """A name that leaves room for the chart."""
    return name if len(name) <= _MAX_NAME_LENGTH else name[: _MAX_NAME_LENGTH - 1] + "…"
