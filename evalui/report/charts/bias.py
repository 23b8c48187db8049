"""Charts of position bias: content or position, priors by position, gaps by subject.

A cell's keys tell which questions it counts, so that a page can open them.
"""

from collections.abc import Sequence

from evalui.messages import localized
from evalui.proportions import wilson_interval
from evalui.report.analyses.position_bias.figures import GapRow, PriorRow
from evalui.report.charts.kinds import Cells, HeatMap, Label, coloured_and_grey, name_labels
from evalui.report.charts.theme import (
    MIN_QUESTIONS,
    Scale,
)
from evalui.report.numbers import count, fixed, format_range, format_value, percent
from evalui.scoring.bias.counts import Consistency
from evalui.types import LETTERS, Interval, Language

_FULL_COLOUR_RANGE = 0.25  # from the fair share, or of the questions: what gets the full colour
_ROW, _SMALL_ROW, _ORDERS_ROW = 46, 30, 16  # pixels
_PRINTED = 6  # orders, or columns, up to which a cell has room for its number

_GAP_SCALES: tuple[Scale, ...] = ("loss", "grey")


def agreement_map(consistency: Consistency, language: Language) -> HeatMap:
    """How often the same option by how often the same slot: bottom right goes by content.

    The keys of a cell are [times the same slot, times the same option].
    """
    size = consistency.n_orders
    numbers = range(1, size + 1)
    printed = size <= _PRINTED
    cells = Cells(
        # Without numbers in its cells the map shows only those with questions.
        values=[
            [k / consistency.n if k or printed else None for k in row] for row in consistency.grid
        ],
        scale="share" if consistency.n >= MIN_QUESTIONS else "grey",
        high=max(_FULL_COLOUR_RANGE, max(map(max, consistency.grid)) / consistency.n),
        text=[[Label(plain=count(k) if k else "·") for k in row] for row in consistency.grid],
        hover=[[_agreement_hover(consistency, s, o, language) for o in numbers] for s in numbers],
        keys=[[(slots, options) for options in numbers] for slots in numbers],
    )
    labels = [Label(str(number)) for number in numbers]
    locked, by_content = (
        localized(key, language).replace("<br>", "\n")
        for key in ("agree-locked", "agree-by-content")
    )
    return HeatMap(
        labels,
        labels,
        [cells],
        _ROW if printed else _ORDERS_ROW,
        row_title=localized("agree-position", language),
        column_title=localized("agree-content", language),
        printed=printed,
        counted=True,
        beside=[(size - 1, locked), (0, by_content)],
    )


def prior_map(rows: Sequence[PriorRow], language: Language) -> HeatMap:
    """The shares of the slots of each row against the fair one; all rows have as many slots.

    The keys of a cell are [the row's key, slot].
    """
    size = len(rows[0].shares) if rows else 0
    fair = 1 / size if size else 0.0
    few = {at for at, row in enumerate(rows) if min(s.n for s in row.shares) < MIN_QUESTIONS}
    values = [[share.value for share in row.shares] for row in rows]
    text = [[Label(plain=f"{format_value(share)} %") for share in row.shares] for row in rows]
    layers = [
        Cells(
            values=shares,
            scale=scale,
            low=fair - _FULL_COLOUR_RANGE,
            high=fair + _FULL_COLOUR_RANGE,
            text=labels,
            hover=[
                [_preference_hover(r, slot, fair, language) for slot in range(size)] for r in rows
            ],
            keys=[[(row.key, slot) for slot in range(size)] for row in rows],
        )
        for scale, shares, labels in coloured_and_grey(values, text, few, "surplus")
    ]
    foot = localized("fair-at", language, value=percent(fair))
    return HeatMap(
        name_labels(r.name for r in rows), name_labels(LETTERS[:size]), layers, _ROW, foot=foot
    )


def gap_map(columns: Sequence[str], rows: Sequence[GapRow], language: Language) -> HeatMap:
    """Points lost to another order, by subject and model; a star where the rest loses less or more.

    Cells of few questions are grey and give their value in the hover only. The keys of a cell are
    [the row's key, column].
    """
    places = range(len(columns))
    layers = [
        Cells(
            values=[[_gap_value(gap, grey=scale == "grey") for gap in row.gaps] for row in rows],
            scale=scale,
            high=2 * _FULL_COLOUR_RANGE,
            text=[[Label(plain=_gap_label(row, place, scale)) for place in places] for row in rows],
            hover=[
                [_gap_hover(row, place, name, language) for place, name in enumerate(columns)]
                for row in rows
            ],
            keys=[[(row.key, place) for place in places] for row in rows],
        )
        for scale in _GAP_SCALES
    ]
    return HeatMap(
        name_labels(row.name for row in rows),
        name_labels(columns),
        layers,
        _ROW if len(rows) <= _PRINTED else _SMALL_ROW,
        printed=len(columns) <= 2 * _PRINTED,
    )


# ---------------------------------------------------------------- cells


def _agreement_hover(consistency: Consistency, slots: int, options: int, language: Language) -> str:
    number = consistency.grid[slots - 1][options - 1]
    share = wilson_interval(number, consistency.n)
    return localized(
        "agree-told",
        language,
        slots=slots,
        options=options,
        orders=consistency.n_orders,
        k=count(number),
        n=count(consistency.n),
        value=format_value(share),
        span=format_range(share),
    )


def _preference_hover(row: PriorRow, slot: int, fair: float, language: Language) -> str:
    share = row.shares[slot]
    text = localized(
        f"{row.origin}-told",
        language,
        letter=LETTERS[slot],
        value=format_value(share),
        span=format_range(share),
        fair=percent(fair),
        n=count(share.n),
    )
    return f"{row.name}: {text}"


def _gap_value(gap: Interval | None, *, grey: bool) -> float | None:
    return gap.value if gap and (gap.n < MIN_QUESTIONS) == grey else None


def _gap_label(row: GapRow, place: int, scale: Scale) -> str:
    gap = row.gaps[place]
    if gap is None or gap.n < MIN_QUESTIONS or scale == "grey":
        return ""
    return fixed(100 * gap.value, 0) + ("*" if row.significant[place] else "")


def _gap_hover(row: GapRow, place: int, column: str, language: Language) -> str:
    gap = row.gaps[place]
    if gap is None:
        return ""
    text = localized(
        "gap-told",
        language,
        value=format_value(gap),
        span=format_range(gap),
        k=count(round(gap.value * gap.n)),
        n=count(gap.n),
    )
    star = " " + localized("gap-star", language) if row.significant[place] else ""
    return f"{row.name} · {column}: {text}{star}"
