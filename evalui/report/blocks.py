"""What a written report is made of, and its form as Markdown; `html` gives it the form of a page.

Blocks hold plain text: whatever form they are given has to keep foreign text from becoming markup.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalui.report.charts.theme import Theme

NONE = "–"  # a table's cell that has nothing to say


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; `level` 1 is that of the report."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text on its own. A `strong` one says what the figures show."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """Texts below each other; `signatures` are signatures, not sentences."""

    texts: tuple[str, ...]
    signatures: bool = False


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of cells under a head, all of one length."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture beside the report, called `file`; `alt` says what it shows.

    `draw` makes the PNG, for a light or a dark page.
    """

    file: str
    alt: str
    draw: Callable[[Theme], bytes]


Block = Heading | Paragraph | Bullets | ReportTable | Picture


def as_markdown(blocks: Sequence[Block]) -> str:
    """The blocks as a Markdown file."""
    return "\n\n".join(text for block in blocks if (text := _block_markdown(block))) + "\n"


def escaped(text: str) -> str:
    """Foreign text that stays text in Markdown and in HTML, on one line."""
    flat = re.sub(r"\s+", " ", text).strip()
    marked = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", flat)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _block_markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {escaped(block.text)}"
        case Paragraph():
            return f"**{escaped(block.text)}**" if block.strong else escaped(block.text)
        case Bullets():
            form = _code_span if block.signatures else escaped
            return "\n".join(f"- {form(text)}" for text in block.texts)
        case ReportTable():
            rule = "|" + " --- |" * len(block.head)
            return "\n".join([_row(block.head), rule, *map(_row, block.rows)])
        case Picture():
            return f"![{escaped(block.alt)}]({block.file})"


def _code_span(text: str) -> str:
    return f"`{text.replace('`', '')}`"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
