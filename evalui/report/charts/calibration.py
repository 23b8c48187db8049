"""Plotly figures of what can be trusted: sureness against rightness, and how small a difference.

As in `charts`, paper and plot are transparent and the page's style sheet gives the ink.
"""

from collections.abc import Sequence
from html import escape
from math import ceil, sqrt

import plotly.graph_objects as go

from evalui.messages import localized
from evalui.report.analyses.statistics import CellComparison, format_points, format_points_range
from evalui.report.charts.common import (
    COLOURS,
    GRID,
    MIN_QUESTIONS,
    NEUTRAL,
    annotate,
    layout,
    share_axis,
)
from evalui.report.numbers import count, fixed, format_range, format_value, percent
from evalui.scoring.calibration import Calibration, CalibrationBin
from evalui.scoring.statistics.paired_tests import minimum_detectable_difference
from evalui.types import Language

DISAGREEMENT_RATES = (0.1, 0.2, 0.3)  # shares of questions on which two models differ
_SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10000)
_LABELLED_SIZE = 50  # questions at which the lines are far enough apart for their names
_DASHES = ("solid", "dash", "dot")
_COUNTS_AXIS_SHARE = 0.2  # of the height, for the bars of counts
_ROW = 56  # pixels of a difference
_STEPS = (5, 10, 20, 50)  # points between two ticks, of which there are at most 9


def reliability(
    calibration: Calibration, language: Language, *, colour: str = COLOURS[0]
) -> go.Figure:
    """How often the model is right by how sure it is, with ranges, and how many questions below.

    Bins of few questions are grey. `customdata` of a point is [low, high] of its bin.
    """
    known = [each for each in calibration.bins if each.accuracy and each.confidence is not None]
    chart = go.Figure()
    chart.add_scatter(
        x=[0, 100],
        y=[0, 100],
        mode="lines",
        line={"color": NEUTRAL, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    chart.add_scatter(
        x=[100 * (each.confidence or 0.0) for each in known],
        y=[100 * each.accuracy.value for each in known if each.accuracy],
        mode="markers",
        marker={
            "size": 10,
            "color": [colour if _has_enough_questions(each) else NEUTRAL for each in known],
            "line": {"width": 0},
        },
        error_y={
            "type": "data",
            "array": [100 * (e.accuracy.high - e.accuracy.value) for e in known if e.accuracy],
            "arrayminus": [100 * (e.accuracy.value - e.accuracy.low) for e in known if e.accuracy],
            "color": NEUTRAL,
            "thickness": 2,
            "width": 5,
        },
        hovertext=[_hover_text(each, language) for each in known],
        customdata=[[each.low, each.high] for each in known],
        hoverinfo="text",
        cliponaxis=False,
    )
    _counts(chart, known, language)
    layout(chart, height=400)
    chart.update_xaxes(**share_axis(100), title={"text": localized("reliable-sure", language)})
    chart.update_yaxes(**share_axis(100))
    most = max((each.accuracy.n for each in known if each.accuracy), default=1)
    chart.update_layout(
        xaxis={"anchor": "y2"},
        yaxis={
            "domain": [_COUNTS_AXIS_SHARE + 0.06, 1],
            "title": {"text": localized("reliable-right", language)},
        },
        yaxis2={
            "domain": [0, _COUNTS_AXIS_SHARE],
            "range": [0, 1.35 * most],
            "visible": False,
            "fixedrange": True,
        },
    )
    line = localized("reliable-line", language)
    annotate(chart, line, x=2, y=100, xanchor="left", yanchor="top")
    return chart


def reliability_title(calibration: Calibration, model: str, language: Language) -> str:
    """Whether the model is surer than it is right, in one sentence."""
    if calibration.n < MIN_QUESTIONS:
        return localized("reliable-few", language, n=count(calibration.n))
    known = [(e.accuracy, e.confidence) for e in calibration.bins if e.accuracy and e.confidence]
    apart = sum(a.n * (sure - a.value) for a, sure in known) / calibration.n
    # Within two standard errors of a share, sureness and rightness agree as far as one can see.
    right = sum(a.n * a.value for a, _ in known) / calibration.n
    if abs(apart) <= 2 * sqrt(max(right * (1 - right), 0.0) / calibration.n):
        return localized("reliable-even", language, model=model)
    key = "reliable-over" if apart > 0 else "reliable-under"
    return localized(key, language, model=model, gap=fixed(100 * abs(apart), 0))


def reliability_subtitle(calibration: Calibration, mass: float | None, language: Language) -> str:
    """ECE, Brier and label mass; lower is better for the first two."""
    return localized(
        "reliable-about",
        language,
        ece=fixed(100 * calibration.ece, 1),
        brier=fixed(calibration.brier, 2),
        mass="–" if mass is None else percent(mass),
        n=count(calibration.n),
    )


def sample_size_chart(n: int, language: Language, *, omega: float | None = None) -> go.Figure:
    """The smallest visible difference by number of questions, if models differ on 10 to 30 %.

    `n` marks the questions of this run; `omega`, the standard deviation of the differences of a
    pair, adds the line of that pair.
    """
    chart = go.Figure()
    sizes = sorted({*_SIZES, max(2, n)})
    lines = [(f"{percent(share)} %", sqrt(share), NEUTRAL) for share in DISAGREEMENT_RATES]
    for (name, spread, colour), dash in zip(lines, _DASHES, strict=True):
        _sample_size_curve(chart, sizes, spread, (name, colour, dash), language)
    if omega:
        _sample_size_curve(chart, sizes, omega, ("", COLOURS[0], "solid"), language)
    chart.add_vline(x=n, line={"color": NEUTRAL, "width": 1, "dash": "dot"})
    layout(chart, height=320)
    ticks = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
    chart.update_xaxes(
        type="log",
        tickvals=ticks,
        ticktext=[count(tick) for tick in ticks],
        title={"text": localized("needed-axis", language)},
        gridcolor=GRID,
        showgrid=True,
    )
    chart.update_yaxes(
        range=[0, 35],
        dtick=5,
        title={"text": localized("needed-points", language)},
        gridcolor=GRID,
        showgrid=True,
    )
    chart.update_layout(margin={"r": 64})
    return chart


def difference_chart(
    pairs: Sequence[CellComparison],
    names: Sequence[str],
    language: Language,
    *,
    colours: Sequence[str] = COLOURS[:1],
) -> go.Figure:
    """A row per pair: the difference in points with its range; grey is what may be missed.

    `names` are those of the rows, `colours` their marks (the last one is repeated). `customdata`
    of a mark is [first model, second model, measure].
    """
    chart = go.Figure()
    limit = _axis_limit(pairs)
    for y, pair in enumerate(pairs):
        if pair.undetected_difference:
            _undetectable_band(chart, y, 100 * pair.undetected_difference)
        _difference_row(chart, y, pair, colours[min(y, len(colours) - 1)], language)
    chart.add_vline(x=0, line={"color": NEUTRAL, "width": 1})
    layout(chart, height=72 + _ROW * max(1, len(pairs)))
    step = next((s for s in _STEPS if 2 * limit / s < 9), _STEPS[-1])
    ticks = list(range(-step * (limit // step), limit + 1, step))
    chart.update_xaxes(
        range=[-limit, limit],
        tickvals=ticks,
        ticktext=[f"{tick:+d}".replace("-", "−") if tick else "0" for tick in ticks],
        gridcolor=GRID,
        showgrid=True,
    )
    chart.update_yaxes(
        range=[max(1, len(pairs)) - 0.5, -0.6],
        tickvals=list(range(len(pairs))),
        ticktext=[f"<b>{escape(name)}</b>" for name in names],
        ticklabelstandoff=12,
        showgrid=False,
    )
    return chart


def difference_subtitle(pairs: Sequence[CellComparison], language: Language) -> str:
    """How to read the differences; the grey is explained where there is any."""
    told = (
        [localized("missed-band", language)]
        if any(pair.undetected_difference for pair in pairs)
        else []
    )
    if any(not pair.paired.all_equal for pair in pairs):
        told.append(localized("paired-lines", language))
    return ("" if language == "zh" else " ").join(told)


# ---------------------------------------------------------------- parts


def _has_enough_questions(found: CalibrationBin) -> bool:
    return found.accuracy is not None and found.accuracy.n >= MIN_QUESTIONS


def _hover_text(found: CalibrationBin, language: Language) -> str:
    right = found.accuracy
    if right is None:
        return ""
    sure = percent(found.confidence or 0.0)
    told = {"value": format_value(right), "span": format_range(right), "n": count(right.n)}
    return localized("reliable-told", language, sure=sure, **told)


def _counts(chart: go.Figure, known: Sequence[CalibrationBin], language: Language) -> None:
    sizes = [each.accuracy.n for each in known if each.accuracy]
    chart.add_bar(
        x=[50 * (each.low + each.high) for each in known],
        y=sizes,
        yaxis="y2",
        width=8,
        marker={"color": NEUTRAL, "opacity": 0.6, "line": {"width": 0}},
        text=[count(size) for size in sizes],
        textposition="outside",
        hovertext=[f"{count(size)} {localized('reliable-counts', language)}" for size in sizes],
        hoverinfo="text",
        cliponaxis=False,
    )


def _sample_size_curve(
    chart: go.Figure,
    sizes: Sequence[int],
    spread: float,
    look: tuple[str, str, str],  # name, colour, dash
    language: Language,
) -> None:
    name, colour, dash = look
    smallest = [100 * minimum_detectable_difference(spread, size) for size in sizes]
    chart.add_scatter(
        x=sizes,
        y=smallest,
        mode="lines+text",
        line={"color": colour, "width": 2, "dash": dash},
        text=[name if size == _LABELLED_SIZE else "" for size in sizes],
        textposition="top right",
        hovertext=[
            localized("needed-told", language, n=count(size), least=fixed(value, 1))
            for size, value in zip(sizes, smallest, strict=True)
        ],
        hoverinfo="text",
        cliponaxis=True,
    )


def _axis_limit(pairs: Sequence[CellComparison]) -> int:
    """The end of the axis on both sides: at least 10 points, and all ranges."""
    ends = [100 * abs(end) for pair in pairs for end in (pair.paired.low, pair.paired.high)]
    ends += [100 * pair.undetected_difference for pair in pairs if pair.undetected_difference]
    return max(10, 5 * ceil((max(ends, default=0.0) + 1) / 5))


def _undetectable_band(chart: go.Figure, y: int, half: float) -> None:
    chart.add_shape(
        type="rect",
        x0=-half,
        x1=half,
        y0=y - 0.5,
        y1=y + 0.5,
        fillcolor=GRID,
        line={"width": 0},
        layer="below",
    )


def _difference_row(
    chart: go.Figure, y: int, pair: CellComparison, colour: str, language: Language
) -> None:
    found = pair.paired
    chart.add_scatter(
        x=[100 * found.difference],
        y=[y],
        mode="markers+text",
        marker={"size": 12, "color": colour if pair.has_winner else NEUTRAL, "line": {"width": 0}},
        error_x={
            "type": "data",
            "array": [100 * (found.high - found.difference)],
            "arrayminus": [100 * (found.difference - found.low)],
            "color": colour if pair.has_winner else NEUTRAL,
            "thickness": 2,
            "width": 0,
        },
        text=[
            f"<b>{'+' if found.difference > 0 else ''}{format_points(found)}</b> "
            f"{format_points_range(found)}"
        ],
        textposition="top center",
        hovertext=[
            localized(
                "points-told",
                language,
                gap=format_points(found),
                span=format_points_range(found),
                n=count(pair.n),
            )
        ],
        hoverinfo="text",
        customdata=[[pair.first.model, pair.second.model, pair.measure]],
        cliponaxis=False,
    )
