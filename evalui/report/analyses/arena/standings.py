"""The lead table of an arena: rank, rating on its axis, wins, ties and losses of each model."""

from collections.abc import Sequence
from math import ceil, floor

from evalui.messages import localized
from evalui.report.analyses.arena.findings import rank_band, standings_finding
from evalui.report.analyses.arena.narrative import judged_by
from evalui.report.analyses.base import OpenContext
from evalui.report.axes import Axis
from evalui.report.blocks import (
    NONE,
    Card,
    Column,
    PlotCell,
    PlotMark,
    Table,
    TableCell,
    ValueCell,
)
from evalui.report.numbers import count, format_range, format_value
from evalui.report.words import join_sentences
from evalui.scoring.arena.elo import INITIAL_RATING
from evalui.scoring.arena.figures import Arena, Standing
from evalui.types import Interval, Language

_LEAST_REACH = 100.0  # rating points that an axis shows around the start: fewer enlarge differences
_STEPS = (50, 100, 200, 500, 1000, 2000, 5000)  # between two ticks, of which there are at most 8
_TICKS = 6


def standings_card(arena: Arena, context: OpenContext, file: str) -> Card:
    """Chart and table of the standings, best first; `file` names their picture."""
    return Card(
        (_table(arena, context, file),),
        title=standings_finding(arena, context.language),
        caption=_caption(arena, context),
    )


def _caption(arena: Arena, context: OpenContext) -> str:
    fields = {
        "battles": count(len(arena.battles)),
        "judge": judged_by(arena, context.language, rule_based=context.rules),
        "start": count(round(INITIAL_RATING)),
        "n": count(arena.questions),
    }
    made = localized(f"lead-about-{arena.headline}", context.language, **fields)
    reason = no_range_reason(arena, context.language)
    band = "" if reason else localized("lead-band", context.language, **fields)
    unranked = localized("lead-unranked", context.language) if arena.headline == "elo" else ""
    return join_sentences(made, band or reason, unranked)


def no_range_reason(arena: Arena, language: Language) -> str:
    """Why the ratings that lead have no range; "" if they have one."""
    if any(_headline_value(one, arena)[1] is not None for one in arena.standings):
        return ""
    return localized("lead-one-question" if arena.questions < 2 else "lead-no-range", language)


def _table(arena: Arena, context: OpenContext, file: str) -> Table:
    rows = tuple(_row(one, arena, arena.not_bad.get(one.model), context) for one in arena.standings)
    return Table(_columns(arena, context.language), rows, lead=True, file=file)


def _columns(arena: Arena, language: Language) -> tuple[Column, ...]:
    start = localized("start", language, value=count(round(INITIAL_RATING)))
    by_rating = arena.headline == "bradley_terry"
    head = {
        key: localized(f"lead-{key}", language)
        for key in ("rank", "model", "rating", "elo-head", "won", "tied", "lost", "good")
    }
    rated = (
        Column(head["rating"], lead=by_rating, width=128),
        Column(head["elo-head"], lead=not by_rating, width=96 if by_rating else 128),
    )
    return (
        Column(head["rank"], rank=True, width=56),
        Column(head["model"], width=152),
        Column(head["rating"], axis=_axis(arena), rule=(INITIAL_RATING, start)),
        *(rated if by_rating else rated[1:]),
        *(Column(head[key], right=True, width=80) for key in ("won", "tied", "lost")),
        Column(head["good"], width=136),
    )


def _row(
    standing: Standing, arena: Arena, good: Interval | None, context: OpenContext
) -> tuple[TableCell, ...]:
    by_rating = arena.headline == "bradley_terry"
    value, low, high = _headline_value(standing, arena)
    lead = ValueCell(rating_text(value), range=rating_range(low, high), size="lead")
    # The range of ELO stands in for that of Bradley-Terry.
    ends = (standing.elo_low, standing.elo_high) if low is None else (None, None)
    elo = ValueCell(rating_text(standing.elo), range=rating_range(*ends), size="large")
    tally = standing.tally
    return (
        rank_band(standing),
        context.model(standing.model),
        PlotCell(
            () if value is None else (PlotMark(value, low, high),),
            context.place(standing.model),
            standing.model in context.baselines,
            _joined(lead),
        ),
        *((lead, elo) if by_rating else (lead,)),
        *map(count, (tally.win, tally.tie, tally.lose)),
        ValueCell(format_value(good), "%", below=format_range(good)) if good else NONE,
    )


def _headline_value(
    standing: Standing, arena: Arena
) -> tuple[float | None, float | None, float | None]:
    if arena.headline == "elo":
        return standing.elo, standing.elo_low, standing.elo_high
    rating = standing.rating
    return (rating.value, rating.low, rating.high) if rating else (None, None, None)


def rating_text(value: float | None) -> str:
    """A rating as people read it: "1,148"; "–" if there is none."""
    return NONE if value is None else f"{value:,.0f}".replace("-", "−")


def rating_range(low: float | None, high: float | None) -> str:
    """The range of a rating: "1,114–1,174", "" if it is not known."""
    return "" if low is None or high is None else f"{rating_text(low)}–{rating_text(high)}"


def _joined(cell: ValueCell) -> str:
    return f"{cell.value} ({cell.range})" if cell.range else cell.value


def _axis(arena: Arena) -> Axis:
    ends = [
        end for one in arena.standings for end in _headline_value(one, arena) if end is not None
    ]
    return rating_axis(ends)


def rating_axis(ends: Sequence[float]) -> Axis:
    """The axis of ratings that holds all `ends` and the start."""
    ticks = rating_ticks(ends)
    return Axis(ticks[0], ticks[-1], ticks, [count(tick) for tick in ticks])


def rating_ticks(ends: Sequence[float]) -> list[int]:
    """Round ratings that hold all `ends` and the start with 100 points on both of its sides."""
    low = min((INITIAL_RATING - _LEAST_REACH, *ends))
    high = max((INITIAL_RATING + _LEAST_REACH, *ends))
    step = next((step for step in _STEPS if (high - low) / step < _TICKS), _STEPS[-1])
    return list(range(step * floor(low / step), step * ceil(high / step) + 1, step))
