"""Kinds of chart as plain data: heat maps, intervals and lines, with bars below them.

A description holds figures, texts and roles of colours and names no library; `figures` draws it
with Plotly, `png` as a picture. Texts are plain: a drawer escapes what could be markup. Rows are
numbered 0, 1, 2, … from the top.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeVar

from evalui.report.charts.theme import NEUTRAL, Scale, SeriesStyle, shorten_name

T = TypeVar("T")
Grid = Sequence[Sequence[T]]
Dash = Literal["solid", "dash", "dot"]
_STEPS = (5, 10, 20, 25, 50, 100)  # points between two ticks, of which there are at most 9


@dataclass(frozen=True, slots=True)
class Label:
    """A text of two parts; the first is bold. Each may have several lines."""

    strong: str = ""
    plain: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """Where an axis begins and ends, in units of the data, and its ticks with their labels."""

    low: float
    high: float
    ticks: Sequence[float]
    labels: Sequence[str]
    title: str = ""
    logarithmic: bool = False

    def percent(self, value: float) -> float:
        """Where a value stands between the ends, in per cent; beyond them at the end."""
        return 100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


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


def share_axis(limit: int, title: str = "") -> Axis:
    """An axis from 0 to `limit` per cent with a tick at every 20."""
    ticks = range(0, limit + 1, 20)
    return Axis(0, limit, ticks, [*map(str, ticks[:-1]), f"{limit} %"], title)


def points_axis(ends: Iterable[float], form: Callable[[int], str] = "{:+d}".format) -> Axis:
    """As far on both sides of 0, in hundredths: at least 10, and all `ends`.

    `form` writes the label of a tick.
    """
    limit = max(10, 5 * ceil((max(map(abs, ends), default=0.0) + 1) / 5))
    step = next((s for s in _STEPS if 2 * limit / s < 9), _STEPS[-1])
    ticks = range(-step * (limit // step), limit + 1, step)
    return Axis(-limit, limit, ticks, [form(t).replace("-", "−") if t else "0" for t in ticks])


def share_limit(highest: Sequence[float]) -> int:
    """The end of an axis of shares in per cent, at least 40: a short axis enlarges differences."""
    return max(40, 20 * ceil(100 * max(highest, default=0.0) / 20))


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
