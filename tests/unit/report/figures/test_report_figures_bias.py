from typing import Any

import pandas as pd
import pytest
from bias_examples import cell_result, fond
from chart_examples import layout_of, notes_of, traces_of

from evalui.messages import messages
from evalui.report.figures.bias import consistency, gaps, known_priors, picks, priors
from evalui.report.frames import choices
from evalui.report.frames.base import Row, frame
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import Language

NAMES = {"dataset": "law", "mode": "generation"}


def _share(value: float, n: int = 120, half: float = 8, name: str = "share") -> Row:
    """A share in per cent with its range."""
    return {name: value, f"{name}_low": value - half, f"{name}_high": value + half, "n": n}


def _grid(summary: Summary, language: Language = "en"):
    return consistency(pd.DataFrame(choices.consistency([summary])), messages(language))


@pytest.fixture
def steady() -> Summary:
    """Half of the questions are right in every order, half locked on A."""
    return summarise(cell_result(fond))


def test_the_grid_has_options_across_and_positions_up(steady):
    figure = _grid(steady)
    (cells,) = traces_of(figure)
    # Locked on A: the same position four times, four options once each.
    assert cells["text"][3][0] == "60"
    assert cells["text"][0][3] == "60"
    assert cells["text"][1][1] == "·"
    assert cells["z"][3][0] == pytest.approx(0.5)
    y = layout_of(figure)["yaxis"]
    assert (y["range"], y["ticktext"]) == ([-0.5, 3.5], [f"<b>{n}</b>" for n in range(1, 5)])
    assert notes_of(figure)[:2] == ["top left: locked<br>on a letter", "answers by<br>content ↘"]


def test_a_cell_of_the_grid_tells_its_questions_and_range(steady):
    (cells,) = traces_of(_grid(steady))
    assert cells["hovertext"][3][0] == (
        "same position in 4 of 4 orders, same option in 1: 60 of 120 questions, 50 % (41–59)"
    )


def test_a_grid_of_few_questions_is_grey(steady):
    few, enough = (
        traces_of(_grid(each))[0]["colorscale"][-1][1]
        for each in (summarise(cell_result(fond, n=29)), steady)
    )
    assert few.startswith("rgba(128,134,139")
    assert enough.startswith("rgba(0,114,178")


def test_many_orders_leave_no_room_for_numbers(make_result):
    found = summarise(make_result({f"q{i}": "right" for i in range(3)}, pattern="all_possible"))
    (cells,) = traces_of(_grid(found, "zh"))
    assert "text" not in cells
    assert len(cells["z"]) == 24
    # Only the cells with questions are drawn: all three were right in every order.
    assert [value for row in cells["z"] for value in row if value is not None] == [1.0]


def _priors(*cells: tuple[str, str, list[Row]]):
    rows = [
        {**NAMES, "model": model, "origin": origin, "options": len(shares), "light": "red"}
        | {"slot": "ABCD"[slot], "chance": 100 / len(shares), **share}
        for model, origin, shares in cells
        for slot, share in enumerate(shares)
    ]
    return priors(known_priors(lambda _: frame(rows, choices.PRIORS)), messages("en"))


def test_the_map_of_priors_diverges_at_the_fair_share():
    (cells,) = traces_of(_priors(("m", "prior", [*map(_share, (40, 30, 20, 10))])))
    assert (cells["zmin"], cells["zmax"]) == (0, 0.5)
    (other,) = traces_of(_priors(("m", "prior", [*map(_share, (40, 60))])))
    assert (other["zmin"], other["zmax"]) == (0.25, 0.75)
    assert cells["z"][0] == [0.4, 0.3, 0.2, 0.1]
    assert cells["hovertext"][0][0] == "m: prior of A 40 % (32–48), fair 25 %, n = 120"


def test_the_map_of_priors_says_where_a_share_is_of_picks():
    (cells,) = traces_of(_priors(("<b>", "picks", [*map(_share, (40, 60))])))
    assert cells["hovertext"][0][1] == ("&lt;b&gt;: B picked 60 % (52–68), fair 50 %, n = 120")


def test_priors_of_few_questions_are_grey_beside_others():
    many, few = [_share(40), _share(60)], [_share(40, n=29), _share(60, n=29)]
    enough, grey = traces_of(_priors(("many", "picks", many), ("few", "picks", few)))
    assert (enough["z"][0][0], enough["z"][1][0]) == (0.4, None)
    assert (grey["z"][0][0], grey["z"][1][0]) == (None, 0.4)
    assert grey["colorscale"][-1][1].startswith("rgba(128,134,139")


def _gap(model: str, value: float, n: int = 120, p: float | None = None, group: str = "law") -> Row:
    own = _share(value, n, name="order_sensitivity")
    named = {**NAMES, "model": model, "kind": "subject", "group": group}
    return {**named, **own, "order_sensitivity_n": n, "order_sensitivity_p": p}


def _gaps(*rows: Row):
    return gaps(frame(rows, choices.GROUPS), messages("en"))


def test_a_gap_tells_its_points_questions_and_star():
    figure = _gaps(_gap("m", 21, p=0.001), _gap("n", 0, group="art"), _gap("m", 0, group="art"))
    cells, _ = traces_of(figure)
    assert layout_of(figure)["yaxis"]["ticktext"] == ["<b>law</b>", "<b>art</b>"]  # greatest first
    assert layout_of(figure)["xaxis"]["ticktext"] == ["<b>m</b>", "<b>n</b>"]
    assert cells["text"] == [["21*", ""], ["0", "0"]]
    assert (
        cells["hovertext"][0][0] == "law · m: 21 points (13–29), 25 of 120 questions "
        "Unlike the rest (Benjamini-Hochberg)."
    )


def test_the_groups_of_equal_means_keep_their_order():
    figure = _gaps(_gap("m", 100 / 3), _gap("m", 100 * (1 - 2 / 3), group="art"))
    assert layout_of(figure)["yaxis"]["ticktext"] == ["<b>law</b>", "<b>art</b>"]


def test_a_gap_of_few_questions_is_grey_and_tells_its_value_in_the_hover_only():
    coloured, grey = traces_of(_gaps(_gap("m", 20, n=26, p=0.001)))
    assert (coloured["z"][0][0], grey["z"][0][0]) == (None, 0.2)
    assert grey["text"][0][0] == ""
    assert "20 points (12–28), 5 of 26 questions" in grey["hovertext"][0][0]
    assert "Unlike" not in grey["hovertext"][0][0]


def _positions(**more: Any) -> list[Row]:
    own = {"dataset": "law", "model": "m", "mode": "generation", "options": 2, "chance": 50.0}
    shares = {"A": (60.0, 55.0, 66.0), "B": (40.0, 34.0, 45.0)}
    return [
        {**own, "slot": slot, "share_of_picks": value, "questions": 100, "picks": 2 * value}
        | {"share_of_picks_low": low, "share_of_picks_high": high, **more}
        for slot, (value, low, high) in shares.items()
    ]


def _picks(rows: list[Row]):
    return picks(frame(rows, choices.POSITIONS), messages("en"))


def test_picks_are_bars_with_their_intervals_beside_the_fair_share():
    drawn = _picks(_positions())
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
    names = [bars.name for bars in _picks(rows).data]
    assert names == ["m · generation", "n · generation", "n · cloze"]
