"""CHARTS: the Plotly figures of a run by name, each drawn from one frame.

CHARTS.register("bias.picks")(Chart("positions", picks))
"""

from evalui.registry import Registry
from evalui.report.figures.arena import ratings
from evalui.report.figures.base import Chart
from evalui.report.figures.bias import picks

CHARTS: Registry[Chart] = Registry("chart")
CHARTS.register("bias.picks")(Chart("positions", picks))
CHARTS.register("arena.ratings")(Chart("standings", ratings))
