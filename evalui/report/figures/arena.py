"""Charts of judged answers: ratings, who beats whom, and win rates on groups of questions.

by_capa.png and by_lang.png keep the meaning they have in OpenCompass's report:
wins / (wins + losses + ties) of the row against the column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evalui.messages import Messages, add_messages
from evalui.report.figures.base import (
    FrameOf,
    Part,
    Rows,
    bold,
    chart,
    intervals,
    name_heads,
    note,
    of_each,
    percent_interval,
    records,
    said,
    titled_figure,
)
from evalui.report.figures.plots import Cells, Grid, Panel, heat_map, small_multiples
from evalui.report.frames import arena as frames
from evalui.report.numbers import count, decimal_places, fixed
from evalui.report.words import shorten_name
from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.question_groups import Grouping, largest_groups

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

add_messages(Path(__file__).with_suffix(".toml"))
_CELL, _SMALL_CELL = 54, 34  # pixels of a matrix row with its range, and without
_MAX_RANGED_MODELS = 6  # models up to which cells hold ranges
_MAX_HEADER_LENGTH = 48  # characters of all names up to which columns are headed by them
_ROW_HEIGHT, _MARGINS = 44, 170  # pixels of a model with its ratings, and above and below all
_ARENA = ("dataset", "judge")
_HOVER = (
    "<b>%{y}</b><br>%{fullData.name}: %{x:.0f}<br>"
    "95 % interval %{customdata[0]:.0f} to %{customdata[1]:.0f}<br>"
    "%{customdata[2]} battles<extra></extra>"
)
_MARGIN = 0.05  # of the axis, beside the outermost intervals
# The name and the symbol of each.
_RATINGS = {"bradley_terry": ("Bradley-Terry", "circle"), "elo": ("ELO", "square")}


@chart("arena.ratings", "standings")
def ratings(standings: pd.DataFrame, t: Messages) -> go.Figure:
    """The ratings of the models with their 95 % intervals, the best at the top.

    Bradley-Terry's rating stands where it is finite, and ELO's beside it. Several judges or
    datasets are told apart by the names of rows.
    """

    import plotly.graph_objects as go

    del t  # in English everywhere
    rows = [name for name in ("dataset", "judge") if standings[name].nunique() > 1]
    names = standings["model"].astype("str")
    for name in rows:
        names = names + " · " + standings[name].astype("str")
    marks = [
        go.Scatter(
            name=called,
            mode="markers",
            marker={"symbol": symbol, "size": 9},
            orientation="h",
            offsetgroup=rating,  # the two stand below each other in a row
            y=names[own.index],
            x=own[rating],
            error_x=intervals(own, rating),
            customdata=own[[f"{rating}_low", f"{rating}_high", "n"]],
            hovertemplate=_HOVER,
        )
        for rating, (called, symbol) in _RATINGS.items()
        for own in [standings[standings[rating].notna()]]
        if not own.empty
    ]
    # Ratings have no zero, to which horizontal marks would stretch the axis.
    ends = standings[[f"{rating}{end}" for rating in _RATINGS for end in ("", "_low", "_high")]]
    known = ends.to_numpy(dtype=np.float64)
    low, high = float(np.nanmin(known)), float(np.nanmax(known))
    margin = _MARGIN * (high - low) or 1.0
    return titled_figure(
        marks,
        "Ratings with 95 % intervals",
        height=_ROW_HEIGHT * len(standings) + _MARGINS,
        scattermode="group",
        xaxis={
            "title": {"text": "rating, 1000 at the start of ELO"},
            "range": [low - margin, high + margin],
        },
        yaxis={
            "categoryorder": "array",
            "categoryarray": list(names),
            "tickvals": list(names),
            "ticktext": [shorten_name(name) for name in names],
            "range": [len(names) - 0.5, -0.5],
        },
    )


# ---------------------------------------------------------------- win matrices


@chart("arena.win_matrix", "win_matrix", one=_ARENA)
def win_matrix(rows: pd.DataFrame, t: Messages, *, models: Sequence[str] = ()) -> go.Figure:
    """The share of points that the row won against the column, best models first.

    The diagonal is grey; where two models never met there is a dash. `models` are all there are,
    else those that met any.
    """
    pairs = {(row["model"], row["against"]): row for row in records(rows)}
    models = models or _named(rows)
    ranged = len(models) <= _MAX_RANGED_MODELS
    grid = _pairs(pairs, models)
    # One format for all cells: as many digits as the widest range deserves.
    shares = [percent_interval(row, "share_of_points") for row in pairs.values()]
    places = min(map(decimal_places, shares), default=0)

    def label(row: Part | None) -> str:
        if row is None:
            return ""
        value, low, high = (
            fixed(row[f"share_of_points{end}"], places) for end in ("", "_low", "_high")
        )
        return bold(f"{value} %", f"{low}–{high}") if ranged else bold(value)

    def told(row: Part | None) -> str:
        if row is None:
            return ""
        names = {"row": row["model"], "column": row["against"]}
        return t(
            "arena.against", **names, n=count(row["questions"]), **said(row, "share_of_points")
        )

    values = of_each(grid, lambda row: row["share_of_points"] / 100 if row else None)
    cells = Cells(values, "wins", texts=of_each(grid, label), told=of_each(grid, told))
    heads = _matrix_heads(models, named=ranged)
    height = _CELL if ranged else _SMALL_CELL
    layers, dashes = [cells, _diagonal(len(models))], _dashes(values)
    return heat_map(layers, *heads, row_height=height, notes=dashes)


_KINDS: Mapping[Grouping, Sequence[str]] = {
    "capability": ("capability",),
    "language": ("overall", "language"),  # before languages one of all questions
}


def _by(grouping: Grouping) -> Rows:
    def rows(of: FrameOf) -> pd.DataFrame:
        made = of("win_rates")
        return made[made["kind"].isin(_KINDS[grouping])]

    return rows


@chart("arena.by_capability", _by("capability"), one=_ARENA)
@chart("arena.by_language", _by("language"), one=_ARENA)
def win_rates(rows: pd.DataFrame, t: Messages, *, models: Sequence[str] = ()) -> go.Figure:
    """A heat map of win rates for each group of questions; of many groups the largest.

    `models` are all there are, best first, else those that met any.
    """
    groups: dict[str, dict[tuple[str, str], Part]] = {}
    for row in records(rows):
        groups.setdefault(row["dimension"], {})[row["model"], row["against"]] = row
    sizes = {name: next(iter(own.values()))["questions"] for name, own in groups.items()}
    largest = set(largest_groups(sizes))
    models = models or _named(rows)
    numbers = range(1, len(models) + 1)
    return small_multiples(
        [
            Panel(dimension_name(name, t), f"n = {count(n)}", *_rates(groups[name], models))
            for name, n in sizes.items()
            if name in largest
        ],
        [bold(f"{n}. {shorten_name(name)}") for n, name in zip(numbers, models, strict=True)],
        [bold(str(n)) for n in numbers],
        row_height=_SMALL_CELL,
    )


def win_rates_of(arena: Arena, grouping: Grouping, t: Messages, *, least: int = 1) -> go.Figure:
    """The same of one arena: all of its models, and its groups of `least` questions or more."""

    import pandas as pd

    made = (
        row
        for row in frames.win_rates([arena])
        if row["kind"] in _KINDS[grouping] and row["questions"] >= least
    )
    models = [standing.model for standing in arena.standings]
    return win_rates(pd.DataFrame(made), t, models=models)


def win_matrix_of(arena: Arena, t: Messages) -> go.Figure:
    """The win matrix of one arena, with all of its models."""

    import pandas as pd

    models = [standing.model for standing in arena.standings]
    return win_matrix(pd.DataFrame(frames.win_matrix([arena])), t, models=models)


def dimension_name(name: str, t: Messages) -> str:
    """A capability as the file has it, a language and the whole in words."""
    return t(f"dimension-{name}") if f"dimension-{name}" in t else name


def _rates(
    pairs: Mapping[tuple[str, str], Part], models: Sequence[str]
) -> tuple[list[Cells], list[Part]]:
    rates = of_each(_pairs(pairs, models), lambda row: row["win_percent"] / 100 if row else None)
    text = of_each(rates, lambda rate: "" if rate is None else fixed(100 * rate, 0))
    return [Cells(rates, "share", texts=text), _diagonal(len(models))], _dashes(rates)


def _named(rows: pd.DataFrame) -> list[str]:
    """The models of pairs; of some rows alone a model may be in one column only."""
    return list(dict.fromkeys([*rows["model"], *rows["against"]]))


def _pairs(pairs: Mapping[tuple[str, str], Part], models: Sequence[str]) -> list[list[Part | None]]:
    return [[pairs.get((row, column)) for column in models] for row in models]


def _diagonal(size: int) -> Cells:
    values = [[0.0 if row == column else None for column in range(size)] for row in range(size)]
    return Cells(values, "grey")


def _dashes(values: Grid[float | None]) -> list[Part]:
    return [
        note("–", x=x, y=y)
        for y, row in enumerate(values)
        for x, value in enumerate(row)
        if x != y and value is None
    ]


def _matrix_heads(models: Sequence[str], *, named: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The heads of rows and columns: names if they are to be and fit, else numbered names."""
    names = [shorten_name(model) for model in models]
    if named and sum(map(len, models)) <= _MAX_HEADER_LENGTH:
        return name_heads(models), name_heads(models)
    numbers = [str(place) for place in range(1, len(models) + 1)]
    rows = [bold(f"{name}  {number}") for name, number in zip(names, numbers, strict=True)]
    return rows, [bold(number) for number in numbers]
