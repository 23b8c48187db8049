"""The chart of picks: gold position by picked position."""

from collections.abc import Sequence
from dataclasses import replace

from evalui.messages import localized
from evalui.report.axes import Axis
from evalui.report.charts.kinds import (
    Bar,
    Bars,
    Cells,
    Grid,
    HeatMap,
    Label,
    Level,
    coloured_and_grey,
    name_labels,
)
from evalui.report.charts.theme import COLOURS, MIN_QUESTIONS, NEUTRAL
from evalui.report.numbers import count, fixed, format_range, format_value, percent
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.statistics.intervals import wilson_interval
from evalui.types import LETTERS, Interval, Language

_FULL_COLOUR_SHARE = 0.75  # the share of picks with the full colour, so that charts compare
_OUTCOME_GAP = 0.25  # columns between the letters and what is no letter
_PICKS_ROW = 48  # pixels


def _slot_share(slot: int, share: Interval) -> str:
    return f"{LETTERS[slot]}: {format_value(share)} % ({format_range(share)})"


def picks_heat_map(
    table: PositionTable, language: Language, *, colour: str = COLOURS[0]
) -> HeatMap:
    """Gold position by picked position, each row as shares, and all picks against chance below.

    `colour` is the model's, for the picks above chance. Rows of few questions are grey. The
    keys of a cell are [gold slot, picked slot], or "unreadable" or "tied" for the latter.
    """
    size = table.n_options
    outcomes = {"unreadable": table.unreadable}
    if any(table.tied):
        outcomes["tied"] = table.tied
    heads = [localized(f"{name}-column", language) for name in outcomes]
    few = {gold for gold in range(size) if _questions(table, gold) < MIN_QUESTIONS}
    slots = range(size)
    left = size + _OUTCOME_GAP
    rest = list(zip(*outcomes.values(), strict=True))
    letters = _pick_cells(table, LETTERS[:size], slots, table.counts, language)
    beside = _pick_cells(table, heads, list(outcomes), rest, language)
    layers = [
        replace(letters, scale=scale, values=values, text=text)
        for scale, values, text in coloured_and_grey(letters.values, letters.text, few, "share")
    ]
    return HeatMap(
        rows=name_labels(LETTERS[:size]),
        columns=[*name_labels(LETTERS[:size]), *(Label(plain=head) for head in heads)],
        layers=[*layers, replace(beside, left=left)],
        row_height=_PICKS_ROW,
        row_title=localized("gold", language),
        column_title=localized("picked", language),
        places=[*slots, *(left + place for place in range(len(heads)))],
        diagonal=True,
        below=_pick_bars(table, language, colour),
    )


def _pick_cells(
    table: PositionTable,
    heads: Sequence[str],
    picked: Sequence[int | str],
    counts: Grid[int],
    language: Language,
) -> Cells:
    """Columns of picks under their heads, in grey: each row as shares of its answers."""
    sums = [max(1, table.answers_at(gold)) for gold in range(table.n_options)]
    shares = [[k / total for k in row] for row, total in zip(counts, sums, strict=True)]
    return Cells(
        values=shares,
        scale="grey",
        high=_FULL_COLOUR_SHARE,
        text=[[Label(plain=f"{fixed(100 * share, 0)} %") for share in row] for row in shares],
        hover=[
            [
                _pick_hover(table, gold, head, k, language)
                for head, k in zip(heads, row, strict=True)
            ]
            for gold, row in enumerate(counts)
        ],
        keys=[[(gold, pick) for pick in picked] for gold in range(table.n_options)],
    )


def _pick_bars(table: PositionTable, language: Language, colour: str) -> Bars:
    """How often each slot is picked, against chance."""
    bars = [
        Bar(
            x=slot,
            value=share.value,
            label=Label(f"{format_value(share)} %"),
            hover=_slot_share(slot, share),
            colour=colour if share.value > table.chance else NEUTRAL,
        )
        for slot, share in enumerate(table.shares)
        if share
    ]
    chance = localized("chance-line", language, value=percent(table.chance))
    text = f"{localized('all-picks', language)}\n{chance}"
    return Bars(
        bars,
        Axis(0, max([table.chance, *(bar.value for bar in bars)]), (), ()),
        levels=[Level(table.chance, text, x=table.n_options + _OUTCOME_GAP - 0.5)],
        width=0.6,
        opacity=1.0,
        foot=True,
    )


def _questions(table: PositionTable, gold: int) -> int:
    """How many questions a row rests on: with many orders each stands in it several times."""
    return min(table.answers_at(gold), table.n_questions)


def _pick_hover(table: PositionTable, gold: int, picked: str, k: int, language: Language) -> str:
    """A cell in words; its range takes the orders of a question for one."""
    n = table.answers_at(gold)
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
