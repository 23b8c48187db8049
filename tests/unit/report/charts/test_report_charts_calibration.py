import pytest
from bias_examples import cell_result, fond, with_probabilities

from evalui.report.charts.calibration import (
    reliability,
    reliability_subtitle,
    reliability_title,
    sample_size_lines,
)
from evalui.scoring.bias.probabilities import Calibration, CalibrationBin
from evalui.scoring.cell_summary import summarise
from evalui.types import Interval


def _bin(low: float, sure: float, value: float, n: int) -> CalibrationBin:
    return CalibrationBin(
        low, low + 0.1, sure, Interval(value, value - 0.1, min(1.0, value + 0.1), n)
    )


def _calibration(*bins: CalibrationBin) -> Calibration:
    empty = CalibrationBin(0.0, 0.1, None, None)
    return Calibration(sum(b.accuracy.n for b in bins), 0.123, 0.456, (empty, *bins))


def test_sureness_stands_against_rightness_with_ranges_and_counts():
    chart = reliability(_calibration(_bin(0.4, 0.45, 0.4, 50), _bin(0.9, 0.95, 0.8, 12)), "en")
    _, points = chart.lines
    assert (points.x, points.y) == ([45, 95], [40, 80])
    assert points.ranges[0] == pytest.approx((30, 50))
    assert chart.below is not None
    assert [bar.value for bar in chart.below.bars] == [50, 12]
    assert points.hover[0] == "sure 45 %, right 40 % (30–50), n = 50"
    assert points.keys[0] == (0.4, 0.5)


def test_bins_of_few_questions_are_grey():
    chart = reliability(
        _calibration(_bin(0.4, 0.45, 0.4, 30), _bin(0.9, 0.95, 0.8, 29)), "en", colour="#D55E00"
    )
    assert chart.lines[1].colours == ["#D55E00", "#80868B"]


def test_both_axes_of_reliability_are_whole():
    chart = reliability(_calibration(_bin(0.4, 0.45, 0.4, 50)), "zh")
    assert [(axis.low, axis.high) for axis in (chart.x, chart.y)] == [(0, 100), (0, 100)]
    line = chart.lines[0]
    assert (line.x, line.y) == ([0, 100], [0, 100])


@pytest.mark.parametrize(
    ("bins", "title"),
    [
        ([_bin(0.8, 0.85, 0.5, 200)], "m is surer than it is right: by 35 points on average"),
        (
            [_bin(0.4, 0.45, 0.8, 200)],
            "m is right more often than it is sure: by 35 points on average",
        ),
        ([_bin(0.5, 0.55, 0.5, 200)], "m is about as sure as it is right"),
        (
            [_bin(0.8, 0.85, 0.5, 29)],
            "Too few questions (29) to judge how well probabilities fit",
        ),
    ],
)
def test_the_title_says_whether_the_model_is_too_sure(bins: list[CalibrationBin], title: str):
    assert reliability_title(_calibration(*bins), "m", "en") == title


def test_the_subtitle_has_both_scores_and_the_mass():
    found = _calibration(_bin(0.8, 0.85, 0.5, 200))
    assert reliability_subtitle(found, 0.953, "en") == (
        "Order as written. ECE 12.3 points, Brier 0.46; lower is better. "
        "Letters hold 95.3 % of the probability. n = 200."
    )
    assert "字母占 – %" in reliability_subtitle(found, None, "zh")


def test_a_real_cell_has_itsreliability():
    found = summarise(with_probabilities(cell_result(fond), sure=0.7)).main_bias.calibration
    chart = reliability(found, "en")
    assert chart.lines[1].x == pytest.approx([70])
    assert chart.below is not None
    assert [bar.value for bar in chart.below.bars] == [120]


def test_the_smallest_visible_difference_falls_with_the_root_of_the_questions():
    chart = sample_size_lines(240, "en")
    ten = dict(zip(chart.lines[0].x, chart.lines[0].y, strict=True))
    assert ten[100] == pytest.approx(2.80 * 0.1**0.5 / 10 * 100, rel=0.01)
    assert ten[100] == pytest.approx(10 * ten[10000])
    assert 240 in ten
    assert len(chart.lines) == 3
    assert chart.marked == 240


def test_a_pair_has_its_own_line():
    chart = sample_size_lines(240, "en", omega=0.4)
    assert len(chart.lines) == 4
    assert "240 questions: 7.2 points" in chart.lines[3].hover
