"""Charts of position bias."""

import pandas as pd
import plotly.graph_objects as go

from evalui.report.charts.theme import NEUTRAL
from evalui.report.figures.base import figure, intervals

_NAMES = ["dataset", "model", "mode", "options"]
_HOVER = (
    "<b>%{fullData.name}</b><br>position %{x}: %{y:.1f} % of the readable trials<br>"
    "95 % interval %{customdata[0]:.1f} to %{customdata[1]:.1f}<br>"
    "picked %{customdata[2]} times, %{customdata[3]} questions<extra></extra>"
)


def picks(positions: pd.DataFrame) -> go.Figure:
    """How often each position is picked: bars with 95 % intervals beside what is fair.

    `positions` has the rows of the frame of that name. A group of bars stands for each dataset,
    model, mode and number of options.
    """
    named = positions.assign(**{name: positions[name].astype("str") for name in _NAMES})
    shown = [name for name in _NAMES if named[name].nunique() > 1] or ["model"]
    bars = [
        go.Bar(
            name=" · ".join(str(own[name].iloc[0]) for name in shown),
            x=own["slot"].astype("str"),
            y=own["share_of_picks"],
            error_y=intervals(own, "share_of_picks"),
            customdata=own[["share_of_picks_low", "share_of_picks_high", "picks", "questions"]],
            hovertemplate=_HOVER,
        )
        for _, own in named.groupby(_NAMES, sort=False)
    ]
    drawn = figure(bars, title="How often each position is picked")
    drawn.update_layout(barmode="group")
    drawn.update_xaxes(title_text="position of the option")
    drawn.update_yaxes(
        title_text="share of the readable trials", ticksuffix=" %", rangemode="tozero"
    )
    for fair in sorted(set(positions["chance"])):
        drawn.add_hline(
            y=fair,
            line={"dash": "dot", "color": NEUTRAL},
            annotation={"text": f"fair: {fair:.0f} %"},
        )
    return drawn
