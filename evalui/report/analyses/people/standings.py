"""The ratings of people beside those of judges, as tables: one drawn, one with every judge."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from evalui.messages import localized
from evalui.report.analyses.arena.standings import rating_axis, rating_range, rating_text
from evalui.report.blocks import (
    NONE,
    Column,
    Markers,
    ModelCell,
    PlotCell,
    PlotMark,
    Table,
    TableCell,
    ValueCell,
    text_table,
)
from evalui.report.numbers import count
from evalui.scoring.arena.figures import Standing
from evalui.scoring.arena.people import PeopleFigures
from evalui.types import Language

Judges = Mapping[str, PeopleFigures]  # the figures beside each judge, by its name


def contestant_cells(figures: PeopleFigures, rule_based: frozenset[str]) -> Mapping[str, ModelCell]:
    """The contestants with their markers, by name; scripts are grey and take no colour."""
    names = [one.name for one in figures.judged.contestants]
    markers = Markers(names, rule_based)
    return {name: markers.cell(name) for name in names}


def standings_table(
    first: PeopleFigures, judges: Judges, language: Language, rule_based: frozenset[str]
) -> Table:
    """People's ratings with their ranges, beside those of the first judge."""
    assert first.human_arena is not None, "there are votes"
    standings = first.human_arena.standings
    judge = next(iter(judges), "")  # the panel, where there is one
    beside = _by_model(judges[judge].judged.standings) if judge else {}
    head = {key: localized(f"head-{key}", language) for key in ("model", "people-elo", "counts")}
    columns = (
        Column(head["model"], width=200),
        Column("", axis=rating_axis(_ends([*standings, *beside.values()]))),
        Column(head["people-elo"], right=True, lead=True, width=128),
        *(
            Column(localized("head-judge-elo", language, judge=name), right=True, width=144)
            for name in [*judges][:1]
        ),
        Column(head["counts"], right=True, width=128),
        Column(localized("head-points", language), right=True, width=80),
    )
    cells = contestant_cells(first, rule_based)
    rows = (
        _standing_row(one, [beside.get(one.model)] if judge else [], cells[one.model])
        for one in standings
    )
    return Table(columns, tuple(rows), lead=True)


def judges_table(
    first: PeopleFigures, judges: Judges, language: Language, rule_based: frozenset[str]
) -> Table:
    """People's ratings beside those of every judge."""
    assert first.human_arena is not None, "there are votes"
    beside = [_by_model(figures.judged.standings) for figures in judges.values()]
    cells = contestant_cells(first, rule_based)
    heads = [localized(f"head-{key}", language) for key in ("model", "people-elo")]
    heads += [localized("head-judge-elo", language, judge=judge) for judge in judges]
    rows = [
        (
            cells[one.model],
            *(_elo(each, "row") for each in (one, *(o.get(one.model) for o in beside))),
        )
        for one in first.human_arena.standings
    ]
    return text_table(heads, rows)


def _standing_row(
    one: Standing, judged: Sequence[Standing | None], model: ModelCell
) -> tuple[TableCell, ...]:
    marks = [_elo_mark(one), *(_elo_mark(other, hollow=True) for other in judged if other)]
    return (
        model,
        PlotCell(tuple(marks), model.place, model.baseline, rating_text(one.elo)),
        _elo(one, size="lead"),
        *(_elo(other) for other in judged),
        _tally_text(one),
        str(one.tally.score),
    )


def _elo_mark(one: Standing, *, hollow: bool = False) -> PlotMark:
    return PlotMark(one.elo, one.elo_low, one.elo_high, hollow=hollow)


def _ends(standings: Iterable[Standing]) -> list[float]:
    ends = (end for one in standings for end in (one.elo, one.elo_low, one.elo_high))
    return [end for end in ends if end is not None]


def _by_model(standings: Sequence[Standing]) -> dict[str, Standing]:
    return {standing.model: standing for standing in standings}


def _tally_text(standing: Standing) -> str:
    tally = standing.tally
    counts = (tally.win, tally.tie, tally.lose, tally.not_bad)
    return " / ".join(NONE if number is None else count(number) for number in counts)


def _elo(standing: Standing | None, size: Literal["lead", "large", "row"] = "large") -> TableCell:
    if standing is None:
        return NONE
    ends = rating_range(standing.elo_low, standing.elo_high)
    return ValueCell(rating_text(standing.elo), range=ends, size=size)
