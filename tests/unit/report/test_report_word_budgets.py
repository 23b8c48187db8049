"""How many words a reader meets before an answer: counted over the blocks of many runs.

In English a word is what stands between spaces and has a letter or a digit: "58 %" is one. In
Chinese two characters count as one word, and so does each run of Latin letters and digits.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from bias_page_examples import BIAS_PAGES
from comparison_examples import CASES, comparison_page, voted_page
from overview_examples import RUNS, page

from evalui.report.blocks import Block, Card, Details, Headline, Table
from evalui.report.render.json import JsonBlock, as_json
from evalui.types import Language

VERDICT, SUPPORT, TITLE, CAPTION, CLOSED, CELL, BUTTON, WARNING = 16, 16, 14, 20, 14, 6, 3, 18
FIRST_FIGURE = 25  # words of the page before it

# The blocks of a run in a language, by what the run shows. Add yours.
PAGES: Mapping[str, Callable[[Language], Sequence[Block]]] = {
    **{name: (lambda language, name=name: page(name, language)) for name in RUNS},
    **{
        f"compare, {name}": (lambda language, name=name: comparison_page(name, language))
        for name in CASES
    },
    "people": lambda language: voted_page(language),
    **BIAS_PAGES,
}

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(
    r"[^\u4e00-\u9fff\s，。：；（）、“”]*[A-Za-z0-9][^\u4e00-\u9fff\s，。：；（）、“”]*"
)


def words(text: str, language: Language) -> int:
    """The words of a text, see above."""
    if language == "zh":
        latin = _LATIN.findall(text)
        return math.ceil(len(_CHINESE.findall(text)) / 2) + len(latin)
    return sum(any(sign.isalnum() for sign in token) for token in text.split())


def pieces(blocks: Sequence[JsonBlock]) -> Iterator[tuple[str, int, str]]:
    """Each text of the blocks that has a budget: what it is, its budget, itself."""
    for block in blocks:
        match block["type"]:
            case "headline":
                yield "verdict", VERDICT, block["text"]
                yield "support", SUPPORT, f"{block['lead']} {block['support']}"
            case "card":
                yield "title", TITLE, block["title"]
                yield "caption", CAPTION, block["caption"]
                yield from pieces(block["blocks"])
            case "details":
                yield "closed line", CLOSED, block["finding"]
                yield from pieces(block["blocks"])
            case "chartblock":
                yield "title", TITLE, block["title"]
                yield "caption", CAPTION, block["caption"]
            case "links":
                yield from (("button", BUTTON, link["text"]) for link in block["links"])
            case "notes":
                yield from (("warning", WARNING, line["text"]) for line in block["lines"])
            case "table" if block["lead"]:
                cells = (cell for row in block["rows"] for cell in row if isinstance(cell, dict))
                yield from (("small line", CELL, cell.get("below", "")) for cell in cells)
            case _:
                pass


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", PAGES)
def test_no_text_has_more_words_than_its_place_allows(name: str, language: Language):
    over = [
        (kind, words(text, language), text)
        for kind, budget, text in pieces(as_json(PAGES[name](language)))
        if words(text, language) > budget
    ]
    assert over == []


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "name", [name for name in PAGES if name not in ("two datasets", "nothing")]
)
def test_the_first_figure_comes_early(name: str, language: Language):
    before = ""
    for text in _in_order(PAGES[name](language)):
        found = re.search(r"\d", text.replace(name, ""))
        if found:
            assert words(before + " " + text[: found.start()], language) <= FIRST_FIGURE
            return
        before += " " + text
    pytest.fail("the page has no figure")


def _in_order(blocks: Sequence[Block]) -> Iterator[str]:
    """What is read, from the top: of the models their names are left out."""
    for block in blocks:
        match block:
            case Headline():
                yield re.sub(r"\S*\d\S*[A-Za-z]\S*|\S*[A-Za-z]\S*\d\S*", "model", block.text)
                yield block.support
            case Card():
                yield block.title
                yield block.caption
                yield from _in_order(block.blocks)
            case Table():
                yield " ".join(block.head)
            case Details():
                yield block.finding
            case _:
                pass


@pytest.mark.parametrize(
    ("text", "language", "counted"),
    [
        ("demo-late wins: 58 % right in every option order.", "en", 8),
        ("picks A 28 %, fair is 25", "en", 6),
        ("最好的 late 答对 28 %（22–33）。", "zh", 6),
    ],
)
def test_words_are_counted_as_stated(text: str, language: Language, counted: int):
    assert words(text, language) == counted
