"""Pictures for reports and slides: the arena as PNG files, drawn by matplotlib without a browser.

They show what the Plotly charts show. by_capa.png and by_lang.png keep the meaning they have in
OpenCompass's report: wins / (wins + losses + ties) of the row against the column.
"""

from collections.abc import Mapping, Sequence

from evalui.messages import localized
from evalui.report.analyses.arena.categories import Grouping, battles_by_group, largest_groups
from evalui.report.analyses.arena.figures import Arena, Standing
from evalui.report.analyses.arena.narrative import (
    battles_by,
    dimension_name,
    join_sentences,
    matrix_subtitle,
    matrix_title,
    standings_subtitle,
    standings_title,
)
from evalui.report.charts.arena import interval_offsets, rating_ticks
from evalui.report.charts.common import COLOURS, NEUTRAL, SeriesStyle, series_styles, shorten_name
from evalui.report.charts.paper import (
    LIGHT,
    Canvas,
    Theme,
    lacks_cjk_glyphs,
    matplotlib_installed,
    text_width,
    wrap_text,
)
from evalui.report.numbers import count, format_range, format_value
from evalui.scoring.arena.battles import Battle, WinMatrix, win_matrix
from evalui.scoring.arena.elo import INITIAL_RATING
from evalui.types import Interval, Language

_BLUE, _ORANGE = COLOURS[:2]
_EDGE = 24  # pixels around everything
_TITLE, _SUBTITLE = 24, 18  # pixels of a line
_WIDE = 760  # pixels of a picture of one chart
_ROW = 48
_CELL, _SMALL_CELL = (96.0, 48.0), (44.0, 30.0)  # of the win matrix with ranges, and without
_MAX_RANGED_MODELS = 6  # models up to which a cell has room for its range
_MIN_OPACITY = 0.04  # opacity of nothing: a cell can still be seen
_MAX_OPACITY = 0.66  # opacity of a whole share: the ink keeps 4.5:1 on it
_MAX_WIDTH = 1100  # pixels that small matrices may take side by side
_MATRIX_GAP = 28  # pixels between small matrices


def picture_problem(arenas: Sequence[Arena], language: Language) -> str:
    """The key of the sentence that says why no picture can be drawn, "" if all can."""
    if not matplotlib_installed():
        return "pictures-need-matplotlib"
    texts = [localized("matrix", language)]
    for arena in arenas:
        texts += [arena.by, *arena.judges]
        texts += [standing.model for standing in arena.standings]
        texts += [dimension.name for dimension in arena.dimensions]
    return "pictures-need-font" if lacks_cjk_glyphs(texts) else ""


def elo_png(
    arena: Arena,
    language: Language,
    *,
    baselines: frozenset[str] = frozenset(),
    theme: Theme = LIGHT,
) -> bytes:
    """The standings as `arena_charts.elo_chart` shows them."""
    title = standings_title(arena, language)
    about = standings_subtitle(arena, language, rule_based=baselines)
    rows = arena.standings
    paper, top = _titled_canvas(title, about, _WIDE, 44 + _ROW * max(1, len(rows)) + 28, theme)
    drawn = series_styles([contestant.name for contestant in arena.contestants], baselines)
    left = _EDGE + _names_width([standing.model for standing in rows]) + 16
    ticks = rating_ticks(rows)

    def across(rating: float) -> float:
        return left + (rating - ticks[0]) / (ticks[-1] - ticks[0]) * (_WIDE - _EDGE - 24 - left)

    bottom = top + 32 + _ROW * max(1, len(rows))
    for tick in ticks:
        paper.line((across(tick), top + 20), (across(tick), bottom), theme.grid)
        paper.text(across(tick), bottom + 14, count(tick), faint=True, align="center")
    paper.line(
        (across(INITIAL_RATING), top + 20), (across(INITIAL_RATING), bottom), NEUTRAL, dotted=True
    )
    start = localized("start", language, value=count(round(INITIAL_RATING)))
    paper.text(across(INITIAL_RATING), top + 8, start, faint=True, size=12, align="center")
    for place, standing in enumerate(rows):
        y = top + 32 + _ROW * (place + 0.6)
        paper.text(_EDGE, y, shorten_name(standing.model), bold=True)
        mark = drawn.get(standing.model, SeriesStyle(NEUTRAL, "circle"))
        ends = [across(x) for x in (standing.elo_low, standing.elo_high) if x is not None]
        _standing(
            paper,
            standing,
            mark,
            y,
            (across(standing.elo), ends),
        )
    return paper.png()


def win_matrix_png(
    arena: Arena,
    language: Language,
    *,
    baselines: frozenset[str] = frozenset(),
    theme: Theme = LIGHT,
) -> bytes:
    """The shares of points as `arena_charts.win_matrix` shows them."""
    models = [standing.model for standing in arena.standings]
    ranged = len(models) <= _MAX_RANGED_MODELS
    wide, high = _CELL if ranged else _SMALL_CELL
    left = _EDGE + _names_width(models) + 40
    room = max(560.0, left + wide * len(models) + _EDGE)
    fought = battles_by(arena, language, rule_based=baselines)
    about = join_sentences([matrix_subtitle(arena, language), fought], language)
    paper, top = _titled_canvas(
        matrix_title(arena, language), about, room, 28 + high * max(1, len(models)), theme
    )
    _heads(paper, models, (left, top, wide, high))
    for y, row in enumerate(models):
        for x, column in enumerate(models):
            place = (left + x * wide, top + 28 + y * high)
            if row == column:
                paper.rectangle(*place, (wide - 3, high - 3), theme.band)
            else:
                _share(paper, arena.shares.get((row, column)), place, (wide, high), ranged)
    return paper.png()


def by_capa_png(
    arena: Arena,
    language: Language,
    *,
    baselines: frozenset[str] = frozenset(),
    theme: Theme = LIGHT,
) -> bytes:
    """A heat map of win rates for each capability."""
    about = _rates_subtitle(arena, language, baselines)
    return _small_matrices(arena, "capability", language, (about, theme))


def by_lang_png(
    arena: Arena,
    language: Language,
    *,
    baselines: frozenset[str] = frozenset(),
    theme: Theme = LIGHT,
) -> bytes:
    """Heat maps of win rates: all questions, then those of each language."""
    about = _rates_subtitle(arena, language, baselines)
    return _small_matrices(arena, "language", language, (about, theme))


def _rates_subtitle(arena: Arena, language: Language, baselines: frozenset[str]) -> str:
    fought = battles_by(arena, language, rule_based=baselines)
    return join_sentences([localized("rates-about", language), fought], language)


def _small_matrices(
    arena: Arena, grouping: Grouping, language: Language, look: tuple[str, Theme]
) -> bytes:
    """The matrices of the largest groups; `look` is the subtitle and the theme."""
    about, theme = look
    whole = battles_by_group(arena, grouping)
    sizes = {name: _question_count(fought) for name, fought in whole.items()}
    groups: Mapping[str, Sequence[Battle]] = {name: whole[name] for name in largest_groups(sizes)}
    if left := len(whole) - len(groups):
        told = localized("groups-left-out", language, shown=count(len(groups)), k=count(left))
        about = join_sentences([about, told], language)
    if grouping == "language":
        groups = {"overall": arena.battles, **groups}
    models = [standing.model for standing in arena.standings]
    wide, high = _SMALL_CELL
    names = _names_width(models) + 40
    one = (wide * len(models) + _MATRIX_GAP, high * len(models) + 84)
    across = max(1, min(len(groups), 3, int((_MAX_WIDTH - names) // one[0])))
    down = -(-len(groups) // across)
    room = max(560.0, 2 * _EDGE + names + one[0] * across)
    title = localized(f"rates-{grouping}", language)
    paper, top = _titled_canvas(title, about, room, one[1] * down - 24, theme)
    for place, (name, fought) in enumerate(groups.items()):
        row, column = divmod(place, across)
        left, y = _EDGE + names + column * one[0], top + row * one[1]
        n = _question_count(fought)
        paper.text(left, y + 10, _truncated(dimension_name(name, language), one[0] - 12), bold=True)
        paper.text(left, y + 28, f"n = {count(n)}", faint=True, size=12)
        if column == 0:
            _rows(paper, models, (y + 64, high))
        _win_rate_cells(paper, win_matrix(fought), models, (left, y + 36))
    return paper.png()


def _question_count(fought: Sequence[Battle]) -> int:
    return len({battle.question for battle in fought})


def _win_rate_cells(
    paper: Canvas, met: WinMatrix, models: Sequence[str], corner: tuple[float, float]
) -> None:
    (left, top), (wide, high) = corner, _SMALL_CELL
    place = {name: number for number, name in enumerate(met.models)}
    for x in range(len(models)):
        paper.text(
            left + (x + 0.5) * wide - 1, top + 16, str(x + 1), size=12, align="center", bold=True
        )
    for y, row in enumerate(models):
        for x, column in enumerate(models):
            spot = (left + x * wide, top + 28 + y * high)
            middle = (spot[0] + wide / 2 - 1, spot[1] + high / 2 - 1)
            known = row in place and column in place and row != column
            rate = met.win_share(place[row], place[column]) if known else None
            if row == column:
                paper.rectangle(*spot, (wide - 3, high - 3), paper.theme.band)
            elif rate is None:
                paper.text(*middle, "–", faint=True, align="center")
            else:
                paper.rectangle(
                    *spot,
                    (wide - 3, high - 3),
                    _BLUE,
                    opacity=max(_MIN_OPACITY, _MAX_OPACITY * rate),
                )
                paper.text(*middle, f"{100 * rate:.0f}", size=12, align="center")


def _standing(
    paper: Canvas, standing: Standing, mark: SeriesStyle, y: float, spot: tuple[float, list[float]]
) -> None:
    x, ends = spot
    if len(ends) == 2:
        low, high = ends
        paper.line((low, y), (high, y), mark.colour, thickness=2)
        for end in ends:
            paper.line((end, y - 5), (end, y + 5), mark.colour, thickness=2)
    paper.marker(x, y, mark.symbol, mark.colour)
    value, around = f"{standing.elo:,.0f}", interval_offsets(standing)
    seam = x + (text_width(value) - text_width(around)) / 2 if around else x + text_width(value) / 2
    paper.text(seam - 3, y - 18, value, bold=True, align="right")
    paper.text(seam + 3, y - 18, around, faint=True)


def _share(
    paper: Canvas,
    share: Interval | None,
    place: tuple[float, float],
    size: tuple[float, float],
    ranged: bool,
) -> None:
    (x, y), (wide, high) = place, size
    middle = (x + wide / 2 - 1, y + high / 2 - 1)
    if share is None:
        paper.text(*middle, "–", faint=True, align="center")
        return
    opacity = max(_MIN_OPACITY, 2 * _MAX_OPACITY * abs(share.value - 0.5))
    paper.rectangle(
        x,
        y,
        (wide - 3, high - 3),
        _BLUE if share.value > 0.5 else _ORANGE,
        opacity=opacity,
    )
    if not ranged:
        paper.text(*middle, format_value(share), align="center", size=12)
        return
    paper.text(middle[0], middle[1] - 8, f"{format_value(share)} %", bold=True, align="center")
    paper.text(middle[0], middle[1] + 9, format_range(share), align="center", size=12)


def _titled_canvas(
    title: str, about: str, room: float, height: float, theme: Theme
) -> tuple[Canvas, float]:
    """A sheet with its title and subtitle, and where the drawing begins; `height` is its own."""
    titles = wrap_text(title, room - 2 * _EDGE, size=16)
    lines = wrap_text(about, room - 2 * _EDGE, size=12)
    top = _EDGE + _TITLE * len(titles) + _SUBTITLE * len(lines) + 12
    paper = Canvas(room, top + height + _EDGE, theme)
    for place, line in enumerate(titles):
        paper.text(_EDGE, _EDGE + 8 + _TITLE * place, line, size=16, bold=True)
    below = _EDGE + 6 + _TITLE * len(titles)
    for place, line in enumerate(lines):
        paper.text(_EDGE, below + _SUBTITLE * place, line, size=12, faint=True)
    return paper, top


def _heads(paper: Canvas, models: Sequence[str], grid: tuple[float, float, float, float]) -> None:
    """Names at the left, and above if they fit, else numbers; `grid`: left, top, cell's size."""
    left, top, wide, high = grid
    fit = all(1.1 * text_width(model) < wide for model in models)
    for place, model in enumerate(models):
        head = model if fit else str(place + 1)
        paper.text(left + (place + 0.5) * wide - 1, top + 14, head, bold=True, align="center")
    _rows(paper, models, (top + 28, high), numbered=not fit)


def _rows(
    paper: Canvas, models: Sequence[str], grid: tuple[float, float], *, numbered: bool = True
) -> None:
    top, high = grid
    numbers = _EDGE + _names_width(models) + 26
    for place, model in enumerate(models):
        y = top + (place + 0.5) * high - 1
        paper.text(_EDGE, y, shorten_name(model), bold=True)
        if numbered:
            paper.text(numbers, y, str(place + 1), bold=True, align="right")


def _names_width(models: Sequence[str]) -> float:
    return max((1.1 * text_width(shorten_name(model)) for model in models), default=0.0)


def _truncated(text: str, room: float) -> str:
    """As much of a text as fits."""
    if text_width(text) <= room:
        return text
    kept = text
    while kept and text_width(kept + "…") > room:
        kept = kept[:-1]
    return kept + "…"
