"""A figure of each kind, as small as it can be, and what is read of figures."""

from typing import Any

import plotly.graph_objects as go

from evalui.report.axes import Axis, share_axis
from evalui.report.figures.base import Part, bold, note
from evalui.report.figures.plots import Bars, Cells, Panel, heat_map, lines, small_multiples, strips
from evalui.report.figures.theme import COLOURS


def drawn_heat_map(text: str = "", **changed: Any) -> go.Figure:
    """Two rows of two cells, one of which is missing; a `text` stands in place of all others."""
    cells = Cells(
        [[0.1, 0.9], [0.5, None]],
        "share",
        texts=[[text or "10 %", bold(text or "90 %", text or "80–100")], [text or "50 %", ""]],
        told=[[text, text], [text, text]] if text else (),
    )
    settings: dict[str, Any] = {
        "row_height": 40,
        "row_title": text or "rows",
        "column_title": text or "columns",
        "notes": [note(text or "–", x=1, y=1)],
        "beside": {0: text or "beside\nit"},
        "foot": text or "below it",
    }
    heads = ([bold(text or "top"), bold(text or "foot")], [bold(text or "left"), text or "right"])
    return heat_map([cells], *heads, **settings | changed)


def drawn_panels(text: str = "") -> go.Figure:
    """Two small maps of one cell each."""
    cells = Cells([[0.4]], "share", texts=[[text or "40 %"]])
    titles = {"first": "n = 3", "second": "n = 4"}
    panels = [Panel(text or title, text or n, [cells]) for title, n in titles.items()]
    return small_multiples(panels, [bold(text or "a model")], [bold("1")], row_height=30)


def drawn_lines() -> go.Figure:
    """A line and a point with its range over bars."""
    line: Part = {
        "type": "scatter", "mode": "lines", "x": [1, 10, 100], "y": [90, 40, 10],
        "line": {"color": COLOURS[0], "width": 2, "dash": "solid"},
    }  # fmt: skip
    ends = {"type": "data", "symmetric": False, "array": [20], "arrayminus": [10]}
    point: Part = {
        "type": "scatter", "mode": "markers", "x": [10], "y": [50], "error_y": ends,
        "marker": {"size": 10, "color": [COLOURS[1]]},
    }  # fmt: skip
    return lines(
        [line, point],
        Axis(1, 100, [1, 10, 100], ["1", "10", "100"], "questions", logarithmic=True),
        share_axis(100, "share"),
        height=400,
        marked=20,
        notes=[
            note("line", faint=False, x=10, y=40, xanchor="left"),
            note("a note", x=1, y=100, xanchor="left", yshift=-8),
        ],
        below=Bars(
            [5, 50], [40, 60], [bold("40"), bold("60")], ["40", "60"], 100, COLOURS[:2],
            width=2, level=(50, "even", 60),
        ),
    )  # fmt: skip


def drawn_strips(first: str = "first") -> go.Figure:
    """Two rows with a mark each."""
    mark: Part = {"type": "scatter", "mode": "markers", "x": [40, 60], "y": [0, 1]}
    return strips(
        [first, "second"],
        [mark],
        share_axis(100, "share"),
        row_height=40,
        rule=(50, "least"),
        shapes=[{"x0": 10, "x1": 20, "y0": 0.5, "y1": 1.5, "fillcolor": "#E2E2DC"}],
    )


def layout_of(drawn: go.Figure) -> Part:
    """The layout as JSON has it."""
    layout: Part = drawn.to_dict()["layout"]
    return layout


def traces_of(drawn: go.Figure) -> list[Part]:
    """The traces as JSON has them."""
    traces: list[Part] = drawn.to_dict()["data"]
    return traces


def notes_of(drawn: go.Figure) -> list[str]:
    """The texts that stand in a figure."""
    return [each["text"] for each in layout_of(drawn)["annotations"]]


def hrefs_of(drawn: go.Figure) -> list[str]:
    """Where the cells of a heat map lead, those of all layers."""
    lines = [line for trace in traces_of(drawn) for line in trace.get("customdata", ())]
    return [href for line in lines for href in line if href]
