"""The one sentence on top of a run, and up to two short ones that support it.

Each follows from the corrected tests of `statistics`; none names a winner that they do not show.
"""

from collections.abc import Sequence

from evalui.messages import localized, messages
from evalui.report.analyses.overview.standing import MOST_MODES, DatasetStanding, above_chance
from evalui.report.analyses.statistics import (
    format_least_difference,
    format_points,
    format_points_range,
)
from evalui.report.blocks import Headline
from evalui.report.numbers import (
    count,
    decimal_places,
    fixed,
    format_range,
    format_value,
    percent,
)
from evalui.report.words import join_names_shortened, join_sentences, mode_word
from evalui.scoring.cell_summary import Summary
from evalui.scoring.comparisons import CellComparison, ComparisonSet, main_measure
from evalui.types import Language

_PLENTY = 0.001  # the corrected p-value below which nobody asks for more questions
_MOST_UNREADABLE = 0.5


def headline(standings: Sequence[DatasetStanding], language: Language) -> Headline:
    """What a run came to."""
    if len(standings) == 1:
        return verdict(standings[0], language)
    if any(standing.unfinished for standing in standings):
        return _unfinished([s for standing in standings for s in standing.leading], language)
    k = len(standings)
    if standings and all(standing.guessing for standing in standings):
        return Headline(
            localized("verdict.none-of", language, k=k), localized("support.no-rank", language)
        )
    if not any(s.accuracy for each in standings for s in each.leading):
        return Headline(localized("verdict.nothing", language))
    return Headline(_of_several(standings, language))


def _of_several(standings: Sequence[DatasetStanding], language: Language) -> str:
    """What holds for all of several datasets: who wins how often, or why nobody does."""
    k, known = len(standings), messages(language)
    won = [pair[0] for standing in standings if (pair := winner(standing))]
    wins = sorted(((won.count(name), name) for name in dict.fromkeys(won)), key=lambda w: -w[0])
    if not wins:
        return known("verdict.no-winner-of", k=count(k))
    most, first = wins[0]
    if most == k:
        return known.count("verdict.same-winner", k, first=first)
    if len(wins) == 1:
        return known("verdict.wins-some", first=first, won=count(most), k=count(k))
    names = join_names_shortened([name for _, name in wins], language)
    return known("verdict.wins-differ", k=count(k), names=names)


def verdict(standing: DatasetStanding, language: Language) -> Headline:
    """What one dataset came to."""
    answered = [summary for summary in standing.real if summary.accuracy]
    if standing.unfinished:
        return _unfinished(standing.leading, language)
    if not answered:
        scripts = any(summary.accuracy for summary in standing.leading)
        return Headline(localized(f"verdict.{'scripts' if scripts else 'nothing'}", language))
    if standing.guessing:
        return _all_guessing(answered, language)
    return _warned(standing, _ranked(standing, answered, language), language)


def winner(standing: DatasetStanding) -> tuple[str, CellComparison] | None:
    """The model that beats all others, with its test against the best of them."""
    comparison = standing.comparison
    if comparison is None or standing.unfinished or standing.guessing or not comparison.ranks:
        return None
    first = comparison.ranks[0]
    second = next((name for name in standing.models[1:] if name not in standing.baselines), None)
    pair = standing.pair(first.name, second) if second else None
    if (first.low, first.high) != (1, 1) or pair is None or not pair.has_winner:
        return None
    return (first.name, pair) if _ahead(pair) == first.name else None


def tied(comparison: ComparisonSet) -> tuple[str, ...]:
    """The best of those that have a rank, and all that it does not beat."""
    if not comparison.ranks:
        return ()
    first, *others = (place.name for place in comparison.ranks)
    own = (pair for pair in comparison.pairs if first in (pair.first.model, pair.second.model))
    apart = {model for p in own if p.has_winner for model in (p.first.model, p.second.model)}
    return (first, *(name for name in others if name not in apart))


# ---------------------------------------------------------------- the sentence


def _unfinished(cells: Sequence[Summary], language: Language) -> Headline:
    done, total = (
        sum(numbers) for numbers in zip(*((s.done, s.total) for s in cells), strict=True)
    )
    text = localized("verdict.unfinished", language, done=count(done), total=count(total))
    return Headline(text, localized("support.so-far", language) if done else "")


def _all_guessing(answered: Sequence[Summary], language: Language) -> Headline:
    best = max((s for s in answered if s.accuracy), key=above_chance)
    key = "best" if len(answered) > 1 else "alone"
    support = localized(f"verdict.{key}", language, **_right(best))
    if key == "best":
        support = join_sentences(support, localized("support.no-rank", language))
    return Headline(localized("verdict.nobody", language), support)


def _right(summary: Summary) -> dict[str, str]:
    assert summary.accuracy is not None, "only cells with answers are spoken of"
    return {
        "model": summary.cell.model,
        "value": format_value(summary.accuracy),
        "span": format_range(summary.accuracy),
        "chance": percent(summary.chance or 0.0),
    }


def _ranked(standing: DatasetStanding, answered: Sequence[Summary], language: Language) -> Headline:
    comparison = standing.comparison
    if len(answered) == 1 or comparison is None:
        return _alone(answered[0], language)
    if won := winner(standing):
        return _won(standing, *won, language)
    if comparison.incomparable:
        return _refused(comparison, language)
    level = tied(comparison)
    if len(level) > 1:
        return _tied(standing, level, language)
    if not level:
        cell = answered[0].cell
        mode = mode_word(cell.label, cell.mode, language, capital=False)
        return Headline(localized("verdict.nobody-in", language, mode=mode))
    return _alone(next(s for s in answered if s.cell.model == level[0]), language)


def _alone(summary: Summary, language: Language) -> Headline:
    text = localized("verdict.single", language, **_right(summary))
    measure = main_measure([summary])
    share = summary.share(measure)
    if measure == "accuracy" or share is None:
        return Headline(text)
    value, span = format_value(share), format_range(share)
    return Headline(text, localized(f"support.{measure}", language, value=value, span=span))


def _won(
    standing: DatasetStanding, first: str, pair: CellComparison, language: Language
) -> Headline:
    second = pair.second.model if pair.first.model == first else pair.first.model
    share = standing.cells[standing.lead, first].share(pair.measure)
    assert share is not None, "the cell was compared by it"
    text = localized(
        f"verdict.wins-{pair.measure}",
        language,
        first=first,
        second=second,
        value=format_value(share),
        gap=format_points(pair),
    )
    key = "plenty" if is_plenty(pair) else "enough"
    sure = localized(
        f"support.{key}", language, n=count(pair.n), span=format_points_range(pair.paired)
    )
    return Headline(text, _with_modes(sure, standing, language))


def is_plenty(pair: CellComparison) -> bool:
    """Whether the questions leave no doubt of the difference."""
    return pair.has_winner and pair.adjusted < _PLENTY


def _tied(standing: DatasetStanding, level: Sequence[str], language: Language) -> Headline:
    cells = (standing.cells[standing.lead, name] for name in level)
    figures = [share for cell in cells if (share := cell.share(standing.measure))]
    places = min(map(decimal_places, figures))
    values = [fixed(100 * share.value, places) for share in figures]
    both = join_names_shortened([f"{value} %" for value in values[:2]], language)
    text = localized(
        f"verdict.tie-{standing.measure}",
        language,
        names=join_names_shortened(level, language),
        values=both if len(set(values)) == len(values) == 2 else _span(values),
    )
    pair = standing.pair(level[0], level[1])
    sure = ""
    if pair and pair.detectable is not None:
        least = format_least_difference(pair.detectable)
        sure = localized("support.level", language, n=count(pair.n), least=least)
    return Headline(text, _with_modes(sure, standing, language))


def _span(values: Sequence[str]) -> str:
    """From the lowest to the highest; of figures that are printed alike, that one."""
    high, low = values[0], values[-1]
    return f"{high} %" if high == low else f"{low}–{high} %"


def _refused(comparison: ComparisonSet, language: Language) -> Headline:
    parts = dict.fromkeys(part for pair in comparison.incomparable for part in pair.differences)
    named = [localized(f"part-{part}", language) for part in parts]
    support = localized(
        "support.settings", language, parts=localized("list.comma", language).join(named)
    )
    return Headline(localized("verdict.differ", language), support if named else "", kind="warn")


def _ahead(pair: CellComparison) -> str:
    return (pair.first if pair.paired.difference >= 0 else pair.second).model


# ---------------------------------------------------------------- what supports it


def _warned(standing: DatasetStanding, made: Headline, language: Language) -> Headline:
    """The headline with the one warning that changes how it must be read."""
    worst = max(standing.real, key=_unreadable)
    if _unreadable(worst) <= _MOST_UNREADABLE or made.kind:
        return made
    warning = localized("support.unreadable", language, model=worst.cell.model)
    return Headline(made.text, warning, kind="warn")


def _unreadable(summary: Summary) -> float:
    return summary.unreadable / max(1, summary.done)


def _with_modes(support: str, standing: DatasetStanding, language: Language) -> str:
    """What the other modes say; that one gives another order comes first, and alone."""
    others = [label for label in standing.modes if label != standing.lead][: MOST_MODES + 1]
    for label in others:
        if pair := _reversed(standing, label):
            return _other_order(standing, label, pair, language)
    compared = standing.compared
    able = [label for label in others if label in compared and len(compared[label].ranks) > 1]
    agreeing = [label for label in able if _agrees(standing, label)]
    if not able or standing.comparison is None:
        return support
    if len(able) > 1:
        k = len(able)
        more = localized("support.same-all", language, k=k) if len(agreeing) == k else ""
    else:
        mode = next(s.cell.mode for (label, _), s in standing.cells.items() if label == able[0])
        key = "same" if agreeing else "unsure"
        more = localized(f"support.{key}", language, mode=mode_word(able[0], mode, language))
    return join_sentences(support, more)


def _other_order(
    standing: DatasetStanding, label: str, pair: CellComparison, language: Language
) -> str:
    first = _ahead(pair)
    second = pair.second.model if pair.first.model == first else pair.first.model
    key = "reversed" if len(standing.real) == 2 else "reversed-pair"
    return localized(
        f"support.{key}",
        language,
        mode=mode_word(label, pair.first.mode, language),
        first=first,
        second=second,
        gap=format_points(pair).lstrip("−"),
        span=format_points_range(pair.paired),
    )


def _agrees(standing: DatasetStanding, label: str) -> bool:
    """Whether those that rank in both modes follow each other in the same order."""
    here, there = standing.comparison, standing.compared.get(label)
    if here is None or there is None:
        return False
    first = [place.name for place in here.ranks]
    second = [place.name for place in there.ranks if place.name in first]
    return len(second) > 1 and second == [name for name in first if name in second]


def _reversed(standing: DatasetStanding, label: str) -> CellComparison | None:
    """A pair that another mode shows the other way round."""
    reversed_pairs: list[CellComparison] = []
    other = standing.compared.get(label)
    for pair in other.pairs if other else ():
        here = standing.pair(pair.first.model, pair.second.model)
        scripted = {pair.first.model, pair.second.model} & standing.baselines
        if here and here.has_winner and pair.has_winner and not scripted:
            reversed_pairs += [pair] if _ahead(here) != _ahead(pair) else []
    return max(reversed_pairs, key=lambda pair: abs(pair.paired.difference), default=None)
