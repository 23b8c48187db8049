"""Charts of judged answers: standings, win matrices, groups of questions.

by_capa.png and by_lang.png keep the meaning they have in OpenCompass's report:
wins / (wins + losses + ties) of the row against the column.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil, floor

import plotly.graph_objects as go

from evalui.messages import localized
from evalui.report.analyses.arena.categories import (
    Grouping,
    QuestionGroup,
    battles_by_group,
    largest_groups,
    question_groups,
)
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
from evalui.report.charts.kinds import (
    Axis,
    Cells,
    Grid,
    HeatMap,
    Intervals,
    Label,
    Mark,
    Panel,
    Rule,
    Series,
    SmallMultiples,
    name_labels,
)
from evalui.report.charts.plotly import draw_plotly
from evalui.report.charts.png import draw_png
from evalui.report.charts.theme import (
    LIGHT,
    NEUTRAL,
    SeriesStyle,
    Theme,
    drawing_problem,
    series_styles,
    shorten_name,
)
from evalui.report.numbers import count, decimal_places, fixed, format_range, format_value
from evalui.scoring.arena.battles import Battle
from evalui.scoring.arena.battles import win_matrix as count_wins
from evalui.scoring.arena.elo import INITIAL_RATING
from evalui.types import Interval, Language

_MINUS = "−"
_ROW = 52  # pixels of a model's standing
_CELL, _SMALL_CELL = 54, 34  # pixels of a matrix row with its range, and without
_PANEL_ROW, _SMALL_PANEL_ROW = 34, 20  # pixels of a model in a panel, with its value and without
_SMALL_MARK = 9  # pixels
_MIN_AXIS_SPAN = 800.0  # rating points an axis holds at least: a short one enlarges differences
_STEPS = (100, 200, 500, 1000, 2000, 5000)  # between two ticks, of which there are at most 7
_TICKS = 7
_MAX_LABELLED_MODELS = 6  # models up to which cells hold ranges, and panels values
_MAX_HEADER_LENGTH = 48  # characters of all names up to which columns are headed by them


def picture_problem(arenas: Sequence[Arena], language: Language) -> str:
    """The key of the sentence on why no picture can be drawn, "" if all can."""
    texts = [localized("matrix", language)]
    for arena in arenas:
        texts += [arena.by, *arena.judges]
        texts += [standing.model for standing in arena.standings]
        texts += [dimension.name for dimension in arena.dimensions]
    return drawing_problem(texts)


def elo_chart(arena: Arena, language: Language, *, baselines: Collection[str] = ()) -> go.Figure:
    """ELO with whiskers, in the order of the standings; each model in its colour."""
    return draw_plotly(_standings(arena, language, baselines))


def elo_png(
    arena: Arena,
    language: Language,
    *,
    baselines: frozenset[str] = frozenset(),
    theme: Theme = LIGHT,
) -> bytes:
    """What `elo_chart` shows, as a picture."""
    return draw_png(
        _standings(arena, language, baselines),
        theme,
        title=standings_title(arena, language),
        subtitle=standings_subtitle(arena, language, rule_based=baselines),
    )


def win_matrix(arena: Arena, language: Language) -> go.Figure:
    """The share of points that the row won against the column, best models first."""
    return draw_plotly(_win_heat_map(arena, language))


def win_matrix_png(
    arena: Arena,
    language: Language,
    *,
    baselines: frozenset[str] = frozenset(),
    theme: Theme = LIGHT,
) -> bytes:
    """What `win_matrix` shows, as a picture."""
    fought = battles_by(arena, language, rule_based=baselines)
    return draw_png(
        _win_heat_map(arena, language),
        theme,
        title=matrix_title(arena, language),
        subtitle=join_sentences([matrix_subtitle(arena, language), fought], language),
    )


def rates_png(
    arena: Arena,
    grouping: Grouping,
    language: Language,
    *,
    baselines: frozenset[str] = frozenset(),
    theme: Theme = LIGHT,
) -> bytes:
    """A heat map of win rates for each group of questions; before languages one of all of them."""
    whole = battles_by_group(arena, grouping)
    sizes = {name: _question_count(fought) for name, fought in whole.items()}
    groups: Mapping[str, Sequence[Battle]] = {name: whole[name] for name in largest_groups(sizes)}
    left = len(whole) - len(groups)
    about = [localized("rates-about", language), battles_by(arena, language, rule_based=baselines)]
    about += [_left_out(len(groups), left, language)] if left else []
    if grouping == "language":
        groups = {"overall": arena.battles, **groups}
    models = [standing.model for standing in arena.standings]
    return draw_png(
        SmallMultiples(
            [
                Panel(
                    Label(dimension_name(name, language), f"n = {count(_question_count(fought))}"),
                    _rates_heat_map(fought, models),
                )
                for name, fought in groups.items()
            ]
        ),
        theme,
        title=localized(f"rates-{grouping}", language),
        subtitle=join_sentences(about, language),
    )


def capability_chart(
    arena: Arena,
    language: Language,
    *,
    grouping: Grouping = "capability",
    baselines: Collection[str] = (),
) -> go.Figure:
    """A panel per group of questions with a row per model: its share of points with its range.

    All panels have the same rows and the same axis from 0 to 100 %; those of few questions are
    grey. Of many groups the most frequent are drawn, and the chart says how many are left out.
    A run whose questions name no group gives an empty chart.
    """
    styles = _styles(arena, baselines)
    models = [standing.model for standing in arena.standings]
    groups = question_groups(arena, grouping)
    largest = set(largest_groups({group.name: group.questions for group in groups}))
    shown = [group for group in groups if group.name in largest]
    left = len(groups) - len(shown)
    panels = [_group_panel(group, models, styles, language) for group in shown]
    return draw_plotly(
        SmallMultiples(panels, _left_out(len(shown), left, language) if left else "")
    )


def rating_ticks(standings: Sequence[Standing]) -> list[int]:
    """Round ratings that hold all standings, their ranges and the start."""
    ends = [INITIAL_RATING] + [
        end for s in standings for end in (s.elo, s.elo_low, s.elo_high) if end is not None
    ]
    low, high = min(ends), max(ends)
    missing = max(0.0, _MIN_AXIS_SPAN - (high - low)) / 2
    low, high = low - missing, high + missing
    step = next((step for step in _STEPS if (high - low) / step < _TICKS), _STEPS[-1])
    return list(range(step * floor(low / step), step * ceil(high / step) + 1, step))


def interval_offsets(standing: Standing) -> str:
    """The whiskers of an ELO in points: "+30 −32", "" if they are not known."""
    if standing.elo_low is None or standing.elo_high is None:
        return ""
    up, down = standing.elo_high - standing.elo, standing.elo - standing.elo_low
    return f"+{fixed(up, 0)} {_MINUS}{fixed(down, 0)}"


# ---------------------------------------------------------------- standings


def _styles(arena: Arena, baselines: Collection[str]) -> dict[str, SeriesStyle]:
    return series_styles([contestant.name for contestant in arena.contestants], baselines)


def _standings(arena: Arena, language: Language, baselines: Collection[str]) -> Intervals:
    styles = _styles(arena, baselines)
    ticks = rating_ticks(arena.standings)
    start = localized("start", language, value=count(round(INITIAL_RATING)))
    return Intervals(
        rows=name_labels(standing.model for standing in arena.standings),
        series=[
            Series(styles.get(standing.model, SeriesStyle(NEUTRAL)), [_standing_mark(y, standing)])
            for y, standing in enumerate(arena.standings)
        ],
        axis=Axis(ticks[0], ticks[-1], ticks, [count(tick) for tick in ticks]),
        row_height=_ROW,
        rules=[Rule(INITIAL_RATING)],
        note=(INITIAL_RATING, -0.8, start),
    )


def _standing_mark(y: int, standing: Standing) -> Mark:
    value, low, high = f"{standing.elo:,.0f}", standing.elo_low, standing.elo_high
    ends = "" if low is None or high is None else f" ({low:,.0f}–{high:,.0f})"
    return Mark(
        y=y,
        value=standing.elo,
        low=low,
        high=high,
        hover=f"{standing.model}: {value}{ends}",
        label=Label(value, interval_offsets(standing)),
    )


# ---------------------------------------------------------------- win matrices


def _win_heat_map(arena: Arena, language: Language) -> HeatMap:
    """A grey diagonal, and a dash where two models never met."""
    models = [standing.model for standing in arena.standings]
    ranged = len(models) <= _MAX_LABELLED_MODELS
    # One format for all cells: as many digits as the widest range deserves.
    places = min(map(decimal_places, arena.shares.values()), default=0)
    shares = [[arena.shares.get((row, column)) for column in models] for row in models]
    cells = Cells(
        values=[[share.value if share else None for share in row] for row in shares],
        scale="wins",
        text=[[_share_label(share, ranged, places) for share in row] for row in shares],
        hover=[[_share_hover(arena, (r, c), language) for c in models] for r in models],
    )
    rows, columns = _matrix_heads(models, named=ranged)
    return HeatMap(
        rows,
        columns,
        [cells, _diagonal(len(models))],
        _CELL if ranged else _SMALL_CELL,
        missing=_missing(cells.values),
    )


def _rates_heat_map(fought: Sequence[Battle], models: Sequence[str]) -> HeatMap:
    """Win rates of the row in one small matrix, in per cent."""
    met = count_wins(fought)
    place = {name: number for number, name in enumerate(met.models)}
    rates = [
        [
            met.win_share(place[row], place[column])
            if row != column and row in place and column in place
            else None
            for column in models
        ]
        for row in models
    ]
    text = [[Label(plain="" if r is None else f"{100 * r:.0f}") for r in row] for row in rates]
    numbers = range(1, len(models) + 1)
    rows = [Label(f"{n}. {shorten_name(name)}") for n, name in zip(numbers, models, strict=True)]
    columns = [Label(str(n)) for n in numbers]
    layers = [Cells(rates, "share", text=text), _diagonal(len(models))]
    return HeatMap(rows, columns, layers, _SMALL_CELL, missing=_missing(rates))


def _diagonal(size: int) -> Cells:
    values = [[0.0 if row == column else None for column in range(size)] for row in range(size)]
    return Cells(values, "grey")


def _missing(values: Grid[float | None]) -> list[tuple[int, int]]:
    return [
        (y, x)
        for y, row in enumerate(values)
        for x, value in enumerate(row)
        if x != y and value is None
    ]


def _matrix_heads(models: Sequence[str], *, named: bool) -> tuple[list[Label], list[Label]]:
    """The heads of rows and columns: names if they are to be and fit, else numbered names."""
    names = [shorten_name(model) for model in models]
    if named and sum(map(len, models)) <= _MAX_HEADER_LENGTH:
        return [Label(name) for name in names], [Label(name) for name in names]
    numbers = [str(place) for place in range(1, len(models) + 1)]
    rows = [Label(f"{name}  {number}") for name, number in zip(names, numbers, strict=True)]
    return rows, [Label(number) for number in numbers]


def _share_label(share: Interval | None, ranged: bool, places: int) -> Label:
    if share is None:
        return Label()
    value, low, high = (fixed(100 * end, places) for end in (share.value, share.low, share.high))
    return Label(f"{value} %", f"{low}–{high}") if ranged else Label(value)


def _share_hover(arena: Arena, pair: tuple[str, str], language: Language) -> str:
    share = arena.shares.get(pair)
    if share is None:
        return ""
    row, column = pair
    fields = {"value": format_value(share), "span": format_range(share), "n": count(share.n)}
    return localized("against", language, row=row, column=column, **fields)


# ---------------------------------------------------------------- groups of questions


def _left_out(shown: int, left: int, language: Language) -> str:
    return localized("groups-left-out", language, shown=count(shown), k=count(left))


def _question_count(fought: Iterable[Battle]) -> int:
    return len({battle.question for battle in fought})


def _group_panel(
    group: QuestionGroup,
    models: Sequence[str],
    styles: Mapping[str, SeriesStyle],
    language: Language,
) -> Panel:
    name = dimension_name(group.name, language)
    labelled = len(models) <= _MAX_LABELLED_MODELS
    series: list[Series] = []
    for y, model in enumerate(models):
        if share := group.shares.get(model):
            style = styles.get(model, SeriesStyle(NEUTRAL))
            mark = Mark(
                y=y,
                value=100 * share.value,
                low=100 * share.low,
                high=100 * share.high,
                hover=f"{model}, {name}: {format_value(share)} % ({format_range(share)}), "
                f"n = {share.n}",
                # Whole per cents beside all marks: 60 beside 60.0 would look like another measure.
                label=Label(plain=fixed(100 * share.value, 0) if labelled else ""),
            )
            colour = NEUTRAL if group.too_few_questions else style.colour
            series.append(Series(SeriesStyle(colour, style.symbol), [mark]))
    chart = Intervals(
        rows=name_labels(models),
        series=series,
        axis=Axis(0, 100, (0, 50, 100), ("0", "50 %", "100")),
        row_height=_PANEL_ROW if labelled else _SMALL_PANEL_ROW,
        mark_size=_SMALL_MARK,
        rules=[Rule(50)],
    )
    return Panel(Label(shorten_name(name), f"n = {count(group.questions)}"), chart)
