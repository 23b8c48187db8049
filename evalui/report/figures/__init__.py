"""CHARTS: the Plotly figures of a run by name, each drawn from one frame of `export.frames`.

CHARTS.register("bias.picks")(Chart(position_frame, picks))
"""

from evalui.registry import Registry
from evalui.report.export.frames import position_frame, standing_frame
from evalui.report.figures.arena import ratings
from evalui.report.figures.base import Chart
from evalui.report.figures.bias import picks

CHARTS: Registry[Chart] = Registry("chart")
CHARTS.register("bias.picks")(Chart(position_frame, picks))
CHARTS.register("arena.ratings")(Chart(standing_frame, ratings))
