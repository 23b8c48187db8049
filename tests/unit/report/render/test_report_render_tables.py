import re

from evalui.report.axes import Axis
from evalui.report.blocks import (
    BarCell,
    Column,
    ModelCell,
    PlotCell,
    PlotMark,
    StateCell,
    Table,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.render.tables import render_table

_AXIS = Axis(0, 100, (0, 50, 100), ("0", "50", "100 %"))


def _lead(*marks, rule=None, baseline=False):
    columns = (
        Column("Rank", rank=True, width=56),
        Column("Model"),
        Column("Accuracy", axis=_AXIS, rule=rule),
        Column("As written", group="Multiple choice", lead=True),
    )
    row = (
        "–" if baseline else "1",
        ModelCell("good", 1, baseline=baseline),
        PlotCell(marks, 1, baseline=baseline, text="58 %, 51–64"),
        ValueCell("58", "%", "51–64", size="lead"),
    )
    return render_table(Table(columns, (row,), lead=True))


def test_marks_stand_at_their_part_of_the_axis():
    page = _lead(PlotMark(58, 50, 60), PlotMark(66, 60, 72, hollow=True))
    assert "left:50.00%;width:10.00%" in page
    assert "left:58.00%;width:8.00%" in page  # the line that joins them
    hollow, solid = re.findall(r'<span style="left:([\d.]+)%">', page)
    assert (hollow, solid) == ("66.00", "58.00")


def test_marks_beyond_the_axis_stand_at_its_end():
    assert 'style="left:100.00%"><svg' in _lead(PlotMark(140))


def test_a_rule_is_drawn_and_named():
    page = _lead(PlotMark(58), rule=(25, "guessing 25 %"))
    assert '<i class="ch" style="left:25.00%">' in page
    assert '<em style="left:25.00%">guessing 25 %</em>' in page


def test_marks_have_their_words_for_who_cannot_see_them():
    assert '<span class="hidden">58 %, 51–64</span>' in _lead(PlotMark(58))


def test_the_model_names_its_row():
    page = _lead(PlotMark(58))
    assert re.search(r'<th scope="row" class="c-md"[^>]*>.*good', page)
    assert page.count('scope="row"') == 1


def test_what_has_no_rank_is_grey():
    assert 'class="rk no"' in _lead(PlotMark(0), baseline=True)
    assert "var(--d0)" in _lead(PlotMark(0), baseline=True)


def test_neighbours_share_the_head_of_their_group():
    columns = tuple(Column(head, group=group) for group, head in ("a1", "a2", "b3"))
    page = render_table(Table(columns, (("1", "2", "3"),)))
    assert re.findall(r'<th colspan="(\d)">(\w)</th>', page) == [("2", "a"), ("1", "b")]


def test_figures_stand_at_the_right_and_names_at_the_left():
    rows = [("law", "12", ValueCell("58", "%")), ("art", "–", ValueCell("3", "%"))]
    assert [c.right for c in text_table(("a", "n", "v"), rows).columns] == [False, True, True]


def test_a_link_of_the_screen_is_text_in_a_file():
    table = text_table(("Question",), [(TextCell("q<1>", href="?q=1"),)])
    assert '<a href="?q=1">q&lt;1&gt;</a>' in render_table(table)
    assert "q&lt;1&gt;" in render_table(table, linked=False)
    assert "<a" not in render_table(table, linked=False)


def test_states_and_bars_have_words():
    table = text_table(("a", "b"), [(StateCell("warn", "Slight", "picks A"), BarCell(2.0, "64"))])
    page = render_table(table)
    assert "Slight" in page
    assert "picks A" in page
    assert "width:100.0%" in page
