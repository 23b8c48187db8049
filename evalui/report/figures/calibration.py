"""The chart of calibration: sureness against rightness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalui.messages import Messages, add_messages
from evalui.report.axes import share_axis
from evalui.report.figures.base import CELL, Part, chart, note, records, said
from evalui.report.figures.plots import Bars, lines
from evalui.report.figures.theme import COLOURS, NEUTRAL
from evalui.report.numbers import count, percent
from evalui.scoring.cautions import HIDDEN_BELOW

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

add_messages(Path(__file__).with_suffix(".toml"))
_HEIGHT = 400  # pixels


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
