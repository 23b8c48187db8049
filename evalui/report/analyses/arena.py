"""Models that a judge, a panel or people compared: who wins, the standings, pairs, groups."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, groupby, pairwise
from math import ceil, floor
from pathlib import Path

from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.judge import battles_by, judged_by
from evalui.report.axes import Axis
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    ChartBlock,
    Column,
    Details,
    Headline,
    Paragraph,
    PlotMark,
    Table,
    TableCell,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.figures.arena import dimension_name, win_matrix_of, win_rates_of
from evalui.report.numbers import count, fixed, format_range, format_value, signed
from evalui.report.words import (
    band_text,
    join_clauses,
    join_names_shortened,
    join_sentences,
    too_few,
)
from evalui.scoring.arena.battles import BattleTally
from evalui.scoring.arena.bradley_terry import Connectivity, Rating
from evalui.scoring.arena.categories import CategoryTable
from evalui.scoring.arena.elo import INITIAL_RATING, MEDIAN_ELO_MAX_BATTLES
from evalui.scoring.arena.figures import PEOPLE, POOLED, Arena, Standing
from evalui.scoring.arena.question_groups import (
    MAX_GROUPS,
    Grouping,
    QuestionGroup,
    largest_groups,
    question_groups,
)
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.scoring.cautions import MIN_DRAWN
from evalui.types import Interval, Language, is_unfinished

add_messages(Path(__file__).with_suffix(".toml"))

_FEW_QUESTIONS = 10  # below, resampling them gives ranges that are too short
_SPELLED, _LISTED = 2, 4  # groups of models that a title spells out, and that it lists
_NEARLY_HALF, _NEARLY_ALL = 0.55, 0.95  # shares that "in 6 of 10 duels" would bend
_LEAST_REACH = 100.0  # rating points that an axis shows around the start: fewer enlarge differences
_STEPS = (50, 100, 200, 500, 1000, 2000, 5000)  # between two ticks, of which there are at most 8
_TICKS = 6
_MISSING = "N/A"  # as in OpenCompass's report: the model has no battle in this dimension
_KINDS = {"overall": "LANG", "language": "LANG", "capability": "CAPA"}
_GROUPING_KEYS: Mapping[Grouping, tuple[str, str]] = {
    "capability": ("capability", "capabilities"),
    "language": ("language", "languages"),
}
_HALF = 0.5  # of the points: no preference


def pooled_blocks(arena: Arena, context: OpenContext) -> Iterator[Block]:
    """Several runs as one arena, see `pool_arenas`: verdict, standings, who beats whom."""
    context = context.without_pictures()
    yield Headline(arena_verdict(arena, context.language))
    yield standings_card(arena, context)
    yield _duel_details(arena, context)


# ---------------------------------------------------------------- the verdict


def arena_verdict(arena: Arena, language: Language) -> str:
    """Who wins, who cannot be told apart, or why nobody can say: one sentence."""
    if awaits_verdicts(arena):
        fields = {"done": count(arena.done), "total": count(arena.planned)}
        return localized("standings.verdict-open", language, **fields)
    if not _is_ranked(arena):
        return localized("sentence", language, said=standings_title(arena, language))
    level = [standing.model for standing in arena.standings if standing.with_leader]
    if len(level) > 1:
        return _level_verdict(arena, level, language)
    first, second = (standing.model for standing in arena.standings[:2])
    share = arena.shares.get((first, second))
    if share is None or share.low <= _HALF:
        return localized("sentence", language, said=standings_title(arena, language))
    fields = {"first": first, "second": second, "often": _often(share, language)}
    rater = arena.by if arena.by in (PANEL_NAME, PEOPLE, POOLED) else "judge"
    return localized(f"standings.wins-{rater}", language, **fields)


def awaits_verdicts(arena: Arena) -> bool:
    """Whether verdicts are still to come."""
    return is_unfinished(arena) and arena.done < arena.planned


def _often(share: Interval, language: Language) -> str:
    if _NEARLY_HALF <= share.value < _NEARLY_ALL:
        return localized("standings.in-ten", language, k=fixed(10 * share.value, 0))
    return localized("standings.in-hundred", language, value=format_value(share))


def _level_verdict(arena: Arena, level: Sequence[str], language: Language) -> str:
    names = join_names_shortened(level, language)
    others = [one for one in arena.standings if one.model not in level]
    beaten = bool(others) and all(
        one.rank_low is not None and one.rank_low > len(level) for one in others
    )
    if not beaten:
        level_title = localized("standings.level", language, names=names, n=count(arena.questions))
        return localized("sentence", language, said=level_title)
    rest = join_names_shortened([one.model for one in others], language)
    key = "standings.both-beat" if len(level) == 2 else "standings.all-beat"
    return localized(key, language, names=names, others=rest)


def standings_title(arena: Arena, language: Language) -> str:
    """Who leads by how much, or why that is unknown."""
    if not arena.standings or not arena.battles:
        nothing = 0 < len(arena.verdicts) == arena.reliability.unreferenced
        return localized("standings.unreferenced" if nothing else "standings.empty", language)
    if arena.questions < _FEW_QUESTIONS:
        return localized("standings.few", language, n=arena.questions)
    if arena.connection is None or not arena.connection.has_finite_ratings:
        return _no_rating(arena.connection, language)
    level = [standing.model for standing in arena.standings if standing.with_leader]
    n = count(arena.questions)
    if len(level) > 1:
        return localized(
            "standings.level", language, names=join_names_shortened(level, language), n=n
        )
    first, second = (standing.model for standing in arena.standings[:2])
    if arena.lead is None:
        return localized("standings.endless", language, first=first, second=second, n=n)
    gap, low, high = (fixed(points, 0) for points in arena.lead)
    return localized(
        "standings.leads", language, first=first, second=second, gap=gap, span=f"{low}–{high}"
    )


def _is_ranked(arena: Arena) -> bool:
    """Whether the standings are more than a list: enough questions, and finite ratings."""
    finite = arena.connection is not None and arena.connection.has_finite_ratings
    return bool(arena.standings) and arena.questions >= _FEW_QUESTIONS and finite


def _no_rating(connection: Connectivity | None, language: Language) -> str:
    if connection is None:
        return localized("standings.empty", language)
    if len(connection.disconnected_groups) > 1:
        return localized("standings.islands", language, k=len(connection.disconnected_groups))
    if connection.unbeaten:
        return localized(
            "standings.unbeaten",
            language,
            names=join_names_shortened(connection.unbeaten, language),
        )
    if connection.winless:
        return localized(
            "standings.winless", language, names=join_names_shortened(connection.winless, language)
        )
    return localized("standings.apart", language)


# ---------------------------------------------------------------- the standings


def standings_card(arena: Arena, context: OpenContext, suffix: str = "") -> Card:
    """Chart and table of the standings, best first; `suffix` ends the name of their picture."""
    picture = "elo" if arena.headline == "elo" else "ratings"
    rows = tuple(_row(one, arena, context) for one in arena.standings)
    file = context.file(f"{picture}{suffix}.png")
    return Card(
        (Table(_columns(arena, context.language), rows, lead=True, file=file),),
        title=standings_finding(arena, context.language),
        caption=_caption(arena, context),
    )


def _caption(arena: Arena, context: OpenContext) -> str:
    fields = {
        "battles": count(len(arena.battles)),
        "judge": judged_by(arena, context),
        "start": count(round(INITIAL_RATING)),
        "n": count(arena.questions),
    }
    made = localized(f"standings.about-{arena.headline}", context.language, **fields)
    reason = no_range_reason(arena, context.language)
    band = "" if reason else localized("standings.band", context.language, **fields)
    unranked = localized("standings.unranked", context.language) if arena.headline == "elo" else ""
    return join_sentences(made, band or reason, unranked)


def no_range_reason(arena: Arena, language: Language) -> str:
    """Why the ratings that lead have no range; "" if they have one."""
    if any(_headline_value(one, arena)[1] is not None for one in arena.standings):
        return ""
    return localized(
        "standings.one-question" if arena.questions < 2 else "standings.no-range", language
    )


def standings_finding(arena: Arena, language: Language) -> str:
    """How the models stand to each other: the whole ranking as far as the ranges show it."""
    if arena.headline == "elo":
        return localized("standings.plain-elo", language)
    if (
        awaits_verdicts(arena)
        or not _is_ranked(arena)
        or any(one.rank_low is None for one in arena.standings)
    ):
        return localized("standings.plain", language)
    groups = [
        [*same] for _, same in groupby(arena.standings, lambda one: (one.rank_low, one.rank_high))
    ]
    if not _is_partition(groups):
        return localized("standings.plain", language)
    if all(len(group) == 1 for group in groups):
        key = "standings.clear" if _stand_clear(arena.standings) else "standings.places"
        return localized(f"{key}-two" if len(groups) == 2 else key, language)
    if len(groups) > _LISTED:
        return localized("standings.plain", language)
    if len(groups) <= _SPELLED:
        return join_clauses((_places(group, language) for group in groups), language)
    listed = (_places(group, language, "standings.places-of") for group in groups)
    return localized("standings.places-of-many", language, places=join_clauses(listed, language))


def _is_partition(groups: Sequence[Sequence[Standing]]) -> bool:
    """Whether the bands of places neither overlap nor leave a place out."""
    place = 1
    for group in groups:
        if (group[0].rank_low, group[0].rank_high) != (place, place + len(group) - 1):
            return False
        place += len(group)
    return True


def _stand_clear(standings: Sequence[Standing]) -> bool:
    """Whether no two neighbouring ranges of ratings overlap."""
    ends = [(one.rating.low, one.rating.high) for one in standings if one.rating]
    return all(
        low is not None and high is not None and low > high
        for (low, _), (_, high) in pairwise(ends)
    )


def _places(group: Sequence[Standing], language: Language, key: str = "") -> str:
    names = join_names_shortened([one.model for one in group], language)
    key = key or f"standings.{'places-shared' if len(group) > 1 else 'place-own'}"
    return localized(key, language, names=names, places=rank_band(group[0]))


def rank_band(standing: Standing) -> str:
    """The places that the resamples allow: "1", "2–3"; "–" without a finite rating."""
    low, high = standing.rank_low, standing.rank_high
    return "–" if low is None or high is None else band_text(low, high)


def _columns(arena: Arena, language: Language) -> tuple[Column, ...]:
    start = localized("standings.start", language, value=count(round(INITIAL_RATING)))
    ends = (end for one in arena.standings for end in _headline_value(one, arena))
    by_rating = arena.headline == "bradley_terry"
    head = {
        key: localized(f"standings.{key}", language)
        for key in ("rating", "elo", "won", "tied", "lost", "good")
    }
    rated = (
        Column(head["rating"], lead=by_rating, width=128),
        Column(head["elo"], lead=not by_rating, width=96 if by_rating else 128),
    )
    return (
        Column(localized("head-rank", language), rank=True, width=56),
        Column(localized("head-model", language), width=176),
        Column(head["rating"], axis=rating_axis(ends), rule=(INITIAL_RATING, start)),
        *(rated if by_rating else rated[1:]),
        *(Column(head[key], right=True, width=80) for key in ("won", "tied", "lost")),
        Column(head["good"], width=136),
    )


def _row(standing: Standing, arena: Arena, context: OpenContext) -> tuple[TableCell, ...]:
    by_rating = arena.headline == "bradley_terry"
    value, low, high = _headline_value(standing, arena)
    lead = ValueCell(rating_text(value), range=rating_range(low, high), size="lead")
    # The range of ELO stands in for that of Bradley-Terry.
    ends = (standing.elo_low, standing.elo_high) if low is None else (None, None)
    elo = ValueCell(rating_text(standing.elo), range=rating_range(*ends), size="large")
    marks = () if value is None else (PlotMark(value, low, high),)
    model, tally = context.model(standing.model), standing.tally
    good = arena.not_bad.get(standing.model)
    return (
        rank_band(standing),
        model,
        model.marked(*marks, text=f"{lead.value} ({lead.range})" if lead.range else lead.value),
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


def rating_axis(ends: Iterable[float | None]) -> Axis:
    """Round ratings that hold all `ends` and the start with 100 points on both of its sides."""
    reach = (INITIAL_RATING - _LEAST_REACH, INITIAL_RATING + _LEAST_REACH)
    held = [*reach, *(end for end in ends if end is not None)]
    low, high = min(held), max(held)
    step = next((step for step in _STEPS if (high - low) / step < _TICKS), _STEPS[-1])
    ticks = list(range(step * floor(low / step), step * ceil(high / step) + 1, step))
    return Axis(ticks[0], ticks[-1], ticks, [count(tick) for tick in ticks])


# ---------------------------------------------------------------- who beats whom


def standing_details(arena: Arena, context: OpenContext, suffix: str = "") -> Iterator[Details]:
    """Who beats whom, and the groups of questions; `suffix` ends the names of their pictures."""
    yield _duel_details(arena, context, suffix)
    groups = tuple(_groups(arena, context, suffix))
    if groups and (finding := groups_finding(arena, context.language)):
        name = localized("standings.by-group", context.language)
        yield Details("by-group", name, finding, groups)


def _duel_details(arena: Arena, context: OpenContext, suffix: str = "") -> Details:
    language = context.language
    blocks: list[Block] = [pair_table(arena, context)]
    if arena.questions >= MIN_DRAWN:
        about = localized("standings.matrix-about", language, n=count(arena.questions))
        matrix = ChartBlock(
            context.file(f"win_matrix{suffix}.png"),
            matrix_title(arena, language),
            partial(win_matrix_of, arena, messages(language)),
            join_sentences(about, battles_by(arena, context)),
        )
        blocks.insert(0, matrix)
    finding = duels_finding(arena, language)
    return Details("who-beats-whom", localized("matrix", language), finding, tuple(blocks))


def duels_finding(arena: Arena, language: Language) -> str:
    """How often the first model beats the second, or which pairs are missing."""
    first, second = (standing.model for standing in arena.standings[:2])
    share = arena.shares.get((first, second))
    if share is None:
        return localized("sentence", language, said=matrix_title(arena, language))
    fields = {"value": format_value(share), "span": format_range(share)}
    return localized("standings.beats-share", language, first=first, second=second, **fields)


def matrix_title(arena: Arena, language: Language) -> str:
    """Who beats whom, if one model beats all."""
    models = [standing.model for standing in arena.standings]
    missing = sum(
        (first, second) not in arena.shares and (second, first) not in arena.shares
        for place, first in enumerate(models)
        for second in models[place + 1 :]
    )
    if missing:
        pairs = len(models) * (len(models) - 1) // 2
        return localized("standings.matrix-gap", language, k=count(missing), n=count(pairs))
    for model in models:
        against = [arena.shares[(model, other)] for other in models if other != model]
        if len(against) > 1 and all(share.low > _HALF for share in against):
            return localized("standings.matrix-most", language, first=model)
    return localized("matrix", language)


def pair_table(arena: Arena, context: OpenContext) -> Table:
    """Each pair that met, from the better one's side; on the page a pair leads to its duels."""
    language = context.language
    won, tied, lost = (localized(f"standings.{key}", language) for key in ("won", "tied", "lost"))
    heads = (
        localized("head-model", language),
        localized("standings.against", language),
        localized("standings.share", language),
        localized("head-range", language),
        localized("head-n", language),
        *(won, tied, lost),
    )
    models = [standing.model for standing in arena.standings]
    rows = [
        _pair_row(arena, pair, context) for pair in combinations(models, 2) if pair in arena.shares
    ]
    return text_table(heads, rows)


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


def _groups(arena: Arena, context: OpenContext, suffix: str) -> Iterator[Block]:
    """Tables, then charts, of the groupings that have a group of enough questions."""
    language = context.language
    groupings: tuple[Grouping, ...] = ("language", "capability")
    drawn: list[Grouping] = [
        each for each in groupings if not all(_small(question_groups(arena, each)))
    ]
    for grouping in drawn:
        if title := groups_title(question_groups(arena, grouping), grouping, language):
            yield Paragraph(title, strong=True)
        yield group_table(arena, grouping, context)
        if left := _left_out(arena, grouping, language):
            yield Paragraph(left, small=True)
    if drawn:
        yield Paragraph(localized("standings.groups-about", language), small=True)
    files: Mapping[Grouping, str] = {
        "capability": f"by_capa{suffix}.png",
        "language": f"by_lang{suffix}.png",
    }
    for grouping, file in files.items():
        if grouping in drawn:
            yield ChartBlock(
                context.file(file),
                localized(f"standings.rates-{grouping}", language),
                partial(win_rates_of, arena, grouping, messages(language), least=MIN_DRAWN),
                _rates_note(arena, grouping, context),
            )


def _small(groups: Sequence[QuestionGroup]) -> list[bool]:
    return [group.too_few_questions for group in groups]


def _rates_note(arena: Arena, grouping: Grouping, context: OpenContext) -> str:
    """How to read the win rates, who judged, and how many groups are left out."""
    return join_sentences(
        localized("standings.rates-about", context.language),
        battles_by(arena, context),
        _left_out(arena, grouping, context.language),
    )


def groups_finding(arena: Arena, language: Language) -> str:
    """Whether the order is the same in every language, and who leads by capability."""
    parts = [_same_order(question_groups(arena, "language"), language)]
    if title := groups_title(question_groups(arena), "capability", language):
        parts.append(localized("sentence", language, said=title))
    elif not any(parts):
        languages = question_groups(arena, "language")
        title = groups_title(languages, "language", language)
        parts.append(localized("sentence", language, said=title) if title else "")
    return join_sentences(*parts)


def _same_order(groups: Sequence[QuestionGroup], language: Language) -> str:
    """That every language of enough questions has the models in the same order."""
    large = [group for group in groups if not group.too_few_questions]
    orders = {
        tuple(sorted(shares, key=lambda model: -shares[model].value))
        for shares in (group.shares for group in large)
    }
    if len(large) != 2 or len(orders) != 1:
        return ""
    return localized("standings.same-order", language)


def groups_title(
    all_groups: Sequence[QuestionGroup], grouping: Grouping, language: Language
) -> str:
    """Which model is first in most groups, small groups left out; "" for one group alone."""
    if len(all_groups) < 2:
        return ""
    group, groups = (
        localized(f"standings.group-{name}", language) for name in _GROUPING_KEYS[grouping]
    )
    leaders = [
        _significant_leader(panel.shares) for panel in all_groups if not panel.too_few_questions
    ]
    if not leaders:
        return localized("standings.first-few", language, group=group)
    firsts = {model: leaders.count(model) for model in leaders if model}
    most = max(firsts.values(), default=0)
    first = [model for model, times in firsts.items() if times == most]
    if not most:
        return localized("standings.first-none", language, group=group)
    fields = {"k": count(most), "n": count(len(leaders)), "groups": groups}
    if len(first) > 1:
        return localized(
            "standings.first-split", language, names=join_names_shortened(first, language), **fields
        )
    return localized("standings.first-most", language, model=first[0], **fields)


def _significant_leader(shares: Mapping[str, Interval]) -> str | None:
    """The model whose range lies above all the others'; None if there is none, or no other."""
    first = max(shares, key=lambda model: shares[model].value)
    others = [share.high for model, share in shares.items() if model != first]
    return first if others and shares[first].low > max(others) else None


def group_table(arena: Arena, grouping: Grouping, context: OpenContext) -> Table:
    """A row for each group of enough questions: n, and the share of points of each model."""
    groups = [each for each in question_groups(arena, grouping) if not each.too_few_questions]
    kept = {*largest_groups({group.name: group.questions for group in groups})}
    models = [standing.model for standing in arena.standings]
    language = context.language
    heads = (localized(f"standings.head-{grouping}", language), localized("head-n", language))
    rows = tuple(
        (
            dimension_name(group.name, messages(language)),
            count(group.questions),
            *(_share_cell(group.shares.get(model)) for model in models),
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


def _share_cell(share: Interval | None) -> TableCell:
    return ValueCell(format_value(share), "%", format_range(share)) if share else _MISSING


def _left_out(arena: Arena, grouping: Grouping, language: Language) -> str:
    """How many groups of questions are too small, and too many, to be shown; "" if all are."""
    small = _small(question_groups(arena, grouping))
    return join_sentences(too_few(sum(small), language), _too_many(small.count(False), language))


def _too_many(groups: int, language: Language) -> str:
    """That of many groups of questions the most frequent are shown; "" if all are."""
    if groups <= MAX_GROUPS:
        return ""
    fields = {"shown": count(MAX_GROUPS), "k": count(groups - MAX_GROUPS)}
    return localized("standings.groups-left-out", language, **fields)


# ---------------------------------------------------------------- every rating and score


def figure_blocks(arena: Arena, context: OpenContext) -> Iterator[Block]:
    """Scores by dimension as OpenCompass counts them, then every rating."""
    language = context.language
    yield _dimensions(arena, language)
    yield Paragraph(localized("standings.scores-about", language), small=True)
    named = sum(dimension.kind == "capability" for dimension in arena.dimensions)
    if left := _too_many(named, language):
        yield Paragraph(left, small=True)
    if any(one.tally.contradicted for one in arena.standings) or arena.conflict == "half":
        yield _opencompass_table(arena, context)
        yield Paragraph(localized("standings.opencompass-about", language), small=True)
    yield Paragraph(standings_title(arena, language), strong=True)
    yield _rating_table(arena, context)
    yield Paragraph(
        join_sentences(order_note(arena, language), no_range_reason(arena, language)), small=True
    )
    yield from _opencompass_elo_note(arena, language)
    if any(one.styled for one in arena.standings):
        yield Paragraph(localized("standings.style-about", language), small=True)


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


def _dimensions(arena: Arena, language: Language) -> Table:
    models = [standing.model for standing in arena.standings]
    rows = tuple(
        (
            f"{_KINDS[dimension.kind]}: {dimension.name}",
            *(
                _score(tally) if (tally := dimension.tallies.get(model)) else _MISSING
                for model in models
            ),
        )
        for dimension in _printed_dimensions(arena)
    )
    return text_table((localized("standings.dimension-score", language), *models), rows)


def _score(tally: BattleTally) -> str:
    return signed(tally.score, 0)


def _opencompass_table(arena: Arena, context: OpenContext) -> Table:
    """Each model's counts without the pairs whose two orders contradict each other."""
    language = context.language
    keys = ("opencompass-n", "opencompass-score")
    rows = tuple(
        (
            context.model(one.model),
            count(one.opencompass.n) if one.opencompass else "0",
            _score(one.opencompass) if one.opencompass else NONE,
        )
        for one in arena.standings
    )
    heads = (localized(f"standings.{key}", language) for key in keys)
    return text_table((localized("head-model", language), *heads), rows)


def order_note(arena: Arena, language: Language) -> str:
    """By what the standings are ordered, and a sentence more if score or ELO order otherwise."""
    if not arena.standings:
        return ""
    sentences = [localized(f"standings.ordered-{arena.headline}", language)]
    columns: dict[str, list[float]] = {
        "score": [standing.tally.score for standing in arena.standings],
        "elo": [round(standing.elo) for standing in arena.standings],
    }
    if arena.headline == "elo":
        del columns["elo"]
    # The models that each column puts first, of the columns that do not fall from row to row.
    firsts = {
        key: arena.standings[values.index(max(values))].model
        for key, values in columns.items()
        if values != sorted(values, reverse=True)
    }
    what = localized("standings.by-both", language)
    if len(firsts) == 1:
        (key,) = firsts
        what = localized(f"standings.by-{key}", language)
    if len(set(firsts.values())) == 1 and arena.standings[0].model not in firsts.values():
        (first,) = set(firsts.values())
        sentences.append(localized("standings.otherwise-first", language, what=what, model=first))
    elif firsts:
        sentences.append(localized("standings.otherwise", language, what=what))
    return join_sentences(*sentences)


def _rating_table(arena: Arena, context: OpenContext) -> Table:
    """Every rating of each model with its range; style held equal beside the plain one."""
    language = context.language
    contradicted = any(one.tally.contradicted for one in arena.standings)
    tied = ("good-both", "bad-both", "contradicted")[: 3 if contradicted else 2]
    printed = _opencompass_elos(arena)
    theirs = ("opencompass-mean", "opencompass-std") if printed else ()
    keys = (*tied, "score", "elo", *theirs, "bradley_terry", "styled", "change", "rank")
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
    heads = (localized(f"standings.rating-{key}", language, runs=runs) for key in keys)
    return text_table((localized("head-model", language), *heads), rows)


def _ties(tally: BattleTally) -> tuple[int, ...]:
    return tally.both_good, tally.both_bad, tally.contradicted


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
        yield Paragraph(localized("standings.opencompass-elo-about", language), small=True)
    elif arena.by != PEOPLE and counted and counted.consistent > limit:
        fields = {"n": count(counted.consistent), "limit": count(limit)}
        yield Paragraph(localized("standings.opencompass-elo-many", language, **fields), small=True)


def _rating(rating: Rating | None) -> TableCell:
    if rating is None:
        return NONE
    return ValueCell(rating_text(rating.value), range=rating_range(rating.low, rating.high))


def _change(plain: Rating | None, styled: Rating | None) -> str:
    if plain is None or styled is None:
        return NONE
    gained = round(styled.value) - round(plain.value)
    return f"{gained:+,}".replace("-", "−") if gained else "0"
