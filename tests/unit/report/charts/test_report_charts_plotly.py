from typing import Any

import pytest
from chart_examples import BARS, HEAT_MAP, INTERVALS, LINES, PANELS

from evalui.report.charts.kinds import Cells, HeatMap, Label
from evalui.report.charts.plotly import draw_plotly

HOSTILE = "<b>&"
SAFE = "&lt;b&gt;&amp;"


@pytest.mark.parametrize("chart", [HEAT_MAP, INTERVALS, BARS, LINES, PANELS])
def test_every_kind_is_transparent_still_and_sets_no_ink(chart: Any):
    layout = draw_plotly(chart).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert layout.font.color is None
    assert layout.xaxis.fixedrange
    assert layout.yaxis.fixedrange


def test_foreign_text_is_no_markup():
    label, hover = Label(HOSTILE, HOSTILE), HOSTILE
    cells = Cells([[0.5]], "share", text=[[label]], hover=[[hover]])
    figure = draw_plotly(HeatMap([label], [label], [cells], 40, foot=HOSTILE))
    stacked = f"<b>{SAFE}</b><br>{SAFE}"
    (trace,) = figure.data
    assert (trace.text[0][0], trace.hovertext[0][0]) == (stacked, SAFE)
    assert figure.layout.xaxis.ticktext == figure.layout.yaxis.ticktext == (stacked,)
    assert figure.layout.annotations[0].text == SAFE


def test_a_cell_of_another_layer_has_an_empty_text_and_not_the_word_null():
    label = Label(plain="1")
    one = Cells([[0.5], [None]], "share", text=[[label], [Label()]])
    other = Cells([[None], [0.5]], "grey", text=[[Label()], [label]])
    figure = draw_plotly(HeatMap([label, label], [label], [one, other], 40))
    assert [[row[0] for row in trace.text] for trace in figure.data] == [["1", ""], ["", "1"]]


def test_each_series_of_intervals_is_a_trace_with_its_ranges():
    one, _ = draw_plotly(INTERVALS).data
    assert (list(one.x), list(one.y), one.name) == ([40, 60], [0, 1], "a model")
    assert list(one.error_x.array) == [10, 20]
    assert list(one.error_x.arrayminus) == [20, 10]


def test_bars_below_lines_share_their_first_axis():
    figure = draw_plotly(LINES)
    assert figure.data[-1].yaxis == "y2"
    assert figure.layout.xaxis.anchor == "y2"
    assert figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]


def test_panels_stand_side_by_side_on_axes_of_their_own():
    figure = draw_plotly(PANELS)
    assert [trace.xaxis for trace in figure.data] == ["x", "x2"]
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]
    assert [note.text for note in figure.layout.annotations] == [
        "<b>first</b><br>n = 3",
        "<b>second</b><br>n = 4",
        "and more",
    ]
