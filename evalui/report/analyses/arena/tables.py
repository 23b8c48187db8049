"""The figures of an arena in tables: pairs, groups of questions, OpenCompass's tables, ratings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from evalui.messages import localized
from evalui.report.analyses.arena.findings import rank_band
from evalui.report.analyses.arena.narrative import dimension_name, order_note, standings_title
from evalui.report.analyses.arena.standings import no_range_reason, rating_range, rating_text
from evalui.report.analyses.base import OpenContext
from evalui.report.blocks import (
    NONE,
    Block,
    Column,
    Paragraph,
    Table,
    TableCell,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.numbers import count, fixed, format_range, format_value, signed
from evalui.report.words import join_sentences
from evalui.scoring.arena.battles import BattleTally
from evalui.scoring.arena.bradley_terry import Rating
from evalui.scoring.arena.categories import CategoryTable
from evalui.scoring.arena.elo import MEDIAN_ELO_MAX_BATTLES
from evalui.scoring.arena.figures import PEOPLE, Arena
from evalui.scoring.arena.question_groups import (
    MAX_GROUPS,
    Grouping,
    largest_groups,
    question_groups,
)
from evalui.types import Interval, Language

_MISSING = "N/A"  # as in OpenCompass's report: the model has no battle in this dimension
_KINDS = {"overall": "LANG", "language": "LANG", "capability": "CAPA"}


# ---------------------------------------------------------------- pairs


def pair_table(arena: Arena, context: OpenContext) -> Table:
    """Each pair that met, from the better one's side; on the page a pair leads to its duels."""
    language = context.language
    heads = ("row", "against", "share", "range", "n", "won", "tied", "lost")
    models = [standing.model for standing in arena.standings]
    rows = [
        _pair_row(arena, pair, context) for pair in combinations(models, 2) if pair in arena.shares
    ]
    return text_table([localized(f"pair-{head}", language) for head in heads], rows)


def _pair_row(arena: Arena, pair: tuple[str, str], context: OpenContext) -> tuple[TableCell, ...]:
    share = arena.shares[pair]
    run = [one.name for one in arena.contestants]
    key = "|".join(sorted(pair, key=lambda name: run.index(name) if name in run else 0))
    href = context.duels(duel_pair=key) if context.duels else ""
    return (
        context.model(pair[0]),
        context.model(pair[1]),
        TextCell(f"{format_value(share)} %", href=href),
        format_range(share),
        count(share.n),
        *_pair_counts(arena, pair),
    )


def _pair_counts(arena: Arena, pair: tuple[str, str]) -> tuple[str, str, str]:
    matrix = arena.matrix
    if matrix is None or not set(pair) <= {*matrix.models}:
        return NONE, NONE, NONE
    i, j = (matrix.models.index(name) for name in pair)
    counts = (matrix.wins[i][j], matrix.ties[i][j], matrix.wins[j][i])
    return count(counts[0]), count(counts[1]), count(counts[2])


# ---------------------------------------------------------------- groups of questions


def group_table(arena: Arena, grouping: Grouping, context: OpenContext) -> Table | None:
    """A row for each group of questions: n, and the share of points of each model."""
    groups = question_groups(arena, grouping)
    kept = {*largest_groups({group.name: group.questions for group in groups})}
    if not groups:
        return None
    models = [standing.model for standing in arena.standings]
    language = context.language
    heads = (localized(f"group-{grouping}-head", language), localized("pair-n", language))
    rows = tuple(
        (
            dimension_name(group.name, language),
            count(group.questions),
            *(
                _share_cell(group.shares.get(model), faint=group.too_few_questions)
                for model in models
            ),
        )
        for group in groups
        if group.name in kept
    )
    columns = (
        Column(heads[0]),
        Column(heads[1], right=True),
        *(Column(model, right=True) for model in models),
    )
    return Table(columns, rows)


def _share_cell(share: Interval | None, *, faint: bool) -> TableCell:
    if share is None:
        return _MISSING
    return ValueCell(format_value(share), "%", format_range(share), strong=not faint)


def groups_left_out(groups: int, language: Language) -> Iterator[Paragraph]:
    """That of many groups of questions the most frequent are shown; nothing if all are."""
    if groups > MAX_GROUPS:
        fields = {"shown": count(MAX_GROUPS), "k": count(groups - MAX_GROUPS)}
        yield Paragraph(localized("groups-left-out", language, **fields), small=True)


# ---------------------------------------------------------------- OpenCompass's tables


def figure_blocks(arena: Arena, context: OpenContext) -> Iterator[Block]:
    """Shares and scores by dimension as OpenCompass prints them, then every rating."""
    language, dimensions = context.language, _printed_dimensions(arena)
    yield _dimensions(arena, dimensions, localized("head-stats", language), _shares)
    yield Paragraph(localized("basic-about", language), small=True)
    if any(one.tally.not_bad is None for one in arena.standings):
        yield Paragraph(localized("no-neither", language), small=True)
    named = sum(dimension.kind == "capability" for dimension in arena.dimensions)
    yield from groups_left_out(named, language)
    yield _dimensions(arena, dimensions, localized("head-score", language), _score)
    yield Paragraph(localized("scores-about", language), small=True)
    if any(one.tally.contradicted for one in arena.standings) or arena.conflict == "half":
        yield _opencompass_table(arena, context)
        yield Paragraph(localized("opencompass-about", language), small=True)
    yield Paragraph(standings_title(arena, language), strong=True)
    yield _rating_table(arena, context)
    yield Paragraph(
        join_sentences(order_note(arena, language), no_range_reason(arena, language)), small=True
    )
    yield from _opencompass_elo_note(arena, language)
    if any(one.styled for one in arena.standings):
        yield Paragraph(localized("style-about", language), small=True)


def _printed_dimensions(arena: Arena) -> list[CategoryTable]:
    """The dimensions with a row: of the capabilities those of the most battles."""
    sizes = {
        dimension.name: sum(tally.n for tally in dimension.tallies.values() if tally)
        for dimension in arena.dimensions
        if dimension.kind == "capability"
    }
    kept = set(largest_groups(sizes))
    return [
        dimension
        for dimension in arena.dimensions
        if dimension.kind != "capability" or dimension.name in kept
    ]


def _dimensions(
    arena: Arena,
    dimensions: Sequence[CategoryTable],
    head: str,
    printed: Callable[[BattleTally], str],
) -> Table:
    models = [standing.model for standing in arena.standings]
    rows = tuple(
        (
            f"{_KINDS[dimension.kind]}: {dimension.name}",
            *(_cell(dimension, model, printed) for model in models),
        )
        for dimension in dimensions
    )
    return text_table((head, *models), rows)


def _cell(dimension: CategoryTable, model: str, printed: Callable[[BattleTally], str]) -> str:
    tally = dimension.tallies.get(model)
    return printed(tally) if tally else _MISSING


def _shares(tally: BattleTally) -> str:
    counts = (tally.win, tally.tie, tally.lose, tally.not_bad)
    return " / ".join(
        NONE if number is None else f"{fixed(100 * number / tally.n, 1)}%" for number in counts
    )


def _score(tally: BattleTally) -> str:
    return signed(tally.score, 0)


def _opencompass_table(arena: Arena, context: OpenContext) -> Table:
    """Each model's counts without the pairs whose two orders contradict each other."""
    language = context.language
    heads = ("rating-model", "head-opencompass-n", "head-opencompass", "head-opencompass-score")
    rows = tuple(
        (
            context.model(one.model),
            count(one.opencompass.n) if one.opencompass else "0",
            _shares(one.opencompass) if one.opencompass else NONE,
            _score(one.opencompass) if one.opencompass else NONE,
        )
        for one in arena.standings
    )
    return text_table([localized(head, language) for head in heads], rows)


def _rating_table(arena: Arena, context: OpenContext) -> Table:
    """Every rating of each model with its range; style held equal beside the plain one."""
    language = context.language
    tied = ("good-both", "bad-both")
    if any(one.tally.contradicted for one in arena.standings):
        tied = (*tied, "contradicted")
    printed = _opencompass_elos(arena)
    theirs = ("opencompass-mean", "opencompass-std") if printed else ()
    heads = ("model", *tied, "score", "elo", *theirs, "rating", "styled", "change", "rank")
    runs = count(arena.elo_orders)
    rows = tuple(
        (
            context.model(one.model),
            *map(count, _ties(one.tally)[: len(tied)]),
            signed(one.tally.score, 0),
            ValueCell(rating_text(one.elo), range=rating_range(one.elo_low, one.elo_high)),
            *printed.get(one.model, (NONE,) * len(theirs)),
            _rating(one.rating),
            _rating(one.styled),
            _change(one.rating, one.styled),
            rank_band(one),
        )
        for one in arena.standings
    )
    return text_table([localized(f"rating-{head}", language, runs=runs) for head in heads], rows)


def _opencompass_elos(arena: Arena) -> Mapping[str, tuple[str, str]]:
    """`elo_score [Mean]` and `[Std]` as OpenCompass prints them; {} where they are not computed."""
    return {
        one.model: one.opencompass_elo.printed for one in arena.standings if one.opencompass_elo
    }


def _opencompass_elo_note(arena: Arena, language: Language) -> Iterator[Paragraph]:
    """What its spread is and is not, or that there are too many battles for it."""
    counted = arena.comparisons
    limit = MEDIAN_ELO_MAX_BATTLES
    if _opencompass_elos(arena):
        yield Paragraph(localized("opencompass-elo-about", language), small=True)
    elif arena.by != PEOPLE and counted and counted.consistent > limit:
        fields = {"n": count(counted.consistent), "limit": count(limit)}
        yield Paragraph(localized("opencompass-elo-many", language, **fields), small=True)


def _ties(tally: BattleTally) -> tuple[int, ...]:
    return tally.both_good, tally.both_bad, tally.contradicted


def _rating(rating: Rating | None) -> TableCell:
    if rating is None:
        return NONE
    return ValueCell(rating_text(rating.value), range=rating_range(rating.low, rating.high))


def _change(plain: Rating | None, styled: Rating | None) -> str:
    if plain is None or styled is None:
        return NONE
    gained = round(styled.value) - round(plain.value)
    return f"{gained:+,}".replace("-", "−") if gained else "0"
