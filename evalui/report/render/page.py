"""Blocks as HTML: a part of the screen, or one page for itself.

The page for itself loads nothing, runs nothing but what draws its charts, is light or dark as its
reader wishes, and can be printed; what is folded on the screen is open there, and links of the
screen are plain text. Without scripts the charts are tables.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from plotly.io.json import to_json_plotly  # pyright: ignore[reportUnknownVariableType]

from evalui.messages import Messages, messages
from evalui.report.blocks import (
    Block,
    Bullets,
    Card,
    ChartBlock,
    Details,
    Heading,
    Headline,
    Links,
    Notes,
    Paragraph,
    PictureCell,
    Table,
    TableCell,
)
from evalui.report.figures.plots import WIDE
from evalui.report.figures.tables import figure_tables
from evalui.report.html import Html
from evalui.report.markup import fill, macro
from evalui.report.render.tables import render_table
from evalui.report.render.text import cell_text, merged_signature
from evalui.shipped_files import ASSETS
from evalui.types import Language

# Plotly for heat maps, lines and bars, and what draws charts with it.
CHART_SCRIPTS = ("js/plotly-cartesian.min.js", "js/charts.js")
PAGE_PICTURE_BYTES = 2 * 2**20  # of the small pictures in a page, as it holds them
_HEIGHT = 400  # pixels of a chart that states none
# The style sheets that the screen has too, then that of a page for itself.
_SHEETS = ("css/tokens.css", "css/parts.css", "css/blocks.css", "css/page.css")


def render_blocks(
    blocks: Iterable[Block],
    *,
    filed: bool = False,
    titled: bool = False,
    suffix: str = "",
) -> Html:
    """The blocks below each other, sections that fold in one frame.

    In a `filed` page nothing is folded, and no link leads to the screen. A page that is `titled`
    has its title elsewhere, and no headline is one. `suffix` ends the ids of sections where a page
    renders twice.
    """
    drawn = _Renderer(filed, suffix, headline="h2" if filed or titled else "h1")
    return drawn.blocks(blocks)


def as_page(blocks: Sequence[Block], language: Language) -> bytes:
    """The blocks as one HTML file with its pictures inside."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    main = macro("blocks.html", "main", render_blocks(_within_limit(blocks), filed=True))
    page = document(title, language, _style(), main)
    # A lone half of a surrogate pair, which a model may write, has no form in UTF-8.
    return page.encode(errors="backslashreplace")


def _within_limit(blocks: Iterable[Block]) -> list[Block]:
    """The blocks with as many small pictures as a page may have, and words for the others."""
    left = PAGE_PICTURE_BYTES

    def kept_cell(cell: TableCell) -> TableCell:
        nonlocal left
        left -= len(cell.address) if isinstance(cell, PictureCell) else 0
        return cell_text(cell) if isinstance(cell, PictureCell) and left < 0 else cell

    def kept(block: Block) -> Block:
        match block:
            case Table():
                rows = tuple(tuple(map(kept_cell, row)) for row in block.rows)
                return replace(block, rows=rows)
            case Card() | Details():
                return replace(block, blocks=tuple(map(kept, block.blocks)))
            case _:
                return block

    return [*map(kept, blocks)]


def document(
    title: str, language: Language, sheet: str, body: Html, *, indexed: bool = True
) -> str:
    """A page that loads nothing and runs nothing but our scripts of charts, whatever a model wrote.

    `sheet` is its style; one that is not `indexed` asks search engines to leave it alone.
    """
    return fill(
        "page.html",
        lang="zh-CN" if language == "zh" else "en",
        title=title,
        sheet=sheet,
        indexed=indexed,
        body=body,
        scripts=_chart_scripts() if "<ev-plot " in body else {},
        words=chart_words(messages(language)),
    )


def chart_words(t: Messages) -> Mapping[str, str]:
    """The words of the buttons of charts, as attributes of the page's body."""
    names = ("image", "data", "select", "zoom_in", "zoom_out", "reset")
    return {f"data-chart-{name.replace('_', '-')}": t(f"app.chart_{name}") for name in names}


@cache
def _chart_scripts() -> Mapping[str, str]:
    """Our scripts by what a page's policy allows them by; none says "</script>"."""
    scripts = [(ASSETS / Path(name)).read_text(encoding="utf-8") for name in CHART_SCRIPTS]
    return {b64encode(sha256(script.encode()).digest()).decode(): script for script in scripts}


@cache
def _style() -> str:
    return style(_SHEETS, dark="@media screen and (prefers-color-scheme: dark) { :root {\\1} }")


def style(sheets: Sequence[str], *, dark: str) -> str:
    """Style sheets as one, where `dark` says when the tokens of the dark theme, "\\1", hold.

    The screen has a switch with a script; a file follows what its reader's system prefers.
    """
    text = "\n".join((ASSETS / Path(name)).read_text(encoding="utf-8") for name in sheets)
    return re.sub(r"^\.dark \{([^}]*)\}", dark, text, flags=re.MULTILINE)


class _Renderer:
    def __init__(self, filed: bool, suffix: str, headline: str) -> None:
        self.filed = filed
        self.suffix = suffix
        self.headline = headline
        self._drawn: Counter[str] = Counter()

    def blocks(self, blocks: Iterable[Block]) -> Html:
        runs = groupby(blocks, lambda block: isinstance(block, Details))
        return _made("sections", [(folded, [*map(self.block, run)]) for folded, run in runs])

    def block(self, block: Block) -> Html:
        match block:
            case Card():
                return _made("card", block, self.blocks(block.blocks))
            case Details():
                name = self._id(block.key) if block.key else ""
                opened = block.open or self.filed
                return _made("details", block, name, opened, self.blocks(block.blocks))
            case Headline():
                return _made("headline", block, self.headline)
            case _:
                return render_block(block, filed=self.filed)

    def _id(self, key: str) -> str:
        """The place of a section in the address: its key, numbered where it comes again."""
        self._drawn[key] += 1
        number = self._drawn[key]
        return key + self.suffix + (f"-{number}" if number > 1 else "")


def render_block(
    block: Heading | Paragraph | Bullets | Links | Notes | Table | ChartBlock,
    *,
    filed: bool = False,
) -> Html:
    """A block that holds no others; of a `filed` page no link leads to the screen."""
    match block:
        case Heading():
            return _made("heading", block)
        case Paragraph():
            return _made("paragraph", block)
        case Bullets() if block.signatures and block.texts and not filed:
            return _made("signatures", block, merged_signature(block.texts))
        case Bullets():
            return _made("bullets", block)
        case Links():
            return Html("") if filed else _made("links", block)
        case Notes():
            return _made("notes", block, not filed)
        case Table():
            return render_table(block, linked=not filed)
        case ChartBlock():
            return _chart(block, linked=not filed)


def render_headline(block: Headline, level: str = "h1") -> Html:
    """The one sentence that answers, as a title."""
    return _made("headline", block, level)


def render_card_head(block: Card) -> Html:
    """The title of a card, what stands beside it, and its caption."""
    return _made("card_head", block)


def _chart(block: ChartBlock, *, linked: bool) -> Html:
    figure = cast("dict[str, Any]", block.draw().to_dict())
    size = (figure["layout"].get("width", WIDE), figure["layout"].get("height", _HEIGHT))
    return _made("chart", block, to_json_plotly(figure), *size, figure_tables(figure), linked)


def _made(name: str, *values: Any) -> Html:
    return macro("blocks.html", name, *values)
