import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from arena_examples import judged, leading, scattered, swept
from bias_examples import cell_result, fond, right
from chart_examples import drawn_heat_map, drawn_lines, drawn_panels, drawn_strips
from open_examples import judge_result

from evalui.messages import messages
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.open_answers import judged_blocks
from evalui.report.analyses.overview import overview_blocks
from evalui.report.analyses.statistics import statistics_blocks
from evalui.report.blocks import Block, Card, ChartBlock, Details, Table
from evalui.report.figures.bias import answered, answers
from evalui.report.figures.paper import draw_png, picture
from evalui.report.figures.theme import (
    COLOURS,
    font_families,
    series_styles,
)
from evalui.report.frames import choices
from evalui.report.render.pictures import pictures, titled
from evalui.scoring.arena.figures import Arena, arena
from evalui.scoring.cell_summary import Summary, summarise
from evalui.scoring.comparisons import comparisons
from evalui.types import Language

matplotlib = pytest.importorskip("matplotlib")

chinese = pytest.mark.skipif(
    len(font_families()) == 1, reason="no font with Chinese characters is installed"
)
_SAME_LINE = 6  # dots between the middles of two texts of one line
_FILES = ("by_capa.png", "by_lang.png", "ratings.png", "win_matrix.png")


def _picture(
    found: Arena, file: str, language: Language = "en", rules: frozenset[str] = frozenset()
) -> bytes:
    """One picture of a judged run, as the archive of its report has it."""
    models = [contestant.name for contestant in found.contestants]
    context = OpenContext(language, models, rules=rules)
    named = list(_named(judged_blocks(found, context), file))
    return dict(pictures(named))[file]


def _named(blocks: Iterable[Block], file: str) -> Iterator[Block]:
    for block in blocks:
        match block:
            case ChartBlock() if block.file == file:
                yield block
            case Card() if any(isinstance(b, Table) and b.file == file for b in block.blocks):
                yield block
            case Details():
                yield from _named(block.blocks, file)
            case _:
                pass


@pytest.fixture(scope="module")
def three():
    return leading(judged(n=15), lead=(76.0, 19.0, 120.0))


@pytest.fixture(scope="module")
def two():
    made = [("sure", right), ("fond", fond)]
    return [summarise(cell_result(pick, model=model)) for model, pick in made]


@pytest.fixture
def figures(monkeypatch):
    """Every figure that is written, in turn."""
    drawn: list[Any] = []
    save = matplotlib.figure.Figure.savefig

    def watch(figure: Any, *place: Any, **form: Any) -> None:
        drawn.append(figure)
        save(figure, *place, **form)

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", watch)
    return drawn


@pytest.fixture
def texts(figures):
    """Every text drawn, in the order of reading."""

    def read() -> list[str]:
        placed = [
            ((box.y0 + box.y1) / 2, box.x0, text.get_text())
            for figure in figures
            for text in figure.findobj(matplotlib.text.Text)
            if text.get_text() and text.get_visible()
            for box in (text.get_window_extent(),)
        ]
        lines: list[list[tuple[float, float, str]]] = []
        for each in sorted(placed, reverse=True):
            if not lines or lines[-1][0][0] - each[0] >= _SAME_LINE:
                lines.append([])
            lines[-1].append(each)
        return [text for line in lines for _, text in sorted((x, text) for _, x, text in line)]

    return read


def _size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


def _pixels(png: bytes):
    from matplotlib.image import imread

    return imread(io.BytesIO(png), format="png")


@chinese
@pytest.mark.parametrize("file", _FILES)
def test_chinese_pictures_have_every_glyph(file, three):
    # A missing glyph is a warning of matplotlib's, and warnings are errors here.
    _size(_picture(three, file, "zh"))


def test_win_rates_are_those_of_the_row_against_the_column(texts):
    _picture(swept(), "by_lang.png")
    shown = texts()
    heads = [text for text in shown if text in ("Overall", "Chinese", "English", "n = 12", "n = 6")]
    assert heads == ["Overall", "Chinese", "English", "n = 12", "n = 6", "n = 6"]
    names = ("1. strong", "2. middle", "3. weak")
    rows = [shown[shown.index(name) :][1:7] for name in names]
    assert rows == [["100", "100"] * 3, ["0", "100"] * 3, ["0", "0"] * 3]


def test_a_draw_is_no_win_in_the_win_rates_and_half_a_point_in_the_matrix(texts):
    drawn = arena(judge_result(models=("a", "b"), decide=lambda *_: "tie"))
    _picture(drawn, "by_lang.png")
    assert {"100", "50"}.isdisjoint(texts())
    _picture(drawn, "win_matrix.png")
    assert texts().count("50 %") + texts().count("50.0 %") == 2


def test_of_many_capabilities_the_most_frequent_are_drawn(texts):
    drawn = _picture(scattered(judged(n=160), 30), "by_capa.png")
    heads = [text for text in texts() if re.fullmatch(r"c\d\d\d", text)]
    assert len(heads) == 24
    assert "c029" in heads
    assert "6 more are in the exported tables." in " ".join(texts())
    assert _size(drawn)[1] < 3000


def test_pairs_that_never_met_have_a_dash(three, texts):
    names = [standing.model for standing in three.standings]
    shares = {pair: share for pair, share in three.shares.items() if set(pair) != set(names[:2])}
    _picture(replace(three, shares=shares), "win_matrix.png")
    assert texts().count("–") == 2


def test_shares_above_one_half_are_blue_and_below_orange(figures):
    _picture(swept(), "win_matrix.png")
    (plot,) = figures[0].axes
    shares, diagonal = plot.collections
    colours = shares.to_rgba(shares.get_array()).reshape(-1, 4)
    seen = [tuple(round(255 * part) for part in colour[:3]) for colour in colours if colour[3]]
    blue, orange = (tuple(bytes.fromhex(colour[1:])) for colour in COLOURS[:2])
    assert seen == [blue, blue, orange, blue, orange, orange]
    assert diagonal.get_array().mask.tolist() == [
        [row != column for column in range(3)] for row in range(3)
    ]


def test_standings_are_drawn_best_first_beside_the_start(three, texts):
    _picture(three, "ratings.png")
    shown = texts()
    places = [shown.index(standing.model) for standing in three.standings]
    assert places == sorted(places)
    assert "start 1,000" in shown


@pytest.mark.parametrize("file", _FILES)
def test_every_picture_names_its_judge_and_a_rule_as_such(file, three, texts):
    _picture(three, file, rules=frozenset({"judge-local"}))
    whole = " ".join(texts())
    assert "90 verdicts" in whole
    assert "judge-local (rule-based)" in whole


def test_the_same_arena_gives_the_same_bytes(three):
    assert _picture(three, "ratings.png") == _picture(three, "ratings.png")


def test_a_picture_grows_with_its_models():
    small, large = (judged({f"m{i}": 1000.0 for i in range(n)}, n=15) for n in (2, 7))
    for file in _FILES:
        assert _size(_picture(large, file))[1] > _size(_picture(small, file))[1]


def test_a_picture_has_150_dots_per_inch_of_a_page(three):
    assert _size(_picture(three, "ratings.png"))[0] == 760 * 150 // 96


def test_the_leader_and_its_equals_are_drawn_in_their_colours(three):
    names = [contestant.name for contestant in three.contestants]
    first, second = (
        series_styles(names)[standing.model].colour for standing in three.standings[:2]
    )

    def has(png: bytes, colour: str) -> bool:
        seen = (_pixels(png)[:, :, :3] * 255).round().astype(int)
        return bool((abs(seen - list(bytes.fromhex(colour[1:]))).sum(axis=2) == 0).any())

    apart, level = (_picture(leading(three, level=n), "ratings.png") for n in (1, 2))
    assert has(apart, first)
    assert has(apart, second)
    assert has(level, first)
    assert has(level, second)


def test_arenas_without_a_finite_rating_can_be_drawn():
    files = ("elo.png" if file == "ratings.png" else file for file in _FILES)
    assert all(_size(_picture(swept(n=15), file)) for file in files)


def test_names_with_dollars_and_unknown_signs_are_drawn_as_they_are():
    odd = judged({"$\\frac{$ \U0001f600\n名": 1100.0, "plain": 1000.0}, n=12)
    assert _size(_picture(odd, "ratings.png"))


# ---------------------------------------------------------------- multiple choice


def _accuracy_png(summaries, language: Language) -> bytes:
    return dict(pictures(overview_blocks(summaries, language)))["accuracy.png"]


def heat_map_png(
    summary: Summary, language: Language = "en", *, title: str = "", colour: str = COLOURS[0]
) -> bytes:
    made = {"confusion": choices.confusion, "positions": choices.positions}
    rows = answered(lambda name: pd.DataFrame(made[name]([summary])))
    png = draw_png(titled(answers(rows, messages(language), colour=colour), title))
    assert png
    return png


@chinese
def test_chinese_pictures_of_choices_have_every_glyph(two):
    # A missing glyph is a warning of matplotlib's, and warnings are errors here.
    named = [replace(two[0], cell=replace(two[0].cell, model="通义千问")), two[1]]
    assert _accuracy_png(named, "zh").startswith(b"\x89PNG")
    assert heat_map_png(two[1], "zh", title="通义千问").startswith(b"\x89PNG")


def test_the_marks_of_the_lead_table_are_a_picture_with_its_finding(two, texts):
    _accuracy_png(two, "en")
    shown = texts()
    assert shown[0].startswith("No model loses over 1 in 20")
    assert "guessing 25 %, solid 0.4 %" in shown


def test_the_marks_of_pairs_are_a_picture_with_their_names(two, texts):
    (found,) = comparisons(two)
    blocks = statistics_blocks(two, found, "en")
    assert _size(dict(pictures(blocks[:1]))["differences.png"])
    assert {"sure − fond", "no difference"} <= set(texts())


def test_the_heat_map_prints_every_share(two, texts):
    heat_map_png(two[1], title="fond: Picks A 62 %")
    shown = texts()
    assert shown[0] == "fond: Picks A 62 %"
    assert shown.count("50 %") == 6
    assert shown.count("0 %") == 9 + 4  # off the column and the diagonal, and none unreadable
    assert "chance 25 %" in shown


def test_ties_have_a_column_of_their_own(make_result, texts):
    tied = summarise(make_result({f"q{i}": ["tie", 0, 0, 0] for i in range(4)}))
    heat_map_png(tied)
    assert "tied" in texts()


def test_few_questions_are_grey(make_result):
    few = summarise(make_result({f"q{i}": [0, 0, 0, 0] for i in range(20)}))
    many = summarise(make_result({f"q{i}": [0, 0, 0, 0] for i in range(40)}))

    def blueness(png: bytes) -> int:
        red, _, blue = (_pixels(png)[..., channel] for channel in range(3))
        return int((blue > red + 0.15).sum())

    grey, blue = (heat_map_png(each, colour="#D55E00") for each in (few, many))
    assert blueness(grey) < blueness(blue) / 10


# ---------------------------------------------------------------- every kind


@pytest.mark.parametrize(
    ("draw", "printed"),
    [
        (drawn_heat_map, {"rows", "columns", "90 %", "80–100", "beside", "it", "below it", "–"}),
        (drawn_strips, {"second", "100 %", "share", "least"}),
        (drawn_lines, {"line", "questions", "share", "a note", "40", "even"}),
        (drawn_panels, {"first", "n = 3", "second", "n = 4", "a model", "40 %"}),
    ],
)
def test_every_kind_of_figure_can_be_a_picture(draw: Any, printed: set[str], texts):
    assert _size(draw_png(titled(draw(), "A title", "And more.")) or b"")[0] > 0
    assert texts()[:2] == ["A title", "And more."]
    assert printed <= set(texts())


def test_names_wider_than_the_paper_leave_the_plot_its_room(figures):
    draw_png(titled(drawn_strips("a model of a very long name " * 8), "A title"))
    (plot,) = figures[0].axes
    assert plot.bbox.width >= 200
    assert plot.bbox.x1 <= figures[0].bbox.x1


def test_no_text_of_a_picture_leaves_it():
    drawn = [draw() for draw in (drawn_heat_map, drawn_strips, drawn_lines, drawn_panels)]
    drawn.append(drawn_heat_map("a very long text of a model that fits nowhere"))
    for figure in drawn:
        made = picture(titled(figure, "A title"))
        tight = made.get_tightbbox()
        png = draw_png(titled(figure, "A title"))
        assert png
        wide, high = (dots / 150 for dots in _size(png))
        assert wide >= tight.width - 0.02
        assert high >= tight.height - 0.02


def test_panels_have_columns_of_one_width(figures):
    # Of some panels the longest rate is "0", of others "100".
    _picture(scattered(judged(n=160), 30), "by_capa.png")
    plots = figures[0].axes
    assert len({(round(plot.bbox.width), plot.get_xlim()) for plot in plots}) == 1
