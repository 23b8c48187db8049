"""Kinds of chart as plain data: heat maps, intervals and lines, with bars below them.

A description holds figures, texts and roles of colours and names no library; `figures` draws it
with Plotly, `png` as a picture. Texts are plain: a drawer escapes what could be markup. Rows are
numbered 0, 1, 2, … from the top.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from evalui.report.axes import Axis
from evalui.report.charts.theme import NEUTRAL, Scale, SeriesStyle, shorten_name

T = TypeVar("T")
Grid = Sequence[Sequence[T]]
Dash = Literal["solid", "dash", "dot"]


@dataclass(frozen=True, slots=True)
class Label:
    """A text of two parts; the first is bold. Each may have several lines."""

    strong: str = ""
    plain: str = ""


# ---------------------------------------------------------------- bars


@dataclass(frozen=True, slots=True)
class Bar:
    """One value at a place of the first axis."""

    x: float
    value: float
    label: Label
    hover: str
    colour: str = NEUTRAL


@dataclass(frozen=True, slots=True)
class Level:
    """A dotted line across bars; its text stands from `x` on."""

    value: float
    text: str
    x: float


@dataclass(frozen=True, slots=True)
class Bars:
    """Values side by side below another chart, whose first axis they share.

    `width` is that of a bar in units of the first axis. With `foot` the labels stand below the
    bars, else above them.
    """

    bars: Sequence[Bar]
    axis: Axis
    levels: Sequence[Level] = ()
    width: float = 0.5
    opacity: float = 0.85
    foot: bool = False


# ---------------------------------------------------------------- heat maps


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a heat map that share a scale of colours, from the column `left` on.

    All grids have one shape: (rows, columns). A value None is no cell. `keys` tells the page which
    questions a cell counts.
    """

    values: Grid[float | None]
    scale: Scale
    low: float = 0.0
    high: float = 1.0
    text: Grid[Label] = ()
    hover: Grid[str] = ()
    keys: Grid[Sequence[int | str]] = ()
    left: float = 0.0


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Coloured cells of rows and columns; layers of another scale lie beside each other.

    `places` are those of the columns if not 0, 1, 2, …; `missing` are cells (row, column) with a
    dash. With `counted` rows and columns stand for 1, 2, 3, … and rows go upwards. `beside` are
    notes right of a row, `foot` is one below all. With a `key` there is one of the colours of the
    first layer, of that name.
    """

    rows: Sequence[Label]
    columns: Sequence[Label]
    layers: Sequence[Cells]
    row_height: int  # pixels
    row_title: str = ""
    column_title: str = ""
    places: Sequence[float] = ()
    printed: bool = True  # whether cells have room for their text
    counted: bool = False
    diagonal: bool = False  # whether the cells of the diagonal are outlined
    missing: Sequence[tuple[int, int]] = ()
    beside: Sequence[tuple[int, str]] = ()
    foot: str = ""
    below: Bars | None = None
    key: str = ""


# ---------------------------------------------------------------- intervals


@dataclass(frozen=True, slots=True)
class Mark:
    """A value with its range, at height `y` in rows; without both ends it has no range."""

    y: float
    value: float
    low: float | None
    high: float | None
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """Marks of one look."""

    style: SeriesStyle
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Rows of values with their ranges along one axis, as a picture of a table's marks.

    Ranges are pale bands, the marks of a series are joined by a line. `grey` are areas (row, low,
    high) behind the marks; `rule` is a dotted line at a value with its text above the rows.
    """

    rows: Sequence[Label]
    series: Sequence[Series]
    axis: Axis
    row_height: int  # pixels
    grey: Sequence[tuple[int, float, float]] = ()
    rule: tuple[float, str] | None = None


# ---------------------------------------------------------------- lines


@dataclass(frozen=True, slots=True)
class Line:
    """Values `y` by `x`, joined by a line in one of three dashes, or as points without it.

    `colours` has one entry, or one per point; `ranges` (low, high) one per point, or none.
    """

    x: Sequence[float]
    y: Sequence[float]
    colours: Sequence[str]
    dash: Dash | Literal["points"] = "solid"
    width: int = 2  # pixels
    labels: Sequence[str] = ()
    hover: Sequence[str] = ()
    ranges: Sequence[tuple[float, float]] = ()
    keys: Sequence[Sequence[float]] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over two axes; `marked` is a place of the first one with a vertical line."""

    lines: Sequence[Line]
    x: Axis
    y: Axis
    height: int  # pixels
    marked: float | None = None
    note: tuple[float, float, str] | None = None
    below: Bars | None = None


# ---------------------------------------------------------------- several


@dataclass(frozen=True, slots=True)
class Panel:
    """A small chart under its own title."""

    title: Label
    chart: HeatMap


@dataclass(frozen=True, slots=True)
class SmallMultiples:
    """Panels of the same rows side by side, at most three."""

    panels: Sequence[Panel]


Chart = HeatMap | Lines | SmallMultiples


def name_labels(names: Iterable[str]) -> list[Label]:
    """The names in bold, shortened where they are long."""
    return [Label(shorten_name(name)) for name in names]


def coloured_and_grey(
    values: Grid[float | None], text: Grid[Label], few: Collection[int], scale: Scale
) -> list[tuple[Scale, Grid[float | None], Grid[Label]]]:
    """The rows of enough questions in their scale, and those of few in grey, if there are any.

    Each part has all rows; those of the other part are empty.
    """
    rows = range(len(values))
    parts: list[tuple[Scale, set[int]]] = [(scale, {*rows} - {*few}), ("grey", {*few})]
    return [
        (
            colours,
            [row if at in kept else [None] * len(row) for at, row in enumerate(values)],
            [row if at in kept else [Label()] * len(row) for at, row in enumerate(text)],
        )
        for colours, kept in parts
        if kept
    ]
