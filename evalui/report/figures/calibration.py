"""The charts of calibration: sureness against rightness, and rightness against coverage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalui.messages import Messages, add_messages
from evalui.report.axes import Axis, share_axis
from evalui.report.figures.base import CELL, FrameOf, Part, chart, note, records, said
from evalui.report.figures.plots import Bars, lines
from evalui.report.figures.theme import COLOURS, NEUTRAL, transparent
from evalui.report.numbers import count, fixed, percent, probability
from evalui.scoring.cautions import HIDDEN_BELOW, MIN_DRAWN

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

add_messages(Path(__file__).with_suffix(".toml"))
_HEIGHT = 400  # pixels
_NEAR_AN_END = 5  # per cent, up to which a text stands right of its mark
_BAND = 0.2  # opacity of the colour of a model


@chart("calibration.reliability", "calibration", one=(*CELL, "options"))
def reliability(rows: pd.DataFrame, t: Messages, *, colour: str = COLOURS[0]) -> go.Figure:
    """How often the model is right by how sure it is, with ranges, and how many questions below.

    Bins of few questions are grey.
    """

    import pandas as pd

    bins = [row for row in records(rows) if row["n"] and not pd.isna(row["confidence"])]
    even: Part = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, 100],
        "y": [0, 100],
        "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
    }
    points: Part = {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "x": [100 * row["confidence"] for row in bins],
        "y": [row["accuracy"] for row in bins],
        "marker": {
            "size": 10,
            "color": [colour if row["n"] >= HIDDEN_BELOW else NEUTRAL for row in bins],
        },
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [row["accuracy_high"] - row["accuracy"] for row in bins],
            "arrayminus": [row["accuracy"] - row["accuracy_low"] for row in bins],
            "color": NEUTRAL,
            "thickness": 2,
            "width": 5,
        },
        "hovertext": [
            t(
                "calibration.told",
                sure=percent(row["confidence"]),
                n=count(row["n"]),
                **said(row, "accuracy"),
            )
            for row in bins
        ],
    }
    counts = [count(row["n"]) for row in bins]
    return lines(
        [even, points],
        share_axis(100, t("calibration.sure")),
        share_axis(100, t("calibration.right")),
        height=_HEIGHT,
        notes=[note(t("calibration.line"), x=2, y=100, xanchor="left", yshift=-8)],
        below=Bars(
            [50 * (row["from"] + row["to"]) for row in bins],
            [row["n"] for row in bins],
            counts,
            [f"{n} {t('calibration.counts')}" for n in counts],
            1.35 * max((row["n"] for row in bins), default=1),
            [NEUTRAL] * len(bins),
            width=8,
            opacity=0.6,
        ),
    )


def risk_points(of: FrameOf) -> pd.DataFrame:
    """The points of risk and coverage, then the thresholds, whose rows have a `goal`."""

    import pandas as pd

    points, chosen = of("risk_coverage"), of("thresholds")
    return pd.concat(
        [points.assign(goal=None), chosen[chosen["threshold"].notna()]], ignore_index=True
    )


@chart("calibration.risk", risk_points, one=(*CELL, "options"))
def risk(rows: pd.DataFrame, t: Messages, *, colour: str = COLOURS[0]) -> go.Figure:
    """How often the model is right on the share of questions of which it is surest, with its band.

    The thresholds chosen on half of the questions stand where the other half has them. A part of
    fewer than five questions is not drawn.
    """

    import pandas as pd

    every = records(rows)
    points = [row for row in every if pd.isna(row["goal"]) and row["n"] >= MIN_DRAWN]
    # One threshold may be that of several goals: the highest is said.
    own = {row["threshold"]: row for row in every if not pd.isna(row["goal"])}
    chosen = list(own.values())
    across = [row["coverage"] for row in points]
    band: Part = {
        "type": "scatter",
        "mode": "lines",
        "x": [*across, *reversed(across)],
        "y": [
            *(row["right_high"] for row in points),
            *(row["right_low"] for row in reversed(points)),
        ],
        "line": {"width": 0, "color": colour},
        "fill": "toself",
        "fillcolor": transparent(colour, _BAND),
        "hoverinfo": "skip",
    }
    line: Part = {
        "type": "scatter",
        "mode": "lines",
        "x": across,
        "y": [row["right"] for row in points],
        "line": {"width": 2, "color": colour},
        "hovertext": [_risk_told(row, t, "calibration.risk-told") for row in points],
    }
    marks: Part = {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "x": [row["coverage"] for row in chosen],
        "y": [row["right"] for row in chosen],
        "marker": {"size": 11, "color": "var(--ink)", "symbol": "diamond"},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [row["right_high"] - row["right"] for row in chosen],
            "arrayminus": [row["right"] - row["right_low"] for row in chosen],
            "color": "var(--ink)",
            "thickness": 2,
            "width": 5,
        },
        "hovertext": [
            _risk_told(row, t, "calibration.threshold-told", goal=fixed(row["goal"], 0))
            for row in chosen
        ],
    }
    lowest = min((row["right_low"] for row in (*points, *chosen)), default=0.0)
    return lines(
        [band, line, marks],
        share_axis(100, t("calibration.coverage")),
        _upper_axis(lowest, t("calibration.right")),
        height=_HEIGHT,
        notes=[
            note(
                f"≥ {probability(row['threshold'])}",
                faint=False,
                x=row["coverage"],
                y=row["right_low"],
                xanchor="left" if row["coverage"] < _NEAR_AN_END else "center",
                yshift=-12,
            )
            for row in chosen
        ],
    )


def _risk_told(row: Part, t: Messages, key: str, **more: str) -> str:
    return t(
        key,
        threshold=probability(row["threshold"]),
        coverage=percent(row["coverage"] / 100),
        **said(row, "right"),
        **more,
    )


def _upper_axis(lowest: float, title: str) -> Axis:
    """From the tick below the lowest value to 100 per cent."""
    step = 20 if lowest < 60 else 10
    low = min(90, int(lowest // step) * step)
    ticks = range(low, 101, step)
    return Axis(low, 100, ticks, [*map(str, ticks[:-1]), "100 %"], title)
