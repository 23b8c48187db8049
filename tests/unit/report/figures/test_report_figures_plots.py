"""Heat maps, small multiples, lines, and the tables that say the same."""

import os
import re
import subprocess
import sys

import plotly.graph_objects as go
import pytest
from chart_examples import (
    drawn_heat_map,
    drawn_lines,
    drawn_panels,
    drawn_strips,
    layout_of,
    notes_of,
    traces_of,
)
from plotly.offline import get_plotlyjs_version

from evalui.report.figures.base import figure, on_paper
from evalui.report.figures.plots import Cells
from evalui.report.figures.tables import figure_tables
from evalui.shipped_files import ASSETS

HOSTILE = '<b>&"\' <a href="javascript:alert(1)">'
KINDS = (drawn_heat_map, drawn_lines, drawn_panels, drawn_strips)


@pytest.mark.parametrize("draw", KINDS)
def test_all_axes_lie_within_the_figure_beside_each_other(draw):
    layout = layout_of(draw())
    axes = {name: axis for name, axis in layout.items() if re.match("[xy]axis", name)}
    assert axes
    for axis in axes.values():
        low, high = axis["domain"]
        assert 0 <= low < high <= 1
    assert layout["width"] > 0 < layout["height"]


def test_cells_have_their_values_texts_and_scale():
    (trace,) = traces_of(drawn_heat_map())
    assert [list(row) for row in trace["z"]] == [[0.1, 0.9], [0.5, None]]
    assert trace["text"][0][1].startswith("<b>90 %</b><br>")
    assert (trace["zmin"], trace["zmax"]) == (0.0, 1.0)
    assert trace["colorscale"][-1] == [1.0, "rgba(0,114,178,0.8)"]
    assert "–" in notes_of(drawn_heat_map())


def test_rows_of_few_questions_have_a_layer_of_their_own_without_the_others():
    cells = Cells([[0.1], [0.2]], "loss", texts=[["a"], ["b"]], told=[["x"], ["y"]])
    coloured, grey = cells.greyed({1})
    assert (coloured.scale, coloured.values, coloured.texts) == (
        "loss",
        [[0.1], [None]],
        [["a"], [""]],
    )
    assert (grey.scale, grey.values, grey.texts) == ("grey", [[None], [0.2]], [[""], ["b"]])
    assert coloured.told == grey.told == [["x"], ["y"]]


def test_a_layer_without_rows_is_left_out():
    cells = Cells([[0.1]], "share", texts=[["a"]])
    assert [each.scale for each in cells.greyed(set())] == ["share"]
    assert [each.scale for each in cells.greyed({0})] == ["grey"]


def test_rows_go_downwards_and_counts_upwards():
    assert layout_of(drawn_heat_map())["yaxis"]["range"] == [1.5, -0.5]
    assert layout_of(drawn_heat_map(upwards=True))["yaxis"]["range"] == [-0.5, 1.5]


def test_a_key_of_colours_stands_beside_what_it_names():
    figure = drawn_heat_map(key="share")
    key = traces_of(figure)[0]["colorbar"]
    assert key["title"]["text"] == "share"
    assert key["ticktext"] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert layout_of(figure)["width"] == layout_of(drawn_heat_map())["width"] + 84


def test_lines_have_dashes_ranges_marks_and_bars_below():
    drawn = drawn_lines()
    line, points, bars = traces_of(drawn)
    assert (line["mode"], line["line"]["dash"], points["mode"]) == ("lines", "solid", "markers")
    assert (bars["type"], list(bars["y"]), bars["yaxis"]) == ("bar", [40, 60], "y2")
    layout = layout_of(drawn)
    assert (layout["xaxis"]["type"], layout["xaxis"]["range"]) == ("log", [0.0, 2.0])
    assert layout["shapes"][0]["x0"] == 20
    assert {"line", "a note", "<b>40</b>", "even"} <= set(notes_of(drawn))
    assert [each["x"] for each in layout["annotations"][:2]] == [1, 0]  # their logarithms


def test_panels_have_a_title_and_axes_each():
    drawn = drawn_panels()
    assert {trace["xaxis"] for trace in traces_of(drawn)} == {"x", "x2"}
    assert sum(note.startswith(("<b>first", "<b>second")) for note in notes_of(drawn)) == 2


@pytest.mark.parametrize("draw", [drawn_heat_map, drawn_panels, drawn_strips])
def test_foreign_texts_are_no_markup(draw):
    drawn = str(draw(HOSTILE).to_dict())
    assert "<a " not in drawn
    assert "&lt;a href=" in drawn


def test_foreign_texts_are_no_markup_in_a_figure_of_plotlys_own_traces():
    drawn = figure([go.Bar(name=HOSTILE, x=[HOSTILE], y=[1], hovertext=[HOSTILE])], title=HOSTILE)
    assert "<a " not in str(drawn.to_dict())
    assert str(drawn.to_dict()).count("&lt;a href=") == 4


def test_a_figure_has_the_colours_of_a_page_or_of_paper():
    assert layout_of(drawn_heat_map())["font"]["color"] == "var(--ink)"
    assert "var(" not in str(on_paper(drawn_heat_map()).to_dict())


def _told(drawn: go.Figure) -> list[tuple[str, list[str]]]:
    (table,) = figure_tables(drawn.to_dict())
    return [(name, [mark.text for mark in marks]) for name, marks in table.rows]


def test_the_table_of_a_heat_map_says_what_its_cells_say():
    (table,) = figure_tables(drawn_heat_map().to_dict())
    assert list(table.heads) == ["rows", "left", "right"]
    assert _told(drawn_heat_map()) == [("top", ["10 %", "90 % 80–100"]), ("foot", ["50 %", ""])]


def test_the_table_of_lines_has_a_row_for_each_point():
    told = _told(drawn_lines())
    assert [name for name, _ in told] == ["1", "10", "100", "10", "even"]
    assert told[3][1] == ["50 (40–70)"]


def test_panels_have_a_table_each_under_their_titles():
    assert [table.title for table in figure_tables(drawn_panels().to_dict())] == [
        "first n = 3",
        "second n = 4",
    ]


def test_any_figure_has_a_table():
    bars = figure([go.Bar(name="m", x=["A", "B"], y=[60, 40.5])], xaxis={"title": {"text": "slot"}})
    (table,) = figure_tables(bars.to_dict())
    assert list(table.heads) == ["slot", ""]
    assert _told(bars) == [("m A", ["60"]), ("m B", ["40.5"])]


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


sys.meta_path.insert(0, Slow())
other = Thread(target=__import__, args=("pandas",))
other.start()
assert begun.wait(60)
import chart_examples

chart_examples.drawn_heat_map()
drawn.set()
other.join()
"""
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=places, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
