"""Plotly figures of standings, win matrices and written answers; titles belong to narratives.

As in `charts`, paper and plot are transparent and the page's style sheet gives the ink.
"""

from collections.abc import Collection, Sequence
from html import escape
from math import ceil, floor

import plotly.graph_objects as go

from evalui.messages import localized
from evalui.report.analyses.arena.figures import Arena, Standing
from evalui.report.charts.common import (
    GRID,
    NEUTRAL,
    SeriesStyle,
    annotate,
    layout,
    series_styles,
    shorten_name,
)
from evalui.report.charts.small_multiples import capability_chart, error_bar, text_figures_chart
from evalui.report.numbers import count, decimal_places, fixed, format_range, format_value
from evalui.scoring.arena.elo import INITIAL_RATING
from evalui.types import Language

__all__ = [
    "capability_chart",
    "elo_chart",
    "interval_offsets",
    "rating_ticks",
    "text_figures_chart",
    "win_matrix",
]

_MINUS = "−"
_ROW, _HEAD = 52, 64  # pixels of a model's row, and of all that is not rows
_MIN_AXIS_SPAN = 800.0  # rating points an axis holds at least: a short one enlarges differences
_STEPS = (100, 200, 500, 1000, 2000, 5000)  # between two ticks, of which there are at most 7
_TICKS = 7
# Blue over white over orange; at two thirds of the full colours the page's ink keeps 4.5:1 in
# the light and in the dark theme.
_DIVERGING = (
    (0.0, "rgba(213,94,0,.66)"),
    (0.499, "rgba(213,94,0,.02)"),
    (0.501, "rgba(0,114,178,.02)"),
    (1.0, "rgba(0,114,178,.66)"),
)
_GREYS = ((0.0, "rgba(128,134,139,.15)"), (1.0, "rgba(128,134,139,.15)"))
_CELL = 54  # pixels of a matrix row with its range
_SMALL_CELL = 34  # without
_MAX_RANGED_MODELS = 6  # models up to which a cell has room for its range
_MAX_HEADER_LENGTH = (
    48  # characters of all names up to which columns are headed by names, else by numbers
)


def elo_chart(arena: Arena, language: Language, *, baselines: Collection[str] = ()) -> go.Figure:
    """ELO with whiskers, in the order of the standings; each model in its colour."""
    drawn = series_styles([contestant.name for contestant in arena.contestants], baselines)
    chart = go.Figure()
    start = localized("start", language, value=count(round(INITIAL_RATING)))
    _vertical_line(chart, INITIAL_RATING, len(arena.standings))
    for y, standing in enumerate(arena.standings):
        mark = drawn.get(standing.model, SeriesStyle(NEUTRAL, "circle"))
        _rating(chart, y, standing, mark)
    layout(chart, height=_HEAD + _ROW * max(1, len(arena.standings)))
    annotate(chart, start, x=INITIAL_RATING, y=-0.8, yanchor="bottom")
    _rating_axis(chart, arena.standings)
    _model_axis(chart, [standing.model for standing in arena.standings])
    return chart


def win_matrix(arena: Arena, language: Language) -> go.Figure:
    """The share of points that the row won against the column, best models first."""
    models = [standing.model for standing in arena.standings]
    ranged = len(models) <= _MAX_RANGED_MODELS
    # One format for all cells: as many digits as the widest range deserves.
    places = min(map(decimal_places, arena.shares.values()), default=0)
    chart = go.Figure()
    chart.add_heatmap(
        z=[[_value(arena, row, column) for column in models] for row in models],
        text=[[_cell_label(arena, (r, c), ranged, places) for c in models] for r in models],
        hovertext=[
            [_hover_text(arena, row, column, language) for column in models] for row in models
        ],
        hoverinfo="text",
        texttemplate="%{text}",
        textfont={"size": 13 if ranged else 12},
        zmin=0,
        zmax=1,
        colorscale=_DIVERGING,
        showscale=False,
        xgap=3,
        ygap=3,
        hoverongaps=False,
    )
    _empty_cells(chart, arena, models)
    layout(chart, height=56 + (_CELL if ranged else _SMALL_CELL) * max(1, len(models)))
    _matrix_axes(chart, models)
    return chart


def rating_ticks(standings: Sequence[Standing]) -> list[int]:
    """Round ratings that hold all standings, their ranges and the start."""
    ends = [INITIAL_RATING] + [
        end for s in standings for end in (s.elo, s.elo_low, s.elo_high) if end is not None
    ]
    low, high = min(ends), max(ends)
    missing = max(0.0, _MIN_AXIS_SPAN - (high - low)) / 2
    low, high = low - missing, high + missing
    step = next((step for step in _STEPS if (high - low) / step < _TICKS), _STEPS[-1])
    return list(range(step * floor(low / step), step * ceil(high / step) + 1, step))


def interval_offsets(standing: Standing) -> str:
    """The whiskers of an ELO in points: "+30 −32", "" if they are not known."""
    if standing.elo_low is None or standing.elo_high is None:
        return ""
    up, down = standing.elo_high - standing.elo, standing.elo - standing.elo_low
    return f"+{fixed(up, 0)} {_MINUS}{fixed(down, 0)}"


def _rating(chart: go.Figure, y: int, standing: Standing, mark: SeriesStyle) -> None:
    known = standing.elo_low is not None and standing.elo_high is not None
    around = interval_offsets(standing)
    printed = f"{standing.elo:,.0f}"
    ends = f" ({standing.elo_low:,.0f}–{standing.elo_high:,.0f})" if known else ""
    chart.add_scatter(
        x=[standing.elo],
        y=[y],
        mode="markers+text",
        marker={"symbol": mark.symbol, "size": 12, "color": mark.colour, "line": {"width": 0}},
        error_x=error_bar(standing.elo, standing.elo_low, standing.elo_high, mark.colour),
        text=[f"<b>{printed}</b> {around}".strip()],
        textposition="top center",
        hovertemplate=f"{escape(standing.model)}: {printed}{ends}<extra></extra>",
        cliponaxis=False,
    )


def _vertical_line(chart: go.Figure, x: float, rows: int) -> None:
    chart.add_shape(
        type="line",
        x0=x,
        x1=x,
        y0=-0.75,
        y1=max(1, rows) - 0.5,
        layer="below",
        line={"color": NEUTRAL, "width": 1, "dash": "dot"},
    )


def _rating_axis(chart: go.Figure, standings: Sequence[Standing]) -> None:
    ticks = rating_ticks(standings)
    chart.update_xaxes(
        range=[ticks[0], ticks[-1]],
        tickvals=ticks,
        ticktext=[count(tick) for tick in ticks],
        gridcolor=GRID,
        showgrid=True,
    )


def _model_axis(chart: go.Figure, models: Sequence[str]) -> None:
    chart.update_yaxes(
        range=[max(1, len(models)) - 0.5, -0.8],
        tickvals=list(range(len(models))),
        ticktext=[f"<b>{escape(shorten_name(model))}</b>" for model in models],
        ticklabelstandoff=14,
        showgrid=False,
    )


# ---------------------------------------------------------------- the win matrix


def _value(arena: Arena, row: str, column: str) -> float | None:
    share = arena.shares.get((row, column))
    return share.value if share else None


def _cell_label(arena: Arena, pair: tuple[str, str], ranged: bool, places: int) -> str:
    share = arena.shares.get(pair)
    if share is None:
        return ""
    value, low, high = (fixed(100 * end, places) for end in (share.value, share.low, share.high))
    return f"<b>{value} %</b><br>{low}–{high}" if ranged else f"<b>{value}</b>"


def _hover_text(arena: Arena, row: str, column: str, language: Language) -> str:
    share = arena.shares.get((row, column))
    if share is None:
        return ""
    told = {"value": format_value(share), "span": format_range(share), "n": count(share.n)}
    return escape(localized("against", language, row=row, column=column, **told))


def _empty_cells(chart: go.Figure, arena: Arena, models: Sequence[str]) -> None:
    """A grey diagonal, and a dash where two models never met."""
    chart.add_heatmap(
        z=[[0 if row == column else None for column in models] for row in models],
        colorscale=_GREYS,
        showscale=False,
        hoverinfo="skip",
        xgap=3,
        ygap=3,
    )
    for y, row in enumerate(models):
        for x, column in enumerate(models):
            if row != column and (row, column) not in arena.shares:
                annotate(chart, "–", x=x, y=y)


def _matrix_axes(chart: go.Figure, models: Sequence[str]) -> None:
    named = len(models) <= _MAX_RANGED_MODELS and sum(map(len, models)) <= _MAX_HEADER_LENGTH
    names = [escape(shorten_name(model)) for model in models]
    heads = names if named else [str(place) for place in range(1, len(models) + 1)]
    rows = names if named else [f"{name}  {head}" for name, head in zip(names, heads, strict=True)]
    chart.update_xaxes(
        range=[-0.5, len(models) - 0.5],
        tickvals=list(range(len(models))),
        ticktext=[f"<b>{head}</b>" for head in heads],
        side="top",
        showgrid=False,
    )
    chart.update_yaxes(
        range=[len(models) - 0.5, -0.5],
        tickvals=list(range(len(models))),
        ticktext=[f"<b>{row}</b>" for row in rows],
        ticklabelstandoff=8,
        showgrid=False,
    )
