"""Figures and tables of each kind of chart."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from bias_examples import cell_result, fond
from chart_examples import HEAT_MAP, LINES, PANELS
from plotly.offline import get_plotlyjs_version

from evalui.report.charts.answers import picks_heat_map
from evalui.report.charts.figures import PAGE_COLOURS, plotly_figure
from evalui.report.charts.kinds import Cells, HeatMap, Label, Panel, SmallMultiples
from evalui.report.charts.values import chart_tables
from evalui.scoring.cell_summary import summarise
from evalui.shipped_files import ASSETS

HOSTILE = '<b>&"\' <a href="javascript:alert(1)">'
KINDS = [HEAT_MAP, LINES, PANELS]


def _drawn(chart: Any, **given: Any) -> dict[str, Any]:
    return plotly_figure(chart, **given).to_dict()


def _notes(drawn: dict[str, Any]) -> list[str]:
    return [note["text"] for note in drawn["layout"]["annotations"]]


def _picks() -> HeatMap:
    (table,) = summarise(cell_result(fond)).positions
    return picks_heat_map(table, "en")


@pytest.mark.parametrize("chart", [*KINDS, _picks()])
def test_all_axes_lie_within_the_figure_beside_each_other(chart: Any):
    layout = _drawn(chart)["layout"]
    axes = {name: axis for name, axis in layout.items() if re.match("[xy]axis", name)}
    assert axes
    for axis in axes.values():
        low, high = axis["domain"]
        assert 0 <= low < high <= 1
    assert layout["width"] > 0 < layout["height"]


def test_cells_have_their_values_texts_and_scale():
    (trace,) = _drawn(HEAT_MAP)["data"]
    assert [list(row) for row in trace["z"]] == [[0.1, 0.9], [0.5, None]]
    assert trace["text"][0][1].startswith("<b>90 %</b><br>")
    assert (trace["zmin"], trace["zmax"]) == (0.0, 1.0)
    assert trace["colorscale"][-1] == [1.0, "rgba(0,114,178,0.8)"]
    assert "–" in _notes(_drawn(HEAT_MAP))


def test_rows_go_downwards_and_counts_upwards():
    assert _drawn(HEAT_MAP)["layout"]["yaxis"]["range"] == [1.5, -0.5]
    counted = replace(HEAT_MAP, counted=True)
    assert _drawn(counted)["layout"]["yaxis"]["range"] == [-0.5, 1.5]


def test_lines_have_dashes_ranges_marks_and_bars_below():
    drawn = _drawn(LINES)
    line, points, bars = drawn["data"]
    assert (line["mode"], line["line"]["dash"], points["mode"]) == ("lines", "solid", "markers")
    assert points["error_y"]["array"] == [20]
    assert points["error_y"]["arrayminus"] == [10]
    assert (bars["type"], list(bars["y"]), bars["yaxis"]) == ("bar", [40, 60], "y2")
    layout = drawn["layout"]
    assert (layout["xaxis"]["type"], layout["xaxis"]["range"]) == ("log", [0.0, 2.0])
    assert layout["shapes"][0]["x0"] == 20
    assert {"line", "a note", "<b>40</b>", "even"} <= set(_notes(drawn))


def test_panels_have_a_title_and_axes_each():
    drawn = _drawn(PANELS)
    assert {trace["xaxis"] for trace in drawn["data"]} == {"x", "x2"}
    assert sum(note.startswith(("<b>first", "<b>second")) for note in _notes(drawn)) == 2


def test_a_cell_carries_the_address_of_what_it_counts():
    chart = _picks()
    drawn = _drawn(chart, links={"0,1": "?gold=0&picked=1"})
    cells = [row for trace in drawn["data"] if "customdata" in trace for row in trace["customdata"]]
    assert sum(address == "?gold=0&picked=1" for row in cells for address in row) >= 1
    assert "javascript" not in str(drawn)


@pytest.mark.parametrize("kind", ["heat map", "panels"])
def test_foreign_texts_are_no_markup(kind: str):
    cells = Cells([[0.4]], "share", text=[[Label(HOSTILE, HOSTILE)]], hover=[[HOSTILE]])
    chart: Any = HeatMap(
        [Label(HOSTILE)],
        [Label(HOSTILE)],
        [cells],
        30,
        row_title=HOSTILE,
        column_title=HOSTILE,
        beside=[(0, HOSTILE)],
        foot=HOSTILE,
    )
    if kind == "panels":
        chart = SmallMultiples([Panel(Label(HOSTILE), chart)])
    drawn = str(_drawn(chart))
    assert "<a " not in drawn
    assert drawn.count("&lt;a href=") >= 6


def test_a_page_puts_its_own_colours_in():
    layout = _drawn(HEAT_MAP, colours=PAGE_COLOURS)["layout"]
    assert layout["font"]["color"] == "var(--ink)"
    assert "var(" not in str(_drawn(HEAT_MAP))


def test_the_table_of_a_heat_map_says_what_its_cells_say():
    (table,) = chart_tables(HEAT_MAP)
    assert list(table.heads) == ["rows", "left", "right"]
    told = [(name, [value.text for value in values]) for name, values in table.rows]
    assert told == [("top", ["10 %", "90 % 80–100"]), ("foot", ["50 %", ""])]


def test_the_cells_of_layers_stand_in_their_columns_with_their_keys():
    chart = _picks()
    (table,) = chart_tables(chart)
    name, values = table.rows[0]
    assert (name, len(values)) == ("A", len(chart.columns))
    assert [value.key for value in values] == ["0,0", "0,1", "0,2", "0,3", "0,unreadable"]
    assert values[1].text.startswith("A → B: ")
    assert table.rows[-1][0].startswith("all picks")  # the bars below


def test_the_table_of_lines_has_a_row_for_each_point():
    (table,) = chart_tables(LINES)
    assert [name for name, _ in table.rows] == ["1", "10", "100", "10", "even"]
    assert table.rows[3][1][0].text == "50 (40–70)"


def test_panels_have_a_table_each_under_their_titles():
    assert [table.title for table in chart_tables(PANELS)] == ["first n = 3", "second n = 4"]


def test_the_script_of_pages_is_of_the_version_that_makes_figures():
    script = (ASSETS / "js" / "plotly-cartesian.min.js").read_text("utf-8")
    assert f"v{get_plotlyjs_version()}" in script[:300]


def test_pandas_is_whole_when_a_figure_is_made() -> None:
    """Plotly asks pandas for a class wherever something, such as another thread, has begun it."""
    code = """
import sys
from importlib.machinery import PathFinder
from threading import Event, Thread

begun, drawn = Event(), Event()

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas.core.api":  # pandas is in sys.modules now, and has no class yet
            begun.set()
            assert not drawn.wait(0.5)
        return None

from evalui.report.charts.figures import plotly_figure
from chart_examples import HEAT_MAP

sys.meta_path.insert(0, Slow())
other = Thread(target=__import__, args=("pandas",))
other.start()
assert begun.wait(60)
plotly_figure(HEAT_MAP)
drawn.set()
other.join()
"""
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=places, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
