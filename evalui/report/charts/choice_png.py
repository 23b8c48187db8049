"""Pictures of multiple-choice cells for reports and slides: PNG files, drawn without a browser.

They show what the Plotly charts of `charts` and `position_charts` show.
"""

from collections.abc import Callable, Collection, Sequence

from evalui.messages import localized
from evalui.report.analyses.overview.narrative import (
    answers_at,
    names,
    overview_subtitle,
    overview_title,
    picks_subtitle,
    picks_title,
)
from evalui.report.analyses.overview.summary import Summary
from evalui.report.charts.common import (
    COLOURS,
    MIN_QUESTIONS,
    NEUTRAL,
    SeriesStyle,
    series_styles,
    share_limit,
    shorten_name,
)
from evalui.report.charts.paper import (
    LIGHT,
    Canvas,
    Theme,
    lacks_cjk_glyphs,
    matplotlib_installed,
    text_width,
    wrap_text,
)
from evalui.report.numbers import format_value, percent
from evalui.scoring.position_bias.counts import PositionTable
from evalui.types import LETTERS, Interval, Language

_EDGE = 24  # pixels around everything
_TITLE, _SUBTITLE = 24, 18  # pixels of a line
_WIDE = 760
_ROW, _CELL = 56, (72.0, 44.0)
_BAND, _BAND_OPACITY = 10, 0.18  # pixels and opacity of a range
_MAX_OPACITY, _MIN_OPACITY = 0.66, 0.04  # opacity of a full and of an empty cell
_FULL_COLOUR_SHARE = 0.75  # the share that gets the full colour, as in the chart
_BARS = 56  # pixels of the bars below a heat map
_MIN_LABEL_DISTANCE = 40  # pixels, under which two figures would print over each other


def picture_problem(summaries: Sequence[Summary], language: Language) -> str:
    """The key of the sentence that says why no picture can be drawn, "" if all can."""
    if not matplotlib_installed():
        return "pictures-need-matplotlib"
    texts = [localized("every-order", language)]
    for summary in summaries:
        texts += [summary.cell.model, summary.cell.dataset]
    return "pictures-need-font" if lacks_cjk_glyphs(texts) else ""


def before_after_png(
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str] = (),
    theme: Theme = LIGHT,
) -> bytes:
    """Accuracy as written (hollow) and in every order (solid) with ranges, a row per cell."""
    rows = [summary for summary in summaries if summary.accuracy]
    drawn = series_styles([summary.cell.model for summary in summaries], baselines)
    title = overview_title(summaries, language, baselines=baselines)
    about = overview_subtitle(summaries, language)
    height = 40.0 + _ROW * max(1, len(rows)) + 24
    paper, top = _titled_canvas((title, about), _WIDE, height, theme)
    called = names(summaries, language)
    labels = [(shorten_name(a), shorten_name(b)) for a, b in (called[row.cell] for row in rows)]
    left = (
        _EDGE + 16 + max((1.1 * text_width(text) for both in labels for text in both), default=0.0)
    )
    limit = share_limit([i.high for row in rows for i in (row.accuracy, row.robust) if i])

    def across(share: float) -> float:
        return left + 100 * share / limit * (_WIDE - _EDGE - 24 - left)

    bottom = top + 24 + _ROW * max(1, len(rows))
    for tick in range(0, limit + 1, 20):
        x = across(tick / 100)
        paper.line((x, top + 16), (x, bottom), theme.grid)
        printed = f"{tick} %" if tick == limit else str(tick)
        paper.text(x, bottom + 14, printed, faint=True, align="center")
    for place, (row, label) in enumerate(zip(rows, labels, strict=True)):
        y = top + 24 + _ROW * (place + 0.55)
        paper.text(_EDGE, y - (8 if label[1] else 0), label[0], bold=True)
        paper.text(_EDGE, y + 9, label[1], size=12, faint=True)
        if row.chance is not None:
            x = across(row.chance)
            paper.line((x, y - _ROW / 2), (x, y + _ROW / 2), NEUTRAL, dotted=True)
        _dumbbell(paper, row, (drawn[row.cell.model], y), across)
    _chance(paper, rows, across, (top + 8, language))
    return paper.png()


def heat_map_png(
    table: PositionTable,
    language: Language,
    *,
    title: str = "",
    colour: str = COLOURS[0],
    theme: Theme = LIGHT,
) -> bytes:
    """Right position by picked position, each row as shares, and all picks against chance."""
    size = table.n_options
    title = title or picks_title(table, language)
    others = {"unreadable-column": table.unreadable}
    if any(table.tied):
        others["tied-column"] = table.tied
    wide, high = _CELL
    left = _EDGE + 1.1 * text_width(localized("gold", language), size=12) + 40
    room = max(560.0, left + wide * size + 112 * len(others) + 132)
    height = 56 + high * size + _BARS + 24
    paper, top = _titled_canvas((title, picks_subtitle(table, language)), room, height, theme)
    middle = left + wide * size / 2
    paper.text(middle, top + 10, localized("picked", language), size=12, faint=True, align="center")
    gold = localized("gold", language)
    paper.text(_EDGE, top + 56 + high * size / 2, gold, size=12, faint=True)
    for slot in range(size):
        x, y = left + (slot + 0.5) * wide - 1, top + 56 + (slot + 0.5) * high - 1
        paper.text(x, top + 36, LETTERS[slot], bold=True, align="center")
        paper.text(left - 16, y, LETTERS[slot], bold=True, align="right")
    for place, key in enumerate(others):
        x = left + size * wide + 16 + 112 * place + 48
        paper.text(x, top + 36, localized(key, language), size=12, align="center")
    for row in range(size):
        _heat_row(paper, table, row, (left, top + 56))
        for place, missed in enumerate(others.values()):
            spot = (left + size * wide + 16 + 112 * place, top + 56 + row * high)
            _cell(paper, (missed[row], answers_at(table, row)), spot, (96.0, high), None)
    _picks(paper, table, (left, top + 56 + size * high + 8), (colour, language))
    return paper.png()


# ---------------------------------------------------------------- parts


def _titled_canvas(
    words: tuple[str, str], room: float, height: float, theme: Theme
) -> tuple[Canvas, float]:
    """A sheet with its title and subtitle, and where the drawing begins; `height` is its own."""
    titles = wrap_text(words[0], room - 2 * _EDGE, size=16)
    lines = wrap_text(words[1], room - 2 * _EDGE, size=12)
    top = _EDGE + _TITLE * len(titles) + _SUBTITLE * len(lines) + 12
    paper = Canvas(room, top + height + _EDGE, theme)
    for place, line in enumerate(titles):
        paper.text(_EDGE, _EDGE + 8 + _TITLE * place, line, size=16, bold=True)
    below = _EDGE + 6 + _TITLE * len(titles)
    for place, line in enumerate(lines):
        paper.text(_EDGE, below + _SUBTITLE * place, line, size=12, faint=True)
    return paper, top


def _dumbbell(
    paper: Canvas,
    summary: Summary,
    spot: tuple[SeriesStyle, float],
    across: Callable[[float], float],
) -> None:
    mark, y = spot
    accuracy, robust = summary.accuracy, summary.robust
    assert accuracy is not None, "only cells with answers are drawn"
    for interval in filter(None, (accuracy, robust)):
        low, high = across(interval.low), across(interval.high)
        paper.rectangle(low, y - _BAND / 2, (high - low, _BAND), mark.colour, opacity=_BAND_OPACITY)
    if robust is not None:
        paper.line((across(robust.value), y), (across(accuracy.value), y), mark.colour, thickness=2)
    paper.marker(across(accuracy.value), y, mark.symbol, mark.colour)
    paper.marker(across(accuracy.value), y, mark.symbol, paper.theme.surface, size=8)
    near = (
        robust is not None and across(accuracy.value) - across(robust.value) < _MIN_LABEL_DISTANCE
    )
    _value_label(paper, accuracy, (across(accuracy.value), y), "left" if near else "center")
    if robust is not None:
        paper.marker(across(robust.value), y, mark.symbol, mark.colour)
        side = "right" if near else "center"
        _value_label(paper, robust, (across(robust.value), y), side, bold=True)


def _value_label(
    paper: Canvas, share: Interval, spot: tuple[float, float], side: str, *, bold: bool = False
) -> None:
    x, y = spot
    paper.text(x, y - 18, format_value(share), bold=bold, align=side)


def _chance(
    paper: Canvas,
    rows: Sequence[Summary],
    across: Callable[[float], float],
    spot: tuple[float, Language],
) -> None:
    y, language = spot
    levels = {row.chance for row in rows if row.chance is not None}
    if len(levels) == 1:
        chance = levels.pop()
        text = localized("chance-line", language, value=percent(chance))
        paper.text(across(chance), y, text, size=12, faint=True, align="center")
    elif levels:
        text = localized("chance-lines", language)
        paper.text(across(min(levels)), y, text, size=12, faint=True, align="center")


def _heat_row(paper: Canvas, table: PositionTable, row: int, corner: tuple[float, float]) -> None:
    (left, top), (wide, high) = corner, _CELL
    asked = answers_at(table, row)
    colour = COLOURS[0] if min(asked, table.n_questions) >= MIN_QUESTIONS else None
    for slot, number in enumerate(table.counts[row]):
        spot = (left + slot * wide, top + row * high)
        if slot == row:
            paper.rectangle(spot[0] - 2, spot[1] - 2, (wide + 1, high + 1), NEUTRAL)
            paper.rectangle(*spot, (wide - 3, high - 3), paper.theme.surface)
        _cell(paper, (number, asked), spot, _CELL, colour)


def _cell(
    paper: Canvas,
    part: tuple[int, int],
    spot: tuple[float, float],
    size: tuple[float, float],
    colour: str | None,
) -> None:
    """A share of answers on its colour; None is grey."""
    (number, asked), (wide, high) = part, size
    share = number / asked if asked else 0.0
    if colour is None:
        paper.rectangle(*spot, (wide - 3, high - 3), paper.theme.band)
    else:
        deep = max(_MIN_OPACITY, _MAX_OPACITY * min(1.0, share / _FULL_COLOUR_SHARE))
        paper.rectangle(*spot, (wide - 3, high - 3), colour, opacity=deep)
    x, y = spot[0] + wide / 2 - 1, spot[1] + high / 2 - 1
    paper.text(x, y, f"{100 * share:.0f} %", align="center")


def _picks(
    paper: Canvas, table: PositionTable, corner: tuple[float, float], look: tuple[str, Language]
) -> None:
    """How often each slot is picked, as bars with a mark at chance."""
    (left, top), (colour, language) = corner, look
    wide, tall = _CELL[0], _BARS - 24
    most = max([table.chance, *(share.value for share in table.shares if share)])
    level = top + tall * (1 - table.chance / most)
    for slot, share in enumerate(table.shares):
        if share is None:
            continue
        x, height = left + slot * wide, tall * share.value / most
        above = colour if share.value > table.chance else NEUTRAL
        paper.rectangle(x + 12, top + tall - height, (wide - 27, height), above)
        paper.line((x + 4, level), (x + wide - 7, level), paper.theme.ink, dotted=True)
        text = f"{format_value(share)} %"
        paper.text(x + wide / 2 - 1, top + tall + 14, text, bold=True, size=12, align="center")
    x = left + table.n_options * wide + 16
    paper.text(x, top + 8, localized("all-picks", language), size=12, faint=True)
    chance = localized("chance-line", language, value=percent(table.chance))
    paper.text(x, top + 24, chance, size=12, faint=True)
