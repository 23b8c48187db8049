from typing import Any

import pytest
from bias_examples import cell_result, fond, halting, right, with_probabilities

from evalui.report.analyses.overview.summary import summarise
from evalui.report.analyses.statistics import comparisons
from evalui.report.analyses.statistics.pairs import pairs_card
from evalui.report.blocks import Table
from evalui.report.charts.calibration import (
    difference_subtitle,
    points_axis,
    reliability,
    reliability_subtitle,
    reliability_title,
    sample_size_lines,
)
from evalui.report.charts.plotly import draw_plotly
from evalui.report.render.pictures import table_chart
from evalui.scoring.calibration import Calibration, CalibrationBin
from evalui.types import Interval, Language


def _bin(low: float, sure: float, value: float, n: int) -> CalibrationBin:
    return CalibrationBin(
        low, low + 0.1, sure, Interval(value, value - 0.1, min(1.0, value + 0.1), n)
    )


def _calibration(*bins: CalibrationBin) -> Calibration:
    empty = CalibrationBin(0.0, 0.1, None, None)
    return Calibration(sum(b.accuracy.n for b in bins), 0.123, 0.456, (empty, *bins))


def _reliability(found: Calibration, language: Language, **words: str) -> Any:
    return draw_plotly(reliability(found, language, **words))


@pytest.fixture
def pairs():
    made = [("sure", right), ("fond", fond), ("also", right)]
    summaries = [summarise(cell_result(pick, model=model)) for model, pick in made]
    return comparisons(summaries)[0].pairs


def test_sureness_stands_against_rightness_with_ranges_and_counts():
    chart = _reliability(_calibration(_bin(0.4, 0.45, 0.4, 50), _bin(0.9, 0.95, 0.8, 12)), "en")
    _, marks, bars = chart.data
    assert (list(marks.x), list(marks.y)) == ([45, 95], [40, 80])
    assert list(marks.error_y.array) == pytest.approx([10, 10])
    assert list(bars.y) == [50, 12]
    assert marks.hovertext[0] == "sure 45 %, right 40 % (30–50), n = 50"
    assert tuple(marks.customdata[0]) == (0.4, 0.5)


def test_bins_of_few_questions_are_grey():
    chart = _reliability(
        _calibration(_bin(0.4, 0.45, 0.4, 30), _bin(0.9, 0.95, 0.8, 29)), "en", colour="#D55E00"
    )
    assert list(chart.data[1].marker.color) == ["#D55E00", "#80868B"]


def test_both_axes_of_reliability_are_whole():
    layout = _reliability(_calibration(_bin(0.4, 0.45, 0.4, 50)), "zh").layout
    assert (tuple(layout.xaxis.range), tuple(layout.yaxis.range)) == ((0, 100), (0, 100))
    line = _reliability(_calibration(_bin(0.4, 0.45, 0.4, 50)), "zh").data[0]
    assert (tuple(line.x), tuple(line.y)) == ((0, 100), (0, 100))


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


def test_a_real_cell_has_its_reliability():
    found = summarise(with_probabilities(cell_result(fond), sure=0.7)).main_bias.calibration
    chart = _reliability(found, "en")
    assert list(chart.data[1].x) == pytest.approx([70])
    assert list(chart.data[2].y) == [120]


def test_the_smallest_visible_difference_falls_with_the_root_of_the_questions():
    chart = draw_plotly(sample_size_lines(240, "en"))
    ten = dict(zip(chart.data[0].x, chart.data[0].y, strict=True))
    assert ten[100] == pytest.approx(2.80 * 0.1**0.5 / 10 * 100, rel=0.01)
    assert ten[100] == pytest.approx(10 * ten[10000])
    assert 240 in ten
    assert len(chart.data) == 3
    assert chart.layout.shapes[0].x0 == 240


def test_a_pair_has_its_own_line():
    chart = draw_plotly(sample_size_lines(240, "en", omega=0.4))
    assert len(chart.data) == 4
    assert "240 questions: 7.2 points" in chart.data[3].hovertext


@pytest.fixture(scope="module")
def level():
    """A pair that the questions do not tell apart."""
    made = [("one", halting(5)), ("other", halting(6))]
    (found,) = comparisons([summarise(cell_result(pick, model=name)) for name, pick in made])
    return found.pairs[0]


def test_nought_is_always_on_the_axis_of_differences(pairs):
    axis = points_axis(pairs)
    assert axis.low == -axis.high
    assert axis.high >= 60
    assert 0 in axis.ticks


def test_the_grey_is_explained_where_there_is_any(pairs, level):
    lines = "Band: 95 % plausible range, paired by question."
    assert difference_subtitle([pairs[0]], "en") == lines
    assert difference_subtitle([pairs[0], level], "en") == (
        f"Grey: true differences that these questions would usually miss. {lines}"
    )
    same = [pair for pair in pairs if pair.paired.all_equal]
    assert difference_subtitle(same, "en") == ""


def test_the_picture_of_differences_names_both_models():
    made = [("a", right), ("b", halting(10))]
    summaries = [summarise(cell_result(pick, model=name)) for name, pick in made]
    (table,) = pairs_card(summaries, comparisons(summaries)[0], "en", (), "").blocks
    assert isinstance(table, Table)
    drawn = table_chart(table)
    assert drawn.rows[0].strong == "a over b"
    assert drawn.series[0].marks[0].value == pytest.approx(10)
