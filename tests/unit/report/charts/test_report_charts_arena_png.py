import io
import re
from dataclasses import replace
from typing import Any

import pytest
from arena_examples import judged, leading, scattered, swept
from open_examples import judge_result

from evalui.report.analyses.arena.figures import arena
from evalui.report.charts import arena_png, paper
from evalui.report.charts.arena import interval_offsets
from evalui.report.charts.common import COLOURS, series_styles
from evalui.report.charts.paper import DARK, LIGHT, printable_text, text_width, wrap_text

matplotlib = pytest.importorskip("matplotlib")

chinese = pytest.mark.skipif(
    len(paper.font_families()) == 1, reason="no font with Chinese characters is installed"
)
_DRAWN = (arena_png.by_capa_png, arena_png.by_lang_png, arena_png.elo_png, arena_png.win_matrix_png)


@pytest.fixture(scope="module")
def three():
    return leading(judged(n=12), lead=(76.0, 19.0, 120.0))


def _size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


def _pixels(png: bytes):
    from matplotlib.image import imread

    return imread(io.BytesIO(png), format="png")


@chinese
@pytest.mark.parametrize("draw", _DRAWN)
def test_chinese_pictures_have_every_glyph(draw, three):
    # A missing glyph is a warning of matplotlib's, and warnings are errors here.
    _size(draw(three, "zh"))


@pytest.fixture
def texts(monkeypatch):
    """Every text drawn, in the order of reading."""
    written: list[tuple[float, float, str]] = []

    class Watched(paper.Canvas):
        def text(self, x: float, y: float, text: str, **style: Any) -> None:
            written.append((y, x, text))
            super().text(x, y, text, **style)

    monkeypatch.setattr(arena_png, "Canvas", Watched)
    return lambda: [text for *_, text in sorted(written)]


def test_win_rates_are_those_of_the_row_against_the_column(texts):
    arena_png.by_lang_png(swept(), "en")
    shown = texts()
    heads = [text for text in shown if text in ("Overall", "Chinese", "English", "n = 12", "n = 6")]
    assert heads == ["Overall", "Chinese", "English", "n = 12", "n = 6", "n = 6"]
    rows = [shown[shown.index(model) :][2:8] for model in ("strong", "middle", "weak")]
    assert rows == [["100", "100"] * 3, ["0", "100"] * 3, ["0", "0"] * 3]


def test_a_draw_is_no_win_in_the_win_rates_and_half_a_point_in_the_matrix(texts):
    drawn = arena(judge_result(models=("a", "b"), decide=lambda *_: "tie"))
    arena_png.by_lang_png(drawn, "en")
    assert {"100", "50"}.isdisjoint(texts())
    arena_png.win_matrix_png(drawn, "en")
    assert texts().count("50 %") + texts().count("50.0 %") == 2


def test_of_many_capabilities_the_most_frequent_are_drawn(texts):
    drawn = arena_png.by_capa_png(scattered(judged(n=40), 30), "en")
    heads = [text for text in texts() if re.fullmatch(r"c\d\d\d", text)]
    assert len(heads) == 24
    assert "c029" in heads
    assert "6 more are in the exported tables." in " ".join(texts())
    assert _size(drawn)[1] < 3000


def test_pairs_that_never_met_have_a_dash(three, texts):
    names = [standing.model for standing in three.standings]
    shares = {pair: share for pair, share in three.shares.items() if set(pair) != set(names[:2])}
    arena_png.win_matrix_png(replace(three, shares=shares), "en")
    assert texts().count("–") == 2


def test_shares_above_one_half_are_blue_and_below_orange(monkeypatch):
    colours: list[str] = []

    class Watched(paper.Canvas):
        def rectangle(self, x: float, y: float, size: Any, colour: str, **style: Any) -> None:
            colours.append(colour)
            super().rectangle(x, y, size, colour, **style)

    monkeypatch.setattr(arena_png, "Canvas", Watched)
    arena_png.win_matrix_png(swept(), "en")
    blue, orange = COLOURS[:2]
    band = LIGHT.band
    assert colours == [band, blue, blue, orange, band, blue, orange, orange, band]


def test_standings_are_printed_with_their_deviation_best_first(three, texts):
    arena_png.elo_png(three, "en")
    shown = texts()
    best = three.standings[0]
    assert shown.index(f"{best.elo:,.0f}") < shown.index(best.model)
    assert interval_offsets(best) in shown
    places = [shown.index(standing.model) for standing in three.standings]
    assert places == sorted(places)
    assert "start 1,000" in shown


@pytest.mark.parametrize("draw", _DRAWN)
def test_every_picture_names_its_judge_and_a_rule_as_such(draw, three, texts):
    draw(three, "en", baselines=frozenset({"judge-local"}))
    whole = " ".join(texts())
    assert "72 battles" in whole
    assert "judge-local (rule-based)" in whole


def test_the_same_arena_gives_the_same_bytes(three):
    assert arena_png.elo_png(three, "en") == arena_png.elo_png(three, "en")


def test_a_picture_grows_with_its_models():
    small, large = (judged({f"m{i}": 1000.0 for i in range(n)}, n=2) for n in (2, 7))
    for draw in _DRAWN:
        assert _size(draw(large, "en"))[1] > _size(draw(small, "en"))[1]


def test_a_sheet_has_150_dots_per_inch():
    assert _size(paper.Canvas(96, 48, LIGHT).png()) == (150, 75)


def test_a_dark_picture_is_dark(three):
    light, dark = (arena_png.win_matrix_png(three, "en", theme=theme) for theme in (LIGHT, DARK))
    assert _pixels(light)[0, 0, 0] == 1
    assert _pixels(dark)[0, 0, 0] < 0.2


def test_the_leader_and_its_equals_are_drawn_in_their_colours(three):
    names = [contestant.name for contestant in three.contestants]
    first, second = (
        series_styles(names)[standing.model].colour for standing in three.standings[:2]
    )

    def has(png: bytes, colour: str) -> bool:
        seen = (_pixels(png)[:, :, :3] * 255).round().astype(int)
        return bool((abs(seen - list(bytes.fromhex(colour[1:]))).sum(axis=2) == 0).any())

    apart, level = (arena_png.elo_png(leading(three, level=n), "en") for n in (1, 2))
    assert has(apart, first)
    assert has(apart, second)
    assert has(level, first)
    assert has(level, second)


def test_arenas_without_a_finite_rating_or_without_battles_can_be_drawn():
    empty = replace(swept(), standings=(), shares={}, battles=())
    for found in (swept(), empty):
        assert all(_size(draw(found, "en")) for draw in _DRAWN)


def test_names_with_dollars_and_unknown_signs_are_drawn_as_they_are(three):
    odd = replace(three.standings[0], model="$\\frac{$ \U0001f600\n名")
    assert _size(arena_png.elo_png(replace(three, standings=(odd, *three.standings[1:])), "en"))


@chinese
def test_what_no_font_has_becomes_a_question_mark():
    assert printable_text("模型 \U000e0041\nb") == "模型 ? b"


def test_without_matplotlib_the_problem_is_named(three, monkeypatch):
    monkeypatch.setattr(arena_png, "matplotlib_installed", lambda: False)
    assert arena_png.picture_problem([three], "en") == "pictures-need-matplotlib"


def test_without_a_chinese_font_chinese_pictures_are_left_out(three, monkeypatch):
    monkeypatch.setattr(paper, "_font_charmaps", lambda: (frozenset(range(0x250)),))
    paper._has_glyph.cache_clear()
    try:
        assert arena_png.picture_problem([three], "zh") == "pictures-need-font"
        assert arena_png.picture_problem([three], "en") == ""
        named = replace(three.standings[0], model="甲")
        arena = replace(three, standings=(named,))
        assert arena_png.picture_problem([arena], "en") == "pictures-need-font"
    finally:
        paper._has_glyph.cache_clear()


def test_long_titles_are_wrapped_between_words_and_chinese_letters():
    lines = wrap_text("one two three four", text_width("one two three"), size=13)
    assert lines == ["one two three", "four"]
    assert len(wrap_text("这个排名说明不了多少。" * 4, 200)) > 2
    assert all(not line.startswith("。") for line in wrap_text("这个排名说明不了多少。" * 4, 200))
