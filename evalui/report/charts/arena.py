"""Charts of judged answers: who beats whom, and win rates on groups of questions.

by_capa.png and by_lang.png keep the meaning they have in OpenCompass's report:
wins / (wins + losses + ties) of the row against the column.
"""

from collections.abc import Iterable, Sequence

from evalui.messages import localized, messages
from evalui.report.charts.kinds import Cells, Grid, HeatMap, Label, Panel, SmallMultiples
from evalui.report.charts.theme import drawing_problem, shorten_name
from evalui.report.numbers import count, decimal_places, fixed, format_range, format_value
from evalui.scoring.arena.battles import Battle
from evalui.scoring.arena.battles import win_matrix as count_wins
from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.question_groups import (
    Grouping,
    battles_by_group,
    largest_groups,
)
from evalui.types import Interval, Language

_CELL, _SMALL_CELL = 54, 34  # pixels of a matrix row with its range, and without
_MAX_RANGED_MODELS = 6  # models up to which cells hold ranges
_MAX_HEADER_LENGTH = 48  # characters of all names up to which columns are headed by them


def picture_problem(arenas: Sequence[Arena], language: Language) -> str:
    """The key of the sentence on why no picture can be drawn, "" if all can."""
    texts = [localized("matrix", language)]
    for arena in arenas:
        texts += [arena.by, *arena.judges]
        texts += [standing.model for standing in arena.standings]
        texts += [dimension.name for dimension in arena.dimensions]
    return drawing_problem(texts)


def rates_chart(arena: Arena, grouping: Grouping, language: Language) -> SmallMultiples:
    """A heat map of win rates for each group of questions; before languages one of all of them."""
    groups = _drawn_groups(arena, grouping)
    if grouping == "language":
        groups = {"overall": arena.battles, **groups}
    models = [standing.model for standing in arena.standings]
    return SmallMultiples(
        [
            Panel(
                Label(dimension_name(name, language), f"n = {count(_question_count(fought))}"),
                _rates_heat_map(fought, models),
            )
            for name, fought in groups.items()
        ]
    )


def dimension_name(name: str, language: Language) -> str:
    """A capability as the file has it, a language and the whole in words."""
    key = f"dimension-{name}"
    known = messages(language)
    return known(key) if key in known else name


def _drawn_groups(arena: Arena, grouping: Grouping) -> dict[str, Sequence[Battle]]:
    whole = battles_by_group(arena, grouping)
    sizes = {name: _question_count(fought) for name, fought in whole.items()}
    return {name: whole[name] for name in largest_groups(sizes)}


# ---------------------------------------------------------------- win matrices


def win_matrix(arena: Arena, language: Language) -> HeatMap:
    """The share of points that the row won against the column, best models first.

    The diagonal is grey; where two models never met there is a dash.
    """
    models = [standing.model for standing in arena.standings]
    ranged = len(models) <= _MAX_RANGED_MODELS
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
    text = [[Label(plain="" if r is None else fixed(100 * r, 0)) for r in row] for row in rates]
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


def _question_count(fought: Iterable[Battle]) -> int:
    return len({battle.question for battle in fought})
