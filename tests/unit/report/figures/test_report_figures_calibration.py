import json
from collections.abc import Sequence

import pandas as pd
import pytest
from bias_examples import cell_result, fond, with_probabilities
from chart_examples import layout_of, traces_of

from evalui.messages import messages
from evalui.report.figures.base import on_paper
from evalui.report.figures.calibration import reliability, risk, risk_points
from evalui.report.figures.paper import draw_png
from evalui.report.figures.statistics import questions
from evalui.report.figures.tables import figure_tables
from evalui.report.frames import calibration, choices
from evalui.report.frames.base import Row, frame
from evalui.scoring.cell_summary import summarise
from evalui.types import Language


def _bin(low: float, sure: float | None, value: float, n: int) -> Row:
    ends = {"accuracy_low": value - 10, "accuracy_high": min(100, value + 10)}
    return {"from": low, "to": low + 0.1, "confidence": sure, "accuracy": value, "n": n, **ends}


def _drawn(*bins: Row, language: Language = "en", colour: str = "#0072B2"):
    empty = {"from": 0.0, "to": 0.1, "n": 0}
    rows = frame([empty, *bins], calibration.CALIBRATION)
    return reliability(rows, messages(language), colour=colour)


def test_sureness_stands_against_rightness_with_ranges_and_counts():
    _, points, bars = traces_of(_drawn(_bin(0.4, 0.45, 40, 50), _bin(0.9, 0.95, 80, 12)))
    assert (points["x"], points["y"]) == ([45, 95], [40, 80])
    assert (points["error_y"]["array"], points["error_y"]["arrayminus"]) == ([10, 10], [10, 10])
    assert bars["y"] == [50, 12]
    assert points["hovertext"][0] == "sure 45 %, right 40 % (30–50), n = 50"


def test_bins_of_few_questions_are_grey():
    figure = _drawn(_bin(0.4, 0.45, 40, 30), _bin(0.9, 0.95, 80, 29), colour="#D55E00")
    assert traces_of(figure)[1]["marker"]["color"] == ["#D55E00", "#80868B"]


def test_both_axes_of_reliability_are_whole():
    figure = _drawn(_bin(0.4, 0.45, 40, 50), language="zh")
    assert [layout_of(figure)[axis]["range"] for axis in ("xaxis", "yaxis")] == [[0, 100]] * 2
    line = traces_of(figure)[0]
    assert (line["x"], line["y"]) == ([0, 100], [0, 100])


def test_a_real_cell_has_its_reliability():
    found = summarise(with_probabilities(cell_result(fond), sure=0.7))
    rows = pd.DataFrame(calibration.calibration([found]))
    _, points, bars = traces_of(reliability(rows, messages("en")))
    assert points["x"] == pytest.approx([70])
    assert bars["y"] == [120]


def _pair(omega: float, finding: str, n: int = 240) -> Row:
    return {"n": n, "se": 100 * omega / n**0.5, "finding": finding, "detectable": 5.0}


def _sizes(*pairs: Row, size: int | None = None):
    return questions(frame(pairs, choices.PAIRS), messages("en"), size=size)


def test_the_smallest_visible_difference_falls_with_the_root_of_the_questions():
    figure = _sizes(size=240)
    first = traces_of(figure)[0]
    ten = dict(zip(first["x"], first["y"], strict=True))
    assert ten[100] == pytest.approx(2.80 * 0.1**0.5 / 10 * 100, rel=0.01)
    assert ten[100] == pytest.approx(10 * ten[10000])
    assert 240 in ten
    assert len(traces_of(figure)) == 3
    assert layout_of(figure)["shapes"][0]["x0"] == 240


def test_the_steadiest_pair_of_those_that_are_level_has_its_own_line():
    figure = _sizes(_pair(0.5, "level"), _pair(0.4, "level"), _pair(0.1, "apart"))
    assert len(traces_of(figure)) == 4
    assert "240 questions: 7.2 points" in traces_of(figure)[3]["hovertext"]
    assert layout_of(figure)["shapes"][0]["x0"] == 240  # the most that two have in common


def _point(threshold: float, coverage: float, right: float) -> Row:
    ends = {"right_low": right - 6, "right_high": min(100.0, right + 6)}
    return {"threshold": threshold, "coverage": coverage, "right": right, **ends, "n": 50}


def _risk(*points: Row, chosen: Sequence[Row] = ()):
    made = {
        "risk_coverage": frame(points, calibration.RISK_COVERAGE),
        "thresholds": frame(chosen, calibration.THRESHOLDS),
    }
    return risk(risk_points(made.__getitem__), messages("en"))


_POINTS = (_point(0.9, 20, 95), _point(0.7, 60, 85), _point(0.2, 100, 70))


def test_rightness_stands_above_coverage_within_its_band():
    band, line, marks = traces_of(_risk(*_POINTS))
    assert (line["x"], line["y"]) == ([20, 60, 100], [95, 85, 70])
    assert band["x"] == [20, 60, 100, 100, 60, 20]
    assert band["y"] == [100, 91, 76, 64, 79, 89]
    assert marks["x"] == []
    assert line["hovertext"][1] == "sure 0.70 or more: right 85 % (79–91) on 60 % of questions"


def test_a_threshold_stands_where_the_other_half_has_it():
    none = {"goal": 99.0, "threshold": None}
    figure = _risk(*_POINTS, chosen=[{**_point(0.83, 61, 94), "goal": 95.0}, none])
    marks = traces_of(figure)[2]
    assert (marks["x"], marks["y"]) == ([61], [94])
    assert marks["hovertext"] == [
        "chosen for 95 % right: 0.83; on the other half right 94 % (88–100) on 61 %"
    ]
    assert [each["text"] for each in layout_of(figure)["annotations"]] == ["≥ 0.83"]


def test_the_axis_of_rightness_ends_at_all_right_and_begins_below_the_band():
    for right, low in ((70.0, 60), (50.0, 40), (98.0, 90), (40.0, 20)):
        assert layout_of(_risk(_point(0.5, 100, right)))["yaxis"]["range"] == [low, 100]


def test_the_band_is_drawn_on_paper_and_is_no_row_of_the_table():
    figure = json.loads(on_paper(_risk(*_POINTS)).to_json())
    assert [name for name, _ in figure_tables(figure)[0].rows] == ["20", "60", "100"]
    bare = {**figure, "data": [each for each in figure["data"] if not each.get("fillcolor")]}
    assert draw_png(figure) != draw_png(bare)
