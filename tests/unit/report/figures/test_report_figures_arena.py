from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest
from arena_examples import judged, leading, scattered
from chart_examples import layout_of, notes_of, traces_of

from evalui.messages import messages
from evalui.report.figures.arena import ratings, win_matrix_of, win_rates_of
from evalui.report.frames.arena import STANDINGS
from evalui.report.frames.base import Row, frame
from evalui.scoring.arena.question_groups import MAX_GROUPS
from evalui.types import Interval

win_matrix = partial(win_matrix_of, t=messages("en"))


@pytest.fixture(scope="module")
def three():
    return leading(judged())


@cache
def _many(models: int):
    return judged({f"m{i}": 1100.0 - 20 * i for i in range(models)}, n=3)


# ---------------------------------------------------------------- the win matrix


def test_a_cell_is_the_share_that_the_row_won_with_its_range(three):
    cells = traces_of(win_matrix(three))[0]
    names = [standing.model for standing in three.standings]
    assert cells["z"][0][2] == pytest.approx(three.shares[names[0], names[2]].value)
    assert " %</b><br>" in cells["text"][0][2]
    assert "–" in cells["text"][0][2]
    assert cells["z"][0][2] + cells["z"][2][0] == pytest.approx(1)


def test_all_cells_are_printed_with_the_digits_of_the_widest_range(three):
    first, second, third = (standing.model for standing in three.standings)
    shares = {
        (first, second): Interval(0.6, 0.58, 0.62, 400),
        (second, third): Interval(0.6, 0.4, 0.8, 20),
    }
    label = traces_of(win_matrix(replace(three, shares=shares)))[0]["text"][0][1]
    assert label.startswith("<b>60 %</b>")
    assert "58–62" in label
    fine = {(first, second): shares[first, second]}
    label = traces_of(win_matrix(replace(three, shares=fine)))[0]["text"][0][1]
    assert label.startswith("<b>60.0 %</b>")
    assert "58.0–62.0" in label


def test_the_scale_is_fixed_around_one_half(three):
    cells = traces_of(win_matrix(three))[0]
    assert (cells["zmin"], cells["zmax"]) == (0, 1)
    assert cells["colorscale"][-1][1] == "rgba(0,114,178,0.66)"


def test_the_diagonal_is_empty(three):
    cells, grey = traces_of(win_matrix(three))
    assert [cells["z"][place][place] for place in range(3)] == [None] * 3
    assert grey["z"] == [[0 if row == column else None for column in range(3)] for row in range(3)]


def test_pairs_that_never_met_have_a_dash(three):
    names = [standing.model for standing in three.standings]
    gone = {tuple(names[:2]), tuple(reversed(names[:2]))}
    shares = {pair: share for pair, share in three.shares.items() if pair not in gone}
    figure = win_matrix(replace(three, shares=shares))
    assert traces_of(figure)[0]["z"][0][1] is None
    dashes = [each for each in layout_of(figure)["annotations"] if each["text"] == "–"]
    assert [(each["y"], each["x"]) for each in dashes] == [(0, 1), (1, 0)]


def test_many_models_have_numbers_for_heads_and_no_ranges():
    figure = win_matrix(_many(15))
    assert layout_of(figure)["xaxis"]["ticktext"][14] == "<b>15</b>"
    assert layout_of(figure)["yaxis"]["ticktext"][14].endswith("  15</b>")
    assert not any("<br>" in text for row in traces_of(figure)[0]["text"] for text in row)
    assert layout_of(figure)["height"] < 15 * 34 + 60


# ---------------------------------------------------------------- groups of questions


def _titles(figure: Any) -> list[str]:
    return [
        note.partition("</b>")[0].removeprefix("<b>") for note in notes_of(figure) if "n =" in note
    ]


def test_each_capability_has_a_panel_of_win_rates(three):
    figure = win_rates_of(three, "capability", messages("en"))
    assert _titles(figure) == ["common", "creation", "reasoning"]
    assert sum("n = 1" in note for note in notes_of(figure)) == 3


def test_languages_are_named_in_words_after_all_of_them(three):
    assert _titles(win_rates_of(three, "language", messages("zh"))) == ["总体", "中文", "英文"]


def test_of_many_capabilities_the_most_frequent_are_drawn(three):
    heads = _titles(win_rates_of(scattered(three, 30, each=1), "capability", messages("en")))
    assert len(heads) == MAX_GROUPS
    assert heads[-1] == "c029"  # eleven questions, the others have one


def test_questions_without_a_capability_give_an_empty_chart(three):
    samples = {
        key: replace(sample, metadata={**sample.metadata, "capability": ""})
        for key, sample in three.samples.items()
    }
    bare = replace(three, samples=samples)
    assert traces_of(win_rates_of(bare, "capability", messages("en"))) == []


# ---------------------------------------------------------------- ratings


def _standing(model: str, **more: Any) -> Row:
    own = {"dataset": "law", "judge": "j", "model": model, "n": 40, "elo": 1010.0}
    return own | {"elo_low": 990.0, "elo_high": 1040.0, **more}


def _ratings(*rows: Row):
    return ratings(frame(rows, STANDINGS), messages("en"))


def test_ratings_are_marks_with_their_intervals_the_best_at_the_top():
    rated = {"bradley_terry": 1020.0, "bradley_terry_low": 1000.0, "bradley_terry_high": 1050.0}
    drawn = _ratings(_standing("late", **rated), _standing("early"))
    fitted, elo = drawn.data
    assert (list(fitted.y), list(fitted.x)) == (["late"], [1020])  # the other has no finite rating
    assert (list(fitted.error_x.array), list(fitted.error_x.arrayminus)) == ([30], [20])
    assert list(elo.y) == ["late", "early"]
    assert list(drawn.layout.yaxis.range) == [1.5, -0.5]
    assert list(drawn.layout.xaxis.range) == [990 - 3, 1050 + 3]


def test_judges_are_told_apart():
    (elo,) = _ratings(_standing("late"), _standing("late", judge="k")).data
    assert list(elo.y) == ["late · j", "late · k"]


def test_the_name_of_a_model_is_no_markup():
    (elo,) = _ratings(_standing("<b>late</b>")).data
    assert list(elo.y) == ["&lt;b&gt;late&lt;/b&gt;"]
