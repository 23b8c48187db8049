"""CHARTS: the charts of a run by name, each a function from a frame to a Plotly figure.

What they look like stands in `base` and `theme`, what they are drawn on in `plots`; `tables` says
in words what a figure shows, `browser` and `paper` make pictures of it.
"""

from evalui.report.figures import arena, bias, calibration, statistics
from evalui.report.figures.base import CHARTS

__all__ = ["CHARTS", "arena", "bias", "calibration", "statistics"]
