"""The two pictures of position bias: what was picked where, and what was found where."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import plotly.graph_objects as go

from evalui.messages import localized
from evalui.proportions import wilson_interval
from evalui.report.analyses.overview.narrative import answers_at
from evalui.report.charts.common import (
    COLOURS,
    MIN_QUESTIONS,
    NEUTRAL,
    annotate,
    layout,
    share_axis,
    share_limit,
)
from evalui.report.numbers import count, format_range, format_value, percent
from evalui.scoring.position_bias.counts import PositionTable
from evalui.types import LETTERS, Language

_FULL_COLOUR_SHARE = 0.75  # this share gets the full colour in every chart, so that charts compare
# One hue over the page's own surface. At four fifths of the full blue the page's ink keeps 4.5:1
# in the light and in the dark theme.
_BLUES = [[0, "rgba(0,114,178,.06)"], [1, "rgba(0,114,178,.8)"]]
_GREYS = [[0, "rgba(128,134,139,.15)"], [1, "rgba(128,134,139,.15)"]]
_OUTCOME_GAP = 0.25  # columns between the letters and what is no letter
_OUTCOME_LEVELS_GAP = 0.06  # between two lines whose words would touch
_CELL, _BARS = 48, 72  # pixels of a row, and of the bars below


def confusion(table: PositionTable, language: Language, *, colour: str = COLOURS[0]) -> go.Figure:
    """Gold position by picked position, each row as shares, and all picks against chance below.

    `colour` is the model's, for the picks above chance. Rows of few questions are grey. The
    `customdata` of a cell is [gold slot, picked slot], or "unreadable" or "tied" for the latter.
    """
    size = table.n_options
    others = {"unreadable-column": table.unreadable}
    if any(table.tied):
        others["tied-column"] = table.tied
    columns = [localized(key, language) for key in others]
    chart = go.Figure()
    letters = _ColumnBlock(list(LETTERS[:size]), tuple(range(size)), 0.0, table.counts)
    few = {gold for gold in range(size) if _questions(table, gold) < MIN_QUESTIONS}
    for scale, rows in ((_BLUES, set(range(size)) - few), (_GREYS, few)):
        if rows:
            _cells(chart, table, letters, (scale, rows), language)
    rest = tuple(zip(*others.values(), strict=True))
    beside = _ColumnBlock(columns, tuple(map(_outcome, others)), size + _OUTCOME_GAP, rest)
    _cells(chart, table, beside, (_GREYS, set(range(size))), language)
    for slot in range(size):
        _outline(chart, slot)
    _picks(chart, table, colour, language)
    layout(chart, height=104 + _CELL * size + _BARS)
    _label_axes(chart, size, columns, language)
    heat = _CELL * size / (_CELL * size + _BARS)
    picks = max([table.chance, *(share.value for share in table.shares if share)])
    chart.update_layout(
        margin={"t": 56, "b": 24},
        yaxis={"domain": [1 - heat + 0.04, 1]},
        yaxis2={
            "domain": [0, 1 - heat - 0.04],
            "range": [0, picks],
            "visible": False,
            "fixedrange": True,
        },
    )
    return chart


def recall(table: PositionTable, language: Language, *, colour: str = COLOURS[0]) -> go.Figure:
    """How often the right answer is found where it stands, with ranges, mean and chance."""
    size = table.n_options
    found = [(slot, share) for slot, share in enumerate(table.recalls) if share]
    chart = go.Figure()
    chart.add_bar(
        x=[slot for slot, _ in found],
        y=[100 * share.value for _, share in found],
        width=0.5,
        marker={"color": colour, "opacity": 0.85, "line": {"width": 0}},
        error_y={
            "type": "data",
            "array": [100 * (share.high - share.value) for _, share in found],
            "arrayminus": [100 * (share.value - share.low) for _, share in found],
            "color": NEUTRAL,
            "thickness": 2,
            "width": 6,
        },
        hovertemplate=[
            f"{LETTERS[slot]}: {format_value(share)} % ({format_range(share)}), "
            f"n = {share.n}<extra></extra>"
            for slot, share in found
        ],
    )
    for slot, share in found:
        annotate(
            chart,
            f"<b>{format_value(share)}</b>",
            x=slot,
            y=100 * share.high,
            yanchor="bottom",
            yshift=2,
        )
    if found:
        mean = fmean(share.value for _, share in found)
        if abs(mean - table.chance) > _OUTCOME_LEVELS_GAP:
            _reference_line(
                chart, 100 * mean, localized("mean", language, value=percent(round(mean, 2)))
            )
    _reference_line(
        chart, 100 * table.chance, localized("chance-line", language, value=percent(table.chance))
    )
    layout(chart, height=320)
    chart.update_xaxes(
        range=[-0.5, size - 0.5],
        tickvals=list(range(size)),
        ticktext=[f"<b>{letter}</b>" for letter in LETTERS[:size]],
        showgrid=False,
    )
    chart.update_yaxes(**share_axis(share_limit([share.high for _, share in found])))
    chart.update_layout(margin={"r": 96})
    return chart


def _label_axes(chart: go.Figure, size: int, others: Sequence[str], language: Language) -> None:
    letters = [f"<b>{letter}</b>" for letter in LETTERS[:size]]
    chart.update_xaxes(
        range=[-0.5, size + _OUTCOME_GAP + len(others) - 0.5],
        tickvals=[*range(size), *(size + _OUTCOME_GAP + place for place in range(len(others)))],
        ticktext=[*letters, *others],
        title={"text": localized("picked", language)},
        side="top",
        anchor="y",
        showgrid=False,
    )
    chart.update_yaxes(
        range=[size - 0.5, -0.5],
        tickvals=list(range(size)),
        ticktext=letters,
        title={"text": localized("gold", language)},
        showgrid=False,
        selector={"anchor": None},
    )


@dataclass(frozen=True, slots=True)
class _ColumnBlock:
    """Columns side by side: what heads them, what they hold, where they begin, their counts."""

    heads: Sequence[str]
    picked: Sequence[int | str]
    left: float
    counts: Sequence[Sequence[int]]


def _outcome(key: str) -> str:
    return key.removesuffix("-column")


def _questions(table: PositionTable, gold: int) -> int:
    """How many questions a row rests on: with many orders each stands in it several times."""
    return min(answers_at(table, gold), table.n_questions)


def _cells(
    chart: go.Figure,
    table: PositionTable,
    block: _ColumnBlock,
    look: tuple[Sequence[Sequence[object]], set[int]],
    language: Language,
) -> None:
    """Some rows of a block in one scale; `look` is the scale and the rows."""
    scale, rows = look
    sums = [max(1, answers_at(table, gold)) for gold in range(table.n_options)]
    shares = [
        [value / total if gold in rows else None for value in row]
        for gold, (row, total) in enumerate(zip(block.counts, sums, strict=True))
    ]
    chart.add_heatmap(
        # Edges, not centres: the columns of letters and of the rest do not touch.
        x=[block.left - 0.5 + place for place in range(len(block.heads) + 1)],
        y=[place - 0.5 for place in range(table.n_options + 1)],
        z=shares,
        zmin=0,
        zmax=_FULL_COLOUR_SHARE,
        colorscale=scale,
        showscale=False,
        xgap=3,
        ygap=3,
        text=[["" if each is None else f"{100 * each:.0f} %" for each in row] for row in shares],
        texttemplate="%{text}",
        hovertext=[
            [
                _hover_text(table, gold, name, value, language)
                for name, value in zip(block.heads, row, strict=True)
            ]
            for gold, row in enumerate(block.counts)
        ],
        customdata=[[[gold, picked] for picked in block.picked] for gold in range(table.n_options)],
        hoverinfo="text",
        hoverongaps=False,
    )


def _hover_text(table: PositionTable, gold: int, picked: str, k: int, language: Language) -> str:
    """A cell in words; its range takes the orders of a question for one."""
    n = answers_at(table, gold)
    if not n:
        return ""
    questions = _questions(table, gold)
    share = wilson_interval(k / n * questions, questions)
    return localized(
        "cell-told",
        language,
        gold=LETTERS[gold],
        picked=picked,
        k=count(k),
        n=count(n),
        value=format_value(share),
        span=format_range(share),
    )


def _outline(chart: go.Figure, slot: int) -> None:
    chart.add_shape(
        type="rect",
        x0=slot - 0.48,
        x1=slot + 0.48,
        y0=slot - 0.47,
        y1=slot + 0.47,
        line={"color": NEUTRAL, "width": 2},
    )


def _picks(chart: go.Figure, table: PositionTable, colour: str, language: Language) -> None:
    shares = [(slot, share) for slot, share in enumerate(table.shares) if share]
    chart.add_bar(
        x=[slot for slot, _ in shares],
        y=[share.value for _, share in shares],
        yaxis="y2",
        width=0.6,
        marker={
            "color": [colour if share.value > table.chance else NEUTRAL for _, share in shares]
        },
        hovertemplate=[
            f"{LETTERS[slot]}: {format_value(share)} % ({format_range(share)})<extra></extra>"
            for slot, share in shares
        ],
    )
    for slot, share in shares:
        printed = f"<b>{format_value(share)} %</b>"
        annotate(chart, printed, x=slot, y=0, yref="y2", yanchor="top")
    for slot in range(table.n_options):
        chart.add_shape(
            type="line",
            x0=slot - 0.42,
            x1=slot + 0.42,
            y0=table.chance,
            y1=table.chance,
            yref="y2",
            line={"color": NEUTRAL, "width": 2, "dash": "dot"},
        )
    annotate(
        chart,
        localized("all-picks", language)
        + "<br>"
        + localized("chance-line", language, value=percent(table.chance)),
        x=table.n_options + _OUTCOME_GAP - 0.5,
        y=table.chance,
        yref="y2",
        xanchor="left",
        align="left",
    )


def _reference_line(chart: go.Figure, height: float, text: str) -> None:
    chart.add_hline(y=height, line={"color": NEUTRAL, "width": 1, "dash": "dot"})
    annotate(chart, text, x=1, xref="paper", xanchor="left", y=height, xshift=6)
