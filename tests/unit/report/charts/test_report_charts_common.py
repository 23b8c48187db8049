import json
from dataclasses import replace
from typing import Any

import pytest

from evalui.report.analyses.overview.summary import summarise
from evalui.report.charts.common import before_after, series_styles, shorten_name


def _traces(chart: Any, mode: str) -> list[Any]:
    return [trace for trace in chart.data if trace.mode == mode]


@pytest.fixture
def two(make_result):
    """A model right on all of 8 questions in every order, and one right on half as written."""
    sure = make_result({f"q{i}": "right" for i in range(8)}, model="sure")
    fond = make_result({f"q{i}": [0, 0, 0, 0] for i in range(8)}, model="fond")
    return [summarise(sure), summarise(fond)]


def test_each_model_has_a_hollow_and_a_solid_mark_at_its_figures(two):
    drawn = _traces(before_after(two, "en"), "markers+text")
    assert [(trace.x[0], trace.y[0], trace.marker.symbol) for trace in drawn] == [
        (100, 0, "circle-open"),
        (100, 0, "circle"),
        (25, 1, "square-open"),
        (0, 1, "square"),
    ]


def test_the_bands_are_the_plausible_ranges(two):
    bands = [t for t in _traces(before_after(two, "en"), "lines") if t.line.width == 10]
    ranges = [two[1].accuracy, two[1].robust]
    assert [tuple(band.x) for band in bands[2:]] == [(100 * r.low, 100 * r.high) for r in ranges]


def test_the_chance_line_is_always_drawn_and_named(two):
    chart = before_after(two, "en")
    dotted = [t for t in _traces(chart, "lines") if t.line.dash == "dot"]
    assert [tuple(line.x) for line in dotted] == [(25, 25), (25, 25)]
    assert chart.layout.annotations[0].text == "chance 25 % (robust 0.4 %)"


def test_datasets_with_other_chances_get_a_line_each(two):
    other = replace(two[1], chance=0.5)
    chart = before_after([two[0], other], "zh")
    dotted = [t for t in _traces(chart, "lines") if t.line.dash == "dot"]
    assert [tuple(line.x) for line in dotted] == [(25, 25), (50, 50)]
    assert chart.layout.annotations[0].text == "虚线：随机水平"


def test_the_order_as_written_alone_has_one_mark(make_result):
    summary = summarise(make_result({"q0": [0]}, pattern="origin"))
    chart = before_after([summary], "en")
    (mark,) = _traces(chart, "markers+text")
    assert mark.marker.symbol == "circle-open"
    assert chart.layout.annotations[0].text == "chance 25 %"


def test_cells_without_answers_are_left_out(two, make_result):
    empty = summarise(make_result({}, model="late", state="waiting"))
    chart = before_after([two[0], empty], "en")
    assert list(chart.layout.yaxis.ticktext) == ["<b>sure</b>"]


def test_nothing_answered_is_an_empty_chart():
    chart = before_after([], "en")
    assert len(chart.data) == 0


def test_the_axis_starts_at_nought_and_holds_every_range(two):
    assert tuple(before_after(two, "en").layout.xaxis.range) == (0, 100)
    assert tuple(before_after([two[1]], "en").layout.xaxis.range) == (0, 60)


def test_numbers_close_together_step_aside(make_result):
    picks = {f"q{i}": "right" for i in range(30)}
    (solid,) = [
        t
        for t in _traces(before_after([summarise(make_result(picks))], "en"), "markers+text")
        if not t.marker.symbol.endswith("open")
    ]
    assert solid.textposition == "top left"


def test_names_of_models_are_text_and_no_markup(make_result):
    result = make_result({"q0": "right"}, model="<a href='x'>m</a>")
    (name,) = before_after([summarise(result)], "en").layout.yaxis.ticktext
    assert name == "<b>&lt;a href=&#x27;x&#x27;&gt;m&lt;/a&gt;</b>"


def test_a_long_name_is_cut_with_a_sign():
    assert shorten_name("x" * 24) == "x" * 24
    assert shorten_name("x" * 25) == "x" * 23 + "…"


def test_charts_are_transparent_still_and_set_no_ink(two):
    layout = before_after(two, "en").layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert layout.font.color is None
    assert layout.xaxis.fixedrange
    assert layout.height == 96 + 2 * 58


def test_a_chart_can_be_sent_to_a_browser(two):
    assert json.loads(before_after(two, "zh").to_json())["data"]


def test_models_keep_colour_and_shape_and_baselines_are_grey_diamonds():
    drawn = series_styles(["a", "always-A", "b"], baselines=["always-A"])
    assert (drawn["a"].colour, drawn["a"].symbol) == ("#0072B2", "circle")
    assert (drawn["b"].colour, drawn["b"].symbol) == ("#D55E00", "square")
    assert drawn["always-A"].symbol == "diamond"


def test_twelve_models_are_all_told_apart():
    drawn = series_styles([f"m{number}" for number in range(12)])
    assert len(set(drawn.values())) == 12
