"""The chart of statistics: how small a difference so many questions can show."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from evalui.messages import Messages, add_messages
from evalui.report.axes import Axis
from evalui.report.figures.base import FrameOf, Part, chart, note, records
from evalui.report.figures.plots import lines
from evalui.report.figures.theme import COLOURS, NEUTRAL
from evalui.report.frames import choices
from evalui.report.numbers import count, fixed, percent
from evalui.scoring.comparisons import ComparisonSet
from evalui.scoring.statistics.tests import minimum_detectable_difference

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

add_messages(Path(__file__).with_suffix(".toml"))
# Shares of questions on which two models differ, each with the dash of its line.
_DISAGREEMENT_RATES = {0.1: "solid", 0.2: "dash", 0.3: "dot"}
# Questions; even steps would spend most of their way on sizes that add no information.
SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10000)
_SIZE_TICKS = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
_LABELLED_SIZE = 50  # questions at which the lines are far enough apart for their names
_MAX_POINTS = 35  # the end of the axis of smallest differences
_HEIGHT = 320  # pixels


def tested(of: FrameOf) -> pd.DataFrame:
    """The pairs of multiple choice: of written answers no power is known."""
    pairs = of("pairs")
    return pairs[pairs["finding"].notna()]


@chart("statistics.questions", tested, one=("dataset", "mode", "measure"))
def questions(rows: pd.DataFrame, t: Messages, *, size: int | None = None) -> go.Figure:
    """The smallest visible difference by number of questions, if models differ on 10 to 30 %.

    `size` is the number that is marked, else the most that two models have in common. Of the pairs
    in which a difference may have been missed the steadiest has a line of its own.
    """

    import pandas as pd

    pairs = records(rows)
    marked = max((row["n"] for row in pairs), default=0) if size is None else size
    sizes = sorted({*SIZES, max(2, marked)})
    # The standard deviation of the differences of a pair, from the error of their mean.
    spreads = [
        row["se"] / 100 * sqrt(row["n"])
        for row in pairs
        if row["finding"] == "level" and not pd.isna(row["detectable"])
    ]
    traces = [
        _line(f"{percent(rate)} %", sizes, sqrt(rate), {"color": NEUTRAL, "dash": dash}, t)
        for rate, dash in _DISAGREEMENT_RATES.items()
    ]
    if own := min(spreads, default=0.0):
        look = {"color": COLOURS[0], "dash": "solid"}
        traces.append(_line(t("statistics.needed-own"), sizes, own, look, t))
    heights, at = range(0, _MAX_POINTS + 1, 5), sizes.index(_LABELLED_SIZE)
    named = zip(_DISAGREEMENT_RATES, traces, strict=False)
    return lines(
        traces,
        Axis(
            sizes[0],
            sizes[-1],
            _SIZE_TICKS,
            [count(tick) for tick in _SIZE_TICKS],
            t("statistics.needed-axis"),
            logarithmic=True,
        ),
        Axis(0, _MAX_POINTS, heights, [*map(str, heights)], t("statistics.needed-points")),
        height=_HEIGHT,
        notes=[
            note(
                f"{percent(rate)} %",
                faint=False,
                x=_LABELLED_SIZE,
                y=trace["y"][at],
                xanchor="left",
                xshift=4,
                yshift=10,
            )
            for rate, trace in named
        ],
        marked=marked,
    )


def questions_of(comparison: ComparisonSet, t: Messages, *, size: int) -> go.Figure:
    """The same of the cells of one dataset and mode."""

    import pandas as pd

    return questions(pd.DataFrame(choices.pairs([comparison])), t, size=size)


def _line(name: str, sizes: Sequence[int], spread: float, look: Part, t: Messages) -> Part:
    smallest = [100 * minimum_detectable_difference(spread, size) for size in sizes]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": sizes,
        "y": smallest,
        "line": {"width": 2, **look},
        "hovertext": [
            t("statistics.needed-told", n=count(size), least=fixed(value, 1))
            for size, value in zip(sizes, smallest, strict=True)
        ],
    }
