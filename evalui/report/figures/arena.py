"""Charts of judged answers."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from evalui.report.figures.base import MARGINS, ROW_HEIGHT, figure, intervals

_HOVER = (
    "<b>%{y}</b><br>%{fullData.name}: %{x:.0f}<br>"
    "95 % interval %{customdata[0]:.0f} to %{customdata[1]:.0f}<br>"
    "%{customdata[2]} battles<extra></extra>"
)
_MARGIN = 0.05  # of the axis, beside the outermost intervals
# The name and the symbol of each.
_RATINGS = {"bradley_terry": ("Bradley-Terry", "circle"), "elo": ("ELO", "square")}


def ratings(standings: pd.DataFrame) -> go.Figure:
    """The ratings of the models with their 95 % intervals, the best at the top.

    `standings` has the rows of the frame of that name. Bradley-Terry's rating stands where it is
    finite, and ELO's beside it. Several judges or datasets are told apart by the names of rows.
    """
    rows = [name for name in ("dataset", "judge") if standings[name].nunique() > 1]
    names = standings["model"].astype("str")
    for name in rows:
        names = names + " · " + standings[name].astype("str")
    marks = [
        go.Scatter(
            name=called,
            mode="markers",
            marker={"symbol": symbol, "size": 9},
            orientation="h",
            offsetgroup=rating,  # the two stand below each other in a row
            y=names[own.index],
            x=own[rating],
            error_x=intervals(own, rating),
            customdata=own[[f"{rating}_low", f"{rating}_high", "n"]],
            hovertemplate=_HOVER,
        )
        for rating, (called, symbol) in _RATINGS.items()
        for own in [standings[standings[rating].notna()]]
        if not own.empty
    ]
    drawn = figure(marks, title="Ratings with 95 % intervals")
    drawn.update_layout(height=ROW_HEIGHT * len(standings) + MARGINS, scattermode="group")
    drawn.update_yaxes(
        categoryorder="array", categoryarray=list(names), range=[len(names) - 0.5, -0.5]
    )
    # Ratings have no zero, to which horizontal marks would stretch the axis.
    ends = standings[[f"{rating}{end}" for rating in _RATINGS for end in ("", "_low", "_high")]]
    known = ends.to_numpy(dtype=np.float64)
    low, high = float(np.nanmin(known)), float(np.nanmax(known))
    margin = _MARGIN * (high - low) or 1.0
    drawn.update_xaxes(
        title_text="rating, 1000 at the start of ELO", range=[low - margin, high + margin]
    )
    return drawn
