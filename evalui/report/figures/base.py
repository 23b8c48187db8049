"""What a chart is, and the template that all of them share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from evalui.report.charts.theme import COLOURS, GRID, INK, SURFACE

ROW_HEIGHT = 44  # pixels of a row of a chart with one row for each name
MARGINS = 170  # pixels above and below the rows


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure `draw`n from the rows of the `frame` of a run that it is about; at least one row."""

    frame: str
    draw: Callable[[pd.DataFrame], go.Figure]


def figure(traces: Sequence[go.Bar | go.Scatter], *, title: str) -> go.Figure:
    """The traces in the colours of every chart; the legend names a single one, too."""
    axis = {"gridcolor": GRID, "zerolinecolor": GRID, "automargin": True}
    return go.Figure(
        data=list(traces),
        layout=go.Layout(
            title={"text": title, "x": 0, "xref": "paper"},
            colorway=list(COLOURS),
            paper_bgcolor=SURFACE,
            plot_bgcolor=SURFACE,
            font={"color": INK},
            xaxis=axis,
            yaxis=axis,
            showlegend=True,
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
            margin={"t": 90},
        ),
    )


def intervals(
    frame: pd.DataFrame, value: str, low: str | None = None, high: str | None = None
) -> dict[str, object]:
    """The error bars of a column from those of both ends of its interval."""
    above = frame[high or f"{value}_high"] - frame[value]
    below = frame[value] - frame[low or f"{value}_low"]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
