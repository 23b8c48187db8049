import pytest

from evalui.report.figures import theme
from evalui.report.figures.theme import (
    drawing_problem,
    font_families,
    printable_text,
    series_styles,
    text_width,
    wrap_text,
)

drawn = pytest.mark.skipif(not theme.matplotlib_installed(), reason="matplotlib is not installed")


def test_models_keep_colour_and_shape_and_baselines_are_grey_diamonds():
    drawn = series_styles(["a", "always-A", "b"], baselines=["always-A"])
    assert (drawn["a"].colour, drawn["a"].symbol) == ("#0072B2", "circle")
    assert (drawn["b"].colour, drawn["b"].symbol) == ("#D55E00", "square")
    assert drawn["always-A"].symbol == "diamond"


def test_twelve_models_all_look_different():
    drawn = series_styles([f"m{number}" for number in range(12)])
    assert len(set(drawn.values())) == 12


@drawn
def test_without_matplotlib_the_problem_is_named(monkeypatch):
    assert drawing_problem(["a"]) == ""
    monkeypatch.setattr(theme, "matplotlib_installed", lambda: False)
    assert drawing_problem(["a"]) == "pictures-need-matplotlib"


@drawn
def test_without_a_chinese_font_chinese_texts_cannot_be_drawn(monkeypatch):
    monkeypatch.setattr(theme, "_font_charmaps", lambda: (frozenset(range(0x250)),))
    theme._has_glyph.cache_clear()
    try:
        assert drawing_problem(["a", "甲"]) == "pictures-need-font"
        assert drawing_problem(["a"]) == ""
    finally:
        theme._has_glyph.cache_clear()


@drawn
@pytest.mark.skipif(
    theme.matplotlib_installed() and len(font_families()) == 1,
    reason="no font with Chinese characters is installed",
)
def test_what_no_font_has_becomes_a_question_mark():
    assert printable_text("模型 \U000e0041\nb") == "模型 ? b"


@drawn
def test_long_titles_are_wrapped_between_words_and_chinese_letters():
    lines = wrap_text("one two three four", text_width("one two three"), size=13)
    assert lines == ["one two three", "four"]
    assert len(wrap_text("这个排名说明不了多少。" * 4, 200)) > 2
    assert all(not line.startswith("。") for line in wrap_text("这个排名说明不了多少。" * 4, 200))
