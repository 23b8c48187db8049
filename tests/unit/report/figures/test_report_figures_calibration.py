import pandas as pd
import pytest
from bias_examples import cell_result, fond, with_probabilities
from chart_examples import layout_of, traces_of

from evalui.messages import messages
from evalui.report.figures.calibration import reliability
from evalui.report.figures.statistics import questions
from evalui.report.frames import choices
from evalui.report.frames.base import Row, frame
from evalui.scoring.cell_summary import summarise
from evalui.types import Language


def _bin(low: float, sure: float | None, value: float, n: int) -> Row:
    ends = {"accuracy_low": value - 10, "accuracy_high": min(100, value + 10)}
    return {"from": low, "to": low + 0.1, "confidence": sure, "accuracy": value, "n": n, **ends}


def _drawn(*bins: Row, language: Language = "en", colour: str = "#0072B2"):
    empty = {"from": 0.0, "to": 0.1, "n": 0}
    rows = frame([empty, *bins], choices.CALIBRATION)
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
    rows = pd.DataFrame(choices.calibration([found]))
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
