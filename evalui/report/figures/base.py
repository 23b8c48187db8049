"""What a chart is, and the look, the letters and the sizes that all of them share.

A chart is a function from the rows of a frame to a Plotly figure, once for page, report, picture
and library:

    @chart("bias.picks", "positions")
    def picks(rows: pd.DataFrame, t: Messages) -> go.Figure: ...

Its texts are plain: `figure` takes from all that it is given what Plotly would read as a tag; a
text that is set afterwards is not escaped. What is to be bold is `Marked`. Colours may be variables
of a page, "var(--ink)", which its script puts in; `on_paper` does so for files and notebooks. A
column `href`, where a page has added one, leads from a mark to its questions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from evalui.messages import Messages
from evalui.registry import Registry
from evalui.report.figures.theme import (
    BOLD,
    COLOURS,
    FAINT,
    GRID,
    INK,
    NEUTRAL,
    SURFACE,
    text_width,
)
from evalui.report.numbers import format_range, format_value
from evalui.report.words import shorten_name
from evalui.types import Interval

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from plotly.basedatatypes import BaseTraceType

T = TypeVar("T")
U = TypeVar("U")
Part = dict[str, Any]  # of a figure: a trace, an axis, a shape, a note

DOTTED: Mapping[str, Any] = {"color": NEUTRAL, "width": 1, "dash": "dot"}
CELL = ("dataset", "model", "mode")  # columns of a frame that tell cells of a run apart
SMALL: Mapping[str, Any] = {"size": 12, "color": "var(--ink-3)"}  # letters of lesser things
PAPER: Mapping[str, str] = {
    "var(--ink)": INK,
    "var(--ink-3)": FAINT,
    "var(--grid)": GRID,
    "var(--surface)": SURFACE,
}
_VERBATIM = frozenset(("customdata", "hovertemplate", "texttemplate"))  # no texts to be read


# ---------------------------------------------------------------- charts by name

Draw: TypeAlias = "Callable[[pd.DataFrame, Messages], go.Figure]"
Drawn = TypeVar("Drawn", bound="Draw")
FrameOf: TypeAlias = "Callable[[str], pd.DataFrame]"  # the frame of a name
Rows: TypeAlias = "str | Callable[[FrameOf], pd.DataFrame]"


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure that `draw` makes of at least one of the `rows`.

    These are those of a frame, by its name, or what a function makes of frames. It shows one thing
    at a time: a value of each of the columns in `one`; and all values of those that are `whole`.
    """

    rows: Rows
    draw: Draw
    one: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()

    def frame(self, of: FrameOf) -> pd.DataFrame:
        """What can be drawn of a run."""
        return of(self.rows) if isinstance(self.rows, str) else self.rows(of)


CHARTS: Registry[Chart] = Registry("chart")


def chart(
    name: str, rows: Rows, *, one: tuple[str, ...] = (), whole: tuple[str, ...] = ()
) -> Callable[[Drawn], Drawn]:
    """Register what draws these rows, see `Chart`."""

    def registered(draw: Drawn) -> Drawn:
        CHARTS.register(name)(Chart(rows, draw, one, whole))
        return draw

    return registered


# ---------------------------------------------------------------- texts and colours


class Marked(str):
    """A text with the tags that Plotly knows, such as <b>; what is foreign in it is escaped."""

    __slots__ = ()


def plain(text: str) -> Marked:
    """A text without any tag; its lines stay lines."""
    return text if isinstance(text, Marked) else Marked("<br>".join(map(escape, text.split("\n"))))


def bold(text: str, below: str = "") -> Marked:
    """A bold text, with a smaller one below it."""
    small = f'<br><span style="font-size:12px">{plain(below)}</span>' if below else ""
    return Marked(f"<b>{plain(text)}</b>{small}")


def name_heads(names: Sequence[str]) -> list[str]:
    """The names beside or above a chart: bold, shortened where they are long."""
    return [bold(shorten_name(name)) for name in names]


def widest(texts: Iterable[str]) -> float:
    """About how many pixels the widest of the texts takes on a page."""
    lines = {line for text in texts for line in plain(text).split("<br>")}
    widths = [text_width(words(line)) * (BOLD if "<b>" in line else 1) for line in lines]
    return max(widths, default=0.0)


def words(text: str) -> str:
    """What a reader sees of an escaped text, on one line."""
    return unescape(re.sub(r"<[^>]*>", "", text.replace("<br>", " ")))


def figure(traces: Sequence[Part | BaseTraceType], **layout: Any) -> go.Figure:
    """The traces in the look of every chart, all of their texts escaped."""

    import plotly.graph_objects as go

    font = {"color": "var(--ink)", "size": 13}
    label = {"bgcolor": "var(--surface)", "bordercolor": "var(--ink-3)", "font": font}
    shared: Part = {
        "colorway": list(COLOURS),
        "paper_bgcolor": "var(--surface)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": font,
        "hoverlabel": {**label, "align": "left", "namelength": 0},
        "template": "none",
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
    }
    made = [_escaped(each if isinstance(each, dict) else each.to_plotly_json()) for each in traces]
    return go.Figure(data=made, layout=_escaped(shared | layout))


def _escaped(part: Any, form: Callable[[str], str] = plain) -> Any:
    """The same with every text in its form, and arrays as lists, which Plotly would pack."""
    if isinstance(part, str):
        return str(form(part))
    if isinstance(part, Mapping):
        named = cast("Mapping[str, Any]", part)
        return {k: _escaped(each, str if k in _VERBATIM else form) for k, each in named.items()}
    if isinstance(part, np.ndarray):
        part = cast("NDArray[Any]", part).tolist()
    if isinstance(part, (list, tuple)):
        return [_escaped(each, form) for each in cast("Sequence[Any]", part)]
    return part


def on_paper(drawn: go.Figure) -> go.Figure:
    """The figure in the colours of paper, for files and notebooks."""

    import plotly.graph_objects as go

    text = cast("str", drawn.to_json())
    for variable, colour in PAPER.items():
        text = text.replace(f'"{variable}"', f'"{colour}"')
    return go.Figure(json.loads(text))


def titled_figure(traces: Sequence[Part | BaseTraceType], title: str, **layout: Any) -> go.Figure:
    """A figure with a title and a legend, which names a single trace, too."""
    axis = {"gridcolor": "var(--grid)", "zerolinecolor": "var(--grid)", "automargin": True}
    return figure(
        traces,
        **{
            "title": {"text": title, "x": 0, "xref": "paper"},
            "xaxis": axis | layout.pop("xaxis", {}),
            "yaxis": axis | layout.pop("yaxis", {}),
            "showlegend": True,
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
            "margin": {"t": 90},
            **layout,
        },
    )


def note(text: str, *, faint: bool = True, **place: Any) -> Part:
    """A small text in a plot; by default at its data."""
    font = {"font": dict(SMALL)} if faint else {}
    return {"text": text, "showarrow": False, "align": "left", **font, **place}


# ---------------------------------------------------------------- rows of frames


def records(rows: pd.DataFrame) -> list[Part]:
    """The rows, each by column."""
    names, columns = list(rows.columns), [rows[name].tolist() for name in rows.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def percent_interval(row: Part, name: str) -> Interval:
    """A share with its range, in 0..1, from its columns in per cent; NaN where it is missing."""
    value, low, high = (row[f"{name}{end}"] / 100 for end in ("", "_low", "_high"))
    return Interval(value, low, high, 0)


def said(row: Part, name: str) -> dict[str, str]:
    """A share as `value` and `span` of a sentence."""
    share = percent_interval(row, name)
    return {"value": format_value(share), "span": format_range(share)}


def of_each(grid: Iterable[Iterable[T]], make: Callable[[T], U]) -> list[list[U]]:
    """What is made of each cell."""
    return [[make(cell) for cell in line] for line in grid]


def hrefs(grid: Iterable[Iterable[Part | None]]) -> list[list[str]]:
    """The addresses of rows, [] where none has one."""
    found = of_each(grid, lambda row: row.get("href", "") if row else "")
    return found if any(map(any, found)) else []


def named_records(rows: pd.DataFrame) -> list[Part]:
    """The rows with the `name` of their cells: of models, with what else differs among them."""
    if "name" in rows:
        return records(rows)
    texts = rows[[*CELL]].astype("str")
    shown = ["model", *(name for name in ("mode", "dataset") if texts[name].nunique() > 1)]
    return records(rows.assign(name=texts[shown].agg(" · ".join, axis=1)))


def intervals(frame: pd.DataFrame, value: str) -> Part:
    """The error bars of a column from those of both ends of its interval."""
    above, below = frame[f"{value}_high"] - frame[value], frame[value] - frame[f"{value}_low"]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
