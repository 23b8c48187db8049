"""A chart as a component: a Plotly figure, and beside it the table of the same cells as links."""

from typing import Any

import gradio as gr

from evalui.report.blocks import ChartBlock
from evalui.report.render.page import render_block
from evalui.ui.components.listing import markup


def plotly_chart(block: ChartBlock, **settings: Any) -> gr.HTML:
    """The figure under its title, drawn by assets/js/charts.js when it is first seen.

    It has hover, the buttons of Plotly (picture, data as CSV, zoom and reset where axes have
    values), and marks that lead to what they count. The table is for keyboards and readers.
    """
    return markup(render_block(block), elem_classes="ev chart", **settings)
