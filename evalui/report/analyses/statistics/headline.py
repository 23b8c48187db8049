"""Who leads in one comparison by how much, in a sentence."""

from evalui.messages import localized
from evalui.report.analyses.overview.sections import needed_share, sureness
from evalui.report.analyses.overview.standing import DatasetStanding
from evalui.report.analyses.overview.verdict import tied, winner
from evalui.report.analyses.statistics import (
    format_least_difference,
    format_points,
    format_points_range,
)
from evalui.report.numbers import count
from evalui.report.words import join_names_shortened
from evalui.types import Language


def comparison_sentence(standing: DatasetStanding, language: Language) -> str:
    """Who leads by how much, or why nobody does, in a sentence that stands alone."""
    if won := winner(standing):
        first, pair = won
        second = pair.second.model if pair.first.model == first else pair.first.model
        span = "" if pair.paired.all_equal else format_points_range(pair.paired)
        return localized(
            "statistics.leads" if span else "statistics.leads_steady",
            language,
            first=first,
            second=second,
            gap=format_points(pair).lstrip("−"),
            span=span,
        )
    sentence = sureness(standing, language)
    answered = [s for s in standing.real if s.accuracy]
    if not sentence or not answered:
        return sentence or localized("statistics.waits", language)
    if standing.guessing:
        fewest = min(answered, key=lambda s: s.n)
        fields = {"n": count(fewest.n), "needed": needed_share(fewest)}
        return localized("statistics.all_guessing", language, **fields)
    level = tied(standing.comparison) if standing.comparison else ()
    pair = standing.pair(level[0], level[1]) if len(level) > 1 else None
    if pair is None or pair.detectable is None:
        return sentence
    least = format_least_difference(pair.detectable)
    named = join_names_shortened(level, language)
    return localized("statistics.level_top", language, names=named, n=count(pair.n), least=least)
