"""What a page and a report are made of: `render` writes it for the screen, as files and as JSON.

Blocks hold plain text: a renderer has to keep foreign text from becoming markup. Addresses of
links are those of the page, "?run=..."; files have no links.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

from evalui.pictures import Picture
from evalui.report.axes import Axis
from evalui.types import Cell, Language

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

NONE = "–"  # a table's cell that has nothing to say

Kind = Literal["ok", "warn", "bad", "na"]
"""How serious a state is; it is drawn as an icon, and never as a colour alone."""

# A cell that holds a figure, and so belongs to the right.
_FIGURE = re.compile(r"[+−-]?(US\$ )?[\d.]|N/A$|–$|< 0")


# ---------------------------------------------------------------- cells of a table


@dataclass(frozen=True, slots=True)
class TextCell:
    """A text with a small line below it; `href` makes it a link on the page."""

    text: str
    below: str = ""
    strong: bool = False
    href: str = ""


@dataclass(frozen=True, slots=True)
class ValueCell:
    """A figure with its unit and its plausible range, and a small line below.

    `size` is "lead" for the figure that ranks, "large" for others of a lead table, else "row".
    """

    value: str
    unit: str = ""
    range: str = ""
    below: str = ""
    size: Literal["lead", "large", "row"] = "row"
    strong: bool = True


@dataclass(frozen=True, slots=True)
class ModelCell:
    """A model with the marker of its place (from 0) in the run; baselines are grey diamonds."""

    name: str
    place: int = 0
    baseline: bool = False
    below: str = ""

    def marked(self, *marks: "PlotMark", text: str = "") -> "PlotCell":
        """Its marks on the axis of a column, with its marker."""
        return PlotCell(marks, self.place, self.baseline, text)


@dataclass(frozen=True, slots=True)
class Markers:
    """The models of a run in its order, which decides their markers; baselines take no place."""

    models: Sequence[str]
    baselines: Collection[str] = ()

    def place(self, name: str) -> int:
        """The place of a model among those that are no baselines, from 0."""
        own = [model for model in self.models if model not in self.baselines]
        return own.index(name) if name in own else 0

    def cell(self, name: str, below: str = "") -> ModelCell:
        """A model as it stands in a table."""
        return ModelCell(name, self.place(name), name in self.baselines, below)


@dataclass(frozen=True, slots=True)
class StateCell:
    """A state as icon and word, with a small line below."""

    kind: Kind
    word: str
    below: str = ""


@dataclass(frozen=True, slots=True)
class PlotMark:
    """A value with its range on the axis of its column; `hollow` marks stand beside a solid one."""

    value: float
    low: float | None = None
    high: float | None = None
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class PlotCell:
    """Marks of one model on the axis of the column, joined by a line; its `text` for readers.

    `grey` is a range behind the marks, of what cannot be seen.
    """

    marks: tuple[PlotMark, ...]
    place: int = 0
    baseline: bool = False
    text: str = ""
    grey: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class BarCell:
    """A thin bar filled to `share` (0 to 1) with its text beside it."""

    share: float
    text: str
    place: int | None = None  # of the model whose colour it has


@dataclass(frozen=True, slots=True)
class PictureCell:
    """A text beside a small picture, which a page has inside itself; `words` stand for that
    elsewhere.
    """

    text: str
    picture: Picture
    words: str

    @property
    def address(self) -> str:
        """The picture as an address."""
        body = b64encode(self.picture.body).decode()
        return f"data:{self.picture.media_type};base64,{body}"


TableCell = str | TextCell | ValueCell | ModelCell | StateCell | PlotCell | BarCell | PictureCell


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column: `group` stands above all neighbours that share it.

    `axis` makes it a column of `PlotCell`s, with a dashed line at the value of `rule` under its
    text. `rank` is the column of ranks, `lead` the one that they rest on; `faint` ones are not
    the ones to read; `width` is in pixels, 0 for as much as there is. `href` is the address of the
    page with rows in the order of this column, `order` the one they have by it.
    """

    head: str
    group: str = ""
    right: bool = False
    rank: bool = False
    lead: bool = False
    faint: bool = False
    width: int = 0
    axis: Axis | None = None
    rule: tuple[float, str] | None = None
    href: str = ""
    order: Literal["ascending", "descending", ""] = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under their columns.

    A `lead` table is chart and table in one, with rows of 64 pixels. `selected` are rows that
    stand out. `file` names the picture of its plot among the files of a report.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    lead: bool = False
    selected: frozenset[int] = frozenset()
    file: str = ""

    @property
    def head(self) -> tuple[str, ...]:
        """The heads of the columns."""
        return tuple(column.head for column in self.columns)


def text_table(heads: Sequence[str], rows: Sequence[Sequence[TableCell]]) -> Table:
    """A table whose columns of figures are found by what stands in them."""
    columns = tuple(
        Column(head, right=place > 0 and bool(rows) and all(_is_figure(row[place]) for row in rows))
        for place, head in enumerate(heads)
    )
    return Table(columns, tuple(map(tuple, rows)))


def _is_figure(cell: TableCell) -> bool:
    if isinstance(cell, ValueCell):
        return True
    return isinstance(cell, str) and bool(_FIGURE.match(cell))


# ---------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; `level` 1 is that of the report."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Headline:
    """The one sentence that answers, and up to two short ones that support it.

    `lead` is the bold beginning of the support; `kind` gives it the icon of a warning.
    """

    text: str
    support: str = ""
    lead: str = ""
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text on its own: a `strong` one says what figures show, a `small` one how they are made."""

    text: str
    strong: bool = False
    small: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """Texts below each other; `signatures` are signatures, not sentences."""

    texts: tuple[str, ...]
    signatures: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the page; `download` is one to a file, `current` one to what is shown."""

    text: str
    href: str
    download: bool = False
    current: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """Where links lead: to pages of one run, by the ids of its `cells` in an address.

    `repeat` is the form that starts the run again, `examples` the same with worked examples, and
    `sample` where the shipped sample starts; "" where the reader, or the files, cannot.
    """

    run: str
    cells: Mapping[Cell, int] = field(default_factory=dict[Cell, int])
    repeat: str = ""
    examples: str = ""
    sample: str = ""

    def view(self, sub: str, **more: str) -> str:
        """The address of a view of the run, with what decides what it shows."""
        return "results?" + urlencode({"run": self.run, "sub": sub} | more)

    def samples(self, cell: Cell, **filters: str) -> str:
        """The address of the questions of a cell."""
        return self.view("samples", cell=str(self.cells.get(cell, "")), **filters)

    def file(self, extension: str, language: Language) -> str:
        """The address of the run as a file."""
        return f"../export/{self.run}.{extension}?lang={language}"


@dataclass(frozen=True, slots=True)
class Links:
    """Buttons that lead on; files of a report have none."""

    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One thing to know: of whom, what, and where to read more."""

    kind: Kind
    text: str
    subject: str = ""
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Notes:
    """Things to know, the most serious first."""

    lines: tuple[NoteLine, ...]


@dataclass(frozen=True, slots=True)
class ChartBlock:
    """A chart under its title; `file` names its picture among the files of a report, "" if none.

    The figure is drawn when it is wanted: a file of words needs none. `caption` says how to read
    it. `alt` is for who cannot see it, else the title is.
    """

    file: str
    title: str
    draw: "Callable[[], Figure]" = field(repr=False, compare=False)
    caption: str = ""
    alt: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """Blocks in one frame under their title; `aside` is small and stands beside it."""

    blocks: "tuple[Block, ...]"
    title: str = ""
    caption: str = ""
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Details:
    """A section that is folded on the page; its `finding` is read without opening it.

    `name` is what it is about, `key` its place in the address ("#by-subject").
    """

    key: str
    name: str
    finding: str
    blocks: "tuple[Block, ...]"
    kind: Kind | None = None
    open: bool = False


Block = (
    Heading | Headline | Paragraph | Bullets | Links | Notes | Table | ChartBlock | Card | Details
)
