"""Heat maps of position bias: content or position, priors by position, gaps by subject, mass.

As in `charts`, paper and plot are transparent and the page's style sheet gives the ink. A cell's
`customdata` says which questions it counts, so that a page can open them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean
from typing import Any, Literal

import plotly.graph_objects as go

from evalui.messages import localized
from evalui.proportions import wilson_interval
from evalui.report.analyses.overview.groups import GroupKind, SubjectGroup
from evalui.report.analyses.overview.narrative import group_name, names
from evalui.report.analyses.overview.summary import Summary
from evalui.report.charts.common import (
    COLOURS,
    MIN_QUESTIONS,
    NEUTRAL,
    annotate,
    layout,
    share_axis,
    shorten_name,
)
from evalui.report.numbers import count, fixed, format_range, format_value, percent
from evalui.scoring.position_bias.consistency import Consistency
from evalui.scoring.position_bias.pride import PrideEstimate
from evalui.scoring.statistics.paired_tests import benjamini_hochberg
from evalui.types import LETTERS, Interval, Language

# One hue over the page's own surface, and blue over nothing over orange; at these strengths the
# page's ink keeps 4.5:1 in the light and in the dark theme.
BLUES = ((0.0, "rgba(0,114,178,.06)"), (1.0, "rgba(0,114,178,.8)"))
GREYS = ((0.0, "rgba(128,134,139,.15)"), (1.0, "rgba(128,134,139,.15)"))
DIVERGING = (
    (0.0, "rgba(0,114,178,.66)"),
    (0.499, "rgba(0,114,178,.02)"),
    (0.501, "rgba(213,94,0,.02)"),
    (1.0, "rgba(213,94,0,.66)"),
)
_LEVEL = 0.05  # of false findings among the stars
_FULL_COLOUR_RANGE = 0.25  # from the fair share, or of the questions: what gets the full colour
_ROW, _SMALL_ROW = 46, 30  # pixels
_PRINTED = 6  # orders, or columns, up to which a cell has room for its number

Origin = Literal["prior", "picks"]
Column = Sequence[Interval | None]


@dataclass(frozen=True, slots=True)
class PriorRow:
    """What one cell of a run prefers: a share per slot with its range.

    `origin` "prior" is PriDe's estimate from probabilities, "picks" the share of readable answers
    in that slot. `key` tells which cell it is.
    """

    name: str
    key: str
    origin: Origin
    shares: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class GapRow:
    """A subject or category: the share of questions right only as written, for each column.

    `significant` says which of them differ from the rest of that model's questions after
    correction.
    """

    name: str
    key: str
    gaps: tuple[Interval | None, ...]
    significant: tuple[bool, ...]


def prior_rows(summaries: Sequence[Summary], n_options: int, language: Language) -> list[PriorRow]:
    """A row for each cell that has questions with so many options, in the order of the run.

    One whose letters hold too little probability to speak of a bias has none.

    PriDe's prior where there are probabilities, with the range of a bootstrap over questions,
    else the share of readable answers.
    """
    called = names(summaries, language)
    rows: list[PriorRow] = []
    for place, summary in enumerate(summaries):
        found = summary.bias_of(n_options)
        if found is None or found.level == "mass":
            continue
        priors, picks = summary.priors.get(n_options), found.position.shares
        shares = priors or tuple(share for share in picks if share)
        if len(shares) == n_options:
            name = " · ".join(filter(None, called[summary.cell]))
            rows.append(PriorRow(name, str(place), "prior" if priors else "picks", tuple(shares)))
    return rows


def gap_rows(
    summaries: Sequence[Summary], kind: GroupKind, language: Language
) -> tuple[list[str], list[GapRow]]:
    """The columns (cells with subjects) and rows of a gap map, the greatest mean gap first.

    `kind` "category" is for a first look, "subject" on demand. A row's key is the group's name.
    """
    shown = [summary for summary in summaries if summary.groups and summary.order_sensitivity]
    called = names(summaries, language)
    found = {
        (group.name, place): group
        for place, summary in enumerate(shown)
        for group in summary.groups
        if group.kind == kind and group.gap
    }
    starred = _significant_cells(found)
    rows = [
        GapRow(
            name=next(group_name(g, language) for (key, _), g in found.items() if key == name),
            key=name,
            gaps=tuple(g.gap if (g := found.get((name, at))) else None for at in range(len(shown))),
            significant=tuple((name, at) in starred for at in range(len(shown))),
        )
        for name in dict.fromkeys(name for name, _ in found)
    ]
    columns = [" · ".join(filter(None, called[summary.cell])) for summary in shown]
    return columns, sorted(rows, key=lambda row: -_mean_gap(row))


def _significant_cells(found: Mapping[tuple[str, int], SubjectGroup]) -> set[tuple[str, int]]:
    """The cells of enough questions that are unlike the rest, corrected for all of them."""
    tested = [
        (key, group.gap_p)
        for key, group in found.items()
        if group.gap_p is not None and group.gap and group.gap.n >= MIN_QUESTIONS
    ]
    adjusted = benjamini_hochberg([p for _, p in tested])
    return {key for (key, _), p in zip(tested, adjusted, strict=True) if p < _LEVEL}


def _mean_gap(row: GapRow) -> float:
    return fmean(gap.value for gap in row.gaps if gap)


def agreement_map(consistency: Consistency, language: Language) -> go.Figure:
    """How often the same option by how often the same slot: bottom right goes by content.

    `customdata` of a cell is [times the same slot, times the same option].
    """
    size = consistency.n_orders
    numbers = list(range(1, size + 1))
    printed = size <= _PRINTED
    chart = go.Figure()
    chart.add_heatmap(
        x=numbers,
        y=numbers,
        z=[[number / consistency.n for number in row] for row in consistency.grid],
        zmin=0,
        zmax=max(_FULL_COLOUR_RANGE, max(map(max, consistency.grid)) / consistency.n),
        text=[[count(number) if number else "·" for number in row] for row in consistency.grid],
        texttemplate="<b>%{text}</b>" if printed else None,
        hovertext=[
            [_agreement_hover(consistency, slots, options, language) for options in numbers]
            for slots in numbers
        ],
        customdata=[[[slots, options] for options in numbers] for slots in numbers],
        **_heat_map_style(BLUES if consistency.n >= MIN_QUESTIONS else GREYS),
    )
    layout(chart, height=max(240, 96 + (_ROW if printed else 12) * size))
    chart.update_xaxes(
        title={"text": localized("agree-content", language)},
        tickvals=numbers if printed else None,
        showgrid=False,
    )
    chart.update_yaxes(
        title={"text": localized("agree-position", language)},
        tickvals=numbers if printed else None,
        showgrid=False,
    )
    corner = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 8, "align": "left"}
    annotate(chart, localized("agree-locked", language), y=size, **corner)
    annotate(chart, localized("agree-by-content", language), y=1, **corner)
    chart.update_layout(margin={"r": 112})
    return chart


def prior_map(rows: Sequence[PriorRow], language: Language) -> go.Figure:
    """The shares of the slots of each row against the fair one; all rows have as many slots.

    `customdata` of a cell is [the row's key, slot].
    """
    size = len(rows[0].shares) if rows else 0
    fair = 1 / size if size else 0.0
    letters = LETTERS[:size]
    chart = go.Figure()
    for grey, chosen in _split_by_size([min(share.n for share in row.shares) for row in rows]):
        chart.add_heatmap(
            z=_select_rows(chosen, [[share.value for share in row.shares] for row in rows]),
            zmin=fair - _FULL_COLOUR_RANGE,
            zmax=fair + _FULL_COLOUR_RANGE,
            text=_select_rows(
                chosen, [[_percent_label(share) for share in row.shares] for row in rows]
            ),
            texttemplate="%{text}",
            hovertext=[
                [_preference_hover(row, slot, fair, language) for slot in range(size)]
                for row in rows
            ],
            customdata=[[[row.key, slot] for slot in range(size)] for row in rows],
            hoverongaps=False,
            **_heat_map_style(GREYS if grey else DIVERGING),
        )
    layout(chart, height=96 + _ROW * max(1, len(rows)))
    _grid_axes(chart, letters, [row.name for row in rows])
    note = localized("fair-at", language, value=percent(fair))
    annotate(chart, note, x=0, xref="paper", xanchor="left", y=0, yref="paper", yshift=-16)
    chart.update_layout(margin={"b": 32})
    return chart


def gap_map(columns: Sequence[str], rows: Sequence[GapRow], language: Language) -> go.Figure:
    """Points lost to another order, by subject and model; a star where the rest loses less or more.

    Cells of few questions are grey and tell their value in the hover only. `customdata` of a cell
    is [the row's key, column].
    """
    printed = len(columns) <= 2 * _PRINTED
    chart = go.Figure()
    for grey in (False, True):
        chart.add_heatmap(
            z=[[_gap_value(gap, grey=grey) for gap in row.gaps] for row in rows],
            zmin=0,
            zmax=2 * _FULL_COLOUR_RANGE,
            text=[
                [_gap_label(gap, star) for gap, star in zip(row.gaps, row.significant, strict=True)]
                for row in rows
            ],
            texttemplate="%{text}" if printed else None,
            hovertext=[
                [_gap_hover(row, place, name, language) for place, name in enumerate(columns)]
                for row in rows
            ],
            customdata=[[[row.key, place] for place in range(len(columns))] for row in rows],
            hoverongaps=False,
            **_heat_map_style(GREYS if grey else _ORANGES),
        )
    layout(chart, height=64 + (_ROW if len(rows) <= _PRINTED else _SMALL_ROW) * max(1, len(rows)))
    _grid_axes(chart, columns, [row.name for row in rows])
    return chart


def soft_recall(prior: PrideEstimate, language: Language, *, colour: str = COLOURS[0]) -> go.Figure:
    """The mean probability of the right option by where it stands: recall that few questions give.

    The hover tells the mean probability of the slot whatever stands there.
    """
    size = len(prior.prior)
    known = [(slot, value) for slot, value in enumerate(prior.soft_recalls) if value is not None]
    chart = go.Figure()
    chart.add_bar(
        x=[slot for slot, _ in known],
        y=[100 * value for _, value in known],
        width=0.5,
        marker={"color": colour, "opacity": 0.85, "line": {"width": 0}},
        text=[f"<b>{percent(value)}</b>" for _, value in known],
        textposition="outside",
        hovertext=[
            localized(
                "soft-told",
                language,
                letter=LETTERS[slot],
                value=percent(value),
                mass=percent(prior.mean_probabilities[slot]),
                n=count(prior.plain_accuracy.n),
            )
            for slot, value in known
        ],
        hoverinfo="text",
        cliponaxis=False,
    )
    fair = 1 / size
    chart.add_hline(y=100 * fair, line={"color": NEUTRAL, "width": 1, "dash": "dot"})
    line = localized("chance-line", language, value=percent(fair))
    annotate(chart, line, x=1, xref="paper", xanchor="left", y=100 * fair, xshift=6)
    layout(chart, height=320)
    chart.update_xaxes(
        range=[-0.5, size - 0.5],
        tickvals=list(range(size)),
        ticktext=[f"<b>{letter}</b>" for letter in LETTERS[:size]],
        showgrid=False,
    )
    chart.update_yaxes(**share_axis(100))
    chart.update_layout(margin={"r": 96})
    return chart


# ---------------------------------------------------------------- cells


_ORANGES = ((0.0, "rgba(213,94,0,.04)"), (1.0, "rgba(213,94,0,.66)"))


def _heat_map_style(scale: Sequence[tuple[float, str]]) -> dict[str, Any]:  # Plotly's own keywords
    return {
        "colorscale": scale,
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "hoverinfo": "text",
        "textfont": {"size": 13},
    }


def _split_by_size(sizes: Sequence[int]) -> list[tuple[bool, set[int]]]:
    """The rows with enough questions and those with few, told by whether they are grey."""
    few = {place for place, n in enumerate(sizes) if n < MIN_QUESTIONS}
    enough = set(range(len(sizes))) - few
    return [(grey, rows) for grey, rows in ((False, enough), (True, few)) if rows]


def _select_rows(rows: set[int], values: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The values of some rows; the others are empty."""
    return [list(row) if place in rows else [None] * len(row) for place, row in enumerate(values)]


def _agreement_hover(found: Consistency, slots: int, options: int, language: Language) -> str:
    number = found.grid[slots - 1][options - 1]
    share = wilson_interval(number, found.n)
    return localized(
        "agree-told",
        language,
        slots=slots,
        options=options,
        orders=found.n_orders,
        k=count(number),
        n=count(found.n),
        value=format_value(share),
        span=format_range(share),
    )


def _percent_label(share: Interval) -> str:
    return f"{format_value(share)} %"


def _preference_hover(row: PriorRow, slot: int, fair: float, language: Language) -> str:
    share = row.shares[slot]
    told = localized(
        f"{row.origin}-told",
        language,
        letter=LETTERS[slot],
        value=format_value(share),
        span=format_range(share),
        fair=percent(fair),
        n=count(share.n),
    )
    return f"{escape(row.name)}: {told}"


def _gap_value(gap: Interval | None, *, grey: bool) -> float | None:
    return gap.value if gap and (gap.n < MIN_QUESTIONS) == grey else None


def _gap_label(gap: Interval | None, star: bool) -> str:
    if gap is None or gap.n < MIN_QUESTIONS:
        return ""
    return fixed(100 * gap.value, 0) + ("*" if star else "")


def _gap_hover(row: GapRow, place: int, column: str, language: Language) -> str:
    gap = row.gaps[place]
    if gap is None:
        return ""
    told = localized(
        "gap-told",
        language,
        value=format_value(gap),
        span=format_range(gap),
        k=count(round(gap.value * gap.n)),
        n=count(gap.n),
    )
    star = " " + localized("gap-star", language) if row.significant[place] else ""
    return f"{escape(row.name)} · {escape(column)}: {told}{star}"


def _grid_axes(chart: go.Figure, columns: Sequence[str], rows: Sequence[str]) -> None:
    chart.update_xaxes(
        range=[-0.5, len(columns) - 0.5],
        tickvals=list(range(len(columns))),
        ticktext=[f"<b>{escape(shorten_name(name))}</b>" for name in columns],
        side="top",
        showgrid=False,
    )
    chart.update_yaxes(
        range=[max(1, len(rows)) - 0.5, -0.5],
        tickvals=list(range(len(rows))),
        ticktext=[f"<b>{escape(shorten_name(name))}</b>" for name in rows],
        ticklabelstandoff=8,
        showgrid=False,
    )
