"""The same blocks on the screen, in a file, as Markdown, as JSON and as pictures."""

import json
import re

import pytest
from chart_examples import layout_of, traces_of

from evalui.report.axes import Axis
from evalui.report.blocks import (
    Bullets,
    Card,
    Column,
    Details,
    Heading,
    Headline,
    Link,
    Links,
    ModelCell,
    NoteLine,
    Notes,
    Paragraph,
    PlotCell,
    PlotMark,
    Table,
    ValueCell,
)
from evalui.report.render.json import as_json
from evalui.report.render.markdown import as_markdown
from evalui.report.render.page import render_blocks
from evalui.report.render.pictures import pictures, table_figure

_PLOT = Table(
    (
        Column("Model"),
        Column("Picture", axis=Axis(0, 100, (0, 100), ("0", "100")), rule=(25, "guessing")),
        Column("Accuracy", right=True),
    ),
    (
        (
            ModelCell("good|one", 2),
            PlotCell((PlotMark(58, 51, 64), PlotMark(66, hollow=True)), 2),
            ValueCell("58", "%", "51–64"),
        ),
    ),
    lead=True,
    file="accuracy.png",
)
BLOCKS = (
    Heading(1, "Midterm"),
    Headline("good wins.", "Cloze agrees.", lead="Fair judge.", kind="warn"),
    Card((_PLOT,), title="Right answers", caption="n = 240."),
    Details("sure", "How sure is this?", "Very.", (Paragraph("The gap is 30."),)),
    Details(
        "know",
        "What to know (1)",
        "29 unreadable.",
        (Notes((NoteLine("warn", "29 unreadable.", "good", Link("Read them", "?q=1")),)),),
        kind="warn",
    ),
    Links((Link("Export", "export"),)),
    Bullets(("a|b",), signatures=True),
)


@pytest.fixture(scope="module")
def screen():
    return render_blocks(BLOCKS)


@pytest.fixture(scope="module")
def text():
    return as_markdown(BLOCKS)


def test_sections_that_fold_share_one_frame(screen):
    assert screen.count('class="disc"') == 1
    assert screen.count("<details") == 3
    assert "<details open" not in screen


def test_a_closed_section_says_its_finding(screen):
    summary = screen.partition('<details id="sure">')[2].partition("</summary>")[0]
    assert "How sure is this?" in summary
    assert "Very." in summary


def test_a_section_that_comes_again_has_an_id_of_its_own():
    twice = render_blocks((BLOCKS[3], BLOCKS[3]), suffix="-written")
    assert re.findall(r'id="([^"]+)"', twice) == ["sure-written", "sure-written-2"]


def test_a_file_folds_nothing_and_links_nowhere():
    page = render_blocks(BLOCKS, filed=True)
    assert page.count("<details id=") == page.count(" open>") == 2
    assert "<a" not in page


def test_a_warning_has_its_icon(screen):
    support = screen.partition('class="support"')[2].partition("</p>")[0]
    assert '<span class="warn"><svg' in support
    assert "<b>Fair judge.</b> Cloze agrees." in support


def test_markdown_has_the_figures_without_the_marks(text):
    assert "| Model | Accuracy |" in text
    assert r"| good\|one | 58 % (51–64) |" in text
    assert "![Right answers](accuracy.png)" in text


def test_markdown_opens_what_is_folded(text):
    assert "### How sure is this?\n\nVery.\n\nThe gap is 30." in text or (
        "## How sure is this?\n\nVery.\n\nThe gap is 30." in text
    )
    assert "- good: 29 unreadable." in text


def test_json_says_all_that_the_screen_says():
    made = json.loads(json.dumps(as_json(BLOCKS)))
    assert [block["type"] for block in made[:3]] == ["heading", "headline", "card"]
    assert made[2]["blocks"][0]["rows"][0][2]["range"] == "51–64"


def test_the_plot_of_a_table_is_a_chart_of_its_own():
    figure = table_figure(_PLOT)
    traces = [each for each in traces_of(figure) if each["mode"] == "markers"]
    marks = [(each["x"], each["marker"]["line"]["width"]) for each in traces]
    assert marks == [([66], 2), ([58], 0)]  # the hollow one lies below
    assert layout_of(figure)["shapes"][-1]["x0"] == 25


def test_pictures_are_named_as_in_markdown(text):
    ((name, png),) = pictures(BLOCKS)
    assert f"({name})" in text
    assert png.startswith(b"\x89PNG")


def test_long_names_are_shortened_on_a_page_and_whole_in_their_titles_and_in_text():
    name = "a-model-with-a-name-of-more-than-thirty-two-characters"
    pair = Table((Column(name), Column("Model")), ((f"{name} − b", ModelCell(f"{name} 2")),))
    blocks = (Headline(f"{name} wins."), Card((pair,), title=name))
    page = render_blocks(blocks)
    assert page.count("a-model-with-a-n…-two-characters</span>") == 4
    assert page.count(f'title="{name}"') == 4
    assert f'<span title="{name} 2">a-model-with-a-n…wo-characters 2</span>' in page
    assert f"**{name} wins.**" in as_markdown(blocks)
    assert "…" not in as_markdown(blocks)
