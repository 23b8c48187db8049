"""Plotly figures of a run: what they draw is what stands in the frame."""

from typing import Any

from evalui.report.figures import CHARTS
from evalui.report.figures.arena import ratings
from evalui.report.figures.bias import picks
from evalui.report.frames.arena import STANDINGS
from evalui.report.frames.base import frame
from evalui.report.frames.choices import POSITIONS
from evalui.report.frames.run import KINDS


def _positions(**more: Any) -> list[dict[str, Any]]:
    own = {"dataset": "law", "model": "m", "mode": "generation", "options": 2, "chance": 50.0}
    shares = {"A": (60.0, 55.0, 66.0), "B": (40.0, 34.0, 45.0)}
    return [
        {**own, "slot": slot, "share_of_picks": value, "questions": 100, "picks": 2 * value}
        | {"share_of_picks_low": low, "share_of_picks_high": high, **more}
        for slot, (value, low, high) in shares.items()
    ]


def test_picks_are_bars_with_their_intervals_beside_the_fair_share():
    drawn = picks(frame(_positions(), POSITIONS))
    (bars,) = drawn.data
    assert (list(bars.x), list(bars.y)) == (["A", "B"], [60, 40])
    assert list(bars.error_y.array) == [6, 5]
    assert list(bars.error_y.arrayminus) == [5, 6]
    (line,) = drawn.layout.shapes
    assert (line.y0, line.y1) == (50, 50)
    assert drawn.layout.annotations[0].text == "fair: 50 %"
    assert drawn.layout.yaxis.rangemode == "tozero"  # a cut axis would enlarge differences


def test_each_cell_has_bars_of_its_own_named_by_what_differs():
    rows = [*_positions(), *_positions(model="n"), *_positions(model="n", mode="cloze")]
    names = [bars.name for bars in picks(frame(rows, POSITIONS)).data]
    assert names == ["m · generation", "n · generation", "n · cloze"]


def _standing(model: str, **more: Any) -> dict[str, Any]:
    own = {"dataset": "law", "judge": "j", "model": model, "n": 40, "elo": 1010.0}
    return own | {"elo_low": 990.0, "elo_high": 1040.0, **more}


def test_ratings_are_marks_with_their_intervals_the_best_at_the_top():
    rated = {"bradley_terry": 1020.0, "bradley_terry_low": 1000.0, "bradley_terry_high": 1050.0}
    drawn = ratings(frame([_standing("late", **rated), _standing("early")], STANDINGS))
    fitted, elo = drawn.data
    assert (list(fitted.y), list(fitted.x)) == (["late"], [1020])  # the other has no finite rating
    assert (list(fitted.error_x.array), list(fitted.error_x.arrayminus)) == ([30], [20])
    assert list(elo.y) == ["late", "early"]
    assert list(drawn.layout.yaxis.range) == [1.5, -0.5]
    assert list(drawn.layout.xaxis.range) == [990 - 3, 1050 + 3]


def test_judges_are_told_apart():
    rows = [_standing("late"), _standing("late", judge="k")]
    (elo,) = ratings(frame(rows, STANDINGS)).data
    assert list(elo.y) == ["late · j", "late · k"]


def test_every_chart_is_drawn_from_a_frame_of_runs():
    for name in CHARTS:
        assert CHARTS[name].frame in KINDS
