"""What judged duels say, in the few words that stand above figures and on folded sections."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

from evalui.messages import localized
from evalui.report.analyses.arena.narrative import (
    groups_title,
    is_ranked,
    matrix_title,
    standings_title,
)
from evalui.report.numbers import count, fixed, format_range, format_value
from evalui.report.words import band_text, join_names_shortened, join_sentences
from evalui.scoring.arena.figures import PEOPLE, POOLED, Arena, Standing
from evalui.scoring.arena.question_groups import QuestionGroup, question_groups
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Interval, Language, is_unfinished

_SPELLED, _LISTED = 2, 4  # groups of models that a title spells out, and that it lists
_NEARLY_HALF, _NEARLY_ALL = 0.55, 0.95  # shares that "in 6 of 10 duels" would bend


def arena_verdict(arena: Arena, language: Language) -> str:
    """Who wins, who cannot be told apart, or why nobody can say: one sentence."""
    if is_open(arena):
        fields = {"done": count(arena.done), "total": count(arena.planned)}
        return localized("verdict-open", language, **fields)
    if not is_ranked(arena):
        return localized("sentence", language, said=standings_title(arena, language))
    level = [standing.model for standing in arena.standings if standing.with_leader]
    if len(level) > 1:
        return _level_verdict(arena, level, language)
    first, second = (standing.model for standing in arena.standings[:2])
    share = arena.shares.get((first, second))
    if share is None or share.low <= 0.5:
        return localized("sentence", language, said=standings_title(arena, language))
    fields = {"first": first, "second": second, "often": _often(share, language)}
    return localized(f"verdict-wins-{_rater(arena)}", language, **fields)


def is_open(arena: Arena) -> bool:
    """Whether verdicts still come in."""
    return is_unfinished(arena) and arena.done < arena.planned


def standings_finding(arena: Arena, language: Language) -> str:
    """How the models stand to each other: the whole ranking as far as the ranges show it."""
    if arena.headline == "elo":
        return localized("lead-elo", language)
    if not is_ranked(arena) or any(one.rank_low is None for one in arena.standings):
        return localized("lead-plain", language)
    groups = [
        [*same] for _, same in groupby(arena.standings, lambda one: (one.rank_low, one.rank_high))
    ]
    if not _is_partition(groups):
        return localized("lead-plain", language)
    if all(len(group) == 1 for group in groups):
        key = "lead-clear" if _stand_clear(arena.standings) else "lead-places"
        return localized(f"{key}-two" if len(groups) == 2 else key, language)
    if len(groups) > _LISTED:
        return localized("lead-plain", language)
    comma = "；" if language == "zh" else "; "
    if len(groups) <= _SPELLED:
        return comma.join(_places(group, language) for group in groups)
    listed = comma.join(_places(group, language, "places-of") for group in groups)
    return localized("places-of-many", language, places=listed)


def rank_band(standing: Standing) -> str:
    """The places that the resamples allow: "1", "2–3"; "–" without a finite rating."""
    low, high = standing.rank_low, standing.rank_high
    return "–" if low is None or high is None else band_text(low, high)


def duels_finding(arena: Arena, language: Language) -> str:
    """How often the first model beats the second, or which pairs are missing."""
    first, second = (standing.model for standing in arena.standings[:2])
    share = arena.shares.get((first, second))
    if share is None:
        return localized("sentence", language, said=matrix_title(arena, language))
    fields = {"value": format_value(share), "span": format_range(share)}
    return localized("beats-share", language, first=first, second=second, **fields)


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


def _rater(arena: Arena) -> str:
    return {PANEL_NAME: "panel", PEOPLE: "people", POOLED: "pooled"}.get(arena.by, "judge")


def _often(share: Interval, language: Language) -> str:
    if _NEARLY_HALF <= share.value < _NEARLY_ALL:
        return localized("in-ten", language, k=fixed(10 * share.value, 0))
    return localized("in-hundred", language, value=format_value(share))


def _level_verdict(arena: Arena, level: Sequence[str], language: Language) -> str:
    names = join_names_shortened(level, language)
    others = [one for one in arena.standings if one.model not in level]
    beaten = bool(others) and all(
        one.rank_low is not None and one.rank_low > len(level) for one in others
    )
    if not beaten:
        level_title = localized("arena-level", language, names=names, n=count(arena.questions))
        return localized("sentence", language, said=level_title)
    rest = join_names_shortened([one.model for one in others], language)
    key = "verdict-both-beat" if len(level) == 2 else "verdict-all-beat"
    return localized(key, language, names=names, others=rest)


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
    key = key or ("places-shared" if len(group) > 1 else "place-own")
    return localized(key, language, names=names, places=rank_band(group[0]))


def _same_order(groups: Sequence[QuestionGroup], language: Language) -> str:
    """That every language of enough questions has the models in the same order."""
    large = [group for group in groups if not group.too_few_questions]
    orders = {tuple(_order(group.shares)) for group in large}
    if len(large) != 2 or len(orders) != 1:
        return ""
    return localized("same-order", language)


def _order(shares: Mapping[str, Interval]) -> list[str]:
    return sorted(shares, key=lambda model: -shares[model].value)
