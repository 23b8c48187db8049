"""What a written report is made of; `render` writes it as Markdown and as a page.

Blocks hold plain text: a renderer has to keep foreign text from becoming markup.
"""

from collections.abc import Callable
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
