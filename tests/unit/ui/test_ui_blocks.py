"""Blocks of documents as components: which one each becomes, and that foreign text stays text."""

from functools import partial
from typing import Any

import pytest
from ui_layout import laid_out

from evalui.messages import messages
from evalui.report.axes import Axis
from evalui.report.blocks import (
    NONE,
    BarCell,
    Block,
    Bullets,
    Card,
    ChartBlock,
    Column,
    Details,
    Headline,
    Link,
    Links,
    ModelCell,
    NoteLine,
    Notes,
    Paragraph,
    PlotCell,
    PlotMark,
    StateCell,
    Table,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.figures.plots import Cells, heat_map
from evalui.ui.blocks import show
from evalui.ui.components.data_table import plain_value

HOSTILE = "<img src=x onerror=alert(1)>${alert(2)}{{value}} \\underline{x}"
_AXIS = Axis(0, 100, (0, 50, 100), ("0", "50", "100 %"))


def components(*blocks: Block, **settings: Any) -> list[dict[str, Any]]:
    """What Gradio is told of the components of blocks, in their order."""
    made = laid_out(lambda: show(messages("en"), blocks, scope="page", **settings))
    _, layout = made
    return layout.config["components"]


def markup(*blocks: Block, **settings: Any) -> str:
    """All markup of the components of blocks."""
    return "".join(
        each["props"]["value"] for each in components(*blocks, **settings) if each["type"] == "html"
    )


def rows(n: int, *cells: Any) -> Table:
    """A table of so many equal rows."""
    return text_table([f"head {place}" for place, _ in enumerate(cells)], [cells] * n)


def test_what_holds_no_others_is_a_component_each():
    blocks = (
        Headline("a wins", "by far", lead="Yes.", kind="warn"),
        Paragraph("why"),
        Notes((NoteLine("warn", "unread", "a", Link("Read them", "?sub=samples")),)),
        Links((Link("CSV", "../export/1.csv", download=True),)),
        Bullets(("set@1 · n:12",), signatures=True),
    )
    assert [each["type"] for each in components(*blocks)] == ["html"] * 5
    shown = markup(*blocks)
    assert "<h1>a wins</h1>" in shown
    assert '<a href="?sub=samples">Read them</a>' in shown
    assert '<a href="../export/1.csv" download class="btn">CSV</a>' in shown
    assert "<h2>a wins</h2>" in markup(blocks[0], titled=True)


def test_empty_blocks_are_no_components():
    assert not components(Paragraph(""), Bullets(()))


def test_a_table_is_html_while_it_is_read_at_a_glance_and_with_a_plot():
    plotted = Table((Column("Accuracy", axis=_AXIS),), ((PlotCell((PlotMark(5),)),),) * 20)
    assert [each["type"] for each in components(rows(8, "a", "1"))] == ["html"]
    assert [each["type"] for each in components(rows(9, "a", "1"))] == ["dataframe"]
    shown = components(plotted)
    assert [each["type"] for each in shown] == ["html"]
    assert "copy-image" in shown[0]["props"]["value"]


def test_a_long_table_is_sorted_by_plain_values_and_shows_links_and_ranges():
    cells = (TextCell("law", href="?q=1"), ValueCell("1,058", "%", "51–64"))
    table = components(rows(9, *cells))[0]["props"]
    assert table["value"]["data"][0] == ["law", 1058.0]
    shown = table["value"]["metadata"]["display_value"][0]
    assert '<a href="?q=1">law</a>' in shown[0]
    assert "1,058" in shown[1]
    assert "51–64" in shown[1]
    assert table["interactive"] is False
    assert table["pinned_columns"] == 1
    assert table["buttons"] == ["copy", "fullscreen"]
    assert "right-2" in table["elem_classes"]


def numbered(n: int, *, rows: int = 9) -> Table:
    """A table of so many columns, each with its number from 1 in its cells."""
    cells = tuple(str(place) for place in range(1, n + 1))
    columns = tuple(Column(f"head {place}", href=f"?sort={place}#part") for place in cells)
    return Table(columns, (cells,) * rows)


@pytest.mark.parametrize("n", [8, 30])
def test_all_columns_of_a_wide_table_are_shown(n):
    (table,) = components(numbered(n))
    assert table["props"]["value"]["data"][0] == list(range(1, n + 1))
    shown = markup(numbered(n, rows=2))
    assert shown.count('<th scope="col"') == n
    assert 'href="?sort=2#part"' in shown


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("−3.2", -3.2),
        ("+17", 17.0),
        (NONE, None),
        ("", None),
        ("< .001", "< .001"),
        (ValueCell("US$ 3"), "US$ 3"),
        (TextCell("law"), "law"),
        (ModelCell("late"), "late"),
        (StateCell("warn", "Slight"), "Slight"),
        (BarCell(0.4, "40 %"), 0.4),
        (PlotCell((), text="58"), 58.0),
    ],
)
def test_cells_have_plain_values(cell, value):
    assert plain_value(cell) == value


def test_a_section_is_an_accordion_whose_label_states_its_finding():
    blocks = (
        Details("by-subject", "By subject", "none stands out", (Paragraph("a"),), kind="warn"),
        Details(
            "by-subject", "Again", "", (Card((Paragraph("b"),), "A card", "of it"),), open=True
        ),
    )
    folds = [each for each in components(*blocks, suffix="-2") if each["type"] == "accordion"]
    assert [each["props"]["label"] for each in folds] == [
        "By subject\u2003none stands out",
        "Again\u2003",
    ]
    assert [each["props"]["elem_id"] for each in folds] == ["by-subject-2", "by-subject-2-2"]
    assert [each["props"]["open"] for each in folds] == [False, True]
    assert folds[0]["props"]["elem_classes"] == ["fold", "warn"]
    assert "<h2>A card</h2>" in markup(*blocks)


def test_a_chart_has_its_figure_and_the_same_cells_as_links():
    cells = Cells([[0.5]], "share", texts=[["50 %"]], told=[["half"]], hrefs=[["?q=1"]])
    draw = partial(heat_map, [cells], ["A"], ["B"], row_height=40)
    shown = markup(ChartBlock("", "Picks", draw, "How to read it"))
    assert "data-figure=" in shown
    assert '<a href="?q=1">half</a>' in shown
    assert 'aria-label="Picks"' in shown


def test_what_is_drawn_anew_takes_the_place_of_what_was():
    before = components(Paragraph("a"), rows(9, "x", "1"), Paragraph("b"))
    after = components(Paragraph("c"), rows(12, "x", "1"), Paragraph("d"))
    assert [each["key"] for each in before] == [each["key"] for each in after]
    assert len({each["key"] for each in before}) == 3


def test_foreign_text_stays_text():
    cells = Cells([[0.5]], "share", texts=[[HOSTILE]], told=[[HOSTILE]])
    draw = partial(heat_map, [cells], [HOSTILE], [HOSTILE], row_height=40)
    blocks = (
        Headline(HOSTILE, HOSTILE, lead=HOSTILE),
        Paragraph(HOSTILE),
        Bullets((HOSTILE,)),
        Notes((NoteLine("na", HOSTILE, HOSTILE),)),
        Card((rows(2, HOSTILE),), HOSTILE, HOSTILE, HOSTILE),
        rows(9, TextCell(HOSTILE, HOSTILE), ModelCell(HOSTILE), StateCell("ok", HOSTILE)),
        ChartBlock("", HOSTILE, draw, HOSTILE),
        Details("key", HOSTILE, HOSTILE, (Paragraph(HOSTILE),)),
    )
    for each in components(*blocks):
        props = each["props"]
        if each["type"] == "html":
            # Only the value holds foreign text: templates and scripts would run what is in it.
            assert props["html_template"] == "${value}"
            assert not props.get("js_on_load")
            assert "<img" not in props["value"]
        if each["type"] == "dataframe":
            shown = props["value"]["metadata"]["display_value"]
            assert "<img" not in str(shown)
            assert "&lt;img" in str(shown)
