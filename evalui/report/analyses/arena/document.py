"""The part of a written report on comparisons by judges.

Order and tables are those of OpenCompass's report of 2023: how many comparisons, basic
statistics with pictures, scores, ELO. What it lacks follows: ranges, pairs, reliability.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations

from evalui.messages import localized
from evalui.report.analyses.arena.categories import MAX_GROUPS, largest_groups
from evalui.report.analyses.arena.figures import Arena
from evalui.report.analyses.arena.narrative import (
    judged_by,
    matrix_title,
    order_note,
    standings_title,
)
from evalui.report.analyses.judge import judge_notes
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Heading,
    Paragraph,
    Picture,
    Table,
    text_table,
)
from evalui.report.charts.arena import (
    elo_png,
    picture_problem,
    rates_png,
    win_matrix_png,
)
from evalui.report.charts.theme import Theme
from evalui.report.numbers import count, fixed, format_range, format_value, percent, signed
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.battles import BattleTally
from evalui.scoring.arena.bradley_terry import Rating
from evalui.scoring.arena.categories import CategoryTable
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Interval, Language

_MISSING = "N/A"  # as in OpenCompass's report: the model has no battle in this dimension
_KINDS: Mapping[str, str] = {"overall": "LANG", "language": "LANG", "capability": "CAPA"}


def arena_blocks(
    arenas: Sequence[Arena], language: Language, *, rule_based: frozenset[str]
) -> Iterator[Block]:
    """Each arena with its tables and pictures, or one line on why there are no pictures."""
    problem = picture_problem(arenas, language)
    if arenas and problem:
        yield Paragraph(localized(problem, language))
    for place, arena in enumerate(arenas, start=1):
        suffix = "" if place == 1 else f"-{place}"
        drawn = {} if problem else _pictures(arena, suffix, language, rule_based)
        yield from _arena(arena, drawn, language, rule_based)


def _arena(
    arena: Arena,
    drawn: Mapping[str, Picture],
    language: Language,
    rule_based: frozenset[str],
) -> Iterator[Block]:
    judge = judged_by(arena, language, rule_based=rule_based)
    yield Heading(2, localized("arena-part", language, dataset=arena.dataset, judge=judge))
    yield Paragraph(standings_title(arena, language), strong=True)
    yield Bullets(tuple(n.text for n in judge_notes(arena, language, rule_based=rule_based)))
    yield from _compared(arena, language)
    if not arena.standings:
        return
    yield Paragraph(order_note(arena, language))
    yield Heading(3, localized("basic", language))
    dimensions = _printed_dimensions(arena)
    yield _dimensions(arena, dimensions, localized("head-stats", language), _shares)
    yield Paragraph(localized("basic-about", language))
    if left := len(arena.dimensions) - len(dimensions):
        fields = {"shown": count(MAX_GROUPS), "k": count(left)}
        yield Paragraph(localized("groups-left-out", language, **fields))
    yield from (drawn[name] for name in ("by_capa", "by_lang") if name in drawn)
    yield Heading(3, localized("scores", language))
    yield _dimensions(arena, dimensions, localized("head-score", language), _score)
    yield Paragraph(localized("scores-about", language))
    yield Heading(3, localized("elo", language))
    yield _ratings(arena, language)
    yield from (drawn[name] for name in ("elo",) if name in drawn)
    yield Heading(3, localized("pairwise", language))
    yield _pairs(arena, language)
    yield from (drawn[name] for name in ("win_matrix",) if name in drawn)
    yield Heading(3, localized("reliability", language))
    yield _reliability(arena, language)


def _compared(arena: Arena, language: Language) -> Iterator[Block]:
    counted = arena.comparisons
    if counted is None or counted.extraction_rate is None:
        return
    rate = percent(counted.extraction_rate)
    fields = {"total": count(counted.total), "read": count(counted.extracted), "rate": rate}
    if arena.by == PANEL_NAME:
        none = count(counted.total - counted.extracted)
        yield Paragraph(localized("compared-panel", language, none=none, **fields))
        return
    yield Paragraph(localized("compared", language, **fields))
    if arena.orders == "double" and counted.consistent_rate is not None:
        fields = {"k": count(counted.consistent), "rate": percent(counted.consistent_rate)}
        yield Paragraph(localized("consistent", language, **fields))
        yield Paragraph(localized(f"contradicted-{arena.conflict}", language))


# ---------------------------------------------------------------- OpenCompass's tables


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
    return " / ".join(f"{100 * number / tally.n:.1f}%" for number in counts)


def _score(tally: BattleTally) -> str:
    return str(tally.score)


def _ratings(arena: Arena, language: Language) -> Table:
    standings = arena.standings
    rows = (
        ("elo", [fixed(each.elo, 1) for each in standings]),
        ("elo-range", [_ends(each.elo_low, each.elo_high) for each in standings]),
        ("bt", [_value(each.rating) for each in standings]),
        ("bt-range", [_range(each.rating) for each in standings]),
        ("styled", [_value(each.styled) for each in standings]),
        ("rank", [_ends(each.rank_low, each.rank_high) for each in standings]),
    )
    runs = count(arena.elo_orders)
    return text_table(
        (localized("head-rating", language), *(each.model for each in standings)),
        tuple((localized(f"row-{key}", language, runs=runs), *cells) for key, cells in rows),
    )


def _value(rating: Rating | None) -> str:
    return fixed(rating.value, 1) if rating else NONE


def _range(rating: Rating | None) -> str:
    return _ends(rating.low, rating.high) if rating else NONE


def _ends(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return NONE
    ends = dict.fromkeys((fixed(low, 0), fixed(high, 0)))
    return "–".join(ends)


# ---------------------------------------------------------------- pairs and reliability


def _pairs(arena: Arena, language: Language) -> Table:
    models = [standing.model for standing in arena.standings]
    met = [pair for pair in combinations(models, 2) if pair in arena.shares]
    return text_table(
        tuple(localized(f"head-{head}", language) for head in ("pair", "share", "range", "n")),
        tuple(
            (
                localized("first-against", language, first=first, second=second),
                f"{format_value(share)} %",
                format_range(share),
                count(share.n),
            )
            for first, second in met
            if (share := arena.shares[first, second])
        ),
    )


def _reliability(arena: Arena, language: Language) -> Table:
    kept = arena.reliability
    panel = arena.by == PANEL_NAME
    shares = {
        "flips": None if panel else kept.flip_rate,
        "first": kept.first_wins,
        "longer": kept.longer_wins,
        "lists": kept.more_items_wins,
        "no-majority" if panel else "unreadable": kept.unreadable,
    }
    rows = [
        (localized("row-flips-of", language, judge=judge), _share_of_n(flips, language))
        for judge, flips in arena.judge_flip_rates.items()
    ]
    rows += [
        (localized(f"row-{key}", language), _share_of_n(share, language))
        for key, share in shares.items()
        if share
    ]
    if kept.unreferenced:
        rows.append((localized("row-no-reference", language), count(kept.unreferenced)))
    rows.append((localized("row-injected", language), count(kept.injected)))
    if panel and (agreed := arena.agreement):
        rows.append((localized("row-agree", language), _share_of_n(agreed.raw, language)))
        rows.append((localized("row-kappa", language), kappa(agreed)))
    return text_table(
        (localized("head-measure", language), localized("head-value", language)), tuple(rows)
    )


def kappa(agreed: RaterAgreement) -> str:
    """Kappa with its range: "0.31 (0.09 … 0.54)"."""
    value = agreed.kappa
    if value is None:
        return NONE
    if value.low is None or value.high is None:
        return signed(value.value, 2)
    return f"{signed(value.value, 2)} ({signed(value.low, 2)} … {signed(value.high, 2)})"


def _share_of_n(share: Interval, language: Language) -> str:
    fields = {"value": format_value(share), "span": format_range(share), "n": count(share.n)}
    return localized("share-of-n", language, **fields)


# ---------------------------------------------------------------- pictures


def _pictures(
    arena: Arena, suffix: str, language: Language, rule_based: frozenset[str]
) -> dict[str, Picture]:
    """The pictures of an arena by name, drawn when they are needed."""
    kinds = {dimension.kind for dimension in arena.dimensions if any(dimension.tallies.values())}
    draw: dict[str, tuple[str, Callable[[Theme], bytes]]] = {
        "by_capa": (
            localized("rates-capability", language),
            lambda theme: rates_png(
                arena, "capability", language, baselines=rule_based, theme=theme
            ),
        ),
        "by_lang": (
            localized("rates-language", language),
            lambda theme: rates_png(arena, "language", language, baselines=rule_based, theme=theme),
        ),
        "elo": (
            standings_title(arena, language),
            lambda theme: elo_png(arena, language, baselines=rule_based, theme=theme),
        ),
        "win_matrix": (
            matrix_title(arena, language),
            lambda theme: win_matrix_png(arena, language, baselines=rule_based, theme=theme),
        ),
    }
    return {
        # Cached: an archive has each picture twice, as a file and in its page.
        name: Picture(f"{name}{suffix}.png", alt, cache(drawn))
        for name, (alt, drawn) in draw.items()
        if name != "by_capa" or "capability" in kinds
    }
