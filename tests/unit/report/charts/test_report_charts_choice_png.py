import io
from dataclasses import replace
from typing import Any

import pytest
from bias_examples import cell_result, fond, right

from evalui.report.analyses.overview.summary import summarise
from evalui.report.charts import choice_png, paper
from evalui.report.charts.choice_png import before_after_png, heat_map_png, picture_problem
from evalui.report.charts.paper import DARK, LIGHT

matplotlib = pytest.importorskip("matplotlib")

chinese = pytest.mark.skipif(
    len(paper.font_families()) == 1, reason="no font with Chinese characters is installed"
)


@pytest.fixture(scope="module")
def two():
    made = [("sure", right), ("fond", fond)]
    return [summarise(cell_result(pick, model=model)) for model, pick in made]


@pytest.fixture
def texts(monkeypatch):
    """Every text drawn, in the order of reading."""
    written: list[tuple[float, float, str]] = []

    class Watched(paper.Canvas):
        def text(self, x: float, y: float, text: str, **style: Any) -> None:
            written.append((y, x, text))
            super().text(x, y, text, **style)

    monkeypatch.setattr(choice_png, "Canvas", Watched)
    return lambda: [text for *_, text in sorted(written)]


def _pixels(png: bytes):
    from matplotlib.image import imread

    return imread(io.BytesIO(png), format="png")


@chinese
def test_chinese_pictures_have_every_glyph(two):
    # A missing glyph is a warning of matplotlib's, and warnings are errors here.
    named = [replace(two[0], cell=replace(two[0].cell, model="通义千问")), two[1]]
    assert before_after_png(named, "zh").startswith(b"\x89PNG")
    assert heat_map_png(two[1].main_positions, "zh", title="通义千问").startswith(b"\x89PNG")


def test_accuracy_and_robust_accuracy_are_printed(two, texts):
    before_after_png(two, "en")
    shown = texts()
    assert shown[0].startswith("No model loses more than 1 in 20")
    assert shown.count("100.0") == 2
    assert shown.count("50") == 2
    assert "chance 25 %" in shown


def test_a_cell_of_one_order_has_one_figure(texts):
    before_after_png([summarise(cell_result(fond, pattern="origin"))], "en")
    assert texts().count("62") == 0
    assert texts().count("50") == 1


def test_cells_with_other_chances_are_told_of_the_lines(two, texts):
    before_after_png([two[0], summarise(cell_result(right, options=2, model="x"))], "en")
    assert "dotted: chance" in texts()


def test_the_heat_map_prints_every_share(two, texts):
    heat_map_png(
        two[1].main_positions, "en", title="fond: Picks A 62 % of the time where 25 % is fair"
    )
    shown = texts()
    assert shown[0] == "fond: Picks A 62 % of the time where 25 % is fair"
    assert shown.count("50 %") == 6
    assert shown.count("0 %") == 9 + 4  # off the column and the diagonal, and none unreadable
    assert "chance 25 %" in shown


def test_ties_have_a_column_of_their_own(make_result, texts):
    tied = summarise(make_result({f"q{i}": ["tie", 0, 0, 0] for i in range(4)}))
    heat_map_png(tied.main_positions, "en")
    assert "tied" in texts()


def test_few_questions_are_grey(make_result):
    few = summarise(make_result({f"q{i}": [0, 0, 0, 0] for i in range(20)})).main_positions
    many = summarise(make_result({f"q{i}": [0, 0, 0, 0] for i in range(40)})).main_positions

    def blueness(png: bytes) -> int:
        red, _, blue = (_pixels(png)[..., channel] for channel in range(3))
        return int((blue > red + 0.15).sum())

    grey, blue = (heat_map_png(table, "en", colour="#D55E00") for table in (few, many))
    assert blueness(grey) < blueness(blue) / 10


def test_pictures_for_dark_pages_are_dark(two):
    light, dark = (before_after_png(two, "en", theme=theme) for theme in (LIGHT, DARK))
    assert _pixels(light)[0, 0, 0] > 0.9
    assert _pixels(dark)[0, 0, 0] < 0.2


def test_the_same_drawing_gives_the_same_bytes(two):
    assert before_after_png(two, "en") == before_after_png(two, "en")


def test_nothing_answered_is_still_a_picture(make_result):
    assert before_after_png([summarise(make_result({}))], "en").startswith(b"\x89PNG")


def test_why_no_picture_can_be_drawn(two, monkeypatch):
    assert picture_problem(two, "en") == ""
    monkeypatch.setattr(choice_png, "lacks_cjk_glyphs", lambda texts: "fond" in list(texts))
    assert picture_problem(two, "en") == "pictures-need-font"
    monkeypatch.setattr(choice_png, "matplotlib_installed", lambda: False)
    assert picture_problem(two, "en") == "pictures-need-matplotlib"
