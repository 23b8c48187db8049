import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from bias_examples import cell_result, fond
from chart_examples import HEAT_MAP, LINES, PANELS

from evalui.report.charts.answers import picks_heat_map
from evalui.report.charts.kinds import Cells, HeatMap, Label, Panel
from evalui.report.charts.svg import draw_svg
from evalui.report.charts.theme import COLOURS, SCALES
from evalui.scoring.cell_summary import summarise

HOSTILE = "<b>&\"'"
INK = "currentColor"
KINDS = [HEAT_MAP, LINES, PANELS]


def _drawing(chart: Any, **words: str) -> Any:
    """The svg element; that it can be parsed shows that it is well formed."""
    (drawing,) = ET.fromstring(draw_svg(chart, **words))
    return drawing


def _texts(chart: Any) -> list[str]:
    return ["".join(each.itertext()) for each in _drawing(chart).iter("text")]


def _number(element: Any, name: str) -> float:
    return float(element.get(name))


@pytest.mark.parametrize("chart", KINDS)
def test_every_kind_loads_nothing_runs_nothing_and_sets_no_ink(chart: Any):
    drawn = draw_svg(chart)
    names = {each.tag for each in ET.fromstring(drawn).iter()}
    assert names <= {
        *("div", "svg", "g", "title", "text", "tspan"),
        *("rect", "line", "circle", "polygon", "polyline"),
    }
    assert not re.search(r"href|url\(|\bon[a-z]+=|\bid=|NaN|nan|inf", drawn)
    for text in _drawing(chart).iter("text"):
        assert text.get("fill") in (None, "var(--ink-3, currentColor)")


@pytest.mark.parametrize("chart", KINDS)
def test_everything_lies_within_the_drawing(chart: Any):
    drawing = _drawing(chart)
    _, _, width, height = map(float, drawing.get("viewBox").split())
    for text in drawing.iter("text"):
        assert 0 <= _number(text, "x") <= width
        assert 0 <= _number(text, "y") <= height
    for box in drawing.iter("rect"):
        assert 0 <= _number(box, "x") <= _number(box, "x") + _number(box, "width") <= width
        assert 0 <= _number(box, "y") <= _number(box, "y") + _number(box, "height") <= height


@pytest.mark.parametrize("chart", KINDS)
def test_letters_keep_a_size_that_can_be_read_on_a_phone(chart: Any):
    drawing = _drawing(chart)
    width = float(drawing.get("viewBox").split()[2])
    least = float(re.findall(r"min-width:(\d+)px", drawing.get("style"))[0])
    sizes = {13.0} | {float(t.get("font-size")) for t in drawing.iter("text") if t.get("font-size")}
    assert min(sizes) * least / width >= 10.5
    assert "overflow-x:auto" in ET.fromstring(draw_svg(chart)).get("style", "")


def test_a_title_is_read_aloud_and_without_one_the_table_beside_it_is():
    spoken = _drawing(LINES, title=HOSTILE)
    assert (spoken.get("role"), spoken.get("aria-label")) == ("img", HOSTILE)
    assert _drawing(LINES).get("aria-hidden") == "true"


def test_foreign_text_is_no_markup():
    label = Label(HOSTILE, HOSTILE)
    cells = Cells([[0.5]], "share", text=[[label]], hover=[[HOSTILE]], keys=[[(HOSTILE, 0)]])
    chart = HeatMap(
        [label], [label], [cells], 40, HOSTILE, HOSTILE, beside=[(0, HOSTILE)], foot=HOSTILE
    )
    drawing = _drawing(chart)
    assert set(_texts(chart)) == {HOSTILE}
    assert [each.text for each in drawing.iter("title")] == [HOSTILE]
    linked = _drawing(chart, links={f"{HOSTILE},0": HOSTILE})
    assert [link.get("href") for link in linked.iter("a")] == [HOSTILE]


def test_every_text_of_a_heat_map_is_drawn_once():
    around = ["top", "foot", "left", "right", "rows", "columns", "beside", "it", "below it"]
    inside = ["10 %", "90 %", "80–100", "50 %", "–"]
    assert sorted(_texts(HEAT_MAP)) == sorted([*around, *inside])


def test_a_cell_of_a_greater_value_is_stronger_and_none_is_no_cell():
    (low, high), (half,) = (
        [_number(box, "fill-opacity") for box in row]
        for row in _rows(list(_drawing(HEAT_MAP).iter("rect")))
    )
    assert low < half < high
    assert half == pytest.approx((SCALES["share"][0][2] + SCALES["share"][1][2]) / 2)


def test_a_value_beyond_its_scale_has_the_colour_of_its_end():
    chart = replace(HEAT_MAP, layers=[Cells([[-1.0, 2.0], [0.0, 1.0]], "wins")])
    below, above, least, most = _drawing(chart).iter("rect")
    assert below.attrib["fill"] == least.attrib["fill"] == COLOURS[1]
    assert above.attrib["fill"] == most.attrib["fill"] == COLOURS[0]
    assert above.attrib["fill-opacity"] == most.attrib["fill-opacity"]
    assert below.attrib["fill-opacity"] == least.attrib["fill-opacity"]


def test_counted_rows_go_upwards():
    counted = replace(HEAT_MAP, counted=True, missing=())
    tops = [_number(row[0], "y") for row in _rows(list(_drawing(counted).iter("rect")))]
    heights = {"".join(t.itertext()): _number(t, "y") for t in _drawing(counted).iter("text")}
    assert len(tops) == 2
    assert heights["top"] > heights["foot"]


def test_a_cell_with_an_address_is_a_link_that_a_screen_reader_finds():
    table = summarise(cell_result(fond, model="fond")).main_bias
    assert table is not None
    links = {"0,1": "?cell=1", "3,unreadable": "?cell=2", "9,9": "?cell=3"}
    drawing = _drawing(picks_heat_map(table.position, "zh"), title="picks", links=links)
    assert (drawing.get("role"), drawing.get("aria-label")) == ("group", "picks")
    linked = {link.get("href"): link.findtext("title") or "" for link in drawing.iter("a")}
    assert set(linked) == {"?cell=1", "?cell=2"}
    assert linked["?cell=1"].startswith("A → B")
    assert linked["?cell=2"].startswith("D → 无法判读")


def test_a_point_with_an_address_is_a_link():
    points = replace(LINES.lines[1], keys=[(0.1, 0.2)])
    lines = _drawing(replace(LINES, lines=[points]), links={"0.1,0.2": "?bin"})
    assert [link.get("href") for link in lines.iter("a")] == ["?bin"]


def test_bars_stand_on_the_axis_as_tall_as_their_values():
    low, high = _drawing(LINES).iter("rect")
    assert _number(high, "height") == pytest.approx(1.5 * _number(low, "height"), rel=0.01)
    assert {"even", "40", "60"} <= set(_texts(LINES))


def test_lines_are_cut_at_the_plot_and_a_logarithmic_axis_spaces_its_ticks_evenly():
    drawing = _drawing(LINES)
    plot = drawing.find("svg")
    assert plot.find("polyline") is not None
    ticks = [_number(t, "x") for t in drawing.iter("text") if t.text in ("1", "10", "100")]
    assert ticks[1] - ticks[0] == pytest.approx(ticks[2] - ticks[1], abs=0.2)


def test_panels_stand_side_by_side_and_a_long_title_is_whole_in_its_hover():
    long = "a title that is much longer than the panel below it is wide"
    panels = [Panel(Label(long, "n = 3"), PANELS.panels[0].chart), PANELS.panels[1]]
    drawing = _drawing(replace(PANELS, panels=panels))
    places = {t.text: (_number(t, "x"), _number(t, "y")) for t in drawing.iter("text")}
    assert places["n = 3"][0] < places["n = 4"][0]
    assert places["n = 3"][1] == places["n = 4"][1]
    assert long in [each.text for each in drawing.iter("title")]


def _rows(boxes: list[Any]) -> list[list[Any]]:
    """Rectangles by their height on the page, from the top."""
    tops = sorted({_number(box, "y") for box in boxes})
    return [[box for box in boxes if _number(box, "y") == top] for top in tops]


def test_two_lines_beside_a_level_do_not_reach_above_its_bars():
    bars = LINES.below
    level = replace(bars.levels[0], value=bars.axis.high, text="one\ntwo")
    drawing = _drawing(replace(LINES, below=replace(bars, levels=[level])))
    heights = {t.text: _number(t, "y") for t in drawing.iter("text")}
    (top,) = (_number(each, "y1") for each in drawing.iter("line") if each.get("stroke") == INK)
    assert heights["one"] >= top
    assert heights["two"] > heights["one"]
