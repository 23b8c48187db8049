"""Plotly figures with many small rows: the groups of an arena, and the figures of written answers.

As in `charts`, paper and plot are transparent and the page's style sheet gives the ink.
"""

from collections.abc import Collection, Mapping, Sequence
from html import escape
from math import ceil

import plotly.graph_objects as go

from evalui.messages import localized
from evalui.report.analyses.arena.categories import (
    Grouping,
    QuestionGroup,
    largest_groups,
    question_groups,
)
from evalui.report.analyses.arena.figures import Arena
from evalui.report.analyses.arena.narrative import dimension_name, format_fraction, format_interval
from evalui.report.analyses.open_answers.figures import AnswerSummary
from evalui.report.analyses.overview.leading import RECALL, ranking_metric
from evalui.report.charts.common import (
    GRID,
    NEUTRAL,
    SeriesStyle,
    annotate,
    layout,
    series_styles,
    shorten_name,
)
from evalui.report.numbers import count, fixed, format_range, format_value
from evalui.scoring.text_metrics import BLEUS, ROUGES
from evalui.types import Language

TEXT_FIGURES = (*(f"{rouge}-f" for rouge in ROUGES), *BLEUS)
_RECALLS = (RECALL, *(f"{rouge}-r" for rouge in ROUGES if f"{rouge}-r" != RECALL))
_MAX_COLUMNS = 3  # panels side by side: on a phone each is as wide as a thumb
_FACET_ROW, _SMALL_FACET_ROW = 34, 20  # pixels of a model in a panel, with and without its value
_FACET_HEAD = 72  # pixels of a panel's title and axis
_FOOT = 56  # pixels below the panels where a line stands there
_GUTTER = 0.06  # of the width, between two panels
_TEXT_ROW = 18  # pixels of a model within a text figure
_SPREAD = 0.7  # of a text figure's row, over which its models are spread
_FIXED_AXIS = {"zeroline": False, "fixedrange": True, "ticks": "", "tickangle": 0}
_MAX_LABELLED_MODELS = 6  # models up to which a panel has room for their values


def capability_chart(
    arena: Arena,
    language: Language,
    *,
    grouping: Grouping = "capability",
    baselines: Collection[str] = (),
) -> go.Figure:
    """A panel per group of questions with a row per model: its share of points with its range.

    All panels have the same rows and the same axis from 0 to 100 %; those of few questions are
    grey. Of many groups the most frequent are drawn, and the chart says how many are left out.
    A run whose questions name no group gives an empty chart.
    """
    drawn = series_styles([contestant.name for contestant in arena.contestants], baselines)
    models = [standing.model for standing in arena.standings]
    found = question_groups(arena, grouping)
    names = set(largest_groups({panel.name: panel.questions for panel in found}))
    shown = [panel for panel in found if panel.name in names]
    chart = go.Figure()
    columns = max(1, min(_MAX_COLUMNS, len(shown)))
    rows = max(1, ceil(len(shown) / columns))
    row = _FACET_ROW if len(models) <= _MAX_LABELLED_MODELS else _SMALL_FACET_ROW
    tall = _FACET_HEAD + row * max(1, len(models))
    for place, panel in enumerate(shown):
        _facet(chart, place, panel, drawn, models, language)
    left = len(found) - len(shown)
    layout(chart, height=24 + tall * rows + (_FOOT if left else 0))
    chart.update_layout(margin={"t": 0, "b": _FOOT if left else 8})
    if left:
        _omitted_note(
            chart, localized("groups-left-out", language, shown=count(len(shown)), k=count(left))
        )
    grid = (rows, columns, _FACET_HEAD / tall)
    axes = [_facet_axes(place, models, grid, len(shown)) for place in range(len(shown))]
    chart.update_layout({name: axis for both in axes for name, axis in both.items()})
    chart.update_layout(shapes=[_half_line(place) for place in range(len(shown))])
    return chart


def text_figures_chart(
    summaries: Sequence[AnswerSummary], language: Language, *, baselines: Collection[str] = ()
) -> go.Figure:
    """ROUGE and BLEU of each model's answers with ranges, from 0 to 1.

    Where recall leads, its rows come first, and the names of the others are not bold.
    """
    found = [summary for summary in summaries if summary.means]
    bold = _RECALLS if ranking_metric(summaries).figure == RECALL else TEXT_FIGURES
    names = tuple(dict.fromkeys((*bold, *TEXT_FIGURES)))
    # As in the arena, who could not run takes no colour.
    able = [summary.cell.model for summary in summaries if summary.state != "impossible"]
    drawn = series_styles(able, baselines)
    chart = go.Figure()
    for place, summary in enumerate(found):
        offset = _SPREAD * ((place + 0.5) / len(found) - 0.5)
        _text_means(chart, summary, names, drawn[summary.cell.model], offset)
    row = max(44, 14 + _TEXT_ROW * len(found))
    layout(chart, height=88 + row * len(names))
    chart.update_layout(
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False},
        margin={"t": 48},
    )
    chart.update_xaxes(title={"text": localized("text-axis", language)})
    chart.update_xaxes(range=[0, 1], dtick=0.2, tickformat=".1f", gridcolor=GRID, showgrid=True)
    chart.update_yaxes(
        range=[len(names) - 0.5, -0.5],
        tickvals=list(range(len(names))),
        ticktext=[f"<b>{name}</b>" if name in bold else name for name in names],
        ticklabelstandoff=14,
        showgrid=False,
    )
    for y in range(1, len(names)):
        chart.add_hline(y=y - 0.5, line={"color": GRID, "width": 1})
    return chart


def error_bar(
    value: float, low: float | None, high: float | None, colour: str
) -> dict[str, object]:
    """Plotly's keywords for a range around one value; no whisker if an end is not known."""
    if low is None or high is None:
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(0.0, high - value)],
        "arrayminus": [max(0.0, value - low)],
        "color": colour,
        "thickness": 2,
        "width": 5,
    }


# ---------------------------------------------------------------- groups of questions


def _omitted_note(chart: go.Figure, told: str) -> None:
    """A line below the axes of the lowest panels."""
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 0, "yref": "paper"}
    annotate(chart, told, **place, yanchor="top", yshift=-24, align="left")


def _facet(
    chart: go.Figure,
    place: int,
    panel: QuestionGroup,
    drawn: Mapping[str, SeriesStyle],
    models: Sequence[str],
    language: Language,
) -> None:
    name = dimension_name(panel.name, language)
    printed = "markers+text" if len(models) <= _MAX_LABELLED_MODELS else "markers"
    for y, model in enumerate(models):
        if (share := panel.shares.get(model)) is None:
            continue
        mark = drawn.get(model, SeriesStyle(NEUTRAL, "circle"))
        colour = NEUTRAL if panel.too_few_questions else mark.colour
        chart.add_scatter(
            x=[100 * share.value],
            y=[y],
            xaxis=_axis("x", place),
            yaxis=_axis("y", place),
            mode=printed,
            marker={"symbol": mark.symbol, "size": 9, "color": colour, "line": {"width": 0}},
            error_x=error_bar(100 * share.value, 100 * share.low, 100 * share.high, colour),
            # Whole per cents beside all marks: 60 beside 60.0 would look like another measure.
            text=[fixed(100 * share.value, 0)],
            textposition="top center",
            textfont={"size": 11},
            hovertemplate=(
                f"{escape(model)}, {escape(name)}: {format_value(share)} % "
                f"({format_range(share)}), "
                f"n = {share.n}<extra></extra>"
            ),
            cliponaxis=False,
        )
    title = f"<b>{escape(shorten_name(name))}</b><br>n = {count(panel.questions)}"
    place_above = {"x": 0, "xref": f"{_axis('x', place)} domain", "xanchor": "left"}
    above = {
        "y": 1,
        "yref": f"{_axis('y', place)} domain",
        "yanchor": "bottom",
        "yshift": 2,
        "align": "left",
    }
    annotate(chart, title, **place_above, **above)


def _facet_axes(
    place: int,
    models: Sequence[str],
    grid: tuple[int, int, float],  # rows, columns, the part of a row above the panel's own area
    total: int,
) -> dict[str, dict[str, object]]:
    rows, columns, head = grid
    row, column = divmod(place, columns)
    wide, high = (1 + _GUTTER) / columns, 1 / rows
    x, y = _axis("x", place), _axis("y", place)
    top = 1 - row * high - high * head * 0.58
    lowest = place + columns >= total
    return {
        x.replace("x", "xaxis"): {
            "domain": [column * wide, min(1.0, (column + 1) * wide - _GUTTER)],
            "anchor": y,
            "range": [0, 100],
            "tickvals": [0, 50, 100],
            # Where two panels meet, two labels would overlap.
            "ticktext": ["" if column else "0", "50 %", "100"] if lowest else ["", "", ""],
            "gridcolor": GRID,
            **_FIXED_AXIS,
        },
        y.replace("y", "yaxis"): {
            "domain": [1 - (row + 1) * high + high * head * 0.32, top],
            "anchor": x,
            "range": [len(models) - 0.5, -0.7],
            "tickvals": list(range(len(models))),
            "ticktext": [f"<b>{escape(shorten_name(model))}</b>" for model in models],
            "showticklabels": column == 0,
            "ticklabelstandoff": 10,
            "showgrid": False,
            "automargin": True,
            **_FIXED_AXIS,
        },
    }


def _half_line(place: int) -> dict[str, object]:
    """The dotted line at 50 % of a panel."""
    return {
        "type": "line",
        "x0": 50,
        "x1": 50,
        "y0": 0,
        "y1": 1,
        "xref": _axis("x", place),
        "yref": f"{_axis('y', place)} domain",
        "layer": "below",
        "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
    }


def _axis(letter: str, place: int) -> str:
    """Plotly's name of the axes of a panel: "x", "x2", "x3"."""
    return letter if place == 0 else f"{letter}{place + 1}"


# ---------------------------------------------------------------- written answers


def _text_means(
    chart: go.Figure, summary: AnswerSummary, names: Sequence[str], mark: SeriesStyle, offset: float
) -> None:
    means = [(y, summary.means[name]) for y, name in enumerate(names)]
    model = escape(summary.cell.model)
    chart.add_scatter(
        x=[mean.value for _, mean in means],
        y=[y + offset for y, _ in means],
        name=model,
        mode="markers",
        marker={"symbol": mark.symbol, "size": 9, "color": mark.colour, "line": {"width": 0}},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [mean.high - mean.value for _, mean in means],
            "arrayminus": [mean.value - mean.low for _, mean in means],
            "color": mark.colour,
            "thickness": 2,
            "width": 4,
        },
        hovertemplate=[
            f"{model}, {names[y]}: {format_fraction(mean.value)} ({format_interval(mean)}), "
            f"n = {mean.n}<extra></extra>"
            for y, mean in means
        ],
        cliponaxis=False,
    )
